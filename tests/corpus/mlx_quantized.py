# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_quantized.py: MLX's other quantised products (from the left, along K in
# parts, by indices, of every number of bits) and those of small floats, against
# NumPy. Most only with METTLE_CORPUS_FULL.
import numpy as np

import check
import mlx_kernels as mlx
from elements import FLOAT16, FLOAT32, FULL
from mlx_products import compare

KINDS = (FLOAT32, FLOAT16) if FULL else (FLOAT16,)
BITS = (2, 3, 4, 5, 6, 8) if FULL else (3, 4, 6)
FILES = ["utils.h", "steel/gemm/gemm.h", "quantized_utils.h"]
ONE = np.int32(1)
# One batch: the arguments after the sizes are not read.
UNUSED = (np.int32(0), mlx.ints(0), mlx.longs(0), np.int32(0), mlx.ints(0),
          *[mlx.longs(0)] * 3)


def _packed(codes, bits):
    """Numbers of bits, from the lowest of each byte on."""
    each = codes[..., None] >> np.arange(bits) & 1
    return np.packbits(each.astype(np.uint8).reshape(len(codes), -1), 1,
                       bitorder="little")


def weights(random, e, bits, rows, length):
    """Rows of weights in groups of 64: bytes, scales, biases; and values."""
    codes = random.integers(0, 1 << bits, (rows, length))
    scales = e.random(random, (rows, length // 64), .01, .1)
    biases = e.random(random, (rows, length // 64), -1, 1)
    values = (codes * np.repeat(scales.astype(np.float64), 64, 1)
              + np.repeat(biases.astype(np.float64), 64, 1))
    return (_packed(codes, bits), e.pack(scales), e.pack(biases)), values


def after(first, values):
    return {first + i: value for i, value in enumerate(values)}


def quantized_left(random):
    """A vector, or some, by a matrix whose rows are along the sum."""
    library = mlx.library([*FILES, "quantized.h"], [
        (f"{name}_{e.name}_{bits}", template, e.metal, 64, bits, *rest)
        for e in KINDS for bits in BITS for name, template, rest in (
            ("qvm", "affine_qvm", ("false",)),
            ("split", "affine_qvm_split_k", (8,)),
            ("qmm", "affine_qmm_n", ("true", "false")))])
    for e in KINDS:
        for bits in BITS:
            for count, rows, length in ((1, 64, 128), (3, 77, 64),
                                        (2, 515, 192)):
                _qvm(random, library, e, bits, count, rows, length)
                _qmm_n(random, library, e, bits, 11 * count, rows, length)


def _qvm(random, library, e, bits, count, rows, length):
    buffers, values = weights(random, e, bits, rows, length)
    x, out = e.random(random, (count, rows), -1, 1), e.zeros(count, length)
    arguments = {**after(0, buffers), 3: e.pack(x), 6: np.int32(length)}
    library.pipeline(f"qvm_{e.name}_{bits}")(
        {**arguments, 4: out, 5: np.int32(rows), **after(7, UNUSED)},
        groups=(count, length // 64), group=(32, 2))
    want = x.astype(np.float64) @ values
    title = f"{bits} bits, {count}x{rows}x{length} {e.name}"
    compare(f"qvm {title}", e, out, want, rows)
    each, words = -(-rows // 8), buffers[0].shape[1] // 4
    parts = e.zeros(8, count, length)
    library.pipeline(f"split_{e.name}_{bits}")(
        {**arguments, 4: parts, 5: np.int32(each), 7: ONE,
         8: mlx.ints(8, count, each), 9: mlx.longs(each, rows, 1), 10: ONE,
         11: mlx.ints(8, each, words), 12: mlx.longs(each * words, words, 1),
         **after(13, [mlx.longs(each * length // 64, length // 64, 1)] * 2),
         15: np.int32(rows - 7 * each)},
        groups=(count, length // 64, 8), group=(32, 2))
    compare(f"qvm in parts {title}", e,
            e.pack(e.unpack(parts).astype(np.float32).sum(0)), want, 8 * rows)


def _qmm_n(random, library, e, bits, count, rows, length):
    buffers, values = weights(random, e, bits, rows, length)
    x, out = e.random(random, (count, rows), -1, 1), e.zeros(count, length)
    library.pipeline(f"qmm_{e.name}_{bits}")(
        {**after(0, buffers), 3: e.pack(x), 4: out, 5: np.int32(rows),
         6: np.int32(length), 7: np.int32(count), **after(8, UNUSED)},
        groups=(-(-length // 32), -(-count // 32), 1), group=(32, 2, 2))
    compare(f"qmm_n {bits} bits, {count}x{rows}x{length} {e.name}", e, out,
            x.astype(np.float64) @ values, 4 * rows)


def quantized_gather(random):
    """Products whose operands indices name."""
    library = mlx.library([*FILES, "quantized.h"], [
        (f"{name}_{e.name}_{bits}", template, e.metal, 64, bits, *rest)
        for e in KINDS for bits in BITS for name, template, rest in (
            ("mv", "affine_gather_qmv", ()), ("vm", "affine_gather_qvm", ()),
            ("mt", "affine_gather_qmm_t", ("false",)),
            ("mn", "affine_gather_qmm_n", ()))])
    for e in KINDS:
        for bits in BITS:
            for name in ("mv", "vm", "mt", "mn"):
                for rows, length in ((64, 128), (77, 192), (13, 64)):
                    _gather(random, library, e, bits, name, rows, length)


def _gather(random, library, e, bits, name, rows, length):
    """Three matrices of weights and four of vectors, five times."""
    parts = [weights(random, e, bits, rows, length) for _ in range(3)]
    buffers = [np.stack(x) for x in zip(*(p[0] for p in parts))]
    values = np.stack([p[1] for p in parts])
    is_transposed = name in ("mv", "mt")
    summed, wide = (length, rows) if is_transposed else (rows, length)
    count = 1 if name in ("mv", "vm") else 35
    x, out = e.random(random, (4, count, summed), -1, 1), e.zeros(5, count,
                                                                  wide)
    left, right = (random.integers(0, n, 5).astype(np.uint32) for n in (4, 3))
    words = buffers[0].shape[-1] // 4
    arguments = {**after(0, buffers), 3: e.pack(x), 4: left, 5: right, 6: out,
                 7: np.int32(summed), 8: np.int32(wide)}
    rest = (ONE, mlx.ints(4, count, summed), mlx.longs(count * summed), ONE,
            mlx.ints(3, rows, words), mlx.longs(rows * words),
            *[mlx.longs(rows * length // 64)] * 2, ONE, mlx.ints(5),
            mlx.longs(1), mlx.longs(1))
    if count > 1:
        rest, groups, group = (np.int32(count), *rest), (
            -(-wide // 32), -(-count // 32), 5), (32, 2, 2)
    else:
        groups, group = (1, -(-wide // (8 if name == "mv" else 64)), 5), (32, 2)
    library.pipeline(f"{name}_{e.name}_{bits}")(
        {**arguments, **after(9, rest)}, groups=groups, group=group)
    chosen = values[right]
    want = x.astype(np.float64)[left] @ (
        chosen.transpose(0, 2, 1) if is_transposed else chosen)
    compare(f"gather q{name} {bits} bits, {rows}x{length} {e.name}", e, out,
            want, 4 * summed)


# Name: numbers a scale is for, bits.
FORMATS = {"mxfp4": (32, 4), "nvfp4": (16, 4), "mxfp8": (32, 8)}
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6])


def _e4m3(code):
    """The values of bytes; 127 would be a NaN."""
    exponent, fraction = code >> 3 & 15, code & 7
    size = np.where(exponent > 0, (8 + fraction) * 2.0 ** (exponent - 10.0),
                    fraction * 2.0 ** -9)
    return np.where(code & 128, -size, size)


def floats(random, form, rows, length):
    """Rows of small floats: bytes and scales; and values."""
    each, bits = FORMATS[form]
    codes = random.integers(0, 1 << bits, (rows, length))
    if bits == 8:
        codes = np.where(codes % 128 == 127, 5, codes)
        values = _e4m3(codes)
    else:
        values = np.where(codes & 8, -1, 1) * E2M1[codes & 7]
    if each == 16:
        scales = random.integers(16, 56, (rows, length // each))
        factors = _e4m3(scales)
    else:
        scales = random.integers(119, 126, (rows, length // each))
        factors = 2.0 ** (scales - 127.0)
    return (_packed(codes, bits), scales.astype(np.uint8)), (
        values * np.repeat(factors, each, 1))


def quantized_floats(random):
    library = mlx.library([*FILES, "fp4.h", "fp8.h", "fp_quantized.h"], [
        (f"{name}_{e.name}_{form}", template, e.metal, *FORMATS[form], *rest)
        for e in KINDS for form in FORMATS for name, template, rest in (
            ("back", "fp_dequantize", ("false",)),
            ("there", "fp_quantize", ("false",)),
            ("fast", "fp_qmv_fast", ("false",)),
            ("qmv", "fp_qmv", ("false",)), ("qvm", "fp_qvm", ("false",)),
            ("qmm", "fp_qmm_t", ("false", "false")))])
    for e in KINDS:
        for form in FORMATS:
            for shape in ((8, 512), (13, 192), (45, 64)):
                _float_products(random, library, e, form, *shape)
                _float_conversions(random, library, e, form, *shape)


def _float_products(random, library, e, form, rows, length):
    (words, scales), values = floats(random, form, rows, length)
    for name, count in (("fast", 1), ("qmv", 2), ("qmm", 37)):
        if name == "fast" and (length % 512 or rows % 8):
            continue
        x, out = e.random(random, (count, length), -1, 1), e.zeros(count, rows)
        sizes = [np.int32(length), np.int32(rows)]
        groups, group = (count, -(-rows // 8)), (32, 2)
        if name == "qmm":
            sizes.append(np.int32(count))
            groups, group = (-(-rows // 32), -(-count // 32)), (32, 2, 2)
        library.pipeline(f"{name}_{e.name}_{form}")(
            {0: words, 1: scales, 2: np.ones(1, np.float32), 3: e.pack(x),
             4: out, **after(5, (*sizes, *UNUSED[:-1]))}, groups=groups,
            group=group)
        compare(f"{name} of {form}, {count}x{rows}x{length} {e.name}", e, out,
                x.astype(np.float64) @ values.T, 4 * length)


def _float_conversions(random, library, e, form, rows, length):
    (words, scales), values = floats(random, form, rows, length)
    out, one = e.zeros(rows, length), np.ones(1, np.float32)
    library.pipeline(f"back_{e.name}_{form}")(
        {0: words, 1: scales, 2: one, 3: out}, grid=(words.size,),
        group=(32,))
    check.equal(f"dequantize {form} of {rows}x{length} {e.name}",
                out.astype(np.float64), values, 2.0 ** -10, 2.0 ** -24)
    again, factors = np.zeros_like(words), np.zeros_like(scales)
    library.pipeline(f"there_{e.name}_{form}")(
        {0: e.pack(values), 1: again, 2: factors, 3: one},
        grid=(rows * length,), group=(32,))
    back = e.zeros(rows, length)
    library.pipeline(f"back_{e.name}_{form}")(
        {0: again, 1: factors, 2: one, 3: back}, grid=(words.size,),
        group=(32,))
    # A step is a quarter of a number, or of the least that is no subnormal;
    # scales that are rounded leave half of it again.
    each = FORMATS[form][0]
    most = np.repeat(np.abs(values).reshape(-1, each).max(1), each).reshape(
        rows, length)
    off = np.abs(back.astype(np.float64) - values)
    check.equal(f"quantize {form} of {rows}x{length} {e.name} is near",
                np.maximum(off - np.abs(values) / 3, most / 6), most / 6,
                1e-9, 0)


FAMILIES = {"quantized_left": quantized_left,
            "quantized_gather": quantized_gather,
            "quantized_floats": quantized_floats} if FULL else {}
