#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_tidy.py: checks that clang-tidy finds nothing in the C files of src.

  tools/check_tidy.py [PATH...]   all of them, or those

.clang-tidy has the checks. They take half a minute of a processor, so they are
a part of .ci/run and of no other test. The build folder is METTLE_BUILD_DIR, or
build; it must be configured. Where there is no clang-tidy the check is skipped.
The last line is "N passed, N failed": a test for every file."""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("METTLE_BUILD_DIR", os.path.join(ROOT, "build"))
AT_ONCE = 20  # files that one process reads
FOUND = re.compile(r"^(.*?):\d+:\d+: (?:warning|error): ", re.MULTILINE)
# IREE's build makes these, with its headers.
NOT_HERE = ("src/iree/",)


def sources(wanted):
    """C files of src that the build compiles, from its commands."""
    with open(os.path.join(BUILD, "compile_commands.json"),
              encoding="utf-8") as file:
        paths = {os.path.relpath(entry["file"], ROOT)
                 for entry in json.load(file)}
    return sorted(path for path in paths
                  if path.startswith("src/") and path.endswith(".c")
                  and not path.startswith(NOT_HERE)
                  and (not wanted or path in wanted))


def run(clang_tidy, paths):
    """What it says of these."""
    return subprocess.run([clang_tidy, "-p", BUILD, "--quiet", *paths],
                          cwd=ROOT, capture_output=True, text=True,
                          check=False).stdout


def main():
    clang_tidy = (os.environ.get("CLANG_TIDY") or shutil.which("clang-tidy-19")
                  or shutil.which("clang-tidy"))
    if not clang_tidy:
        print("skipped: no clang-tidy")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    paths = sources({os.path.relpath(os.path.abspath(path), ROOT)
                     for path in sys.argv[1:]})
    pieces = [paths[at:at + AT_ONCE] for at in range(0, len(paths), AT_ONCE)]
    failed = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in pool.map(lambda piece: run(clang_tidy, piece), pieces):
            found = FOUND.findall(said)
            if found:
                print(said)
            failed |= {os.path.relpath(path, ROOT) for path in found}
    print(f"{len(paths) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
