# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""resource_cases.py: function tables, indirect command buffers, argument
buffers and logs."""

import mettle
import numpy as np
from air import buffer, builtin, module
from world import DEVICE, QUEUE, raises, run
from writer import pack

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def visible(name, parameters, body, result="float", declare=""):
    """A visible function's module."""
    from air import HEAD
    return (HEAD.format(name=name) + declare
            + f"\ndefine {result} @{name}({parameters}) #0 {{\n{body}\n}}\n"
            "attributes #0 = { nounwind }\n"
            "!air.visible = !{!0}\n"
            f"!0 = !{{ptr @{name}, !1, !1}}\n!1 = !{{}}\n"
            "!air.compile_options = !{!2}\n"
            '!2 = !{!"air.compile.fast_math_disable"}\n')


def table(index):
    return ('i32 {i}, !"air.visible_function_table", !"air.location_index", '
            f'i32 {index}, i32 1, !"air.read", !"air.arg_type_name", '
            '!"visible_function_table<float (float)>", !"air.arg_name", '
            '!"table"')


LOOKUP = ("declare ptr @air.get_function_pointer_visible_function_table("
          "ptr addrspace(1), i32)\n"
          "declare i32 @air.get_size_visible_function_table("
          "ptr addrspace(1))\n"
          "declare i1 @air.is_null_visible_function_table(ptr addrspace(1))")


@case
def functions_of_a_table(assembler):
    """Each thread calls entry i modulo the table's size."""
    body = """  %n = call i32 @air.get_size_visible_function_table(ptr addrspace(1) %table)
  %k = urem i32 %i, %n
  %f = call ptr @air.get_function_pointer_visible_function_table(ptr addrspace(1) %table, i32 %k)
  %x = uitofp i32 %i to float
  %y = call float %f(float %x)
  %at = zext i32 %i to i64
  %to = getelementptr inbounds float, ptr addrspace(1) %out, i64 %at
  store float %y, ptr addrspace(1) %to, align 4
  ret void"""
    kernel = module("k", "ptr addrspace(1) %out, ptr addrspace(1) %table, "
                    "i32 %i", body,
                    [buffer(0, "out"), table(1),
                     builtin("thread_position_in_grid")], LOOKUP)
    twice = visible("twice", "float %x", "  %y = fmul float %x, 2.0\n"
                    "  ret float %y")
    root = visible("root", "float %x",
                   "  %y = call float @air.sqrt.f32(float %x)\n"
                   "  ret float %y",
                   declare="declare float @air.sqrt.f32(float)")
    library = mettle.Library.load(DEVICE, pack([
        ("k", "kernel", assembler(kernel)),
        ("twice", "visible", assembler(twice)),
        ("root", "visible", assembler(root))]))
    linked = [library.function("twice"), library.function("root")]
    assert library.function("k").arguments[1].kind == "function_table"
    for debug in (False, True):
        pipeline = library.function("k").pipeline(
            debug=debug, linked_functions=linked)
        entries = pipeline.new_function_table(2)
        for i, function in enumerate(linked):
            entries[i] = function
        out = run(pipeline, {0: np.zeros(10, np.float32)}, 10, 5,
                  tables={1: entries})[0]
        assert out[::2].tolist() == [0, 4, 8, 12, 16]
        wanted = np.sqrt(np.arange(1, 10, 2, dtype=np.float32))
        assert (out[1::2] == wanted).all()


@case
def a_visible_function_by_its_name(assembler):
    kernel = module("k", "ptr addrspace(1) %out, i32 %i",
                    "  %x = uitofp i32 %i to float\n"
                    "  %y = call float @half_of(float %x)\n"
                    "  %at = zext i32 %i to i64\n"
                    "  %to = getelementptr inbounds float, ptr addrspace(1) "
                    "%out, i64 %at\n"
                    "  store float %y, ptr addrspace(1) %to, align 4\n"
                    "  ret void",
                    [buffer(0, "out"), builtin("thread_position_in_grid")],
                    "declare float @half_of(float)")
    callee = visible("half_of", "float %x", "  %y = fmul float %x, 0.5\n"
                     "  ret float %y")
    library = mettle.Library.load(DEVICE, pack([
        ("k", "kernel", assembler(kernel)),
        ("half_of", "visible", assembler(callee))]))
    for debug in (False, True):
        pipeline = library.function("k").pipeline(
            debug=debug, private_functions=[library.function("half_of")])
        out = run(pipeline, {0: np.zeros(5, np.float32)}, 5, 5)[0]
        assert out.tolist() == [0, 0.5, 1, 1.5, 2]
    raises(mettle.MettleError, ["half_of"], library.function("k").pipeline)


@case
def a_table_that_is_null(assembler):
    kernel = module("k", "ptr addrspace(1) %out",
                    """  %z = call ptr addrspace(1) @air.get_null_visible_function_table()
  %n = call i1 @air.is_null_visible_function_table(ptr addrspace(1) %z)
  %s = call i32 @air.get_size_visible_function_table(ptr addrspace(1) %z)
  %m = zext i1 %n to i32
  %y = sub i32 %m, %s
  store i32 %y, ptr addrspace(1) %out, align 4
  ret void""", [buffer(0, "out", "int")], LOOKUP + "\ndeclare ptr "
                    "addrspace(1) @air.get_null_visible_function_table()")
    library = mettle.Library.load(DEVICE, pack([
        ("k", "kernel", assembler(kernel))]))
    pipeline = library.function("k").pipeline()
    assert run(pipeline, {0: np.zeros(1, np.int32)}, 1, 1)[0] == 1


# --- argument buffers --------------------------------------------------------

def resource(number, word, type_name, name, access="read", more=""):
    """The node of a member that is a resource, with its [[id(n)]]."""
    return (f'!{{i32 {number}, !"air.{word}", {more}!"air.location_index", '
            f'i32 {number}, i32 1, !"air.{access}", !"air.arg_type_name", '
            f'!"{type_name}", !"air.arg_name", !"{name}"}}')


def argument_buffer(index, size, members):
    return (f'i32 {{i}}, !"air.indirect_buffer", !"air.buffer_size", '
            f'i32 {size}, !"air.location_index", i32 {index}, i32 1, '
            '!"air.read", !"air.address_space", i32 2, '
            f'!"air.struct_type_info", {members}, !"air.arg_type_size", '
            f'i32 {size}, !"air.arg_type_align_size", i32 8, '
            '!"air.arg_type_name", !"Arguments", !"air.arg_name", !"a"')


POINTER = '!"air.address_space", i32 1, '


@case
def argument_buffers(assembler):
    """A buffer, an array of two, a struct with a texture and a constant in
    it: out = one[i] + many[1][i] + texel(i) * scale."""
    nodes = ("!40 = !{i32 0, i32 8, i32 0, !\"float\", !\"one\", "
             "!\"air.indirect_argument\", !41, "
             "i32 8, i32 8, i32 2, !\"float\", !\"many\", "
             "!\"air.indirect_argument\", !42, "
             "i32 24, i32 16, i32 0, !\"Inner\", !\"inner\", "
             "!\"air.struct_type_info\", !43}\n"
             f"!41 = {resource(0, 'buffer', 'float', 'one', more=POINTER)}\n"
             f"!42 = {resource(1, 'buffer', 'float', 'many', more=POINTER)}\n"
             "!43 = !{i32 0, i32 8, i32 0, !\"texture2d<float, read>\", "
             "!\"image\", !\"air.indirect_argument\", !44, "
             "i32 8, i32 4, i32 0, !\"float\", !\"scale\", "
             "!\"air.indirect_argument\", !45}\n"
             "!44 = " + resource(3, "texture", "texture2d<float, read>",
                                 "image") + "\n"
             '!45 = !{i32 4, !"air.indirect_constant", '
             '!"air.location_index", i32 4, i32 1, !"air.arg_type_name", '
             '!"float", !"air.arg_name", !"scale"}')
    body = """  %at = zext i32 %i to i64
  %p0 = getelementptr inbounds %Arguments, ptr addrspace(2) %a, i64 0, i32 0
  %one = load ptr addrspace(1), ptr addrspace(2) %p0, align 8
  %p1 = getelementptr inbounds %Arguments, ptr addrspace(2) %a, i64 0, i32 1, i64 1
  %many = load ptr addrspace(1), ptr addrspace(2) %p1, align 8
  %p2 = getelementptr inbounds %Arguments, ptr addrspace(2) %a, i64 0, i32 2, i32 0
  %image = load ptr addrspace(1), ptr addrspace(2) %p2, align 8
  %p3 = getelementptr inbounds %Arguments, ptr addrspace(2) %a, i64 0, i32 2, i32 1
  %scale = load float, ptr addrspace(2) %p3, align 8
  %q0 = getelementptr inbounds float, ptr addrspace(1) %one, i64 %at
  %v0 = load float, ptr addrspace(1) %q0, align 4
  %q1 = getelementptr inbounds float, ptr addrspace(1) %many, i64 %at
  %v1 = load float, ptr addrspace(1) %q1, align 4
  %c = insertelement <2 x i32> zeroinitializer, i32 %i, i64 0
  %r = call { <4 x float>, i8 } @air.read_texture_2d.v4f32(ptr addrspace(1) %image, <2 x i32> %c, i32 0, i32 1)
  %t = extractvalue { <4 x float>, i8 } %r, 0
  %v2 = extractelement <4 x float> %t, i64 0
  %s0 = fadd float %v0, %v1
  %s1 = fmul float %v2, %scale
  %y = fadd float %s0, %s1
  %to = getelementptr inbounds float, ptr addrspace(1) %out, i64 %at
  store float %y, ptr addrspace(1) %to, align 4
  ret void"""
    declare = ("%Arguments = type { ptr addrspace(1), "
               "[2 x ptr addrspace(1)], %Inner }\n"
               "%Inner = type { ptr addrspace(1), float }\n"
               "declare { <4 x float>, i8 } @air.read_texture_2d.v4f32("
               "ptr addrspace(1), <2 x i32>, i32, i32)")
    kernel = module("k", "ptr addrspace(2) %a, ptr addrspace(1) %out, i32 %i",
                    body, [argument_buffer(0, 40, "!40"), buffer(1, "out"),
                           builtin("thread_position_in_grid")], declare,
                    nodes=nodes)
    library = mettle.Library.load(DEVICE, pack([
        ("k", "kernel", assembler(kernel))]))
    function = library.function("k")
    members = function.arguments[0].members
    assert [(m.name, m.offset, m.array_length) for m in members] == [
        ("one", 0, 1), ("many", 8, 2), ("inner", 24, 1)]
    assert [m.name for m in members[2].members] == ["image", "scale"]
    encoder = mettle.ArgumentEncoder(function, 0)
    assert (encoder.encoded_length, encoder.alignment) == (40, 8)
    target = DEVICE.new_buffer(encoder.encoded_length)
    buffers = [DEVICE.new_buffer(np.arange(4, dtype=np.float32) * k)
               for k in (1, 10, 100)]
    image = mettle.Texture.from_array(
        DEVICE, np.array([[1, 2, 3, 4]], np.float32))
    encoder.set_argument_buffer(target)
    for member, given in enumerate(buffers):
        encoder.set_buffer(member, given)
    encoder.set_texture(3, image)
    encoder.set_constant(4, "float", 1000)
    for debug in (False, True):
        out = DEVICE.new_buffer(16)
        with QUEUE.command_buffer() as commands:
            with commands.compute_encoder() as compute:
                compute.set_pipeline(function.pipeline(debug=debug))
                compute.set_buffer(0, target)
                compute.set_buffer(1, out)
                for given in buffers:
                    compute.use_buffer(given)
                compute.use_texture(image)
                compute.dispatch_threads(4, 4)
        commands.wait()
        assert out.numpy(np.float32).tolist() == [1000, 2101, 3202, 4303]


# --- indirect command buffers ------------------------------------------------

@case
def commands_that_a_kernel_encodes(assembler):
    """Command i adds i + 1 to word i of a buffer, 8 times."""
    add = module("add", "ptr addrspace(1) %data",
                 "  %a = call i32 @air.atomic.global.add.u.i32(ptr "
                 "addrspace(1) %data, i32 1, i32 0, i32 2, i1 true)\n"
                 "  ret void", [buffer(0, "data", "uint")],
                 "declare i32 @air.atomic.global.add.u.i32(ptr addrspace(1),"
                 " i32, i32, i32, i1)")
    space = "ptr addrspace(1)"
    body = """  %p0 = getelementptr inbounds { ptr addrspace(1), ptr addrspace(1) }, ptr addrspace(2) %a, i64 0, i32 0
  %commands = load ptr addrspace(1), ptr addrspace(2) %p0, align 8
  %p1 = getelementptr inbounds { ptr addrspace(1), ptr addrspace(1) }, ptr addrspace(2) %a, i64 0, i32 1
  %pipeline = load ptr addrspace(1), ptr addrspace(2) %p1, align 8
  call void @air.set_pipeline_state_compute_command(ptr addrspace(1) %commands, i32 %i, ptr addrspace(1) %pipeline)
  %at = zext i32 %i to i64
  %own = getelementptr inbounds i32, ptr addrspace(1) %data, i64 %at
  call void @air.set_kernel_buffer_compute_command.p1i8(ptr addrspace(1) %commands, i32 %i, ptr addrspace(1) %own, i64 -1, i32 0)
  %n = add i32 %i, 1
  %g = insertelement <3 x i32> <i32 0, i32 1, i32 1>, i32 %n, i64 0
  call void @air.concurrent_dispatch_threads_compute_command(ptr addrspace(1) %commands, i32 %i, <3 x i32> %g, <3 x i32> <i32 1, i32 1, i32 1>)
  call void @air.set_barrier_compute_command(ptr addrspace(1) %commands, i32 %i)
  %s = call i32 @air.get_size_command_buffer(ptr addrspace(1) %commands)
  %last = getelementptr inbounds i32, ptr addrspace(1) %data, i64 7
  store i32 %s, ptr addrspace(1) %last, align 4
  ret void"""
    declare = "\n".join([
        f"declare void @air.set_pipeline_state_compute_command({space}, i32, "
        f"{space})",
        f"declare void @air.set_kernel_buffer_compute_command.p1i8({space}, "
        f"i32, {space}, i64, i32)",
        "declare void @air.concurrent_dispatch_threads_compute_command("
        f"{space}, i32, <3 x i32>, <3 x i32>)",
        f"declare void @air.set_barrier_compute_command({space}, i32)",
        f"declare i32 @air.get_size_command_buffer({space})"])
    nodes = ("!40 = !{i32 0, i32 8, i32 0, !\"command_buffer\", "
             "!\"commands\", !\"air.indirect_argument\", !41, "
             "i32 8, i32 8, i32 0, !\"compute_pipeline_state\", "
             "!\"pipeline\", !\"air.indirect_argument\", !42}\n"
             "!41 = " + resource(0, "command_buffer", "command_buffer",
                                 "commands") + "\n"
             "!42 = " + resource(1, "compute_pipeline_state",
                                 "compute_pipeline_state", "pipeline"))
    encode = module("encode", "ptr addrspace(2) %a, ptr addrspace(1) %data, "
                    "i32 %i", body, [argument_buffer(0, 16, "!40"),
                                     buffer(1, "data", "uint"),
                                     builtin("thread_position_in_grid")],
                    declare, nodes=nodes)
    library = mettle.Library.load(DEVICE, pack([
        ("add", "kernel", assembler(add)),
        ("encode", "kernel", assembler(encode))]))
    added = library.function("add").pipeline()
    encoding = library.function("encode").pipeline()
    indirect = DEVICE.new_indirect_command_buffer(4, max_buffers=1)
    arguments = DEVICE.new_buffer(np.array(
        [indirect.resource_id, added.resource_id], np.uint64))
    data = DEVICE.new_buffer(np.zeros(8, np.uint32))
    for step in range(2):
        with QUEUE.command_buffer() as commands:
            with commands.compute_encoder() as compute:
                compute.use_commands(indirect, "read_write")
                if step == 0:
                    compute.set_pipeline(encoding)
                    compute.set_buffer(0, arguments)
                    compute.set_buffer(1, data)
                    compute.dispatch_threads(4, 4)
                else:
                    compute.use_buffer(data, "read_write")
                    compute.execute(indirect)
        commands.wait()
    assert data.numpy(np.uint32).tolist() == [1, 2, 3, 4, 0, 0, 0, 4]


# --- logs --------------------------------------------------------------------

def messages_of(assembler, kernel, debug):
    library = mettle.Library.load(DEVICE, pack([
        ("k", "kernel", assembler(kernel))]))
    heard = []
    queue = DEVICE.new_queue(log_state=DEVICE.new_log_state(
        heard.append, level=mettle.LogLevel.DEBUG))
    with queue.command_buffer() as commands:
        with commands.compute_encoder() as compute:
            compute.set_pipeline(library.function("k").pipeline(debug=debug))
            compute.dispatch_threads(2, 2)
    commands.wait()
    return sorted(heard)


@case
def logs(assembler):
    """A function with "..." that passes its arguments on, as os_log's are
    compiled; and memory that a caller has packed itself."""
    text = "i=%u s=%d f=%.2f v=%v3f h=%v2hd l=%lx %s %c\\00"
    strings = (f'@format = internal addrspace(2) constant [{len(text) - 2} x '
               f'i8] c"{text}", align 1\n'
               '@subsystem = internal addrspace(2) constant [4 x i8] '
               'c"sub\\00"\n'
               '@category = internal addrspace(2) constant [4 x i8] '
               'c"cat\\00"\n'
               '@word = internal addrspace(2) constant [5 x i8] '
               'c"word\\00"\n'
               '@packed = internal addrspace(2) constant [6 x i8] '
               'c"%d %c\\00"\n'
               "declare void @llvm.va_start.p0(ptr)\n"
               "declare void @llvm.va_end.p0(ptr)\n"
               "declare void @air.os_log(ptr addrspace(2), ptr "
               "addrspace(2), i32, ptr addrspace(2), ptr, i64)\n"
               """define internal void @log(ptr addrspace(2) %f, i64 %n, ...) {
  %list = alloca ptr, align 8
  call void @llvm.va_start.p0(ptr %list)
  %values = load ptr, ptr %list, align 8
  call void @air.os_log(ptr addrspace(2) @subsystem, ptr addrspace(2) @category, i32 16, ptr addrspace(2) %f, ptr %values, i64 %n)
  call void @llvm.va_end.p0(ptr %list)
  ret void
}""")
    body = """  %own = alloca [2 x i32], align 4
  %m = sub i32 0, %i
  %x = uitofp i32 %i to float
  %v = insertelement <3 x float> <float 0.0, float 1.5, float 2.5>, float %x, i64 0
  call void (ptr addrspace(2), i64, ...) @log(ptr addrspace(2) @format, i64 60, i32 %i, i32 %m, float 0.25, <3 x float> %v, <2 x i16> <i16 -1, i16 7>, i64 1099511627775, ptr addrspace(2) @word, i32 33)
  store i32 %m, ptr %own, align 4
  %next = getelementptr inbounds i32, ptr %own, i64 1
  store i32 65, ptr %next, align 4
  call void @air.os_log(ptr addrspace(2) @subsystem, ptr addrspace(2) @category, i32 2, ptr addrspace(2) @packed, ptr %own, i64 8)
  ret void"""
    kernel = module("k", "i32 %i", body, [builtin("thread_position_in_grid")],
                    strings)
    for debug in (False, True):
        heard = messages_of(assembler, kernel, debug)
        assert [(m.subsystem, m.category, int(m.level), m.text)
                for m in heard] == [
            ("sub", "cat", 1, "-1 A"), ("sub", "cat", 1, "0 A"),
            ("sub", "cat", 4, "i=0 s=0 f=0.25 v=0.000000,1.500000,2.500000 "
             "h=-1,7 l=ffffffffff word !"),
            ("sub", "cat", 4, "i=1 s=-1 f=0.25 v=1.000000,1.500000,2.500000 "
             "h=-1,7 l=ffffffffff word !")], heard
