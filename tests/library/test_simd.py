#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_simd.py: simdgroup and quadgroup functions and 8x8 matrices, run by
# `mettle run` in both tiers and compared with NumPy.
import os
import subprocess
import sys
import tempfile

import numpy as np

from harness import ROOT, check, finish

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("METTLE_BUILD_DIR", os.path.join(ROOT, "build"))
SOURCE = os.path.join(HERE, "simd_kernels.metal")
THREADS = 128  # 4 simdgroups in 2 threadgroups
TYPES = {"float": np.float32, "half": np.float16, "int": np.int32,
         "uint": np.uint32, "short": np.int16, "uchar": np.uint8,
         "long": np.int64}


def run(kernel, threads, arrays, tier):
    """Runs a kernel over arrays as buffers 0, 1, ...; returns them after."""
    with tempfile.TemporaryDirectory() as folder:
        bindings = []
        for i, array in enumerate(arrays):
            path = os.path.join(folder, f"{i}.npy")
            np.save(path, array)
            bindings += [f"{i}=@{path}", "--save", f"{i}={path}.out.npy"]
        command = [os.path.join(BUILD, "mettle"), "run", SOURCE, kernel,
                   "-fpermissive",  # Metal has none of these for long
                   "--grid", str(threads), "--group", str(min(threads, 64)),
                   *bindings, *(["--debug"] if tier == 0 else [])]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            check(False, f"{kernel}, tier {tier}: {done.stderr}")
            return None
        return [np.load(os.path.join(folder, f"{i}.npy.out.npy"))
                for i in range(len(arrays))]


def exchanged(x):
    """The rows of `exchanges`, by simdgroups of 32."""
    g = x.reshape(-1, 32)
    n = np.arange(32)
    w = (g + np.array(1, x.dtype)).astype(x.dtype)
    quads = x.reshape(-1, 4)
    q = np.arange(4)

    def taken(index):
        return g[:, index].ravel()

    def quad(index):
        return quads[:, index].ravel()

    fill_8 = np.concatenate([w.reshape(-1, 8)[:, 5:],
                             x.reshape(-1, 8)[:, :5]], 1)
    return [taken((n * 7 + 3) & 31), taken(np.where(n >= 3, n - 3, n)),
            taken(np.where(n + 5 < 32, n + 5, n)), taken(n ^ 9),
            taken((n - 7) & 31), taken((n + 7) & 31),
            np.concatenate([w[:, 28:], g[:, :28]], 1).ravel(),
            np.concatenate([g[:, 4:], w[:, :4]], 1).ravel(), fill_8.ravel(),
            taken(n * 0 + 11), taken(n * 0), quad((q + 1) & 3),
            quad(np.where(q >= 1, q - 1, q)),
            quad(np.where(q + 2 < 4, q + 2, q)), quad(q ^ 3),
            quad((q - 1) & 3), quad((q + 1) & 3), quad(q * 0 + 2)]


def reduced(x):
    """The rows of `reductions`; sums and products of integers wrap."""
    wide = np.float64 if x.dtype.kind == "f" else np.int64
    g, quads = x.reshape(-1, 32).astype(wide), x.reshape(-1, 4).astype(wide)

    def spread(values, width):
        return np.repeat(values, width)

    with np.errstate(over="ignore"):
        rows = [spread(g.sum(1), 32), spread(g.min(1), 32),
                spread(g.max(1), 32), spread(g.prod(1), 32),
                g.cumsum(1).ravel(), (g.cumsum(1) - g).ravel(),
                spread(quads.sum(1), 4), spread(quads.min(1), 4),
                spread(quads.max(1), 4), quads.cumsum(1).ravel(),
                (quads.cumsum(1) - quads).ravel()]
        return [r.astype(x.dtype) for r in rows]


def compare(name, got, rows, tolerance):
    for i, want in enumerate(rows):
        row = got.reshape(len(rows), -1)[i]
        if tolerance == 0:
            equal = row == want
        else:
            equal = np.isclose(row, want, rtol=tolerance, atol=tolerance)
        at = int(np.argmin(equal))
        check(equal.all(), f"{name}, row {i}, thread {at}: {row[at]}, "
              f"not {want[at]}")


def test_types(tier, random):
    for name, dtype in TYPES.items():
        if np.dtype(dtype).kind == "f":
            x = random.uniform(.8, 1.2, THREADS).astype(dtype)
        else:
            x = random.integers(0, 120, THREADS).astype(dtype)
        rows = exchanged(x)
        out = run(f"exchange_{name}", THREADS,
                  [x, np.zeros(len(rows) * THREADS, dtype)], tier)
        if out:
            compare(f"exchange of {name}, tier {tier}", out[1], rows, 0)
        rows = reduced(x)
        out = run(f"reduce_{name}", THREADS,
                  [x, np.zeros(len(rows) * THREADS, dtype)], tier)
        # Sums of 32 in another order, in float, rounded to the type.
        tolerance = {np.float32: 1e-5, np.float16: 4e-3}.get(dtype, 0)
        if out:
            compare(f"reduction of {name}, tier {tier}", out[1], rows,
                    tolerance)


def test_folds_of_some(tier):
    """Threadgroups that end within a simdgroup, and threads that leave it."""
    for threads in (1, 8, 33, 45, 64):
        x = (np.arange(threads) % 32 < 20).astype(np.uint32)
        out = run("folds_of_some", threads,
                  [x, np.zeros(4 * threads, np.int64)], tier)
        rows = np.zeros((4, threads), np.int64)
        for start in range(0, threads, 32):
            part = slice(start, min(start + 32, threads))
            rows[0, part] = part.stop - start
            rows[1, part] = -5 - start
            stay = x[part] > 0
            rows[2, part] = 3 * stay.sum() * stay
            rows[3, part] = -3 * stay
        if out:
            compare(f"folds of {threads}, tier {tier}", out[1], rows, 0)


def test_votes(tier, random):
    x = random.integers(0, 64, THREADS).astype(np.uint32)
    g, quads = x.reshape(-1, 32), x.reshape(-1, 4)
    odd = g & 1
    ballot = (odd.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1)
    quad_ballot = ((quads & 1) << np.arange(4, dtype=np.uint32)).sum(1)

    def spread(values, width):
        return np.repeat(values.astype(np.uint32), width)

    first = np.tile(np.arange(32) == 0, len(g)).astype(np.uint32)
    is_odd = x & 1
    rows = [spread(ballot, 32), spread((g < 100).all(1), 32),
            spread((g == 7).any(1), 32), first,
            spread(np.bitwise_and.reduce(g | 0xf0, 1), 32),
            spread(np.bitwise_or.reduce(g, 1), 32),
            spread(np.bitwise_xor.reduce(g, 1), 32), spread(quad_ballot, 4),
            spread((quads & 1).all(1), 4), spread((quads & 1).any(1), 4),
            spread(ballot, 32) * is_odd, spread((g * odd).sum(1), 32) * is_odd]
    out = run("votes", THREADS,
              [x, np.zeros(len(rows) * THREADS, np.uint32)], tier)
    if out:
        compare(f"votes, tier {tier}", out[1], rows, 0)


def test_tiles(tier, random):
    a = random.normal(size=(16, 16)).astype(np.float32)
    b = random.normal(size=(8, 8)).astype(np.float16)
    c = np.zeros((16, 8), np.float32)
    c[:8] = random.normal(size=(8, 8))
    out = run("tiles", 32, [a, b, c, np.zeros(64, np.float32)], tier)
    if not out:
        return
    left = a[1:9, 3:11]
    want = left.astype(float) @ b.astype(float).T + c[:8]
    check(np.allclose(out[2][:8], want, rtol=1e-5, atol=1e-5),
          f"product of tiles, tier {tier}")
    check((out[2][8:] == 2 * np.eye(8)).all(), f"diagonal tile, tier {tier}")
    # The layout that programs written for Apple's GPUs rely on.
    lane = np.arange(32)
    quad = lane // 4
    row = (quad & 4) + (lane // 2) % 4
    column = (quad & 2) * 2 + (lane % 2) * 2
    want = np.stack([left[row, column], left[row, column + 1]], 1)
    check((out[3].reshape(32, 2) == want).all(),
          f"thread_elements, tier {tier}")


def main():
    if not os.path.exists(os.path.join(BUILD, "mettle")):
        sys.exit(f"no mettle in {BUILD}: set METTLE_BUILD_DIR")
    for tier in (0, 1):
        random = np.random.default_rng(5)
        test_types(tier, random)
        test_votes(tier, random)
        test_folds_of_some(tier)
        test_tiles(tier, random)
    finish()


if __name__ == "__main__":
    main()
