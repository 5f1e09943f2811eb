#!/usr/bin/env bash
# The completion for zsh, asked as a user asks it, by the tab key of an interactive shell: it offers every command and every
# option of each.
# usage: zsh.sh PAGES-PROGRAM COMPLETION-DIRECTORY
set -euo pipefail
command -v zsh >/dev/null || { echo 'zsh is not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" table >"$work/table"
cat >"$work/inside" <<'ZSH'
# An interactive shell; whatever completion adds is written down instead of shown.
PS1=''; PS2=''; RPS1=''
unsetopt beep prompt_cr prompt_sp
fpath=($DIRECTORY $fpath)
autoload -Uz compinit
compinit -u -d $WORK/dump
setopt no_list_ambiguous
zstyle ':completion:*' list-grouped false
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits
  builtin compadd -O hits "$@"
  print -rl -- $hits >>$WORK/hits
  builtin compadd "$@"
}
finish() { print done >$WORK/done; zle kill-buffer; }
zle -N finish
bindkey '^I' complete-word
bindkey '^X' finish
ZSH
cat >"$work/outside" <<'ZSH'
zmodload zsh/zpty
local fail=0 checked=0 line
export WORK DIRECTORY
zpty shell "ZDOTDIR=$WORK/none TERM=dumb zsh -f -i"
zpty -w shell "source $WORK/inside; print ready >$WORK/ready"
# Answers of one line of input, in $answers.
ask() {
  rm -f $WORK/hits $WORK/done
  : >$WORK/hits
  zpty -w -n shell "$1"$'\t'
  zpty -w -n shell $'\x18'
  local tries=0
  while [[ ! -f $WORK/done ]] && (( tries++ < 600 )); do zpty -r -t shell line; sleep 0.02; done
  [[ -f $WORK/done ]] || { print "no answer to '$1'"; exit 1; }
  answers=(${(f)"$(<$WORK/hits)"})
}
local tries=0
while [[ ! -f $WORK/ready ]] && (( tries++ < 600 )); do zpty -r -t shell line; sleep 0.05; done
[[ -f $WORK/ready ]] || { print 'zsh did not start'; exit 1; }
typeset -a answers
local asked=''
while IFS=$'\t' read -r command option; do
  if [[ -z $option ]]; then
    local words=(${=command})
    ask "heliox "
    (( checked++ ))
    (( ${answers[(Ie)$words[1]]} )) || { print "'heliox' does not offer '$words[1]'"; fail=1; }
    if (( $#words == 2 )); then
      ask "heliox $words[1] "
      (( ${answers[(Ie)$words[2]]} )) || { print "'heliox $words[1]' does not offer '$words[2]'"; fail=1; }
    fi
    ask "heliox $command --"
  else
    (( checked++ ))
    (( ${answers[(Ie)$option]} )) || { print "'heliox $command --' does not offer '$option' but: $answers"; fail=1; }
  fi
done <$WORK/table
ask "heliox emit --as "
(( ${answers[(Ie)html]} )) || { print "'emit --as' does not offer html but: $answers"; fail=1; }
ask "heliox keygen --params "
(( ${answers[(Ie)n14-d7-s40]} )) || { print "'keygen --params' offers no preset but: $answers"; fail=1; }
zpty -d shell
print "$checked completions"
exit $fail
ZSH
WORK=$work DIRECTORY=$2 zsh -f "$work/outside"
