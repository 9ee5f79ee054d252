# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_random.py [COUNT [SEED]]: products of random shapes, types, transposes,
# scopes, operands, slices and strides against NumPy, in both tiers. Each is a
# program of its own as far as the compiler can see: a size that is known to it
# differs, or one that is not.
import sys

import numpy as np

from case import check, mettle
from products import TYPES, Product, program_of, run

RUNS = 100  # of one kernel
TOGETHER = 5  # kernels in a source


def product(random):
    groups = int(random.choice([0, 1, 1, 1, 2, 4]))
    if groups == 0:
        m, n, k = (int(i) for i in random.integers(1, 9, 3))
    else:
        m, n, k = (int(random.choice([8, 16, 16, 17, 24, 32, 48]))
                   for _ in "mnk")
        if m * n > 1024:
            m = 16
    held = [bool(h) for h in random.integers(0, 2, 3)]
    if not held[0] and not held[1] and random.integers(0, 2):
        k = 0
    return Product(m, n, k, TYPES[random.integers(len(TYPES))],
                   bool(random.integers(0, 2)), bool(random.integers(0, 2)),
                   groups, bool(random.integers(0, 2)), tuple(held))


def size_of(random, it):
    """What there is in memory; a K that is known is there, at most."""
    m, n = (int(random.integers(1, most + 1)) if random.integers(0, 2)
            else most for most in (it.m, it.n))
    k = it.k or int(random.integers(1, 60))
    if it.k and random.integers(0, 4) == 0:
        k = int(random.integers(min(2, it.k), it.k + 1))  # 1 is repeated
    return m, n, k


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    random = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2
                                   else 11)
    done = 0
    while done < count:
        items = [product(random) for _ in range(TOGETHER)]
        program = program_of(items)
        for i, it in enumerate(items):
            for _ in range(min(RUNS, count - done)):
                size = size_of(random, it)
                cut = [int(random.integers(0, min(s, 3))) for s in size[:2]]
                run(random, program, f"p{i}", it, size, cut)
                done += 1


try:
    main()
except mettle.Error as error:
    check.failed(str(error))
check.finish()
