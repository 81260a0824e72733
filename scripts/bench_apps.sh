#!/bin/sh
# bench_apps.sh [OPTION...] - throughput of programs with locks of Pawl under them, against glibc's; the options are
# those of tests/apps/bench.py
set -eu
cd "$(dirname "$0")/.."

again=
[ ! -f build-check/build.ninja ] || again=--reconfigure
meson setup $again build-check -Dtests=true >/dev/null
ninja -C build-check --quiet pawl apps preload-libraries
exec python3 -B tests/apps/bench.py build-check "$@"
