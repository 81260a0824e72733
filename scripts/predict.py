#!/usr/bin/env python3
"""predict.py BUILD_DIR [MACHINE] - how well pawl sim predicts pawl bench on this machine

Ten locks under three loads, 1 to 16 threads: each lock's rate over pawl_mutex's, simulated and measured, and the quotient of the
two. Run it with nothing else running; MACHINE is a file from `pawl sim machines this`, or else the machine is measured
first.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

LOCKS = ["pawl_mutex", "pawl_fairmutex", "barging", "tts", "ticket", "mcs", "clh", "hemlock", "reciprocating", "hapax_vw"]
LOADS = {"empty": ["--ncs", "0"], "moderate": ["--ncs", "random:400"], "long": ["--cs", "200", "--ncs", "random:2000"]}
THREADS = [1, 2, 4, 8, 16]
REFERENCE = "pawl_mutex"


def rates(pawl, *arguments):
    command = [pawl, *arguments, "--lock", ",".join(LOCKS), "--threads", ",".join(map(str, THREADS)), "--json"]
    p = subprocess.run(command, capture_output=True, text=True, check=True)
    return {(x["threads"], x["lock"]): x["median"] for x in json.loads(p.stdout)["points"]}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.splitlines()[0])
    pawl = pathlib.Path(sys.argv[1]) / "pawl"
    with tempfile.NamedTemporaryFile("w", suffix=".machine") as file:
        if len(sys.argv) == 2:
            file.write(subprocess.run([pawl, "sim", "machines", "this"], capture_output=True, text=True, check=True).stdout)
            file.flush()
        machine = sys.argv[2] if len(sys.argv) == 3 else file.name
        quotients = []
        for name, load in LOADS.items():
            ours = rates(pawl, "sim", "mutexbench", "--machine", machine, "--duration", "20ms", *load)
            theirs = rates(pawl, "bench", "mutexbench", "--duration", "100ms", "--runs", "5", *load)
            print(f"\n{name}: {' '.join(load)}\n\n{'threads':>7} {'lock':14} {'simulated':>10} {'measured':>10} "
                  f"{'quotient':>9}   over {REFERENCE}")
            for key in ours:
                threads, lock = key
                simulated, measured = ours[key] / ours[threads, REFERENCE], theirs[key] / theirs[threads, REFERENCE]
                quotient = simulated / measured
                print(f"{threads:7} {lock:14} {simulated:10.3f} {measured:10.3f} {quotient:9.2f}")
                if lock != REFERENCE:
                    quotients.append((name, threads, quotient))
    print()
    for threads in THREADS:
        of = [q for _, t, q in quotients if t == threads]
        near = sum(1 / 1.25 <= q <= 1.25 for q in of)
        print(f"{threads:7} threads: {near} of {len(of)} ratios within 25 %, median quotient {statistics.median(of):.2f}")


main()
