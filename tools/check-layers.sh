#!/usr/bin/env bash
# The layers of docs/architecture.md: a file includes headers of its own layer or a lower one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

declare -A level=([base]=0 [tensor]=1 [ops]=3 [ir]=4 [plugin]=5 [backend]=6 [ckks]=7 [passes]=8 [link]=9 [compile]=10 [eager]=10 [circuits]=11)
fail=0
bad() {
  printf '%s: includes %s: %s\n' "$1" "$2" "$3"
  fail=1
}

while IFS=: read -r file include; do
  include=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
  case $file in
    core/*)
      own=${file#core/} own=${own%%/*}
      case $include in
        core/*)
          other=${include#core/} other=${other%%/*}
          [ "${level[$other]}" -le "${level[$own]}" ] || bad "$file" "$include" "$other lies above $own"
          ;;
        reference/*) [ "${level[$own]}" -ge 2 ] || bad "$file" "$include" "the reference lies above $own" ;;
        heliox/* ) ;;
        *) bad "$file" "$include" "core includes core, reference and public headers" ;;
      esac
      ;;
    plugins/*)
      case $include in
        heliox/plugin*.h | heliox/support/*) ;;
        core/* | reference/* | cli/* | heliox/*) bad "$file" "$include" "plugins see the SDK alone" ;;
      esac
      ;;
    reference/*)
      case $include in
        heliox/plugin.h | reference/*) ;;
        *) bad "$file" "$include" "the reference has no dependency" ;;
      esac
      ;;
    sdk/support/* | sdk/include/*)
      case $include in
        heliox/plugin*.h | heliox/support/* | base_plan.h) ;;
        *) bad "$file" "$include" "what plugins share knows the ABI alone" ;;
      esac
      ;;
    cli/*)
      case $include in
        heliox/* | cli/* | examples/*) ;;
        *) bad "$file" "$include" "the command line uses the public headers" ;;
      esac
      ;;
  esac
done < <(grep -HE '^#include "' $(git ls-files -- 'core/*.c' 'core/*.h' 'plugins/*.c' 'plugins/*.h' 'reference/*.c' 'reference/*.h' 'sdk/support/*' 'sdk/include/*' 'cli/*.c' 'cli/*.h'))
exit $fail
