# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ops_products.py: matrix products against NumPy's in double."""
import ctypes

import numpy as np
from ops import (Array, LIBRARY, RANDOM, TOLERANCE, agree, call, empty, make,
                 random, refused)


def product(a, b, kind, bias=None, alpha=1.0, beta=0.0):
    out_shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + (
        a.shape[-2], b.shape[-1])
    out = empty(out_shape, kind)
    left, right = make(a, kind), make(b, kind)
    extra = make(bias, kind) if bias is not None else None
    call("mtl_ops_matmul", left, right, extra, ctypes.c_double(alpha),
         ctypes.c_double(beta), out)
    x, y = left.numpy().astype(float), right.numpy().astype(float)
    want, scale = alpha * (x @ y), abs(alpha) * (abs(x) @ abs(y))
    if bias is not None and beta:
        want = want + beta * extra.numpy().astype(float)
    agree(out.numpy(), want, TOLERANCE[kind], scale + abs(want))
    # An operand that stays: the second call takes what the first one kept.
    right.tensor.constant = LIBRARY.mtl_constant_create()
    for _ in range(2):
        out.view()[...] = 55
        call("mtl_ops_matmul", left, right, extra, ctypes.c_double(alpha),
             ctypes.c_double(beta), out)
        agree(out.numpy(), want, TOLERANCE[kind], scale + abs(want))
    LIBRARY.mtl_constant_forget(right.tensor.constant)
    assert LIBRARY.mtl_constant_kept_bytes() == 0


def products_of_all_types_and_sizes():
    for kind in TOLERANCE:
        for m, n, k in ((1, 1, 1), (3, 4, 5), (1, 300, 64), (33, 7, 100),
                        (64, 64, 64), (9, 1, 257), (127, 101, 7)):
            product(random(m, k), random(k, n), kind)


def products_large():
    # Several tiles, and every kind of operand that has to be packed.
    for kind in TOLERANCE:
        product(random(150, 260), random(260, 310), kind)
    product(random(260, 150).T, random(310, 260).T, "bfloat")
    product(random(200, 520)[:, ::2], random(520, 300)[::2],
            "float", random(300), 0.25, -1.5)
    product(random(70, 300), random(300, 200), "float", random(70, 1), 1.0, 1.0)
    product(random(3, 90, 100), random(3, 100, 80), "half",
            random(3, 1, 80), 1.0, 1.0)


def products_with_a_constant():
    # Batches that share it, rows that do not fill a thread, a bias of every
    # shape, columns that are far apart.
    product(random(3, 5, 48), random(48, 70), "float", random(70), 0.5, 2.0)
    product(random(4, 13, 40), random(40, 33), "bfloat", random(13, 33), 1.0,
            1.0)
    product(random(2, 1, 64), random(64, 96), "half", random(2, 1, 96), 1.0,
            1.0)
    product(random(100, 37).T, random(70, 100).T, "float", random(70, 2)[:, 0],
            1.0, 1.0)


def products_into_columns():
    out = make(np.zeros((60, 90), np.float32).T, "float")
    a, b = Array(random(90, 70)), Array(random(70, 60))
    call("mtl_ops_matmul", a, b, None, ctypes.c_double(1), ctypes.c_double(0),
         out)
    x, y = a.numpy().astype(float), b.numpy().astype(float)
    agree(out.numpy(), x @ y, TOLERANCE["float"], abs(x) @ abs(y))


def products_add_to_their_result():
    a, b, out = Array(random(40, 64)), Array(random(64, 50)), Array(
        random(40, 50))
    x, y, z = (t.numpy().astype(float) for t in (a, b, out))
    call("mtl_ops_matmul", a, b, out, ctypes.c_double(1), ctypes.c_double(2),
         out)
    agree(out.numpy(), x @ y + 2 * z, TOLERANCE["float"],
          abs(x) @ abs(y) + abs(z))


def products_with_transposed_operands():
    for m, n, k in ((5, 6, 7), (1, 40, 96), (3, 33, 65), (20, 20, 200)):
        a, b = random(k, m).T, random(n, k).T
        product(a, b, "float")
        product(random(m, k), b, "float")
        product(a, random(k, n), "half")


def products_in_batches_and_broadcast():
    product(random(4, 5, 6), random(4, 6, 7), "float")
    product(random(2, 3, 5, 40), random(40, 7), "float")
    product(random(2, 1, 5, 6), random(3, 6, 7), "bfloat")


def products_add_a_bias():
    a, b = random(6, 40), random(40, 9)
    for bias in (random(6, 9), random(9), random(6, 1), random(1)):
        product(a, b, "float", bias, 0.5, 2.0)
    product(a, b, "float", np.full(9, np.nan, np.float32), 1.0, 0.0)


def products_over_nothing_are_the_bias():
    out = empty((2, 3))
    call("mtl_ops_matmul", Array(np.zeros((2, 0), np.float32)),
         Array(np.zeros((0, 3), np.float32)), Array(np.float32([1, 2, 3])),
         ctypes.c_double(1), ctypes.c_double(1), out)
    assert (out.numpy() == [[1, 2, 3], [1, 2, 3]]).all()


def products_refuse_what_does_not_fit():
    one = ctypes.c_double(1)
    refused("b has sizes (4, 3), not (5, 3)", "mtl_ops_matmul",
            Array(random(2, 5)), Array(random(4, 3)), None, one, one,
            empty((2, 3)))
    refused("must be of half, bfloat or float", "mtl_ops_matmul",
            Array(np.ones((2, 2), np.int32)), Array(random(2, 2)), None, one,
            one, empty((2, 2)))


def quantize(n, k, group):
    q = RANDOM.integers(0, 16, (n, k)).astype(np.uint8)
    scales, zeros = random(n, k // group) * 0.1, random(n, k // group)
    packed = q[:, 0::2] | q[:, 1::2] << 4
    weights = (np.repeat(scales, group, 1).astype(float) * q
               + np.repeat(zeros, group, 1))
    return packed, scales, zeros, weights


def int4_linear():
    for m, n, k, group in ((1, 256, 128, 32), (127, 20, 128, 64),
                           (1, 10, 32, 32), (3, 13, 512, 256), (2, 5, 6, 2)):
        packed, scales, zeros, weights = quantize(n, k, group)
        a, out = random(m, k), empty((m, n))
        call("mtl_ops_int4_linear", Array(a), Array(packed),
             ctypes.c_int64(group), Array(scales), Array(zeros), out)
        agree(out.numpy(), a @ weights.T, 3e-6,
              abs(a).astype(float) @ abs(weights).T)


def gather_qmv():
    experts, n, k, group = 4, 64, 128, 32
    parts = [quantize(n, k, group) for _ in range(experts)]
    packed, scales, zeros, weights = (np.stack(p) for p in zip(*parts))
    a = random(5, k)
    for kind in (np.int32, np.uint32, np.int64):
        chosen = np.array([3, 0, 2, 2, 1], kind)
        out = empty((5, n))
        call("mtl_ops_gather_qmv", Array(a), Array(packed), Array(scales),
             Array(zeros), Array(chosen), ctypes.c_int64(group), out)
        want = np.stack([weights[e] @ x for e, x in zip(chosen, a)])
        agree(out.numpy(), want, 1e-5, np.abs(want) + 10)
    out = empty((1, n))
    call("mtl_ops_gather_qmv", Array(a[:1]), Array(packed), Array(scales),
         Array(zeros), Array(np.int32([4])), ctypes.c_int64(group), out)
    assert np.isnan(out.numpy()).all()
