#!/usr/bin/env bash
# Every row of docs/plugin-refusals.md is there, and every test that it names exists.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
page=docs/plugin-refusals.md
fail=0
for row in $(seq 35); do
  grep -q "^| $row |" "$page" || { echo "$page: row $row is missing"; fail=1; }
done
for name in $(grep -oE '`[a-z0-9]+(_[a-z0-9]+)+`' "$page" | tr -d '`' | sort -u); do
  grep -rqE "static void $name\(void \*\*" tests --include='test_*.c' || { echo "$page: no test is named $name"; fail=1; }
done
exit $fail
