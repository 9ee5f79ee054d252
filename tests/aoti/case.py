# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""case.py: what a case is. Imported without torch, too: names and sources of
cases are needed to look into the cache."""

import hashlib
import inspect


class Case:
    """build() gives (module, inputs[, dynamic shapes[, inputs to run with]]);
    tolerance is relative to the largest expected value; quick ones run in every
    test run; with steps, outputs behind the first are inputs of the next."""

    def __init__(self, build, tolerance, quick, steps):
        self.build, self.tolerance = build, tolerance
        self.quick, self.steps = quick, steps

    def key(self, shared):
        """Names the case's content: its source and what all cases share."""
        text = inspect.getsource(self.build) + shared
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def registry():
    cases = {}

    def case(tolerance=1e-5, quick=False, steps=0):
        def register(build):
            cases[build.__name__] = Case(build, tolerance, quick, steps)
            return build
        return register

    return cases, case
