# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""corpora.py: `mettle corpus` compiles every source under a folder as its
manifest says, and tells what failed."""

import os
import re
import shutil

from tool import case

KERNEL = '''#include "factor.h"
kernel void k(device int *o) { o[0] = FACTOR; }
'''


def _project(tool, manifest):
    for folder in ("project/sources/deep", "project/headers"):
        os.makedirs(os.path.join(tool.folder, folder))
    tool.write("project/headers/factor.h", "#define FACTOR A_NUMBER\n")
    tool.write("project/sources/b.metal", KERNEL)
    tool.write("project/sources/deep/a.metal", KERNEL + KERNEL.replace(
        "void k", "void l"))
    tool.write("project/sources/note.txt", "no source")
    tool.write("project/sources/mettle-corpus.txt", manifest)


MANIFEST = """# how the project compiles
include ../headers
define A_NUMBER=3

std metal3.1
"""


@case
def every_source_compiles_as_the_manifest_says(tool):
    _project(tool, MANIFEST)
    lines = tool.done("corpus", "project/sources").out.split("\n")
    assert lines[0].split()[:3] == ["ok", "1", "kernels"], lines
    assert lines[0].endswith("b.metal") and lines[1].endswith("deep/a.metal")
    assert lines[2] == "2 of 2 files compiled, 0 skipped; 3 kernels", lines


@case
def what_does_not_compile_is_told_and_ends_with_3(tool):
    _project(tool, MANIFEST)
    tool.write("project/sources/c.metal", "kernel void k() {\n  gone();\n}\n")
    result = tool("corpus", "project/sources")
    assert result.code == 3 and "1 of 3 files" in result.err, result.err
    assert "c.metal:2:3: error: " in result.out, result.out
    answer = tool("corpus", "project/sources", "--json").json()
    assert [f["outcome"] for f in answer["files"]] == ["ok", "failed", "ok"]
    assert "gone" in answer["files"][1]["diagnostic"]
    assert (answer["compiled"], answer["tried"], answer["kernels"]) == (2, 3,
                                                                        3)


@case
def sources_may_include_what_lies_under_the_folder(tool):
    for folder in ("shaders/fields", "shaders/poly"):
        os.makedirs(os.path.join(tool.folder, folder))
    tool.write("shaders/fields/two.metal", "constant int two = 2;\n")
    tool.write("shaders/poly/double.metal", '#include "../fields/two.metal"\n'
               "kernel void k(device int *o) { o[0] *= two; }\n")
    tool.write("outside.metal", "constant int two = 2;\n")
    out = tool.done("corpus", "shaders").out
    assert "2 of 2 files compiled" in out, out
    tool.write("shaders/poly/far.metal", '#include "../../outside.metal"\n')
    result = tool("corpus", "shaders")
    assert result.code == 3, result.code
    assert "outside the include paths (-I)" in result.out, result.out


@case
def a_function_of_another_source_is_no_failure(tool):
    os.makedirs(os.path.join(tool.folder, "library"))
    tool.write("library/main.metal", '''
namespace deep { float twice(float x); }
kernel void k(device float *x) { *x = deep::twice(*x); }
''')
    tool.write("library/more.metal", '''
namespace deep { float twice(float x); }
float thrice(float x) { if (deep::twice(x) > x) { return x * 3; } return x; }
''')
    assert tool("corpus", "library").code == 3  # both only declare it
    tool.write("library/twice.metal",
               "namespace deep {\nfloat twice(float x)\n{ return x * 2; }\n}")
    result = tool.done("corpus", "library")
    assert re.search("partial .*main.metal", result.out), result.out
    assert "twice.metal defines it" in result.out, result.out
    assert "partial, 0 skipped" in result.out, result.out
    files = tool.done("corpus", "library", "--json").json()["files"]
    assert files[0]["outcome"] == "partial", files
    assert files[0]["needs"] == "twice.metal", files
    tool.write("library/main.metal", '''
float twice(float x);
kernel void k(device float *x) { *x = twice(gone); }
''')
    assert tool("corpus", "library").code == 3


@case
def a_manifest_leaves_out_what_it_names(tool):
    _project(tool, MANIFEST + "skip deep/*\n")
    answer = tool.done("corpus", "project/sources", "--json").json()
    assert [f["outcome"] for f in answer["files"]] == ["ok", "skipped"]


@case
def pipelines_are_made_on_request(tool):
    _project(tool, MANIFEST)
    answer = tool.done("corpus", "project/sources", "--pipelines",
                       "--json").json()
    assert (answer["pipelines"], answer["vectorised"], answer["failed"]) == (
        3, 3, 0), answer


# Threads of a simdgroup wait at different barriers: no vector can.
DIVERGENT = """#include <metal_stdlib>
kernel void waits(device int *o [[buffer(0)]],
                  uint l [[thread_index_in_threadgroup]]) {
  threadgroup int s[64];
  s[l] = o[l];
  if (l & 1) {
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    s[l] += 1;
  } else {
    s[l] += 2;
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
  }
  o[l] = s[l ^ 1];
}
"""


@case
def what_is_not_vectorised_has_a_reason(tool):
    _project(tool, MANIFEST)
    tool.write("project/sources/w.metal", DIVERGENT)
    out = tool.done("corpus", "project/sources", "--pipelines").out
    reason = re.findall("\n +not vectorised: (.*)", out)
    assert len(reason) == 1 and reason[0].startswith("waits: "), out
    assert "barrier" in reason[0], out
    answer = tool.done("corpus", "project/sources", "--pipelines",
                       "--json").json()
    told = [file.get("not_vectorised") for file in answer["files"]]
    assert told == [None, None, reason[0]], answer


@case
def what_is_vectorised_is_counted_wherever_the_report_says_it(tool):
    # Its report begins with another line: "1 functions called rather than
    # inlined".
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                          "regression", "functions_called.metal")
    os.makedirs(tool.file("called"))
    shutil.copy(source, tool.file("called"))
    answer = tool.done("corpus", "called", "--pipelines", "--json").json()
    assert answer["vectorised"] == answer["pipelines"] == 1, answer
    assert "1 made, 1 of them vectorised" in tool.done(
        "corpus", "called", "--pipelines").out


@case
def a_wrong_manifest_is_wrong_usage_with_its_place(tool):
    _project(tool, "include ../headers\nstd metal9.9\n")
    tool.fails(2, ["mettle-corpus.txt:2: ", "metal9.9"], "corpus",
               "project/sources")
    tool.write("other.txt", "delete everything\n")
    tool.fails(2, ["other.txt:1: there is no 'delete'"], "corpus",
               "project/sources", "--manifest", "other.txt")
    tool.fails(1, ["absent.txt"], "corpus", "project/sources", "--manifest",
               "absent.txt")


@case
def a_folder_without_sources_fails(tool):
    os.makedirs(os.path.join(tool.folder, "empty"))
    tool.fails(1, ["no .metal file"], "corpus", "empty")
    tool.fails(1, ["nowhere"], "corpus", "nowhere")
    tool.fails(2, ["DIR is missing"], "corpus")
