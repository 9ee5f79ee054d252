# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.py: counts what passed, failed and was skipped, prints what failed, and
# ends a runner as tests/harness/run.py wants it.
import sys

import numpy as np


class Count:
    passed = 0
    failed = 0
    skipped = 0


def passed():
    Count.passed += 1


def failed(text):
    Count.failed += 1
    print("FAILED:", text)
    sys.stdout.flush()


def skipped(text, count=1):
    Count.skipped += count
    print("skipped:", text)


def equal(name, got, want, relative=0.0, absolute=0.0):
    """Checks got against want, element by element; NaN equals NaN."""
    if got.shape != want.shape:
        return failed(f"{name}: shape {got.shape}, not {want.shape}")
    if relative == 0 and absolute == 0:
        same = (got == want) | ((got != got) & (want != want))
    else:
        same = np.isclose(got, want, relative, absolute, equal_nan=True)
    if same.all():
        return passed()
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return failed(f"{name}: {got[at]!r} at {at}, not {want[at]!r}; "
                  f"{np.count_nonzero(~same)} of {same.size} differ")


def finish():
    """Ends the program: with 77 where everything was skipped."""
    if Count.skipped and not Count.passed and not Count.failed:
        raise SystemExit(77)
    print(f"{Count.passed} passed, {Count.failed} failed, "
          f"{Count.skipped} skipped")
    raise SystemExit(1 if Count.failed else 0)
