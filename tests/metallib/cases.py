# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cases.py: what functions of AIR mean, a family each, with expected values
from NumPy or written out."""

import mettle
import numpy as np

from air import buffer, builtin, module
from world import library_of, raises, run
from writer import pack
from world import DEVICE

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def map_text(name, call, source="float", result="float", declare="",
             sizes=(4, 4), **options):
    """out[i] = call of %x, which is in[i]."""
    body = f"""  %at = zext i32 %i to i64
  %from = getelementptr inbounds {source}, ptr addrspace(1) %in, i64 %at
  %to = getelementptr inbounds {result}, ptr addrspace(1) %out, i64 %at
  %x = load {source}, ptr addrspace(1) %from, align {sizes[0]}
{call}
  store {result} %y, ptr addrspace(1) %to, align {sizes[1]}
  ret void"""
    return module(name, "ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %i",
                  body, [buffer(0, "in", size=sizes[0], access="read"),
                         buffer(1, "out", size=sizes[1]),
                         builtin("thread_position_in_grid")],
                  declare, **options)


def run_map(assembler, text, values, result=None, group=32):
    pipeline = library_of(assembler, "f", text).function("f").pipeline()
    out = np.zeros(values.size, result or values.dtype)
    return run(pipeline, {0: values, 1: out}, values.size, group)[1]


@case
def arithmetic_in_buffers(assembler):
    x = np.arange(37, dtype=np.float32)
    text = map_text("f", "  %y = fadd float %x, 1.500000e+00")
    assert (run_map(assembler, text, x) == x + 1.5).all()


@case
def precise_and_fast_mathematics(assembler):
    x = np.linspace(0.1, 3, 33, dtype=np.float32)
    for name in ("exp", "log", "sin", "tanh", "sqrt"):
        for prefix in ("", "fast_"):
            text = map_text(
                "f", f"  %y = call float @air.{prefix}{name}.f32(float %x)",
                declare=f"declare float @air.{prefix}{name}.f32(float)")
            wanted = getattr(np, name)(x.astype(np.float64))
            error = np.abs(run_map(assembler, text, x) - wanted)
            # Metal allows 4 units of precise functions, more of fast ones.
            assert (error <= 2e-6 * np.maximum(1, np.abs(wanted))).all(), name


@case
def vectors_component_by_component(assembler):
    text = map_text(
        "f", "  %y = call <4 x float> @air.exp2.v4f32(<4 x float> %x)",
        "<4 x float>", "<4 x float>",
        "declare <4 x float> @air.exp2.v4f32(<4 x float>)", (16, 16))
    pipeline = library_of(assembler, "f", text).function("f").pipeline()
    x = np.arange(32, dtype=np.float32) % 7
    out = run(pipeline, {0: x, 1: np.zeros_like(x)}, 8, 8)[1]
    assert (out == 2 ** x).all()


@case
def vectors_as_a_whole(assembler):
    text = map_text(
        "f", "  %y = call float @air.dot.v4f32(<4 x float> %x, <4 x float> "
        "<float 1.0, float 2.0, float 3.0, float 4.0>)", "<4 x float>",
        "float", "declare float @air.dot.v4f32(<4 x float>, <4 x float>)",
        (16, 4))
    pipeline = library_of(assembler, "f", text).function("f").pipeline()
    x = np.arange(16, dtype=np.float32)
    out = run(pipeline, {0: x, 1: np.zeros(4, np.float32)}, 4, 4)[1]
    assert list(out) == [20, 60, 100, 140]


@case
def conversions(assembler):
    rows = [("s.i32.f.f32", "float", "i32", np.float32, np.int32,
             [-2.7, 2.7, 3e9], [-2, 2, 2147483647]),
            ("u.i8.f.f32", "float", "i8", np.float32, np.uint8,
             [-1, 7.9, 300], [0, 7, 255]),
            ("f.f32.s.i8", "i8", "float", np.int8, np.float32,
             [-128, 0, 127], [-128, 0, 127]),
            ("f.f32.u.i8", "i8", "float", np.uint8, np.float32,
             [255, 1, 0], [255, 1, 0]),
            ("f.f16.f.f32", "float", "half", np.float32, np.float16,
             [1.5, 65504, 0.1], [1.5, 65504, 0.0999755859375]),
            ("s.i64.s.i8", "i8", "i64", np.int8, np.int64,
             [-5, 4, 0], [-5, 4, 0])]
    for name, source, result, from_type, to_type, values, wanted in rows:
        sizes = (np.dtype(from_type).itemsize, np.dtype(to_type).itemsize)
        text = map_text(
            "f", f"  %y = call {result} @air.convert.{name}({source} %x)",
            source, result, f"declare {result} @air.convert.{name}({source})",
            sizes)
        out = run_map(assembler, text, np.array(values, from_type), to_type)
        assert list(out) == wanted, (name, out)


@case
def conversions_of_bfloat(assembler):
    text = map_text(
        "f", "  %b = call bfloat @air.convert.f.bf16.s.i32(i32 %x)\n"
        "  %y = call float @air.convert.f.f32.f.bf16(bfloat %b)", "i32",
        "float", "declare bfloat @air.convert.f.bf16.s.i32(i32)\n"
        "declare float @air.convert.f.f32.f.bf16(bfloat)")
    out = run_map(assembler, text, np.array([3, -7, 257], np.int32),
                  np.float32)
    assert list(out) == [3, -7, 256]  # 257 has nine bits, a bfloat eight


@case
def integers(assembler):
    for name, wanted in (("max.s", 3), ("min.s", -5), ("max.u", 4294967291),
                         ("min.u", 3)):
        text = map_text(
            "f", f"  %y = call i32 @air.{name}.i32(i32 %x, i32 3)", "i32",
            "i32", f"declare i32 @air.{name}.i32(i32, i32)")
        out = run_map(assembler, text, np.array([-5], np.int32), np.uint32)
        assert out[0] == wanted % 2 ** 32, name


@case
def simdgroup_functions(assembler):
    x = np.arange(64, dtype=np.int32)
    pairs = x.reshape(2, 32)
    rows = [("simd_sum.s.i32", "i32 %x", np.repeat(pairs.sum(1), 32)),
            ("simd_max.s.i32", "i32 %x", np.repeat(pairs.max(1), 32)),
            ("simd_shuffle_xor.s.i32", "i32 %x, i16 5", x ^ 5),
            ("simd_shuffle.u.i32", "i32 %x, i16 3", x // 32 * 32 + 3),
            ("simd_prefix_exclusive_sum.s.i32", "i32 %x",
             (np.cumsum(pairs, 1) - pairs).ravel()),
            ("simd_shuffle_down.u.i32", "i32 %x, i16 2",
             np.where(x % 32 < 30, x + 2, x)),
            ("quad_sum.s.i32", "i32 %x",
             np.repeat(x.reshape(16, 4).sum(1), 4))]
    for name, arguments, wanted in rows:
        types = ", ".join(a.split()[0] for a in arguments.split(", "))
        text = map_text("f", f"  %y = call i32 @air.{name}({arguments})",
                        "i32", "i32", f"declare i32 @air.{name}({types})")
        assert (run_map(assembler, text, x, group=64) == wanted).all(), name


@case
def threadgroup_memory_and_barriers(assembler):
    declare = ("@room = internal unnamed_addr addrspace(3) global "
               "[64 x i32] undef, align 4\n"
               "declare void @air.wg.barrier(i32, i32)")
    call = """  %own = getelementptr inbounds [64 x i32], ptr addrspace(3) @room, i64 0, i64 %at
  store i32 %x, ptr addrspace(3) %own, align 4
  call void @air.wg.barrier(i32 2, i32 1)
  %back = sub nuw nsw i64 63, %at
  %other = getelementptr inbounds [64 x i32], ptr addrspace(3) @room, i64 0, i64 %back
  %y = load i32, ptr addrspace(3) %other, align 4"""
    x = np.arange(64, dtype=np.int32) * 3
    text = map_text("f", call, "i32", "i32", declare)
    for debug in (False, True):  # both tiers
        pipeline = library_of(assembler, "f", text).function("f").pipeline(
            debug=debug)
        out = run(pipeline, {0: x, 1: np.zeros_like(x)}, 64, 64)[1]
        assert (out == x[::-1]).all()


@case
def atomics(assembler):
    declare = "\n".join(
        f"declare i32 @air.atomic.global.{name}.i32(ptr addrspace(1), i32, "
        "i32, i32, i1)" for name in ("add.u", "max.s", "xchg", "min.s"))
    declare += ("\ndeclare i32 @air.atomic.global.cmpxchg.weak.i32(ptr "
                "addrspace(1), ptr, i32, i32, i32, i32, i1)")
    body = """  %place = alloca i32, align 4
  %max = getelementptr inbounds i32, ptr addrspace(1) %out, i64 1
  %min = getelementptr inbounds i32, ptr addrspace(1) %out, i64 2
  %flag = getelementptr inbounds i32, ptr addrspace(1) %out, i64 3
  %a = call i32 @air.atomic.global.add.u.i32(ptr addrspace(1) %out, i32 2, i32 0, i32 2, i1 true)
  %b = call i32 @air.atomic.global.max.s.i32(ptr addrspace(1) %max, i32 %i, i32 0, i32 2, i1 true)
  %n = sub i32 0, %i
  %c = call i32 @air.atomic.global.min.s.i32(ptr addrspace(1) %min, i32 %n, i32 0, i32 2, i1 true)
  store i32 9, ptr %place, align 4
  %d = call i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1) %flag, ptr %place, i32 1, i32 0, i32 0, i32 2, i1 true)
  ret void"""
    text = module("f", "ptr addrspace(1) %out, i32 %i", body,
                  [buffer(0, "out", "uint"),
                   builtin("thread_position_in_grid")], declare)
    pipeline = library_of(assembler, "f", text).function("f").pipeline()
    out = run(pipeline, {0: np.array([0, 0, 0, 9], np.int32)}, 1000, 100)[0]
    assert list(out) == [2000, 999, -999, 1]


@case
def simdgroup_matrices(assembler):
    kind = "<64 x float>"
    prefix = "@air.simdgroup_matrix_8x8_"
    declare = f"""
declare {kind} {prefix}load.v64f32.p1f32(ptr addrspace(1), i64, <2 x i64>, i1)
declare {kind} {prefix}init_filled.v64f32.f32(float)
declare {kind} {prefix}init_diag.v64f32.f32(float)
declare {kind} {prefix}multiply_accumulate.v64f32.v64f32.v64f32.v64f32({kind}, {kind}, {kind})
declare void {prefix}store.v64f32.p1f32({kind}, ptr addrspace(1), i64, <2 x i64>, i1)"""
    body = f"""  %a = call {kind} {prefix}load.v64f32.p1f32(ptr addrspace(1) %in, i64 16, <2 x i64> <i64 8, i64 0>, i1 false)
  %b = call {kind} {prefix}load.v64f32.p1f32(ptr addrspace(1) %in, i64 16, <2 x i64> zeroinitializer, i1 true)
  %d = call {kind} {prefix}init_diag.v64f32.f32(float 2.0)
  %o = call {kind} {prefix}init_filled.v64f32.f32(float 0.5)
  %s = call {kind} {prefix}multiply_accumulate.v64f32.v64f32.v64f32.v64f32({kind} %a, {kind} %b, {kind} %o)
  %t = call {kind} {prefix}multiply_accumulate.v64f32.v64f32.v64f32.v64f32({kind} %s, {kind} %d, {kind} zeroinitializer)
  %own = shufflevector {kind} %t, {kind} poison, <2 x i32> <i32 0, i32 1>
  %less = fsub <2 x float> %own, <float 1.0, float 1.0>
  %u = shufflevector <2 x float> %less, <2 x float> poison, <64 x i32> <i32 0, i32 1{', i32 poison' * 62}>
  call void {prefix}store.v64f32.p1f32({kind} %u, ptr addrspace(1) %out, i64 8, <2 x i64> zeroinitializer, i1 false)
  ret void"""
    text = module("f", "ptr addrspace(1) %in, ptr addrspace(1) %out", body,
                  [buffer(0, "in", access="read"), buffer(1, "out")], declare)
    pipeline = library_of(assembler, "f", text).function("f").pipeline()
    x = np.arange(128, dtype=np.float32) % 11
    a, b = x.reshape(8, 16)[:, 8:], x.reshape(8, 16)[:, :8].T
    out = run(pipeline, {0: x, 1: np.zeros(64, np.float32)}, 32, 32)[1]
    assert (out.reshape(8, 8) == 2 * (a @ b + 0.5) - 1).all()


CONSTANTS = """
@scale.MTL_FC_INIT_7_f = internal addrspace(2) externally_initialized constant float undef, section "air.fc_initializer", align 4
@flag.MTL_FC_INIT_3_b = internal addrspace(2) externally_initialized constant i8 undef, section "air.fc_initializer", align 1
@scale = internal addrspace(2) global float undef, align 4
@predicate = internal addrspace(2) global i8 0, align 1
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @start, ptr null }]
declare i8 @air.normalize_function_constant_predicate.i8(i8)
define internal void @start() section "air.static_init" {
  %1 = load float, ptr addrspace(2) @scale.MTL_FC_INIT_7_f, align 4
  store float %1, ptr addrspace(2) @scale, align 4
  %2 = load i8, ptr addrspace(2) @flag.MTL_FC_INIT_3_b, align 1
  %3 = call i8 @air.normalize_function_constant_predicate.i8(i8 %2)
  store i8 %3, ptr addrspace(2) @predicate, align 1
  ret void
}
"""


def constants_text(name="f", call="  %s = load float, ptr addrspace(2) "
                   "@scale, align 4\n  %y = fmul float %x, %s"):
    body = f"""  %at = zext i32 %i to i64
  %from = getelementptr inbounds float, ptr addrspace(1) %in, i64 %at
  %to = getelementptr inbounds float, ptr addrspace(1) %out, i64 %at
  %x = load float, ptr addrspace(1) %from, align 4
{call}
  store float %y, ptr addrspace(1) %to, align 4
  ret void"""
    return module(
        name, "ptr addrspace(1) %in, ptr addrspace(1) %out, "
        "ptr addrspace(1) %rest, i32 %i", body,
        [buffer(0, "in", access="read"), buffer(1, "out"),
         buffer(2, "rest", more='!"air.function_constant", !50, '),
         builtin("thread_position_in_grid")], CONSTANTS,
        more=["!air.function_constants = !{!51, !52}"], limit=128,
        nodes='!50 = !{ptr addrspace(2) @predicate, !"bool", !"flag"}\n'
        '!51 = !{ptr addrspace(2) @scale.MTL_FC_INIT_7_f, !"float", '
        '!"scale", i32 7, i1 true}\n'
        '!52 = !{ptr addrspace(2) @flag.MTL_FC_INIT_3_b, !"bool", !"flag", '
        'i32 3, i1 true}')


@case
def function_constants_and_arguments_that_hang_on_them(assembler):
    library = library_of(assembler, "f", constants_text())
    infos = library.function_constants("f")
    assert [(c.index, c.name, c.type, c.required) for c in infos.values()] == [
        (3, "flag", "bool", True), (7, "scale", "float", True)]
    for flag in (False, True):
        function = library.function("f", {"scale": 2.5, "flag": flag})
        assert [a.is_active for a in function.arguments] == [True, True, flag]
    pipeline = library.function("f", {7: 2.5, 3: False}).pipeline()
    assert pipeline.max_total_threads_per_threadgroup == 128
    x = np.arange(40, dtype=np.float32)
    out = run(pipeline, {0: x, 1: np.zeros_like(x)}, 40, 32)[1]
    assert (out == x * 2.5).all()
    raises(mettle.InvalidArgumentError, ["flag"], library.function, "f",
           {"scale": 1.0})


@case
def arguments_and_members_reflect(assembler):
    info = ('!40 = !{i32 0, i32 4, i32 0, !"int", !"rows", i32 8, i32 8, '
            'i32 0, !"long", !"stride", i32 16, i32 4, i32 3, !"float", '
            '!"weights"}')
    text = module(
        "f", "ptr addrspace(2) %p, ptr addrspace(3) %room, <3 x i32> %i",
        "  ret void",
        ['i32 {i}, !"air.buffer", !"air.buffer_size", i32 32, '
         '!"air.location_index", i32 4, i32 1, !"air.read", '
         '!"air.address_space", i32 2, !"air.struct_type_info", !40, '
         '!"air.arg_type_size", i32 32, !"air.arg_type_align_size", i32 8, '
         '!"air.arg_type_name", !"ns::Params", !"air.arg_name", !"p"',
         buffer(1, "room", space="threadgroup"),
         builtin("thread_position_in_grid", "uint3")], nodes=info)
    library = library_of(assembler, "f", text)
    p, room = library.function("f").arguments
    assert (p.kind, p.index, p.access, p.type_name, p.size, p.alignment,
            p.is_reference) == ("buffer", 4, "read", "ns::Params", 32, 8, True)
    assert [(m.name, m.type, m.offset, m.size, m.array_length)
            for m in p.members] == [("rows", "int", 0, 4, 1),
                                    ("stride", "long", 8, 8, 1),
                                    ("weights", "float", 16, 4, 3)]
    assert (room.kind, room.index) == ("threadgroup", 1)


@case
def atomics_reflect_by_their_names(assembler):
    """A struct with a word __s, as an argument and as a member."""
    def counted(index, size, type_name, name, node):
        return (f'i32 {{i}}, !"air.buffer", !"air.location_index", i32 {index}'
                ', i32 1, !"air.read_write", !"air.address_space", i32 1, '
                f'!"air.struct_type_info", {node}, !"air.arg_type_size", i32 '
                f'{size}, !"air.arg_type_align_size", i32 4, '
                f'!"air.arg_type_name", !"{type_name}", !"air.arg_name", '
                f'!"{name}"')
    text = module(
        "f", "ptr addrspace(1) %s, ptr addrspace(1) %n", "  ret void",
        [counted(0, 12, "S", "s", "!40"),
         counted(1, 4, "metal::_atomic", "n", "!41")],
        nodes='!40 = !{i32 0, i32 4, i32 0, !"float", !"x", i32 4, i32 4, '
              'i32 2, !"metal::_atomic", !"m", !"air.struct_type_info", !42}\n'
              '!41 = !{i32 0, i32 4, i32 0, !"float", !"__s"}\n'
              '!42 = !{i32 0, i32 4, i32 0, !"int", !"__s"}')
    s, n = library_of(assembler, "f", text).function("f").arguments
    assert (n.type_name, n.type, n.components, n.members) == (
        "atomic_float", "float", 1, ())
    assert [(m.name, m.type_name, m.type, m.array_length, m.members)
            for m in s.members] == [
        ("x", "float", "float", 1, ()), ("m", "atomic_int", "int", 2, ())]


@case
def members_of_members(assembler):
    text = map_text("f", """  %p = insertvalue { i32, { float, float } } zeroinitializer, float %x, 1, 1
  %q = insertvalue { i32, { float, float } } %p, float 4.0, 1, 0
  %a = extractvalue { i32, { float, float } } %q, 1, 0
  %b = extractvalue { i32, { float, float } } %q, 1, 1
  %y = fsub float %b, %a""")
    x = np.arange(5, dtype=np.float32)
    assert (run_map(assembler, text, x) == x - 4).all()


@case
def promises_do_not_hold(assembler):
    """A buffer bound twice, in spite of noalias; nsw, in spite of wrapping."""
    text = map_text("f", "  %y = add nsw i32 %x, 1", "i32", "i32")
    text = text.replace("ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %i)",
                        "ptr addrspace(1) noalias %in, ptr addrspace(1) "
                        "noalias %out, i32 %i)")
    out = run_map(assembler, text, np.array([2 ** 31 - 1, 5], np.int32))
    assert list(out) == [-2 ** 31, 6]


@case
def integers_of_three_operands(assembler):
    rows = [("max3.s.i32", "i32 %x, i32 -3, i32 4", [-9, 9], [4, 9]),
            ("min3.u.i32", "i32 %x, i32 7, i32 8", [9, 3], [7, 3]),
            ("median3.s.i32", "i32 %x, i32 -3, i32 4", [-9, 2], [-3, 2]),
            ("mad_hi.u.i32", "i32 %x, i32 65536, i32 5", [65536, 1], [6, 5]),
            ("mad_sat.s.i32", "i32 %x, i32 65536, i32 1", [65536, 2],
             [2147483647, 131073]),
            ("abs_diff.s.i32", "i32 %x, i32 -3", [5, -9], [8, 6]),
            ("hadd.s.i32", "i32 %x, i32 2147483647", [2147483647, 1],
             [2147483647, 1073741824]),
            ("rhadd.u.i32", "i32 %x, i32 2", [3, 2], [3, 2]),
            ("mul24.s.i32", "i32 %x, i32 3", [-5, 7], [-15, 21]),
            ("mad24.u.i32", "i32 %x, i32 3, i32 1", [5, 7], [16, 22]),
            ("extract_bits.u.i32", "i32 %x, i32 4, i32 8", [0xabcd, 16],
             [0xbc, 1]),
            ("insert_bits.s.i32", "i32 %x, i32 5, i32 4, i32 4", [0, 255],
             [80, 95])]
    for name, arguments, values, wanted in rows:
        types = ", ".join(a.split()[0] for a in arguments.split(", "))
        text = map_text("f", f"  %y = call i32 @air.{name}({arguments})",
                        "i32", "i32", f"declare i32 @air.{name}({types})")
        out = run_map(assembler, text, np.array(values, np.int32))
        assert out.tolist() == wanted, (name, out)


@case
def packed_words(assembler):
    rows = [("unorm4x8", "<4 x float>", "v4f32", 4, 0xff800000,
             [0, 0, 128 / 255, 1]),
            ("snorm4x8", "<4 x float>", "v4f32", 4, 0x817f0000,
             [0, 0, 1, -1]),
            ("unorm2x16", "<2 x float>", "v2f32", 2, 0xffff0000, [0, 1]),
            ("unorm.rgb10a2", "<4 x float>", "v4f32", 4, 0xc00003ff,
             [1, 0, 0, 1])]
    for name, kind, suffix, lanes, word, wanted in rows:
        text = map_text(
            "f", f"  %v = call {kind} @air.unpack.{name}.{suffix}(i32 %x)\n"
            f"  %w = call i32 @air.pack.{name}.{suffix}({kind} %v)\n"
            "  %same = icmp eq i32 %w, %x\n"
            f"  %y = select i1 %same, {kind} %v, {kind} zeroinitializer",
            "i32", kind, f"declare {kind} @air.unpack.{name}.{suffix}(i32)\n"
            f"declare i32 @air.pack.{name}.{suffix}({kind})", (4, 4 * lanes))
        pipeline = library_of(assembler, "f", text).function("f").pipeline()
        out = run(pipeline, {0: np.array([word], np.uint32),
                             1: np.zeros(lanes, np.float32)}, 1, 1)[1]
        assert np.allclose(out, wanted, 1e-7, 0), (name, out)


@case
def truths_of_vectors(assembler):
    text = map_text("f", """  %c = icmp sgt <4 x i32> %x, zeroinitializer
  %a = call i1 @air.all.v4i1(<4 x i1> %c)
  %b = call i1 @air.any.v4i1(<4 x i1> %c)
  %p = zext i1 %a to i32
  %q = zext i1 %b to i32
  %r = shl i32 %p, 1
  %y = or i32 %r, %q""", "<4 x i32>", "i32",
                    "declare i1 @air.all.v4i1(<4 x i1>)\n"
                    "declare i1 @air.any.v4i1(<4 x i1>)", (16, 4))
    pipeline = library_of(assembler, "f", text).function("f").pipeline()
    x = np.array([[1, 1, 1, 1], [0, 0, 1, 0], [0, -1, 0, 0]], np.int32)
    out = run(pipeline, {0: x.ravel(), 1: np.zeros(3, np.int32)}, 3, 3)[1]
    assert out.tolist() == [3, 1, 0]


@case
def places_and_fences(assembler):
    """A thread's place without an argument for it, the simdgroup's size, a
    value that is uniform, memory that other devices see."""
    declare = ("declare i16 @air.get_thread_index_in_simdgroup.i16()\n"
               "declare i32 @air.get_simdgroup_size.i32()\n"
               "declare i1 @air.is_uniform.i32(i32)\n"
               "declare void @air.atomic.fence(i32, i32, i32)\n"
               "declare i32 @air.load.system_coherent.volatile.i32.p1i32("
               "ptr addrspace(1))\n"
               "declare void @air.store.system_coherent.volatile.i32.p1i32("
               "i32, ptr addrspace(1))")
    call = """  %v = call i32 @air.load.system_coherent.volatile.i32.p1i32(ptr addrspace(1) %from)
  call void @air.atomic.fence(i32 1, i32 5, i32 2)
  %l = call i16 @air.get_thread_index_in_simdgroup.i16()
  %w = zext i16 %l to i32
  %n = call i32 @air.get_simdgroup_size.i32()
  %u = call i1 @air.is_uniform.i32(i32 %v)
  %o = zext i1 %u to i32
  %a = mul i32 %w, 100
  %b = add i32 %a, %n
  %c = add i32 %b, %v
  %y = add i32 %c, %o
  call void @air.store.system_coherent.volatile.i32.p1i32(i32 7, ptr addrspace(1) %from)"""
    text = map_text("f", call, "i32", "i32", declare)
    x = np.full(40, 1000, np.int32)
    for debug in (False, True):
        pipeline = library_of(assembler, "f", text).function("f").pipeline(
            debug=debug)
        out = run(pipeline, {0: x.copy(), 1: np.zeros_like(x)}, 40, 40)
        assert (out[1] == np.arange(40) % 32 * 100 + 1033).all()
        assert (out[0] == 7).all()


@case
def spaces_and_copies_of_memory(assembler):
    """A table in constant memory, copied to the thread's and read through
    another space's pointer."""
    declare = ("@table = internal addrspace(2) constant [4 x i32] [i32 10, "
               "i32 20, i32 30, i32 40], align 4\n"
               "declare void @llvm.memcpy.p0.p2.i64(ptr, ptr addrspace(2), "
               "i64, i1)\n"
               "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    call = """  %own = alloca [8 x i32], align 4
  call void @llvm.memset.p0.i64(ptr align 4 %own, i8 1, i64 32, i1 false)
  call void @llvm.memcpy.p0.p2.i64(ptr align 4 %own, ptr addrspace(2) align 4 @table, i64 16, i1 false)
  %k = and i32 %x, 7
  %kz = zext i32 %k to i64
  %g = addrspacecast ptr %own to ptr addrspace(1)
  %p = getelementptr inbounds [8 x i32], ptr addrspace(1) %g, i64 0, i64 %kz
  %y = load i32, ptr addrspace(1) %p, align 4"""
    text = map_text("f", call, "i32", "i32", declare)
    out = run_map(assembler, text, np.arange(6, dtype=np.int32))
    assert out.tolist() == [10, 20, 30, 40, 0x01010101, 0x01010101]


@case
def copies_by_a_simdgroup(assembler):
    """A tile of 4 by 2 out of 8 by 4 into threadgroup memory, with an edge."""
    i64 = "i64, i64, ptr addrspace(3), i64, i64, <2 x i64>, ptr " \
        "addrspace(1), i64, i64, <2 x i64>, <2 x i64>, i32"
    declare = ("@room = internal addrspace(3) global [16 x i32] undef, align "
               "4\n"
               f"declare ptr @air.simdgroup_async_copy_2d.p3i8.p1i8({i64})\n"
               "declare void @air.wait_simdgroup_events(i32, ptr)")
    call = """  %list = alloca ptr, align 8
  %e = call ptr @air.simdgroup_async_copy_2d.p3i8.p1i8(i64 4, i64 4, ptr addrspace(3) @room, i64 4, i64 1, <2 x i64> <i64 4, i64 2>, ptr addrspace(1) %in, i64 8, i64 1, <2 x i64> <i64 3, i64 2>, <2 x i64> zeroinitializer, i32 0)
  store ptr %e, ptr %list, align 8
  call void @air.wait_simdgroup_events(i32 1, ptr %list)
  %k = and i64 %at, 7
  %p = getelementptr inbounds [16 x i32], ptr addrspace(3) @room, i64 0, i64 %k
  %y = load i32, ptr addrspace(3) %p, align 4"""
    text = map_text("f", call, "i32", "i32", declare)
    x = np.arange(100, 132, dtype=np.int32)
    out = run_map(assembler, text, x)
    assert out[:8].tolist() == [100, 101, 102, 0, 108, 109, 110, 0]


@case
def division_by_zero_is_defined(assembler):
    text = map_text("f", "  %y = sdiv i32 7, %x", "i32", "i32")
    assert list(run_map(assembler, text, np.array([0, 2], np.int32))) == [0, 3]


@case
def what_has_no_definition_is_named(assembler):
    text = map_text(
        "f", "  %z = call float @air.unheard_of.f32(float %x)\n"
        "  %y = call float @__tensorops_impl_any(float %z)", declare="declare "
        "float @air.unheard_of.f32(float)\n"
        "declare float @__tensorops_impl_any(float)")
    library = library_of(assembler, "f", text)
    raises(mettle.UnsupportedError,
           ["air.unheard_of.f32", "__tensorops_impl_any", "function f"],
           library.function, "f")


@case
def damaged_bitcode_is_a_status(assembler):
    """Also where it crashes LLVM's reader: the next function is translated."""
    bitcode = assembler(map_text("f", "  %y = fneg float %x"))
    rng = np.random.default_rng(3)
    outcomes = set()
    for _ in range(60):
        damaged = bytearray(bitcode)
        for _ in range(4):
            damaged[rng.integers(4, len(damaged))] ^= 1 << rng.integers(8)
        library = mettle.Library.load(DEVICE, pack([("f", "kernel",
                                                     bytes(damaged))]))
        try:
            library.function("f")
            outcomes.add("translated")
        except mettle.MettleError as error:
            outcomes.add(type(error).__name__)
    assert "BadDataError" in outcomes, outcomes
    x = np.arange(3, dtype=np.float32)
    assert list(run_map(assembler, map_text("f", "  %y = fneg float %x"),
                        x)) == [0, -1, -2]
