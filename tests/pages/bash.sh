#!/usr/bin/env bash
# The completion for bash offers every command, every option of each, and values where they are known.
# usage: bash.sh PAGES-PROGRAM COMPLETION
set -euo pipefail
pages=$1 fail=0 checked=0
# shellcheck disable=SC1090
source "$2"
complete -p heliox >/dev/null
# Words after the first, the last being completed; the answers go to COMPREPLY.
ask() {
  COMP_WORDS=(heliox "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _heliox || true
}
offers() { # WANTED WORD...
  local wanted=$1 word
  shift
  ask "$@"
  checked=$((checked + 1))
  for word in "${COMPREPLY[@]}"; do [ "$word" = "$wanted" ] && return 0; done
  echo "'heliox $*' does not offer '$wanted' but: ${COMPREPLY[*]:0:40}"
  fail=1
}
offers_not() {
  local wanted=$1 word
  shift
  ask "$@"
  for word in "${COMPREPLY[@]}"; do
    if [ "$word" = "$wanted" ]; then echo "'heliox $*' offers '$wanted'"; fail=1; fi
  done
}
while IFS=$'\t' read -r command option; do
  read -ra words <<<"$command"
  if [ -z "$option" ]; then
    offers "${words[0]}" "${words[0]:0:1}"
    [ "${#words[@]}" -eq 1 ] || offers "${words[1]}" "${words[0]}" ''
  else
    offers "$option" "${words[@]}" --
    offers "$option" "${words[@]}" "${option:0:4}"
    offers "$option" "${words[@]}" --json "${option}"
  fi
done < <("$pages" table)
offers n14-d7-s40 keygen --params n14
offers n14-d7-s40 keygen -p ''
offers html emit --as ''
offers scale-mismatch explain scale
offers require run --signatures ''
offers require plugins list --signatures ''
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir keys
touch x.hx
offers x.hx run p.mlir -i x = ''
offers x.hx run ''
offers keys run --keys ''
offers_not x.hx run --keys ''
offers_not x.hx encrypt --slots ''
offers_not --probe run --
echo "$checked completions"
exit $fail
