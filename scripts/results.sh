#!/bin/sh
# results.sh BUILD_DIR FOLDER - measures what docs/results.md shows, into one JSON file for each table, and a report
#
# About ten minutes; `python3 scripts/results.py FOLDER` puts them into the page. Threads that spin are no more than the
# CPUs; with more, they sleep.
set -eu
if [ $# != 2 ] || [ ! -x "$1/pawl" ]; then
    echo "usage: scripts/results.sh BUILD_DIR FOLDER" >&2
    exit 2
fi
pawl=$(cd "$1" && pwd)/pawl
mkdir -p "$2"
cd "$2"

papers=ticket,twa,mcs,clh,tidex,hapax,hapax_vw,hemlock_naive,hemlock,reciprocating,pawl_mutex,glibc
interposed=pawl_mutex,ticket,twa,mcs,clh,hapax,hapax_vw,hemlock,reciprocating,glibc
capacitors=tts,capacitor_tts,capacitor_fractional,ticket,capacitor_ticket,mcs,capacitor_mcs,lifo,capacitor_lifo
capacitors=$capacitors,reciprocating,capacitor_reciprocating
multiwait=ticket,mcs,clh,hemlock_naive,hemlock
alike=ticket,ck_ticket,mcs,ck_mcs,clh,ck_clh,hemlock,reciprocating,tts,ck_fas
cpus=$(nproc)
crowd=$((4 * cpus))

# bench NAME WORKLOAD OPTION... - into NAME.json
bench() {
    name=$1
    shift
    "$pawl" bench "$@" --json -o "$name.json"
}

bench pingpong pingpong --duration 200ms
bench ring ring --threads 2 --duration 200ms
for figure in hapax-fig3-max hapax-fig3-moderate reciprocating-fig1a reciprocating-fig1b hemlock-fig2 hemlock-fig3; do
    bench "$figure-spin" mutexbench --preset $figure --lock $papers --threads "1,$cpus" --wait spin --duration 100ms
    bench "$figure-park" mutexbench --preset $figure --lock $papers --threads $crowd --duration 100ms
done
bench capacitors-spin mutexbench --preset capacitors-fig1 --lock $capacitors --threads "$cpus" --wait spin --duration 100ms
bench capacitors-park mutexbench --preset capacitors-fig1 --lock $capacitors --threads $crowd --duration 100ms
bench multiwait-spin multiwait --lock $multiwait --threads "1,$cpus" --wait spin --duration 100ms
bench multiwait-park multiwait --lock $multiwait --threads $crowd --duration 100ms
for figure in hapax-fig1 reciprocating-fig2a reciprocating-fig2b; do
    bench $figure atomic-struct --preset $figure --lock $interposed --threads "1,$cpus,$crowd" --duration 100ms
done
bench leveldb leveldb --lock $interposed --threads "1,$cpus,$crowd" --duration 200ms
bench tail tail --lock pawl_mutex,pawl_fairmutex,mcs,glibc,nsync,abseil --duration 250ms
bench ck-max mutexbench --lock $alike --threads "1,$cpus" --wait spin --runs 21 --duration 100ms
bench ck-moderate mutexbench --lock $alike --threads "1,$cpus" --wait spin --ncs random:250 --runs 21 --duration 100ms
"$pawl" report -o report.html ./*.json
