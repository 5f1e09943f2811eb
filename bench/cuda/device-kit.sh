#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/cuda/device-kit.sh [BUILD [KIT]]: gathers from a release build what a bare machine with a GPU needs to test and
# measure the cuda plugin. There: KIT/run.sh RESULTS [PART...], parts devices, tests, conformance, diff, faults,
# sanitize, bench, graph, variants; all but the last four without one. With two devices `tests` copies between them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
kit=${2:-build/cuda-kit}

rm -rf "$kit"
mkdir -p "$kit/bin" "$kit/lib/heliox/plugins" "$kit/share/heliox" "$kit/programs" "$kit/graphs"
for name in heliox heliox-conformance heliox-bench-cuda heliox-bench-graph heliox-bench-regions "$build"/bin/kernels_test_cuda_*; do
  name=${name##*/}
  cp "$build/bin/$name" "$kit/bin/"
  ldd "$build/bin/$name" | awk '/jansson|sodium|cmocka|gomp/ {print $3}' | xargs -r -I{} cp -L {} "$kit/lib/"
done
ldd "$build/lib/heliox/plugins/heliox_cpu.so" | awk '/gomp/ {print $3}' | xargs -r -I{} cp -L {} "$kit/lib/"
cp -a "$build"/lib/libheliox.so* "$kit/lib/"
cp "$build"/lib/heliox/plugins/{heliox_cuda.so,cuda.json,heliox_cpu.so,cpu.json} "$kit/lib/heliox/plugins/"
cp "$build"/lib/heliox/plugins/heliox_cuda_{90.cubin,80.ptx} "$kit/lib/heliox/plugins/"
cp -r examples "$kit/share/heliox/"
python3 bench/cuda/random_programs.py "$kit/programs" 16
cp examples/wdbc.mlir "$kit/programs/"
python3 bench/link/programs.py "$kit/graphs"
cp examples/wdbc.mlir "$kit/graphs/"
git log -1 --format='commit %h, %ad' --date=short >"$kit/commit"

cat >"$kit/run.sh" <<'TEXT'
#!/usr/bin/env bash
# run.sh RESULTS [PART...]: the cuda plugin on this machine's first device.
set -u
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:?a directory for the results}
shift
[ $# -gt 0 ] || set -- devices tests conformance diff faults
plugins=$kit/lib/heliox/plugins
export LD_LIBRARY_PATH=$kit/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} HELIOX_TEST_IMAGES=$plugins XDG_CACHE_HOME=$out/cache
mkdir -p "$out"

devices() { "$kit/bin/heliox" devices; }

tests() {
  for test in ${TESTS:-plugin nvrtc codec device switch order graph compiled regions ops}; do
    [ -x "$kit/bin/kernels_test_cuda_$test" ] || continue
    local begin=$SECONDS
    timeout 120 "$kit/bin/kernels_test_cuda_$test" >"$out/test_$test.txt" 2>&1
    echo "kernels_test_cuda_$test: exit $?, $((SECONDS - begin)) s: $(grep -E 'PASSED|FAILED' "$out/test_$test.txt" | tr '\n' ' ')"
  done
}

conformance() {
  local begin=$SECONDS
  timeout 200 "$kit/bin/heliox-conformance" "$plugins/cuda.json" --timeout 190 2>&1 | tail -n 20
  echo "$((SECONDS - begin)) s"
}

diff() {
  for program in "$kit"/programs/*.mlir; do
    for deep in '' --deep; do
      echo "${program##*/} $deep: $("$kit/bin/heliox" diff "$program" --backends cpu,cuda $deep 2>&1 | tail -n 1)"
    done
  done
  "$kit/bin/heliox" demo --backend cuda 2>&1 | tail -n 12
}

# Another image than the one that was built, and a device that is full: errors of their own, and cpu goes on.
faults() {
  local wrong=$out/wrong
  mkdir -p "$wrong"
  cp "$plugins"/* "$wrong/"
  printf '\1' | dd of="$wrong/heliox_cuda_90.cubin" bs=1 seek=4096 conv=notrunc status=none
  echo '== a changed image'
  HELIOX_PLUGIN_PATH=$wrong "$kit/bin/heliox" diff "$kit/programs/random-0.mlir" --backends cpu,cuda 2>&1 | tail -n 2
  HELIOX_PLUGIN_PATH=$wrong "$kit/bin/heliox" diff "$kit/programs/random-0.mlir" --backends cpu,cpu 2>&1 | tail -n 1
}

# The whole suite in small rings under each tool, in parts side by side: launches are slow there. Every part has to come to
# its end: the operations compared are those of the whole suite without a tool.
sanitize() {
  local parts=${SANITIZE_PARTS:-8} part
  for tool in ${SANITIZE_TOOLS:-memcheck racecheck}; do
    local begin=$SECONDS
    for ((part = 1; part <= parts; part++)); do
      timeout "${SANITIZE_SECONDS:-240}" compute-sanitizer --tool $tool --target-processes all --error-exitcode 9 --print-limit 20 \
        "$kit/bin/heliox-conformance" "$plugins/cuda.json" --log-n-max "${SANITIZE_LOG_N:-12}" --part $part/$parts --timeout 900 \
        >"$out/$tool-$part.txt" 2>&1 || echo "$tool, part $part of $parts: exit $?" &
    done
    wait
    echo "$tool: $((SECONDS - begin)) s: $(cat "$out/$tool"-*.txt | grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' | sort | uniq -c | tr '\n' ' ')"
    cat "$out/$tool"-*.txt | awk '/operations run and compared/ {o += $1; for (i = 2; i <= NF; i++) { if ($i ~ /^failed/) f += $(i - 1) }; n++}
      END {printf "%d parts came to their end: %d operations, %d failed cases\n", n, o, f}'
    cat "$out/$tool"-*.txt | grep -E '^failed' | head -n 5
  done
}

graph() {
  for program in wdbc neurons powers diagonals; do
    echo "$program:"
    HELIOX_PLUGIN_PATH=$plugins timeout 60 "$kit/bin/heliox-bench-graph" "$kit/graphs/$program.mlir" cuda 500 2>&1
  done
}

bench() {
  timeout 120 "$kit/bin/heliox-bench-cuda" "$plugins" "$(cat "$kit/commit")"
  timeout 60 "$kit/bin/heliox-bench-regions" "$plugins"
}
variants() { timeout 120 "$kit/bin/heliox-bench-cuda" "$plugins" variants; }

{
  date -u
  cat "$kit/commit"
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
  for part in "$@"; do
    echo "== $part"
    $part
  done
} 2>&1 | tee "$out/cuda.txt"
TEXT
chmod +x "$kit/run.sh"
du -sh "$kit"
