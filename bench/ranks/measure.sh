#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The measured points of docs/distributed.md: bench/ranks/measure.sh [BUILD [ROUNDS]]. One thread a rank; on a quiet
# machine. Ranks beyond the cores share them, so their times say nothing of scaling; their bytes do.
set -eu
build=${1:-build/release}
rounds=${2:-20}
folder=$(mktemp -d "${TMPDIR:-/tmp}/heliox-ranks.XXXXXX")
trap 'rm -rf "$folder"' EXIT
export HELIOX_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for ranks in 2 3 4; do
  for row in "batch batch" "demo limbs" "product terms" "product limbs"; do
    set -- $row
    mkdir "$folder/$ranks-$1-$2"
    mpirun -n "$ranks" --oversubscribe "$build/bin/heliox-bench-ranks" "$folder/$ranks-$1-$2" "$1" "$2" "$rounds"
  done
done
