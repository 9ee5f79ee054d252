# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compiling.py: `mettle compile` and `mettle reflect`, `mettle devices` and
`mettle bench`; sources that do not compile end with 3."""

import os
import platform
import re

import numpy as np

from tool import case


@case
def an_error_has_place_text_line_and_caret(tool):
    tool.write("wrong.metal", "kernel void k(device int *o [[buffer(0)]]) {\n"
                              "  o[0] = nothing;\n}\n")
    for words in (("compile", "wrong.metal"), ("reflect", "wrong.metal"),
                  ("run", "wrong.metal", "k", "--grid", "1")):
        result = tool.fails(3, [], *words)
        lines = result.err.split("\n")
        assert re.match(r"wrong\.metal:2:10: error: .*nothing", lines[0]), \
            result.err
        assert "  o[0] = nothing;" in lines[1], result.err
        assert lines[2].rstrip().endswith("^"), result.err
        # The caret stands below the column that the first line names.
        assert lines[2].index("^") == lines[1].index("nothing"), result.err


@case
def sources_that_are_none(tool):
    tool.write("random.metal", np.random.default_rng(3).bytes(5000))
    tool.fails(3, ["random.metal"], "compile", "random.metal")
    tool.write("open.metal", "kernel void k( {")
    tool.fails(3, ["open.metal:1:"], "compile", "open.metal")
    tool.write("itself.metal", '#include "itself.metal"\n')
    tool.fails(3, ["itself.metal"], "compile", "itself.metal")


@case
def a_function_without_a_body_does_not_compile(tool):
    tool.write("open.metal", "void gone(device int *o);\nkernel void k("
               "device int *o [[buffer(0)]]) { gone(o); }\n")
    tool.fails(3, ["gone"], "run", "open.metal", "k", "--grid", "1",
               "0=zeros:i32:1")


@case
def a_compilation_past_its_limit_is_told(tool):
    tool.write("endless.metal", """
        constexpr int f() {
          int s = 0;
          for (long i = 0; i < 1000000000000; ++i) s += i;
          return s;
        }
        constant int c = f();
        kernel void k() {}
        """)
    result = tool("compile", "endless.metal",
                  environment={"METTLE_COMPILER_SECONDS": "1"})
    assert result.code == 1, result.err
    assert "endless.metal" in result.err and "1 s" in result.err, result.err


@case
def an_empty_source_has_no_kernels(tool):
    tool.write("empty.metal", "")
    tool.done("compile", "empty.metal")
    assert tool.done("reflect", "empty.metal", "--json").json() == {
        "kernels": [], "visible": [], "constants": []}
    tool.fails(2, ["no kernel 'k'; the source has none"], "run", "empty.metal",
               "k", "--grid", "1")


@case
def constants_of_one_index_have_values_by_name(tool):
    tool.write("same.metal", """
        #include <metal_stdlib>
        constant int a [[function_constant(0)]];
        constant float b [[function_constant(0)]];
        kernel void k(device float *x [[buffer(0)]]) { x[0] = a + b; }
        """)
    tool.done("compile", "same.metal")
    assert tool.done("reflect", "same.metal", "--json").json()["constants"] == [
        {"index": 0, "name": name, "type": kind, "components": 1,
         "required": True} for name, kind in (("a", "int"), ("b", "float"))]
    run = ("run", "same.metal", "--grid", "1", "0=zeros:1", "--print", "0",
           "--constant")
    assert tool.done(*run, "a=1", "--constant", "b=2.5").out == "0: 3.5\n"
    tool.fails(2, ["'b'", "is float", "set as int"], *run, "0=1")


@case
def visible_functions_are_listed_behind_the_kernels(tool):
    tool.write("v.metal", "[[visible]] float f(float x) { return x; }\n"
               "kernel void k(visible_function_table<float(device int *)> t) {}\n"
               .replace("visible_function_table",
                        "metal::visible_function_table"))
    result = tool.done("reflect", "v.metal", "--json").json()
    assert result["visible"] == ["f"], result
    assert [k["name"] for k in result["kernels"]] == ["k"], result
    table = result["kernels"][0]["arguments"][0]
    assert table["kind"] == "functions", result
    assert table["type"] == "visible_function_table<float (device int *)>", table
    tool.done("compile", "v.metal", "--report")
    tool.fails(2, ["'f' is a visible function"], "run", "v.metal", "f",
               "--grid", "1")


@case
def warnings_are_shown_and_do_no_harm(tool):
    tool.write("warn.metal", "#warning look here\n"
               "kernel void k(device int *o [[buffer(0)]]) { o[0] = 5; }\n")
    for _ in range(2):  # the second time from the cache
        result = tool("run", "warn.metal", "k", "--grid", "1", "0=zeros:i32:1",
                      "--print", "0")
        assert result.code == 0 and result.out == "0: 5\n"
        assert "warn.metal:1:2: warning: look here" in result.err, result.err


@case
def a_written_container_runs(tool):
    tool.done("compile", "kernels.metal", "-o", "kernels.mtl")
    out = tool.done("run", "kernels.mtl", "scale", "--grid", "2", "0=f32:1,2",
                    "1=f32:3", "--print", "0").out
    assert out == "0: 3 6\n"
    assert (tool.done("reflect", "kernels.mtl", "--json").json()
            == tool.done("reflect", "kernels.metal", "--json").json())
    tool.fails(1, ["missing/x"], "compile", "kernels.metal", "-o", "missing/x")


@case
def a_container_takes_no_options_for_sources(tool):
    tool.done("compile", "kernels.metal", "-o", "kernels.mtl")
    for words in (("-D", "X=1"), ("-I", "."), ("--math", "safe"),
                  ("--std", "metal3.0")):
        tool.fails(2, [f"compiled already: {words[0]}"], "reflect",
                   "kernels.mtl", *words)


@case
def a_damaged_container_is_refused(tool):
    tool.done("compile", "kernels.metal", "-o", "kernels.mtl")
    with open(tool.file("kernels.mtl"), "rb") as file:
        whole = file.read()
    middle = len(whole) // 2
    for content in (whole[:-1], whole[:100], whole[:7],
                    whole[:middle] + bytes([whole[middle] ^ 1])
                    + whole[middle + 1:]):
        tool.write("bad.mtl", content)
        result = tool.fails(1, ["bad.mtl"], "reflect", "bad.mtl")
        assert result.err.count("\n") == 1, result.err


@case
def compile_writes_nothing_unless_asked(tool):
    before = set(os.listdir(tool.folder))
    tool.done("compile", "kernels.metal")
    assert set(os.listdir(tool.folder)) == before


@case
def passes_can_be_dumped(tool):
    result = tool.fails(2, ["--dump-after", "no-such-pass"], "compile",
                        "kernels.metal", "--dump-after=no-such-pass")
    out = tool.done("compile", "kernels.metal", "--dump-after=enter_kernel",
                    "--kernel", "scale").out
    assert "enter_kernel" in result.err, result.err
    assert "; kernel scale after enter_kernel" in out
    assert "define" in out and "@mettle.thread" in out


@case
def steps_of_the_vectoriser_are_dumped_listed_and_left_out(tool):
    def compiled(*options):
        return tool.done("compile", "kernels.metal", "--kernel", "scale",
                         *options).out
    out = compiled("--dump-after=vectorize.normalise")
    assert "; kernel scale after vectorize.normalise" in out
    assert "@mettle.thread" in out and "@mettle.group(" not in out, out
    assert "@mettle.group(" in compiled("--dump-after=vectorize.group_loop")
    table = {line.split()[0]: line.split()[1:]
             for line in compiled("--dump-after=steps").splitlines()
             if line.endswith(" ms")}
    assert table["optimise"][0] == "-", table
    assert table["vectorize.split_exits"][0] == "0", table
    assert float(table["vectorize.emit_all"][1]) > 0, table
    left_out = compiled("--dump-after=steps",
                        "--without=vectorize.no_wrap,vectorize.hoist_loads")
    assert "vectorize.no_wrap" not in left_out
    assert "vectorize.hoist_loads" not in left_out
    assert "vectorize.split_exits" in left_out
    assert "vectorised" in compiled("--report", "--without=vectorize.no_wrap")
    tool.fails(2, ["vectorize.emit_all is no step", "left out"], "compile",
               "kernels.metal", "--asm", "--without=vectorize.emit_all")
    tool.fails(2, ["vectorize.split_geps"], "compile", "kernels.metal",
               "--dump-after=vectorize.no_such_step")
    tool.fails(2, ["--without", "--report"], "compile", "kernels.metal",
               "--without=vectorize.no_wrap")


@case
def the_plan_says_how_each_access_is_done(tool):
    with open(f"{tool.folder}/reads.metal", "w", encoding="utf-8") as file:
        file.write("""#include <metal_stdlib>
kernel void reads(device const float *x, device const uint *t,
                  device float *y, constant uint &n,
                  uint i [[thread_position_in_grid]]) {
  y[i] = x[t[i]];
  y[3 * i] = x[i * n];
}
""")
    out = tool.done("compile", "reads.metal", "--dump-plan").out
    assert "kernel reads\nrows of 32:\n" in out, out
    lines = out.split("\n")
    assert any("line 5, load: contiguous" in line for line in lines), out
    assert any("gather" in line and "index comes from memory" in line
               for line in lines), out
    checked = [i for i, line in enumerate(lines)
               if "load: if the stride is one" in line]
    assert lines[checked[0] + 1].startswith("    then contiguous"), out
    assert lines[checked[0] + 2].startswith("    else if the stride is none")


@case
def a_processors_name_says_what_vectors_it_has(tool):
    for cpu, register in (("znver4", "%zmm"), ("znver3", "%ymm")):
        out = tool.done("compile", "kernels.metal", "--kernel", "scale", "--asm",
                        environment={"METTLE_CPU_TARGET": f"x86_64 {cpu}"}).out
        assert register in out, out


@case
def machine_code_is_listed_with_source_lines(tool):
    tool.write("halve.metal", """#include <metal_stdlib>
inline float half_of(float x) {
  return metal::sqrt(x) * 0.5f;
}
kernel void halve(device float *p, uint i [[thread_position_in_grid]]) {
  p[i] = half_of(p[i]);
}
""")
    for extra in [], ["--debug"]:
        out = tool.done("compile", "halve.metal", "--asm", *extra).out
        lines = out.splitlines()
        assert lines[0] == "; kernel halve", out
        at = lines.index("; halve.metal:3    return metal::sqrt(x) * 0.5f;")
        assert any("sqrt" in line for line in lines[at:at + 60]), out
        assert "; halve.metal:6    p[i] = half_of(p[i]);" in lines, out
        # Labels, instructions, places: no directive is left.
        assert not [line for line in lines if line.strip().startswith(".")
                    and not line.rstrip().split("#")[0].rstrip().endswith(":")
                   ], out


@case
def what_was_reached_before_a_failure_is_dumped(tool):
    tool.write("deep.metal", """
#include <metal_stdlib>
int deep(int n) {
  return n < 2 ? metal::simd_sum(n) : deep(n - 1) + deep(n - 2);
}
kernel void k(device int *p) { p[0] = deep(p[1]); }
""")
    result = tool("compile", "deep.metal", "--dump-after=fix_constants")
    assert result.code == 3 and "calls itself" in result.err, result.err
    assert result.out.startswith("; kernel k after fix_constants\n"), result.out
    assert "define" in result.out
    assert "define" not in result.err, result.err
    # A pass that was not reached has nothing to show.
    tool.fails(3, ["calls itself"], "compile", "deep.metal",
               "--dump-after=optimise")


TILES = """
#include <metal_stdlib>
using namespace metal;
kernel void k(device const float *a [[buffer(0)]],
              device float *sums [[buffer(1)]],
              SPACE uint &n [[buffer(2)]],
              uint block [[threadgroup_position_in_grid]],
              uint t [[thread_index_in_threadgroup]]) {
  threadgroup float rows[64 * 16];
  float sum = 0;
  for (uint k = 0; k < n; k += 16) {
    for (uint i = t; i < 64 * 4; i += 128)
      *(threadgroup float4 *)(rows + i * 4) = *(device const float4 *)(
          a + (block * 64 + i / 4) * n + k + i % 4 * 4);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < 8; i++) sum += rows[t * 8 + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  sums[block * 128 + t] = sum;
}
"""


@case
def loops_with_barriers_ask_for_their_next_tiles(tool):
    tool.write("tiles.metal", TILES.replace("SPACE", "constant"))
    out = tool.done("compile", "tiles.metal", "--dump-after=split_blocks").out
    assert "call void @llvm.prefetch" in out, out


PARKED = """#include <metal_stdlib>
using namespace metal;
kernel void powers(device float *x [[buffer(0)]], constant uint &n [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  float sum = 0.375f * x[i];
  for (uint k = 0; k < n; k++)
    for (uint m = 0; m < k; m++)
      sum = fma(sum, 0.625f, fma(x[i + k], 0.625f, 2.0f));
  x[i] = sum;
}
"""


@case
def constants_of_loops_are_kept_in_front_of_the_outermost(tool):
    tool.write("powers.metal", PARKED)
    out = tool.done("compile", "powers.metal", "--dump-after=hoist_constants",
                    environment={"METTLE_CPU_TARGET": "x86_64 x86-64-v4"}).out
    uses = [line for line in out.splitlines() if "float 6.25" in line]
    assert all("= freeze <16 x float> " in line for line in uses), uses
    simdgroup = out[out.index("@powers.simdgroup.32("):]
    assert simdgroup.index(uses[0]) < simdgroup.index(" phi "), out


MASKED = """#include <metal_stdlib>
using namespace metal;
kernel void picks(device float *x [[buffer(0)]], device uint *y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  float a = x[i];
  while (a > 1.0f) {
    if (a > 2.0f && y[i] != 7) a = x[y[i] & 63] * 0.25f;
    a *= 0.5f;
  }
  x[i] = a;
}
"""


@case
def masks_are_numbers_where_machines_have_no_mask_registers(tool):
    tool.write("picks.metal", MASKED)
    texts = [tool.done("compile", "picks.metal", "--dump-after=mask_as_integers",
                       environment={"METTLE_CPU_TARGET": f"x86_64 {cpu}"}).out
             for cpu in ("x86-64-v3", "x86-64-v4")]
    of_masks = re.compile(r"(and|or|xor|phi) <32 x i1>|to <32 x i1>")
    assert not of_masks.search(texts[0]), texts[0]
    assert of_masks.search(texts[1]), texts[1]


# 60 lines of arithmetic, about as many instructions a line as operators.
LONG = """#include <metal_stdlib>
using namespace metal;
kernel void series(device float *x [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  float a = x[i], b = a + 1, c = a * 2, d = 1 - a;
""" + "".join(f"  {p} = {q} * {r} + {p} * {line}.25f - max({q}, {r});\n"
              for line in range(60)
              for p, q, r in [("abcd"[line % 4], "abcd"[(line + 1) % 4],
                               "abcd"[(line + 2) % 4])]) + """
  MORE
  x[i] = a + b + c + d;
}
"""


@case
def long_kernels_run_half_a_simdgroup_at_a_time(tool):
    def is_in_halves(cpu, more):
        tool.write("series.metal", LONG.replace("MORE", more))
        out = tool.done("compile", "series.metal", "--report",
                        environment={"METTLE_CPU_TARGET": f"x86_64 {cpu}"}).out
        assert "vectorised for rows of 32 threads" in out, out
        return "half a simdgroup at a time" in out

    assert is_in_halves("x86-64-v3", "")
    assert not is_in_halves("x86-64-v4", "")
    assert not is_in_halves("x86-64-v3", "a += simd_sum(b);")
    assert not is_in_halves("x86-64-v3",
                            "simdgroup_barrier(mem_flags::mem_device);")


LOOPS = """#include <metal_stdlib>
using namespace metal;
// Waits for one root before the next, and keeps one number.
kernel void roots(device float *x [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  float a = x[i];
  for (int k = 0; k < 100; k++) a = sqrt(a) + 1;
  x[i] = a;
}
// Waits for little and keeps many.
kernel void sums(device float *x [[buffer(0)]],
                 uint i [[thread_position_in_grid]]) {
  float a = x[i], b = a + 1, c = a + 2, d = a + 3, e = a + 4;
  for (int k = 0; k < 100; k++) {
    a += b; b += c; c += d; d += e; e += 1.5f;
  }
  x[i] = a + b + c + d + e;
}
// Leaves when it will.
kernel void leaves(device float *x [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  float a = x[i], b = x[i + 1];
  int k = 0;
  for (; k < 100; k++) {
    const float c = a * a, d = b * b;
    if (c + d > 4) break;
    b = 2 * a * b + 0.1f;
    a = c - d - 0.8f;
  }
  x[i] = k;
}
"""


@case
def loops_choose_how_many_threads_go_together(tool):
    tool.write("loops.metal", LOOPS)

    def found(kernel, cpu):
        out = tool.done("compile", "loops.metal", "--kernel", kernel,
                        "--report",
                        environment={"METTLE_CPU_TARGET": f"x86_64 {cpu}"}).out
        at_once = re.search(r"(\d) simdgroups of a threadgroup at once", out)
        return ("half a simdgroup at a time" in out,
                int(at_once[1]) if at_once else 1)

    assert found("roots", "x86-64-v3") == (False, 4)
    assert found("roots", "x86-64-v4") == (False, 4)
    is_half, at_once = found("sums", "x86-64-v3")
    assert at_once * (1 if is_half else 2) < 4, (is_half, at_once)
    assert found("leaves", "x86-64-v3") == (True, 1)
    assert found("leaves", "x86-64-v4") == (False, 1)


TURNS = """#include <metal_stdlib>
kernel void turns(device float *x [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  float a = x[i], b = a;
  uint k = 0;
  while (k < 256 && a < 4) {
    a = a * a + b;
    k++;
  }
  x[i] = k;
}
"""


@case
def what_all_threads_leave_a_loop_for_is_no_mask(tool):
    tool.write("turns.metal", TURNS)
    out = tool.done("compile", "turns.metal", "--dump-after=vectorize",
                    environment={"METTLE_CPU_TARGET": "x86_64 x86-64-v3"}).out
    limit = re.search(r"(%\S+) = icmp \w+ i32 %\S+, 256", out)
    assert re.search(rf"br i1 {limit[1]}, ", out), out
    assert not re.search(rf"select i1 {limit[1]}, ", out), out


TREE = """#include <metal_stdlib>
using namespace metal;
kernel void tree(device float *x [[buffer(0)]],
                 uint l [[thread_index_in_threadgroup]],
                 uint n [[threads_per_threadgroup]]) {
  threadgroup float sums[512];
  sums[l] = x[l];
  sums[l + n] = 0;
  for (uint stride = 256; stride > 0; stride /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l < stride && l + stride < n) sums[l] += sums[l + stride];
  }
  if (l == 0) x[0] = sums[0];
}
"""


@case
def barriers_of_whole_simdgroups_have_code_of_their_own(tool):
    tool.write("tree.metal", TREE)
    sizes = []
    for threads in (256, 100):
        out = tool.done("compile", "tree.metal", "--report", "--group",
                        str(threads)).out
        sizes.append(int(re.search(r"machine code: (\d+)", out)[1]))
        out = tool.done("run", "tree.metal", "tree", "--grid", str(threads),
                        "--group", str(threads), "0=iota:f32:256",
                        "--print", "0:1").out
        assert f"{threads * (threads - 1) // 2}" in out, out
    assert sizes[0] * 4 < sizes[1] * 3, sizes


COLUMNS = """#include <metal_stdlib>
using namespace metal;
kernel void columns(device uint *out [[buffer(0)]],
                    uint3 p [[thread_position_in_grid]],
                    uint3 l [[thread_position_in_threadgroup]],
                    uint3 n [[threads_per_grid]]) {
  out[(p.x * n.y + p.y) * n.z + p.z] = l.x + 10 * l.y + 1000 * l.z;
}
"""


@case
def rows_of_threads_may_lie_along_y_or_z(tool):
    tool.write("columns.metal", COLUMNS)
    for group, rows in (("64", "rows of 32 threads: "),
                        ("1,64", "rows of 32 threads along y: "),
                        ("1,8,8", "rows of 8 threads along y: "),
                        ("1,1,64", "rows of 32 threads along z: 0 gathers, 0 "
                                   "scatters, 0 instructions lane by lane")):
        out = tool.done("compile", "columns.metal", "--report", "--group",
                        group).out
        assert f"vectorised for {rows}" in out, out


@case
def numbers_in_constant_memory_are_read_once(tool):
    reads = []
    for space in ("constant", "device const"):
        tool.write("tiles.metal", TILES.replace("SPACE", space))
        out = tool.done("compile", "tiles.metal",
                        "--dump-after=simplify_thread").out
        reads.append(out.count("load i32,"))
    # To device memory others could have written at a barrier.
    assert reads[0] == 1 < reads[1], reads


@case
def reports_name_each_kernel(tool):
    out = tool.done("compile", "kernels.metal", "--report").out
    for kernel in ("add", "scale", "positions", "reverse_groups"):
        assert f"kernel {kernel}\n" in out, out


@case
def reports_tell_registers_and_spills(tool):
    if platform.machine() != "x86_64":
        return
    # 48 sums for each thread: no machine has registers for 48 times 16 floats.
    tool.write("sums.metal", """
        kernel void few(device float *x [[buffer(0)]],
                        uint i [[thread_position_in_grid]]) { x[i] += 1; }
        kernel void many(device float *x [[buffer(0)]],
                         constant uint &n [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
          float s[48];
          for (uint k = 0; k < 48; k++) s[k] = x[i + k * 64];
          for (uint t = 0; t < n; t++)
            for (uint k = 0; k < 48; k++)
              s[k] = s[k] * s[(k + 7) % 48] + float(t);
          float sum = 0;
          for (uint k = 0; k < 48; k++) sum += s[k];
          x[i] = sum;
        }
        """)
    report = tool.done("compile", "sums.metal", "--report").out
    few, many = [[int(number) for number in line] for line in re.findall(
        r"machine code: (\d+) instructions, (\d+) vector registers, (\d+) "
        r"spills \(vectors stored on the stack\), (\d+) reloads", report)]
    assert 0 < few[1] < 16 and few[3] == 0, report
    assert many[1] >= 15 and many[2] >= 48 and many[3] >= 48 - 32, report


@case
def reflection_lists_arguments(tool):
    answer = tool.done("reflect", "kernels.metal", "--json").json()
    kernels = {kernel["name"]: kernel for kernel in answer["kernels"]}
    assert list(kernels) == ["add", "scale", "positions", "group_size",
                             "reverse_groups"]
    a, b, total = kernels["add"]["arguments"][:3]
    assert (a["name"], a["kind"], a["index"], a["access"], a["type"],
            a["size_bytes"], a["alignment_bytes"]) == \
        ("a", "buffer", 0, "read", "float", 4, 4), a
    assert b["index"] == 1 and total["access"] == "read_write"
    factor = kernels["scale"]["arguments"][1]
    assert factor["reference"] and not a["reference"]
    room = kernels["reverse_groups"]["arguments"][2]
    assert (room["kind"], room["index"]) == ("threadgroup", 0)


@case
def reflection_is_readable(tool):
    out = tool.done("reflect", "kernels.metal").out
    assert re.search(r"kernel add\n +buffer +0 +a +read +float", out), out
    assert re.search(r"buffer +1 +factor +read +float&", out), out


@case
def reflection_lists_constants(tool):
    tool.write("more.metal", """
        #include <metal_stdlib>
        using namespace metal;
        constant float2 shift [[function_constant(5)]];
        kernel void k(device float2 *o [[buffer(2)]],
                      uint i [[thread_position_in_threadgroup]]) {
          threadgroup float2 room[64];
          room[i] = shift;
          threadgroup_barrier(mem_flags::mem_threadgroup);
          o[i] = room[63 - i];
        }""")
    answer = tool.done("reflect", "more.metal", "--json").json()
    assert answer["constants"] == [{"index": 5, "name": "shift",
                                    "type": "float", "components": 2,
                                    "required": True}], answer
    kernel = answer["kernels"][0]
    argument = kernel["arguments"][0]
    assert (argument["type"], argument["components"],
            argument["size_bytes"]) == ("float2", 2, 8), argument
    report = tool.done("compile", "more.metal", "--constant", "shift=f32:1,2",
                       "--report").out
    assert "threadgroup variables: 512 bytes" in report, report


@case
def kernels_go_by_their_host_names(tool):
    tool.write("host.metal", """
        template <typename T>
        kernel void fill(device T *o [[buffer(0)]],
                         uint i [[thread_position_in_grid]]) { o[i] = 3; }
        template [[host_name("fill_int")]] kernel void fill(device int *, uint);
        template [[host_name("fill_float")]] kernel void
        fill(device float *, uint);
        """)
    answer = tool.done("reflect", "host.metal", "--json").json()
    assert [kernel["name"] for kernel in answer["kernels"]] == [
        "fill_int", "fill_float"]
    assert tool.done("run", "host.metal", "fill_float", "--grid", "2",
                     "0=zeros:f32:2", "--print", "0").out == "0: 3 3\n"


@case
def devices_tell_their_limits(tool):
    devices = tool.done("devices", "--json").json()
    names = [device["name"] for device in devices]
    assert names == ["cpu"], names
    assert [device["default"] for device in devices].count(True) == 1
    for device in devices:
        assert device["thread_execution_width"] == 32
        assert len(device["max_threadgroup_threads"]) == 3
        assert device["max_buffer_bytes"] > 0
    out = tool.done("devices").out
    assert "cpu (default)" in out and "threadgroup memory" in out
    other = tool("devices",
                 environment={"METTLE_DEVICE": "cpu-discrete"}).out
    assert "cpu-discrete (default)" in other


@case
def devices_for_tests_are_listed_by_name(tool):
    named = tool.done("devices", "null", "cpu-discrete", "--json").json()
    assert [device["name"] for device in named] == ["null", "cpu-discrete"]
    out = tool.done("devices").out
    assert "null" not in out and "discrete" not in out, out
    wrong = tool("devices", "abacus")
    assert wrong.code == 2 and "cpu-discrete" in wrong.err, wrong.err


@case
def bench_gives_figures(tool):
    figures = tool.done("bench", "--json", seconds=280).json()
    names = [figure["name"] for figure in figures]
    assert "empty commit + wait" in names and "copy bandwidth" in names
    for figure in figures:
        assert figure["value"] > 0 and figure["unit"] and \
            figure["peers"] == {}, figure


@case
def nothing_but_text_goes_into_a_pipe(tool):
    result = tool("run", "kernels.metal", "scale", "--grid", "1000000",
                  "--repeat", "300", "0=ones:f32:1000000", "1=f32:1")
    assert result.code == 0
    assert "\r" not in result.err and "\x1b" not in result.err
    assert result.err.count("\n") == 1
