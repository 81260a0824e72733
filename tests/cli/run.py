"""Runs all tests of this folder, or of another, against a build folder: run.py BUILD_DIR [FOLDER [FILE [NAME... | --list]]]"""

import importlib
import pathlib
import sys

import harness


def main():
    if len(sys.argv) < 2 or not (pathlib.Path(sys.argv[1]) / "pawl").is_file():
        sys.exit("usage: tests/cli/run.sh BUILD_DIR, where BUILD_DIR/pawl is")
    harness.build = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else __file__ + "/..").resolve()
    sys.path.append(str(folder))
    for file in sorted(folder.glob(sys.argv[3] if len(sys.argv) > 3 else "test_*.py")):
        importlib.import_module(file.stem)
    names = [name for name in sys.argv[4:] if name != "--list"]
    harness.tests[:] = [test for test in harness.tests if not names or test.__name__ in names]
    if "--list" in sys.argv:
        print(*(test.__name__ for test in harness.tests), sep="\n")
        return
    failed = harness.run_all()
    sys.exit(1 if failed else 0)


main()
