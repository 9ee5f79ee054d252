# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""running.py: what `mettle run` computes, saves, prints and tells."""

import struct

import numpy as np

from tool import case

# NumPy type, the command line's, and the type of a kernel's element.
TYPES = (("f4", "f32", "float"), ("f2", "f16", "half"), ("i1", "i8", "char"),
         ("u1", "u8", "uchar"), ("i2", "i16", "short"), ("u2", "u16", "ushort"),
         ("i4", "i32", "int"), ("u4", "u32", "uint"), ("i8", "i64", "long"),
         ("u8", "u64", "ulong"), ("?", "bool", "bool"))


def _copy_kernel(tool, element):
    tool.write("copy.metal", f"""
        kernel void copy(device const {element} *x [[buffer(0)]],
                         device {element} *y [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {{
          y[i] = x[i];
        }}""")


@case
def arrays_come_from_files_and_go_to_files(tool):
    a = np.arange(1000, dtype="f4")
    b = np.linspace(-5, 5, 1000, dtype="f4")
    tool.save("a.npy", a)
    tool.save("b.npy", b)
    result = tool.done("run", "kernels.metal", "add", "--grid", 1000,
                       "0=@a.npy", "1=@b.npy", "2=zeros:f32:1000", "--save",
                       "2=sum.npy")
    assert result.out == ""
    sums = tool.load("sum.npy")
    assert sums.dtype == np.float32 and sums.shape == (1000,)
    np.testing.assert_array_equal(sums, a + b)


@case
def every_type_goes_through(tool):
    for dtype, name, element in TYPES:
        _copy_kernel(tool, element)
        x = (np.arange(48) % 11 * 3).astype(dtype).reshape(4, 12)
        tool.save("x.npy", x)
        tool.save("y.npy", np.zeros_like(x))
        tool.done("run", "copy.metal", "copy", "--grid", 48, "0=@x.npy",
                  "1=@y.npy", f"--save=1=out.npy")
        out = tool.load("out.npy")
        assert out.dtype == x.dtype and out.shape == (4, 12), name
        np.testing.assert_array_equal(out, x)
        made = tool.done("run", "copy.metal", "copy", "--grid", 3,
                         f"0=iota:{name}:3", f"1=zeros:{name}:3", "--save",
                         "1=made.npy")
        assert made.err == ""
        made = tool.load("made.npy")
        assert made.dtype == x.dtype, name
        np.testing.assert_array_equal(made, np.arange(3).astype(dtype))


@case
def shape_and_order_are_kept(tool):
    for array in (np.array(3, "f4"), np.ones((2, 3, 4), "f4"),
                  np.asfortranarray(np.arange(12, dtype="f4").reshape(3, 4)),
                  np.zeros((0, 5), "f4")):
        tool.save("x.npy", array)
        tool.done("run", "kernels.metal", "scale", "--grid", array.size,
                  "0=@x.npy", "1=f32:2", "--save", "0=out.npy")
        out = tool.load("out.npy")
        assert out.shape == array.shape
        assert out.flags.f_contiguous == array.flags.f_contiguous
        np.testing.assert_array_equal(out, array * 2)


@case
def bfloat_travels_as_its_bits(tool):
    _copy_kernel(tool, "bfloat")
    bits = np.array([0x3f80, 0x4049, 0xc000], "u2")  # 1, 3.140625, -2
    tool.save("x.npy", bits)
    result = tool.done("run", "copy.metal", "copy", "--grid", 3, "0=@x.npy",
                       "1=zeros:bf16:3", "--save", "1=out.npy", "--print", "1")
    np.testing.assert_array_equal(tool.load("out.npy"), bits)
    assert result.out == "1: 1 3.14 -2\n", result.out


@case
def print_writes_values_that_read_back(tool):
    values = "0.1 -0 1e-40 16777216 3.4028235e+38 nan inf -inf 1.5 100000"
    words = ",".join(values.split())
    result = tool.done("run", "kernels.metal", "scale", "--grid", 0,
                       f"0=f32:{words}", "1=f32:1", "--print", "0")
    assert result.out == f"0: {values}\n", result.out
    result = tool.done("run", "kernels.metal", "scale", "--grid", 0,
                       "0=iota:f32:9", "1=f32:1", "--print", "0:3", "--print",
                       "0:0", "--print", "0:99")
    assert result.out == "0: 0 1 2\n0: \n0: 0 1 2 3 4 5 6 7 8\n", result.out


@case
def every_half_prints_and_reads_back(tool):
    _copy_kernel(tool, "half")
    bits = np.arange(65536, dtype="u2")
    halves = bits.view("f2")
    tool.save("x.npy", halves)
    text = tool.done("run", "copy.metal", "copy", "--grid", 65536, "0=@x.npy",
                     "1=zeros:f16:65536", "--print", "1").out
    printed = np.array(text[3:].split(), "f8").astype("f2")
    np.testing.assert_array_equal(printed, halves)


@case
def fills_are_what_they_say(tool):
    for word, expected in (("zeros:u8:3", "0 0 0"), ("ones:i64:3", "1 1 1"),
                           ("iota:i32:4", "0 1 2 3"), ("ones:bool:1", "true"),
                           ("iota:u8:258", None)):
        _copy_kernel(tool, "uchar")
        out = tool("run", "copy.metal", "copy", "--grid", 0, f"0={word}",
                   "1=zeros:u8:1", "--print", "0").out
        if expected is None:
            assert out.split()[-3:] == ["255", "0", "1"], out[-20:]
        else:
            assert out == f"0: {expected}\n", out


@case
def random_is_uniform_and_repeats(tool):
    def draw(word):
        tool.done("run", "kernels.metal", "scale", "--grid", 0, f"0={word}",
                  "1=f32:1", "--save", "0=out.npy")
        return tool.load("out.npy")

    first = draw("rand:f32:100000:7")
    assert first.min() >= 0 and first.max() < 1
    # The mean of n uniform values lies within 5 standard deviations.
    assert abs(first.mean() - 0.5) < 5 / np.sqrt(12 * len(first))
    assert len(np.unique(np.floor(first * 64))) == 64
    np.testing.assert_array_equal(first, draw("rand:f32:100000:7"))
    np.testing.assert_array_equal(first[:10], draw("rand:f32:10:7"))
    assert (first[:1000] != draw("rand:f32:1000:8")).mean() > 0.99
    np.testing.assert_array_equal(draw("rand:f32:9"), draw("rand:f32:9:0"))


@case
def random_halves_stay_below_one(tool):
    for name, element in (("f16", "half"), ("bf16", "bfloat")):
        _copy_kernel(tool, element)
        out = tool.done("run", "copy.metal", "copy", "--grid", 0,
                        f"0=rand:{name}:5000", f"1=zeros:{name}:1", "--print",
                        "0").out
        values = np.array(out[3:].split(), "f8")
        assert values.min() >= 0 and values.max() < 1, name


@case
def values_may_make_a_struct(tool):
    tool.write("struct.metal", """
        struct Parameters {
          uint count;
          half weight;
          float offset;
          uchar flag;
        };
        kernel void use(constant Parameters &p [[buffer(0)]],
                        device float *out [[buffer(1)]]) {
          out[0] = p.count;
          out[1] = p.weight;
          out[2] = p.offset;
          out[3] = p.flag;
        }""")
    out = tool.done("run", "struct.metal", "use", "--grid", 1,
                    "0=u32:7,f16:1.5,f32:-2.25,u8:200", "1=zeros:f32:4",
                    "--print", "1").out
    assert out == "1: 7 1.5 -2.25 200\n", out


@case
def three_values_make_a_float3(tool):
    tool.write("float3.metal", """
        #include <metal_stdlib>
        using namespace metal;
        kernel void use(constant float3 &v [[buffer(0)]],
                        device const float3 *w [[buffer(1)]],
                        device float *out [[buffer(2)]]) {
          out[0] = dot(v, w[0]);
        }""")
    words = ("run", "float3.metal", "use", "--grid", 1, "0=f32:1,2,3",
             "2=zeros:f32:1", "--print", "2")
    assert tool.done(*words, "1=f32:1,10,100").out == "2: 321\n"
    tool.save("rows.npy", np.ones((4, 3), "f4"))
    assert "packed_float3" in tool(*words, "1=@rows.npy").err


@case
def values_can_be_written_and_saved(tool):
    tool.done("run", "kernels.metal", "scale", "--grid", 3, "0=f32:1,2,3",
              "1=f32:0x1p-1", "--save", "0=out.npy")
    np.testing.assert_array_equal(tool.load("out.npy"),
                                  np.array([0.5, 1, 1.5], "f4"))


@case
def many_values_are_more_than_set_bytes_takes(tool):
    values = ",".join(str(i) for i in range(3000))
    tool.done("run", "kernels.metal", "add", "--grid", 3000, f"0=f32:{values}",
              "1=ones:f32:3000", "2=zeros:f32:3000", "--save", "2=out.npy")
    np.testing.assert_array_equal(tool.load("out.npy"),
                                  np.arange(1, 3001, dtype="f4"))


@case
def grids_have_three_sides_with_exact_edges(tool):
    x, y, z = 37, 11, 5
    for group in ((), ("--group", "8,4,2"), ("--group=16",)):
        tool.done("run", "kernels.metal", "positions", "--grid",
                  f"{x},{y},{z}", *group, f"0=zeros:u32:{x * y * z}", "--save",
                  "0=out.npy")
        expected = (np.arange(x)[None, None, :]
                    + 100 * np.arange(y)[None, :, None]
                    + 10000 * np.arange(z)[:, None, None])
        np.testing.assert_array_equal(
            tool.load("out.npy").reshape(z, y, x), expected)


@case
def the_group_without_option_fits_the_grid(tool):
    for grid, expected in (("1000", "256 1 1"), ("100", "100 1 1"),
                           ("64,64", "32 8 1"), ("5,1000", "5 51 1"),
                           ("8,8,8", "8 8 4"), ("1,1,700", "1 1 256")):
        out = tool.done("run", "kernels.metal", "group_size", "--grid", grid,
                        "0=zeros:u32:3", "--print", "0").out
        assert out == f"0: {expected}\n", (grid, out)


@case
def a_group_too_large_fails_with_the_numbers(tool):
    tool.fails(1, ["100000"], "run", "kernels.metal", "add", "--grid", 4,
               "--group", 100000, "0=ones:f32:4", "1=ones:f32:4",
               "2=zeros:f32:4")


@case
def an_empty_grid_does_nothing(tool):
    for grid in ("0", "4,0", "4,4,0"):
        out = tool.done("run", "kernels.metal", "scale", "--grid", grid,
                        "0=iota:f32:4", "1=f32:9", "--print", "0").out
        assert out == "0: 0 1 2 3\n"


@case
def threadgroup_memory_is_bound(tool):
    x = np.arange(64, dtype="f4")
    tool.save("x.npy", x)
    tool.done("run", "kernels.metal", "reverse_groups", "--grid", 64,
              "--group", 16, "0=@x.npy", "1=zeros:f32:64", "tg0=60",
              "--save", "1=out.npy")
    np.testing.assert_array_equal(tool.load("out.npy"),
                                  x.reshape(4, 16)[:, ::-1].ravel())


@case
def json_tells_kernel_device_sizes_and_times(tool):
    answer = tool.done("run", "kernels.metal", "scale", "--grid", "64,2",
                       "--group", "16", "--repeat", 5, "0=ones:f32:128",
                       "1=f32:3", "--device", "cpu", "--json").json()
    times = answer.pop("time_ns")
    assert answer == {"kernel": "scale", "device": "cpu", "grid": [64, 2, 1],
                      "group": [16, 1, 1]}, answer
    assert set(times) == {"min", "median", "runs"}
    assert times["runs"] == 5 and 0 < times["min"] <= times["median"]


@case
def json_takes_up_what_is_printed(tool):
    answer = tool.done("run", "kernels.metal", "scale", "--grid", "2",
                       "0=f32:1,nan,2", "1=f32:3", "--print", "0", "--print",
                       "1", "--print", "0:1", "--json").json()
    assert answer["print"] == {"0": [3, "nan", 2], "1": [3]}, answer


@case
def repeated_runs_start_from_the_same_contents(tool):
    result = tool("run", "kernels.metal", "scale", "--grid", "2", "--repeat",
                  "10", "0=f32:1,2", "1=f32:3", "--print", "0")
    assert result.code == 0 and result.out == "0: 3 6\n", result.out
    assert "median of 10" in result.err, result.err


@case
def macros_and_headers_are_found(tool):
    import os
    os.mkdir(tool.file("headers"))
    os.mkdir(tool.file("source"))
    tool.write("headers/far.h", "#define FAR 100\n")
    tool.write("source/near.h", "#define NEAR 20\n")
    tool.write("source/main.metal", """
        #include <far.h>
        #include "near.h"
        kernel void sum(device int *out [[buffer(0)]]) {
          out[0] = FAR + NEAR + OWN + FLAG + TWICE(1000);
        }""")
    out = tool.done("run", "source/main.metal", "sum", "--grid", 1,
                    "0=zeros:i32:1", "-I", "headers", "-DOWN=3", "-D", "FLAG",
                    "-D", "TWICE(x)=(2 * x)", "--print", "0").out
    assert out == "0: 2124\n", out


@case
def function_constants_are_set_by_index_and_name(tool):
    tool.write("constants.metal", """
        constant int amount [[function_constant(3)]];
        constant bool negate [[function_constant(4)]];
        kernel void fill(device int *out [[buffer(0)]]) {
          out[0] = negate ? -amount : amount;
        }""")
    run = ("run", "constants.metal", "fill", "--grid", 1, "0=zeros:i32:1",
           "--print", "0")
    assert tool.done(*run, "--constant", "3=i32:42", "--constant",
                     "4=bool:0").out == "0: 42\n"
    assert tool.done(*run, "--constant", "amount=i32:7", "--constant",
                     "negate=bool:true").out == "0: -7\n"
    tool.fails(2, ["negate"], *run, "--constant", "3=i32:42")
    tool.fails(2, ["amount"], *run, "--constant", "3=f32:42", "--constant",
               "4=bool:0")


@case
def math_and_language_version_reach_the_compiler(tool):
    tool.write("version.metal", """
        kernel void version(device int *out [[buffer(0)]]) {
          out[0] = __METAL_VERSION__;
        }""")
    run = ("run", "version.metal", "version", "--grid", 1, "0=zeros:i32:1",
           "--print", "0")
    assert tool.done(*run).out == "0: 320\n"
    for name, number in (("metal2.4", 240), ("metal3.0", 300),
                         ("metal3.1", 310), ("metal3.2", 320), ("metal4.0", 400),
                         ("metal4.1", 410), ("macos-metal2.4", 240),
                         ("ios-metal2.0", 240), ("metal1.2", 240)):
        assert tool.done(*run, "--std", name).out == f"0: {number}\n"
    for mode in ("safe", "relaxed", "fast"):
        tool.done(*run, "--math", mode)


@case
def debug_runs_tier_0_with_the_same_result(tool):
    out = tool.done("run", "kernels.metal", "scale", "--grid", 4, "--debug",
                    "0=iota:f32:4", "1=f32:3", "--print", "0").out
    assert out == "0: 0 3 6 9\n", out


@case
def debug_catches_accesses_past_the_end(tool):
    result = tool.fails(1, ["scale"], "run", "kernels.metal", "scale",
                        "--grid", 100000, "--debug", "0=iota:f32:4", "1=f32:3")
    assert "buffer" in result.err, result.err


@case
def every_device_gives_the_same(tool):
    for device in ("cpu", "cpu-discrete"):
        out = tool.done("run", "kernels.metal", "scale", "--grid", 4,
                        "--device", device, "0=iota:f32:4", "1=f32:3",
                        "--repeat=1", "--print", "0").out
        assert out == "0: 0 3 6 9\n", (device, out)
    named = tool("run", "kernels.metal", "scale", "--grid", 4, "--json",
                 "0=iota:f32:4", "1=f32:3",
                 environment={"METTLE_DEVICE": "cpu-discrete"}).json()
    assert named["device"] == "cpu-discrete"


@case
def a_buffer_the_kernel_has_not_is_a_warning(tool):
    result = tool("run", "kernels.metal", "scale", "--grid", 1, "0=f32:1",
                  "1=f32:1", "9=f32:1", "--print", "0")
    assert result.code == 0 and result.out == "0: 1\n"
    assert "warning: scale has no buffer 9" in result.err


@case
def another_type_than_the_kernels_is_a_warning(tool):
    result = tool("run", "kernels.metal", "scale", "--grid", 1, "0=f32:1",
                  "1=i32:1")
    assert result.code == 0
    assert "buffer 1 ('factor') is of type float, i32" in result.err, result.err


@case
def the_source_may_come_from_standard_input(tool):
    source = b"kernel void one(device int *o [[buffer(0)]]) { o[0] = 1; }"
    result = tool("run", "-", "one", "--grid", 1, "0=zeros:i32:1", "--print",
                  "0", stdin=source)
    assert result.out == "0: 1\n", result.err


@case
def a_pipe_may_be_an_array(tool):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"
    data = (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
            + struct.pack("<2f", 1.5, -4))
    result = tool("run", "kernels.metal", "scale", "--grid", 2,
                  "0=@/dev/stdin", "1=f32:2", "--print", "0", stdin=data)
    assert result.out == "0: 3 -8\n", result.err


@case
def a_full_disk_is_an_error(tool):
    result = tool("run", "kernels.metal", "scale", "--grid", 1, "0=f32:1",
                  "1=f32:1", "--save", "0=/dev/full")
    assert result.code == 1 and "/dev/full" in result.err, result.err
    result = tool("run", "kernels.metal", "scale", "--grid", 1, "0=f32:1",
                  "1=f32:1", "--save", "0=missing/out.npy")
    assert result.code == 1 and "missing/out.npy" in result.err


@case
def nothing_is_saved_if_the_run_failed(tool):
    import os
    tool("run", "kernels.metal", "scale", "--grid", 1, "--group", 100000,
         "0=f32:1", "1=f32:1", "--save", "0=out.npy")
    assert not os.path.exists(tool.file("out.npy"))


@case
def messages_of_kernels_are_lines_on_standard_error(tool):
    tool.write("log.metal", """
        #include <metal_stdlib>
        kernel void talk(uint i [[thread_position_in_grid]]) {
          if (i == 2) metal::os_log_default.log_error("thread %u", i);
          if (i == 2) metal::os_log_default.log("%v2f", float2(0.5, 1));
        }""")
    told = tool("run", "log.metal", "talk", "--grid", 40, "--log")
    assert told.err == "error: thread 2\nnotice: 0.500000,1.000000\n", told.err
    quiet = tool("run", "log.metal", "talk", "--grid", 40)
    assert quiet.code == 0 and quiet.err == (
        "mettle run: note: talk logged 2 messages; --log prints what it says"
        "\n"), quiet.err
    assert tool.done("run", "log.metal", "talk", "--grid", 2).err == ""


@case
def messages_show_who_sent_them(tool):
    tool.write("log.metal", """
        #include <metal_stdlib>
        using namespace metal;
        constant os_log blur("com.example", "blur");
        kernel void talk() { blur.log_error("bad"); blur.log("good"); }""")
    told = tool("run", "log.metal", "--grid", 1, "--log")
    assert told.err == ("error [com.example:blur]: bad\n"
                        "notice [com.example:blur]: good\n"), told.err
    # More than there is room to count in; the first run of several.
    quiet = tool("run", "log.metal", "--grid", 1000, "--repeat", 2)
    assert "note: talk logged 2000 messages;" in quiet.err, quiet.err


@case
def messages_without_room_are_counted(tool):
    tool.write("log.metal", """
        #include <metal_stdlib>
        kernel void talk(uint i [[thread_position_in_grid]]) {
          metal::os_log_default.log("%u", i);
        }""")
    told = tool("run", "log.metal", "talk", "--grid", 30000, "--log")
    lines = told.err.splitlines()
    # 1 MiB holds 21845 of 48 bytes.
    assert lines[-1] == "8155 messages found no room", lines[-1]
    assert len(lines) == 21846, len(lines)
