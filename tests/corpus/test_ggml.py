#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_ggml.py --list | FAMILY...: the Metal kernels of ggml (llama.cpp): all
# compile, and the main families agree with NumPy; quantised weights with
# gguf's reference. Launched as ggml's host code does. Ends with 77 where they
# cannot be had.
import math
import os
import sys

import numpy as np

import check
import ggml_kernels as ggml
import mettle
import sources

FULL = bool(os.environ.get("METTLE_CORPUS_FULL"))
ROWS = ((32, 3, 2, 1), (33, 5, 1, 2), (1000, 2, 3, 1), (4099, 1, 1, 1))
TYPES = {"f32": (np.float32, 2.0 ** -20), "f16": (np.float16, 2.0 ** -9)}


def _uniform(random, dimensions, low=-2, high=2, dtype=np.float32):
    """Of ggml's dimensions, which come innermost first."""
    return random.uniform(low, high, dimensions[::-1]).astype(dtype)


def compiles(random):
    """Every file; the attention ones take seconds each."""
    for name in ggml.files():
        if not FULL and name.startswith("fa_"):
            continue
        try:
            count = len(ggml.library(name).names())
        except mettle.Error as error:
            check.failed(f"{name}.metal: {error}")
        else:
            check.equal(f"{name}.metal has kernels", np.array(count > 0),
                        np.array(True))


_erf = np.vectorize(math.erf)
UNARY = {
    "SQR": np.square, "SQRT": np.sqrt, "SIN": np.sin, "COS": np.cos,
    "LOG": np.log, "TANH": np.tanh, "RELU": lambda x: np.maximum(x, 0),
    "SIGMOID": lambda x: 1 / (1 + np.exp(-x)),
    "GELU": lambda x: x / 2 * (1 + np.tanh(
        math.sqrt(2 / math.pi) * x * (1 + .044715 * x * x))),
    "GELU_ERF": lambda x: x / 2 * (1 + _erf(x / math.sqrt(2))),
    "GELU_QUICK": lambda x: x / (1 + np.exp(-1.702 * x)),
    "SILU": lambda x: x / (1 + np.exp(-x)),
    "ELU": lambda x: np.where(x > 0, x, np.expm1(x)), "NEG": np.negative,
    "ABS": np.abs, "SGN": np.sign, "STEP": lambda x: (x > 0) * 1.0,
    "HARDSWISH": lambda x: x * np.clip((x + 3) / 6, 0, 1),
    "HARDSIGMOID": lambda x: np.clip((x + 3) / 6, 0, 1), "EXP": np.exp,
    "SOFTPLUS": lambda x: np.log1p(np.exp(x)), "EXPM1": np.expm1,
    "FLOOR": np.floor, "CEIL": np.ceil, "TRUNC": np.trunc,
    "SCALE": lambda x: 1.5 * x - .25, "CLAMP": lambda x: np.clip(x, -.5, .75),
    "LEAKY_RELU": lambda x: np.where(x > 0, x, .1 * x),
}


def unary(random):
    names = UNARY if FULL else ("SQR", "GELU", "SILU", "EXP", "CLAMP", "LOG")
    for name in names:
        for kind, (dtype, tolerance) in TYPES.items():
            for dimensions in ROWS[:3 if FULL else 2]:
                _unary(random, name, kind, dtype, tolerance, dimensions)


def _unary(random, name, kind, dtype, tolerance, dimensions):
    low = .1 if name in ("LOG", "SQRT") else -2
    x = _uniform(random, dimensions, low, 2, dtype)
    four = dimensions[0] % 4 == 0
    for counted in (True, False):
        kernel = ggml.library("unary").pipeline(
            f"kernel_unary_{kind}_{kind}" + ("_4" if four else ""),
            ggml.constants("UNARY", ggml.macro("OP_UNARY_NUM_" + name),
                           counted))
        sizes = {**ggml.shape("0", dimensions, x.itemsize),
                 **ggml.shape("", dimensions, x.itemsize)}
        row = dimensions[0] // (4 if four else 1)
        sizes |= {"ne00": row, "ne0": row, "slope": .1, "scale": 1.5,
                  "bias": -.25, "min": -.5, "max": .75}
        out = np.zeros_like(x)
        threads = min(row, 256)
        groups = ((x.size // (4 if four else 1),) if counted else
                  (-(-row // threads) * dimensions[1], *dimensions[2:]))
        kernel({0: ggml.arguments("unary", **sizes), 1: x, 2: out},
               groups=groups, group=(1 if counted else threads,))
        check.equal(f"{name} {kind} of {dimensions}"
                    f"{', counted' if counted else ''}",
                    out.astype(np.float64), UNARY[name](x.astype(np.float64)),
                    tolerance, 4 * tolerance)


BINARY = (np.add, np.subtract, np.multiply, np.divide)


def binary(random):
    for number, function in enumerate(BINARY):
        for kind, (dtype, tolerance) in TYPES.items():
            for left, right in (((32, 5, 3, 1), (32, 5, 3, 1)),
                                ((33, 4, 2, 2), (33, 1, 2, 1)),
                                ((45, 3, 1, 1), (9, 3, 1, 1)),
                                ((64, 7, 1, 1), (64, 1, 1, 1))):
                _binary(random, number, function, kind, dtype, tolerance,
                        left, right)


def _binary(random, number, function, kind, dtype, tolerance, left, right):
    a = _uniform(random, left, -2, 2, dtype)
    b = _uniform(random, right, .5, 2, dtype)
    four = left[0] % 4 == 0 and right[0] % 4 == 0
    by_row = right[1:] == (1, 1, 1)
    kernel = ggml.library("binbcast").pipeline(
        f"kernel_bin_fuse_{kind}_{kind}_{kind}" + ("_4" if four else ""),
        ggml.constants("BIN", number, 1, by_row, left[0] != right[0]))
    part = 4 if four else 1
    sizes = {**ggml.shape("0", left, a.itemsize),
             **ggml.shape("1", right, a.itemsize),
             **ggml.shape("", left, a.itemsize)}
    sizes |= {"ne00": left[0] // part, "ne10": right[0] // part,
              "ne0": left[0] // part}
    out = np.zeros_like(a)
    threads = 1
    while 2 * threads < left[0] // part and threads < 256:
        threads *= 2
    kernel({0: ggml.arguments("bin", **sizes), 1: a, 2: b, 3: out},
           groups=((left[0] // part, int(np.prod(left[1:]))) if by_row
                   else left[1:]), group=(1 if by_row else threads,))
    wide = np.tile(b, [x // y for x, y in zip(left[::-1], right[::-1])])
    check.equal(f"{function.__name__} {kind} of {left} and {right}",
                out.astype(np.float64),
                function(a.astype(np.float64), wide), tolerance, tolerance)


def _norm_threads(row):
    threads = 32
    while threads < row and threads < 1024:
        threads *= 2
    return min(threads, -(-row // 32) * 32)


def norm(random):
    for name in ("norm", "rms_norm"):
        for fused in ("", "_mul", "_mul_add"):
            for dimensions in ROWS:
                _norm(random, name, fused, dimensions)


def _norm(random, name, fused, dimensions):
    x = _uniform(random, dimensions)
    scale, shift = (_uniform(random, dimensions[:1]) for _ in range(2))
    part = 4 if dimensions[0] % 4 == 0 else 1
    row = dimensions[0] // part
    size = ggml.shape("0", dimensions, 4)
    values = {"ne00": dimensions[0], "ne00_t": row, "nb1": size["nb01"],
              "nb2": size["nb02"], "nb3": size["nb03"], "eps": 1e-5,
              "scale": 1.0}
    for axis in (1, 2, 3):
        values[f"nef{axis}"] = [dimensions[axis], 1, 1]
        values[f"nbf{axis}"] = [size[f"nb0{axis}"]] + [4 * dimensions[0]] * 2
    out = np.zeros_like(x)
    ggml.library("norm").pipeline(
        f"kernel_{name}{fused}_f32" + ("_4" if part == 4 else ""),
        ggml.constants("NORM", False))(
        {0: ggml.arguments("norm", **values), 1: x, 2: scale, 3: shift,
         4: out}, groups=dimensions[1:], group=(_norm_threads(row),),
        memory={0: 128})
    wide = x.astype(np.float64)
    if name == "norm":
        wide = wide - wide.mean(-1, keepdims=True)
    want = wide / np.sqrt((wide ** 2).mean(-1, keepdims=True) + 1e-5)
    if "mul" in fused:
        want = want * scale
    if "add" in fused:
        want = want + shift
    check.equal(f"{name}{fused} of {dimensions}", out.astype(np.float64),
                want, 1e-5, 1e-5)


def soft_max(random):
    for dimensions in ROWS:
        for kind in ("f32", "f16"):
            _soft_max(random, dimensions, kind)


def _soft_max(random, dimensions, kind):
    """Scaled, with a mask for all heads and planes."""
    x = _uniform(random, dimensions)
    mask = _uniform(random, dimensions[:2], dtype=TYPES[kind][0])
    left = ggml.shape("0", dimensions, 4)
    right = ggml.shape("1", dimensions[:2], mask.itemsize)
    values = {k: left[k] for k in ("ne00", "ne01", "ne02", "nb01", "nb02",
                                   "nb03")}
    values |= {k: right[k] for k in ("ne11", "ne12", "ne13", "nb11", "nb12",
                                     "nb13")}
    values |= {f"nb{i}": left[f"nb0{i}"] for i in (1, 2, 3)}
    values |= {"scale": .5, "m0": 1.0, "m1": 1.0, "n_head_log2": 1}
    four = dimensions[0] % 4 == 0
    threads, rows = 32, int(np.prod(dimensions[1:]))
    while threads < dimensions[0] // (4 if four else 1) and (
            threads * rows < 256):
        threads *= 2
    out = np.zeros_like(x)
    ggml.library("softmax").pipeline(
        f"kernel_soft_max_{kind}" + ("_4" if four else ""))(
        {0: ggml.arguments("soft_max", **values), 1: x, 2: mask, 3: x,
         4: out}, groups=dimensions[1:], group=(threads,), memory={0: 128})
    wide = .5 * x.astype(np.float64) + mask.astype(np.float64)
    e = np.exp(wide - wide.max(-1, keepdims=True))
    check.equal(f"soft_max of {dimensions}, mask {kind}",
                out.astype(np.float64), e / e.sum(-1, keepdims=True), 1e-4,
                1e-7)


def rope(random):
    for name in ("norm", "neox"):
        for kind, (dtype, _) in TYPES.items():
            for dimensions, turned in (((64, 3, 5, 1), 64),
                                       ((48, 2, 7, 2), 32), ((16, 1, 1, 1), 16)):
                _rope(random, name, kind, dtype, dimensions, turned)


def _rope(random, name, kind, dtype, dimensions, turned):
    x = _uniform(random, dimensions, dtype=dtype)
    at = random.integers(0, 30, dimensions[2]).astype(np.int32)
    out = np.zeros_like(x)
    values = {**ggml.shape("0", dimensions, x.itemsize),
              **ggml.shape("", dimensions, x.itemsize), "n_dims": turned,
              "freq_base": 1e4, "freq_scale": 1.0, "attn_factor": 1.0,
              "beta_fast": 32.0, "beta_slow": 1.0, "n_ctx_orig": 4096}
    ggml.library("rope").pipeline(
        f"kernel_rope_{name}_{kind}", ggml.constants("ROPE", False, False))(
        {0: ggml.arguments("rope", **values), 1: x, 2: at, 3: x, 4: out},
        groups=dimensions[1:], group=(min(1024, dimensions[0]),))
    half = turned // 2
    angle = at[:, None, None] * 1e4 ** (-np.arange(half) / half)
    wide, want = x.astype(np.float64), x.astype(np.float64)
    parts = ((slice(0, turned, 2), slice(1, turned, 2)) if name == "norm"
             else (slice(0, half), slice(half, turned)))
    a, b = wide[..., parts[0]], wide[..., parts[1]]
    want[..., parts[0]] = a * np.cos(angle) - b * np.sin(angle)
    want[..., parts[1]] = a * np.sin(angle) + b * np.cos(angle)
    check.equal(f"rope {name} {kind} of {dimensions}", out.astype(np.float64),
                want, 1e-3, 1e-4 if kind == "f32" else 4e-3)


# Where a block has its scales, as halves.
SCALES = {"q4_0": (0,), "q4_1": (0, 2), "q5_0": (0,), "q5_1": (0, 2),
          "q8_0": (0,), "q2_K": (80, 82), "q3_K": (108,), "q4_K": (0, 2),
          "q5_K": (0, 2), "q6_K": (208,), "iq4_nl": (0,), "iq4_xs": (0,),
          "iq2_xxs": (0,), "iq2_xs": (0,), "iq2_s": (0,), "iq3_xxs": (0,),
          "iq3_s": (0,), "iq1_s": (0,)}
FEW = ("q4_0", "q8_0", "q4_K", "q6_K")


def random_weights(random, quants, kind, rows, length):
    """Rows of weights of a type: their bytes and their values."""
    if kind in TYPES:
        values = _uniform(random, (length, rows), dtype=TYPES[kind][0])
        return values, values.astype(np.float64)
    if kind == "bf16":
        bits = _uniform(random, (length, rows)).view(np.uint32) >> 16
        return (bits.astype(np.uint16),
                (bits << 16).view(np.float32).astype(np.float64))
    named = quants.GGMLQuantizationType[kind.upper()]
    count, size = quants.GGML_QUANT_SIZES[named]
    blocks = random.integers(0, 256, (rows * length // count, size)).astype(
        np.uint8)
    for at in SCALES[kind]:
        scale = random.uniform(-.1, .1, (len(blocks), 1)).astype(np.float16)
        blocks[:, at:at + 2] = scale.view(np.uint8)
    values = quants.dequantize(blocks.reshape(rows, -1), named)
    return np.ascontiguousarray(blocks), values.astype(np.float64)


def reference():
    quants = sources.gguf_quants()
    if quants is None:
        check.skipped("no gguf: let pip reach its index")
        check.finish()
    return quants


def get_rows(random):
    quants = reference()
    for kind in (*TYPES, "bf16", *(SCALES if FULL else FEW)):
        for length, rows, count in ((256, 5, 3), (512, 9, 20), (1024, 2, 1)):
            weights, values = random_weights(random, quants, kind, rows, length)
            at = random.integers(0, rows, count).astype(np.int32)
            out = np.zeros((count, length), np.float32)
            parts = length if kind in (*TYPES, "bf16") else length // 16
            row = weights.nbytes // rows
            threads = min(parts, 1024)
            ggml.library("quantize").pipeline(f"kernel_get_rows_{kind}")(
                {0: ggml.arguments(
                    "get_rows", ne00t=parts, ne00=length, nb01=row,
                    nb02=row * rows, nb03=row * rows, ne10=count, nb10=4,
                    nb11=4 * count, nb12=4 * count, nb1=4 * length,
                    nb2=4 * length * count, nb3=4 * length * count),
                 1: weights, 2: at, 3: out},
                groups=(-(-parts // threads) * count,), group=(threads,))
            check.equal(f"get_rows {kind} of {count} in {rows}x{length}",
                        out.astype(np.float64), values[at], 2e-3, 2e-3)


def product_arguments(name, weights, rows, length, columns, **more):
    row = weights.nbytes // rows
    values = {"ne00": length, "ne02": 1, "nb01": row, "nb02": row * rows,
              "nb03": row * rows, "ne12": 1, "nb10": 4, "nb11": 4 * length,
              "nb12": 4 * length * columns, "nb13": 4 * length * columns,
              "ne0": rows, "ne1": columns, "r2": 1, "r3": 1, **more}
    return ggml.arguments(name, **values)


def _compare_product(title, out, values, x, rounding):
    want = x.astype(np.float64) @ values.T
    # The largest sum of absolute products bounds what rounding can do.
    scale = (np.abs(x).astype(np.float64) @ np.abs(values).T).max()
    check.equal(title, out.astype(np.float64), want, 0, rounding * scale)


def mul_mv(random):
    """A matrix by a vector or two."""
    quants = reference()
    for kind in (*TYPES, "bf16", *(SCALES if FULL else FEW)):
        for length, rows, columns in ((256, 7, 1), (768, 33, 2), (2048, 8, 1)):
            _mul_mv(random, quants, kind, length, rows, columns)
    for kind in TYPES:
        for length, rows in ((257, 5), (31, 40), (130, 9)):
            _mul_mv(random, quants, kind, length, rows, 1)


def _mul_mv(random, quants, kind, length, rows, columns):
    weights, values = random_weights(random, quants, kind, rows, length)
    x = _uniform(random, (length, columns))
    out = np.zeros((columns, rows), np.float32)
    plain, suffix = kind in (*TYPES, "bf16"), ""
    if plain and length < 32:
        groups_of, simdgroups, suffix = 32, 1, "_short"
    elif plain:
        groups_of, simdgroups = 2, min(4, -(-length // 128))
        suffix = "_4" if length % 4 == 0 else ""
    else:
        groups_of = ggml.macro("N_R0_" + kind.upper())
        simdgroups = ggml.macro("N_SG_" + kind.upper())
    by_group = groups_of * (1 if plain or kind == "q8_0" else simdgroups)
    name = f"kernel_mul_mv_{kind}_f32{suffix}"
    # The last threadgroup reads whole tiles of rows: in ggml's one large
    # buffer another tensor follows.
    groups = -(-rows // by_group)
    padded = mettle.Padded(
        weights, weights.nbytes // rows * (groups * by_group - rows))
    block = (weights.itemsize if plain else quants.GGML_QUANT_SIZES[
        quants.GGMLQuantizationType[kind.upper()]][1])
    ggml.library("mul_mv").pipeline(
        name, ggml.constants("MUL_MV", simdgroups, None, 1, 1, 1, False))(
        {0: product_arguments(
            "mul_mv", weights, rows, length, columns, ne01=rows,
            nb00=block, ne10=length, ne11=columns, nr0=groups_of),
         1: padded, 2: x, 3: out},
        groups=(groups, columns), group=(32, simdgroups),
        memory={0: 8192})
    _compare_product(f"{name} of {rows}x{length} by {columns}", out, values, x,
                     2e-6 if plain else 1e-5)


def mul_mm(random):
    """A matrix by many vectors, in simdgroup matrices of half."""
    kinds = (*TYPES, "bf16", *SCALES) if FULL else ("f32", "f16", "q4_0",
                                                    "q6_K")
    for kind in kinds:
        for length, rows, columns in ((256, 64, 32), (512, 70, 45),
                                      (256, 130, 9)):
            edges = rows % 64 != 0 or columns % 32 != 0
            _mul_mm(random, kind, (length, rows, columns), False, edges,
                    (32, 64), 8192 if edges else 6144)


def tensor_tile():
    """Columns and rows of the result that a threadgroup makes."""
    return [ggml.macro("SZ_SIMDGROUP") * ggml.macro(f"N_MM_BLOCK_{x}")
            * ggml.macro(f"N_MM_SIMD_GROUP_{x}") for x in "XY"]


def mul_mm_tensors(random):
    """The same by Metal 4's matmul2d, whose result store() clips."""
    tile = tensor_tile()
    memory = tile[1] * ggml.macro("N_MM_NK") * 16 * 2
    kinds = (*TYPES, "bf16", *SCALES) if FULL else ("f16", "q6_K")
    for kind in kinds:
        for shape in ((512, 70, 45), (256, 130, 129)):
            _mul_mm(random, kind, shape, True, True, tile, memory)
    if "f16" in kinds:  # what does not fill a step along the sum
        _mul_mm(random, "f16", (45, 70, 33), True, True, tile, memory)


def _mul_mm(random, kind, shape, tensors, edges, tile, memory):
    length, rows, columns = shape
    weights, values = random_weights(random, reference(), kind, rows, length)
    x = _uniform(random, (length, columns))
    guard = 64
    out = np.full(columns * rows + guard, 7, np.float32)
    name = f"kernel_mul_mm_{kind}_f32"
    ggml.library("mul_mm", tensors).pipeline(
        name, ggml.constants("MUL_MM", length % 32 != 0, edges, 1, 1, 1, 1))(
        {0: product_arguments("mul_mm", weights, rows, length, columns),
         1: weights, 2: x, 3: out},
        groups=(-(-columns // tile[0]), -(-rows // tile[1])), group=(32, 4),
        memory={0: memory})
    title = f"{name} of {rows}x{length} by {columns}{' in tensors' * tensors}"
    _compare_product(title, out[:-guard].reshape(columns, rows), values, x,
                     2e-3 if kind == "bf16" else 5e-4)
    check.equal(f"{title} ends there", out[-guard:], np.full(guard, 7.0), 0, 0)


FAMILIES = {"compiles": compiles, "unary": unary, "binary": binary,
            "norm": norm, "soft_max": soft_max, "rope": rope,
            "get_rows": get_rows, "mul_mv": mul_mv, "mul_mm": mul_mm,
            "mul_mm_tensors": mul_mm_tensors}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(FAMILIES))
        return
    if ggml.ROOT is None:
        check.skipped("no ggml: let pip reach its index, or set "
                      "METTLE_CORPUS_GGML to a checkout")
        check.finish()
    for name in sys.argv[1:] or FAMILIES:
        try:
            with np.errstate(all="ignore"):
                FAMILIES[name](np.random.default_rng(3))
        except mettle.Error as error:
            check.failed(f"{name}: {error}")
    check.finish()


if __name__ == "__main__":
    main()
