#!/usr/bin/env bash
# Time of `heliox plugins check` on a good plugin of 5 MB: check-time.sh [BUILD [ROUNDS]]. The library is the cpu plugin
# with a section of random bytes that nothing loads, its manifest completed from it. Prints least and median of the
# whole command in ms, and its least processor time, which a busy machine does not stretch; the bar is 50 ms.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$root/build/release} rounds=${2:-40}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"

head -c 5000000 /dev/urandom > "$place/padding"
objcopy --add-section .padding="$place/padding" "$build/lib/heliox/plugins/heliox_cpu.so" "$place/heliox_cpu.so"
chmod 755 "$place/heliox_cpu.so"
"$build/bin/heliox-manifest" complete "$root/plugins/cpu/cpu.json" "$place/heliox_cpu.so" "$place/cpu.json"
"$build/bin/heliox" plugins check "$place/cpu.json"
TIMEFORMAT='%R %U %S'
for ((i = 0; i < rounds; i++)); do
  { time "$build/bin/heliox" plugins check "$place/cpu.json" > /dev/null; } 2>&1
done | sort -n | awk -v size="$(stat -c %s "$place/heliox_cpu.so")" '
  { wall[NR] = $1 * 1000; cpu = ($2 + $3) * 1000; if (NR == 1 || cpu < least) least = cpu }
  END {
    printf "library of %d bytes: least %d ms, median %d ms of %d; least processor time %d ms\n", size, wall[1],
           wall[int((NR + 1) / 2)], NR, least
  }'
