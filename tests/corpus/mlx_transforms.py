# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_transforms.py: MLX's Fourier transforms and its random bits. A transform
# is a plan of radices, function constants all, made here as MLX's host code
# makes it; NumPy's own in double precision says what must come out.
import numpy as np

import check
import mlx_kernels as mlx
from elements import FULL
from mettle import Padded

RADICES = (13, 11, 8, 7, 6, 5, 4, 3, 2)
STEPS, RADER_STEPS = 4, 13  # function constants of the first radix
# Radices of two, mixed ones, and with factors that take Rader's and
# Bluestein's way; a mixed one and Rader's, unless all are wanted.
LENGTHS = ((16, 128, 1024, 12, 30, 91, 360, 17, 34, 289, 58, 47, 47 * 3)
           if FULL else (30, 34))
COMPLEX_BATCH = 5


def _factors(n):
    factors, divisor = [], 2
    while n > 1:
        while n % divisor == 0:
            factors.append(divisor)
            n //= divisor
        divisor += 1
    return factors


def _steps(n):
    """How often each radix divides n; None if others are left."""
    steps, is_small_power = [0] * len(RADICES), n & (n - 1) == 0 and n < 512
    for i, radix in enumerate(RADICES):
        if is_small_power and radix > 4:
            continue
        while n % radix == 0:
            n //= radix
            steps[i] += 1
    return steps if n == 1 else None


class _Plan:
    def __init__(self, n):
        self.n = self.size = n
        self.rader_n, self.rader = 1, [0] * len(RADICES)
        self.is_bluestein = False
        odd = [f for f in _factors(n) if f not in RADICES]
        if len(odd) == 1 and _steps(odd[0] - 1):
            self.rader_n, self.rader = odd[0], _steps(odd[0] - 1)
        elif odd:
            self.is_bluestein = True
            self.size = 1 << (2 * n - 2).bit_length()
        self.stockham = _steps(self.size // self.rader_n)
        self.kind = ("bluestein_fft" if self.is_bluestein else
                     "rader_fft" if self.rader_n > 1 else "fft")

    def elements_per_thread(self):
        used = sorted({r for r, a, b in zip(RADICES, self.stockham, self.rader)
                       if a + b})
        if 7 in used and (11 in used or 13 in used):
            return 7
        if 11 in used and 13 in used:
            return 11
        if len(used) == 2 and used[1] > 10:
            return sum(used) // 2
        return used[0] if len(used) == 1 else used[1]

    def constants(self, inverse):
        values = {0: np.bool_(inverse),
                  1: np.bool_(self.size & (self.size - 1) == 0),
                  2: np.int32(self.elements_per_thread()),
                  3: np.int32(self.n // self.rader_n), 22: np.bool_(False)}
        for i, (step, rader) in enumerate(zip(self.stockham, self.rader)):
            values[STEPS + i] = np.int32(step)
            values[RADER_STEPS + i] = np.int32(rader)
        return values

    def extra(self, batch):
        """Buffers and numbers behind input and output."""
        if self.is_bluestein:
            i = np.arange(-self.n + 1, self.n, dtype=np.float64)
            angles = np.zeros(self.size, np.complex128)
            angles[:2 * self.n - 1] = np.exp(1j * np.pi * i * i / self.n)
            chirp = np.exp(-1j * np.pi * np.arange(self.n) ** 2 / self.n)
            return [np.fft.fft(angles).astype(np.complex64),
                    chirp.astype(np.complex64), np.int32(self.n),
                    np.int32(self.size), np.int32(batch)]
        if self.rader_n > 1:
            p = self.rader_n
            root = next(r for r in range(2, p) if all(
                pow(r, (p - 1) // f, p) != 1 for f in _factors(p - 1)))
            powers = np.array([pow(root, i, p) for i in range(p - 1)],
                              np.int16)
            inverses = np.array([pow(root, -i, p) for i in range(p - 1)],
                                np.int16)
            b = np.fft.fft(np.exp(-2j * np.pi * inverses / p))
            return [b.astype(np.complex64), powers, inverses,
                    np.int32(self.n), np.int32(batch), np.int32(p)]
        return [np.int32(self.n), np.int32(batch)]


def _transform(library, plan, x, out, inverse, is_real):
    rows = max(256 // plan.size, 1)
    batch = len(x)
    threads = -(-plan.size // plan.elements_per_thread())
    groups = -(-batch // rows)
    if is_real:  # two at once
        groups = -(-groups // 2)
    kernel = library.pipeline(_name(plan, x, out),
                              plan.constants(inverse))
    # Threads of the last row go past the batch's end, up to a threadgroup's.
    behind = rows * plan.n * 8
    kernel(dict(enumerate([Padded(x, behind), Padded(out, behind),
                           *plan.extra(batch)])),
           grid=(groups, rows, threads), group=(1, rows, threads))


def _memory(plan):
    size = max(256 // plan.size, 1) * plan.size
    return 1 << (size - 1).bit_length()


def _types(*arrays):
    return ["float" if a.dtype == np.float32 else "float2" for a in arrays]


def _name(plan, x, out):
    return "_".join([plan.kind, "mem", str(_memory(plan)), *_types(x, out)])


def fft(random):
    """Forward, inverse, of real numbers, and back to them."""
    real, pair = np.zeros(1, np.float32), np.zeros(1, np.complex64)
    plans = [_Plan(n) for n in LENGTHS]
    library = mlx.library(["utils.h", "defines.h", "fft.h"], sorted({
        (_name(plan, a, b), plan.kind, _memory(plan), *_types(a, b))
        for plan in plans for a, b in ((pair, pair), (real, pair),
                                       (pair, real))}))
    for plan in plans:
        if FULL or plan.rader_n > 1:
            _complex_both_ways(random, library, plan)
        if FULL or plan.rader_n == 1:
            _real_both_ways(random, library, plan)


def _noise(random, *shape):
    return random.standard_normal(shape).astype(np.float32)


def _complex_both_ways(random, library, plan):
    n = plan.n
    x = (_noise(random, COMPLEX_BATCH, n)
         + 1j * _noise(random, COMPLEX_BATCH, n)).astype(np.complex64)
    for inverse in (False, True):
        out = np.zeros_like(x)
        _transform(library, plan, x, out, inverse, False)
        want = (np.fft.ifft if inverse else np.fft.fft)(x.astype(complex))
        _check(f"fft of {n}, inverse {inverse}", out, want)


def _real_both_ways(random, library, plan):
    n = plan.n
    x = _noise(random, COMPLEX_BATCH, n)
    out = np.zeros((COMPLEX_BATCH, n // 2 + 1), np.complex64)
    _transform(library, plan, x, out, False, True)
    _check(f"rfft of {n}", out, np.fft.rfft(x.astype(float)))
    back = np.zeros_like(x)
    _transform(library, plan, out.copy(), back, True, True)
    _check(f"irfft of {n}", back, np.fft.irfft(out.astype(complex), n))


def _check(name, got, want):
    # Rounding errors of float grow with the length's logarithm; twiddles
    # multiplied up add to them: 1e-5 of the largest is 80 roundings.
    check.equal(name, got, want.astype(got.dtype),
                absolute=1e-5 * np.abs(want).max())


def _threefry(keys, counts):
    """Twenty rounds of Threefry-2x32 (Salmon et al. 2011): keys [n, 2] and
    counts [n, m, 2], uint32."""
    x, y = (counts[..., i].astype(np.uint32) for i in range(2))
    key = [keys[:, :1], keys[:, 1:],
           keys[:, :1] ^ keys[:, 1:] ^ np.uint32(0x1BD11BDA)]
    x, y = x + key[0], y + key[1]
    for i in range(5):
        for turn in ((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]:
            x = x + y
            y = (y << np.uint32(turn) | y >> np.uint32(32 - turn)) ^ x
        x = x + key[(i + 1) % 3]
        y = y + key[(i + 2) % 3] + np.uint32(i + 1)
    return x, y


def _bits(keys, size):
    """size bytes for each key: halves of counts side by side."""
    words = -(-size // 4)
    first = words - words // 2
    counts = np.zeros((len(keys), first, 2), np.uint32)
    counts[..., 0] = np.arange(first)
    counts[:, :words // 2, 1] = np.arange(first, words)
    x, y = _threefry(keys, counts)
    both = np.concatenate([x, y[:, :words // 2]], axis=1)
    return np.ascontiguousarray(both).view(np.uint8)[:, :size]


def random_bits(random):
    library = mlx.library(["random.metal"])
    for count, size in ((1, 4), (3, 1000), (7, 36), (5, 22), (2, 4097)):
        keys = random.integers(0, 1 << 32, (count, 2), np.uint32)
        words = -(-size // 4)
        rows = words - words // 2
        common = {2: np.bool_(words % 2), 3: np.uint64(size)}
        stored = np.ascontiguousarray(keys.T)  # the other order in memory
        for name, buffer, more in (
                ("rbitsc", keys, {}),
                ("rbits", stored, {4: np.int32(2), 5: mlx.ints(count, 2),
                                   6: mlx.longs(1, count)})):
            out = np.zeros((count, size), np.uint8)
            library.pipeline(name)({0: buffer, 1: out, **common, **more},
                                   grid=(count, rows),
                                   group=mlx.block(count, rows))
            check.equal(f"{name}: {count} keys, {size} bytes", out,
                        _bits(keys, size))


FAMILIES = {"fft": fft, "random_bits": random_bits}
NEEDS = {"random_bits": "random.metal"}
