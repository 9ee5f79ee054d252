#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""operations.py: graph operations (ops.h) against NumPy in double.

  operations.py --list        the names of all tests
  operations.py NAME          runs one; exit status 0 if it passed
  operations.py --library NAME ...  the same for what host libraries do, with
                              METTLE_HOST_LIBRARY=NAME; passes where the
                              library cannot be had

The tests are the functions without parameters of this file and of ops_*.py."""
import ctypes
import inspect
import itertools
import os
import sys
import types

import numpy as np
import ops_attention
import ops_convolutions
import ops_order
import ops_products
from ops import (Array, CODES, LIBRARY, STREAM, Tensor, call, check, empty,
                 random, refused)


def copies_between_types():
    values = np.array([[0, 1, 2, 100], [7, 0, 3, 55]])
    some = [np.dtype(t) for t in (np.bool_, np.int64, np.float16, np.float32)]
    for a, b in itertools.product(CODES, CODES):
        if a not in some and b not in some:
            continue  # each pipeline is a compilation
        source, target = Array(values.astype(a)), Array(np.zeros((2, 4), b))
        call("mtl_ops_copy", source, target)
        assert (target.numpy() == values.astype(a).astype(b)).all(), (a, b)


def copies_negative_and_large_integers():
    values = np.array([-1, -128, 127, -3])
    for a, b in itertools.product((np.int8, np.int16, np.int32, np.int64),
                                  (np.int8, np.int16, np.int64, np.float32)):
        target = Array(np.zeros(4, b))
        call("mtl_ops_copy", Array(values.astype(a)), target)
        assert (target.numpy() == values.astype(b)).all(), (a, b)
    big = np.array([2**63 - 1, -2**63, 2**53 + 1], np.int64)
    target = Array(np.zeros(3, np.int64))
    call("mtl_ops_copy", Array(big), target)
    assert (target.numpy() == big).all()


def copies_layouts_and_broadcasts():
    values = random(3, 5, 7, 4)
    for order in itertools.permutations(range(4)):
        target = empty([values.shape[i] for i in order])
        source = Array(values)
        moved = Array(np.zeros(1, np.float32))
        moved.tensor = Tensor(source.tensor.buffer, source.tensor.offset_bytes,
                              12, 4)
        for to, i in enumerate(order):
            moved.tensor.sizes[to] = source.tensor.sizes[i]
            moved.tensor.strides[to] = source.tensor.strides[i]
        call("mtl_ops_copy", moved, target)
        assert (target.numpy() == values.transpose(order)).all(), order
    wide = empty((6, 3, 5, 7, 4))
    call("mtl_ops_copy", Array(values), wide)
    assert (wide.numpy() == values).all()
    scalar = empty((2, 3))
    call("mtl_ops_copy", Array(np.float32(5)), scalar)
    assert (scalar.numpy() == 5).all()


def copy_refuses_sizes_that_do_not_fit():
    refused("in has sizes (3), not (2, 4)", "mtl_ops_copy",
            Array(random(3)), empty((2, 4)))


def main():
    tests = {name: value
             for module in (sys.modules[__name__], ops_products,
                            ops_convolutions, ops_attention, ops_order)
             for name, value in vars(module).items()
             if isinstance(value, types.FunctionType) and name != "main"
             and not inspect.signature(value).parameters}
    arguments = sys.argv[1:]
    if arguments[0] == "--library":
        os.environ["METTLE_HOST_LIBRARY"] = arguments[1]
        tests = {name: test for name, test in tests.items() if name.startswith(
            ("products", "convolution", "attention"))}
        arguments = arguments[2:]
    if arguments == ["--list"]:
        print("\n".join(tests))
        return 0
    check(LIBRARY.mtl_stream_create(None, None, ctypes.byref(STREAM)))
    tests[arguments[0]]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
