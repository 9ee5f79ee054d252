#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""declared.py: every selector that libMetal's tables have is declared in
include/mettle-objc, or listed here, and each header of Metal and Foundation
can be imported alone. Its last line is the count; ends with 77 without a
clang."""
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LITERALS = r'((?:"[^"]*"\s*)+)'
METHOD = re.compile(r"\b(?:METHOD|READ_ONLY)\(\s*(?:\w+,\s*)?" + LITERALS + ",")
PROPERTY = re.compile(
    r"\b(?:VALUE|OBJECT|FLAG)_METHODS\(\s*\w+,\s*(\w+),\s*" + LITERALS)
# Of Objective-C before reference counting, of our own, and of stage-in
# arguments, for which there are no descriptors.
PRIVATE = {"finalize", "zone", "mettleExceptionWithName:reason:",
           "mettleMutatedWhileEnumerated", "stageInputDescriptor",
           "setStageInputDescriptor:"}
HEADERS = ("#import <MetalKit/MetalKit.h>\n#import "
           "<MetalPerformanceShaders/MetalPerformanceShaders.h>\n")


def join(literals):
    return "".join(re.findall(r'"([^"]*)"', literals))


def selectors():
    found = set()
    for room in ("metal", "foundation", "loops", "operations",
                 "dispatch", "runtime"):
        for path in glob.glob(os.path.join(ROOT, "src", "objc", room, "**",
                                           "*.c"), recursive=True):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            found.update(join(each[1]) for each in METHOD.finditer(text))
            for each in PROPERTY.finditer(text):
                found.update((each[1], join(each[2])))
    return sorted(each for each in found if re.fullmatch(r"[\w:]+", each))


def parsed(clang, source):
    """What clang says of source."""
    return subprocess.run(
        [clang, "-x", "objective-c", "-fsyntax-only", "-ferror-limit=0",
         "-Wundeclared-selector", "-fobjc-runtime=macosx-12.0", "-fblocks",
         "-I", os.path.join(ROOT, "include", "mettle-objc"), "-"],
        input=source, capture_output=True, text=True, timeout=60)


def headers_alone(clang):
    """(how many can be imported alone, how many cannot)"""
    names = [f"{room}/{name}" for room in ("Metal", "Foundation")
             for name in sorted(os.listdir(
                 os.path.join(ROOT, "include", "mettle-objc", room)))]
    failed = 0
    for name in names:
        told = parsed(clang, f"#import <{name}>\n")
        if told.returncode or told.stderr:
            failed += 1
            print(f"FAILED: {name}\n{told.stderr}")
    return len(names) - failed, failed


def main():
    clang = shutil.which("clang-19") or shutil.which("clang")
    if not clang:
        print("skipped: no clang")
        sys.exit(77)
    wanted = selectors()
    source = HEADERS + "".join(
        f"SEL s{i}(void) {{ return @selector({each}); }}\n"
        for i, each in enumerate(wanted))
    told = parsed(clang, source)
    missing = set(re.findall(r"undeclared selector '([^']*)'", told.stderr))
    missing -= PRIVATE
    for each in sorted(missing):
        print(f"FAILED: {each} is in no header of include/mettle-objc")
    failed = len(missing) + (told.returncode != 0)
    if told.returncode:
        print(told.stderr)
    alone, not_alone = headers_alone(clang)
    failed += not_alone
    print(f"{len(wanted) - len(missing) + alone} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
