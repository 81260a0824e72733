"""Puts machine files into a C source: embed.py OUTPUT.c FILE..."""

import json
import pathlib
import sys

output, *files = sys.argv[1:]
lines = ['#include "sim/machine.h"', "", "const sim_builtin sim_builtins[] = {"]
for name in files:
    file = pathlib.Path(name)
    text = "\n".join("     " + json.dumps(line) for line in file.read_text(encoding="ascii").splitlines(keepends=True))
    lines.append(f'    {{"{file.stem}",\n{text}}},')
lines += ["    {NULL, NULL},", "};", ""]
pathlib.Path(output).write_text("\n".join(lines), encoding="ascii")
