#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_kernels.py [FILE...]: runs the .metal files of this folder, or those
named, through `mettle run --check`.

Comment lines at the top of a file say how, and what must come out:

  // run: KERNEL ARGUMENT...      as for `mettle run FILE`
  // find: KIND @NAME[,@NAME]     a finding of it, at the lines that end with
                                  "// @NAME"; without one of these nothing is
                                  to be found
  // findings: COUNT              no more than these in all
  // expect: INDEX: VALUE...      the first values of that buffer
  // schedule: WHICH              the only one, in the place of those below
  // checks: LIST                 of --check, for all runs of the file

Each run is made forward, and by turns in reverse or in a random order, and
with kinds and lines alike. The last line is "N passed, N failed"."""

import glob
import json
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
METTLE = os.path.join(os.environ.get("METTLE_BUILD_DIR", "build"), "mettle")
OTHER_SCHEDULES = ("reverse", "random:7")
FOUND, CLEAN = 3, 0


def read_runs(path):
    """Returns [(arguments, [(kind, lines)], {index: values}, [schedule],
    [most findings])] of a file."""
    runs = []
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    places = {line.split("// ")[-1]: number
              for number, line in enumerate(lines, 1) if "  // @" in line}
    for line in lines:
        if line.startswith("// run: "):
            runs.append((shlex.split(line[len("// run: "):]), [], {}, [], []))
        elif line.startswith("// schedule: "):
            runs[-1][3].append(line[len("// schedule: "):].strip())
        elif line.startswith("// findings: "):
            runs[-1][4].append(int(line[len("// findings: "):]))
        elif line.startswith("// find: "):
            kind, names = line[len("// find: "):].split()
            runs[-1][1].append(
                (kind, {places[name] for name in names.split(",")}))
        elif line.startswith("// expect: "):
            index, values = line[len("// expect: "):].split(":", 1)
            runs[-1][2][index.strip()] = values.split()
    return runs


def checks_of(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("// checks: "):
                return line[len("// checks: "):].strip()
    return "default"


def lines_of(finding):
    return {finding[side]["line"] for side in ("first", "second")
            if side in finding}


def is_found(wanted, findings):
    kind, lines = wanted
    return any(finding["kind"] == kind and
               (lines <= lines_of(finding) if kind.startswith(("race", "sync"))
                else lines & lines_of(finding))
               for finding in findings)


def run(path, case, schedule, report):
    """Returns what is wrong, or None."""
    arguments, wanted, expected, _, most = case
    command = [METTLE, "run", path, *arguments, f"--check={checks_of(path)}",
               "--schedule",
               schedule, "--check-report", report]
    for index, values in expected.items():
        command += ["--print", f"{index}:{len(values)}"]
    result = subprocess.run(command, capture_output=True, text=True,
                            check=False)
    if result.returncode != (FOUND if wanted else CLEAN):
        return f"exit {result.returncode}: {result.stderr.strip()}"
    with open(report, encoding="utf-8") as file:
        findings = json.load(file)["findings"]
    for one in wanted:
        if not is_found(one, findings):
            return f"no {one[0]} at {sorted(one[1])}: {result.stderr.strip()}"
    if most and len(findings) > most[0]:
        return f"found more: {result.stderr.strip()}"
    known = {kind for kind, _ in wanted}
    others = [finding for finding in findings if finding["kind"] not in known]
    if others:
        return f"found as well: {result.stderr.strip()}"
    printed = dict(line.split(": ", 1)
                   for line in result.stdout.splitlines() if ": " in line)
    for index, values in expected.items():
        if printed.get(index, "").split() != values:
            return f"buffer {index} is {printed.get(index)}, not {values}"
    return None


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        for path in (sys.argv[1:] or
                     sorted(glob.glob(os.path.join(HERE, "*.metal")))):
            for number, case in enumerate(read_runs(path)):
                for schedule in case[3] or ("forward",
                                            OTHER_SCHEDULES[number % 2]):
                    wrong = run(path, case, schedule, report)
                    passed += wrong is None
                    failed += wrong is not None
                    if wrong:
                        print(f"FAILED {os.path.basename(path)} {case[0][0]} "
                              f"{schedule}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
