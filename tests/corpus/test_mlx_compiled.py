#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_mlx_compiled.py --list | FAMILY...: MLX's kernels as its package ships
# them, compiled to a metallib by Apple's compiler: 500 of them translated, and
# some of each family against NumPy. Ends with 77 where the package cannot be
# had. "all" translates all 17,248.
import ctypes
import functools
import math
import os
import random
import sys

import numpy as np

import check
import mettle
import mlx_kernels
import mlx_shipped
import sources
import test_mlx

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


# Families of test_mlx.py on the kernels that are shipped: how many those are,
# and what must leave the same bytes: the same kernel compiled here from MLX's
# sources, or in tier T0.
SHIPPED = {"softmax": (6, "source"), "logsumexp": (6, "source"),
           "gemm": (7, "source"), "rms_norm": (6, "T0"),
           "random_bits": (2, "T0"), "layer_norm": (6, ""), "rope": (6, ""),
           "sort": (24, ""), "gemv": (9, ""), "attention": (6, ""),
           "fft": (3, ""), "search_sorted": (12, ""), "quantized": (12, "")}


def shipped(name):
    count, beside = SHIPPED[name]
    used = set()
    mlx_shipped.run(open_library(), test_mlx.FAMILIES[name], used, beside)
    check.equal(f"kernels of {name}", np.array(len(used)), np.array(count))


FAMILIES = {"translated": translate_sample, "unary": unary, "binary": binary,
            "copies": copies,
            **{name: functools.partial(shipped, name) for name in SHIPPED}}
# By hand: all 17,248.
BY_HAND = {"all": translate_all}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(FAMILIES))
        return
    for name in sys.argv[1:] or FAMILIES:
        if find_library() is None:
            check.skipped(f"{name}: no MLX: let pip reach its index")
            continue
        try:
            {**FAMILIES, **BY_HAND}[name]()
        except mettle.Error as error:
            check.failed(f"{name}: {error}")
    check.finish()


if __name__ == "__main__":
    main()
