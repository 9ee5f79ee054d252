#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_tinygrad_own.py: tinygrad's own tests of its METAL device, run here: the
# ones that its source package has, and, if METTLE_CORPUS_TINYGRAD names a
# checkout, the tests of its operators against torch (METTLE_TORCH_PYTHON, or
# the Python that runs this). Its last line is the count; ends with 77 where
# tinygrad cannot be had.
import glob
import importlib.util
import os
import sys
import unittest

import check
import sources

os.environ.update(DEV="METAL", CACHELEVEL="0", CCACHE="0", PARALLEL="0")
# tinygrad's CPU device compiles with the clang on the path.
os.environ["PATH"] += os.pathsep + "/usr/lib/llvm-19/bin"

def _operators(checkout):
    found = glob.glob(os.path.join(checkout, "test", "**", "test_ops.py"),
                      recursive=True)
    return found[0] if found else None


def _files():
    """The files with tests, and the folder to find tinygrad in or None."""
    checkout = os.environ.get("METTLE_CORPUS_TINYGRAD")
    own = sources.tinygrad_tests()
    files = [own] if own else []
    operators = _operators(checkout) if checkout else None
    if operators and importlib.util.find_spec("torch"):
        files.append(operators)
    elif operators:
        check.skipped("tinygrad's operators: torch is not here")
    return files, checkout


def _load(path):
    name = os.path.basename(path)[:-len(".py")]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


class _Result(unittest.TestResult):
    """Counts as check.py does."""

    def addSuccess(self, test):
        check.passed()

    def addSkip(self, test, reason):
        check.Count.skipped += 1

    def _fail(self, test, error):
        text = self._exc_info_to_string(error, test)
        check.failed(f"{test.id()}: {text.strip().splitlines()[-1][:300]}")

    addError = addFailure = _fail

    def addExpectedFailure(self, test, error):
        check.passed()

    def addUnexpectedSuccess(self, test):
        check.failed(f"{test.id()} passed, against what it expects")


def _each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _each(test)
        else:
            yield test


def main():
    files, checkout = _files()
    if checkout:
        sys.path.insert(0, checkout)
    elif not files or not sources.tinygrad():
        check.skipped("no tinygrad: let pip reach its index")
        check.finish()
    import tinygrad_metal
    tinygrad_metal.install()
    wanted = sys.argv[1:]
    for path in files:
        for test in _each(_load(path)):
            name = test.id().split(".", 1)[1]
            if wanted and not any(word in name for word in wanted):
                continue
            test.run(_Result())
    print(f"{len(tinygrad_metal.SOURCES)} kernels")
    check.finish()


if __name__ == "__main__":
    main()
