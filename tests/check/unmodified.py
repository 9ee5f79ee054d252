#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""unmodified.py: programs that know nothing of checks, in C and in
Objective-C (Metal 3 and 4), run the kernels of published.metal with METTLE_CHECK and without:
the exit status, the report, and the error of the command buffer.

  unmodified.py CLIENT   the program of unmodified.c

The last line is "N passed, N failed[, N skipped]"."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
from run_kernels import is_found, read_runs  # noqa: E402

BUILD = os.environ.get("METTLE_BUILD_DIR", os.path.join(ROOT, "build"))
SOURCE = os.path.join(HERE, "published.metal")


def build_objc(folder, name):
    """The program of a source, or None where it cannot be built."""
    clang = shutil.which("clang-19") or shutil.which("clang")
    objc = os.path.join(BUILD, "objc")
    library = os.path.join(objc, "libMetal.so.1")
    target = os.path.join(folder, name)
    if not clang or not os.path.exists(library):
        return None
    subprocess.run(
        [clang, "-fobjc-runtime=macosx-12.0", "-fblocks", "-fobjc-arc",
         "-I", os.path.join(ROOT, "include", "mettle-objc"),
         os.path.join(HERE, name + ".m"),
         os.path.join(objc, "mettle-objc-crt.o"), library,
         f"-Wl,-rpath,{objc}", f"-Wl,-rpath,{BUILD}", "-o", target], check=True)
    return target


def cases(client):
    """[(kernels, what is to be found)] of a program."""
    found = [([run[0][0]], run[1]) for run in read_runs(SOURCE)]
    with open(SOURCE, encoding="utf-8") as file:
        lines = {line.split("// @")[1].strip(): number
                 for number, line in enumerate(file, 1) if "  // @" in line}
    race = ("race.dispatch", {lines["make"], lines["take"]})
    pairs = [("make take", [race]), ("make barrier take", [])]
    if client.endswith("4"):
        found = []
        pairs += [("make blits take", [race]),
                  ("make end take", [race]),
                  ("make end consume take", []),
                  ("make produce end take", []),
                  ("produce make end take", [race]),
                  ("make update end wait take", []),
                  ("make update end take wait", [race])]
    return found + [(words.split(), kinds) for words, kinds in pairs]


def run(client, kernels, wanted, report):
    """Returns what is wrong, or None."""
    environment = dict(os.environ, METTLE_CHECK="1", METTLE_CHECK_REPORT=report)
    result = subprocess.run([client, SOURCE, *kernels], env=environment,
                            capture_output=True, text=True, check=False)
    if result.returncode != (3 if wanted else 0):
        return f"exit {result.returncode}: {result.stderr}"
    if not result.stderr.rstrip().split("\n")[-1].startswith("mettle check: "):
        return f"the last line is {result.stderr!r}"
    with open(report, encoding="utf-8") as file:
        findings = json.load(file)["findings"]
    kinds = {kind for kind, _ in wanted}
    if {it["kind"] for it in findings} != kinds:
        return f"found {findings}"
    if any(not is_found(one, findings) for one in wanted):
        return f"not at {wanted}: {findings}"
    if wanted and wanted[0][0] not in result.stdout:
        return f"the command buffer says {result.stdout!r}"
    if not wanted and result.stdout != "done\n":
        return f"the command buffer says {result.stdout!r}"
    plain = subprocess.run([client, SOURCE, *kernels], capture_output=True,
                           text=True, check=False)
    if (plain.returncode, plain.stdout, plain.stderr) != (0, "done\n", ""):
        return f"without checks: {plain}"
    return None


def main():
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        programs = [build_objc(folder, "unmodified"),
                    build_objc(folder, "unmodified4")]
        skipped += programs.count(None)
        for client in filter(None, (sys.argv[1], *programs)):
            for kernels, wanted in cases(client):
                wrong = run(client, kernels, wanted,
                            os.path.join(folder, "report.json"))
                passed += wrong is None
                failed += wrong is not None
                if wrong:
                    print(f"FAILED {os.path.basename(client)} "
                          f"{' '.join(kernels)}: {wrong}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
