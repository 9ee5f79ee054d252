# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# programs.py: functions of MLIR, each with what NumPy makes of its arguments:
# elementwise, reductions, products, convolutions, softmax, transposes, gathers
# and layouts, of several types and of shapes that no threadgroup divides.
import math
from collections import namedtuple

import numpy as np

Program = namedtuple("Program", "name mlir inputs expect relative absolute")

ALL = []
DTYPES = {"f32": np.float32, "f16": np.float16, "i1": np.bool_, "i8": np.int8,
          "i16": np.int16, "i32": np.int32, "i64": np.int64}
# Metal's fast functions: MSL spec, table 8.2, with room for their sums.
FAST = 2.0 ** -18
F16 = 2.0 ** -9


def tensor(shape, element):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def uniform(shape, element, low=-4, high=4):
    """Makes an argument of random values."""
    def make(random):
        if element.startswith("f"):
            return random.uniform(low, high, shape).astype(DTYPES[element])
        return random.integers(low, high, shape, endpoint=True).astype(
            DTYPES[element])
    return make


def add(name, arguments, result, body, inputs, expect, relative=0.0,
        absolute=0.0):
    """arguments: types of %0, %1, ...; body ends with the value %r."""
    signature = ", ".join(f"%arg{i}: {t}" for i, t in enumerate(arguments))
    ALL.append(Program(
        name, f"func.func @{name}({signature}) -> {result} {{\n{body}\n"
        f"  return %r : {result}\n}}\n", inputs, expect, relative, absolute))


def unary(name, op, expect, shape=(7, 33), element="f32", low=-4, high=4,
          relative=FAST, absolute=2.0 ** -20):
    kind = tensor(shape, element)
    add(name, [kind], kind, f"  %r = {op} %arg0 : {kind}",
        [uniform(shape, element, low, high)], expect, relative, absolute)


def binary(name, op, expect, shape=(129,), element="i32", low=-1000,
           high=1000, second=None, relative=0.0, absolute=0.0):
    kind = tensor(shape, element)
    add(name, [kind, kind], kind, f"  %r = {op} %arg0, %arg1 : {kind}",
        [uniform(shape, element, low, high),
         uniform(shape, element, *(second or (low, high)))], expect, relative,
        absolute)


def erf(x):
    return np.vectorize(math.erf)(x.astype(np.float64)).astype(x.dtype)


def elementwise():
    unary("exp", "math.exp", np.exp)
    unary("tanh", "math.tanh", np.tanh)
    unary("sine", "math.sin", np.sin, shape=(3, 5, 11))
    unary("cosine", "math.cos", np.cos, shape=(1, 257))
    unary("root", "math.sqrt", np.sqrt, low=0.1)
    unary("inverse_root", "math.rsqrt", lambda x: 1 / np.sqrt(x), low=0.1)
    unary("logarithm", "math.log", np.log, low=0.1)
    unary("absolute", "math.absf", np.abs, relative=0, absolute=0)
    unary("negated", "arith.negf", np.negative, relative=0, absolute=0)
    unary("floor", "math.floor", np.floor, relative=0, absolute=0)
    unary("ceiling", "math.ceil", np.ceil, relative=0, absolute=0)
    unary("error_function", "math.erf", erf, relative=2.0 ** -16,
          absolute=2.0 ** -16)
    unary("exp_f16", "math.exp", np.exp, element="f16", shape=(65,),
          relative=F16, absolute=F16)
    for name, expect in (("addf", np.add), ("subf", np.subtract),
                         ("mulf", np.multiply), ("maximumf", np.maximum),
                         ("minimumf", np.minimum)):
        binary(name, "arith." + name, expect, (5, 31), "f32", -4, 4)
    binary("divf", "arith.divf", np.divide, (5, 31), "f32", -4, 4,
           second=(1, 4), relative=2.0 ** -22)
    binary("addf_f16", "arith.addf", np.add, (77,), "f16", -4, 4)
    binary("mulf_f16", "arith.mulf", np.multiply, (77,), "f16", -4, 4)
    binary("add_i32", "arith.addi", np.add)
    binary("subtract_i32", "arith.subi", np.subtract)
    binary("multiply_i32", "arith.muli", np.multiply)
    binary("and_i32", "arith.andi", np.bitwise_and)
    binary("or_i32", "arith.ori", np.bitwise_or)
    binary("exclusive_or_i32", "arith.xori", np.bitwise_xor)
    binary("largest_i32", "arith.maxsi", np.maximum)
    binary("smallest_u32", "arith.minui", lambda a, b: np.minimum(
        a.view(np.uint32), b.view(np.uint32)).view(np.int32))
    binary("left_i32", "arith.shli", np.left_shift, second=(0, 31))
    binary("right_i32", "arith.shrsi", np.right_shift, second=(0, 31))
    binary("right_u32", "arith.shrui", lambda a, b: np.right_shift(
        a.view(np.uint32), b.astype(np.uint32)).view(np.int32),
           second=(0, 31))
    binary("quotient_i32", "arith.divsi",
           lambda a, b: np.trunc(a / b).astype(np.int32), second=(1, 9))
    binary("remainder_i32", "arith.remsi", np.fmod, second=(1, 9))
    binary("add_i64", "arith.addi", np.add, element="i64",
           low=-2 ** 40, high=2 ** 40)
    binary("multiply_i64", "arith.muli", np.multiply, element="i64",
           low=-2 ** 20, high=2 ** 20)
    binary("add_i16", "arith.addi", np.add, element="i16")
    binary("add_i8", "arith.addi", np.add, element="i8", low=-60, high=60)


def conversion(name, op, source, target, expect, low=-100, high=100,
               relative=0.0):
    shape = (3, 43)
    add(name, [tensor(shape, source)], tensor(shape, target),
        f"  %r = {op} %arg0 : {tensor(shape, source)} to "
        f"{tensor(shape, target)}", [uniform(shape, source, low, high)],
        expect, relative)


def conversions():
    conversion("to_f32", "arith.sitofp", "i32", "f32",
               lambda x: x.astype(np.float32))
    conversion("to_i32", "arith.fptosi", "f32", "i32",
               lambda x: np.trunc(x).astype(np.int32))
    conversion("widened", "arith.extf", "f16", "f32",
               lambda x: x.astype(np.float32))
    conversion("narrowed", "arith.truncf", "f32", "f16",
               lambda x: x.astype(np.float16), relative=F16)
    conversion("extended_i8", "arith.extsi", "i8", "i32",
               lambda x: x.astype(np.int32))
    conversion("cut_i32", "arith.trunci", "i32", "i8",
               lambda x: x.astype(np.int8), -1000, 1000)
    kind = tensor((47,), "f32")
    add("chosen", [kind, kind], kind,
        f"  %c = arith.cmpf olt, %arg0, %arg1 : {kind}\n"
        f"  %r = arith.select %c, %arg0, %arg1 : tensor<47xi1>, {kind}",
        [uniform((47,), "f32")] * 2, lambda a, b: np.where(a < b, a, b))


def reduction(name, shape, axis, element, op, start, expect, relative=0.0):
    kept = tuple(n for i, n in enumerate(shape) if i != axis)
    source, target = tensor(shape, element), tensor(kept, element)
    add(name, [source], target,
        f"  %s = arith.constant {start} : {element}\n"
        f"  %e = tensor.empty() : {target}\n"
        f"  %f = linalg.fill ins(%s : {element}) outs(%e : {target}) -> "
        f"{target}\n"
        f"  %r = linalg.reduce {{ {op} }} ins(%arg0 : {source}) "
        f"outs(%f : {target}) dimensions = [{axis}]",
        [uniform(shape, element)], expect, relative, 1e-4 if relative else 0)


def reductions():
    for shape, axis in (((5, 1000), 1), ((128, 64), 0), ((3, 7, 130), 2),
                        ((1, 33), 1)):
        reduction("sum_" + "x".join(map(str, shape)) + f"_{axis}", shape, axis,
                  "f32", "arith.addf", "0.0",
                  lambda x, a=axis: x.astype(np.float64).sum(a).astype(
                      np.float32), 1e-5)
    reduction("largest", (9, 257), 1, "f32", "arith.maximumf", "0xFF800000",
              lambda x: x.max(1))
    reduction("sum_i32", (9, 257), 1, "i32", "arith.addi", "0",
              lambda x: x.sum(1, dtype=np.int32))
    reduction("smallest_i32", (257, 9), 0, "i32", "arith.minsi", "2147483647",
              lambda x: x.min(0))


def zeros(target, element):
    zero = "0.0" if element.startswith("f") else "0"
    return (f"  %z = arith.constant {zero} : {element}\n"
            f"  %e = tensor.empty() : {target}\n"
            f"  %f = linalg.fill ins(%z : {element}) outs(%e : {target}) -> "
            f"{target}\n")


def product(name, op, a, b, c, element="f32", expect=None, relative=1e-5,
            absolute=1e-4, attributes=""):
    kinds = [tensor(a, element), tensor(b, element)]
    target = tensor(c, element)

    def wide(x, y):
        return np.matmul(x.astype(np.float64), y.astype(np.float64)).astype(
            x.dtype)
    add(name, kinds, target, zeros(target, element) +
        f"  %r = linalg.{op} {attributes} ins(%arg0, %arg1 : {kinds[0]}, "
        f"{kinds[1]}) outs(%f : {target}) -> {target}",
        [uniform(a, element), uniform(b, element)], expect or wide, relative,
        absolute)


def products():
    for m, k, n in ((13, 24, 40), (1, 64, 128), (64, 64, 64), (33, 17, 65),
                    (128, 256, 96)):
        product(f"matmul_{m}x{k}x{n}", "matmul", (m, k), (k, n), (m, n))
    product("matmul_i32", "matmul", (9, 20), (20, 11), (9, 11), "i32",
            lambda a, b: a @ b, 0, 0)
    # 32 sums, each rounded to a half of 64 at the most: 2^-6 / 2 each.
    product("matmul_f16", "matmul", (16, 32), (32, 48), (16, 48), "f16",
            relative=2.0 ** -9, absolute=0.25)
    product("batch_matmul", "batch_matmul", (3, 8, 20), (3, 20, 12),
            (3, 8, 12))
    product("matvec", "matvec", (31, 70), (70,), (31,))
    product("dot", "dot", (100,), (100,), ())


def convolve(x, w, stride=1):
    n, height, width, _ = x.shape
    kh, kw, _, out = w.shape
    rows, columns = (height - kh) // stride + 1, (width - kw) // stride + 1
    result = np.zeros((n, rows, columns, out))
    for i in range(rows):
        for j in range(columns):
            window = x[:, i * stride:i * stride + kh,
                       j * stride:j * stride + kw].astype(np.float64)
            result[:, i, j] = np.einsum("nhwc,hwco->no", window,
                                        w.astype(np.float64))
    return result.astype(np.float32)


def pool(x, size, reduce):
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (1, 2))
    return reduce(windows.reshape(windows.shape[:4] + (-1,)), -1)


def convolutions():
    product("conv_3x3", "conv_2d_nhwc_hwcf", (1, 10, 9, 3), (3, 3, 3, 8),
            (1, 8, 7, 8), expect=convolve)
    product("conv_strided", "conv_2d_nhwc_hwcf", (2, 11, 11, 4), (3, 3, 4, 5),
            (2, 5, 5, 5), expect=lambda x, w: convolve(x, w, 2),
            attributes="{dilations = dense<1> : tensor<2xi64>, "
            "strides = dense<2> : tensor<2xi64>}")
    product("conv_1x1", "conv_2d_nhwc_hwcf", (1, 6, 5, 16), (1, 1, 16, 7),
            (1, 6, 5, 7), expect=convolve)
    for name, op, reduce, start in (
            ("pool_largest", "pooling_nhwc_max", np.max, "0xFF800000"),
            ("pool_sum", "pooling_nhwc_sum", np.sum, "0.0")):
        source, target = tensor((1, 8, 8, 5), "f32"), tensor((1, 6, 6, 5),
                                                             "f32")
        add(name, [source], target,
            f"  %z = arith.constant {start} : f32\n"
            f"  %e = tensor.empty() : {target}\n"
            f"  %f = linalg.fill ins(%z : f32) outs(%e : {target}) -> "
            f"{target}\n"
            f"  %w = tensor.empty() : tensor<3x3xf32>\n"
            f"  %r = linalg.{op} ins(%arg0, %w : {source}, tensor<3x3xf32>) "
            f"outs(%f : {target}) -> {target}",
            [uniform((1, 8, 8, 5), "f32")],
            lambda x, r=reduce: pool(x, 3, r), 1e-5, 1e-4)


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)).astype(np.float32)


def softmaxes():
    for shape in ((5, 37), (64, 1000), (2, 3, 65)):
        kind = tensor(shape, "f32")
        add("softmax_" + "x".join(map(str, shape)), [kind], kind,
            f"  %e = tensor.empty() : {kind}\n"
            f"  %r = linalg.softmax dimension({len(shape) - 1}) "
            f"ins(%arg0 : {kind}) outs(%e : {kind}) -> {kind}",
            [uniform(shape, "f32")], softmax, 1e-5, 1e-7)


def transposes():
    for shape, order, element in (((17, 40), (1, 0), "f32"),
                                  ((3, 5, 66), (2, 0, 1), "f32"),
                                  ((4, 9, 10), (0, 2, 1), "i32"),
                                  ((33, 7), (1, 0), "f16")):
        target = tuple(shape[i] for i in order)
        kinds = tensor(shape, element), tensor(target, element)
        add("transpose_" + "x".join(map(str, shape)) + "_" + element,
            [kinds[0]], kinds[1],
            f"  %e = tensor.empty() : {kinds[1]}\n"
            f"  %r = linalg.transpose ins(%arg0 : {kinds[0]}) "
            f"outs(%e : {kinds[1]}) permutation = {list(order)}",
            [uniform(shape, element)],
            lambda x, o=order: np.ascontiguousarray(x.transpose(o)))


def gathers():
    for rows, width, count, element in ((50, 16, 23, "f32"), (9, 5, 40, "i32"),
                                        (30, 8, 7, "f16")):
        table, picks = tensor((rows, width), element), tensor((count,), "i32")
        target = tensor((count, width), element)
        add(f"gather_{rows}x{width}_{element}", [table, picks], target,
            f"  %e = tensor.empty() : {target}\n"
            "  %r = linalg.generic {indexing_maps = ["
            "affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], "
            'iterator_types = ["parallel", "parallel"]} '
            f"ins(%arg1 : {picks}) outs(%e : {target}) {{\n"
            f"  ^bb0(%p: i32, %o: {element}):\n"
            "    %i = arith.index_cast %p : i32 to index\n"
            "    %j = linalg.index 1 : index\n"
            f"    %v = tensor.extract %arg0[%i, %j] : {table}\n"
            f"    linalg.yield %v : {element}\n"
            f"  }} -> {target}",
            [uniform((rows, width), element),
             uniform((count,), "i32", 0, rows - 1)],
            lambda t, p: t[p])


def layouts():
    kind = tensor((6, 9), "f32")
    add("sliced", [kind], tensor((3, 4), "f32"),
        f"  %s = tensor.extract_slice %arg0[2, 3] [3, 4] [1, 1] : {kind} to "
        f"{tensor((3, 4), 'f32')}\n"
        f"  %r = arith.addf %s, %s : {tensor((3, 4), 'f32')}",
        [uniform((6, 9), "f32")], lambda x: 2 * x[2:5, 3:7])
    add("padded", [kind], tensor((9, 12), "f32"),
        "  %z = arith.constant 1.5 : f32\n"
        "  %r = tensor.pad %arg0 low[1, 2] high[2, 1] {\n"
        "  ^bb0(%i: index, %j: index):\n    tensor.yield %z : f32\n"
        f"  }} : {kind} to {tensor((9, 12), 'f32')}",
        [uniform((6, 9), "f32")],
        lambda x: np.pad(x, ((1, 2), (2, 1)), constant_values=1.5))
    wide = tensor((5, 6, 9), "f32")
    add("broadcast", [kind], wide,
        f"  %e = tensor.empty() : {wide}\n"
        f"  %b = linalg.broadcast ins(%arg0 : {kind}) outs(%e : {wide}) "
        "dimensions = [0]\n"
        f"  %r = arith.mulf %b, %b : {wide}",
        [uniform((6, 9), "f32")],
        lambda x: np.broadcast_to(x * x, (5, 6, 9)))
    counted = tensor((37,), "i32")
    add("counted", [counted], counted,
        f"  %e = tensor.empty() : {counted}\n"
        "  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
        'affine_map<(i) -> (i)>], iterator_types = ["parallel"]} '
        f"ins(%arg0 : {counted}) outs(%e : {counted}) {{\n"
        "  ^bb0(%x: i32, %o: i32):\n"
        "    %i = linalg.index 0 : index\n"
        "    %n = arith.index_cast %i : index to i32\n"
        "    %v = arith.addi %x, %n : i32\n    linalg.yield %v : i32\n"
        f"  }} -> {counted}",
        [uniform((37,), "i32")], lambda x: x + np.arange(37, dtype=np.int32))


for _part in (elementwise, conversions, reductions, products, convolutions,
              softmaxes, transposes, gathers, layouts):
    _part()
