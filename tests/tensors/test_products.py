# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_products.py: matmul2d in every scope, of every combination of types, with
# every transpose, its operands in memory and held together.
import itertools
import os

import numpy as np

from case import check, mettle
from products import TYPES, Product, program_of, run

# All combinations; else every other one, in which all pairs are.
STEP = 1 if os.environ.get("METTLE_CORPUS_FULL", "").strip("0") else 2


def each_type(random):
    items = [Product(16, 32, 16, types, False, False, 1, i % 2 == 0,
                     (True, True, True)) for i, types in enumerate(TYPES)]
    program = program_of(items)
    for i, it in enumerate(items):
        run(random, program, f"p{i}", it, (16, 32, 16), (0, 0))


def each_form(random):
    """Transposes, scopes, operands."""
    sizes = ((16, 32, 16, 1), (32, 16, 40, 2), (8, 4, 8, 0))
    ways = (((False, False, True), True), ((True, False, True), False),
            ((True, True, True), True), ((False, True, False), True))
    items = []
    for size, ta, tb, way in itertools.product(range(3), (False, True),
                                               (False, True), range(4)):
        if (size + ta + tb + way) % STEP == 0:
            (m, n, k, groups), (held, adds) = sizes[size], ways[way]
            items.append(Product(m, n, k, ("half", "half", "float"), ta, tb,
                                 groups, adds, held))
    for first in range(0, len(items), 12):
        part = items[first:first + 12]
        program = program_of(part)
        for i, it in enumerate(part):
            run(random, program, f"p{i}", it, (it.m, it.n, it.k), (0, 0))


def edges(random):
    """Operands smaller and larger than the tile, K known and not."""
    items = [Product(32, 16, 0, ("half", "float", "float"), False, False, 2,
                     True, (False, False, False)),
             Product(16, 48, 24, ("float", "float", "float"), True, True, 1,
                     False, (False, False, True))]
    program = program_of(items)
    for size in ((32, 16, 7), (20, 9, 33), (1, 1, 1), (32, 16, 64)):
        run(random, program, "p0", items[0], size, (0, 0))
    for size, cut in (((16, 48, 24), (3, 5)), ((11, 40, 24), (0, 0)),
                      ((16, 48, 20), (1, 0))):
        run(random, program, "p1", items[1], size, cut)


def bytes_in_words(random):
    """Rows that are words of four bytes, or not; sums over several and parts
    of 32."""
    forms = ((16, 32, 0, 1, False, True), (16, 16, 72, 1, True, False),
             (32, 64, 0, 2, False, False), (32, 64, 0, 2, True, True))
    items = [Product(m, n, k, (("char", "uchar")[left], ("char", "uchar")[right],
                               "int"), False, tb, groups, adds,
                     (False, False, adds))
             for left, right in itertools.product(range(2), repeat=2)
             for i, (m, n, k, groups, tb, adds) in enumerate(forms)
             if (left + right + i) % STEP == 0]
    for first in range(0, len(items), 12):
        part = items[first:first + 12]
        program = program_of(part)
        for i, it in enumerate(part):
            for k, align in ((it.k or 64, 4), (it.k or 107, 4),
                             (it.k or 40, 1)):
                run(random, program, f"p{i}", it, (it.m, it.n, k), (0, 0),
                    align)
            run(random, program, f"p{i}", it,
                (it.m - 3, it.n - 5, it.k or 32), (0, 0), 4)


for test in (each_type, each_form, edges, bytes_in_words):
    try:
        test(np.random.default_rng(5))
    except mettle.Error as error:
        check.failed(f"{test.__name__}: {error}")
check.finish()
