#!/usr/bin/env bash
# tools/check-public-abi.sh compares today's headers, changed, with themselves: it lets functions and codes be added at the end,
# and refuses what would break a program that was built before. (./dev lint compares them with what is kept.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command -v abidiff >/dev/null || { echo 'abidiff is not installed (abigail-tools)'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0
expect() { # 0 or 1, FILE, SED EXPRESSION
  rm -rf "$work/include"
  cp -r include "$work/include"
  [ "$3" = p ] || sed -i -E "$3" "$work/include/heliox/$2"
  if cmp -s "include/heliox/$2" "$work/include/heliox/$2" && [ "$3" != p ]; then echo "'$3' changes nothing in $2"; fail=1; fi
  local got=0
  PUBLIC_INCLUDE=$work/include tools/check-public-abi.sh >"$work/report" 2>&1 || got=1
  [ "$got" -eq "$1" ] || { echo "$2, '$3': expected $1, found $got"; cat "$work/report"; fail=1; }
}
export PUBLIC_KEPT=$work/kept.i
tools/check-public-abi.sh --update
expect 0 base.h p
expect 0 base.h 's/^HX_API const char \*hx_version.*/&\nHX_API int hx_version_added(int a);/'
expect 0 codes.def 's/^#undef CODE/CODE(ADDED, "added", INVALID, NONE, "m", "r")\n&/'
expect 1 codes.def 's/^CODE\(SHADOWED/CODE(ADDED, "added", INVALID, NONE, "m", "r")\n&/'
expect 1 base.h '/hx_plugin_abi/d'
expect 1 base.h 's/hx_threads_get\(void\)/hx_threads_get(int which)/'
expect 1 base.h 's/uint32_t column;/uint64_t column;/'
expect 1 plugins.h 's/^(typedef struct hx_plugins_options \{)/\1 int added;/'
exit $fail
