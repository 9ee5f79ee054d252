#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_abi.py [--write] BUILD: compares the binary interface of the libraries
in BUILD with that of the last version, which abi/ describes (libabigail).

Semantic versions: what is added needs a higher version than the described one;
what is removed or changed needs a higher major version, before 1.0 a higher
minor one, and its name in CHANGELOG.md's section of the version. --write
describes the version in BUILD, which is done when it is released. The last line
is "N passed, N failed[, N skipped]": one test for each library, one for the
version."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARIES = ["libmettle.so.0", "libmettle-aoti.so.0"]
IS_CHANGED = 4  # abidiff's exit code, as bits
IS_WRONG = 3
# Names in abidiff's report: "'struct mtl_x' changed", "[D] '...' {mtl_x}".
TYPE = re.compile(r"^'(?:struct|union|enum|class|typedef) (\w+)'? ?.*changed:$",
                  re.MULTILINE)
SYMBOL = re.compile(r"^ *\[[DC]\] '(?:function|variable) .*?(\w+)(?:\(.*)?'",
                    re.MULTILINE)


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as file:
        return file.read()


def version():
    """(major, minor, patch) of what is here."""
    return tuple(map(int, re.findall(r"#define MTL_VERSION_\w+ (\d+)", read(
        "include", "mettle", "version.h"))))


def text_of(numbers):
    return ".".join(map(str, numbers))


def described(folder):
    """The last version that folder describes."""
    found = [tuple(map(int, name.split("."))) for name in os.listdir(folder)]
    return max(found)


def section(changelog, numbers):
    """What a change log says of a version; "" if nothing."""
    found = re.search(rf"^## {re.escape(text_of(numbers))}\b.*?(?=^## |\Z)",
                      changelog, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def describe(library, path):
    """Writes the description of a library. Places of files are left out, since
    they change with every commit."""
    subprocess.run(
        ["abidw", "--headers-dir", os.path.join(ROOT, "include"),
         "--drop-private-types", "--exported-interfaces-only",
         "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
         "--no-elf-needed", "--no-parameter-names", "--type-id-style", "hash",
         "--out-file", path, library], check=True)


def compare(old, new, *options):
    """(abidiff's exit code, its report)."""
    done = subprocess.run(
        ["abidiff", "--leaf-changes-only", "--no-show-locs", *options, old,
         new], capture_output=True, text=True, check=False)
    if done.returncode & IS_WRONG:
        raise RuntimeError(f"abidiff: {done.stderr}{done.stdout}")
    return done.returncode, done.stdout


def problems(old, new, old_version, new_version, changelog):
    """What is wrong with a change from one description to another, as texts."""
    code, report = compare(old, new)
    if not code & IS_CHANGED:
        return []
    found = []
    if new_version <= old_version:
        found.append(f"the interface is not that of {text_of(old_version)}: "
                     "include/mettle/version.h needs a higher version")
    code, broken = compare(old, new, "--no-added-syms")
    if code & IS_CHANGED:
        series = 1 if old_version[0] else 2
        if new_version[:series] == old_version[:series]:
            found.append("programs built before break: the "
                         f"{'major' if series == 1 else 'minor'} version has "
                         "to rise")
        told = section(changelog, new_version)
        names = sorted(set(TYPE.findall(broken) + SYMBOL.findall(broken)))
        found += [f"CHANGELOG.md does not tell under "
                  f"{text_of(new_version)} that `{name}` changes"
                  for name in names if f"`{name}`" not in told]
    return [*found, report] if found else []


def check_version():
    """Texts of what does not agree with version.h."""
    found = []
    numbers = version()
    if not section(read("CHANGELOG.md"), numbers):
        found.append(f"CHANGELOG.md has no section {text_of(numbers)}")
    if os.path.exists(os.path.join(ROOT, "debian", "changelog")):
        first = read("debian", "changelog").split("\n", 1)[0]
        if f"({text_of(numbers)})" not in first:
            found.append(f"debian/changelog does not begin with "
                         f"{text_of(numbers)}: {first}")
    return found


def write(build):
    folder = os.path.join(ROOT, "abi", text_of(version()))
    os.makedirs(folder, exist_ok=True)
    for library in LIBRARIES:
        path = os.path.join(folder, library + ".abi")
        describe(os.path.join(build, library), path)
        print(path)


def check(build):
    folder = os.path.join(ROOT, "abi")
    old_version = described(folder)
    changelog = read("CHANGELOG.md")
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        for library in LIBRARIES:
            new = os.path.join(place, library + ".abi")
            describe(os.path.join(build, library), new)
            old = os.path.join(folder, text_of(old_version), library + ".abi")
            found = problems(old, new, old_version, version(), changelog)
            failed += bool(found)
            for text in found:
                print(f"{library}: {text}")
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("build")
    options = parser.parse_args()
    if not shutil.which("abidw"):
        print("abi: no abidw (abigail-tools)\n0 passed, 0 failed, 1 skipped")
        return 0
    if options.write:
        write(options.build)
        return 0
    wrong = check_version()
    for text in wrong:
        print(text)
    failed = check(options.build) + bool(wrong)
    print(f"{len(LIBRARIES) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
