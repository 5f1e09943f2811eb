#!/usr/bin/env bash
# Every code of include/heliox/codes.def has a cause and a remedy in whole sentences, and some test produces it.
# usage: tools/check-codes.sh DIRECTORY COUNT    DIRECTORY has what the test programs wrote down (tests/support/seen.c), one
# file a test, COUNT of them when all have run. Exit status 77: they have not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
directory=$1 count=$2 fail=0
# Said by the command line itself, not by the library: a test of a command expects the word.
command_line=(usage)

found=$(find "$directory" -name '*.txt' | wc -l)
sort -u "$directory"/*.txt >"$directory/all" 2>/dev/null || true
codes=0
while IFS=$'\t' read -r word meaning remedy; do
  codes=$((codes + 1))
  [[ $word =~ ^[a-z]+(-[a-z]+)*$ ]] || { echo "$word: a code is words with dashes"; fail=1; }
  for sentence in "$meaning" "$remedy"; do
    [[ $sentence =~ ^[A-Z\`].*\.$ ]] || { echo "$word: '$sentence' is no sentence"; fail=1; }
  done
  [ "$meaning" != "$remedy" ] || { echo "$word: cause and remedy are the same"; fail=1; }
  [ "$word" != ok ] || continue
  grep -qx "$word" "$directory/all" && continue
  if [[ " ${command_line[*]} " == *" $word "* ]]; then
    grep -rqE "\"$word\"|\[$word\]" tests/e2e || { echo "$word: no test of the command line expects it"; fail=1; }
  elif [ "$found" -ge "$count" ]; then
    echo "$word: no test produces it"
    fail=1
  fi
done < <(sed -nE 's/^CODE\([A-Z_]+, "([^"]*)", [A-Z_]+, [A-Z_]+, "([^"]*)", "([^"]*)"\)$/\1\t\2\t\3/p' include/heliox/codes.def)
[ "$codes" -eq "$(grep -c '^CODE(' include/heliox/codes.def)" ] || { echo 'a row of codes.def is not of the form CODE(ID, "word", STATUS, GATE, "cause", "remedy")'; fail=1; }
rm -f "$directory/all"
[ "$fail" -eq 0 ] || exit 1
if [ "$found" -lt "$count" ]; then
  echo "only $found of $count tests have run: run all of them to see which codes they produce"
  exit 77
fi
echo "$codes codes, each explained and produced by a test"
