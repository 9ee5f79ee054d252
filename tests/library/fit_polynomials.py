#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# fit_polynomials.py: where the coefficients of metal/mettle/float.h come from.
#
# Each line of FITS names a polynomial p(z) = c0 + c1 z + ... that stands for
# target(z) on [low, high] so that the largest |p - target| * weight is least.
# Lawson's reweighted least squares comes close to the minimax polynomial;
# coefficients are rounded to float32 one at a time, from c0 up, and the rest
# fitted again. Prints them as hexadecimal floats with the error left.
import sys

import mpmath
import numpy as np

mpmath.mp.dps = 40


def minimax(points, values, weights, powers, rounds=60):
    """Coefficients for the powers by Lawson's algorithm, in long double."""
    basis = np.array([points**k for k in powers]).T
    lawson = np.ones(len(points))
    best, best_error = None, np.inf
    for _ in range(rounds):
        scale = weights * np.sqrt(lawson)
        c, *_ = np.linalg.lstsq(basis * scale[:, None], values * scale,
                                rcond=None)
        error = np.abs(basis @ c - values) * weights
        if error.max() < best_error:
            best, best_error = c, error.max()
        lawson *= error / max(error.max(), 1e-300) + 1e-9
        lawson /= lawson.sum()
    return best, best_error


def fit(target, low, high, degree, weight=lambda z: 1, fixed=()):
    """Fits and rounds. fixed: the lowest coefficients, as they must be."""
    nodes = np.cos(np.pi * (np.arange(2000) + 0.5) / 2000)
    points = (low + high) / 2 + (high - low) / 2 * nodes
    values = np.array([float(target(mpmath.mpf(z))) for z in points])
    weights = np.array([float(weight(mpmath.mpf(z))) for z in points])
    chosen = [np.float64(np.float32(c)) for c in fixed]
    error = 0
    while len(chosen) <= degree:
        rest = values - sum(c * points**k for k, c in enumerate(chosen))
        powers = range(len(chosen), degree + 1)
        c, error = minimax(points, rest, weights, powers)
        chosen.append(np.float64(np.float32(c[0])))
    final = sum(c * points**k for k, c in enumerate(chosen))
    return chosen, (np.abs(final - values) * weights).max()


def over_square(f):
    """(f(sqrt z) / sqrt z - 1) / z: the tail of an odd function f."""
    def tail(z):
        r = mpmath.sqrt(z)
        return (f(r) / r - 1) / z
    return tail


def tail_weight(f):
    """Error of that tail relative to f itself."""
    def weight(z):
        r = mpmath.sqrt(z)
        return z * r / abs(f(r))
    return weight


def log_tail(f):
    return (mpmath.log1p(f) - f + f * f / 2) / f**3


def log2_tail(f):
    return (mpmath.log1p(f) / mpmath.log(2) - f / mpmath.log(2)) / f**2


def log10_tail(f):
    return (mpmath.log1p(f) - f) / mpmath.log(10) / f**2


ln2, pi = mpmath.log(2), mpmath.pi
half_ln2 = float(ln2) / 2 * 1.001
tiny = 1e-9
FITS = {
    "exp": lambda: fit(lambda r: (mpmath.expm1(r) - r) / r**2, -half_ln2,
                       half_ln2, 4, lambda r: r**2),
    "exp2": lambda: fit(lambda r: (mpmath.mpf(2)**r - 1) / r, -.5001, .5001, 6,
                        lambda r: abs(r)),
    "exp10": lambda: fit(lambda r: (mpmath.mpf(10)**r - 1) / r, -.1506, .1506,
                         6, lambda r: abs(r)),
    "log": lambda: fit(log_tail, -.3334, .3334, 7,
                       lambda f: abs(f**3 / mpmath.log1p(f))),
    "log2": lambda: fit(log2_tail, -.3334, .3334, 8,
                        lambda f: abs(f**2 / mpmath.log1p(f))),
    "log10": lambda: fit(log10_tail, -.3334, .3334, 8,
                         lambda f: abs(f**2 / mpmath.log1p(f)) * 2),
    "sin quarter": lambda: fit(over_square(mpmath.sin), tiny,
                               float(pi / 4)**2 * 1.01, 2,
                               tail_weight(mpmath.sin)),
    "cos quarter": lambda: fit(
        lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2, tiny,
        float(pi / 4)**2 * 1.01, 2, lambda z: z**2),
    "sin half": lambda: fit(over_square(mpmath.sin), tiny,
                            1.7**2, 4,
                            tail_weight(mpmath.sin)),
    "asin": lambda: fit(over_square(mpmath.asin), tiny, .25, 4,
                        tail_weight(mpmath.asin)),
    "atan": lambda: fit(over_square(mpmath.atan), tiny, 1, 8,
                        tail_weight(mpmath.atan)),
    "sinh": lambda: fit(over_square(mpmath.sinh), tiny, 1, 3,
                        tail_weight(mpmath.sinh)),
    "tanh": lambda: fit(over_square(mpmath.tanh), tiny, .4, 5,
                        tail_weight(mpmath.tanh)),
    "atanh tail": lambda: fit(
        lambda z: (mpmath.atanh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1
                   - z / 3) / z**2, tiny, .0295, 2, lambda z: z**2),
}

for name in sys.argv[1:] or FITS:
    coefficients, error = FITS[name]()
    print(f"{name}: error 2^{np.log2(error):.2f}")
    print("  " + ", ".join(float(c).hex() + "f" for c in coefficients))
