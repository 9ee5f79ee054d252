# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the Metal tests of the installed ExecuTorch, unmodified, over Mettle:

    python3 -m mettle_executorch.upstream [-k PATTERN ...] [--list]

Modules are exported here and run by run_program, in place of ExecuTorch's own
executor_runner. The last line is "N passed, N failed, N skipped"."""

import argparse
import fnmatch
import importlib
import os
import pathlib
import sys
import tempfile
import unittest

import torch

import mettle_executorch
from mettle_executorch.export import metal_export

TESTS = "executorch.backends.apple.metal.tests."


def load_modules(runner):
    """test_modules, as on a machine with Metal and a runner that is built."""
    is_available = torch.backends.mps.is_available
    torch.backends.mps.is_available = lambda: True
    try:
        modules = importlib.import_module(TESTS + "test_modules")
    finally:
        torch.backends.mps.is_available = is_available
    modules.MPS_AVAILABLE = False  # eager references are the CPU's
    modules.EXECUTOR_RUNNER = pathlib.Path(runner)
    modules.EXECUTORCH_ROOT = pathlib.Path(runner).parent
    modules.SKIP_RUNTIME_TESTS = False
    return modules


def load_backend_tests():
    """It takes a name from metal_backend that 1.5 moved to aoti_backend."""
    metal = importlib.import_module("executorch.backends.apple.metal."
                                    "metal_backend")
    aoti = importlib.import_module("executorch.backends.aoti.aoti_backend")
    if not hasattr(metal, "COMPILE_SPEC_KEYS"):
        metal.COMPILE_SPEC_KEYS = aoti.COMPILE_SPEC_KEYS
    return importlib.import_module(TESTS + "test_metal_backend")


def all_tests(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from all_tests(test)
        else:
            yield test


def chosen_tests(runner, patterns):
    loader = unittest.defaultTestLoader
    modules = (load_modules(runner), load_backend_tests(),
               importlib.import_module(TESTS + "test_metal_partitioner"))
    for module in modules:
        for test in all_tests(loader.loadTestsFromModule(module)):
            name = test.id().rpartition(".")[2]
            if not patterns or any(fnmatch.fnmatch(name, f"*{pattern}*")
                                   for pattern in patterns):
                yield test


def main():
    parser = argparse.ArgumentParser(prog="mettle_executorch.upstream")
    parser.add_argument("-k", action="append", default=[], dest="patterns",
                        metavar="PATTERN", help="tests with it in their name")
    parser.add_argument("--list", action="store_true",
                        help="print the tests' names")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, metal_export():
        runner = os.path.join(folder, "run_program")
        tests = list(chosen_tests(runner, options.patterns))
        if options.list:
            print(*(test.id() for test in tests), sep="\n")
            return 0
        mettle_executorch.build_runner(runner)
        result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(
            unittest.TestSuite(tests))
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, "
          f"{skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
