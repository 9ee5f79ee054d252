#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_kernels.py: runs the .metal files of this folder through `mettle run`.

Each file is a kernel that once went wrong, or the kind that goes wrong first,
made small. Comment lines at its top say how to run it and what must come out:

  // run: KERNEL ARGUMENT...      as for `mettle run FILE`
  // expect: INDEX: VALUE...      the first values of that buffer
  // report: TEXT                 `mettle compile --report` says this; \\n
                                  ends a line

  // not on DEVICE: REASON        the run above has no defined result there

A file may have several runs; an expect belongs to the run above it. Each run
is made plain and with --debug; with --by-turns, which is for slow builds, every
fourth kernel's runs are made plain, and one in sixteen's with --debug.
With --device cuda each is made there, plain, with METTLE_EXACT=1, several at a
time. The last line is "N passed, N failed", with "N skipped" behind it if there
are."""

import concurrent.futures
import glob
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
METTLE = os.path.join(os.environ.get("METTLE_BUILD_DIR", "build"), "mettle")


def read_runs(path, device=None):
    """Returns [(arguments, {index: [value]})] of a file; None in the place of
    one that has no defined result on device."""
    runs = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("// run: "):
                runs.append((shlex.split(line[len("// run: "):]), {}))
            elif line.startswith("// expect: "):
                index, values = line[len("// expect: "):].split(":", 1)
                runs[-1][1][index.strip()] = values.split()
            elif device and line.startswith(f"// not on {device}: "):
                runs[-1] = None
    return runs


def report(path):
    """Returns (checks that passed, what is wrong) of a file's report lines."""
    with open(path, encoding="utf-8") as lines:
        wanted = [line[len("// report: "):].strip().replace("\\n", "\n")
                  for line in lines if line.startswith("// report: ")]
    if not wanted:
        return 0, []
    result = subprocess.run([METTLE, "compile", path, "--report"],
                            capture_output=True, text=True, check=False)
    missing = [text for text in wanted if text not in result.stdout]
    return len(wanted) - len(missing), [
        f"the report does not say: {text}" for text in missing]


def run(path, arguments, expected, extra):
    """Returns what is wrong, or None."""
    command = [METTLE, "run", path] + arguments + extra
    for index, values in expected.items():
        command += ["--print", f"{index}:{len(values)}"]
    result = subprocess.run(command, capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        return f"exit {result.returncode}: {result.stderr.strip()}"
    printed = dict(line.split(": ", 1)
                   for line in result.stdout.splitlines() if ": " in line)
    for index, values in expected.items():
        got = printed.get(index, "").split()
        if got != values:
            return (f"buffer {index} is {' '.join(got)}\n"
                    f"     expected {' '.join(values)}")
    return None


def run_on(device):
    """All runs on a device of its own memory and threads."""
    if device == "cuda" and not os.path.exists("/dev/nvidiactl"):
        print("no NVIDIA GPU")
        return 77
    os.environ.update(METTLE_DEVICE=device, METTLE_EXACT="1")
    paths = sorted(glob.glob(os.path.join(HERE, "*.metal")))
    runs = [(path, *it) if it else None
            for path in paths for it in read_runs(path, device)]
    kept = [it for it in runs if it]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        wrongs = list(pool.map(lambda it: run(*it, []), kept))
    for (path, arguments, _), wrong in zip(kept, wrongs):
        if wrong:
            print(f"{os.path.basename(path)} {arguments[0]}: {wrong}")
    failed = sum(wrong is not None for wrong in wrongs)
    print(f"{len(kept) - failed} passed, {failed} failed, "
          f"{len(runs) - len(kept)} skipped")
    return 1 if failed or not kept else 0


def main():
    if "--device" in sys.argv[1:]:
        return run_on(sys.argv[sys.argv.index("--device") + 1])
    by_turns = "--by-turns" in sys.argv[1:]
    passed = failed = 0
    turns = {}  # of each kernel
    for path in sorted(glob.glob(os.path.join(HERE, "*.metal"))):
        runs = read_runs(path)
        if not runs:
            failed += 1
            print(f"{path}: no run line")
        said, missing = report(path)
        passed += said
        failed += len(missing)
        for text in missing:
            print(f"{os.path.basename(path)}: {text}")
        for arguments, expected in runs:
            turn = turns.setdefault((path, arguments[0]), len(turns))
            ways = ([], ["--debug"])
            if by_turns:
                ways = ways[:1] * (turn % 4 == 0) + ways[1:] * (turn % 16 == 1)
            for extra in ways:
                wrong = run(path, arguments, expected, extra)
                failed += wrong is not None
                passed += wrong is None
                if wrong:
                    print(f"{os.path.basename(path)} {' '.join(extra)}: "
                          f"{wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
