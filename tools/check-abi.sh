#!/usr/bin/env bash
# The plugin ABI by an independent tool: abidiff compares the types of each kept older header (tests/fixtures/abi-*) with
# today's, as the compiler describes them. Fields appended at the end of a struct are all that may differ.
# usage: tools/check-abi.sh [HEADER]    HEADER instead of sdk/include/heliox/plugin.h, for a test of this check
set -euo pipefail
header=${1:-sdk/include/heliox/plugin.h}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# One function for every struct that the header defines, so that all of them are in the debugging information.
describe() { # HEADER OUT
  {
    printf '#include "%s"\n' "$(realpath "$1")"
    sed -nE 's/^\} (hx_[a-z_]+);$/\1/p' "$1" | sort | while read -r name; do
      printf 'void abi_%s(%s *value) { (void)value; }\n' "$name" "$name"
    done
  } >"$work/abi.c"
  gcc -std=c99 -g -O0 -shared -fPIC -o "$2" "$work/abi.c"
}
describe "$header" "$work/new.so"
fail=0
for older in tests/fixtures/abi-*/heliox/plugin.h; do
  describe "$older" "$work/old.so"
  # A member inserted elsewhere than at the end moves others, which the report says.
  abidiff --leaf-changes-only --impacted-interfaces --no-added-syms "$work/old.so" "$work/new.so" >"$work/report" || [ $? -lt 8 ] || true
  if ! grep -q 'changes summary' "$work/report" && [ -s "$work/report" ]; then
    printf 'abidiff said: '
    cat "$work/report"
    fail=1
  fi
  if grep -vE 'type size changed from' "$work/report" |
    grep -nE "offset changed|data member changes?:|data member deletions?:|type of '|changed from|[1-9][0-9]* Removed" >"$work/bad"; then
    printf '%s: not what %s has, beyond fields at the end of structs:\n' "$header" "$older"
    cat "$work/report"
    fail=1
  fi
done
exit $fail
