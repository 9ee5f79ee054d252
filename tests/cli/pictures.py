# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pictures.py: textures from PNG files and to PNG files. The files are made and
read here by the PNG specification (ISO/IEC 15948), not by Mettle's library."""

import os
import struct
import unittest
import zlib

import numpy as np

from tool import case

COLOR = {1: 0, 2: 4, 3: 2, 4: 6}  # channels to colour type


def _chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


def encode(array, colour=None, bits=None, extra=b""):
    """A PNG file of [rows, columns, channels], u1 or u2."""
    rows, columns, channels = array.shape
    bits = bits or array.dtype.itemsize * 8
    body = array.astype(array.dtype.newbyteorder(">"))
    if bits < 8:
        body = np.packbits(np.unpackbits(array[:, :, 0:1].astype("u1"), axis=2)
                           [:, :, -bits:].reshape(rows, -1), axis=1)
    lines = b"".join(b"\0" + body[i].tobytes() for i in range(rows))
    header = struct.pack(">IIBBBBB", columns, rows, bits,
                         COLOR[channels] if colour is None else colour, 0, 0,
                         0)
    return (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + extra
            + _chunk(b"IDAT", zlib.compress(lines)) + _chunk(b"IEND", b""))


def _unfilter(kind, line, before, step):
    line = bytearray(line)
    for i, value in enumerate(line):
        a = line[i - step] if i >= step else 0
        b = before[i]
        c = before[i - step] if i >= step else 0
        guess = a + b - c
        paeth = min((abs(guess - a), 0, a), (abs(guess - b), 1, b),
                    (abs(guess - c), 2, c))[2]
        line[i] = (value + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
    return line


def decode(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    at, body, header = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        content = data[at + 8:at + 8 + length]
        check, = struct.unpack(">I", data[at + 8 + length:at + 12 + length])
        assert check == zlib.crc32(kind + content), kind
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", content)
        if kind == b"IDAT":
            body += content
        at += 12 + length
    columns, rows, bits, colour = header[:4]
    channels = {number: count for count, number in COLOR.items()}[colour]
    step = channels * bits // 8
    lines, before = zlib.decompress(body), bytes(columns * step)
    out = b""
    for row in range(rows):
        start = row * (columns * step + 1)
        before = _unfilter(lines[start],
                           lines[start + 1:start + 1 + columns * step],
                           before, step)
        out += before
    return np.frombuffer(out, ">u2" if bits == 16 else "u1").reshape(
        rows, columns, channels)


def _needs_png(tool):
    tool.write("one.png", encode(np.zeros((1, 1, 1), "u1")))
    tool.write("probe.metal", """
        #include <metal_stdlib>
        using namespace metal;
        kernel void k(texture2d<float> t, device float *o) {
          o[0] = t.read(uint2(0)).x;
        }""")
    if "no libpng" in tool("run", "probe.metal", "--grid", "1", "t=@one.png",
                           "o=zeros:1").err:
        raise unittest.SkipTest("this build has no libpng")


def _copy(tool, element, change="x.read(p)"):
    _needs_png(tool)
    tool.write("copy.metal", f"""
        #include <metal_stdlib>
        using namespace metal;
        kernel void copy(texture2d<{element}> x [[texture(0)]],
                         texture2d<{element}, access::write> y [[texture(1)]],
                         uint2 p [[thread_position_in_grid]]) {{
          y.write({change}, p);
        }}""")


def _random(channels, dtype):
    rng = np.random.default_rng(channels)
    return rng.integers(0, np.iinfo(dtype).max, (5, 7, channels), dtype,
                        endpoint=True)


@case
def pictures_of_every_kind_come_and_go_unchanged(tool):
    for element in ("float", "half", "uint", "ushort"):
        _copy(tool, element)
        for dtype in ("u1", "u2"):
            if element == "half" and dtype == "u2":
                continue  # a half has 11 bits
            for channels in (1, 3, 4):
                picture = _random(channels, dtype)
                tool.write("in.png", encode(picture))
                tool.done("run", "copy.metal", "--grid", "x", "x=@in.png",
                          "y=like:x", "--save", "y=out.png")
                with open(tool.file("out.png"), "rb") as file:
                    out = decode(file.read())
                expected = picture
                if channels == 3:  # RGB becomes RGBA
                    alpha = np.full((5, 7, 1), np.iinfo(dtype).max, dtype)
                    expected = np.concatenate([picture, alpha], axis=2)
                np.testing.assert_array_equal(out, expected)


@case
def numbers_from_0_to_1_reach_the_kernel(tool):
    _copy(tool, "float")
    picture = np.uint8([[[0, 51, 255, 102]]])
    tool.write("in.png", encode(picture))
    run = ("run", "copy.metal", "--grid", "1,1", "--print", "tex1")
    out = tool.done(*run, "tex0=@in.png", "tex1=rgba32Float:1,1").out
    assert out == "tex1: 0 0.2 1 0.4\n", out
    tool.write("gray.png", encode(np.uint16([[[13107]]])))  # 65535 / 5
    out = tool.done(*run, "x=@gray.png", "y=1,1").out
    assert out == "tex1: 0.2 0 0 1\n", out
    # Gray as a colour, on request; with alpha, always.
    out = tool.done(*run, "x=@gray.png:rgba16Unorm", "y=1,1").out
    assert out == "tex1: 0.2 0.2 0.2 1\n", out
    tool.write("alpha.png", encode(np.uint8([[[51, 102]]])))
    out = tool.done(*run, "x=@alpha.png", "y=1,1").out
    assert out == "tex1: 0.2 0.2 0.2 0.4\n", out


@case
def pictures_come_in_the_format_that_is_named(tool):
    _copy(tool, "float")
    tool.write("in.png", encode(np.uint8([[[51, 102, 255]]])))
    run = ("run", "copy.metal", "--grid", "1,1", "y=rgba32Float:1,1",
           "--print", "x", "--print", "y")
    for form, texels, seen in (
            ("rgba8Unorm", "51 102 255 255", "0.2 0.4 1 1"),
            ("bgra8Unorm", "255 102 51 255", "0.2 0.4 1 1"),
            ("rgba16Unorm", "13107 26214 65535 65535", "0.2 0.4 1 1"),
            ("rgba32Float", "0.2 0.4 1 1", "0.2 0.4 1 1")):
        out = tool.done(*run, f"x=@in.png:{form}").out
        assert out == f"x: {texels}\ny: {seen}\n", (form, out)
    for form, text in (("r8Unorm", "3 channels do not fit r8Unorm"),
                       ("rgba8Snorm", "which rgba8Snorm are not"),
                       ("rgb10a2Unorm", "which rgb10a2Unorm are not"),
                       ("b5g6r5Unorm", "which b5g6r5Unorm are not"),
                       ("rgba8Unrom", "did you mean 'rgba8Unorm'?")):
        code = 2 if "mean" in text else 1
        tool.fails(code, [text], *run, f"x=@in.png:{form}")


@case
def palettes_and_small_samples_are_expanded(tool):
    _copy(tool, "float")
    run = ("run", "copy.metal", "--grid", "2,1", "y=rgba8Unorm:2,1", "--print",
           "y")
    indices = np.uint8([[[1], [0]]])
    tool.write("palette.png", encode(
        indices, 3, 8, _chunk(b"PLTE", bytes([1, 2, 3, 40, 50, 60]))))
    out = tool.done(*run, "x=@palette.png").out
    assert out == "y: 40 50 60 255 1 2 3 255\n", out
    tool.write("bits.png", encode(indices, 0, 1))
    out = tool.done(*run, "x=@bits.png").out
    assert out == "y: 255 0 0 255 0 0 0 255\n", out


@case
def floats_are_clamped_and_rounded(tool):
    _needs_png(tool)
    tool.write("w.metal", """
        #include <metal_stdlib>
        using namespace metal;
        kernel void w(texture2d<float, access::write> y,
                      constant array<float, 8> &v) {
          for (uint i = 0; i < 8; i++) y.write(float4(v[i]), uint2(i, 0));
        }""")
    values = "v=-1,0,0.001,0.002,0.5,1,7,nan"
    for form in ("r32Float", "rgba32Float"):
        tool.done("run", "w.metal", "--grid", "1", f"y={form}:8,1", values,
                  "--save", "y=y.png")
        with open(tool.file("y.png"), "rb") as file:
            out = decode(file.read())
        assert out[0, :, 0].tolist() == [0, 0, 0, 1, 128, 255, 255, 0], out
    # Without a format a picture has 8 bits, and an array floats.
    tool.done("run", "w.metal", "--grid", "1", "y=8,1", values, "--save",
              "y=y.png", "--print", "y:1")
    tool.done("run", "w.metal", "--grid", "1", "y=8,1", values, "--save",
              "y=y.npy")
    assert tool.load("y.npy").dtype == np.float32


@case
def sizes_come_from_other_arguments(tool):
    _copy(tool, "float", "1 - x.read(p)")
    tool.write("in.png", encode(np.uint8([[[51], [0]], [[255], [204]]])))
    out = tool.done("run", "copy.metal", "--grid", "x", "x=@in.png",
                    "y=like:x", "--print", "y").out
    assert out == "y: 204 255 0 51\n", out
    tool.fails(2, ["no texture 'z'"], "run", "copy.metal", "--grid", "x",
               "x=@in.png", "y=like:z")
    tool.fails(2, ["no texture 'y'"], "run", "copy.metal", "--grid", "x",
               "x=@in.png", "y=like:y")
    tool.fails(2, ["copy has no argument 'z'"], "run", "copy.metal", "--grid",
               "z", "x=@in.png", "y=like:x")
    tool.done("run", "kernels.metal", "scale", "--grid", "x", "x=ones:9",
              "factor=3", "--print", "x:1")


@case
def what_is_no_picture_is_told(tool):
    _copy(tool, "float")
    picture = encode(_random(4, "u1"))
    for name, data in (("text.png", b"hello"), ("cut.png", picture[:60]),
                       ("empty.png", b""),
                       ("bad.png", picture.replace(b"IDAT", b"IDAX"))):
        tool.write(name, data)
        tool.fails(1, [name], "run", "copy.metal", "--grid", "x",
                   f"x=@{name}", "y=like:x")
    tool.write("in.png", picture)
    run = ("run", "copy.metal", "--grid", "x", "x=@in.png", "y=like:x")
    tool.fails(1, ["gone.png: No such file"], "run", "copy.metal", "--grid",
               "x", "x=@gone.png", "y=like:x")
    tool.fails(2, ["y.jpg: files are .npy or .png"], *run, "--save", "y=y.jpg")
    tool.fails(2, ["y.pgn: files are .npy or .png; did you mean '.png'?"],
               *run, "--save", "y=y.pgn")
    tool.fails(2, ["y.csv: files are .npy or .png"], "run", "kernels.metal",
               "scale", "--grid", "4", "x=1,2,3,4", "factor=2",
               "--save", "x=y.csv")
    tool.fails(1, ["folder/y.png: cannot write"], *run, "--save",
               "y=folder/y.png")
    os.symlink("/dev/full", tool.file("full.png"))
    tool.fails(1, ["full.png: "], *run, "--save", "y=full.png")
    tool.fails(2, ["this is a buffer"], "run", "kernels.metal", "scale",
               "--grid", "x", "x=ones:4", "factor=1", "--save", "x=x.png")
    tool.fails(1, ["this is a buffer"], "run", "kernels.metal", "scale",
               "--grid", "x", "x=@in.png", "factor=1")


@case
def only_two_sides_make_a_picture(tool):
    _needs_png(tool)
    tool.write("three.metal", """
        #include <metal_stdlib>
        using namespace metal;
        kernel void k(texture3d<float, access::read_write> t [[texture(0)]]) {
          t.write(float4(1), uint3(0));
        }""")
    tool.fails(1, ["a PNG file is no texture3d"], "run", "three.metal",
               "--grid", "1", "t=@one.png")
    tool.fails(1, ["two sides"], "run", "three.metal", "--grid", "1",
               "t=rgba8Unorm:2,2,2", "--save", "t=t.png")
