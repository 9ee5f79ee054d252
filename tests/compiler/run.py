#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py: the front end's tests: run.py PARSE_TOOL [FOLDER]

A file of FOLDER/language holds many small sources, each after a line
`//--- name`. What a source must give is said in its comments:

  // expect: TEXT        a line of parse_tool's output has TEXT
  // ir: REGEX           the IR matches; // no-ir: REGEX it does not
  // error: LINE: TEXT   an error with TEXT on that line of the source, where
                         the line with //--- is line 0, or NAME:LINE of a
                         file beside it; `warning:` and `note:` likewise.
                         Without any error the source must compile, without
                         any warning without one
  // never: TEXT         no diagnostic has TEXT
  // options: WORDS      for parse_tool
  // file: NAME          what follows goes to NAME beside the source

The last line of the output is "N passed, N failed".
"""

import os
import re
import subprocess
import sys
import tempfile

DIRECTIVE = re.compile(
    r"//\s*(expect|ir|no-ir|error|warning|note|never|options): (.*)")
DIAGNOSTIC = re.compile(r"^(.*?):(\d+):(\d+): (?:fatal )?(error|warning|note): "
                        r"(.*)$", re.M)


def sections(path):
    name, lines = None, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("//--- "):
                if name:
                    yield name, lines
                name, lines = line[6:].strip(), []
            else:
                lines.append(line)
    if name:
        yield name, lines


def write_files(folder, name, lines):
    main, target = [], None
    main_path = os.path.join(folder, name + ".metal")
    files = {main_path: main}
    target = main
    for line in lines:
        if line.startswith("// file: "):
            target = files.setdefault(
                os.path.join(folder, line[9:].strip()), [])
        else:
            target.append(line)
    for path, text in files.items():
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(text)
    return main_path


def check(tool, folder, name, lines):
    """Returns what is wrong, "" for nothing."""
    wanted = [m.groups() for m in map(DIRECTIVE.search, lines) if m]
    path = write_files(folder, name, lines)
    command = [tool, "--ir", path]
    for kind, text in wanted:
        if kind == "options":
            command += [word.replace("DIR", folder) for word in text.split()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300,
                         check=False)
    if run.returncode not in (0, 1):
        return f"exit status {run.returncode}\n{run.stderr}"
    found = [(kind, line if file == path else
              f"{os.path.basename(file)}:{line}", text)
             for file, line, _, kind, text in DIAGNOSTIC.findall(run.stderr)]
    wrong = []
    for kind, text in wanted:
        if kind in ("error", "warning", "note"):
            line, part = text.split(": ", 1)
            if not any(k == kind and n == line and part in t
                       for k, n, t in found):
                wrong.append(f"no {kind} in line {line}: {part}")
        elif kind == "never" and text in run.stderr:
            wrong.append(f"in a diagnostic: {text}")
        elif kind == "expect" and text not in run.stdout:
            wrong.append(f"not in the output: {text}")
        elif kind == "ir" and not re.search(text, run.stdout):
            wrong.append(f"IR does not match: {text}")
        elif kind == "no-ir" and re.search(text, run.stdout):
            wrong.append(f"IR matches: {text}")
    for kind in ("error", "warning"):
        lines_wanted = {t.split(": ")[0] for k, t in wanted if k == kind}
        for k, line, text in found:
            if k == kind and line not in lines_wanted:
                wrong.append(f"unexpected {kind} in line {line}: {text}")
    fails = any(kind == "error" for kind, _ in wanted)
    if fails != (run.returncode == 1):
        wrong.append(f"exit status {run.returncode}")
    if wrong:
        wrong.append(run.stderr[-2000:])
        wrong += [line for line in run.stdout.split("\n")[:20]]
    return "\n".join(wrong)


def main():
    tool = os.path.abspath(sys.argv[1])
    here = sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(
        os.path.abspath(__file__))
    passed = failed = 0
    folder = os.path.join(here, "language")
    for file in sorted(os.listdir(folder)):
        for name, lines in sections(os.path.join(folder, file)):
            with tempfile.TemporaryDirectory() as temporary:
                wrong = check(tool, temporary, name, lines)
            if wrong:
                failed += 1
                print(f"failed: {file}: {name}\n  " +
                      wrong.replace("\n", "\n  "))
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
