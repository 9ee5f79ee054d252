# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""texture_cases.py: functions of textures and samplers. Expected values are
written out or follow from the texels by Metal's rules of sampling."""

import mettle
import numpy as np

from air import buffer, builtin, module
from world import DEVICE, library_of, raises, run

CASES = {}
SAMPLE, READ, WRITE, READ_WRITE = range(4)  # how AIR counts accesses


def case(function):
    CASES[function.__name__] = function
    return function


def texture(index, type_name, access="sample", count=1):
    return (f'i32 {{i}}, !"air.texture", !"air.location_index", i32 {index}, '
            f'i32 {count}, !"air.{access}", !"air.arg_type_name", '
            f'!"{type_name}", !"air.arg_name", !"t{index}"')


def sampler(index):
    return ('i32 {i}, !"air.sampler", !"air.location_index", '
            f'i32 {index}, i32 1, !"air.arg_type_name", !"sampler", '
            '!"air.arg_name", !"s"')


TEXTURE, SAMPLER = "ptr addrspace(1)", "ptr addrspace(2)"


def text(body, arguments, declare, result="<4 x float>", size=16, more=(),
         nodes="", texture_type=TEXTURE):
    """A kernel that stores %y for thread %i; textures are %t0, %t1 and so on,
    the sampler is %s."""
    parameters = [f"{texture_type} %t{i}" for i, argument in
                  enumerate(a for a in arguments if "air.texture" in a)]
    parameters += [f"{SAMPLER} %s" for a in arguments if "air.sampler" in a]
    body = f"""  %at = zext i32 %i to i64
  %to = getelementptr inbounds {result}, ptr addrspace(1) %out, i64 %at
{body}
  store {result} %y, ptr addrspace(1) %to, align {size}
  ret void"""
    return module("f", ", ".join(parameters + ["ptr addrspace(1) %out",
                                               "i32 %i"]), body,
                  arguments + [buffer(0, "out", size=size),
                               builtin("thread_position_in_grid")],
                  declare, more=more, nodes=nodes)


def outcome(assembler, source, textures, count, kind=np.float32, lanes=4,
            samplers=()):
    """What both tiers store, which is the same."""
    function = library_of(assembler, "f", source).function("f")
    results = [run(function.pipeline(debug=debug),
                   {0: np.zeros(count * lanes, kind)}, count, min(count, 32),
                   textures=textures, samplers=samplers)[0]
               for debug in (False, True)]
    assert (results[0] == results[1]).all(), results
    return results[0].reshape(count, lanes)


def image(array, **options):
    return mettle.Texture.from_array(DEVICE, array, **options)


def ramp(height, width, channels=4):
    return np.arange(height * width * channels, dtype=np.float32).reshape(
        height, width, channels)


READ_2D = ("declare { <4 x float>, i8 } @air.read_texture_2d.v4f32("
           f"{TEXTURE}, {SAMPLER}, <2 x i32>, <2 x i32>, i32, i32)\n"
           f"declare {SAMPLER} @air.get_read_sampler()")


@case
def reads_of_two_dimensions(assembler):
    """The form of AIR 2.8, with a sampler and an offset, and that of 2.6."""
    pixels = ramp(3, 5)
    place = """  %x = urem i32 %i, 5
  %z = udiv i32 %i, 5
  %p = insertelement <2 x i32> undef, i32 %x, i64 0
  %q = insertelement <2 x i32> %p, i32 %z, i64 1
"""
    new = text(place + f"""  %n = call {SAMPLER} @air.get_read_sampler()
  %r = call {{ <4 x float>, i8 }} @air.read_texture_2d.v4f32({TEXTURE} %t0, {SAMPLER} %n, <2 x i32> %q, <2 x i32> zeroinitializer, i32 0, i32 1)
  %y = extractvalue {{ <4 x float>, i8 }} %r, 0""",
               [texture(0, "texture2d<float, read>", "read")], READ_2D)
    old = text(place + f"""  %r = call {{ <4 x float>, i8 }} @air.read_texture_2d.v4f32({TEXTURE} %t0, <2 x i32> %q, i32 0, i32 1)
  %y = extractvalue {{ <4 x float>, i8 }} %r, 0""",
               [texture(0, "texture2d<float, read>", "read")],
               "declare { <4 x float>, i8 } @air.read_texture_2d.v4f32("
               f"{TEXTURE}, <2 x i32>, i32, i32)")
    bare = text(place + f"""  %y = call <4 x float> @air.read_texture_2d.v4f32({TEXTURE} %t0, <2 x i32> %q, i32 0)""",
                [texture(0, "texture2d<float, read>", "read")],
                "declare <4 x float> @air.read_texture_2d.v4f32("
                f"{TEXTURE}, <2 x i32>, i32)")
    for source in (new, old, bare):
        out = outcome(assembler, source, [image(pixels)], 20)
        assert (out[:15] == pixels.reshape(15, 4)).all()
        assert (out[15:] == 0).all()  # row 3 is outside


@case
def reads_of_16_bits_and_integers(assembler):
    rows = [("s.v4i32", "<4 x i32>", "int", np.int32, "rgba32_sint",
             [[-1, 2, -3, 4]]),
            ("u.v4i16", "<4 x i16>", "ushort", np.uint16, "rgba16_uint",
             [[65535, 2, 3, 4]]),
            ("s.v4i16", "<4 x i16>", "short", np.int16, "rgba16_sint",
             [[-5, 2, 3, 4]]),
            ("v4f16", "<4 x half>", "half", np.float16, "rgba16_float",
             [[0.5, -2, 3, 4]])]
    for suffix, kind, name, dtype, form, pixels in rows:
        size = np.dtype(dtype).itemsize * 4
        source = text(
            f"  %r = call {{ {kind}, i8 }} @air.read_texture_2d.i16.{suffix}("
            f"{TEXTURE} %t0, <2 x i16> zeroinitializer, i16 0, i32 1)\n"
            f"  %y = extractvalue {{ {kind}, i8 }} %r, 0",
            [texture(0, f"texture2d<{name}, read>", "read")],
            f"declare {{ {kind}, i8 }} @air.read_texture_2d.i16.{suffix}("
            f"{TEXTURE}, <2 x i16>, i16, i32)", kind, size)
        out = outcome(assembler, source,
                      [image(np.array([pixels], dtype), format=form)], 1,
                      dtype)
        assert (out == pixels).all(), (suffix, out)


@case
def reads_of_every_class(assembler):
    """Texel (1, 2), element, face or plane 1, of textures whose texels are
    numbered; then the sides that the functions of sizes give."""
    x, xy = "i32 1", "<2 x i32> <i32 1, i32 2>"
    xyz, zero = "<3 x i32> <i32 1, i32 2, i32 1>", "<2 x i32> zeroinitializer"
    rows = [  # class, arguments, texture, its texel
        ("1d", [x, "i32 0", READ], dict(width=4), 0, 1),
        ("1d_array", [x, "i32 1", "i32 0", READ],
         dict(width=4, type="1d_array", array_length=2), 1, 1),
        ("2d_array", [xy, "i32 1", zero, "i32 0", READ],
         dict(width=4, height=4, type="2d_array", array_length=2), 1, 9),
        ("3d", [xyz, "<3 x i32> zeroinitializer", "i32 0", READ],
         dict(width=4, height=4, depth=2), 0, 25),
        ("cube", [xy, "i32 1", "i32 0", READ],
         dict(width=4, height=4, type="cube"), 1, 9),
        ("cube_array", [xy, "i32 1", "i32 1", "i32 0", READ],
         dict(width=4, height=4, type="cube_array", array_length=2), 7, 9),
        ("buffer_1d", [x, READ], dict(width=4, type="buffer"), None, 1)]
    for name, arguments, sides, part, wanted in rows:
        arguments = [f"i32 {a}" if isinstance(a, int) else a
                     for a in arguments]
        read = f"@air.read_texture_{name}.v4f32"
        types = ", ".join([TEXTURE, SAMPLER] + [
            a.rsplit(">", 1)[0].split(" <i")[0] + ">" if a.startswith("<2 x i32> <")
            else "<3 x i32>" if a.startswith("<3") else "<2 x i32>"
            if a.startswith("<2") else "i32" for a in arguments])
        types = types.replace("<2 x i32>>", "<2 x i32>")
        kind = "_buffer" if name == "buffer_1d" else name
        source = text(
            f"  %r = call {{ <4 x float>, i8 }} {read}({TEXTURE} %t0, "
            f"{SAMPLER} null, {', '.join(arguments)})\n"
            "  %y = extractvalue { <4 x float>, i8 } %r, 0",
            [texture(0, f"texture{kind}<float, read>", "read")],
            f"declare {{ <4 x float>, i8 }} {read}({types})")
        if part is None:
            memory = DEVICE.new_buffer(np.arange(4, dtype=np.float32))
            one = mettle.Texture.over(memory, 4, format="r32_float",
                                      type="buffer")
        else:
            one = DEVICE.new_texture(format="r32_float", **sides)
            one.replace(np.arange(np.prod(one.shape), dtype=np.float32),
                        slice=part)
        out = outcome(assembler, source, [one], 1)
        assert list(out[0]) == [wanted, 0, 0, 1], (name, out)


@case
def sizes(assembler):
    one = DEVICE.new_texture(8, 4, type="2d_array", array_length=3, levels=2,
                             format="r32_float")
    calls = [("get_width_texture_2d_array", "i32 1", 4),
             ("get_height_texture_2d_array", "i32 0", 4),
             ("get_array_size_texture_2d_array", None, 3),
             ("get_num_mip_levels_texture_2d_array", None, 2)]
    for name, level, wanted in calls:
        more = f", {level}" if level else ""
        source = text(f"  %y = call i32 @air.{name}({TEXTURE} %t0{more})",
                      [texture(0, "texture2d_array<float, sample>")],
                      f"declare i32 @air.{name}({TEXTURE}"
                      + (", i32)" if level else ")"), "i32", 4)
        assert outcome(assembler, source, [one], 1, np.int32, 1) == wanted
    solid = DEVICE.new_texture(8, 4, 5, format="r32_float")
    source = text(f"  %y = call i32 @air.get_depth_texture_3d({TEXTURE} %t0, "
                  "i32 0)", [texture(0, "texture3d<float, sample>")],
                  f"declare i32 @air.get_depth_texture_3d({TEXTURE}, i32)",
                  "i32", 4)
    assert outcome(assembler, source, [solid], 1, np.int32, 1) == 5


@case
def writes(assembler):
    """Texel (x, 1) of a texture of bytes, and element 1 of an array."""
    declare = ("declare void @air.write_texture_2d.v4f32(" + TEXTURE
               + ", <2 x i32>, <4 x float>, i32, i32)\n"
               "declare void @air.write_texture_2d_array.i16.u.v4i16("
               + TEXTURE + ", <2 x i16>, i16, <4 x i16>, i16, i32)\n"
               f"declare void @air.fence_texture_2d({TEXTURE})")
    body = f"""  %p = insertelement <2 x i32> <i32 0, i32 1>, i32 %i, i64 0
  %x = uitofp i32 %i to float
  %v = fdiv float %x, 4.0
  %c = insertelement <4 x float> <float 1.0, float 0.0, float 0.5, float 1.0>, float %v, i64 1
  call void @air.write_texture_2d.v4f32({TEXTURE} %t0, <2 x i32> %p, <4 x float> %c, i32 0, i32 2)
  call void @air.fence_texture_2d({TEXTURE} %t0)
  %h = trunc i32 %i to i16
  %q = insertelement <2 x i16> zeroinitializer, i16 %h, i64 0
  %d = insertelement <4 x i16> <i16 0, i16 -1, i16 2, i16 3>, i16 %h, i64 0
  call void @air.write_texture_2d_array.i16.u.v4i16({TEXTURE} %t1, <2 x i16> %q, i16 1, <4 x i16> %d, i16 0, i32 2)
  %y = uitofp i32 %i to float"""
    source = text(body, [texture(0, "texture2d<float, write>", "write"),
                         texture(1, "texture2d_array<ushort, write>",
                                 "write")], declare, "float", 4)
    bytes_, words = (DEVICE.new_texture(5, 2, format="rgba8_unorm"),
                     DEVICE.new_texture(5, 1, type="2d_array", array_length=2,
                                        format="rgba16_uint"))
    outcome(assembler, source, [bytes_, words], 5, lanes=1)
    assert (bytes_.numpy()[0] == 0).all()
    assert bytes_.numpy()[1].tolist() == [
        [255, green, 128, 255] for green in (0, 64, 128, 191, 255)]
    assert words.numpy(slice=1)[0].tolist() == [
        [i, 65535, 2, 3] for i in range(5)]


SAMPLE_2D = ("declare { <4 x float>, i8 } @air.sample_texture_2d.v4f32("
             f"{TEXTURE}, {SAMPLER}, <2 x float>, i1, <2 x i32>, i1, float, "
             "float, i32)")


def sample_text(by, point="%p", more="i1 true, <2 x i32> zeroinitializer, "
                "i1 false, float 0.0, float 0.0, i32 0", globals_="",
                nodes="", named=()):
    """Samples at (i / 8, 0.5)."""
    source = text(f"""  %x = uitofp i32 %i to float
  %u = fdiv float %x, 8.0
  %p = insertelement <2 x float> <float 0.0, float 0.5>, float %u, i64 0
  %r = call {{ <4 x float>, i8 }} @air.sample_texture_2d.v4f32({TEXTURE} %t0, {SAMPLER} {by}, <2 x float> {point}, {more})
  %y = extractvalue {{ <4 x float>, i8 }} %r, 0""",
                  [texture(0, "texture2d<float, sample>")]
                  + ([sampler(0)] if by == "%s" else []),
                  globals_ + SAMPLE_2D, more=named, nodes=nodes)
    return source


NUMBERS = np.array([[10, 20, 30, 40]], np.float32)
# At 0, 1/8, 2/8 ... 9/8 of a width of 4: between texels' middles.
NEAREST_EDGE = [10, 10, 20, 20, 30, 30, 40, 40, 40, 40]
LINEAR_EDGE = [10, 10, 15, 20, 25, 30, 35, 40, 40, 40]
LINEAR_REPEAT = [25, 10, 15, 20, 25, 30, 35, 40, 25, 10]
NEAREST_MIRROR = [10, 10, 20, 20, 30, 30, 40, 40, 40, 40]
LINEAR_ZERO = [5, 10, 15, 20, 25, 30, 35, 40, 20, 0]


@case
def samplers_that_are_bound(assembler):
    source = sample_text("%s")
    for options, wanted in (
            (dict(), NEAREST_EDGE),
            (dict(filter="linear"), LINEAR_EDGE),
            (dict(filter="linear", address="repeat"), LINEAR_REPEAT)):
        out = outcome(assembler, source, [image(NUMBERS)], 10,
                      samplers=[DEVICE.new_sampler(**options)])
        assert out[:, 0].tolist() == wanted, (options, out)


STATES = [  # bits of AIR, and what they give
    (0x007bff0000080049, NEAREST_EDGE), (0x007bff0000084a49, LINEAR_EDGE),
    (0x007bff0000084a92, LINEAR_REPEAT), (0x007bff00000800db, NEAREST_MIRROR),
    (0x007bff0000084a00, LINEAR_ZERO), (0x007bff0000080a49, LINEAR_EDGE),
    (0x007bff0000f84a49, LINEAR_EDGE)]


def signed(word):
    return word - 2 ** 64 if word >> 63 else word


def declare_states(states):
    """Variables as AIR 2.7 has them, and the list of them."""
    names = [f"@__air_sampler_state.{i}" for i in range(len(states))]
    variables = "".join(
        f"{name} = internal addrspace(2) constant [2 x i64] [i64 {state}, "
        "i64 0], align 8\n" for name, state in zip(names, states))
    listed = ", ".join(f"!{30 + i}" for i in range(len(states)))
    nodes = "\n".join(
        f'!{30 + i} = !{{!"air.sampler_state", ptr addrspace(2) {name}}}'
        for i, name in enumerate(names))
    return names, variables, [f"!air.sampler_states = !{{{listed}}}"], nodes


def table_of(names):
    """A table of samplers, one in each of its structs."""
    wrapped = ", ".join(f"{{ {SAMPLER} }} {{ {SAMPLER} {name} }}"
                        for name in names)
    return (f"@table = internal addrspace(2) constant [{len(names)} x "
            f"{{ {SAMPLER} }}] [{wrapped}], align 8\n")


@case
def samplers_that_are_constant(assembler):
    """A variable of two words or one, by AIR's version, and the address that
    the oldest have in their place."""
    state, wanted = STATES[2]
    old = signed(state | 1 << 63)
    names, variables, named, nodes = declare_states([state])
    for declare in (variables, f"{names[0]} = internal addrspace(2) constant "
                    f"i64 {old}, align 8\n"):
        source = sample_text(names[0], globals_=declare, named=named,
                             nodes=nodes)
        out = outcome(assembler, source, [image(NUMBERS)], 10)
        assert out[:, 0].tolist() == wanted, out[:, 0]
    without_limits = signed((state & 0xffffffff) | 1 << 63)
    source = sample_text(f"inttoptr (i64 {without_limits} to {SAMPLER})")
    out = outcome(assembler, source, [image(NUMBERS)], 10)
    assert out[:, 0].tolist() == wanted, out[:, 0]


@case
def samplers_of_a_table(assembler):
    """Chosen by the thread: what every field means."""
    names, variables, named, nodes = declare_states([s for s, _ in STATES])
    count = len(names)
    source = text(f"""  %k = udiv i32 %i, 10
  %m = urem i32 %i, 10
  %x = uitofp i32 %m to float
  %u = fdiv float %x, 8.0
  %p = insertelement <2 x float> <float 0.0, float 0.5>, float %u, i64 0
  %w = getelementptr inbounds [{count} x {{ {SAMPLER} }}], ptr addrspace(2) @table, i32 0, i32 %k, i32 0
  %c = load {SAMPLER}, ptr addrspace(2) %w, align 8
  %r = call {{ <4 x float>, i8 }} @air.sample_texture_2d.v4f32({TEXTURE} %t0, {SAMPLER} %c, <2 x float> %p, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  %y = extractvalue {{ <4 x float>, i8 }} %r, 0""",
                  [texture(0, "texture2d<float, sample>")],
                  variables + table_of(names) + SAMPLE_2D, more=named,
                  nodes=nodes)
    out = outcome(assembler, source, [image(NUMBERS)], 10 * count)
    for i, (state, wanted) in enumerate(STATES):
        assert out[10 * i:10 * i + 10, 0].tolist() == wanted, hex(state)


@case
def samplers_of_pixels(assembler):
    """Bit 15: coordinates are texels."""
    names, variables, named, nodes = declare_states([0x007bff0000088049])
    source = sample_text(names[0], "<float 2.5, float 0.5>",
                         globals_=variables, named=named, nodes=nodes)
    assert outcome(assembler, source, [image(NUMBERS)], 1)[0, 0] == 30


@case
def offsets_and_levels(assembler):
    two = DEVICE.new_texture(4, 1, levels=2, format="r32_float")
    two.replace(NUMBERS)
    two.replace(np.array([[100, 200]], np.float32), level=1)
    bound = DEVICE.new_sampler(mip_filter="linear")
    rows = [("i1 true, <2 x i32> <i32 1, i32 0>, i1 false, float 0.0, "
             "float 0.0, i32 0", [20, 30]),
            ("i1 false, <2 x i32> <i32 1, i32 0>, i1 false, float 0.0, "
             "float 0.0, i32 0", [10, 20]),  # the offset does not count
            ("i1 true, <2 x i32> zeroinitializer, i1 true, float 1.0, "
             "float 0.0, i32 0", [100, 100]),
            ("i1 true, <2 x i32> zeroinitializer, i1 true, float 0.5, "
             "float 0.0, i32 0", [55, 60]),
            # A bias is none in kernels, which sample level 0.
            ("i1 true, <2 x i32> zeroinitializer, i1 false, float 1.0, "
             "float 0.0, i32 0", [10, 20]),
            ("i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, "
             "float 1.0, i32 0", [100, 100])]
    for more, wanted in rows:
        out = outcome(assembler, sample_text("%s", more=more), [two], 3,
                      samplers=[bound])
        assert out[[0, 2], 0].tolist() == wanted, (more, out[:, 0])


@case
def gradients(assembler):
    """Steps of half a width of 4 are 2 texels: level 1."""
    two = DEVICE.new_texture(4, 1, levels=2, format="r32_float")
    two.replace(NUMBERS)
    two.replace(np.array([[100, 200]], np.float32), level=1)
    source = text(
        f"""  %r = call {{ <4 x float>, i8 }} @air.sample_texture_2d_grad.v4f32({TEXTURE} %t0, {SAMPLER} %s, <2 x float> <float 0.75, float 0.5>, <2 x float> <float 0.5, float 0.0>, <2 x float> zeroinitializer, float 0.0, i1 true, <2 x i32> zeroinitializer, i32 0)
  %y = extractvalue {{ <4 x float>, i8 }} %r, 0""",
        [texture(0, "texture2d<float, sample>"), sampler(0)],
        "declare { <4 x float>, i8 } @air.sample_texture_2d_grad.v4f32("
        f"{TEXTURE}, {SAMPLER}, <2 x float>, <2 x float>, <2 x float>, float,"
        " i1, <2 x i32>, i32)")
    out = outcome(assembler, source, [two], 1, samplers=[
        DEVICE.new_sampler(mip_filter="nearest")])
    assert out[0, 0] == 200


def one_call(name, arguments, result, class_name, access="sample"):
    """A function's only result is %y."""
    types = ", ".join(t for t, _ in arguments)
    values = ", ".join(f"{t} {v}" for t, v in arguments)
    kind = result[2:].split(", i8")[0] if result.startswith("{") else result
    take = (f"  %r = call {result} @air.{name}({values})\n"
            f"  %y = extractvalue {result} %r, 0") if "{" in result \
        else f"  %y = call {result} @air.{name}({values})"
    size = {"<4 x float>": 16, "float": 4, "<4 x half>": 8,
            "<4 x i32>": 16}[kind]
    return text(take, [texture(0, class_name, access), sampler(0)],
                f"declare {result} @air.{name}({types})", kind, size)


T0, S = (TEXTURE, "%t0"), (SAMPLER, "%s")
OFFSET = [("i1", "true"), ("<2 x i32>", "zeroinitializer")]
LEVEL = [("i1", "false"), ("float", "0.0"), ("float", "0.0"), ("i32", "0")]
COLOR, DEPTH = "{ <4 x float>, i8 }", "{ float, i8 }"


@case
def samples_of_every_class(assembler):
    """The middle of a texel, of every class that is sampled."""
    point = ("<2 x float>", "<float 0.375, float 0.625>")  # texel (1, 2)
    solid = ("<3 x float>", "<float 0.375, float 0.625, float 0.75>")
    minus_x = ("<3 x float>", "<float -1.0, float -0.25, float -0.25>")
    rows = [("1d", [("float", "0.375")], LEVEL, dict(width=4), 0, 1),
            ("1d", [("float", "0.375"), ("i1", "true"), ("i32", "0")], LEVEL,
             dict(width=4), 0, 1),
            ("1d_array", [("float", "0.375"), ("i32", "1"), ("i1", "false"),
                          ("i32", "0")], LEVEL,
             dict(width=4, type="1d_array", array_length=2), 1, 1),
            ("2d_array", [point, ("i32", "1")] + OFFSET, LEVEL,
             dict(width=4, height=4, type="2d_array", array_length=2), 1, 9),
            ("3d", [solid, ("i1", "true"), ("<3 x i32>", "zeroinitializer")],
             LEVEL, dict(width=4, height=4, depth=2), 0, 25),
            # Of face -x (1): s is z, t is -y: texel (1, 2).
            ("cube", [minus_x], LEVEL, dict(width=4, height=4, type="cube"),
             1, 9),
            ("cube_array", [minus_x, ("i32", "1")], LEVEL,
             dict(width=4, height=4, type="cube_array", array_length=2), 7,
             9)]
    for name, arguments, level, sides, part, wanted in rows:
        one = DEVICE.new_texture(format="r32_float", **sides)
        one.replace(np.arange(np.prod(one.shape), dtype=np.float32),
                    slice=part)
        source = one_call(f"sample_texture_{name}.v4f32",
                          [T0, S] + arguments + level, COLOR,
                          f"texture{name}<float, sample>")
        out = outcome(assembler, source, [one], 1,
                      samplers=[DEVICE.new_sampler()])
        assert list(out[0]) == [wanted, 0, 0, 1], (name, out)


@case
def samples_of_halves_and_integers(assembler):
    source = one_call("sample_texture_2d.v4f16",
                      [T0, S, ("<2 x float>", "<float 0.5, float 0.5>")]
                      + OFFSET + LEVEL, "{ <4 x half>, i8 }",
                      "texture2d<half, sample>")
    bound = [DEVICE.new_sampler(filter="linear")]
    out = outcome(assembler, source, [image(NUMBERS)], 1, np.float16,
                  samplers=bound)
    assert out[0].tolist() == [25, 0, 0, 1]
    whole = np.array([[[7, -8, 9, 10]]], np.int32)
    source = one_call("sample_texture_2d.s.v4i32",
                      [T0, S, ("<2 x float>", "<float 0.5, float 0.5>")]
                      + OFFSET + LEVEL, "{ <4 x i32>, i8 }",
                      "texture2d<int, sample>")
    out = outcome(assembler, source, [image(whole)], 1, np.int32,
                  samplers=bound)
    assert out[0].tolist() == [7, -8, 9, 10]


@case
def gathers(assembler):
    """Components of the four texels around (0.5, 0.5), from the lower left
    one on against the clock."""
    pixels = ramp(2, 2)
    for component, wanted in ((0, [8, 12, 4, 0]), (2, [10, 14, 6, 2])):
        source = one_call(
            "gather_texture_2d.v4f32",
            [T0, S, ("<2 x float>", "<float 0.5, float 0.5>")] + OFFSET
            + [("i32", str(component)), ("i32", "0")], COLOR,
            "texture2d<float, sample>")
        out = outcome(assembler, source, [image(pixels)], 1,
                      samplers=[DEVICE.new_sampler()])
        assert out[0].tolist() == wanted, out


def depths(pixels):
    one = DEVICE.new_texture(pixels.shape[1], pixels.shape[0],
                             format="depth32_float")
    one.replace(pixels)
    return one


@case
def depth_textures(assembler):
    """Read, sampled, compared and gathered, with the number that depth
    textures have behind the sampler."""
    pixels = np.array([[0.25, 0.5], [0.75, 1.0]], np.float32)
    kind, middle = ("i32", "1"), ("<2 x float>", "<float 0.5, float 0.5>")
    rows = [("read_depth_2d.f32", [T0, (SAMPLER, "null"), kind,
                                   ("<2 x i32>", "<i32 1, i32 0>"),
                                   ("<2 x i32>", "zeroinitializer"),
                                   ("i32", "0"), ("i32", "1")], DEPTH,
             "linear", [0.5]),
            ("sample_depth_2d.f32", [T0, S, kind, middle] + OFFSET + LEVEL,
             DEPTH, "linear", [0.625]),
            # Less than 0.625: two of four texels pass the comparison
            # "reference is less".
            ("sample_compare_depth_2d.f32",
             [T0, S, kind, middle, ("float", "0.625")] + OFFSET + LEVEL, DEPTH,
             "linear", [0.5]),
            ("gather_depth_2d.v4f32", [T0, S, kind, middle] + OFFSET
             + [("i32", "0")], COLOR, "nearest", [0.75, 1.0, 0.5, 0.25]),
            ("gather_compare_depth_2d.f32",
             [T0, S, kind, middle, ("float", "0.625")] + OFFSET
             + [("i32", "0")], COLOR, "nearest", [1, 1, 0, 0])]
    for name, arguments, result, how, wanted in rows:
        source = one_call(name, arguments, result, "depth2d<float, sample>")
        bound = DEVICE.new_sampler(filter=how, compare_function="less")
        out = outcome(assembler, source, [depths(pixels)], 1,
                      lanes=len(wanted), samplers=[bound])
        assert out[0].tolist() == wanted, (name, out)


@case
def comparisons_of_constant_samplers(assembler):
    """less, less_equal, greater, greater_equal, equal, not_equal, always,
    never are 1 to 8. References are 1/8, 2/8 and 3/8, the texel is 2/8."""
    names, variables, named, nodes = declare_states(
        [0x007bff0000000049 | function << 16 for function in range(1, 9)])
    source = text(
        f"""  %k = udiv i32 %i, 3
  %m = urem i32 %i, 3
  %x = uitofp i32 %m to float
  %n = fadd float %x, 1.0
  %v = fdiv float %n, 8.0
  %w = getelementptr inbounds [8 x {{ {SAMPLER} }}], ptr addrspace(2) @table, i32 0, i32 %k, i32 0
  %c = load {SAMPLER}, ptr addrspace(2) %w, align 8
  %r = call {DEPTH} @air.sample_compare_depth_2d.f32({TEXTURE} %t0, {SAMPLER} %c, i32 1, <2 x float> <float 0.5, float 0.5>, float %v, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  %y = extractvalue {DEPTH} %r, 0""",
        [texture(0, "depth2d<float, sample>")],
        variables + table_of(names)
        + f"declare {DEPTH} @air.sample_compare_depth_2d.f32({TEXTURE}, "
        f"{SAMPLER}, i32, <2 x float>, float, i1, <2 x i32>, i1, float, "
        "float, i32)", "float", 4, named, nodes)
    out = outcome(assembler, source, [depths(np.array([[0.25]], np.float32))],
                  24, lanes=1)
    assert out.reshape(8, 3).tolist() == [
        [1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1],
        [0, 1, 0], [1, 0, 1], [1, 1, 1], [0, 0, 0]]


@case
def atomics_on_texels(assembler):
    name = "_explicit_texture_2d."
    vector = "<4 x i32>"
    place = "<2 x i32> zeroinitializer"
    declare = "\n".join(
        f"declare {vector} @air.atomic_{op}{name}{sign}.v4i32({TEXTURE}, "
        f"<2 x i32>, {vector}, i32, i32)"
        for op, sign in (("fetch_add", "u"), ("fetch_max", "s"),
                         ("exchange", "u")))
    declare += f"""
declare {vector} @air.atomic_load{name}u.v4i32({TEXTURE}, <2 x i32>, i32, i32)
declare void @air.atomic_store{name}u.v4i32({TEXTURE}, {vector}, <2 x i32>, i32, i32)
declare i1 @air.atomic_compare_exchange_weak{name}u.v4i32({TEXTURE}, <2 x i32>, ptr, {vector}, i32, i32, i32)"""
    body = f"""  %e = alloca {vector}, align 16
  %a = call {vector} @air.atomic_fetch_add{name}u.v4i32({TEXTURE} %t0, {place}, {vector} <i32 2, i32 0, i32 0, i32 0>, i32 0, i32 3)
  %v = insertelement {vector} zeroinitializer, i32 %i, i64 0
  %b = call {vector} @air.atomic_fetch_max{name}s.v4i32({TEXTURE} %t0, <2 x i32> <i32 1, i32 0>, {vector} %v, i32 0, i32 3)
  call void @air.atomic_store{name}u.v4i32({TEXTURE} %t0, {vector} <i32 77, i32 0, i32 0, i32 0>, <2 x i32> <i32 2, i32 0>, i32 0, i32 3)
  store {vector} <i32 5, i32 0, i32 0, i32 0>, ptr %e, align 16
  %c = call i1 @air.atomic_compare_exchange_weak{name}u.v4i32({TEXTURE} %t0, <2 x i32> <i32 3, i32 0>, ptr %e, {vector} <i32 6, i32 0, i32 0, i32 0>, i32 0, i32 0, i32 3)
  %d = call {vector} @air.atomic_load{name}u.v4i32({TEXTURE} %t0, <2 x i32> <i32 2, i32 0>, i32 0, i32 3)
  %n = load {vector}, ptr %e, align 16
  %o = call {vector} @air.atomic_exchange{name}u.v4i32({TEXTURE} %t0, <2 x i32> <i32 9, i32 9>, {vector} %v, i32 0, i32 3)
  %y = add {vector} %d, %o"""
    source = text(body, [texture(0, "texture2d<uint, read_write>",
                                 "read_write")], declare, vector, 16)
    for debug in (False, True):
        one = DEVICE.new_texture(4, 1, format="r32_uint")
        one.replace(np.array([[0, 0, 0, 5]], np.uint32))
        function = library_of(assembler, "f", source).function("f")
        out = run(function.pipeline(debug=debug), {0: np.zeros(400, np.int32)},
                  100, 25, textures=[one])[0]
        assert one.numpy().tolist() == [[200, 99, 77, 6]]
        # The texels read; nothing from outside the texture.
        assert (out.reshape(100, 4) == [77, 0, 0, 0]).all()


@case
def arrays_of_textures(assembler):
    """The address of the array's elements."""
    source = text(f"""  %h = getelementptr inbounds ptr addrspace(1), ptr %t0, i32 %i
  %t = load {TEXTURE}, ptr %h, align 8
  %r = call {{ <4 x float>, i8 }} @air.read_texture_2d.v4f32({TEXTURE} %t, {SAMPLER} null, <2 x i32> zeroinitializer, <2 x i32> zeroinitializer, i32 0, i32 1)
  %y = extractvalue {{ <4 x float>, i8 }} %r, 0""",
                  [texture(0, "array<texture2d<float, read>, 3>", "read", 3)],
                  READ_2D, texture_type="ptr")
    library = library_of(assembler, "f", source)
    argument = library.function("f").arguments[0]
    assert (argument.kind, argument.array_length) == ("texture", 3)
    out = outcome(assembler, source,
                  [image(np.full((1, 1), v, np.float32)) for v in (5, 6, 7)],
                  3)
    assert out[:, 0].tolist() == [5, 6, 7]


@case
def null_textures(assembler):
    source = text(f"""  %n = call i1 @air.is_null_texture_2d({TEXTURE} %t0)
  %z = call {TEXTURE} @air.get_null_texture_2d()
  %m = call i1 @air.is_null_texture_2d({TEXTURE} %z)
  %a = zext i1 %n to i32
  %b = zext i1 %m to i32
  %c = mul i32 %b, 2
  %y = or i32 %a, %c""", [texture(0, "texture2d<float, read>", "read")],
                  f"declare i1 @air.is_null_texture_2d({TEXTURE})\n"
                  f"declare {TEXTURE} @air.get_null_texture_2d()", "i32", 4)
    assert outcome(assembler, source, [image(NUMBERS)], 1, np.int32,
                   1) == 2


@case
def what_only_fragments_have_is_named(assembler):
    source = text(f"  %y = call float @air.calculate_clamped_lod_texture_2d("
                  f"{TEXTURE} %t0, {SAMPLER} %s, <2 x float> zeroinitializer, "
                  "i32 0)", [texture(0, "texture2d<float, sample>"),
                             sampler(0)],
                  "declare float @air.calculate_clamped_lod_texture_2d("
                  f"{TEXTURE}, {SAMPLER}, <2 x float>, i32)", "float", 4)
    raises(mettle.UnsupportedError,
           ["air.calculate_clamped_lod_texture_2d", "function f"],
           library_of(assembler, "f", source).function, "f")
