#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_clean.py: runs the .metal files of folders, or files, by their
'// run:' lines under the checker and tells each finding, and each result that
is not the one of the '// expect:' line below.

  tools/check_clean.py [--build DIR] [--schedules LIST] [--every N]
                       [--seconds N] PATH...

Without paths it takes tests/regression. --schedules forward,reverse,random:1
has each run made so often, forward alone if not given; --every 5 takes each
fifth run; --seconds is the time that a run may take, 30 if not given. A comment
'// checked: KIND...' at the top of a file names what is rightly found in it;
with the word `order` its results hang on the order of threads and are compared
forward alone. A line '// schedule: WHICH' below a run names its only schedule:
that of threadgroups that wait for others. The last line is 'N passed, N
failed'; without a run the exit status is 2."""

import argparse
import glob
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def read_runs(path):
    """Returns ([(arguments, {index: values}, [schedule])], kinds) of a
    file."""
    runs, kinds = [], set()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("// run: "):
                runs.append((shlex.split(line[len("// run: "):]), {}, []))
            elif line.startswith("// schedule: ") and runs:
                runs[-1][2].append(line[len("// schedule: "):].strip())
            elif line.startswith("// checked: "):
                kinds |= set(line[len("// checked: "):].split())
            elif line.startswith("// expect: ") and runs:
                index, values = line[len("// expect: "):].split(":", 1)
                runs[-1][1][index.strip()] = values.split()
    return runs, kinds


def found_kinds(text):
    return {line.split(":")[0] for line in text.splitlines()
            if "." in line.split(":")[0] and not line.startswith((" ", "mettle"))
            or line.startswith(("align:", "nan:"))}


def run(mettle, path, case, kinds, schedule, seconds):
    """Returns what is wrong, or None."""
    arguments, expected, _ = case
    command = [mettle, "run", path, *arguments, "--check", "--schedule",
               schedule, "--timeout", str(seconds)]
    for index, values in expected.items():
        command += ["--print", f"{index}:{len(values)}"]
    result = subprocess.run(command, capture_output=True, text=True,
                            check=False)
    if result.returncode not in (0, 3):
        return f"exit {result.returncode}: {result.stderr.strip()}"
    if result.returncode == 3 and not found_kinds(result.stderr) <= kinds:
        return result.stderr.strip()
    if schedule != "forward" and (result.returncode == 3 or "order" in kinds):
        return None  # its results hang on the order
    printed = dict(line.split(": ", 1)
                   for line in result.stdout.splitlines() if ": " in line)
    for index, values in expected.items():
        if printed.get(index, "").split() != values:
            return (f"buffer {index} is {printed.get(index)}\n"
                    f"     expected {' '.join(values)}")
    return None


def files_of(paths):
    for path in paths:
        yield from (sorted(glob.glob(os.path.join(path, "*.metal")))
                    if os.path.isdir(path) else [path])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--build",
                        default=os.environ.get("METTLE_BUILD_DIR", "build"))
    parser.add_argument("--schedules", default="forward")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=30)
    options = parser.parse_args()
    mettle = os.path.join(options.build, "mettle")
    paths = options.paths or [os.path.join(ROOT, "tests", "regression")]
    passed = failed = number = 0
    for path in files_of(paths):
        runs, kinds = read_runs(path)
        for case in runs:
            number += 1
            if number % options.every:
                continue
            for schedule in case[2] or options.schedules.split(","):
                wrong = run(mettle, path, case, kinds, schedule,
                            options.seconds)
                passed += wrong is None
                failed += wrong is not None
                if wrong:
                    print(f"FAILED {os.path.basename(path)} {case[0][0]} "
                          f"{schedule}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed")
    if not passed + failed:
        print(f"nothing was run: {number} '// run:' lines in the paths, of "
              f"which each {options.every}th is taken", file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
