#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""references.py: int4 linear, gathered int4 products and the gated delta rule
through the C ABI, as a model calls them, against NumPy in double. Formulas are
those of the papers and of the packages that define the operators. The last
line is "N passed, N failed"."""

import ctypes
import itertools
import os
import sys
import traceback

import numpy as np

MPS, COMMIT_AND_WAIT = 13, 2
TYPES = {np.dtype(np.uint8): 0, np.dtype(np.int32): 3, np.dtype(np.float32): 6}
BFLOAT16 = 15
LIBRARY = ctypes.CDLL(os.path.join(os.environ.get("METTLE_BUILD_DIR", "build"),
                                   "libmettle-aoti.so"))
LIBRARY.mtl_last_error.restype = ctypes.c_char_p
RANDOM = np.random.default_rng(0)


def call(name, *arguments):
    code = getattr(LIBRARY, name)(*arguments)
    assert code == 0, f"{name}: {LIBRARY.mtl_last_error().decode()}"


def numbers(values):
    return (ctypes.c_int64 * len(values))(*values)


def to_bfloat(array):
    """The upper 16 bits, rounded to nearest even."""
    bits = np.asarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bfloat(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def new_tensor(array, is_bfloat=False):
    """A tensor with the array's strides; bfloat ones come as floats."""
    bytes_each = 2 if is_bfloat else array.itemsize
    dtype = BFLOAT16 if is_bfloat else TYPES[array.dtype]
    strides = [s // array.itemsize for s in array.strides]
    tensor, data = ctypes.c_void_p(), ctypes.c_void_p()
    call("aoti_torch_empty_strided", ctypes.c_int64(array.ndim),
         numbers(array.shape), numbers(strides), dtype, MPS, 0,
         ctypes.byref(tensor))
    call("aoti_torch_get_data_ptr", tensor, ctypes.byref(data))
    order = np.argsort([-s for s in strides], kind="stable")
    dense = np.ascontiguousarray(array.transpose(order))  # as it lies
    dense = to_bfloat(dense) if is_bfloat else dense
    ctypes.memmove(data, dense.ctypes.data, dense.size * bytes_each)
    return tensor


def result(tensor, shape, is_bfloat=False):
    """A contiguous tensor's elements, after all work; the tensor is gone."""
    stream, data = ctypes.c_void_p(), ctypes.c_void_p()
    call("mtl_stream_current", ctypes.byref(stream))
    call("mtl_stream_synchronize", stream, COMMIT_AND_WAIT)
    call("aoti_torch_get_data_ptr", tensor, ctypes.byref(data))
    kind = np.dtype(np.uint16 if is_bfloat else np.float32)
    text = ctypes.string_at(data, int(np.prod(shape)) * kind.itemsize)
    array = np.frombuffer(text, kind).reshape(shape)
    call("aoti_torch_delete_tensor_object", tensor)
    return from_bfloat(array) if is_bfloat else array


def agree(got, want, bound, what):
    """bound: an error of 1 for each element."""
    error = (np.abs(got - want) / bound).max()
    assert error <= 1, f"{what}: off by {error:.3g} of the bound"


def random(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def rounded(array, is_bfloat):
    return from_bfloat(to_bfloat(array)) if is_bfloat else array


# --- Weights of 4 bits -------------------------------------------------------

def quantized(is_bfloat, *shape, group):
    """Packed weights, their scales and zeros, and what they stand for: the even
    element is in the low half, w = scale * q + zero."""
    inner = shape[-1]
    q = RANDOM.integers(0, 16, shape)
    packed = (q[..., 0::2] | q[..., 1::2] << 4).astype(np.uint8)
    scales = rounded(abs(random(*shape[:-1], inner // group)) * 0.1 + 0.01,
                     is_bfloat)
    zeros = rounded(random(*shape[:-1], inner // group), is_bfloat)
    weights = (np.repeat(scales.astype(float), group, -1) * q
               + np.repeat(zeros.astype(float), group, -1))
    return packed, scales, zeros, weights


def int4_linear():
    for is_bfloat, (m, n, k, group) in itertools.product(
            (False, True), ((127, 256, 128, 32), (1, 8198, 640, 128),
                            (1, 3, 32, 32), (1, 10, 32, 32), (4, 16, 256, 256),
                            (1, 24, 1024, 64))):
        x = rounded(random(m, k), is_bfloat)
        packed, scales, zeros, weights = quantized(is_bfloat, n, k,
                                                   group=group)
        out = ctypes.c_void_p()
        call("aoti_torch_mps__linear_fp_act_4bit_weight",
             new_tensor(x, is_bfloat), new_tensor(packed),
             ctypes.c_int64(group), new_tensor(scales, is_bfloat),
             new_tensor(zeros, is_bfloat), ctypes.byref(out))
        want = x.astype(float) @ weights.T
        # Sums in float; bfloat keeps 8 bits of the result.
        bound = (3e-6 * (abs(x).astype(float) @ abs(weights).T)
                 + 2.0 ** -8 * abs(want) * is_bfloat)
        agree(result(out, (m, n), is_bfloat), want, bound,
              f"{m} x {k} to {n} by {group}, bfloat {is_bfloat}")


def gathered_int4_products():
    for is_bfloat, (p, e, n, k, group) in itertools.product(
            (False, True), ((4, 4, 64, 128, 32), (1, 2, 9, 64, 64),
                            (7, 3, 24, 256, 128))):
        x = rounded(random(p, k), is_bfloat)
        packed, scales, zeros, weights = quantized(is_bfloat, e, n, k,
                                                   group=group)
        chosen = RANDOM.integers(0, e, p).astype(np.int32)
        out = ctypes.c_void_p()
        call("aoti_torch_mps_gather_qmv", new_tensor(x, is_bfloat),
             new_tensor(packed), new_tensor(scales, is_bfloat),
             new_tensor(zeros, is_bfloat), new_tensor(chosen),
             ctypes.c_int64(group), ctypes.byref(out))
        want = np.einsum("pnk,pk->pn", weights[chosen], x.astype(float))
        sums = np.einsum("pnk,pk->pn", abs(weights[chosen]), abs(x))
        agree(result(out, (p, n), is_bfloat), want,
              3e-6 * sums + 2.0 ** -8 * abs(want) * is_bfloat,
              f"{p} rows of {e} experts, bfloat {is_bfloat}")


# --- The gated delta rule ----------------------------------------------------

def delta_rule(q, k, v, gate, beta, state):
    """Step by step, for each head its own matrix.  // Yang et al., 2024"""
    heads = v.shape[2] // k.shape[2]
    out = np.zeros(v.shape)
    for b, t, h in itertools.product(*map(range, v.shape[:3])):
        key, query = k[b, t, h // heads], q[b, t, h // heads]
        matrix = state[b, h] * gate[b, t, h]
        correction = beta[b, t, h] * (v[b, t, h] - matrix @ key)
        matrix = matrix + np.outer(correction, key)
        out[b, t, h], state[b, h] = matrix @ query, matrix
    return out


def gated_delta_rule():
    for is_turned, (b, t, hk, hv, dk, dv) in itertools.product(
            (False, True), ((1, 2, 4, 4, 64, 64), (1, 3, 32, 32, 128, 128),
                            (2, 5, 2, 6, 32, 48))):
        def make(heads, size):
            # Turned: heads lie outside of the steps in memory.
            array = random(b, heads, t, size) if is_turned else random(
                b, t, heads, size)
            return array.transpose(0, 2, 1, 3) if is_turned else array
        q, k, v = make(hk, dk), make(hk, dk), make(hv, dv)
        k = k / np.linalg.norm(k, axis=-1, keepdims=True)
        gate = np.exp(-abs(random(b, t, hv)))
        beta = 1 / (1 + np.exp(-random(b, t, hv)))
        state = random(b, hv, dv, dk)
        kept, out = new_tensor(state), ctypes.c_void_p()
        # As models in bfloat have it: each part of a type of its own.
        beta = rounded(beta, is_turned)
        call("aoti_torch_mps_gated_delta_rule", *map(
            new_tensor, (q, k, v, gate)), new_tensor(beta, is_turned), kept,
             ctypes.byref(out))
        state = state.astype(float)
        want = delta_rule(*(x.astype(float) for x in (q, k, v, gate, beta)),
                          state)
        what = f"{b}, {t}, {hk}, {hv}, {dk}, {dv}, turned {is_turned}"
        # Float sums of dk products; elements are about sqrt(dk).
        agree(result(out, want.shape), want, 1e-5 * dk ** 0.5 * 4, what)
        agree(result(kept, state.shape), state, 1e-5 * 4, f"state of {what}")


CASES = (int4_linear, gathered_int4_products, gated_delta_rule)


def main():
    failed = 0
    for case in CASES:
        try:
            case()
        except Exception:  # the next one may pass
            failed += 1
            print(f"FAILED {case.__name__}:\n{traceback.format_exc()}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
