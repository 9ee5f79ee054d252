#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_math.py: metal_math against NumPy in float64, in units in the last place.
#
# Bounds are those of the Metal Shading Language specification, section
# "Numerical compliance", or tighter where Mettle promises more. By default it
# takes every 1009th float of all 2^32; --all takes every one, for an hour.
import os
import sys

import numpy as np

from harness import Library, check, finish, ulp_error

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK = 1 << 22
EDGES = np.array([
    0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
    0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
    0xffc00000, 0x7f800001, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001,
    0x3f000000, 0xbf000000, 0x40490fdb, 0x3fc90fdb, 0x4b000000, 0x4b800000,
    0xcb000000, 0x42b17218, 0x42b17217, 0xc2aeac50, 0xc2cff1b5, 0x43000000,
    0xc3150000, 0x47800000, 0x49800000], np.uint32).view(np.float32)


def reference_rsqrt(x):
    return 1 / np.sqrt(x)


def sinpi(x):
    r = np.fmod(x, 2.0)
    q = np.rint(2 * r)
    t = (r - q / 2) * np.pi
    q = q.astype(np.float64) % 4
    return np.select([q == 0, q == 1, q == 2], [np.sin(t), np.cos(t),
                                                 -np.sin(t)], -np.cos(t))


def cospi(x):
    r = np.fmod(x, 2.0)
    q = np.rint(2 * r)
    t = (r - q / 2) * np.pi
    q = q.astype(np.float64) % 4
    return np.select([q == 0, q == 1, q == 2], [np.cos(t), -np.sin(t),
                                                 -np.cos(t)], np.sin(t))


def tanpi(x):
    return sinpi(x) / cospi(x)


def round_away(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def fract(x):
    # The specification's cap: the largest float below 1.
    return np.minimum(x - np.floor(x), float.fromhex("0x1.fffffep-1"))


# name: (reference, bound in ULP)
ONE = {
    "precise_exp": (np.exp, 1.05), "precise_exp2": (np.exp2, 1),
    "precise_exp10": (lambda x: np.power(10.0, x), 1),
    "precise_log": (np.log, 1), "precise_log2": (np.log2, 1),
    "precise_log10": (np.log10, 1), "precise_sin": (np.sin, 1.6),
    "precise_cos": (np.cos, 1.6), "precise_tan": (np.tan, 3.5),
    "metal_acos": (np.arccos, 2), "metal_acosh": (np.arccosh, 3),
    "metal_asin": (np.arcsin, 2.5), "metal_asinh": (np.arcsinh, 3),
    "metal_atan": (np.arctan, 2), "metal_atanh": (np.arctanh, 3),
    "metal_cosh": (np.cosh, 2), "metal_sinh": (np.sinh, 2),
    "metal_tanh": (np.tanh, 2), "metal_cospi": (cospi, 2),
    "metal_sinpi": (sinpi, 2), "metal_tanpi": (tanpi, 4),
    "metal_rsqrt": (reference_rsqrt, 1.5), "metal_sqrt": (np.sqrt, .5),
    "metal_ceil": (np.ceil, 0), "metal_floor": (np.floor, 0),
    "metal_trunc": (np.trunc, 0), "metal_rint": (np.rint, 0),
    "metal_round": (round_away, 0), "metal_fract": (fract, .5),
    "metal_fabs": (np.abs, 0), "metal_abs": (np.abs, 0),
    "metal_sin": (np.sin, 1.6), "metal_exp": (np.exp, 1),
}


def fast_range(low, high):
    return lambda x: (np.abs(x) >= low) & (np.abs(x) <= high)


TINY = float(np.finfo(np.float32).tiny)
# name: (reference, bound in ULP, arguments it holds for)
FAST = {
    "fast_exp": (np.exp, 1, fast_range(0, 86.5)),
    "fast_exp2": (np.exp2, 1, fast_range(0, 125)),
    "fast_exp10": (lambda x: np.power(10.0, x), 1, fast_range(0, 37)),
    "fast_log": (np.log, 1, fast_range(TINY, np.inf)),
    "fast_log2": (np.log2, 2.5, fast_range(TINY, np.inf)),
    "fast_log10": (np.log10, 2.5, fast_range(TINY, np.inf)),
    "fast_sin": (np.sin, 2.5, fast_range(0, 1e5)),
    "fast_cos": (np.cos, 2.5, fast_range(0, 1e5)),
    "fast_tan": (np.tan, 3.5, fast_range(0, 1e5)),
}


def blocks():
    yield EDGES
    step = 1 if "--all" in sys.argv else 1009
    for start in range(0, 1 << 32, BLOCK * step):
        end = min(start + BLOCK * step, 1 << 32)
        bits = np.arange(start, end, step, dtype=np.uint64)
        yield bits.astype(np.uint32).view(np.float32)


def test_one(library, name, reference, bound, domain=None):
    worst, at = 0, 0
    with np.errstate(all="ignore"):
        for x in blocks():
            if domain is not None:
                x = x[domain(x)]
            if len(x) == 0:
                continue
            got = library.call(name, np.float32, len(x), x)
            error = ulp_error(got, reference(x.astype(np.float64)))
            i = int(np.argmax(error))
            if error[i] > worst:
                worst, at = float(error[i]), float(x[i])
    if "-v" in sys.argv:
        print(f"{name:16} {worst:6.3f} ULP at {at!r}")
    check(worst <= bound, f"{name}({at!r}): {worst:.3f} ULP, bound {bound}")


def pairs(count=400000):
    """Random bits, then numbers of ordinary size, then all pairs of edges."""
    random = np.random.default_rng(7)
    x = random.integers(0, 1 << 32, count, np.uint32).view(np.float32)
    y = random.integers(0, 1 << 32, count, np.uint32).view(np.float32)
    x2 = np.exp2(random.uniform(-20, 20, count)).astype(np.float32)
    y2 = random.uniform(-6, 6, count).astype(np.float32)
    x3 = random.uniform(0.9, 1.1, count).astype(np.float32)
    y3 = random.uniform(-900, 900, count).astype(np.float32)
    whole = random.integers(-9, 10, count).astype(np.float32)
    more = np.array([2, 3, -2, -3, .25, 7.5, 1e9], np.float32)
    edges = np.concatenate([EDGES, more])
    a, b = np.meshgrid(edges, edges)
    return (np.concatenate([x, x2, x3, -x2, a.ravel()]),
            np.concatenate([y, y2, y3, whole, b.ravel()]))


def powr(x, y):
    return np.where(x < 0, np.nan, np.power(x, y))


TWO = {
    "precise_pow": (np.power, 2, None),
    "precise_powr": (powr, 2, None),
    "precise_fmod": (np.fmod, 0, None),
    "metal_atan2": (np.arctan2, 2, None),
    "metal_copysign": (np.copysign, 0, None),
    "metal_divide": (np.divide, .5, None),
    "metal_fmin": (np.fmin, 0, None),
    "metal_fmax": (np.fmax, 0, None),
    # 16 ULP is the specification's bound for pow.
    "fast_pow": (np.power, 16, lambda x, y: (np.abs(x) > 1e-18) &
                 (np.abs(x) < 1e18) & (np.abs(y) < 2)),
    "fast_fmod": (np.fmod, 0, lambda x, y: (np.abs(x / y) < 2**22) &
                  (np.abs(y) > 1e-30)),
}


def test_two(library):
    x, y = pairs()
    with np.errstate(all="ignore"):
        for name, (reference, bound, domain) in TWO.items():
            a, b = x, y
            if domain is not None:
                chosen = domain(x.astype(np.float64), y.astype(np.float64))
                a, b = x[chosen], y[chosen]
            got = library.call(name, np.float32, len(a), a, b)
            want = reference(a.astype(np.float64), b.astype(np.float64))
            error = ulp_error(got, want)
            i = int(np.argmax(error))
            if "-v" in sys.argv:
                print(f"{name:16} {error[i]:6.3f} ULP at {a[i]!r}, {b[i]!r}")
            check(error[i] <= bound,
                  f"{name}({a[i]!r}, {b[i]!r}) = {got[i]!r}, not {want[i]!r}: "
                  f"{error[i]:.3f} ULP, bound {bound}")


def same(got, want):
    """Equal bits, but any NaN for a NaN."""
    bits = {2: np.uint16, 4: np.uint32}[got.dtype.itemsize]
    equal = got.view(bits) == want.astype(got.dtype).view(bits)
    return equal | (np.isnan(got) & np.isnan(want))


def test_parts(library):
    with np.errstate(all="ignore"):
        x, y = pairs()
        n = len(x)
        parts = library.call("frexp_parts", np.float32, 2 * n, x)
        fraction, exponent = np.frexp(x)
        check(same(parts[::2], fraction).all(), "frexp's fraction")
        finite = np.isfinite(x)
        check((parts[1::2] == exponent)[finite].all(), "frexp's exponent")
        parts = library.call("modf_parts", np.float32, 2 * n, x)
        rest, whole = np.modf(x)
        check(same(parts[::2], rest).all(), "modf's fraction")
        check(same(parts[1::2], whole).all(), "modf's whole part")
        got = library.call("metal_nextafter", np.float32, n, x, y)
        check(same(got, np.nextafter(x, y)).all(), "nextafter")
        k = (y.view(np.uint32) % 601).astype(np.int32) - 300
        got = library.call("ldexp_float", np.float32, n, x, k)
        want = np.ldexp(x.astype(np.float64), k).astype(np.float32)
        check(same(got, want).all(), "ldexp rounds once")
        got = library.call("ilogb_int", np.int32, n, x)
        want = np.where(finite, exponent - 1, 2**31 - 1)
        want = np.where(x == 0, -2**31, want)
        check((got == want).all(), "ilogb")
        sin = library.call("precise_sin", np.float32, n, x)
        cos = library.call("precise_cos", np.float32, n, x)
        parts = library.call("sincos_parts", np.float32, 2 * n, x)
        check(same(parts[::2], sin).all(), "sincos's sine is sin's")
        check(same(parts[1::2], cos).all(), "sincos's cosine is cos's")
        m = n // 4 * 4
        got = library.call("vector_sin", np.float32, m, x[:m])
        check(same(got, sin[:m]).all(), "sin of a vector is sin of each")
        got = library.call("metal_fdim", np.float32, n, x, y)
        want = np.where(x <= y, np.float32(0), x - y)
        check(same(got, want).all(), "fdim")


def test_half(library):
    h = np.arange(65536, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        got = library.call("half_exp", np.float16, len(h), h)
        want = np.exp(h.astype(np.float64)).astype(np.float16)
        check(same(got, want).mean() > .9999, "exp of half rounds correctly")
        random = np.random.default_rng(3)
        a, b, c = (random.choice(h, 1 << 20) for _ in range(3))
        got = library.call("half_fma", np.float16, len(a), a, b, c)
        exact = (a.astype(np.longdouble) * b.astype(np.longdouble)
                 + c.astype(np.longdouble))
        check(same(got, exact.astype(np.float16)).all(),
              "fma of half rounds once")
        got = library.call("half_nextafter", np.float16, len(a), a, b)
        check(same(got, np.nextafter(a, b)).all(), "nextafter of half")


def main():
    library = Library(os.path.join(HERE, "math_functions.metal"))
    for name, (reference, bound) in ONE.items():
        test_one(library, name, reference, bound)
    for name, (reference, bound, domain) in FAST.items():
        test_one(library, name, reference, bound, domain)
    test_two(library)
    test_parts(library)
    test_half(library)
    finish()


if __name__ == "__main__":
    main()
