#!/usr/bin/env bash
# The packages in a clean root of this system's release: installed with what they depend on by apt, used by an ordinary user,
# removed; then the root is as it was. The root is made by mmdebstrap and thrown away.
# usage: tools/check-packages.sh DIR    DIR has the .deb files
# exit status 77: cannot be done on this machine, for the reason printed.
set -euo pipefail
packages=$(realpath "${1:?usage: tools/check-packages.sh DIR}")
skip() { printf 'packages in a clean root: skipped: %s\n' "$*"; exit 77; }

if [ "${2:-}" = inside ]; then
  # Within the root, by its own programs. $1 is where the packages lie in it.
  # Copies of the lists of users and groups are the system's, made where a dependency brings a group of its own.
  listing() { find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /var/cache -o -path /var/log \
    -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /etc/ld.so.cache -o -path '/etc/*shadow-' -o -path '/etc/passwd-' -o -path '/etc/group-' -o -path "$1" \) -prune -o -print | sort; }
  as_user() { (cd /tmp && setpriv --reuid 65534 --regid 65534 --clear-groups env -i PATH=/usr/bin:/bin HOME=/nonexistent "$@"); }
  export DEBIAN_FRONTEND=noninteractive
  listing "$1" >/tmp/before
  echo "== install: $(cd "$1" && echo *.deb)"
  apt-get install -y -qq --no-install-recommends "$1"/*.deb >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
  as_user heliox version
  as_user heliox plugins list
  as_user heliox plugins check /usr/lib/heliox/plugins/cpu.json >/dev/null
  echo '== demo'
  as_user heliox demo
  as_user heliox doctor >/tmp/doctor || { cat /tmp/doctor; exit 1; }
  echo '== remove'
  names=()
  for file in "$1"/*.deb; do names+=("$(dpkg-deb --field "$file" Package)"); done
  apt-get purge -y -qq --autoremove "${names[@]}" >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
  listing "$1" >/tmp/after
  diff /tmp/before /tmp/after || { echo 'removing the packages leaves what is listed with >, or takes what is listed with <'; exit 1; }
  echo 'nothing is left'
  exit 0
fi

command -v mmdebstrap >/dev/null || skip 'mmdebstrap is not installed'
[ "$(id -u)" -eq 0 ] || unshare --user --map-root-user true 2>/dev/null || skip 'neither root nor user namespaces'
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$suite" ] || skip '/etc/os-release has no VERSION_CODENAME'
ls "$packages"/heliox_*.deb >/dev/null
script=$(realpath "${BASH_SOURCE[0]}")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Nothing is written to disk beyond the root, and no package index is kept.
if ! mmdebstrap --variant=apt --format=null --dpkgopt=force-unsafe-io --aptopt='Acquire::Languages "none"' \
  --customize-hook='mkdir -p "$1/heliox-packages"' --customize-hook="cp '$packages'/*.deb '$script' \"\$1/heliox-packages\"" \
  --customize-hook='chroot "$1" bash /heliox-packages/check-packages.sh /heliox-packages inside' "$suite" /dev/null >"$log" 2>&1; then
  # A root that could not be made says nothing about the packages.
  grep -q '^== install' "$log" || { tail -5 "$log"; skip "mmdebstrap made no root of $suite"; }
  cat "$log"
  exit 1
fi
sed -n '/^== install/,/^nothing is left/p' "$log"
