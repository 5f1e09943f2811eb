#!/usr/bin/env bash
# cli/variables.def, from which manual and doctor come, has exactly the variables that library, plugins and command line read.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
read_by_code=$(grep -rhoE '"HELIOX_[A-Z_]+"' --include='*.c' core plugins cli | tr -d '"' | sort -u)
listed=$(sed -nE 's/^VARIABLE\("([A-Z_]+)",.*/\1/p' cli/variables.def | sort -u)
[ -n "$listed" ] && diff <(printf '%s\n' "$listed") <(printf '%s\n' "$read_by_code") ||
  { echo 'cli/variables.def (<) and what the code reads (>) differ: add or remove a row'; exit 1; }
