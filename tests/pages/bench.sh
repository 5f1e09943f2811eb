#!/usr/bin/env bash
# `heliox bench --html` writes a page of its own: a drawing and a row of numbers for everything measured, nothing loaded from
# elsewhere, no script. One that cannot be written is a failure.
# usage: bench.sh HELIOX
set -euo pipefail
heliox=$1 fail=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$heliox" bench --suite ckks --params n12-d1-s30 --samples 1 --html "$work/page.html" --json >"$work/rows.json"
measured=$(grep -c '"median_us"' "$work/rows.json")
bars=$(grep -o 'class="bar"' "$work/page.html" | wc -l)
rows=$(grep -c '^<tr><td>' "$work/page.html")
[ "$measured" -ge 8 ] && [ "$bars" -eq "$measured" ] && [ "$rows" -eq "$measured" ] ||
  { echo "$measured rows were measured, the page has $bars bars and $rows rows"; fail=1; }
grep -q '^<svg xmlns="http://www.w3.org/2000/svg"' "$work/page.html" || { echo 'the page has no drawing'; fail=1; }
tail -1 "$work/page.html" | grep -qx '</body></html>' || { echo 'the page ends early'; fail=1; }
if sed 's|http://www.w3.org/2000/svg||g' "$work/page.html" | grep -nE '<script|<link|<img|https?:|src='; then
  echo 'the page asks for something beside itself'
  fail=1
fi
if "$heliox" bench --suite ckks --params n12-d1-s30 --samples 1 --html "$work/nowhere/page.html" >/dev/null 2>"$work/errors"; then
  echo 'a page that cannot be written is no failure'
  fail=1
fi
grep -q 'nowhere/page.html cannot be written' "$work/errors" || { cat "$work/errors"; fail=1; }
exit $fail
