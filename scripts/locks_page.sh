#!/bin/sh
# locks_page.sh BUILD_DIR - writes docs/locks.md, the table of all locks, from the register
set -eu
cd "$(dirname "$0")/.."
{
    cat <<'END'
# All locks

Made by `scripts/locks_page.sh` from the register, `include/pawl/locks.def`; `pawl list` prints the same, and
`pawl list --json` what programs want. The algorithm, its states and its memory orders are in the lock's header.

- **order**: who enters next. *FIFO*: first come, first served. *LIFO*: the latest. *segments*: those that arrive while a
  segment is served form the next one, and within it the latest enters first. *shuffled*: segments, within one mostly but
  not always the latest. *platoons*: some at a time, in any order, platoon after platoon. *none*: whoever comes at the
  right moment.
- **bypass**: how often a waiting thread may be overtaken, in all or by each of the others. *any*: no bound. *time*: for a
  bounded time ([pawl_mutex](pawl_mutex.md)).
- **words**: 8 bytes each, per lock (+ once it has been used). **per thread**: words, or words per lock that it holds.
- **free at once**: the next owner may free the lock as soon as it has it. **context**: unlock needs what lock left there.
- **waiting**: *global*: all watch one word. *local*: each its own. *semi-private*: each its own unless hashes collide.

END
    "$1/pawl" list --markdown
} >"$1/locks.md"
cp "$1/locks.md" docs/locks.md
