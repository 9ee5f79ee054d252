#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_format.py: checks that C and C++ files look as .clang-format says.

  tools/check_format.py           files that do not, but for those on the list
  tools/check_format.py --update  takes off the list what has become clean

Files that are older than this rule are in tools/unformatted.txt, which only
becomes shorter; a new file is clean. The version is pinned, for each has its
own taste: from the path, or from PyPI into the build folder. Where neither has
it the check is skipped.
The last line is "N passed, N failed"."""

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, "tools", "unformatted.txt")
VERSION = "19.1.7"
FOLDER = os.path.join(os.environ.get("METTLE_BUILD_DIR",
                                     os.path.join(ROOT, "build")),
                      f"clang-format-{VERSION}")
FETCHED = os.path.join(FOLDER, "clang_format", "data", "bin", "clang-format")
ENDINGS = (".c", ".h", ".cpp")
NOT_OURS = ("src/compiler/metal/", "tests/fuzz/seeds/")


def is_right(path):
    said = subprocess.run([path, "--version"], capture_output=True, text=True,
                          check=False).stdout
    return f"version {VERSION}" in said


def tool():
    """clang-format of that version, from the path or from PyPI; or None."""
    for path in (os.environ.get("CLANG_FORMAT"), shutil.which("clang-format"),
                 FETCHED):
        if path and os.path.exists(path) and is_right(path):
            return path
    try:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet",
                        "--retries", "0", "--timeout", "10", "--target", FOLDER,
                        f"clang-format=={VERSION}"], capture_output=True,
                       check=False, timeout=60)
    except subprocess.TimeoutExpired:
        pass
    return FETCHED if os.path.exists(FETCHED) and is_right(FETCHED) else None


def sources():
    result = subprocess.run(["git", "-C", ROOT, "ls-files"], check=False,
                            capture_output=True, text=True)
    return [path for path in result.stdout.split("\n")
            if path.endswith(ENDINGS) and not path.startswith(NOT_OURS)
            and os.path.isfile(os.path.join(ROOT, path))]


def unclean(clang_format, paths):
    """Those of paths that clang-format would change."""
    found = set()
    for at in range(0, len(paths), 100):
        result = subprocess.run(
            [clang_format, "--dry-run", "--ferror-limit=1", *paths[at:at + 100]],
            cwd=ROOT, capture_output=True, text=True, check=False)
        found |= {line.split(":", 1)[0] for line in result.stderr.split("\n")
                  if "[-Wclang-format-violations]" in line}
    return found


def main():
    clang_format = tool()
    if not clang_format:
        print(f"skipped: no clang-format {VERSION}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    with open(LIST, encoding="utf-8") as file:
        listed = {line for line in file.read().split("\n") if line}
    if sys.argv[1:] == ["--update"]:
        still = unclean(clang_format, sorted(listed & set(sources())))
        with open(LIST, "w", encoding="utf-8") as file:
            file.write("".join(f"{path}\n" for path in sorted(still)))
        return 0
    paths = [path for path in sources() if path not in listed]
    failed = sorted(unclean(clang_format, paths))
    for path in failed:
        print(f"{path}: clang-format -i {path}")
    print(f"{len(paths) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
