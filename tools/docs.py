#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/docs.py links | snippets | errors [--build DIR]: what the pages say, tried.

errors: docs/errors.md, on standard output, from what `heliox explain` knows; --check compares the page with it.

links: every relative link of every page leads to a file, and its anchor to a heading.

snippets: every fenced block is run. Blocks of a page share a directory and run in order, in one shell each:
  sh       a script; PATH has the build's programs, examples/ is there. needs=WORD: a machine that CI need not be (a GPU,
           root, ...): skipped with that reason, unless HELIOX_DOCS_HAVE names it.
  c        a whole program: compiled without warnings, linked with libheliox, run. file=PATH: its lines stand in that
           file, in this order, which the tests run. with=NAME: a fragment that is put in place of // SNIPPET in
           docs/snippets/NAME.c, and compiled.
  console  what `./dev` prints; its commands must be those that .ci/run calls.
  mlir     a program that must verify.
  text     no code.
Blocks without a language, and indented ones that look like commands, are faults: nobody would try them."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def pages():
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [ROOT / name for name in names if not name.startswith(("tests/fixtures/", "fuzz/corpus/"))]


def blocks(path):
    """(line, language, options, text) of each fenced block; faults as text."""
    found, faults, inside = [], [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = re.match(r"^\s*```(.*)$", line)
        if fence and inside is None:
            words = fence.group(1).split()
            options = dict(word.split("=", 1) for word in words[1:])
            inside = [number, words[0] if words else "", options, []]
            if not words:
                faults.append(f"{number}: a block without a language")
        elif fence:
            found.append((inside[0], inside[1], inside[2], "\n".join(inside[3])))
            inside = None
        elif inside is not None:
            inside[3].append(line)
        elif re.match(r"^    (heliox|\./dev|cmake|mpirun|export|apt) ", line):
            faults.append(f"{number}: an indented command; fence it, so that it is tried")
    if inside is not None:
        faults.append(f"{inside[0]}: a block without an end")
    return found, faults


def anchor(heading):
    text = re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.S))


def check_links():
    faults = []
    for page in pages():
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, part = target.partition("#")
            file = (page.parent / name) if name else page
            if not file.exists():
                faults.append(f"{page.relative_to(ROOT)}: {target} does not exist")
            elif part and file.suffix == ".md":
                headings = re.findall(r"^#+ (.*)$", file.read_text(), flags=re.M)
                if part not in map(anchor, headings):
                    faults.append(f"{page.relative_to(ROOT)}: {target} is no heading there")
    return faults


class Runner:
    def __init__(self, build):
        self.build, self.faults, self.ran, self.skipped, self.prefix = build, [], 0, [], None
        self.have = os.environ.get("HELIOX_DOCS_HAVE", "").split()
        self.env = dict(os.environ, LC_ALL="C", PATH=f"{build / 'bin'}:{os.environ['PATH']}",
                        HELIOX_PLUGIN_PATH=str(build / "lib/heliox/plugins"))

    def fault(self, page, line, text):
        self.faults.append(f"{page.relative_to(ROOT)}:{line}: {text}")

    def call(self, page, line, command, directory, **more):
        result = subprocess.run(command, cwd=directory, env=self.env, capture_output=True, text=True, timeout=600, **more)
        self.ran += 1
        if result.returncode != 0:
            self.fault(page, line, f"exit status {result.returncode}\n{result.stdout[-1500:]}{result.stderr[-3000:]}")
        return result.returncode == 0

    def installed(self):
        """An installation, which pages call /opt/heliox."""
        if self.prefix is None:
            self.prefix = tempfile.mkdtemp(prefix="heliox-docs-prefix-")
            subprocess.run(["cmake", "--install", str(self.build), "--prefix", self.prefix], check=True, capture_output=True)
        return self.prefix

    def compile(self, page, line, text, directory, run):
        (directory / "snippet.c").write_text(text)
        static = self.build / "lib/libheliox_static.a"
        libraries = subprocess.run(["pkg-config", "--libs", "jansson", "libsodium"], capture_output=True, text=True).stdout.split()
        command = ["cc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-I", str(ROOT / "include"), "-I", str(ROOT / "sdk/include"),
                   "-I", str(ROOT), "snippet.c"]
        if not run:  # a fragment leaves out what is done with a status
            return self.call(page, line, command + ["-Wno-unused-result", "-fsyntax-only"], directory)
        if self.call(page, line, command + ["-o", "snippet", str(static), *libraries, "-lm", "-ldl", "-lpthread"], directory):
            self.ran -= 1
            return self.call(page, line, ["./snippet"], directory)
        return False

    def block(self, page, directory, line, language, options, text):
        if "needs" in options and options["needs"] not in self.have:
            self.skipped.append(f"{page.relative_to(ROOT)}:{line}: needs {options['needs']}")
        elif language == "sh":
            if "/opt/heliox" in text:
                text = text.replace("/opt/heliox", self.installed())
            self.call(page, line, ["bash", "-euo", "pipefail", "-c", text], directory)
        elif language == "c" and "file" in options:
            self.ran += 1
            rest = re.sub(r"\s+", " ", (ROOT / options["file"]).read_text())
            for part in filter(None, (re.sub(r"\s+", " ", row).strip().rstrip(";") for row in text.splitlines())):
                at = rest.find(part)
                if at < 0:
                    self.fault(page, line, f"{options['file']} does not have, in this order: {part}")
                    break
                rest = rest[at + len(part):]
        elif language == "c" and "with" in options:
            frame = (ROOT / "docs/snippets" / (options["with"] + ".c")).read_text()
            self.compile(page, line, frame.replace("// SNIPPET", text), directory, False)
        elif language == "c":
            self.compile(page, line, text, directory, True)
        elif language == "console":
            self.ran += 1
            called = (ROOT / ".ci/run").read_text()
            for command in re.findall(r"^\$ (.*)$", text, flags=re.M):
                if command not in called:
                    self.fault(page, line, f".ci/run does not call '{command}'")
        elif language == "mlir":
            (directory / "snippet.mlir").write_text(text)
            self.call(page, line, ["heliox", "compile", "snippet.mlir", "-o", "snippet.out.mlir"], directory)
        elif language != "text":
            self.fault(page, line, f"language '{language}' is unknown here")

    def page(self, page):
        found, faults = blocks(page)
        self.faults += [f"{page.relative_to(ROOT)}:{fault}" for fault in faults]
        if not found:
            return
        with tempfile.TemporaryDirectory(prefix="heliox-docs-") as name:
            directory = pathlib.Path(name)
            shutil.copytree(self.build / "share/heliox/examples", directory / "examples")
            for block in found:
                self.block(page, directory, *block)


def errors_page(build):
    answer = subprocess.run([str(build / "bin/heliox"), "explain", "--json"], capture_output=True, text=True, check=True)
    rows = json.loads(answer.stdout)["codes"]
    lines = ["# Errors", "",
             "Every refusal and error has a code, in brackets in its message: `heliox explain CODE` says what stands here. Written by",
             "tools/docs.py from the library's own table.", ""]
    for title, chosen in (("Refused plugins", lambda row: row["status"] == "refused"),
                          ("Everything else", lambda row: row["status"] != "refused")):
        lines += [f"## {title}", "", "| code | status | means | what to do |", "|---|---|---|---|"]
        lines += [f"| {row['code']} | {row.get('gate') or row['status']} | {row['meaning']} | {row['remedy']} |"
                  for row in rows if chosen(row)]
        lines.append("")
    return "\n".join(lines).replace("<", "&lt;")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["links", "snippets", "errors"])
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("pages", nargs="*", help="only these")
    options = parser.parse_intermixed_args()
    if options.what == "errors":
        text = errors_page(pathlib.Path(options.build))
        if not options.check:
            print(text, end="")
            return 0
        same = (ROOT / "docs/errors.md").read_text() == text
        print("docs/errors.md is what heliox explain says" if same else "docs/errors.md is old: tools/docs.py errors > docs/errors.md")
        return 0 if same else 1
    if options.what == "links":
        faults = check_links()
        print(f"{len(pages())} pages, {len(faults)} dead links")
    else:
        runner = Runner(pathlib.Path(options.build).resolve())
        for page in pages():
            if not options.pages or str(page.relative_to(ROOT)) in options.pages:
                runner.page(page)
        faults = runner.faults
        if runner.prefix:
            shutil.rmtree(runner.prefix)
        for line in runner.skipped:
            print(f"skipped: {line}")
        print(f"{runner.ran} blocks tried, {len(runner.skipped)} skipped, {len(faults)} faults")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
