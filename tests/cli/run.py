"""Runs all tests of this folder against a build folder."""

import importlib
import pathlib
import sys

import harness


def main():
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "pawl").is_file():
        sys.exit("usage: tests/cli/run.sh BUILD_DIR, where BUILD_DIR/pawl is")
    harness.build = pathlib.Path(sys.argv[1]).resolve()
    for file in sorted(pathlib.Path(__file__).parent.glob("test_*.py")):
        importlib.import_module(file.stem)
    failed = harness.run_all()
    sys.exit(1 if failed else 0)


main()
