# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""program_cases.py: whole kernels as programs have them, written the way
Apple's compiler writes them out: with its attributes, scopes of aliasing and
flags. Each runs in both tiers against values that are written out."""

import re

import mettle
import numpy as np

from air import HEAD, buffer, builtin
from resource_cases import visible
from texture_cases import image, sampler, texture
from world import DEVICE, QUEUE, library_of, raises, run
from writer import pack

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


TAIL = '''
attributes #0 = { convergent mustprogress nounwind willreturn "approx-func-fp-math"="true" "frame-pointer"="all" "min-legal-vector-width"="128" "no-builtins" "no-infs-fp-math"="true" "no-nans-fp-math"="true" "no-signed-zeros-fp-math"="true" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "unsafe-fp-math"="true" }
attributes #1 = { nounwind willreturn memory(none) }
attributes #2 = { convergent nounwind willreturn }
!llvm.module.flags = !{!900, !901, !902}
!llvm.ident = !{!903}
!air.version = !{!904}
!air.language_version = !{!905}
!air.compile_options = !{!906, !907, !908}
!air.source_file_name = !{!909}
!900 = !{i32 1, !"wchar_size", i32 4}
!901 = !{i32 7, !"air.max_device_buffers", i32 31}
!902 = !{i32 7, !"air.max_textures", i32 128}
!903 = !{!"a compiler"}
!904 = !{i32 2, i32 7, i32 0}
!905 = !{!"Metal", i32 3, i32 2, i32 0}
!906 = !{!"air.compile.denorms_disable"}
!907 = !{!"air.compile.fast_math_disable"}
!908 = !{!"air.compile.framebuffer_fetch_enable"}
!909 = !{!"/tmp/program.metal"}
!950 = !{!951, !951, i64 0}
!951 = !{!"float", !952, i64 0}
!952 = !{!"omnipotent char", !953, i64 0}
!953 = !{!"Simple C++ TBAA"}
!960 = distinct !{!960, !961, !"air-alias-scope-arg(0)"}
!961 = distinct !{!961, !"air-alias-scopes(f)"}
!962 = !{!960}
'''
DEVICE_POINTER = 'ptr addrspace(1) nocapture noundef "air-buffer-no-alias"'


def renumbered(text):
    """Names for numbers, which LLVM's assembler wants to be in order."""
    return re.sub(r"^(\d+):", r"n\1:", re.sub(r"%(\d+)\b", r"%n\1", text),
                  flags=re.M)


def program(parameters, body, arguments, declare="", limits="", nodes="",
            more=""):
    first = 100
    lines = [HEAD.format(name="/tmp/program.metal"), declare,
             f"define void @f({parameters}) local_unnamed_addr #0 {{\n{body}\n"
             "}", TAIL, "!air.kernel = !{!10}", more,
             "!10 = !{ptr @f, !11, !12" + limits + "}", "!11 = !{}",
             "!12 = !{" + ", ".join(f"!{first + i}" for i in
                                    range(len(arguments))) + "}", nodes]
    lines += [f"!{first + i} = !{{{text.format(i=i)}}}"
              for i, text in enumerate(arguments)]
    return renumbered("\n".join(lines) + "\n")


def both(assembler, text, arguments, threads, group, constants=None,
         **options):
    """What both tiers leave in the buffers, which is the same."""
    function = library_of(assembler, "f", text).function("f", constants)
    results = [run(function.pipeline(debug=debug),
                   {i: a.copy() if isinstance(a, np.ndarray) else a
                    for i, a in arguments.items()}, threads, group, **options)
               for debug in (False, True)]
    for index in results[0]:
        assert (results[0][index].tobytes()
                == results[1][index].tobytes()), index
    return results[0]


@case
def two_images_into_a_third(assembler):
    """mix(a.sample(s, p), b.read(i), 0.25), written where it is."""
    T, S = "ptr addrspace(1)", "ptr addrspace(2)"
    text = program(
        f"{T} %0, {T} %1, {T} %2, {S} %3, <2 x i32> %4",
        f"""  %6 = tail call i32 @air.get_width_texture_2d({T} nocapture readonly %0, i32 0) #1
  %7 = tail call i32 @air.get_height_texture_2d({T} nocapture readonly %0, i32 0) #1
  %8 = insertelement <2 x i32> undef, i32 %6, i64 0
  %9 = insertelement <2 x i32> %8, i32 %7, i64 1
  %10 = tail call <2 x float> @air.convert.f.v2f32.u.v2i32(<2 x i32> %4) #1
  %11 = fadd fast <2 x float> %10, <float 5.000000e-01, float 5.000000e-01>
  %12 = tail call <2 x float> @air.convert.f.v2f32.u.v2i32(<2 x i32> %9) #1
  %13 = fdiv fast <2 x float> %11, %12
  %14 = tail call {{ <4 x float>, i8 }} @air.sample_texture_2d.v4f32({T} nocapture readonly %0, {S} nocapture readonly %3, <2 x float> %13, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.000000e+00, float 0.000000e+00, i32 0) #2, !alias.scope !962
  %15 = extractvalue {{ <4 x float>, i8 }} %14, 0
  %16 = tail call {S} @air.get_read_sampler() #1
  %17 = tail call {{ <4 x float>, i8 }} @air.read_texture_2d.v4f32({T} nocapture readonly %1, {S} %16, <2 x i32> %4, <2 x i32> zeroinitializer, i32 0, i32 1) #1, !noalias !962
  %18 = extractvalue {{ <4 x float>, i8 }} %17, 0
  %19 = fsub fast <4 x float> %18, %15
  %20 = fmul fast <4 x float> %19, <float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01>
  %21 = fadd fast <4 x float> %20, %15
  tail call void @air.write_texture_2d.v4f32({T} nocapture %2, <2 x i32> %4, <4 x float> %21, i32 0, i32 2) #2
  ret void""",
        [texture(0, "texture2d<float, sample>"),
         texture(1, "texture2d<float, read>", "read"),
         texture(2, "texture2d<float, write>", "write"), sampler(0),
         builtin("thread_position_in_grid", "uint2")],
        f"""declare i32 @air.get_width_texture_2d({T} nocapture readonly, i32) local_unnamed_addr #1
declare i32 @air.get_height_texture_2d({T} nocapture readonly, i32) local_unnamed_addr #1
declare <2 x float> @air.convert.f.v2f32.u.v2i32(<2 x i32>) local_unnamed_addr #1
declare {{ <4 x float>, i8 }} @air.sample_texture_2d.v4f32({T} nocapture readonly, {S} nocapture readonly, <2 x float>, i1, <2 x i32>, i1, float, float, i32) local_unnamed_addr #2
declare {S} @air.get_read_sampler() local_unnamed_addr #1
declare {{ <4 x float>, i8 }} @air.read_texture_2d.v4f32({T} nocapture readonly, {S}, <2 x i32>, <2 x i32>, i32, i32) local_unnamed_addr #1
declare void @air.write_texture_2d.v4f32({T} nocapture, <2 x i32>, <4 x float>, i32, i32) local_unnamed_addr #2""")
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = np.full((2, 3), 8, np.float32)
    for debug in (False, True):
        target = DEVICE.new_texture(3, 2, format="r32_float")
        pipeline = library_of(assembler, "f", text).function("f").pipeline(
            debug=debug)
        run(pipeline, {}, (3, 2), (2, 2), textures=[image(a), image(b),
                                                    target],
            samplers=[DEVICE.new_sampler(filter="linear")])
        assert target.numpy().tolist() == [[2, 2.75, 3.5], [4.25, 5, 5.75]]


CONSTANTS = """
@_ZL5scale.MTL_FC_INIT_0_f = internal addrspace(2) externally_initialized constant float undef, section "air.fc_initializer", align 4
@_ZL8has_bias.MTL_FC_INIT_1_b = internal addrspace(2) externally_initialized constant i8 undef, section "air.fc_initializer", align 1
@_ZL4mode.MTL_FC_INIT_2_i = internal addrspace(2) externally_initialized constant i32 undef, section "air.fc_initializer", align 4
@_ZL5scale = internal addrspace(2) global float undef, align 4
@_ZL8has_bias = internal addrspace(2) global i8 undef, align 1
@_ZL4mode = internal addrspace(2) global i32 undef, align 4
@predicate.bias = internal addrspace(2) global i8 0, align 1
@predicate.table = internal addrspace(2) global i8 0, align 1
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @_GLOBAL__sub_I_program.metal, ptr null }]
declare i8 @air.normalize_function_constant_predicate.i8(i8)
define internal void @_GLOBAL__sub_I_program.metal() section "air.static_init" {
  %1 = load float, ptr addrspace(2) @_ZL5scale.MTL_FC_INIT_0_f, align 4
  store float %1, ptr addrspace(2) @_ZL5scale, align 4
  %2 = load i8, ptr addrspace(2) @_ZL8has_bias.MTL_FC_INIT_1_b, align 1
  store i8 %2, ptr addrspace(2) @_ZL8has_bias, align 1
  %3 = load i32, ptr addrspace(2) @_ZL4mode.MTL_FC_INIT_2_i, align 4
  store i32 %3, ptr addrspace(2) @_ZL4mode, align 4
  %4 = call i8 @air.normalize_function_constant_predicate.i8(i8 %2)
  store i8 %4, ptr addrspace(2) @predicate.bias, align 1
  %5 = icmp sgt i32 %3, 1
  %6 = zext i1 %5 to i8
  %7 = call i8 @air.normalize_function_constant_predicate.i8(i8 %6)
  store i8 %7, ptr addrspace(2) @predicate.table, align 1
  ret void
}
"""


def conditional(index, name, predicate):
    return buffer(index, name, access="read",
                  more=f'!"air.function_constant", !{predicate}, ')


@case
def arguments_that_constants_switch(assembler):
    """out = in * scale [+ bias if has_bias] [+ table if mode > 1]."""
    body = """entry:
  %6 = zext i32 %4 to i64
  %7 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %6
  %8 = load float, ptr addrspace(1) %7, align 4, !tbaa !950, !alias.scope !962
  %9 = load float, ptr addrspace(2) @_ZL5scale, align 4
  %10 = fmul float %8, %9
  %11 = load i8, ptr addrspace(2) @_ZL8has_bias, align 1
  %12 = icmp eq i8 %11, 0
  br i1 %12, label %17, label %13

13:
  %14 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %6
  %15 = load float, ptr addrspace(1) %14, align 4
  %16 = fadd float %10, %15
  br label %17

17:
  %18 = phi float [ %16, %13 ], [ %10, %entry ]
  %19 = load i32, ptr addrspace(2) @_ZL4mode, align 4
  %20 = icmp sgt i32 %19, 1
  br i1 %20, label %21, label %25

21:
  %22 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %6
  %23 = load float, ptr addrspace(1) %22, align 4
  %24 = fadd float %18, %23
  br label %25

25:
  %26 = phi float [ %24, %21 ], [ %18, %17 ]
  %27 = getelementptr inbounds float, ptr addrspace(1) %3, i64 %6
  store float %26, ptr addrspace(1) %27, align 4, !tbaa !950, !noalias !962
  ret void"""
    text = program(
        ", ".join([f"{DEVICE_POINTER} %{i}" for i in range(4)] + ["i32 %4"]),
        body, [buffer(0, "in", access="read"),
               conditional(1, "bias", 60), conditional(2, "table", 61),
               buffer(3, "out"), builtin("thread_position_in_grid")],
        CONSTANTS, nodes="""!50 = !{ptr addrspace(2) @_ZL5scale.MTL_FC_INIT_0_f, !"float", !"scale", i32 0, i32 1}
!51 = !{ptr addrspace(2) @_ZL8has_bias.MTL_FC_INIT_1_b, !"bool", !"has_bias", i32 1, i32 1}
!52 = !{ptr addrspace(2) @_ZL4mode.MTL_FC_INIT_2_i, !"int", !"mode", i32 2, i32 1}
!60 = !{ptr addrspace(2) @predicate.bias, !"bool", !"has_bias"}
!61 = !{ptr addrspace(2) @predicate.table, !"bool", !"mode"}""",
        more="!air.function_constants = !{!50, !51, !52}")
    x, ten = np.arange(5, dtype=np.float32), np.full(5, 10, np.float32)
    for bias, mode, wanted in ((False, 1, [0, 3, 6, 9, 12]),
                               (True, 1, [10, 13, 16, 19, 22]),
                               (True, 2, [20, 23, 26, 29, 32])):
        bound = {0: x, 3: np.zeros(5, np.float32)}
        if bias:
            bound[1] = ten
        if mode > 1:
            bound[2] = ten
        out = both(assembler, text, bound, 5, 5,
                   {"scale": 3.0, "has_bias": bias, "mode": mode})[3]
        assert out.tolist() == wanted, (bias, mode, out)
    library = library_of(assembler, "f", text)
    function = library.function("f", {"scale": 3.0, "has_bias": False,
                                      "mode": 1})
    raises(mettle.MettleError, ["in"], run, function.pipeline(),
           {3: np.zeros(5, np.float32)}, 5, 5)


@case
def pointers_in_a_buffer(assembler):
    """device Mesh { device float *values; uint count; }: sums of each."""
    body = """  %3 = zext i32 %2 to i64
  %4 = getelementptr inbounds %struct.Mesh, ptr addrspace(1) %0, i64 %3, i32 1
  %5 = load i32, ptr addrspace(1) %4, align 8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %17, label %7

7:
  %8 = getelementptr inbounds %struct.Mesh, ptr addrspace(1) %0, i64 %3, i32 0
  %9 = load ptr addrspace(1), ptr addrspace(1) %8, align 8
  br label %10

10:
  %11 = phi i32 [ 0, %7 ], [ %16, %10 ]
  %12 = phi float [ 0.000000e+00, %7 ], [ %15, %10 ]
  %13 = zext i32 %11 to i64
  %14 = getelementptr inbounds float, ptr addrspace(1) %9, i64 %13
  %l = load float, ptr addrspace(1) %14, align 4, !tbaa !950
  %15 = fadd float %12, %l
  %16 = add nuw i32 %11, 1
  %e = icmp eq i32 %16, %5
  br i1 %e, label %17, label %10

17:
  %18 = phi float [ 0.000000e+00, %entry ], [ %15, %10 ]
  %19 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %3
  store float %18, ptr addrspace(1) %19, align 4, !tbaa !950
  ret void"""
    nodes = ('!40 = !{i32 0, i32 8, i32 0, !"float", !"values", '
             '!"air.indirect_argument", !41, i32 8, i32 4, i32 0, !"uint", '
             '!"count", !"air.indirect_argument", !42}\n'
             '!41 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, '
             'i32 1, !"air.read_write", !"air.address_space", i32 1, '
             '!"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4,'
             ' !"air.arg_type_name", !"float", !"air.arg_name", !"values"}\n'
             '!42 = !{i32 1, !"air.indirect_constant", '
             '!"air.location_index", i32 1, i32 1, !"air.arg_type_name", '
             '!"uint", !"air.arg_name", !"count"}')
    meshes = ('i32 {i}, !"air.indirect_buffer", !"air.location_index", i32 0,'
              ' i32 1, !"air.read", !"air.address_space", i32 1, '
              '!"air.struct_type_info", !40, !"air.arg_type_size", i32 16, '
              '!"air.arg_type_align_size", i32 8, !"air.arg_type_name", '
              '!"Mesh", !"air.arg_name", !"meshes"')
    text = program(f"{DEVICE_POINTER} %0, {DEVICE_POINTER} %1, i32 %2",
                   "entry:\n" + body,
                   [meshes, buffer(1, "out"),
                    builtin("thread_position_in_grid")],
                   "%struct.Mesh = type { ptr addrspace(1), i32 }",
                   nodes=nodes)
    one = DEVICE.new_buffer(np.arange(5, dtype=np.float32))
    two = DEVICE.new_buffer(np.full(3, 7, np.float32))
    words = np.array([one.gpu_address, 5, two.gpu_address, 3, 0, 0],
                     np.uint64)
    library = library_of(assembler, "f", text)
    for debug in (False, True):
        out = DEVICE.new_buffer(np.ones(3, np.float32))
        with QUEUE.command_buffer() as commands:
            with commands.compute_encoder() as compute:
                compute.set_pipeline(library.function("f").pipeline(
                    debug=debug))
                compute.set_buffer(0, DEVICE.new_buffer(words))
                compute.set_buffer(1, out)
                compute.use_buffer(one)
                compute.use_buffer(two)
                compute.dispatch_threads(3, 3)
        commands.wait()
        assert out.numpy(np.float32).tolist() == [10, 21, 0]


@case
def a_transposition_through_threadgroup_memory(assembler):
    """[[threadgroup(0)]] of a size that the caller gives."""
    body = """  %8 = mul i32 %5, 4
  %9 = add i32 %8, %4
  %10 = zext i32 %9 to i64
  %11 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %10
  %12 = load i32, ptr addrspace(1) %11, align 4
  %13 = getelementptr inbounds i32, ptr addrspace(3) %2, i64 %10
  store i32 %12, ptr addrspace(3) %13, align 4
  tail call void @air.wg.barrier(i32 2, i32 1) #2
  %14 = mul i32 %4, 4
  %15 = add i32 %14, %5
  %16 = zext i32 %15 to i64
  %17 = getelementptr inbounds i32, ptr addrspace(3) %2, i64 %16
  %18 = load i32, ptr addrspace(3) %17, align 4
  %19 = getelementptr inbounds i32, ptr addrspace(1) %1, i64 %10
  store i32 %18, ptr addrspace(1) %19, align 4
  ret void"""
    text = program(
        f"{DEVICE_POINTER} %0, {DEVICE_POINTER} %1, ptr addrspace(3) "
        "nocapture noundef %2, <2 x i16> %3",
        "  %x = extractelement <2 x i16> %3, i64 0\n"
        "  %y = extractelement <2 x i16> %3, i64 1\n"
        "  %4 = zext i16 %x to i32\n  %5 = zext i16 %y to i32\n" + body,
        [buffer(0, "in", "int", access="read"), buffer(1, "out", "int"),
         buffer(0, "room", "int", space="threadgroup"),
         builtin("thread_position_in_threadgroup", "ushort2")],
        "declare void @air.wg.barrier(i32, i32) local_unnamed_addr #2")
    x = np.arange(16, dtype=np.int32)
    out = both(assembler, text, {0: x, 1: np.zeros_like(x)}, (4, 4), (4, 4),
               memory=[(0, 64)])[1]
    assert (out.reshape(4, 4) == x.reshape(4, 4).T).all()


@case
def limits_of_threads(assembler):
    text = program(f"{DEVICE_POINTER} %0, i32 %1",
                   "  store i32 %1, ptr addrspace(1) %0, align 4\n  ret void",
                   [buffer(0, "out", "uint"),
                    builtin("threads_per_threadgroup")],
                   limits=', !80', nodes='!80 = !{!"air.max_work_group_size",'
                                         ' i32 64}')
    function = library_of(assembler, "f", text).function("f")
    pipeline = function.pipeline()
    assert pipeline.max_total_threads_per_threadgroup == 64
    assert run(pipeline, {0: np.zeros(1, np.int32)}, 64, 64)[0] == 64
    raises(mettle.MettleError, ["64", "65"], run, pipeline,
           {0: np.zeros(1, np.int32)}, 65, 65)


@case
def counters_of_every_kind(assembler):
    """A histogram; sums of floats; the least and the greatest; bits."""
    calls = [("add.u.i32", "i32", "i32 1"), ("max.u.i32", "i32", "i32 %1"),
             ("min.s.i32", "i32", "i32 %neg"), ("or.u.i32", "i32", "i32 %bit"),
             ("and.u.i32", "i32", "i32 %mask"), ("xor.u.i32", "i32",
                                                 "i32 %1"),
             ("sub.u.i32", "i32", "i32 2"), ("add.f32", "float",
                                             "float %half")]
    body = ["  %neg = sub i32 0, %1", "  %m = and i32 %1, 15",
            "  %bit = shl i32 1, %m", "  %mask = xor i32 %bit, -1",
            "  %f = uitofp i32 %1 to float", "  %half = fmul float %f, 5.0e-1"]
    for i, (name, kind, value) in enumerate(calls):
        body += [f"  %p{i} = getelementptr inbounds i32, ptr addrspace(1) %0,"
                 f" i64 {i}",
                 f"  %r{i} = tail call {kind} @air.atomic.global.{name}(ptr "
                 f"addrspace(1) nocapture %p{i}, {value}, i32 0, i32 2, i1 "
                 "true) #2"]
    declare = "\n".join(
        f"declare {kind} @air.atomic.global.{name}(ptr addrspace(1) nocapture"
        f", {kind}, i32, i32, i1) local_unnamed_addr #2"
        for name, kind, _ in calls)
    text = program(f"{DEVICE_POINTER} %0, i32 %1",
                   "\n".join(body + ["  ret void"]),
                   [buffer(0, "out", "uint"),
                    builtin("thread_position_in_grid")], declare)
    start = np.array([0, 0, 0, 0, -1, 0, 0, 0], np.int32)
    out = both(assembler, text, {0: start}, 64, 16)[0]
    # 0 to 63: their XOR is 0, half of their sum 1008.
    assert out[:7].tolist() == [64, 63, -63, 65535, -65536, 0, -128]
    assert out[7:].view(np.float32)[0] == 1008


@case
def counters_of_a_threadgroup(assembler):
    """Threadgroup atomics; only then one of the device's."""
    text = program(
        f"{DEVICE_POINTER} %0, i32 %1",
        """  %first = icmp eq i32 %1, 0
  br i1 %first, label %zero, label %ready

zero:
  store i32 0, ptr addrspace(3) @_ZZ1fE5count, align 4
  br label %ready

ready:
  tail call void @air.wg.barrier(i32 2, i32 1) #2
  %r = tail call i32 @air.atomic.local.add.s.i32(ptr addrspace(3) nocapture @_ZZ1fE5count, i32 %1, i32 0, i32 1, i1 true) #2
  tail call void @air.wg.barrier(i32 2, i32 1) #2
  br i1 %first, label %last, label %done

last:
  %v = tail call i32 @air.atomic.local.load.i32(ptr addrspace(3) nocapture @_ZZ1fE5count, i32 0, i32 1, i1 true) #2
  %s = tail call i32 @air.atomic.global.add.s.i32(ptr addrspace(1) nocapture %0, i32 %v, i32 0, i32 2, i1 true) #2
  br label %done

done:
  ret void""",
        [buffer(0, "out", "int"), builtin("thread_index_in_threadgroup")],
        """@_ZZ1fE5count = internal addrspace(3) global i32 undef, align 4
declare void @air.wg.barrier(i32, i32) local_unnamed_addr #2
declare i32 @air.atomic.local.add.s.i32(ptr addrspace(3) nocapture, i32, i32, i32, i1) local_unnamed_addr #2
declare i32 @air.atomic.local.load.i32(ptr addrspace(3) nocapture, i32, i32, i1) local_unnamed_addr #2
declare i32 @air.atomic.global.add.s.i32(ptr addrspace(1) nocapture, i32, i32, i32, i1) local_unnamed_addr #2""")
    out = both(assembler, text, {0: np.zeros(1, np.int32)}, 150, 50)[0]
    assert out[0] == 3 * 1225


@case
def vectors_of_halves_and_bfloats(assembler):
    """half4: fma and saturate; bfloat through float and back."""
    text = program(
        f"{DEVICE_POINTER} %0, {DEVICE_POINTER} %1, {DEVICE_POINTER} %2, "
        "i32 %3", """  %5 = zext i32 %3 to i64
  %6 = getelementptr inbounds <4 x half>, ptr addrspace(1) %0, i64 %5
  %7 = load <4 x half>, ptr addrspace(1) %6, align 8
  %8 = tail call <4 x half> @air.fma.v4f16(<4 x half> %7, <4 x half> <half 0xH4000, half 0xH4000, half 0xH4000, half 0xH4000>, <4 x half> <half 0xHB800, half 0xHB800, half 0xHB800, half 0xHB800>) #1
  %9 = tail call <4 x half> @air.saturate.v4f16(<4 x half> %8) #1
  %10 = getelementptr inbounds <4 x half>, ptr addrspace(1) %1, i64 %5
  store <4 x half> %9, ptr addrspace(1) %10, align 8
  %11 = extractelement <4 x half> %8, i64 1
  %12 = tail call bfloat @air.convert.f.bf16.f.f16(half %11) #1
  %13 = tail call float @air.convert.f.f32.f.bf16(bfloat %12) #1
  %14 = fadd float %13, 1.000000e+00
  %15 = tail call bfloat @air.convert.f.bf16.f.f32(float %14) #1
  %16 = getelementptr inbounds bfloat, ptr addrspace(1) %2, i64 %5
  store bfloat %15, ptr addrspace(1) %16, align 2
  ret void""",
        [buffer(0, "in", "half4", 8, "read"), buffer(1, "out", "half4", 8),
         buffer(2, "b", "bfloat", 2), builtin("thread_position_in_grid")],
        """declare <4 x half> @air.fma.v4f16(<4 x half>, <4 x half>, <4 x half>) local_unnamed_addr #1
declare <4 x half> @air.saturate.v4f16(<4 x half>) local_unnamed_addr #1
declare bfloat @air.convert.f.bf16.f.f16(half) local_unnamed_addr #1
declare float @air.convert.f.f32.f.bf16(bfloat) local_unnamed_addr #1
declare bfloat @air.convert.f.bf16.f.f32(float) local_unnamed_addr #1""")
    x = np.array([[0, 0.5, 0.625, 2], [0.25, 100, -1, 0.375]], np.float16)
    out = both(assembler, text,
               {0: x, 1: np.zeros_like(x), 2: np.zeros(2, np.uint16)}, 2, 2)
    assert out[1].tolist() == [0, 0.5, 0.75, 1, 0, 1, 0, 0.25]
    bfloats = (out[2].astype(np.uint32) << 16).view(np.float32)
    assert bfloats.tolist() == [1.5, 201]  # 199.5 is 200 in 8 bits


@case
def simdgroups_and_quadgroups(assembler):
    """Six functions of 64 threads that hold their index."""
    rows = [("simd_sum.u.i32", "i32 %1"), ("quad_shuffle_xor.u.i32",
                                           "i32 %1, i16 3"),
            ("simd_prefix_inclusive_sum.u.i32", "i32 %1"),
            ("quad_broadcast.u.i32", "i32 %1, i16 2"),
            ("simd_shuffle_rotate_down.u.i32", "i32 %1, i16 1"),
            ("quad_max.u.i32", "i32 %1")]
    body, declare = ["  %at = zext i32 %1 to i64"], []
    for i, (name, arguments) in enumerate(rows):
        types = ", ".join(a.split()[0] for a in arguments.split(", "))
        declare.append(f"declare i32 @air.{name}({types}) local_unnamed_addr "
                       "#2")
        body += [f"  %v{i} = tail call i32 @air.{name}({arguments}) #2",
                 f"  %p{i} = getelementptr inbounds [64 x i32], ptr "
                 f"addrspace(1) %0, i64 {i}, i64 %at",
                 f"  store i32 %v{i}, ptr addrspace(1) %p{i}, align 4"]
    body += ["  %odd = and i32 %1, 1", "  %is = icmp ne i32 %odd, 0",
             "  %b = tail call i64 @air.simd_ballot.i64(i1 %is) #2",
             "  %bits = trunc i64 %b to i32",
             "  %p = getelementptr inbounds [64 x i32], ptr addrspace(1) %0, "
             "i64 6, i64 %at",
             "  store i32 %bits, ptr addrspace(1) %p, align 4", "  ret void"]
    declare.append("declare i64 @air.simd_ballot.i64(i1) local_unnamed_addr "
                   "#2")
    text = program(f"{DEVICE_POINTER} %0, i32 %1", "\n".join(body),
                   [buffer(0, "out", "uint"),
                    builtin("thread_position_in_grid")], "\n".join(declare))
    out = both(assembler, text, {0: np.zeros(448, np.uint32)}, 64, 64)[0]
    out, i = out.reshape(7, 64), np.arange(64)
    wanted = [np.where(i < 32, 496, 1520), i ^ 3,
              np.concatenate([np.cumsum(i[:32]), np.cumsum(i[32:])]),
              i // 4 * 4 + 2, i // 32 * 32 + (i + 1) % 32, i // 4 * 4 + 3,
              np.full(64, 0xaaaaaaaa)]
    assert (out == np.array(wanted)).all()


@case
def a_product_of_halves(assembler):
    """simdgroup_half8x8 a and b into simdgroup_float8x8, with a transposed
    factor, from threadgroup memory."""
    H, F, p = "<64 x half>", "<64 x float>", "@air.simdgroup_matrix_8x8_"
    origin = "<2 x i64> zeroinitializer, i1 false"
    text = program(
        f"{DEVICE_POINTER} %0, {DEVICE_POINTER} %1, i32 %2",
        f"""  %at = zext i32 %2 to i64
  %from = getelementptr inbounds <4 x half>, ptr addrspace(1) %0, i64 %at
  %to = getelementptr inbounds <4 x half>, ptr addrspace(3) @room, i64 %at
  %v = load <4 x half>, ptr addrspace(1) %from, align 8
  store <4 x half> %v, ptr addrspace(3) %to, align 8
  tail call void @air.simdgroup.barrier(i32 2, i32 4) #2
  %a = tail call {H} {p}load.v64f16.p3f16(ptr addrspace(3) @room, i64 8, {origin}) #2
  %next = getelementptr inbounds half, ptr addrspace(3) @room, i64 64
  %b = tail call {H} {p}load.v64f16.p3f16(ptr addrspace(3) %next, i64 8, <2 x i64> zeroinitializer, i1 true) #2
  %z = tail call {F} {p}init_filled.v64f32.f32(float 1.000000e+00) #2
  %c = tail call {F} {p}multiply_accumulate.v64f32.v64f16.v64f16.v64f32({H} %a, {H} %b, {F} %z) #2
  tail call void {p}store.v64f32.p1f32({F} %c, ptr addrspace(1) %1, i64 8, {origin}) #2
  ret void""",
        [buffer(0, "in", "half", 2, "read"), buffer(1, "out"),
         builtin("thread_position_in_grid")],
        f"""@room = internal unnamed_addr addrspace(3) global [128 x half] undef, align 8
declare void @air.simdgroup.barrier(i32, i32) local_unnamed_addr #2
declare {H} {p}load.v64f16.p3f16(ptr addrspace(3), i64, <2 x i64>, i1) local_unnamed_addr #2
declare {F} {p}init_filled.v64f32.f32(float) local_unnamed_addr #2
declare {F} {p}multiply_accumulate.v64f32.v64f16.v64f16.v64f32({H}, {H}, {F}) local_unnamed_addr #2
declare void {p}store.v64f32.p1f32({F}, ptr addrspace(1), i64, <2 x i64>, i1) local_unnamed_addr #2""")
    x = (np.arange(128) % 7 - 3).astype(np.float16)
    out = both(assembler, text, {0: x, 1: np.zeros(64, np.float32)}, 32,
               32)[1]
    a, b = x.astype(np.float32).reshape(2, 8, 8)
    assert (out.reshape(8, 8) == a @ b.T + 1).all()


@case
def a_sort_within_a_threadgroup(assembler):
    """Bitonic, 64 numbers, a loop in a loop with a barrier in it."""
    text = program(
        f"{DEVICE_POINTER} %0, i32 %1", """entry:
  %at = zext i32 %1 to i64
  %own = getelementptr inbounds [64 x i32], ptr addrspace(3) @data, i64 0, i64 %at
  %from = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %at
  %v = load i32, ptr addrspace(1) %from, align 4
  store i32 %v, ptr addrspace(3) %own, align 4
  br label %outer

outer:
  %k = phi i32 [ 2, %entry ], [ %k2, %outer.end ]
  %j0 = lshr i32 %k, 1
  %up.bit = and i32 %1, %k
  %is.up = icmp eq i32 %up.bit, 0
  br label %inner

inner:
  %j = phi i32 [ %j0, %outer ], [ %j2, %inner.end ]
  tail call void @air.wg.barrier(i32 2, i32 1) #2
  %partner = xor i32 %1, %j
  %mine = icmp ugt i32 %partner, %1
  br i1 %mine, label %compare, label %inner.end

compare:
  %pz = zext i32 %partner to i64
  %other = getelementptr inbounds [64 x i32], ptr addrspace(3) @data, i64 0, i64 %pz
  %a = load i32, ptr addrspace(3) %own, align 4
  %b = load i32, ptr addrspace(3) %other, align 4
  %gt = icmp sgt i32 %a, %b
  %swap = xor i1 %gt, %is.up
  br i1 %swap, label %inner.end, label %exchange

exchange:
  store i32 %b, ptr addrspace(3) %own, align 4
  store i32 %a, ptr addrspace(3) %other, align 4
  br label %inner.end

inner.end:
  %j2 = lshr i32 %j, 1
  %more = icmp ugt i32 %j, 1
  br i1 %more, label %inner, label %outer.end

outer.end:
  %k2 = shl i32 %k, 1
  %again = icmp ult i32 %k, 64
  br i1 %again, label %outer, label %done

done:
  tail call void @air.wg.barrier(i32 2, i32 1) #2
  %r = load i32, ptr addrspace(3) %own, align 4
  store i32 %r, ptr addrspace(1) %from, align 4
  ret void""",
        [buffer(0, "data", "int"),
         builtin("thread_index_in_threadgroup")],
        "@data = internal unnamed_addr addrspace(3) global [64 x i32] undef, "
        "align 4\n"
        "declare void @air.wg.barrier(i32, i32) local_unnamed_addr #2")
    x = (np.arange(64) * 37 % 64 - 20).astype(np.int32)
    out = both(assembler, text, {0: x}, 64, 64)[0]
    assert (out == np.arange(-20, 44)).all()


@case
def tables_of_functions_with_vectors(assembler):
    """float4 (float4, float) in a table: as IR has them, not as C does."""
    table = ('i32 {i}, !"air.visible_function_table", !"air.location_index", '
             'i32 1, i32 1, !"air.read", !"air.arg_type_name", '
             '!"visible_function_table<float4 (float4, float)>", '
             '!"air.arg_name", !"table"')
    text = program(
        f"{DEVICE_POINTER} %0, ptr addrspace(1) %1, i32 %2",
        """  %k = and i32 %2, 1
  %f = tail call ptr @air.get_function_pointer_visible_function_table(ptr addrspace(1) %1, i32 %k) #1
  %x = uitofp i32 %2 to float
  %v = tail call <4 x float> %f(<4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>, float %x)
  %at = zext i32 %2 to i64
  %p = getelementptr inbounds <4 x float>, ptr addrspace(1) %0, i64 %at
  store <4 x float> %v, ptr addrspace(1) %p, align 16
  ret void""",
        [buffer(0, "out", "float4", 16), table,
         builtin("thread_position_in_grid")],
        "declare ptr @air.get_function_pointer_visible_function_table(ptr "
        "addrspace(1), i32) local_unnamed_addr #1")
    parts = [("f", "kernel", assembler(text))]
    for name, op in (("plus", "fadd"), ("times", "fmul")):
        parts.append((name, "visible", assembler(visible(
            name, "<4 x float> %v, float %s",
            "  %a = insertelement <4 x float> poison, float %s, i64 0\n"
            "  %b = shufflevector <4 x float> %a, <4 x float> poison, "
            f"<4 x i32> zeroinitializer\n  %r = {op} <4 x float> %v, %b\n"
            "  ret <4 x float> %r", "<4 x float>"))))
    library = mettle.Library.load(DEVICE, pack(parts))
    linked = [library.function("plus"), library.function("times")]
    for debug in (False, True):
        pipeline = library.function("f").pipeline(debug=debug,
                                                  linked_functions=linked)
        entries = pipeline.new_function_table(2)
        for i, function in enumerate(linked):
            entries[i] = function
        out = run(pipeline, {0: np.zeros(16, np.float32)}, 4, 4,
                  tables={1: entries})[0].reshape(4, 4)
        assert out.tolist() == [[1, 2, 3, 4], [1, 2, 3, 4], [3, 4, 5, 6],
                                [3, 6, 9, 12]]
