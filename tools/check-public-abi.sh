#!/usr/bin/env bash
# The binary interface of libheliox by an independent tool: abidiff compares what the public headers say now with the kept
# description of the SONAME, core/abi/libheliox.so.N.i (the headers after the preprocessor). Functions may come; none may
# go or change, nor may a type that they use.
# usage: tools/check-public-abi.sh            compare
#        tools/check-public-abi.sh --update   write the description anew; refused where a released one would be broken
#        tools/check-public-abi.sh --release  --update, and note functions and SONAME as released
# PUBLIC_INCLUDE, PUBLIC_KEPT: headers and description instead of those of the tree, for a test of this check.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
include=$(realpath "${PUBLIC_INCLUDE:-include}")
version=$(sed -nE 's/^project\(heliox VERSION ([0-9]+\.[0-9]+).*/\1/p' CMakeLists.txt)
soversion=$(sed -nE 's/^set\(HELIOX_SOVERSION ([0-9]+)\).*/\1/p' core/CMakeLists.txt)
[ -n "$version" ] && [ -n "$soversion" ] || { echo 'CMakeLists.txt has no version, or core/CMakeLists.txt no HELIOX_SOVERSION'; exit 1; }
kept=${PUBLIC_KEPT:-core/abi/libheliox.so.$soversion.i}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake -DCOMPILER=gcc -DINCLUDE="$include" -DVERSION="$version" -DRELEASED="$PWD/core/abi/symbols.txt" -DSHIM="$work/now.i" \
  -DMAP="$work/now.map" -DLIST="$work/now.txt" -P cmake/PublicSymbols.cmake
# An enumeration's last member counts the others: it grows with them and is no value that a program stores.
library() { sed -E '/^ *HX_[A-Z0-9_]+_COUNT,?$/d' "$1" | gcc -std=gnu2x -g -O0 -shared -fPIC -x cpp-output -o "$2" -; }
library "$work/now.i" "$work/now.so"

compatible=1
if [ -f "$kept" ]; then
  library "$kept" "$work/kept.so"
  abidiff --no-added-syms "$work/kept.so" "$work/now.so" >"$work/report" || compatible=0
fi

case ${1:-} in
  '')
    [ -f "$kept" ] || { echo "$kept is missing: tools/check-public-abi.sh --update writes it"; exit 1; }
    if [ "$compatible" -eq 0 ]; then
      cat "$work/report"
      echo "include/heliox: not what $kept describes. Programs built before would break: undo the change; or, for a SONAME that"
      echo "is not in core/abi/released.txt, describe it anew with tools/check-public-abi.sh --update; else raise HELIOX_SOVERSION."
      exit 1
    fi
    ;;
  --update | --release)
    if [ "$compatible" -eq 0 ] && grep -qx "$soversion" core/abi/released.txt; then
      cat "$work/report"
      echo "libheliox.so.$soversion is released: an incompatible interface needs a higher HELIOX_SOVERSION in core/CMakeLists.txt"
      exit 1
    fi
    cp "$work/now.i" "$kept"
    [ "$1" = --release ] || exit 0
    grep -qx "$soversion" core/abi/released.txt || echo "$soversion" >>core/abi/released.txt
    cut -d' ' -f1 core/abi/symbols.txt | grep '^hx_' | sort >"$work/before.txt" || true
    comm -13 "$work/before.txt" <(sort "$work/now.txt") | sed "s/\$/ HELIOX_$version/" >>core/abi/symbols.txt
    ;;
  *)
    sed -n '5,8p' "$0"
    exit 2
    ;;
esac
