#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Three machines on one: network namespaces with addresses and host names of their own, on one bridge. Open MPI starts its
# daemons there as it would over ssh, so ranks share neither addresses nor (by MPI's knowledge) memory.
#   namespaces.sh COMMAND...   runs `mpirun -n 3 COMMAND...`, one rank a namespace
# Exit status 77, with the reason: namespaces cannot be made here.
set -euo pipefail
skip() { printf 'skipped: %s\n' "$*" >&2; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
for tool in ip unshare mpirun; do command -v "$tool" >/dev/null || skip "there is no $tool"; done
id=hx$$
made=()
folder=$(mktemp -d "${TMPDIR:-/tmp}/heliox-namespaces.XXXXXX")
clean() {
  for name in ${made[@]+"${made[@]}"}; do ip netns del "$name" 2>/dev/null || true; done
  ip link del "$id" 2>/dev/null || true
  rm -rf "$folder"
}
trap clean EXIT
ip link add "$id" type bridge 2>"$folder/why" || skip "no bridge: $(cat "$folder/why")"
net=10.$((RANDOM % 200 + 20)).$((RANDOM % 250))
ip addr add "$net.254/24" dev "$id" && ip link set "$id" up || skip "the bridge takes no address"
hosts=
for i in 1 2 3; do
  name=$id-$i
  ip netns add "$name" 2>"$folder/why" || skip "no namespace: $(cat "$folder/why")"
  made+=("$name")
  ip link add "$id$i" type veth peer name eth0 netns "$name" 2>"$folder/why" || skip "no veth: $(cat "$folder/why")"
  ip link set "$id$i" master "$id" up
  ip -n "$name" addr add "$net.$i/24" dev eth0
  ip -n "$name" link set eth0 up
  ip -n "$name" link set lo up
  hosts=$hosts${hosts:+,}$net.$i
done
# What stands for ssh: the last number of the address says which namespace. Open MPI leaves X forwarding flags alone here.
cat >"$folder/agent" <<AGENT
#!/bin/sh
while case \$1 in -*) true ;; *) false ;; esac; do shift; done
host=\$1; shift
name=$id-\${host##*.}
exec ip netns exec "\$name" unshare --uts sh -c 'hostname '"\$name"'; exec sh -c "\$*"' agent "\$*"
AGENT
chmod +x "$folder/agent"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
timeout -k 5 "${LIMIT:-120}" mpirun --mca plm_rsh_agent "$folder/agent" --mca oob_tcp_if_include "$net.0/24" \
  --mca btl self,tcp --mca btl_tcp_if_include "$net.0/24" --host "$hosts" -n 3 --map-by node ${MPIRUN_FLAGS:-} "$@"
