#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_mlx_compiled.py --list | FAMILY...: MLX's kernels as its package ships
# them, compiled to a metallib by Apple's compiler: 500 of them translated, and
# some of each family against NumPy. Ends with 77 where the package cannot be
# had. "all" translates all 17,248.
import ctypes
import math
import os
import random
import sys

import numpy as np

import check
import mettle
import mlx_kernels
import sources

LIBRARY = os.path.join("mlx", "lib", "mlx.metallib")
COUNT, SAMPLE = 17248, 500
SIZES = (1, 31, 1000, 4099)
F32 = np.float32


def find_library():
    wheel = sources._download(sources.MLX_WHEEL, "--platform",
                              "macosx_14_0_arm64")
    return wheel and os.path.join(
        sources._unpacked(wheel, LIBRARY, "-metallib"), LIBRARY)


def open_library():
    device = mlx_kernels.device()
    return mettle.Library(device, mettle._make(
        "mtl_library_create_from_file", device.handle, find_library().encode()))


def translate(library, names):
    for name in names:
        infos, count = ctypes.c_void_p(), ctypes.c_size_t()
        try:
            mettle._call("mtl_library_function_constants", library.handle,
                         name.encode(), ctypes.byref(infos),
                         ctypes.byref(count))
            check.passed()
        except mettle.Error as error:
            check.failed(f"{name}: {error}")


def translate_sample():
    library = open_library()
    names = library.names()
    check.equal("functions", np.array(len(names)), np.array(COUNT))
    translate(library, random.Random(44).sample(names, SAMPLE))


def translate_all():
    library = open_library()
    translate(library, library.names())


UNARY = {
    "Abs": np.abs, "ArcCos": np.arccos, "ArcCosh": lambda x:
    np.arccosh(x + 1), "ArcSin": np.arcsin, "ArcSinh": np.arcsinh,
    "ArcTan": np.arctan, "ArcTanh": np.arctanh, "Ceil": np.ceil,
    "Cos": np.cos, "Cosh": np.cosh, "Exp": np.exp, "Expm1": np.expm1,
    "Floor": np.floor, "Log": np.log, "Log2": np.log2, "Log10": np.log10,
    "Log1p": np.log1p, "Negative": np.negative,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Erf": np.vectorize(math.erf, otypes=[float]), "Sign": np.sign,
    "Sin": np.sin, "Sinh": np.sinh, "Square": np.square, "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1 / np.sqrt(x), "Tan": np.tan, "Tanh": np.tanh,
    "Round": np.rint,
}


# MLX's own expm1f takes ln 2 as a number of 15 bits, off by 1.4e-6.
COARSE = {"Expm1": 5e-6}


def unary():
    """One element a thread, of numbers between 0 and 1."""
    library, rng = open_library(), np.random.default_rng(1)
    for name, function in UNARY.items():
        kernel = library.pipeline(f"v_{name}float32float32")
        for size in SIZES:
            x = rng.uniform(0.01, 0.95, size).astype(F32)
            x = x + F32(1) if name == "ArcCosh" else x
            want = (np.arccosh if name == "ArcCosh" else function)(
                x.astype(np.float64))
            out = np.zeros_like(x)
            kernel({0: x, 1: out, 2: np.uint32(size)}, (min(size, 256), 1, 1),
                   grid=(size, 1, 1))
            check.equal(name, out.astype(np.float64), want,
                        COARSE.get(name, 2e-6), 2e-7)


BINARY = {
    "Add": np.add, "Subtract": np.subtract, "Multiply": np.multiply,
    "Divide": np.divide, "Maximum": np.maximum, "Minimum": np.minimum,
    "Power": np.power, "ArcTan2": np.arctan2, "LogAddExp": np.logaddexp,
    "Remainder": np.mod,
}
COMPARISONS = {"Equal": np.equal, "NotEqual": np.not_equal,
               "Greater": np.greater, "GreaterEqual": np.greater_equal,
               "Less": np.less, "LessEqual": np.less_equal}
INTEGERS = ("Add", "Subtract", "Multiply", "Maximum", "Minimum")


def binary():
    library, rng = open_library(), np.random.default_rng(2)

    def run(name, kind, function, a, b, result, *tolerance):
        kernel = library.pipeline(f"vv_{name}{kind}")
        out = np.zeros(a.size, result)
        kernel({0: a, 1: b, 2: out, 3: np.uint32(a.size)},
               (min(a.size, 256), 1, 1), grid=(a.size, 1, 1))
        check.equal(f"{name}{kind}", out, function(a, b).astype(result),
                    *tolerance)
    for size in SIZES:
        a = rng.uniform(0.1, 4, size).astype(F32)
        b = rng.uniform(0.1, 4, size).astype(F32)
        for name, function in BINARY.items():
            run(name, "float32", function, a, b, F32, 3e-5, 2e-6)
        for name, function in COMPARISONS.items():
            run(name, "float32", function, np.rint(a), np.rint(b), np.bool_)
        for kind in ("int32", "uint8", "int64", "uint16"):
            c = rng.integers(0, 120, size).astype(kind)
            d = rng.integers(0, 120, size).astype(kind)
            for name in INTEGERS:
                run(name, kind, BINARY[name], c, d, c.dtype)


def copies():
    library, rng = open_library(), np.random.default_rng(3)
    for source, target in (("float32", "float16"), ("float16", "float32"),
                           ("int8", "float32"), ("uint16", "float32"),
                           ("float32", "int32"), ("uint8", "float32")):
        kernel = library.pipeline(f"v_copy{source}{target}")
        for size in SIZES:
            x = rng.uniform(0, 100, size).astype(source)
            out = np.zeros(size, target)
            kernel({0: x, 1: out, 2: np.uint32(size)}, (min(size, 256), 1, 1),
                   grid=(size, 1, 1))
            check.equal(f"{source} to {target}", out, x.astype(target))


def _softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rows():
    library, rng = open_library(), np.random.default_rng(4)
    for count, length in ((1, 1), (3, 31), (5, 1000), (2, 4096)):
        x = rng.standard_normal((count, length)).astype(F32)
        wide = x.astype(np.float64)
        for form, group in (("block", -(-length // 128) * 32),
                            ("looped", 1024)):
            kernel = library.pipeline(f"{form}_softmax_float32")
            out = np.zeros_like(x)
            kernel({0: x, 1: out, 2: np.int32(length)}, (group, 1, 1),
                   groups=(count, 1, 1))
            check.equal(f"{form}_softmax", out, _softmax(wide).astype(F32),
                        2e-6, 1e-9)
        w = rng.standard_normal(length).astype(F32)
        out = np.zeros_like(x)
        library.pipeline("rmsfloat32")(
            {0: x, 1: w, 2: out, 3: F32(1e-5), 4: np.uint32(length),
             5: np.uint32(1)}, (-(-length // 128) * 32, 1, 1),
            groups=(count, 1, 1))
        want = wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + 1e-5) * w
        check.equal("rms", out, want.astype(F32), 3e-6, 1e-7)


GEMM = "steel_gemm_fused_{}_float32_float32_bm64_bn64_bk16_wm2_wn2"


def products():
    library, rng = open_library(), np.random.default_rng(5)
    for form in ("nn", "nt"):
        for m, n, k in ((128, 128, 64), (100, 77, 50), (33, 190, 17)):
            a = rng.standard_normal((m, k)).astype(F32)
            b = rng.standard_normal((k, n) if form == "nn" else (n, k))
            b, out = b.astype(F32), np.zeros((m, n), F32)
            tiles = (-(-n // 64), -(-m // 64), 1)
            params = np.array([m, n, k, k, b.shape[1], n, *tiles[:2]],
                              np.int32).tobytes() + bytes(24) + np.array(
                                  [0, k // 16, 1, 0], np.int32).tobytes()
            constants = {10: np.bool_(False), 100: np.bool_(False),
                         110: np.bool_(False), 200: np.bool_(m % 64 == 0),
                         201: np.bool_(n % 64 == 0),
                         202: np.bool_(k % 16 == 0)}
            kernel = library.pipeline(GEMM.format(form), constants)
            kernel({0: a, 1: b, 3: out, 4: params}, (32, 2, 2), groups=tiles)
            want = a.astype(np.float64) @ (b if form == "nn" else b.T)
            check.equal(f"gemm {form} {m}x{n}x{k}", out, want.astype(F32),
                        1e-5, 1e-5)


FAMILIES = {"translated": translate_sample, "unary": unary, "binary": binary,
            "copies": copies, "rows": rows, "products": products}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(FAMILIES))
        return
    for name in sys.argv[1:] or FAMILIES:
        if find_library() is None:
            check.skipped(f"{name}: no MLX: let pip reach its index")
            continue
        try:
            {**FAMILIES, "all": translate_all}[name]()
        except mettle.Error as error:
            check.failed(f"{name}: {error}")
    check.finish()


if __name__ == "__main__":
    main()
