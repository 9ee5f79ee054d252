# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_elementwise.py: MLX's unary, binary, ternary, copy and arange kernels
# against NumPy.
import math

import numpy as np

import check
import mlx_kernels as mlx
from elements import (BOOL, BY_NAME, COMPLEX64, FEW_FLOATS, FLOATS, FLOAT32,
                      FULL, INTEGERS)

SIZES = (1, 31, 1000, 4099)
# Threadgroups of whole simdgroups have code of their own, and so have others.
# Where there are many operations, each is tried in one code by one type and in
# the other by the next, unless METTLE_CORPUS_FULL is set.
PARTS, WHOLES = (1, 31, 1000), (4096,)
ODD = ("bfloat16", "int64", "bool_")


def _sizes(operation, element):
    if FULL or operation in ("Abs", "Add"):
        return SIZES
    turn = sum(operation.encode()) + (element.name in ODD)
    return WHOLES if turn % 2 else PARTS


UNARY = {
    "Abs": np.abs, "ArcCos": np.arccos, "ArcCosh": np.arccosh,
    "ArcSin": np.arcsin, "ArcSinh": np.arcsinh, "ArcTan": np.arctan,
    "ArcTanh": np.arctanh, "Ceil": np.ceil, "Cos": np.cos, "Cosh": np.cosh,
    "Exp": np.exp, "Expm1": np.expm1, "Floor": np.floor, "Log": np.log,
    "Log2": np.log2, "Log10": np.log10, "Log1p": np.log1p,
    "Negative": np.negative, "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Sign": np.sign, "Sin": np.sin, "Sinh": np.sinh, "Square": np.square,
    "Sqrt": np.sqrt, "Rsqrt": lambda x: 1 / np.sqrt(x), "Tan": np.tan,
    "Tanh": np.tanh, "Round": np.rint, "Erf": np.vectorize(math.erf),
    "ErfInv": lambda x: _erf_inverse(x), "BitwiseInvert": np.invert,
    "LogicalNot": np.logical_not, "Conjugate": np.conjugate,
}
ONLY_OTHERS = ("BitwiseInvert", "LogicalNot", "Conjugate")
INTEGER_UNARY = ("Abs", "Negative", "Sign", "Square", "Ceil", "Floor",
                 "BitwiseInvert")
BOOL_UNARY = ("LogicalNot", "Abs", "Ceil", "Floor", "Sign", "Square")
COMPLEX_UNARY = ("Abs", "ArcCos", "ArcSin", "ArcTan", "Conjugate", "Cos",
                 "Cosh", "Exp", "Log", "Log1p", "Log2", "Log10", "Negative",
                 "Sign", "Sin", "Sinh", "Square", "Sqrt", "Rsqrt", "Tan",
                 "Tanh", "Round")
DOMAINS = {"ArcCosh": (1, 4), "ArcSin": (-1, 1), "ArcCos": (-1, 1),
           "ArcTanh": (-.9, .9), "Log": (.01, 9), "Log2": (.01, 9),
           "Log10": (.01, 9), "Log1p": (-.9, 9), "Sqrt": (0, 9),
           "Rsqrt": (.01, 9), "Tan": (-1.5, 1.5), "ErfInv": (-.95, .95)}


def _erf_inverse(x):
    """By halving: erf rises from -1 to 1 between -6 and 6."""
    low, high = np.full(x.shape, -6.0), np.full(x.shape, 6.0)
    for _ in range(60):
        middle = (low + high) / 2
        below = UNARY["Erf"](middle) < x
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low


def _tolerance(element, units=8):
    return units * element.digits


def _unary_cases():
    for element in FEW_FLOATS:
        yield from ((name, element) for name in UNARY
                    if name not in ONLY_OTHERS)
    for element in INTEGERS:
        yield from ((name, element) for name in INTEGER_UNARY)
    yield from ((name, BOOL) for name in BOOL_UNARY)
    yield from ((name, COMPLEX64) for name in COMPLEX_UNARY)


def _has_all_layouts(name, element):
    """Layouts and operations multiply: each is tried with one of the other."""
    return (FULL and element is FLOAT32) or name in ("Abs", "Add")


def unary(random):
    cases = list(_unary_cases())
    instances = []
    for name, element in cases:
        t = element.metal
        instances.append((f"v_{name}_{element.name}", "unary_v", t, t, name))
        if _has_all_layouts(name, element):
            instances.append((f"g_{name}_{element.name}", "unary_g", t, t,
                              name, 1, "int"))
    library = mlx.library(["utils.h", "unary_ops.h", "unary.h"], instances)
    for name, element in cases:
        _unary(random, library, name, element)


def _unary(random, library, name, element):
    kernel = library.pipeline(f"v_{name}_{element.name}")
    per_thread = 8 // np.dtype(element.dtype).itemsize
    low, high = DOMAINS.get(name, (-4, 4))
    for size in _sizes(name, element):
        x = element.random(random, size, low, high)
        out = element.zeros(size)
        threads = -(-size // per_thread)
        kernel({0: element.pack(x), 1: out, 2: np.uint32(size)},
               grid=(threads,), group=(min(1024, threads),))
        _compare_unary(f"v_{name} of {size} {element.name}", name, element,
                       out, x)
    if not _has_all_layouts(name, element):
        return
    kernel = library.pipeline(f"g_{name}_{element.name}")
    x = element.random(random, (3, 7, 5), low, high)
    view = x.transpose(2, 0, 1)
    out = element.zeros(*view.shape)
    kernel({0: element.pack(x), 1: out, 2: ints(view.shape),
            3: mlx.strides(view).tobytes(), 4: np.array([3], np.int32)},
           grid=(7, 3, 5), group=mlx.block(7, 3, 5))
    _compare_unary(f"g_{name} of a transposed {element.name}", name, element,
                   out, view)


def _complex_wanted(name, x):
    """MLX's magnitude and sign of a complex number."""
    wide = x.astype(np.complex128)
    if name == "Sign":
        return wide / np.abs(wide)
    return UNARY[name](wide)


def _compare_unary(title, name, element, out, x):
    if element.is_complex:
        # Parts of one number may cancel: MLX's square root, and what it makes
        # of it, subtract the real part from the magnitude before the root.
        want = _complex_wanted(name, x).astype(np.complex128)
        absolute = 2e-3 if name in ("Sqrt", "ArcSin", "ArcCos") else 2e-5
        return check.equal(title, out, want, 2e-5, absolute)
    if not element.is_float:
        want = (x if name in ("Abs", "Ceil", "Floor", "Sign", "Square")
                and element is BOOL else UNARY[name](x)).astype(element.dtype)
        return check.equal(title, out, want)
    want = UNARY[name](x.astype(np.float64))
    # MLX's expm1 takes log(2) to 19 bits only; its erfinv is a polynomial.
    relative = max(_tolerance(element),
                   {"Expm1": 2e-5, "ErfInv": 1e-5}.get(name, 0))
    return check.equal(title, element.unpack(out).astype(np.float64), want,
                       relative, relative)


def ints(values):
    return mlx.ints(*values)


def _remainder(a, b):
    return np.mod(a, b)


BINARY = {"Add": np.add, "Subtract": np.subtract, "Multiply": np.multiply,
          "Divide": np.divide, "Maximum": np.maximum, "Minimum": np.minimum,
          "Power": np.power, "Remainder": _remainder}
FLOAT_BINARY = {**BINARY, "LogAddExp": np.logaddexp, "ArcTan2": np.arctan2}
COMPARISONS = {"Equal": np.equal, "NotEqual": np.not_equal, "Less": np.less,
               "LessEqual": np.less_equal, "Greater": np.greater,
               "GreaterEqual": np.greater_equal}
BITS = {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or,
        "BitwiseXor": np.bitwise_xor, "LeftShift": np.left_shift,
        "RightShift": np.right_shift}


def _integer_divide(a, b):
    return np.trunc(a.astype(np.float64) / b).astype(a.dtype)


# What else only bool, or only complex numbers have.
BOOL_BINARY = {"LogicalAnd": np.logical_and, "LogicalOr": np.logical_or,
               "BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or,
               "BitwiseXor": np.bitwise_xor, "Add": np.logical_or,
               "Multiply": np.logical_and, "Maximum": np.logical_or,
               "Minimum": np.logical_and}
COMPLEX_BINARY = {name: BINARY[name] for name in
                  ("Add", "Subtract", "Multiply", "Divide", "Power",
                   "Maximum", "Minimum")}


def _same(a, b):
    return (a == b) | (np.isnan(a) & np.isnan(b))


def _binary_cases():
    for element in (*FEW_FLOATS, COMPLEX64):
        yield "NaNEqual", element, BOOL, _same
    for name, function in BOOL_BINARY.items():
        yield name, BOOL, BOOL, function
    for name, function in COMPLEX_BINARY.items():
        yield name, COMPLEX64, COMPLEX64, function
    for element in (BOOL, COMPLEX64):
        for name, function in COMPARISONS.items():
            yield name, element, BOOL, function
    for element in FEW_FLOATS:
        for name, function in FLOAT_BINARY.items():
            yield name, element, element, function
        for name, function in COMPARISONS.items():
            yield name, element, BOOL, function
    for element in INTEGERS:
        for name, function in {**BINARY, **BITS}.items():
            if name == "Divide":
                function = _integer_divide
            yield name, element, element, function
        for name, function in COMPARISONS.items():
            yield name, element, BOOL, function


def binary(random):
    cases = list(_binary_cases())
    instances = []
    for name, element, out, _ in cases:
        types = (element.metal, out.metal, name)
        key = f"{name}_{element.name}"
        instances.append((f"vv_{key}", "binary_vv", *types))
        if _has_all_layouts(name, element):
            instances += [(f"vs_{key}", "binary_vs", *types),
                          (f"g2_{key}", "binary_g_nd2", *types, "int")]
    library = mlx.library(["utils.h", "binary_ops.h", "binary.h"], instances)
    for case in cases:
        _binary(random, library, *case)


def _operands(random, name, element, shape):
    """Operands whose result the type has and C defines."""
    a = element.random(random, shape, -9, 9)
    b = element.random(random, shape, -9, 9)
    if name in ("LeftShift", "RightShift"):
        b = np.abs(b) % 7
    elif name == "Power":
        if element.is_complex:
            b = element.random(random, shape, -2, 2)
        elif element.is_float:
            a = np.abs(a) + element.dtype(1) if element.name != "bfloat16" \
                else np.abs(a)
            b = element.random(random, shape, -2, 2)
        else:
            a, b = a % 3, np.abs(b) % 4
    elif name in ("Divide", "Remainder"):
        b = np.where(np.abs(b) < 1, 3, b)
    if name in COMPARISONS or name == "NaNEqual":
        b = np.where(random.random(shape) < .3, a, b)
    if name == "NaNEqual":
        a, b = (np.where(random.random(shape) < .3, np.nan, x).astype(x.dtype)
                for x in (a, b))
    return tuple(element.unpack(element.pack(x)) for x in (a, b))


def _binary(random, library, name, element, out_element, function):
    per_thread = 8 // np.dtype(element.dtype).itemsize

    def compare(title, out, a, b):
        if out_element.is_complex:
            want = function(a.astype(np.complex128), b.astype(np.complex128))
            scale = np.abs(want).max()
            return check.equal(title, out, want, 2e-5, 1e-6 * scale)
        if not element.is_float or out_element is BOOL:
            with np.errstate(all="ignore"):
                want = function(a, b).astype(out_element.dtype)
            return check.equal(title, out, want)
        want = function(a.astype(np.float64), b.astype(np.float64))
        # A remainder next to a multiple may fall on either side of it.
        relative = _tolerance(element, 16)
        return check.equal(title, element.unpack(out).astype(np.float64), want,
                           relative, relative)

    for size in _sizes(name, element):
        a, b = _operands(random, name, element, size)
        threads = -(-size // per_thread)
        for kind in ("vv", "vs")[:1 + _has_all_layouts(name, element)]:
            second = b if kind == "vv" else b[:1]
            out = out_element.zeros(size)
            library.pipeline(f"{kind}_{name}_{element.name}")(
                {0: element.pack(a), 1: element.pack(second), 2: out,
                 3: np.uint32(size)},
                grid=(threads,), group=(min(1024, threads),))
            compare(f"{kind}_{name} of {size} {element.name}", out, a, second)
    if not _has_all_layouts(name, element):
        return
    a, b = _operands(random, name, element, (13, 37))
    b = b.reshape(37, 13)
    out = out_element.zeros(13, 37)
    library.pipeline(f"g2_{name}_{element.name}")(
        {0: element.pack(a), 1: element.pack(b), 2: out,
         3: mlx.strides(a).tobytes(), 4: mlx.strides(b.T).tobytes()},
        grid=(37, 13), group=mlx.block(37, 13))
    compare(f"g2_{name} with a transposed {element.name}", out, a, b.T)


def binary_two(random):
    """Quotients and remainders, rounded down."""
    elements = (*FLOATS, *INTEGERS)
    library = mlx.library(
        ["utils.h", "binary_ops.h", "binary_two.h"],
        [(f"{kind}_{e.name}", f"binary_{template}", e.metal, e.metal,
          "DivMod", *rest) for e in elements
         for kind, template, rest in (("vv", "vv", (1,)), ("vs", "vs", (1,)),
                                      ("g2", "g_nd2", ("int",)))])
    for e in elements:
        for kind in ("vv", "vs"):
            for size in SIZES:
                a, b = _operands(random, "Divide", e, size)
                b = b[:1] if kind == "vs" else b
                out = e.zeros(size), e.zeros(size)
                library.pipeline(f"{kind}_{e.name}")(
                    {0: e.pack(a), 1: e.pack(b), 2: out[0], 3: out[1],
                     4: np.uint32(size)}, grid=(size,),
                    group=(min(size, 1024),))
                _compare_two(f"{kind} DivMod of {size} {e.name}", e, out, a, b)
        a, b = _operands(random, "Divide", e, (37, 13))
        out = e.zeros(13, 37), e.zeros(13, 37)
        library.pipeline(f"g2_{e.name}")(
            {0: e.pack(a), 1: e.pack(b), 2: out[0], 3: out[1],
             4: mlx.strides(a.T).tobytes(), 5: mlx.strides(b.T).tobytes()},
            grid=(37, 13), group=mlx.block(37, 13))
        _compare_two(f"g2 DivMod of {e.name}", e, out, a.T, b.T)


def _compare_two(title, e, out, a, b):
    a, b = (x.astype(np.float64) for x in (a, b))
    b = np.broadcast_to(b, a.shape)
    quotient, rest = (e.unpack(x).astype(np.float64) for x in out)
    # A quotient next to a whole number may round to it.
    near = np.abs(a / b - np.rint(a / b)) < 4 * e.digits * np.abs(a / b) + (
        1e-30 if e.is_float else -1)
    check.equal(f"{title}: quotient", np.where(near, 0, quotient),
                np.where(near, 0, np.floor(a / b)))
    check.equal(f"{title}: remainder", np.where(near, 0, rest),
                np.where(near, 0, np.mod(a, b)), 8 * e.digits, 8 * e.digits)


FP8 = np.array([(-1) ** (c >> 7) * (
    (c & 7) * 2.0 ** -9 if c & 0x78 == 0
    else (8 + (c & 7)) * 2.0 ** ((c >> 3 & 15) - 10)) for c in range(256)])


def fp8(random):
    """To and from eight bits: 4 of exponent, 3 of mantissa, no infinities."""
    library = mlx.library(["utils.h", "fp8.h", "unary_ops.h", "unary.h"], [
        (f"{op}_{e.name}", "unary_v", *types, op, 1)
        for e in FLOATS for op, types in (
            ("ToFP8", (e.metal, "uint8_t")), ("FromFP8", ("uint8_t", e.metal)))
    ])
    codes = np.arange(256).astype(np.uint8)
    numbers = codes[codes & 127 != 127]  # the others are no numbers
    for e in FLOATS:
        out = e.zeros(256)
        library.pipeline(f"FromFP8_{e.name}")(
            {0: codes, 1: out, 2: np.uint32(256)}, grid=(256,), group=(256,))
        check.equal(f"FromFP8 to {e.name}", e.unpack(out)[numbers],
                    FP8[numbers].astype(np.float32))
        for size in SIZES:
            x = e.random(random, size, -500, 500)
            x[::3] = e.unpack(e.pack(x[::3] / 4096))
            out = np.zeros(size, np.uint8)
            library.pipeline(f"ToFP8_{e.name}")(
                {0: e.pack(x), 1: out, 2: np.uint32(size)}, grid=(size,),
                group=(min(size, 1024),))
            nearest = np.abs(FP8[numbers] - x.astype(np.float64)[:, None]
                             ).min(1)
            check.equal(f"ToFP8 of {size} {e.name}: distance",
                        np.abs(FP8[out] - x.astype(np.float64)), nearest)


def ternary(random):
    elements = (*FLOATS, *INTEGERS, BOOL, COMPLEX64)
    library = mlx.library(
        ["utils.h", "ternary_ops.h", "ternary.h"],
        [(f"v_{e.name}", "ternary_v", e.metal, "Select", "false", "false")
         for e in elements])
    for element in elements:
        per_thread = 8 // np.dtype(element.dtype).itemsize
        for size in SIZES:
            a = BOOL.random(random, size)
            b, c = (element.pack(element.random(random, size))
                    for _ in range(2))
            out = element.zeros(size)
            threads = -(-size // per_thread)
            library.pipeline(f"v_{element.name}")(
                {0: a, 1: b, 2: c, 3: out, 4: np.uint32(size)},
                grid=(threads,), group=(min(1024, threads),))
            check.equal(f"Select of {size} {element.name}", out,
                        np.where(a, b, c))


def copy(random):
    elements = (*FLOATS, *INTEGERS, BOOL, COMPLEX64)
    pairs = [(a, b) for a in elements for b in (elements if FULL else (
        FLOAT32, BY_NAME["bfloat16"], BY_NAME["uint8"]))
             if a is not COMPLEX64 or b in (COMPLEX64, FLOAT32)]
    instances = []
    for a, b in pairs:
        key = f"{a.name}_{b.name}"
        instances += [
            (f"v_{key}", "copy_v", a.metal, b.metal),
            (f"g3_{key}", "copy_g_nd3", a.metal, b.metal, "int"),
            (f"gg2_{key}", "copy_gg_nd2", a.metal, b.metal, "int")]
    library = mlx.library(["utils.h", "copy.h"], instances)
    for a, b in pairs:
        _copy(random, library, a, b)


def _copy(random, library, source, target):
    key = f"{source.name}_{target.name}"
    low = 0 if target.name.startswith("uint") else -99

    def converted(x):
        if x.dtype == np.complex64 and not target.is_complex:
            x = x.real
        return target.unpack(target.pack(x.astype(
            np.float32 if target.name == "bfloat16" else target.dtype)))

    for size in _sizes(source.name, target):
        x = source.random(random, size, low, 99)
        out = target.zeros(size)
        threads = -(-size // (8 // np.dtype(target.dtype).itemsize))
        library.pipeline(f"v_{key}")(
            {0: source.pack(x), 1: out, 2: np.uint32(size)}, grid=(threads,),
            group=(min(1024, threads),))
        check.equal(f"copy_v of {size}, {key}", target.unpack(out),
                    converted(x))
    x = source.random(random, (5, 9, 3), low, 99)
    view = x.transpose(1, 2, 0)
    out = target.zeros(*view.shape)
    library.pipeline(f"g3_{key}")(
        {0: source.pack(x), 1: out, 3: mlx.strides(view).tobytes()},
        grid=(5, 3, 9), group=mlx.block(5, 3, 9))
    check.equal(f"copy_g3, {key}", target.unpack(out), converted(view))
    x = source.random(random, (11, 33), low, 99)
    out = target.zeros(33, 11)
    library.pipeline(f"gg2_{key}")(
        {0: source.pack(x), 1: out, 3: mlx.strides(x).tobytes(),
         4: mlx.strides(out.T).tobytes()},
        grid=(33, 11), group=mlx.block(33, 11))
    check.equal(f"copy_gg2, {key}", target.unpack(out), converted(x.T))


def arange(random):
    elements = (*FLOATS, *INTEGERS)
    library = mlx.library(["utils.h", "arange.h"],
                          [(f"arange{e.name}", "arange", e.metal)
                           for e in elements])
    for element in elements:
        for size, start, step in ((1, 3, 1), (33, 2, 3), (117, 7, 1)):
            out = element.zeros(size)
            library.pipeline(f"arange{element.name}")(
                {0: element.pack([start]).tobytes(),
                 1: element.pack([step]).tobytes(), 2: out},
                grid=(size,), group=(min(size, 1024),))
            want = start + step * np.arange(size)
            if element.is_float:
                want = element.unpack(element.pack(want))
            check.equal(f"arange of {size} {element.name}",
                        element.unpack(out), want.astype(
                            element.unpack(out).dtype))


FAMILIES = {"unary": unary, "binary": binary, "ternary": ternary,
            "binary_two": binary_two, "fp8": fp8,
            "copy": copy, "arange": arange}
