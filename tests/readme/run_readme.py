#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_readme.py [--all] README [-- PREFIX...]: runs every snippet of README,
word for word and in order, each with `bash -e` in the same folder; PREFIX is a
command that runs one (as chroot does).

A snippet is an indented block, or one fenced as sh; a block fenced as text is
what the snippet before it prints. Any other block is a failure: nobody would
know whether it works. The line before a block may say more:

  <!-- long: WHY -->   only with --all: it takes minutes, or a network
  <!-- fetches: WHY -->  long, and where it fails it is skipped, not failed
  <!-- needs: COMMAND -->  skipped unless COMMAND succeeds

With --all the snippets run as they are: packages are installed, and what is
installed goes where the README says. Without it, the suite of `make test`, they
run in a copy of the source folder over the build folder METTLE_BUILD_DIR, what
they install goes into a folder of this run's, and a snippet that calls apt,
`make demo` or `make test` is skipped.

Each snippet counts as a test, and so do the tests whose sum a snippet ends
with. The last line is "N passed, N failed[, N skipped]"."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
NOTE = re.compile(r"^<!-- (long|fetches|needs): (.*) -->$")
FENCE = re.compile(r"^```(\w*)$")
OUTSIDE = re.compile(r"\bapt(-get)?\b|\bmake (demo|test)\b")
SKIPPED_LINES = 3  # of what a snippet that may fail said last


class Snippet:
    def __init__(self, line, text, note):
        self.line, self.text = line, text
        self.kind, self.why = note or (None, "")
        self.output = None  # what README says that it prints


def blocks(text):
    """Yields (line number, language, text, note) of each block of code; the
    language of an indented block is sh."""
    lines, i, note = text.split("\n"), 0, None
    while i < len(lines):
        fence = FENCE.match(lines[i])
        first = i
        if fence:
            i = lines.index("```", i + 1)
            yield (first + 1, fence[1], "\n".join(lines[first + 1:i]), note)
            note = None
        elif lines[i].startswith("    ") and (i == 0 or not lines[i - 1]
                                              or NOTE.match(lines[i - 1])):
            while i < len(lines) and (not lines[i] or lines[i][:4] == "    "):
                i += 1
            code = "\n".join(line[4:] for line in lines[first:i])
            yield first + 1, "sh", code.rstrip("\n"), note
            note = None
            continue
        elif lines[i]:
            found = NOTE.match(lines[i])
            note = found.groups() if found else None
        i += 1


def snippets(text):
    """Returns (the snippets, what is wrong with the rest)."""
    found, wrong = [], []
    for line, language, code, note in blocks(text):
        if language == "sh":
            found.append(Snippet(line, code, note))
        elif language == "text" and found:
            found[-1].output = code
        else:
            wrong.append(f"line {line}: a block of {language or 'no language'} "
                         "that no test can run")
    return found, wrong


class Reader:
    def __init__(self, prefix, folder, environment, all_of_it):
        self.prefix, self.folder = prefix, folder
        self.environment, self.all = environment, all_of_it
        self.passed = self.failed = self.skipped = 0

    def bash(self, text, keep=True):
        """(exit status, standard output); shown as it comes."""
        process = subprocess.Popen(
            [*self.prefix, "bash", "-ec", text], cwd=self.folder,
            env=self.environment, stdin=subprocess.DEVNULL, text=True,
            errors="replace", stdout=subprocess.PIPE,
            stderr=None if keep else subprocess.DEVNULL)
        lines = []
        for line in process.stdout:
            lines.append(line)
            if keep:
                print(line, end="", flush=True)
        return process.wait(), "".join(lines)

    def skip(self, snippet, why):
        self.skipped += 1
        print(f"skipped README.md:{snippet.line}: {why}", flush=True)

    def reason_to_skip(self, snippet):
        if not self.all and OUTSIDE.search(snippet.text):
            return "it is what this run is part of"
        if not self.all and snippet.kind in ("long", "fetches"):
            return snippet.why
        if snippet.kind == "needs" and self.bash(snippet.why, False)[0] != 0:
            return f"without `{snippet.why}`"
        return None

    def count(self, output):
        """Adds the sum that a snippet ends with; True if there is one."""
        last = output.strip().split("\n")[-1]
        counts = COUNTS.match(last)
        if counts:
            self.passed += int(counts[1])
            self.failed += int(counts[2])
            self.skipped += int(counts[3] or 0)
        return counts and int(counts[2]) > 0

    def run(self, snippet):
        why = self.reason_to_skip(snippet)
        if why:
            self.skip(snippet, why)
            return
        print(f"--- README.md:{snippet.line}\n{snippet.text}\n---", flush=True)
        status, output = self.bash(snippet.text)
        has_counted_failures = self.count(output)
        if status != 0 and snippet.kind == "fetches":
            self.skip(snippet, snippet.why)
        elif status != 0:
            self.failed += not has_counted_failures
            print(f"FAILED README.md:{snippet.line}: exit status {status}")
        elif snippet.output not in (None, output.rstrip("\n")):
            self.failed += 1
            print(f"FAILED README.md:{snippet.line}: README says that it "
                  f"prints\n{snippet.output}")
        else:
            self.passed += 1

    def read(self, text):
        found, wrong = snippets(text)
        for line in wrong:
            self.failed += 1
            print(f"FAILED README.md: {line}")
        for snippet in found:
            self.run(snippet)
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}")
        return 1 if self.failed or not self.passed else 0


def lay_out(source, build, folder):
    """A folder like that of a clone that has been built; what snippets write
    there stays there."""
    for name in os.listdir(source):
        if not name.startswith(("build", ".")):
            os.symlink(os.path.join(source, name), os.path.join(folder, name))
    os.symlink(build, os.path.join(folder, "build"))


def path_of(folder, variable):
    rest = os.environ.get(variable)
    return folder + (os.pathsep + rest if rest else "")


def scratch(folder):
    """What a reader sets who installs into a folder of his own; programs that
    other tests run stay as they are."""
    prefix = os.path.join(folder, "prefix")
    libraries = os.path.join(prefix, "lib")
    return {**os.environ, "PREFIX": prefix, "AS_BUILT": "1",
            "PATH": path_of(os.path.join(prefix, "bin"), "PATH"),
            "LD_LIBRARY_PATH": path_of(libraries, "LD_LIBRARY_PATH"),
            "PKG_CONFIG_PATH": path_of(os.path.join(libraries, "pkgconfig"),
                                       "PKG_CONFIG_PATH")}


def main():
    words = sys.argv[1:]
    prefix = []
    if "--" in words:
        prefix = words[words.index("--") + 1:]
        words = words[:words.index("--")]
    all_of_it = "--all" in words
    path = os.path.abspath([word for word in words if word != "--all"][0])
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if all_of_it:
        folder = None if prefix else os.path.dirname(path)
        return Reader(prefix, folder, None, True).read(text)
    build = os.path.abspath(os.environ.get("METTLE_BUILD_DIR") or "build")
    if not shutil.which("bash"):
        print("bash is missing")
        return 77
    with tempfile.TemporaryDirectory() as top:
        clone = os.path.join(top, "mettle")
        os.mkdir(clone)
        lay_out(os.path.dirname(path), build, clone)
        return Reader(prefix, clone, scratch(top), False).read(text)


if __name__ == "__main__":
    sys.exit(main())
