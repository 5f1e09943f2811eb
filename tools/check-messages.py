#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the messages of library, command line and plugins are worded: one sentence without capital and full stop, naming what was
found; no words that only scold (what is wrong is said instead). Called by ./dev lint from the top of the tree."""
import re
import subprocess
import sys

CALL = re.compile(r'\b(hx_report_fail(?:_at)?|hx_gates_fail|hx_gates_hint|hx_container_fail|hx_report_warn|hxs_fail)\('
                  r'((?:[^();"]|"(?:\\.|[^"\\])*"|\([^()]*\))*)')
TEXTS = re.compile(r'(?:"(?:\\.|[^"\\])*"\s*)+')
SCOLDING = re.compile(r'\b(please|sorry|oops|invalid|illegal|bad|wrong input|failed to)\b', re.I)

files = subprocess.check_output(['git', 'ls-files', 'core/*.c', 'cli/*.c', 'plugins/*.c', 'sdk/support/*.c'], text=True).split()
count = faults = 0
for name in files:
    if name == 'core/compile/emit_eager.c':  # writes C that has such calls
        continue
    with open(name, encoding='utf-8') as file:
        source = file.read()
    for call in CALL.finditer(source):
        texts = TEXTS.findall(call.group(2))
        if not texts:
            continue
        text = ''.join(re.findall(r'"((?:\\.|[^"\\])*)"', texts[-1]))
        count += 1
        why = None
        if re.match(r'[A-Z][a-z]', text):
            why = 'begins with a capital'
        elif re.search(r'[^.]\.$|!$|\\n', text):
            why = 'ends in a full stop, an exclamation mark or a line'
        elif SCOLDING.search(text):
            why = f"says '{SCOLDING.search(text).group(0)}' instead of what was found and expected"
        if why:
            line = source.count('\n', 0, call.start()) + 1
            print(f'{name}:{line}: "{text}" {why}')
            faults += 1
if count < 500:
    print(f'only {count} messages were found: this check does not see them any more')
    faults += 1
sys.exit(1 if faults else 0)
