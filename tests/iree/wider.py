# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# wider.py: the programs of other types and kinds: each integer type's
# arithmetic, what MLIR's math dialect has, reductions of every kind, scans,
# sorts, scatters, windows, layers of several dispatches.
import math

import numpy as np

import programs
from programs import (F16, FAST, add, binary, conversion, product, reduction,
                      tensor, unary, uniform, zeros)


def unsigned(x):
    return x.view({1: np.uint8, 2: np.uint16, 4: np.uint32,
                   8: np.uint64}[x.dtype.itemsize])


def integers():
    for bits in (8, 16, 32, 64):
        element, high = f"i{bits}", 100 if bits == 8 else 20000
        kind = np.dtype(f"i{bits // 8}")
        for name, op, expect in (
                ("sub", "subi", np.subtract), ("mul", "muli", np.multiply),
                ("and", "andi", np.bitwise_and),
                ("xor", "xori", np.bitwise_xor),
                ("max", "maxsi", np.maximum), ("min", "minsi", np.minimum)):
            binary(f"{name}_{element}_wide", "arith." + op, expect,
                   (3, 43), element, -high, high)
        binary(f"umax_{element}_wide", "arith.maxui",
               lambda a, b, k=kind: np.maximum(
                   unsigned(a), unsigned(b)).view(k), (3, 43), element, -high,
               high)
        binary(f"div_{element}_wide", "arith.divsi",
               lambda a, b, k=kind: (np.abs(a.astype(np.int64)) // b *
                                     np.sign(a)).astype(k), (3, 43), element,
               -high, high, second=(1, 9))
        binary(f"urem_{element}_wide", "arith.remui",
               lambda a, b, k=kind: (unsigned(a) % unsigned(b)).view(k),
               (3, 43), element, -high, high, second=(1, 9))
        binary(f"shl_{element}_wide", "arith.shli", np.left_shift, (3, 43),
               element, -high, high, second=(0, bits - 1))
        binary(f"shr_{element}_wide", "arith.shrsi", np.right_shift, (3, 43),
               element, -high, high, second=(0, bits - 1))
        binary(f"ushr_{element}_wide", "arith.shrui",
               lambda a, b, k=kind: np.right_shift(
                   unsigned(a), unsigned(b)).view(k), (3, 43), element, -high,
               high, second=(0, bits - 1))


def count(x, what):
    def one(v):
        text = format(int(v) & 0xffffffff, "032b")
        return {"leading": len(text) - len(text.lstrip("0")),
                "trailing": len(text) - len(text.rstrip("0")),
                "ones": text.count("1")}[what]
    return np.vectorize(one)(x).astype(np.int32)


def functions():
    for name, op, expect, low in (
            ("exp2", "math.exp2", np.exp2, -4),
            ("expm1", "math.expm1", np.expm1, -4),
            ("log2", "math.log2", np.log2, 0.1),
            ("log1p", "math.log1p", np.log1p, 0.1),
            ("log10", "math.log10", np.log10, 0.1),
            ("tangent", "math.tan", np.tan, -1),
            ("arctangent", "math.atan", np.arctan, -4),
            ("rounded", "math.roundeven", np.rint, -4),
            ("truncated", "math.trunc", np.trunc, -4),
            ("cubic", "math.cbrt", np.cbrt, 0.1)):
        unary(name + "_wide", op, expect, shape=(5, 29), low=low,
              high=1 if name == "tangent" else 4, relative=2.0 ** -16,
              absolute=2.0 ** -17)
    unary("round_away", "math.round",
          lambda x: np.trunc(x + np.copysign(0.5, x)), relative=0, absolute=0)
    for name, op, what in (("leading_zeros", "math.ctlz", "leading"),
                           ("trailing_zeros", "math.cttz", "trailing"),
                           ("ones", "math.ctpop", "ones")):
        unary(name, op, lambda x, w=what: count(x, w), element="i32",
              low=-2 ** 31, high=2 ** 31 - 1, relative=0, absolute=0)
    unary("absolute_i32", "math.absi", np.abs, element="i32", relative=0,
          absolute=0)
    binary("power", "math.powf", np.power, (5, 29), "f32", 0.1, 4,
           second=(-3, 3), relative=2.0 ** -14, absolute=2.0 ** -16)
    binary("quadrant", "math.atan2", np.arctan2, (5, 29), "f32", -4, 4,
           relative=2.0 ** -16, absolute=2.0 ** -16)
    binary("signed_as", "math.copysign", np.copysign, (5, 29), "f32", -4, 4)
    binary("remainder_f32", "arith.remf", np.fmod, (5, 29), "f32", -40, 40,
           second=(1, 4), relative=2.0 ** -16, absolute=2.0 ** -16)
    for op, expect in (("tanh", np.tanh), ("sqrt", np.sqrt), ("log", np.log),
                       ("floor", np.floor), ("sin", np.sin)):
        unary(f"{op}_f16", f"math.{op}", expect, shape=(3, 43), element="f16",
              low=0.1, relative=F16, absolute=F16)
    kind = tensor((5, 29), "f32")
    add("fused", [kind] * 3, kind,
        f"  %r = math.fma %arg0, %arg1, %arg2 : {kind}",
        [uniform((5, 29), "f32")] * 3,
        lambda a, b, c: (a.astype(np.float64) * b + c).astype(np.float32),
        2.0 ** -20, 2.0 ** -20)


def comparisons():
    for element, shape in (("f32", (3, 43)), ("f16", (65,)), ("i32", (3, 43)),
                           ("i8", (65,)), ("i64", (33,))):
        is_float = element.startswith("f")
        for name, expect in (("eq", np.equal), ("lt", np.less),
                             ("ge", np.greater_equal)):
            predicate = ("o" if is_float else "" if name == "eq" else "s") + (
                name)
            kinds = tensor(shape, element), tensor(shape, "i1")
            op = "cmpf" if is_float else "cmpi"
            add(f"{name}_{element}", [kinds[0]] * 2, tensor(shape, "i8"),
                f"  %c = arith.{op} {predicate}, %arg0, %arg1 : {kinds[0]}\n"
                f"  %r = arith.extui %c : {kinds[1]} to {tensor(shape, 'i8')}",
                [uniform(shape, element, -2, 2)] * 2,
                lambda a, b, f=expect: f(a, b).astype(np.int8))


def conversions():
    for source, target, op in (
            ("i8", "f32", "arith.sitofp"), ("i16", "f32", "arith.sitofp"),
            ("i64", "f32", "arith.sitofp"), ("i16", "i64", "arith.extsi"),
            ("i32", "i16", "arith.trunci"), ("i64", "i32", "arith.trunci"),
            ("f32", "i8", "arith.fptosi"), ("f32", "i16", "arith.fptosi"),
            ("f16", "i32", "arith.fptosi"), ("i32", "f16", "arith.sitofp")):
        conversion(f"{source}_to_{target}", op, source, target,
                   lambda x, t=target: np.trunc(x).astype(
                       programs.DTYPES[t]))
    for source, target in (("i8", "i32"), ("i16", "i32"), ("i32", "i64")):
        conversion(f"u{source}_to_{target}", "arith.extui", source, target,
                   lambda x, t=target: unsigned(x).astype(programs.DTYPES[t]))
    conversion("ui32_to_f32", "arith.uitofp", "i32", "f32",
               lambda x: unsigned(x).astype(np.float32), relative=2.0 ** -23)
    conversion("f32_to_ui32", "arith.fptoui", "f32", "i32",
               lambda x: np.trunc(x).astype(np.uint32).view(np.int32), 0, 1000)
    conversion("bits_of_f32", "arith.bitcast", "f32", "i32",
               lambda x: x.view(np.int32))


def reductions():
    for element, op, start, expect, relative in (
            ("f32", "arith.mulf", "1.0", np.multiply, 1e-5),
            ("f32", "arith.minimumf", "0x7F800000", np.minimum, 0),
            ("f16", "arith.maximumf", "0xFC00", np.maximum, 0),
            ("i32", "arith.ori", "0", np.bitwise_or, 0),
            ("i32", "arith.andi", "-1", np.bitwise_and, 0),
            ("i32", "arith.xori", "0", np.bitwise_xor, 0),
            ("i32", "arith.muli", "1", np.multiply, 0),
            ("i8", "arith.maxsi", "-128", np.maximum, 0),
            ("i16", "arith.addi", "0", np.add, 0),
            ("i64", "arith.addi", "0", np.add, 0),
            ("i64", "arith.minsi", "9223372036854775807", np.minimum, 0)):
        name = op.split(".")[1]
        for shape, axis in (((6, 70), 1), ((70, 6), 0), ((4, 5, 33), 1)):
            reduction(f"{name}_{element}_{'x'.join(map(str, shape))}_{axis}",
                      shape, axis, element, op, start,
                      lambda x, a=axis, f=expect: f.reduce(
                          x, axis=a, dtype=x.dtype), relative)
    source = tensor((3, 4, 50), "f32")
    add("sum_of_all", [source], "tensor<f32>", zeros("tensor<f32>", "f32") +
        "  %r = linalg.reduce { arith.addf } ins(%arg0 : " + source +
        ") outs(%f : tensor<f32>) dimensions = [0, 1, 2]",
        [uniform((3, 4, 50), "f32")],
        lambda x: np.asarray(x.astype(np.float64).sum(), np.float32), 1e-5,
        1e-4)


def generic(name, kinds, target, maps, iterators, body, inputs, expect,
            start="%e", element="f32", **tolerance):
    operands = ", ".join(f"%arg{i}" for i in range(len(kinds)))
    text = zeros(target, element) if start == "%f" else (
        f"  %e = tensor.empty() : {target}\n")
    add(name, kinds, target, text +
        "  %r = linalg.generic {indexing_maps = [" +
        ", ".join(f"affine_map<{m}>" for m in maps) + "], iterator_types = [" +
        ", ".join(f'"{i}"' for i in iterators) +
        f"]}} ins({operands} : {', '.join(kinds)}) outs({start} : {target}) "
        f"{{\n{body}  }} -> {target}", inputs, expect, **tolerance)


def scans():
    for element, op in (("f32", "addf"), ("i32", "addi")):
        for inclusive in ("true", "false"):
            kinds = tensor((5, 33), element), tensor((5,), element)

            def expect(x, i=inclusive):
                sums = np.cumsum(x, 1, dtype=x.dtype)
                if i == "false":
                    sums = np.concatenate(
                        [np.zeros((5, 1), x.dtype), sums[:, :-1]], 1)
                return sums
            add(f"scan_{element}_{inclusive}", [kinds[0]], kinds[0],
                zeros(kinds[1], element) +
                f"  %o = tensor.empty() : {kinds[0]}\n"
                f"  %r, %last = iree_linalg_ext.scan dimension(1) "
                f"inclusive({inclusive}) ins(%arg0 : {kinds[0]}) "
                f"outs(%o, %f : {kinds[0]}, {kinds[1]}) {{\n"
                f"  ^bb0(%a: {element}, %b: {element}):\n"
                f"    %s = arith.{op} %a, %b : {element}\n"
                f"    iree_linalg_ext.yield %s : {element}\n"
                f"  }} -> {kinds[0]}, {kinds[1]}",
                [uniform((5, 33), element)], expect, 1e-5, 1e-5)


def sorts():
    for element, op in (("f32", "cmpf olt"), ("i32", "cmpi slt")):
        kind = tensor((4, 30), element)
        add(f"sorted_{element}", [kind], kind,
            f"  %r = iree_linalg_ext.sort dimension(1) outs(%arg0 : {kind}) "
            f"{{\n  ^bb0(%a: {element}, %b: {element}):\n"
            f"    %c = arith.{op}, %a, %b : {element}\n"
            f"    iree_linalg_ext.yield %c : i1\n  }} -> {kind}",
            [uniform((4, 30), element, -100, 100)], lambda x: np.sort(x, 1))


def scatters():
    target, updates = tensor((20, 6), "f32"), tensor((5, 6), "f32")
    for name, body, expect in (
            ("scatter_set", "    iree_linalg_ext.yield %u : f32\n",
             lambda t, u, old: u),
            ("scatter_add", "    %s = arith.addf %u, %o : f32\n"
             "    iree_linalg_ext.yield %s : f32\n",
             lambda t, u, old: old + u)):
        def result(t, u, places, f=expect):
            t = t.copy()
            for i, p in enumerate(places[:, 0]):
                t[p] = f(t, u[i], t[p])
            return t
        add(name, [target, updates, "tensor<5x1xi32>"], target,
            "  %r = iree_linalg_ext.scatter dimension_map = [0] "
            f"unique_indices(true) ins(%arg1, %arg2 : {updates}, "
            f"tensor<5x1xi32>) outs(%arg0 : {target}) {{\n"
            f"  ^bb0(%u: f32, %o: f32):\n{body}  }} -> {target}",
            [uniform((20, 6), "f32"), uniform((5, 6), "f32"),
             lambda random: random.permutation(20)[:5].astype(
                 np.int32).reshape(5, 1)], result)


def layouts():
    kind = tensor((13, 22), "f32")
    generic("backwards", [kind], kind, ["(i, j) -> (i, j)"] * 2,
            ["parallel"] * 2, "  ^bb0(%a: f32, %o: f32):\n"
            "    %i = linalg.index 0 : index\n"
            "    %j = linalg.index 1 : index\n"
            "    %last = arith.constant 21 : index\n"
            "    %k = arith.subi %last, %j : index\n"
            f"    %v = tensor.extract %arg0[%i, %k] : {kind}\n"
            "    linalg.yield %v : f32\n", [uniform((13, 22), "f32")],
            lambda x: np.ascontiguousarray(x[:, ::-1]))
    add("joined", [kind, kind], tensor((26, 22), "f32"),
        f"  %r = tensor.concat dim(0) %arg0, %arg1 : ({kind}, {kind}) -> "
        f"{tensor((26, 22), 'f32')}", [uniform((13, 22), "f32")] * 2,
        lambda a, b: np.concatenate([a, b]))
    for shape, order, element in (((5, 66), (1, 0), "i8"),
                                  ((5, 66), (1, 0), "i16"),
                                  ((7, 33), (1, 0), "i64"),
                                  ((2, 3, 17, 5), (0, 3, 1, 2), "f32")):
        target = tensor(tuple(shape[i] for i in order), element)
        add(f"turned_{element}_{len(shape)}", [tensor(shape, element)], target,
            f"  %e = tensor.empty() : {target}\n"
            f"  %r = linalg.transpose ins(%arg0 : {tensor(shape, element)}) "
            f"outs(%e : {target}) permutation = {list(order)}",
            [uniform(shape, element)],
            lambda x, o=order: np.ascontiguousarray(x.transpose(o)))


def windows_of(x, kh, kw, stride=1, dilation=1):
    """[n, rows, columns, kh, kw, channels] of an NHWC image."""
    high, wide = (kh - 1) * dilation + 1, (kw - 1) * dilation + 1
    views = np.lib.stride_tricks.sliding_window_view(x, (high, wide), (1, 2))
    views = views[:, ::stride, ::stride, :, ::dilation, ::dilation]
    return views.transpose(0, 1, 2, 4, 5, 3).astype(np.float64)


def attributes(stride, dilation):
    return (f"{{dilations = dense<{dilation}> : tensor<2xi64>, strides = "
            f"dense<{stride}> : tensor<2xi64>}}")


def convolutions():
    def dense(x, w, stride=1, dilation=1):
        return np.einsum("nijhwc,hwcf->nijf", windows_of(
            x, w.shape[0], w.shape[1], stride, dilation),
            w.astype(np.float64)).astype(x.dtype)
    product("conv_dilated", "conv_2d_nhwc_hwcf", (1, 11, 12, 4), (3, 3, 4, 6),
            (1, 7, 8, 6), expect=lambda x, w: dense(x, w, 1, 2),
            attributes=attributes(1, 2))
    product("conv_5x5", "conv_2d_nhwc_hwcf", (1, 12, 12, 3), (5, 5, 3, 32),
            (1, 8, 8, 32), expect=dense)
    product("conv_wide", "conv_2d_nhwc_hwcf", (1, 18, 18, 32), (3, 3, 32, 64),
            (1, 16, 16, 64), expect=dense, absolute=1e-3)
    product("depthwise", "depthwise_conv_2d_nhwc_hwc", (1, 10, 10, 16),
            (3, 3, 16), (1, 8, 8, 16), expect=lambda x, w: np.einsum(
                "nijhwc,hwc->nijc", windows_of(x, 3, 3),
                w.astype(np.float64)).astype(x.dtype))
    product("depthwise_strided", "depthwise_conv_2d_nhwc_hwc", (1, 11, 11, 8),
            (3, 3, 8), (1, 5, 5, 8), expect=lambda x, w: np.einsum(
                "nijhwc,hwc->nijc", windows_of(x, 3, 3, 2),
                w.astype(np.float64)).astype(x.dtype),
            attributes=attributes(2, 1))
    product("conv_nchw", "conv_2d_nchw_fchw", (1, 4, 10, 10), (6, 4, 3, 3),
            (1, 6, 8, 8), expect=lambda x, w: np.einsum(
                "nijhwc,fchw->nfij", windows_of(x.transpose(0, 2, 3, 1), 3, 3),
                w.astype(np.float64)).astype(x.dtype))
    product("conv_1d", "conv_1d_nwc_wcf", (2, 20, 5), (3, 5, 7), (2, 18, 7),
            expect=lambda x, w: np.einsum(
                "nicw,wcf->nif", np.lib.stride_tricks.sliding_window_view(
                    x, 3, 1).astype(np.float64),
                w.astype(np.float64)).astype(x.dtype))
    product("conv_i32", "conv_2d_nhwc_hwcf", (1, 7, 7, 3), (3, 3, 3, 4),
            (1, 5, 5, 4), "i32", dense, 0, 0)
    product("conv_f16", "conv_2d_nhwc_hwcf", (1, 8, 8, 4), (3, 3, 4, 8),
            (1, 6, 6, 8), "f16", dense, 2.0 ** -8, 0.25)


def pools():
    for name, op, reduce, start, layout in (
            ("smallest", "pooling_nhwc_min", np.min, "0x7F800000", "nhwc"),
            ("largest", "pooling_nchw_max", np.max, "0xFF800000", "nchw"),
            ("sum", "pooling_nchw_sum", np.sum, "0.0", "nchw")):
        shapes = ((2, 9, 9, 6), (2, 4, 4, 6))
        if layout == "nchw":
            shapes = tuple((n, c, h, w) for n, h, w, c in shapes)
        source, target = (tensor(s, "f32") for s in shapes)

        def expect(x, r=reduce, turned=layout == "nchw"):
            y = r(windows_of(x.transpose(0, 2, 3, 1) if turned else x, 3, 3,
                             2), axis=(3, 4)).astype(np.float32)
            return np.ascontiguousarray(
                y.transpose(0, 3, 1, 2) if turned else y)
        add(f"pool_{name}_{layout}_strided", [source], target,
            f"  %z = arith.constant {start} : f32\n"
            f"  %e = tensor.empty() : {target}\n"
            f"  %f = linalg.fill ins(%z : f32) outs(%e : {target}) -> "
            f"{target}\n  %w = tensor.empty() : tensor<3x3xf32>\n"
            f"  %r = linalg.{op} {attributes(2, 1)} ins(%arg0, %w : {source}, "
            f"tensor<3x3xf32>) outs(%f : {target}) -> {target}",
            [uniform(shapes[0], "f32")], expect, 1e-5, 1e-4)


def products():
    def matmul(name, a, b, c, maps, expect, element="f32", into="f32",
               **tolerance):
        widen = "" if element == into else (
            f"    %x = arith.extf %a : {element} to {into}\n"
            f"    %y = arith.extf %b : {element} to {into}\n")
        x, y = ("%a", "%b") if element == into else ("%x", "%y")
        multiply, plus = ("mulf", "addf") if into[0] == "f" else ("muli",
                                                                  "addi")
        generic(name, [tensor(a, element), tensor(b, element)],
                tensor(c, into), maps,
                ["parallel"] * len(c) + ["reduction"],
                f"  ^bb0(%a: {element}, %b: {element}, %o: {into}):\n{widen}"
                f"    %p = arith.{multiply} {x}, {y} : {into}\n"
                f"    %s = arith.{plus} %p, %o : {into}\n"
                f"    linalg.yield %s : {into}\n",
                [uniform(a, element), uniform(b, element)], expect, "%f",
                into, **tolerance)
    close = {"relative": 1e-5, "absolute": 1e-3}
    out = "(m, n, k) -> (m, n)"
    matmul("matmul_tb", (20, 48), (36, 48), (20, 36),
           ["(m, n, k) -> (m, k)", "(m, n, k) -> (n, k)", out],
           lambda a, b: a @ b.T, **close)
    matmul("matmul_ta", (48, 20), (48, 36), (20, 36),
           ["(m, n, k) -> (k, m)", "(m, n, k) -> (k, n)", out],
           lambda a, b: a.T @ b, **close)
    matmul("matmul_f16_f32", (32, 64), (64, 48), (32, 48),
           ["(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", out],
           lambda a, b: a.astype(np.float32) @ b.astype(np.float32), "f16",
           **close)
    matmul("matmul_i64", (9, 20), (20, 11), (9, 11),
           ["(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", out],
           lambda a, b: a @ b, "i64", "i64")
    matmul("matmul_batch_tb", (3, 8, 20), (3, 12, 20), (3, 8, 12),
           ["(b, m, n, k) -> (b, m, k)", "(b, m, n, k) -> (b, n, k)",
            "(b, m, n, k) -> (b, m, n)"],
           lambda a, b: np.einsum("bmk,bnk->bmn", a, b), **close)
    product("vecmat", "vecmat", (70,), (70, 31), (31,))
    product("batch_matvec", "batch_matvec", (3, 9, 40), (3, 40), (3, 9),
            expect=lambda a, b: np.einsum("bmk,bk->bm", a, b))
    product("matmul_large", "matmul", (192, 256), (256, 160), (192, 160),
            absolute=1e-3)


def layers():
    """Several dispatches each, with memory between them."""
    kind, row = tensor((9, 64), "f32"), tensor((9,), "f32")
    maps = ('indexing_maps = [affine_map<(i, j) -> (i, j)>, '
            'affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], '
            'iterator_types = ["parallel", "parallel"]')
    add("layer_norm", [kind], kind, zeros(row, "f32") +
        "  %n = arith.constant 64.0 : f32\n"
        "  %small = arith.constant 1.0e-5 : f32\n"
        f"  %s = linalg.reduce {{ arith.addf }} ins(%arg0 : {kind}) outs(%f : "
        f"{row}) dimensions = [1]\n  %d = tensor.empty() : {kind}\n"
        f"  %c = linalg.generic {{{maps}}} ins(%arg0, %s : {kind}, {row}) "
        f"outs(%d : {kind}) {{\n  ^bb0(%x: f32, %t: f32, %o: f32):\n"
        "    %m = arith.divf %t, %n : f32\n    %v = arith.subf %x, %m : f32\n"
        f"    linalg.yield %v : f32\n  }} -> {kind}\n"
        f"  %q = arith.mulf %c, %c : {kind}\n"
        f"  %v = linalg.reduce {{ arith.addf }} ins(%q : {kind}) outs(%f : "
        f"{row}) dimensions = [1]\n"
        f"  %r = linalg.generic {{{maps}}} ins(%c, %v : {kind}, {row}) "
        f"outs(%d : {kind}) {{\n  ^bb0(%x: f32, %t: f32, %o: f32):\n"
        "    %m = arith.divf %t, %n : f32\n"
        "    %a = arith.addf %m, %small : f32\n    %i = math.rsqrt %a : f32\n"
        "    %y = arith.mulf %x, %i : f32\n    linalg.yield %y : f32\n"
        f"  }} -> {kind}", [uniform((9, 64), "f32")],
        lambda x: ((x - x.mean(1, keepdims=True)) / np.sqrt(
            x.astype(np.float64).var(1, keepdims=True) + 1e-5)).astype(
                np.float32), 1e-4, 1e-5)
    q, s, o = (tensor(n, "f32") for n in ((24, 16), (24, 24), (24, 16)))
    add("attended", [q] * 3, o, zeros(s, "f32") +
        f"  %t0 = tensor.empty() : {tensor((16, 24), 'f32')}\n"
        f"  %t = linalg.transpose ins(%arg1 : {q}) outs(%t0 : "
        f"{tensor((16, 24), 'f32')}) permutation = [1, 0]\n"
        f"  %p = linalg.matmul ins(%arg0, %t : {q}, "
        f"{tensor((16, 24), 'f32')}) outs(%f : {s}) -> {s}\n"
        f"  %h = arith.constant dense<0.25> : {s}\n"
        f"  %m = arith.mulf %p, %h : {s}\n"
        f"  %w = linalg.softmax dimension(1) ins(%m : {s}) outs(%e : {s}) -> "
        f"{s}\n  %e2 = tensor.empty() : {o}\n"
        f"  %f2 = linalg.fill ins(%z : f32) outs(%e2 : {o}) -> {o}\n"
        f"  %r = linalg.matmul ins(%w, %arg2 : {s}, {q}) outs(%f2 : {o}) -> "
        f"{o}", [uniform((24, 16), "f32")] * 3,
        lambda a, b, c: (programs.softmax(a @ b.T / 4) @ c), 1e-4, 1e-4)
    add("perceptron", [tensor((5, 20), "f32"), tensor((20, 32), "f32"),
                       tensor((32, 7), "f32")], tensor((5, 7), "f32"),
        zeros(tensor((5, 32), "f32"), "f32") +
        f"  %p = linalg.matmul ins(%arg0, %arg1 : {tensor((5, 20), 'f32')}, "
        f"{tensor((20, 32), 'f32')}) outs(%f : {tensor((5, 32), 'f32')}) -> "
        f"{tensor((5, 32), 'f32')}\n"
        f"  %h = arith.maximumf %p, %f : {tensor((5, 32), 'f32')}\n"
        f"  %e2 = tensor.empty() : {tensor((5, 7), 'f32')}\n"
        f"  %f2 = linalg.fill ins(%z : f32) outs(%e2 : "
        f"{tensor((5, 7), 'f32')}) -> {tensor((5, 7), 'f32')}\n"
        f"  %r = linalg.matmul ins(%h, %arg2 : {tensor((5, 32), 'f32')}, "
        f"{tensor((32, 7), 'f32')}) outs(%f2 : {tensor((5, 7), 'f32')}) -> "
        f"{tensor((5, 7), 'f32')}",
        [uniform((5, 20), "f32"), uniform((20, 32), "f32"),
         uniform((32, 7), "f32")],
        lambda x, a, b: np.maximum(x @ a, 0) @ b, 1e-4, 1e-3)


# Of a part whose programs differ in type and shape alone one of so many is run,
# unless all are asked for.
PARTS = ((integers, 5), (functions, 3), (comparisons, 4), (conversions, 2),
         (reductions, 4), (scans, 1), (sorts, 1), (scatters, 1), (layouts, 1),
         (convolutions, 1), (pools, 1), (products, 1), (layers, 1))


def add_all(is_thin):
    for part, step in PARTS:
        first = len(programs.ALL)
        part()
        if is_thin:
            programs.ALL[first:] = programs.ALL[first::step]
