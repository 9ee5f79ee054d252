# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""debugging.py: kernels in gdb and perf, as docs/debugging.md has them."""

import glob
import os
import re
import shutil
import subprocess
import unittest

from installed import not_sanitized
from models import ROOT
from tool import case

PRINTERS = os.path.join(ROOT, "tools", "mettle-gdb.py")

PULL = """#include <metal_stdlib>
using namespace metal;

struct body {
  float4 place;
  packed_float3 speed;
};

inline float3 pull(float3 from, float4 towards) {
  float3 way = towards.xyz - from;
  return way * towards.w;
}

kernel void move(device body *bodies [[buffer(0)]],
                 uint i [[thread_position_in_grid]],
                 uint count [[threads_per_grid]]) {
  body own = bodies[i];
  float3 force = 0;
  for (uint k = 0; k < count; ++k) {
    force += pull(own.place.xyz, bodies[k].place);
  }
  own.speed = float3(own.speed) + force;
  bodies[i] = own;
}
"""

TYPES = """#include <metal_stdlib>
using namespace metal;

kernel void types(device float *y [[buffer(0)]],
                  uint3 at [[thread_position_in_grid]]) {
  half3 halves(1.5h, -2.25h, 3);
  half one_half = 0.5h;
  bfloat brain = 1.5bf;
  bfloat4 brains(1, -2, 0.5bf, 3);
  bool3 truths(true, false, true);
  char4 chars(1, -2, 3, 4);
  uchar2 bytes(200, 1);
  long2 longs(1, -5);
  packed_float3 packed(1, 2, 3);
  packed_uchar4 packed_bytes(7, 8, 9, 255);
  float2x3 tall(float3(1, 2, 3), float3(4, 5, 6));
  half2x2 square(2.0h);
  array<int2, 2> pairs = {int2(1, 2), int2(3, 4)};
  y[at.x] = 1;
}
"""

TOTAL = """#include <metal_stdlib>
using namespace metal;

kernel void total(device const float *x [[buffer(0)]],
                  device float *sums [[buffer(1)]],
                  uint t [[thread_index_in_threadgroup]]) {
  threadgroup float part[64];
  part[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint width = 32; width > 0; width /= 2) {
    if (t < width) {
      part[t] += part[t + width];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (t == 0) {
    sums[0] = part[0];
  }
}
"""


def _gdb(tool, commands, *words):
    """What gdb says to commands on `mettle run WORDS`."""
    if not shutil.which("gdb"):
        raise unittest.SkipTest("gdb is missing")
    not_sanitized(tool)
    tool.write("commands.gdb", "set pagination off\nset width 0\n"
               "set breakpoint pending on\nset debuginfod enabled off\n"
               f"source {PRINTERS}\n{commands}")
    done = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", "-x", "commands.gdb", "--args",
         tool.path, "run", *words], cwd=tool.folder, capture_output=True,
        text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)
    if "ptrace" in done.stderr:
        raise unittest.SkipTest("gdb may not trace here")
    return done.stdout + done.stderr


def _expect(said, *texts):
    for text in texts:
        assert text in said, f"{text!r} is not in {said}"


@case
def gdb_stops_at_lines_and_prints_vectors(tool):
    tool.write("pull.metal", PULL)
    # Bodies of 8 floats: 0 1 2 3 | 4 5 6 and a gap.
    said = _gdb(tool, "break pull.metal:21 if i == 2\nrun\nprint own\n"
                "print force\nnext\nprint own.speed\nprint own.place.v[3]\n"
                "break pull.metal:11 if from.v[0] == 24\ncontinue\n"
                "print way\nbacktrace 2\nup\nprint k\nprint i\n",
                "pull.metal", "move", "--debug", "--grid", "4",
                "0=iota:f32:32")
    # Pulls of bodies with x = 0, 8, 16, 24 and mass 3, 11, 19, 27 on x = 16.
    _expect(said,
            "$1 = {place = float4(16, 17, 18, 19), "
            "speed = packed_float3(20, 21, 22)}",
            "$2 = float3(80, 80, 80)", "$3 = packed_float3(100, 101, 102)",
            "$4 = 19", "$5 = float3(-24, -24, -24)",
            "pull (from=float3(24, 25, 26), towards=float4(0, 1, 2, 3)) "
            "at pull.metal:11", "$6 = 0", "$7 = 3")


@case
def gdb_loads_the_printers_with_the_library(tool):
    if not shutil.which("gdb") or not shutil.which("cmake"):
        raise unittest.SkipTest("gdb or cmake is missing")
    not_sanitized(tool)
    prefix = os.path.realpath(tool.file("prefix"))
    subprocess.run(["cmake", "--install", tool.build, "--prefix", prefix],
                   check=True, capture_output=True)
    scripts = f"{prefix}/share/gdb/auto-load"
    tool.write("pull.metal", PULL)
    tool.write("commands.gdb", "set pagination off\nset width 0\n"
               "set breakpoint pending on\nset debuginfod enabled off\n"
               f"add-auto-load-scripts-directory {scripts}\n"
               f"add-auto-load-safe-path {scripts}\n"
               "break pull.metal:21 if i == 2\nrun\nprint own.place\n")
    done = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", "-x", "commands.gdb", "--args",
         f"{prefix}/bin/mettle", "run", "pull.metal", "move", "--debug",
         "--grid", "4", "0=iota:f32:32", "1=f32:1"],
        cwd=tool.folder, capture_output=True, text=True, timeout=300,
        check=False, stdin=subprocess.DEVNULL)
    if "ptrace" in done.stderr:
        raise unittest.SkipTest("gdb may not trace here")
    _expect(done.stdout + done.stderr, "$1 = float4(16, 17, 18, 19)")


@case
def gdb_prints_every_kind_of_type(tool):
    tool.write("types.metal", TYPES)
    said = _gdb(tool, "break types.metal:19 if at.v[0] == 1\nrun\n"
                "info locals\nprint at\n",
                "types.metal", "types", "--debug", "--grid", "2",
                "0=zeros:f32:2")
    _expect(said, "halves = half3(1.5, -2.25, 3)", "one_half = 0.5",
            "brain = 1.5", "brains = bfloat4(1, -2, 0.5, 3)",
            "truths = bool3(true, false, true)", "chars = char4(1, -2, 3, 4)",
            "bytes = uchar2(200, 1)", "longs = long2(1, -5)",
            "packed = packed_float3(1, 2, 3)",
            "packed_bytes = packed_uchar4(7, 8, 9, 255)",
            "tall = float2x3({1, 2, 3}, {4, 5, 6})",
            "square = half2x2({2, 0}, {0, 2})",
            "pairs = {int2(1, 2), int2(3, 4)}", "$1 = uint3(1, 0, 0)")


@case
def gdb_goes_from_thread_to_thread_behind_barriers(tool):
    tool.write("total.metal", TOTAL)
    said = _gdb(tool, "break total.metal:12 if t < 2\nrun\nprint t\n"
                "print width\nprint part[33]\nprint part\ncontinue\nprint t\n"
                "continue\nprint t\nprint width\nprint part[0]\n",
                "total.metal", "total", "--debug", "--grid", "64", "--group",
                "64", "0=iota:f32:64", "1=zeros:f32:1")
    _expect(said, "$1 = 0", "$2 = 32", "$3 = 33", "$4 = {0, 1, 2, 3, 4, 5",
            "$5 = 1", "$6 = 0", "$7 = 16", "$8 = 32")


@case
def machine_code_is_kept_where_asked(tool):
    tool.done("run", "kernels.metal", "add", "--grid", 64, "0=ones:f32:64",
              "1=ones:f32:64", "2=zeros:f32:64",
              environment={"METTLE_CODE_DIR": tool.file("code")})
    files = glob.glob(tool.file("code/add-*.so"))
    assert files, os.listdir(tool.file("code"))
    with open(files[0], "rb") as file:
        assert file.read(4) == b"\x7fELF"
    result = tool("run", "kernels.metal", "add", "--grid", 64, "0=ones:f32:64",
                  "1=ones:f32:64", "2=zeros:f32:64",
                  environment={"METTLE_CODE_DIR": tool.file("kernels.metal")})
    assert result.code == 1 and "METTLE_CODE_DIR" in result.err, result.err


@case
def perf_knows_kernels_by_name(tool):
    if not shutil.which("perf"):
        raise unittest.SkipTest("perf is missing")
    not_sanitized(tool)
    tool.write("busy.metal", """
kernel void busy(device float *y, uint i [[thread_position_in_grid]]) {
  float x = y[i];
  for (int k = 0; k < 20000; ++k) { x = x * 0.999f + 0.5f; }
  y[i] = x;
}
""")
    done = subprocess.run(
        ["perf", "record", "-q", "-e", "cpu-clock", "-o", "perf.data",
         tool.path, "run", "busy.metal", "busy", "--grid", "65536",
         "0=ones:f32:65536"], cwd=tool.folder, capture_output=True, text=True,
        timeout=300, check=False,
        env={**os.environ, "METTLE_CODE_DIR": tool.file("code")})
    if done.returncode != 0:
        raise unittest.SkipTest(f"perf cannot record: {done.stderr[-200:]}")
    said = subprocess.run(
        ["perf", "report", "-i", "perf.data", "--stdio"], cwd=tool.folder,
        capture_output=True, text=True, timeout=300, check=False).stdout
    assert re.search(r"busy-\S+\.so\s+\[\.\] busy", said), said[:2000]
