#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_cases.py: runs the tests of the command line, or those whose names are
given, over the build folder METTLE_BUILD_DIR (build/ if not set).

The last line is "N passed, N failed[, N skipped]".
"""

import os
import sys
import tempfile
import traceback
import unittest

import bad_files
import compiling
import corpora
import debugging
import differing
import ends
import examples
import installed
import machine
import models
import naming
import pictures
import picturing
import random_words
import running
import terminal
import timelines
import usage
from tool import CASES, Tool

MODULES = (usage, running, naming, picturing, pictures, bad_files, compiling,
           corpora, terminal, examples, installed, machine, models,
           random_words, debugging, differing, timelines, ends)


def default_build():
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.join(here, "..", "..", "build")


def main():
    assert MODULES  # each registers its cases when it is imported
    build = os.path.abspath(os.environ.get("METTLE_BUILD_DIR")
                            or default_build())
    wanted = sys.argv[1:]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, function in CASES:
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(Tool(build, folder))
                verdict = "passed"
            except unittest.SkipTest as reason:
                verdict = "skipped"
                print(f"skipped {name}: {reason}", flush=True)
            except Exception:  # a failed test must not end the others
                verdict = "failed"
                print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
        counts[verdict] += 1
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
