#!/usr/bin/env bash
# Formatting, static checkers, own rules. Called by ./dev lint from the top of the tree. "quick" leaves out the path-sensitive
# analyzer of clang-tidy, which takes most of the time.
set -euo pipefail
fail=0
tidy_checks=()
[ "${1:-}" = quick ] && tidy_checks=(--checks=-clang-analyzer-*)
step() { printf '== %s\n' "$*"; }

step clang-format
# Kept headers of released ABI versions stay as they were.
git ls-files -- '*.c' '*.h' '*.cpp' ':!tests/fixtures/abi-*' | xargs clang-format-14 --dry-run --Werror || fail=1

step layers
tools/check-layers.sh || fail=1

step refusals
tools/check-refusals.sh || fail=1

step messages
tools/check-messages.py || fail=1

step plugin ABI
tools/check-abi.sh || fail=1

step public ABI
tools/check-public-abi.sh || fail=1

step unfinished
# Words that mark unfinished work.
if git grep -nIE '\b(TODO|FIXME|XXX)\b' -- ':!tools/lint.sh' ':!docs'; then fail=1; fi

step headers
# Every public header compiles alone, as C and C++.
for header in include/heliox/*.h; do
  gcc -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -x c - <<<"#include \"${header#include/}\"" || fail=1
  g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -x c++ - <<<"#include \"${header#include/}\"" || fail=1
done
gcc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -Isdk/include -x c - <<<'#include "heliox/plugin.h"' || fail=1
g++ -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -Isdk/include -x c++ - <<<'#include "heliox/plugin.h"' || fail=1

[ -f build/release/compile_commands.json ] || cmake --preset release -DHELIOX_TESTS=ON >/dev/null
step cppcheck
git ls-files -- 'core/*.c' 'reference/*.c' 'plugins/*.c' 'cli/*.c' 'sdk/*.c' >build/release/cppcheck-files.txt
cppcheck --quiet --enable=warning,portability --error-exitcode=1 --std=c11 --suppressions-list=tools/cppcheck-suppressions.txt \
  -D__x86_64__ -D_GNU_SOURCE -I . -I include -I sdk/include -I plugins/cpu -I plugins/cuda -I build/release/generated \
  --file-list=build/release/cppcheck-files.txt -j "$(nproc)" || fail=1

step clang-tidy
git ls-files -- 'core/*.c' 'reference/*.c' 'plugins/*.c' 'cli/*.c' 'examples/*.c' 'sdk/*.c' |
  xargs -P "$(nproc)" -n 4 clang-tidy-14 --quiet "${tidy_checks[@]}" -p build/release || fail=1

exit $fail
