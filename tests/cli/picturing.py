# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""picturing.py: textures and samplers of `mettle run`."""

import numpy as np

from tool import case

# Type in MSL, how a position names a texel, and the shape of its array.
SHAPES = (("texture1d", "p.x", (7,)),
          ("texture1d_array", "p.x, p.y", (3, 7)),
          ("texture2d", "p.xy", (5, 7)),
          ("texture2d_array", "p.xy, p.z", (3, 5, 7)),
          ("texture3d", "p", (3, 5, 7)),
          ("texturecube", "p.xy, p.z", (6, 4, 4)),
          ("texturecube_array", "p.xy, p.z % 6, p.z / 6", (12, 4, 4)))


def _double(tool, name, element, access):
    tool.write("double.metal", f"""
        #include <metal_stdlib>
        using namespace metal;
        kernel void twice({name}<{element}, access::read> x [[texture(0)]],
                          {name}<{element}, access::write> y [[texture(1)]],
                          uint3 p [[thread_position_in_grid]]) {{
          y.write(x.read({access}) * 2, {access});
        }}""")


def _grid(shape):
    return ",".join(map(str, shape[::-1]))


@case
def textures_of_every_shape_come_from_files_and_go_to_files(tool):
    for name, access, shape in SHAPES:
        _double(tool, name, "float", access)
        x = np.arange(np.prod(shape) * 4, dtype="f4").reshape(*shape, 4)
        tool.save("x.npy", x)
        tool.done("run", "double.metal", "twice", "--grid", _grid(shape),
                  "tex0=@x.npy", f"tex1=rgba32Float:{_grid(shape)}", "--save",
                  "tex1=y.npy")
        y = tool.load("y.npy")
        assert y.dtype == np.float32 and y.shape == x.shape, name
        np.testing.assert_array_equal(y, x * 2)


@case
def an_arrays_type_says_the_format(tool):
    for dtype, element, components in (
            ("f4", "float", 1), ("f2", "half", 2), ("u1", "float", 4),
            ("i1", "float", 1), ("u1", "uint", 4), ("i2", "int", 2),
            ("u4", "uint", 1), ("i4", "int", 4), ("u2", "float", 1)):
        _double(tool, "texture2d", element, "p.xy")
        shape = (3, 9, components) if components > 1 else (3, 9)
        x = (np.arange(np.prod(shape)) % 60).reshape(shape).astype(dtype)
        tool.save("x.npy", x)
        tool.save("y.npy", np.zeros_like(x))
        tool.done("run", "double.metal", "twice", "--grid", "9,3",
                  "tex0=@x.npy", "tex1=@y.npy", "--save", "tex1=z.npy")
        z = tool.load("z.npy")
        assert z.dtype == x.dtype and z.shape == x.shape
        np.testing.assert_array_equal(z, x * 2, f"{dtype} {element}")


@case
def a_format_can_be_named(tool):
    _double(tool, "texture2d", "float", "p.xy")
    x = np.arange(24, dtype="u1").reshape(2, 3, 4)
    tool.save("x.npy", x)
    tool.done("run", "double.metal", "twice", "--grid", "3,2",
              "tex0=@x.npy:bgra8Unorm", "tex1=rgba8Unorm:3,2", "--save",
              "tex1=y.npy")
    np.testing.assert_array_equal(tool.load("y.npy"), x[..., [2, 1, 0, 3]] * 2)
    packed = np.array([[0x3ff, 0x3ff << 10, 3 << 30]], "u4")
    tool.save("x.npy", packed)
    result = tool.done("run", "double.metal", "twice", "--grid", "3,1",
                       "tex0=@x.npy:rgb10a2Unorm", "tex1=rgba32Float:3",
                       "--print", "tex1:12")
    assert result.out == "tex1: 2 0 0 0 0 2 0 0 0 0 0 2\n", result.out


@case
def samplers_filter_and_repeat(tool):
    tool.write("sample.metal", """
        #include <metal_stdlib>
        using namespace metal;
        kernel void at(texture2d<float> x [[texture(2)]],
                       sampler s [[sampler(1)]],
                       constant float2 &p [[buffer(0)]],
                       device float *out [[buffer(1)]]) {
          out[0] = x.sample(s, p).x;
        }""")
    tool.save("x.npy", np.array([[1, 2, 4, 8]], "f4"))
    for words, place, want in (
            ("nearest", "f32:0.3,0.5", "2"), ("linear", "f32:0.25,0.5", "1.5"),
            ("linear,pixel", "f32:3,0.5", "6"), ("nearest", "f32:1.3,0.5", "8"),
            ("nearest,repeat", "f32:1.3,0.5", "2"),
            ("nearest,mirrored_repeat", "f32:1.3,0.5", "4"),
            ("nearest,clamp_to_zero", "f32:1.3,0.5", "0")):
        result = tool.done("run", "sample.metal", "at", "--grid", 1,
                           "tex2=@x.npy", f"sampler1={words}", f"0={place}",
                           "1=zeros:f32:1", "--print", "1")
        assert result.out == f"1: {want}\n", (words, result.out)


@case
def textures_start_each_run_as_they_came(tool):
    tool.write("add.metal", """
        #include <metal_stdlib>
        using namespace metal;
        kernel void add(texture2d<uint, access::read_write> x [[texture(0)]],
                        uint2 p [[thread_position_in_grid]]) {
          x.write(x.read(p) + 5, p);
        }""")
    tool.save("x.npy", np.array([[1, 2], [3, 4]], "u4"))
    answer = tool.done("run", "add.metal", "add", "--grid", "2,2",
                       "tex0=@x.npy", "--repeat", 3, "--print", "tex0",
                       "--json").json()
    assert answer["print"] == {"tex0": [6, 7, 8, 9]}, answer


@case
def arrays_of_textures_are_bound_one_by_one(tool):
    tool.write("many.metal", """
        #include <metal_stdlib>
        using namespace metal;
        kernel void pick(array<texture2d<float>, 3> x [[texture(4)]],
                         device float *out [[buffer(0)]],
                         uint i [[thread_position_in_grid]]) {
          out[i] = x[i].read(uint2(0)).x;
        }""")
    for i in range(3):
        tool.save(f"{i}.npy", np.array([[i + 10]], "f4"))
    result = tool.done("run", "many.metal", "pick", "--grid", 3, "tex4=@0.npy",
                       "tex5=@1.npy", "tex6=@2.npy", "0=zeros:f32:3",
                       "--print", "0")
    assert result.out == "0: 10 11 12\n", result.out


@case
def what_cannot_be_a_texture_is_told(tool):
    _double(tool, "texture2d", "float", "p.xy")
    run = "run", "double.metal", "twice", "--grid", "2,2"
    tool.save("line.npy", np.zeros(4, "f4"))
    tool.save("three.npy", np.zeros((2, 2, 3), "f4"))
    tool.save("wide.npy", np.zeros((2, 2), "i8"))
    zeros = "tex1=rgba32Float:2,2"
    tool.fails(2, ["'x' of twice is not bound: x=... or tex0=... is missing"], *run,
               zeros)
    tool.fails(1, ["needs an array of 2 dimensions"], *run, zeros,
               "tex0=@line.npy")
    tool.fails(1, ["no pixel format has 3 components of type f32"], *run,
               zeros, "tex0=@three.npy")
    tool.fails(1, ["no pixel format has 1 components of type i64"], *run,
               zeros, "tex0=@wide.npy")
    tool.fails(1, ["a texel of rgba8Unorm has 4 bytes, the array has 12"],
               *run, zeros, "tex0=@three.npy:rgba8Unorm")
    tool.fails(2, ["'rgba' is no pixel format"], *run, "tex0=rgba:2")
    tool.fails(2, ["FORMAT:X,Y or like:TEXTURE"], *run, "tex0=rgba8Unorm")
    tool.fails(2, ["no texture index: tex0 to tex127"], *run, "tex200=r8Uint:1")
    tool.fails(2, ["'soft' says nothing of a sampler"], *run,
               "sampler0=linear,soft")
    tool.fails(2, ["texture 1 is bound twice"], *run, zeros, zeros)
    tool.fails(2, ["a sampler keeps nothing"], *run, "--print", "sampler0")
    tool.save("none.npy", np.zeros((0, 3), "f4"))
    tool.fails(1, ["a side is 0"], *run, zeros, "tex0=@none.npy")
    tool.fails(1, ["has 2 sides"], *run, zeros, "tex0=rgba8Unorm:2,2,2")
