# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ends.py: `mettle run` finds accesses one element before and behind each
argument, whatever its length, and finds none where there are none."""

import numpy as np

from tool import case

# An element's type, and the values of one argument on the command line.
TYPES = (("uchar", "x=1,2,3,4,5", 5), ("uchar", "x=zeros:4095", 4095),
         ("half", "x=1,2,3,4,5,6,7", 7), ("float", "x=zeros:1001", 1001),
         ("float", "x=zeros:1024", 1024), ("float", "x=7", 1),
         ("packed_float3", "x=zeros:333", 333), ("float3", "x=zeros:3", 3),
         ("double_t", "x=zeros:9", 9), ("ushort4", "x=zeros:5001", 5001))


def _kernels(tool, element):
    """Kernels that read and write element `at` of x, in T1 as a row of lanes
    and as one."""
    tool.write("ends.metal", f"""
        typedef ulong double_t;
        kernel void read_one(device const {element} *x, constant int &at,
                             device int *sum) {{
          {element} element = x[at];
          sum[0] = int(((thread const uchar *)&element)[0]);
        }}
        kernel void write_one(device {element} *x, constant int &at) {{
          x[at] = {element}(1);
        }}
        kernel void read_row(device const {element} *x, constant int &at,
                             device int *sums,
                             uint i [[thread_position_in_grid]]) {{
          {element} element = x[int(i) + at];
          sums[i] = int(((thread const uchar *)&element)[0]);
        }}
        kernel void write_row(device {element} *x, constant int &at,
                              uint i [[thread_position_in_grid]]) {{
          x[int(i) + at] = {element}(1);
        }}""")


def _run(tool, kernel, binding, at, count, *more):
    is_row = kernel.endswith("row")
    is_read = kernel.startswith("read")
    threads = count if is_row else 1
    return ("run", "ends.metal", kernel, "--grid", threads, binding,
            f"at={at if is_row else at + (count - 1 if at > 0 else 0)}",
            *([f"sum{'s' if is_row else ''}=zeros:{threads}"] if is_read
              else []), *more)


def _check(tool, kernel, binding, count, *more):
    tool.done(*_run(tool, kernel, binding, 0, count, *more))
    does = "read" if kernel.startswith("read") else "wrote"
    behind = tool.fails(1, ["'buffer 0 x'", kernel, does, "ends.metal"],
                        *_run(tool, kernel, binding, 1, count, *more))
    # With a row of lanes, processors report the address of some faulting byte.
    exact = "right behind the end", *(["past the end"] if "row" in kernel
                                      else [])
    assert any(text in behind.err for text in exact), behind.err
    before = tool.fails(1, ["'buffer 0 x'", kernel, does, "ends.metal"],
                        *_run(tool, kernel, binding, -1, count, *more))
    assert " before " in before.err, before.err


@case
def one_element_beside_any_argument_is_found(tool):
    for element, binding, count in TYPES:
        _kernels(tool, element)
        for kernel in "read_one", "write_one", "read_row", "write_row":
            _check(tool, kernel, binding, count)


@case
def and_by_tier_0(tool):
    for element, binding, count in TYPES[::3]:
        _kernels(tool, element)
        for kernel in "read_one", "write_one", "read_row":
            _check(tool, kernel, binding, count, "--debug")


@case
def and_in_files_on_either_device(tool):
    _kernels(tool, "float")
    tool.save("x.npy", np.zeros((7, 11), "f4"))
    for device in "cpu", "cpu-discrete":
        for kernel in "read_row", "write_row":
            _check(tool, kernel, "x=@x.npy", 77, "--device", device)


@case
def and_in_members_of_structs(tool):
    tool.write("ends.metal", """
        struct Body { float3 place; float mass; packed_float3 speed; };
        kernel void of(device Body *x, constant int &at) {
          x[at].speed = x[at].speed * 2.0f;
        }""")
    run = ("run", "ends.metal", "of", "--grid", 1, "x=zeros:5")
    tool.done(*run, "at=4")
    tool.fails(1, ["'buffer 0 x'", "past the end"], *run, "at=5")
    tool.fails(1, ["'buffer 0 x'", " before "], *run, "at=-1")


@case
def bytes_read_as_vectors_are_no_error(tool):
    """17 bytes cannot be aligned to 16 and end with a page at once."""
    tool.write("cast.metal", """
        kernel void cast(device const uchar *x, device uint4 *y,
                         constant int &at) {
          y[0] = ((device const uint4 *)x)[0] + x[at];
        }""")
    run = ("run", "cast.metal", "cast", "--grid", 1,
           "x=1,0,0,0,2,0,0,0,3,0,0,0,4,0,0,0,9", "y=zeros:1", "--print", "y")
    for more in (), ("--debug",):
        out = tool.done(*run, "at=16", *more).out
        assert out == "y: (10, 11, 12, 13)\n", out
        tool.fails(1, ["'buffer 0 x'"], *run, "at=32", *more)


@case
def what_is_saved_logged_and_counted_is_of_one_run(tool):
    tool.write("once.metal", """
        #include <metal_stdlib>
        #include <metal_logging>
        using namespace metal;
        kernel void once(device atomic_uint *n, texture2d<float,
                         access::read_write> t) {
          atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
          os_log_default.log("once");
          t.write(t.read(uint2(0)) + 1.0f, uint2(0));
        }""")
    done = tool("run", "once.metal", "once", "--grid", 1, "n=40", "t=1,1",
                "--print", "n", "--print", "t", "--log", "--std", "metal3.2")
    assert done.code == 0, done.err
    assert done.out == "n: 41\nt: 1 1 1 1\n", done.out
    assert done.err == "notice: once\n", done.err


@case
def unchecked_is_one_run(tool):
    _kernels(tool, "float")
    run = ("run", "ends.metal", "read_one", "--grid", 1, "x=1,2,3,4,5", "at=5",
           "sum=9", "--print", "sum")
    tool.fails(1, ["'buffer 0 x'"], *run)
    assert tool.done(*run, "--unchecked").out == "sum: 0\n"


@case
def a_kernel_without_end_is_ended_once(tool):
    tool.write("endless.metal", """
        kernel void endless(volatile device uint *x) {
          while (x[0] == 0) {}
        }""")
    tool.fails(1, ["ended early"], "run", "endless.metal", "endless", "--grid",
               1, "x=0", "--timeout", "0.2")
