# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""case.py FILE [TEST...]: runs one file of tests, and what tests share. Its
last line is "RESULT passed failed skipped"."""

import importlib.util
import sys
import unittest

SAXPY = """
kernel void saxpy(device const float *x, device float *y, constant float &a,
                  uint i [[thread_position_in_grid]]) {
  y[i] += a * x[i];
}"""
SPIN = """
kernel void spin(device volatile uint *flag,
                 uint i [[thread_position_in_grid]]) {
  while (flag[0] == 0) {
  }
}"""


def load(path):
    spec = importlib.util.spec_from_file_location("tests", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["tests"] = module
    spec.loader.exec_module(module)
    return module


def main():
    module = load(sys.argv[1])
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(sys.argv[2:], module) \
        if sys.argv[2:] else loader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    for test, why in result.skipped:
        print(f"skipped {test}: {why}")
    bad = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"RESULT {max(0, result.testsRun - bad - skipped)} {bad} {skipped}",
          flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
