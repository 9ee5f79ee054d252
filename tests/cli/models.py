# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""models.py: `mettle model`: its command line, and what is no model. Runs of
real models are in tests/aoti."""

import subprocess

import numpy as np

from tool import case

# The least that passes for a model: it has what the loader asks for, doubles
# its input with a kernel, and has one constant.
MODEL = r"""
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "mettle/aoti.h"

const char *mps_lib_0_source =
    "#include <metal_stdlib>\n"
    "kernel void generated_kernel(device float *out, constant float *in,\n"
    "                             uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = BODY;\n"
    "}\n";

#define MODEL(name) __attribute__((visibility("default"))) int32_t \
    AOTInductorModelContainer##name

MODEL(CreateWithDevice)(void **container, size_t count, const char *device,
                        const char *folder) {
  (void)count;
  (void)folder;
  *container = container;
  return strcmp(device, "mps");
}
MODEL(Delete)(void *container) { return container == NULL; }
MODEL(GetNumInputs)(void *c, size_t *n) { (void)c; *n = 1; return 0; }
MODEL(GetNumOutputs)(void *c, size_t *n) { (void)c; *n = 1; return 0; }
MODEL(GetNumConstants)(void *c, size_t *n) { (void)c; *n = 1; return 0; }
MODEL(GetInputName)(void *c, size_t i, const char **name) {
  (void)c; *name = "x"; return i != 0;
}
MODEL(GetOutputName)(void *c, size_t i, const char **name) {
  (void)c; *name = "y"; return i != 0;
}
MODEL(GetConstantName)(void *c, size_t i, const char **name) {
  (void)c; *name = "constant_0"; return i != 0;
}
MODEL(GetConstantOriginalFQN)(void *c, size_t i, const char **name) {
  (void)c; *name = "layer.weight"; return i != 0;
}
MODEL(GetConstantDtype)(void *c, size_t i, int32_t *type) {
  (void)c; *type = aoti_torch_dtype_bfloat16(); return i != 0;
}
MODEL(GetConstantDataSize)(void *c, size_t i, size_t *size) {
  (void)c; *size = 128; return i != 0;
}
MODEL(Run)(void *c, AtenTensorHandle *in, size_t in_count,
           AtenTensorHandle *out, size_t out_count, void *stream, void *proxy) {
  (void)c; (void)in_count; (void)out_count; (void)stream; (void)proxy;
  int64_t *sizes, rank, count;
  int32_t dtype;
  AOTIMetalShaderLibraryHandle library = NULL;
  AOTIMetalKernelFunctionHandle function = NULL;
  aoti_torch_mps_create_shader_library(mps_lib_0_source, &library);
  aoti_torch_mps_get_kernel_function(library, "generated_kernel", &function);
  aoti_torch_get_sizes(in[0], &sizes);
  aoti_torch_get_dim(in[0], &rank);
  aoti_torch_get_numel(in[0], &count);
  aoti_torch_get_dtype(in[0], &dtype);
  if (dtype != aoti_torch_dtype_float32()) return 1;
  if (aoti_torch_empty_strided(rank, sizes, NULL, dtype, 13, 0, &out[0]))
    return 1;
  aoti_torch_mps_start_encoding(function);
  aoti_torch_mps_set_arg_tensor(function, 0, out[0]);
  aoti_torch_mps_set_arg_tensor(function, 1, in[0]);
  aoti_torch_mps_dispatch_single(function, (uint64_t)count);
  aoti_torch_mps_delete_shader_library(library);
  aoti_torch_delete_tensor_object(in[0]);
  in[0] = NULL;
  MORE;
  return 0;
}
"""


def build_model(tool, name="model.so", body="in[i] * 2", more="(void)0"):
    source = MODEL.replace("BODY", body).replace("MORE", more)
    tool.write("model.c", source)
    here = __file__.rsplit("/tests/", 1)[0]
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{here}/include",
                    tool.file("model.c"), "-o", tool.file(name)], check=True)
    return name


@case
def a_model_runs_from_files_into_files(tool):
    model = build_model(tool)
    tool.save("x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    answer = tool.done("model", "run", model, "--input", "x.npy",
                       "--output-dir", "out", "--repeat", 3, "--json").json()
    got = tool.load("out/0.npy")
    assert got.shape == (2, 3) and got.dtype == np.float32
    assert got.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert answer["time_ns"]["runs"] == 3
    assert 0 < answer["time_ns"]["min"] <= answer["time_ns"]["median"]
    assert answer["dispatches"] == 1 and answer["commits"] == 1
    assert answer["bytes"] == 48  # 6 floats in, 6 out


@case
def a_model_s_info_is_told(tool):
    model = build_model(tool)
    text = tool.done("model", "info", model).out
    for part in ("inputs 1", "  0  x", "  0  y", "layer.weight", "bf16",
                 "128 bytes", "kernels 1"):
        assert part in text, text
    answer = tool.done("model", "info", model, "--json").json()
    assert answer["inputs"] == ["x"] and answer["outputs"] == ["y"]
    assert answer["constants"] == [{"name": "layer.weight", "type": "bf16",
                                    "bytes": 128}]
    assert answer["kernels"][0]["lines"] == 5


@case
def a_model_s_kernel_that_does_not_compile_is_told(tool):
    model = build_model(tool, body="no_such_name")
    tool.save("x.npy", np.zeros(4, np.float32))
    tool.fails(3, ["no_such_name", "error:"], "model", "run", model, "--input",
               "x.npy", "--output-dir", "out")


@case
def a_model_s_missing_operator_is_named(tool):
    model = build_model(
        tool, more="extern int aoti_torch_mps_dream(void);"
        "return aoti_torch_mps_dream()")
    tool.fails(1, ["aoti_torch_mps_dream", "Mettle has not"], "model", "info",
               model)


@case
def a_model_s_inputs_are_checked(tool):
    model = build_model(tool)
    tool.save("x.npy", np.zeros(4, np.float32))
    tool.save("long.npy", np.zeros(4, np.int64))
    run = ("model", "run", model, "--output-dir", "out")
    tool.fails(2, ["takes 1 inputs; 0 are given"], *run)
    tool.fails(2, ["takes 1 inputs; 2"], *run, "--input", "x.npy", "--input",
               "x.npy")
    tool.fails(2, ["4 bytes cannot be bf16"], *run, "--input", "x.npy:bf16")
    tool.fails(1, ["run failed"], *run, "--input", "long.npy")
    tool.fails(1, ["absent.npy"], *run, "--input", "absent.npy")


@case
def a_model_s_command_line_is_checked(tool):
    model = build_model(tool)
    tool.fails(2, ["run or info is missing"], "model")
    tool.fails(2, ["'walk' is neither run nor info"], "model", "walk", model)
    tool.fails(2, ["file is missing"], "model", "info")
    tool.fails(2, ["--output-dir is missing"], "model", "run", model)
    tool.fails(2, ["--repeat 0"], "model", "run", model, "--repeat", "0")
    tool.fails(2, ["one argument too many"], "model", "info", model, "more")
    tool.fails(1, ["absent.so"], "model", "info", "absent.so")
    tool.write("text.so", "no object")
    tool.fails(1, ["text.so"], "model", "info", "text.so")
    tool.fails(1, ["weights", "takes no"], "model", "info", model, "--weights",
               "text.so")
