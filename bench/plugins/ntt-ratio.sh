#!/usr/bin/env bash
# bench/plugins/ntt-ratio.sh [BUILD]: processor time of one row's transform, opencl against the cpu plugin's portable kernels, at
# N = 2^14 to 2^16. Each plugin alone; what one sample more costs, so that opening and compiling do not count.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
export HELIOX_BENCH_OPTION=cpu-mask=portable OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=0
seconds() { # set direction plugin samples
  local TIMEFORMAT=%U
  { time "$build/bin/heliox-bench-plugins" -s "$1" -n "$4" -o "ntt.$2" "$build/lib/heliox/plugins/heliox_$3.so" >/dev/null; } 2>&1
}
for set in S14 S15 S16; do
  for direction in forward inverse; do
    seconds $set $direction opencl 1 >/dev/null # compiles what is not kept
    row=""
    for plugin in opencl cpu; do row+=" $(seconds $set $direction $plugin 1) $(seconds $set $direction $plugin 21)"; done
    # A sample is 20 executes of one row and 4 of eight.
    echo "$set $direction $row" | awk '{a = ($4 - $3) / 1040 * 1e6; b = ($6 - $5) / 1040 * 1e6
      printf "%s %s opencl %.0f us cpu %.0f us ratio %.2f\n", $1, $2, a, b, a / b}'
  done
done
