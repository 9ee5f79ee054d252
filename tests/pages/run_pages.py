#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_pages.py [TEST...]: runs the tests of this folder, with the programs in
METTLE_BUILD_DIR. A folder in METTLE_PICTURES gets what they look like. The
last line is "N passed, N failed[, N skipped]"."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("METTLE_BUILD_DIR",
                      os.path.join(HERE, "..", "..", "build"))


def main():
    sys.path.insert(0, HERE)
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else \
        loader.discover(HERE)
    result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
    for test, why in result.skipped:
        print(f"skipped {test}: {why}")
    bad = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    # A skipped class runs none of its tests.
    passed = max(0, result.testsRun - bad - sum(
        isinstance(test, unittest.TestCase) for test, _ in result.skipped))
    print(f"{passed} passed, {bad} failed" +
          (f", {skipped} skipped" if skipped else ""))
    return 1 if bad or not passed + skipped else 0


if __name__ == "__main__":
    sys.exit(main())
