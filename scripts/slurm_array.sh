#!/bin/sh
#SBATCH --job-name=pawl
#SBATCH --cpus-per-task=1
#SBATCH --output=pawl-%a.log
# slurm_array.sh DIR pawl COMMAND [OPTION...] - one part of a check or a sweep, as a task of a Slurm job array
#
#   sbatch --array=1-36 scripts/slurm_array.sh parts pawl check --deep --jobs 1
#   pawl check --merge parts/*.json
#
# Each task writes DIR/part-K.json. For a sweep ask for whole machines of one kind: --exclusive --constraint=...
set -eu
if [ $# -lt 3 ] || [ -z "${SLURM_ARRAY_TASK_ID-}" ] || [ -z "${SLURM_ARRAY_TASK_COUNT-}" ]; then
    echo "slurm_array.sh: usage: sbatch --array=1-N slurm_array.sh DIR pawl COMMAND [OPTION...]" >&2
    exit 2
fi
# Its tasks are the parts: none may be missing.
if [ "${SLURM_ARRAY_TASK_MIN-1}" != 1 ] || [ "${SLURM_ARRAY_TASK_MAX-$SLURM_ARRAY_TASK_COUNT}" != "$SLURM_ARRAY_TASK_COUNT" ]; then
    echo "slurm_array.sh: the array must be 1-N; a single part again: pawl COMMAND [OPTION...] --shard K/N --json -o DIR/part-K.json" >&2
    exit 2
fi
parts=$1
shift
mkdir -p "$parts"
exec "$@" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --json --output "$parts/part-$SLURM_ARRAY_TASK_ID.json"
