#!/bin/sh
# names.sh - the names of all locks, as the commands show them, in the register's order: one per line
#
# The preprocessor's answer: the register is C.
set -eu
cd "$(dirname "$0")/.."
${CC:-cc} -E -P -I include -x c - <<'END' | sed -n 's/^lock: //p' | tr -d ' "'
#include <pawl/locks.h>
#define PAWL_LOCK(name, form, ...) lock: PAWL_SHOWN(name, form)
#include <pawl/locks.def>
END
