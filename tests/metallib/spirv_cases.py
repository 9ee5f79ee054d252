# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spirv_cases.py: compute shaders of GLSL as SPIR-V, by glslang and
spirv-cross, through 'mettle run'. Where those are not installed, that this is
told."""

import os
import shutil
import subprocess
import tempfile

CASES = {}
HEAD = "#version 450\n"


def case(function):
    CASES[function.__name__] = function
    return function


def command(*arguments, **environment):
    return subprocess.run(
        [os.path.join(os.environ["METTLE_BUILD_DIR"], "mettle"), *arguments],
        capture_output=True, text=True, env={**os.environ, **environment})


def typed(kind, values):
    """A block that is an open array takes values of a type that is named."""
    return f"{kind}:" + ",".join(map(str, values))


def are_tools_there():
    return all(map(shutil.which, ("glslangValidator", "spirv-cross")))


def outcome(shader, *arguments):
    """What 'mettle run' prints of a shader; None without the tools."""
    if not are_tools_there():
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, module = (os.path.join(folder, name)
                          for name in ("a.comp", "a.spv"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(HEAD + shader)
        subprocess.run(["glslangValidator", "-V", "--target-env", "vulkan1.1",
                        source, "-o", module], check=True,
                       stdout=subprocess.DEVNULL)
        done = command("run", module, *arguments)
        assert done.returncode == 0, done
        return done.stdout


def shows(shader, wanted, *arguments):
    shown = outcome(shader, *arguments)
    assert shown is None or shown.strip() == wanted, shown


@case
def spirv_with_push_constants(_):
    shows("""layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer X { float v[]; } x;
layout(std430, binding = 1) buffer Y { float v[]; } y;
layout(push_constant) uniform P { float a; uint n; } p;
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < p.n) y.v[i] += p.a * x.v[i];
}""", "y: 12 24 36 40", "x=float:1,2,3,4", "y=float:10,20,30,40", "p.a=2", "p.n=3",
          "--grid", "32", "--group", "32", "--print", "y")


@case
def spirv_with_shared_memory_and_subgroups(_):
    shows("""#extension GL_KHR_shader_subgroup_arithmetic : enable
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { uint v[]; } x;
layout(std430, binding = 1) buffer Y { uint v[]; } y;
shared uint parts[64];
void main() {
  uint sum = subgroupAdd(x.v[gl_GlobalInvocationID.x]);
  if (subgroupElect()) parts[gl_SubgroupID] = sum;
  barrier();
  if (gl_LocalInvocationIndex == 0) {
    uint all = 0;
    for (uint i = 0; i < gl_NumSubgroups; i++) all += parts[i];
    y.v[gl_WorkGroupID.x] = all;
  }
}""", "y: 2016 6112", "x=" + typed("uint", range(128)), "y=uint:0,0", "--grid",
          "128", "--group", "64", "--print", "y")


@case
def spirv_with_specialisation_constants(_):
    shows("""layout(local_size_x = 32) in;
layout(constant_id = 3) const uint SHIFT = 4;
layout(std430, binding = 0) readonly buffer X { uint v[]; } x;
layout(std430, binding = 1) buffer Y { uint v[]; } y;
shared uint bins[4];
void main() {
  uint i = gl_LocalInvocationIndex;
  if (i < 4) bins[i] = 0;
  barrier();
  atomicAdd(bins[x.v[gl_GlobalInvocationID.x] >> SHIFT & 3], 1);
  barrier();
  if (i < 4) atomicAdd(y.v[i], bins[i]);
}""", "y: 8 8 8 8", "x=" + typed("uint", range(32)), "y=uint:0,0,0,0",
          "--constant", "3=3", "--grid", "32", "--group", "32", "--print",
          "y")


@case
def spirv_with_tiles(_):
    """A product of matrices of 16 by 16: the first row of ones, the second
    of numbers."""
    if not are_tools_there():
        return
    a = [1] * 16 + list(range(16)) + [0] * 224
    b = [k for k in range(16) for _ in range(16)]
    shown = outcome("""layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer A { float v[]; } a;
layout(std430, binding = 1) readonly buffer B { float v[]; } b;
layout(std430, binding = 2) buffer C { float v[]; } c;
shared float left[8][8], right[8][8];
void main() {
  uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
  uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
  float sum = 0;
  for (uint t = 0; t < 2; t++) {
    left[y][x] = a.v[row * 16 + t * 8 + x];
    right[y][x] = b.v[(t * 8 + y) * 16 + column];
    barrier();
    for (uint k = 0; k < 8; k++) sum += left[y][k] * right[k][x];
    barrier();
  }
  c.v[row * 16 + column] = sum;
}""", "a=" + typed("float", a), "b=" + typed("float", b),
                    "c=" + typed("float", [0] * 256), "--grid", "16,16", "--group", "8,8",
                    "--print", "c:17")
    assert shown.split() == ["c:"] + ["120"] * 16 + ["1240"], shown


@case
def spirv_without_its_program(_):
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "a.spv")
        for words in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"):
            with open(module, "wb") as file:
                file.write(words + bytes(16))
            done = command("reflect", module, PATH=folder)
            assert done.returncode == 1 and "spirv-cross" in done.stderr \
                and "is SPIR-V" in done.stderr, done


@case
def spirv_that_is_damaged(_):
    if not are_tools_there():
        return
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "a.spv")
        with open(module, "wb") as file:
            file.write(b"\x03\x02\x23\x07" + b"\xff" * 40)
        done = command("run", module, "--grid", "1")
        assert done.returncode == 3 and "spirv-cross: " in done.stderr, done
