#!/usr/bin/env bash
# Every manual page renders without a warning, each command has one, and each option stands in it.
# usage: manual.sh PAGES-PROGRAM MAN-DIRECTORY
set -euo pipefail
pages=$1 directory=$2 fail=0
command -v man >/dev/null || { echo 'man is not installed (man-db)'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
for page in "$directory"/man1/*.1 "$directory"/man7/*.7; do
  MANWIDTH=100 MANROFFOPT=-ww man --warnings=all -P cat -l "$page" >"$work/$(basename "$page")" 2>"$work/errors" || fail=1
  if [ -s "$work/errors" ] || [ ! -s "$work/$(basename "$page")" ]; then
    echo "$page:"
    cat "$work/errors"
    fail=1
  fi
  count=$((count + 1))
done
# What the reader sees, without the marks of bold and underlined letters.
plain() { sed -E 's/.\x08//g; s/\x1b\[[0-9;]*m//g' "$1"; }
while IFS=$'\t' read -r command option; do
  page=$work/heliox-${command// /-}.1
  [ -f "$page" ] || { echo "no page of '$command'"; fail=1; continue; }
  if [ -n "$option" ]; then
    plain "$page" | grep -qE "^ +(-[a-z], )?$option( |\$)" || { echo "$page: lacks $option"; fail=1; }
  else
    plain "$work/heliox.1" | tr -s ' \n' ' ' | grep -qF " $command " || { echo "heliox.1 lacks '$command'"; fail=1; }
  fi
done < <("$pages" table)
[ "$count" -gt 25 ] || { echo "only $count pages"; fail=1; }
echo "$count pages"
exit $fail
