#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_screened.py: screened code (src/check/screen.c) of screened/*.metal.

  // clean: KERNEL ARGUMENT...       found clean without checked code, which
                                     METTLE_CHECK_SCREEN=only would tell; and
                                     the same without screening
  // expect: INDEX: VALUE...         the first values of that buffer then
  // found: KERNEL KIND ARGUMENT...  a finding of that kind, told alike with
                                     screening and without

The last line is "N passed, N failed"."""

import glob
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
METTLE = os.path.join(os.environ.get("METTLE_BUILD_DIR", "build"), "mettle")
PATHS = sorted(glob.glob(os.path.join(HERE, "screened", "*.metal")))


def run(path, arguments, screen, checks="--check"):
    return subprocess.run(
        [METTLE, "run", path, *arguments, checks],
        env=dict(os.environ, METTLE_CHECK_SCREEN=screen), capture_output=True,
        text=True, check=False)


def clean(path, arguments, expected):
    """Returns what is wrong, or None."""
    prints = []
    for index, values in expected.items():
        prints += ["--print", f"{index}:{len(values)}"]
    for screen in ("only", "0", ""):
        for checks in ("--check", "--check=bounds"):
            result = run(path, arguments + prints, screen, checks)
            if result.returncode != 0:
                return (f"{screen} {checks}: exit {result.returncode}: "
                        f"{result.stderr.strip()}")
            printed = dict(line.split(": ", 1)
                           for line in result.stdout.splitlines()
                           if ": " in line)
            for index, values in expected.items():
                if printed.get(index, "").split() != values:
                    return f"{screen} {checks}: {printed.get(index)}"
    return None


def found(path, kind, arguments):
    with_it, without = run(path, arguments, ""), run(path, arguments, "0")
    if with_it.returncode != 3 or kind + ":" not in with_it.stderr:
        return f"exit {with_it.returncode}: {with_it.stderr.strip()}"
    if with_it.stderr != without.stderr:
        return f"{with_it.stderr.strip()}\nis not\n{without.stderr.strip()}"
    return None


def cases_of(path):
    """[[function, its arguments]]"""
    cases = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            rest = line[3:].partition(": ")[2]
            if line.startswith("// clean: "):
                cases.append([clean, [path, shlex.split(rest), {}]])
            elif line.startswith("// expect: "):
                index, values = rest.split(":", 1)
                cases[-1][1][2][index] = values.split()
            elif line.startswith("// found: "):
                name, what, *others = shlex.split(rest)
                cases.append([found, [path, what, [name, *others]]])
    return cases


def main():
    cases = sum(map(cases_of, PATHS), [])
    failed = 0
    for test, arguments in cases:
        wrong = test(*arguments)
        failed += wrong is not None
        if wrong:
            print(f"FAILED {test.__name__} {arguments}: {wrong}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
