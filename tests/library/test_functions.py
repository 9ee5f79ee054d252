#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_functions.py: integer functions against Python's integers, the rest of
# the library against NumPy in float64.
import os

import numpy as np

from harness import Library, check, finish

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"char": (8, True), "uchar": (8, False), "short": (16, True),
         "ushort": (16, False), "int": (32, True), "uint": (32, False),
         "long": (64, True), "ulong": (64, False)}


class Integer:
    """Arithmetic of one width, in Python's integers."""

    def __init__(self, name):
        self.bits, self.is_signed = TYPES[name]
        self.least = -(1 << (self.bits - 1)) if self.is_signed else 0
        self.greatest = self.least + (1 << self.bits) - 1
        self.dtype = np.dtype(("int" if self.is_signed else "uint")
                              + str(self.bits))

    def wrap(self, x):
        x &= (1 << self.bits) - 1
        return x - (1 << self.bits) if x > self.greatest else x

    def raw(self, x):
        return x & ((1 << self.bits) - 1)

    def saturate(self, x):
        return min(max(x, self.least), self.greatest)

    def rotate(self, x, y):
        y %= self.bits
        return self.wrap((self.raw(x) << y) | (self.raw(x) >> (self.bits - y)))

    def low_24(self, x):
        x &= 0xffffff
        return x - (1 << 24) if self.is_signed and x >> 23 else x

    def extract(self, x, offset, bits):
        field = (self.raw(x) >> offset) & ((1 << bits) - 1)
        if self.is_signed and bits and field >> (bits - 1):
            field -= 1 << bits
        return self.wrap(field)

    def insert(self, x, y, offset, bits):
        mask = ((1 << bits) - 1) << offset
        field = (self.raw(y) << offset) & mask
        return self.wrap((self.raw(x) & ~mask) | field)

    def functions(self):
        b = self.bits
        return {
            "abs": lambda x: self.wrap(abs(x)),
            "clz": lambda x: b - self.raw(x).bit_length(),
            "ctz": lambda x: b if x == 0 else (x & -x).bit_length() - 1,
            "popcount": lambda x: bin(self.raw(x)).count("1"),
            "reverse_bits": lambda x: self.wrap(
                int(format(self.raw(x), f"0{b}b")[::-1], 2)),
            "addsat": lambda x, y: self.saturate(x + y),
            "subsat": lambda x, y: self.saturate(x - y),
            "hadd": lambda x, y: (x + y) >> 1,
            "rhadd": lambda x, y: (x + y + 1) >> 1,
            "mulhi": lambda x, y: (x * y) >> b,
            "rotate": self.rotate,
            "min": min,
            "max": max,
            # The result is unsigned; the export stores its bits.
            "absdiff": lambda x, y: self.wrap(abs(x - y)),
            "madhi": lambda x, y, z: self.wrap(((x * y) >> b) + z),
            "madsat": lambda x, y, z: self.saturate(x * y + z),
            "median3": lambda x, y, z: sorted((x, y, z))[1],
            "min3": min,
            "max3": max,
        }


def test_integers(library, random):
    for name in TYPES:
        t = Integer(name)
        edges = [t.least, t.least + 1, -1, 0, 1, 2, t.greatest - 1, t.greatest]
        edges = [e for e in edges if t.least <= e <= t.greatest]
        drawn = random.integers(t.least, t.greatest, 300, t.dtype,
                                endpoint=True).tolist()
        a = [x for x in edges for _ in edges] + drawn
        b = [y for _ in edges for y in edges] + drawn[::-1]
        c = (edges * 300)[:len(a)]
        arrays = [np.array(v, t.dtype) for v in (a, b, c)]
        for function, reference in t.functions().items():
            count = reference.__code__.co_argcount if hasattr(
                reference, "__code__") else 0
            count = {"rotate": 2, "min": 2, "max": 2, "min3": 3,
                     "max3": 3}.get(function, count)
            got = library.call(f"{name}_{function}", t.dtype, len(a),
                               *arrays[:count])
            want = [reference(*v) for v in zip(*(a, b, c)[:count])]
            wrong = [i for i, (g, w) in enumerate(zip(got.tolist(), want))
                     if g != w]
            i = wrong[0] if wrong else 0
            check(not wrong, f"{function} of {name}: {a[i]}, {b[i]}, {c[i]} "
                  f"gives {got[i]}, not {want[i]}")
        offset = random.integers(0, t.bits, len(a)).tolist()
        width = [int(random.integers(0, t.bits - o + 1)) for o in offset]
        words = [np.array(v, np.uint32) for v in (offset, width)]
        got = library.call(f"{name}_extract_bits", t.dtype, len(a), arrays[0],
                           *words)
        want = [t.extract(*v) for v in zip(a, offset, width)]
        check(got.tolist() == want, f"extract_bits of {name}")
        got = library.call(f"{name}_insert_bits", t.dtype, len(a), arrays[0],
                           arrays[1], *words)
        want = [t.insert(*v) for v in zip(a, b, offset, width)]
        check(got.tolist() == want, f"insert_bits of {name}")
    for name in ("int", "uint"):
        t = Integer(name)
        drawn = [random.integers(t.least, t.greatest, 500, t.dtype)
                 for _ in range(3)]
        got = library.call(f"{name}_mul24", t.dtype, 500, *drawn[:2])
        want = [t.wrap(t.low_24(x) * t.low_24(y))
                for x, y in zip(*(d.tolist() for d in drawn[:2]))]
        check(got.tolist() == want, f"mul24 of {name}")
        got = library.call(f"{name}_mad24", t.dtype, 500, *drawn)
        want = [t.wrap(t.low_24(x) * t.low_24(y) + z)
                for x, y, z in zip(*(d.tolist() for d in drawn))]
        check(got.tolist() == want, f"mad24 of {name}")


def test_questions(library):
    bits = np.arange(0, 1 << 16, dtype=np.uint32)
    formats = {"half": bits.astype(np.uint16).view(np.float16),
               "float": (bits << 16 | bits & 7).view(np.float32)}
    for name, x in formats.items():
        tiny = np.finfo(x.dtype).tiny
        want = {"isnan": np.isnan(x), "isinf": np.isinf(x),
                "isfinite": np.isfinite(x), "signbit": np.signbit(x),
                "isnormal": np.isfinite(x) & (np.abs(x) >= tiny)}
        for question, answers in want.items():
            got = library.call(f"{name}_{question}", np.uint8, len(x), x)
            check((got == answers).all(), f"{question} of {name}")
    x = (bits << 16).view(np.float32)
    raw = bits.astype(np.uint16)
    for question, answers in (("isnan", np.isnan(x)), ("isinf", np.isinf(x))):
        got = library.call(f"bfloat_{question}", np.uint8, len(raw), raw)
        check((got == answers).all(), f"{question} of bfloat")


def close(got, want, tolerance):
    error = np.abs(got.astype(np.float64) - want)
    return (error <= tolerance * np.maximum(1, np.abs(want))).all()


def bfloat_round(x):
    bits = x.astype(np.float32).view(np.uint32)
    bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000
    return bits.astype(np.uint32).view(np.float32)


def unit(v):
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def test_vectors(library, random):
    n = 1000
    a = random.normal(size=(n, 4)).astype(np.float32)
    b = random.normal(size=(n, 4)).astype(np.float32)
    a[::7] = b[::7]
    x, y = a.astype(np.float64), b.astype(np.float64)
    dots = (x * y)
    i, m = unit(x), unit(y)
    cosine = (i * m).sum(1, keepdims=True)
    k = 1 - .49 * (1 - cosine**2)
    with np.errstate(invalid="ignore"):
        bent = .7 * i - (.7 * cosine + np.sqrt(k)) * m
    t = np.clip((x + 1) / 2, 0, 1)
    zero = np.zeros(n)
    facing = (x[:, ::-1] * y).sum(1, keepdims=True) < 0
    # name: (reference, tolerance relative to the larger of 1 and the result)
    cases = {
        "dot_4": (np.stack([dots.sum(1), dots[:, :3].sum(1),
                            dots[:, :2].sum(1), zero], 1), 1e-6),
        "cross_3": (np.column_stack([np.cross(x[:, :3], y[:, :3]), zero]),
                    1e-6),
        "lengths": (np.stack([np.linalg.norm(x, axis=1), (x * x).sum(1),
                              np.linalg.norm(x - y, axis=1),
                              ((x - y)**2).sum(1)], 1), 1e-6),
        "normalize_4": (unit(x), 5e-7),
        "reflect_4": (x - 2 * dots.sum(1, keepdims=True) * y, 5e-6),
        "refract_4": (np.where(k < 0, 0, bent), 5e-6),
        "faceforward_4": (np.where(facing, x, -x), 0),
        "mix_4": (x + (y - x) * .25, 1e-6),
        "clamp_4": (np.clip(x, -1, 1), 0),
        "step_4": (np.where(y < x, 0, 1), 0),
        "smoothstep_4": (t * t * (3 - 2 * t), 1e-6),
        "sign_4": (np.sign(x), 0),
        "select_4": (np.where(x < y, y, x), 0),
        "swizzle_4": (np.stack([x[:, 2], x[:, 3], y[:, 1], y[:, 0]], 1), 0),
        "compare_4": (np.stack([x[:, 0] < y[:, 0], x[:, 1] < y[:, 1],
                                (x == y).any(1), (x != y).all(1)], 1), 0),
        "packed_4": (np.column_stack([x[:, :3] * 2 + y[:, :3], x[:, 3]]), 1e-6),
        "bfloat_4": (bfloat_round(bfloat_round(a) * bfloat_round(b)), 0),
        "half_4": (a.astype(np.float16) + b.astype(np.float16), 0),
    }
    for name, (want, tolerance) in cases.items():
        got = library.call(name, np.float32, 4 * n, a, b).reshape(n, 4)
        check(close(got, np.asarray(want, np.float64), tolerance), name)


def test_packing(library, random):
    n = 2000
    x = random.uniform(-1.5, 1.5, (n, 4)).astype(np.float32)
    x[:6] = [[0, 1, -1, .5]] * 3 + [[np.inf, -np.inf, 1, 0]] * 3

    def joined(fields, widths):
        result, shift = np.zeros(n, np.uint64), 0
        for field, width in zip(fields, widths):
            part = field.astype(np.int64) & ((1 << width) - 1)
            result |= part.astype(np.uint64) << np.uint64(shift)
            shift += width
        return result.astype(np.uint32)

    def unorm(column, width):
        scale = np.float32((1 << width) - 1)
        return np.rint(np.clip(x[:, column], 0, 1) * scale)

    def snorm(column, width):
        scale = np.float32((1 << (width - 1)) - 1)
        return np.rint(np.clip(x[:, column], -1, 1) * scale)

    pair = np.ascontiguousarray(x[:, :2])
    for name, rounding, widths, value in (
            ("unorm4x8", unorm, (8, 8, 8, 8), x),
            ("snorm4x8", snorm, (8, 8, 8, 8), x),
            ("unorm2x16", unorm, (16, 16), pair),
            ("snorm2x16", snorm, (16, 16), pair),
            ("unorm10a2", unorm, (10, 10, 10, 2), x)):
        got = library.call(f"pack_float_to_{name}", np.uint32, n, value)
        want = joined([rounding(i, w) for i, w in enumerate(widths)], widths)
        check((got == want).all(), f"pack_float_to_{name}")
        packed = random.integers(0, 1 << 32, n, np.uint32)
        count = len(widths)
        got = library.call(f"unpack_{name}_to_float", (np.float32, count), n,
                           packed)
        shift, columns = 0, []
        for width in widths:
            field = (packed >> shift) & ((1 << width) - 1)
            shift += width
            if rounding is unorm:
                columns.append(field / ((1 << width) - 1))
            else:
                field = field.astype(np.int64)
                field -= (field >> (width - 1)) << width
                columns.append(np.maximum(
                    field / ((1 << (width - 1)) - 1), -1))
        check(close(got, np.stack(columns, 1), 1e-7), f"unpack_{name}_to_float")
    linear = np.arange(256, dtype=np.uint32) * 0x01010101
    got = library.call("unpack_unorm4x8_srgb_to_float", (np.float32, 4), 256,
                       linear)
    v = np.arange(256) / 255
    want = np.where(v <= .04045, v / 12.92, ((v + .055) / 1.055)**2.4)
    check(close(got[:, 0], want, 1e-6) and close(got[:, 3], v, 1e-7),
          "unpack_unorm4x8_srgb_to_float")
    back = library.call("pack_float_to_srgb_unorm4x8", np.uint32, 256, got)
    check((back == linear).all(), "sRGB packs what it unpacked")


def test_matrices(library, random):
    n = 200
    a = random.normal(size=(n, 4, 4)).astype(np.float32)  # columns first
    b = random.normal(size=(n, 4, 4)).astype(np.float32)
    x = a.transpose(0, 2, 1).astype(float)
    y = b.transpose(0, 2, 1).astype(float)

    def call(name):
        out = library.call(name, np.float32, 16 * n, a, b).reshape(n, 4, 4)
        return out.transpose(0, 2, 1)

    check(close(call("matrix_product"), x @ y, 2e-6), "matrix product")
    check(close(call("matrix_transpose"), x.transpose(0, 2, 1), 0), "transpose")
    check(close(call("matrix_sum"), x + 2 * y - np.eye(4), 1e-6), "matrix sum")
    got = call("matrix_vector")
    check(close(got[:, :, 0], (x @ y[:, :, :1])[:, :, 0], 2e-6),
          "matrix times vector")
    check(close(got[:, :, 1], (y[:, None, :, 1] @ x)[:, 0, :], 2e-6),
          "vector times matrix")
    check(close(got[:, 0, 3], np.linalg.det(x), 1e-5), "determinant")
    c = random.normal(size=(n, 3, 2)).astype(np.float32)
    d = np.zeros((n, 2, 4), np.float32)
    d[:, :, :3] = random.normal(size=(n, 2, 3))
    got = library.call("matrix_3x2", np.float32, 4 * n, c, d).reshape(n, 2, 2)
    want = c.transpose(0, 2, 1).astype(float) @ d[:, :, :3].transpose(0, 2, 1)
    check(close(got.transpose(0, 2, 1), want, 2e-6), "2x3 times 3x2")
    h = random.normal(size=(n, 3, 4)).astype(np.float16)
    got = library.call("half_matrix", np.float32, 12 * n, h).reshape(n, 3, 4)
    check((got[:, :, :3] == h[:, :, :3]).all(), "half3x3 to float3x3")


def main():
    library = Library(os.path.join(HERE, "function_kernels.metal"))
    random = np.random.default_rng(11)
    test_integers(library, random)
    test_questions(library)
    test_vectors(library, random)
    test_packing(library, random)
    test_matrices(library, random)
    finish()


if __name__ == "__main__":
    main()
