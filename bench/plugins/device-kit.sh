#!/usr/bin/env bash
# bench/plugins/device-kit.sh [BUILD [KIT]]: gathers from a release build what a bare machine with a GPU needs to test and
# measure the opencl plugin, beside cuda where it was built. There: KIT/run.sh RESULTS, 10 minutes at
# most.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
kit=${2:-build/opencl-kit}

rm -rf "$kit"
mkdir -p "$kit/plugins" "$kit/lib"
for name in heliox-bench-plugins heliox-conformance kernels_test_opencl_{ops,device,selftest}; do
  cp "$build/bin/$name" "$kit/"
  ldd "$build/bin/$name" | awk '/jansson|sodium|cmocka/ {print $3}' | xargs -r -I{} cp -L {} "$kit/lib/"
done
cp "$build"/lib/heliox/plugins/{heliox_opencl.so,opencl.json} "$kit/plugins/"
cp "$build"/lib/heliox/plugins/{heliox_cuda.so,cuda.json,heliox_cuda_90.cubin} "$kit/plugins/" 2>/dev/null || true
loader=$(ldconfig -p | awk '/libOpenCL.so.1 / {print $NF; exit}')
[ -z "$loader" ] || cp -L "$loader" "$kit/lib/" # for machines whose driver comes without one

cat >"$kit/run.sh" <<'TEXT'
#!/usr/bin/env bash
# run.sh RESULTS: tests, conformance suite and figures on the first OpenCL device of this machine.
set -u
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:?a directory for the results}
export LD_LIBRARY_PATH=$kit/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} XDG_CACHE_HOME=$out/cache
if ! ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1; then
  mkdir -p "$out/vendors"
  echo libnvidia-opencl.so.1 >"$out/vendors/nvidia.icd"
  export OCL_ICD_VENDORS=$out/vendors
fi
mkdir -p "$out"
{
  date -u; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null
  echo '== kernels_test_opencl_selftest'; timeout 90 "$kit/kernels_test_opencl_selftest" 2>&1 | tail -n 20
  plugins=$(ls "$kit"/plugins/heliox_cuda.so "$kit"/plugins/heliox_opencl.so 2>/dev/null)
  for set in G16 G15; do # alone where the other one does not work
    echo "== $set"
    timeout 60 "$kit/heliox-bench-plugins" -s $set -n 30 $plugins 2>&1 ||
      timeout 60 "$kit/heliox-bench-plugins" -s $set -n 30 "$kit/plugins/heliox_opencl.so" 2>&1
  done
  echo '== conformance'; timeout 150 "$kit/heliox-conformance" "$kit/plugins/opencl.json" --timeout 140 2>&1 | tail -n 40
  for test in ops device; do # the latter's last case opens the device a thousand times
    echo "== kernels_test_opencl_$test"; timeout 100 "$kit/kernels_test_opencl_$test" 2>&1 | tail -n 30
  done
} | tee "$out/opencl.txt"
TEXT
chmod +x "$kit/run.sh"
du -sh "$kit"
