# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""models.py: `mettle model`: its command line, and what is no model. Runs of
real models are in tests/aoti."""

import os
import subprocess

import numpy as np

from tool import case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def build_model(tool, name="model.so", body="in[i] * 2", more="(void)0",
                outputs=1, strides=None):
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{ROOT}/include",
                    f'-DBODY="{body}"', f"-DMORE={more}", "-include",
                    "stdlib.h", f"-DOUTPUTS={outputs}",
                    *([f"-DSTRIDES={strides}"] if strides else []),
                    f"{ROOT}/tests/aoti/model/tiny_model.c",
                    "-o", tool.file(name)], check=True)
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
def a_model_s_input_in_fortran_order_is_turned(tool):
    model = build_model(tool, body="in[i] + i")
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    tool.save("x.npy", np.asfortranarray(x))
    tool.done("model", "run", model, "--input", "x.npy", "--output-dir", "out")
    assert tool.load("out/0.npy").tolist() == (2 * x).tolist()


@case
def a_model_gives_one_result_twice(tool):
    # As generated code does for one tensor at two places: one handle.
    model = build_model(tool, more="out[1] = out[0]", outputs=2)
    tool.save("x.npy", np.ones(3, np.float32))
    tool.done("model", "run", model, "--input", "x.npy", "--output-dir", "out",
              "--repeat", 3, "--json")
    assert tool.load("out/0.npy").tolist() == [2, 2, 2]
    assert tool.load("out/1.npy").tolist() == [2, 2, 2]


@case
def a_model_s_file_is_checked(tool):
    model = build_model(tool)
    with open(tool.file(model), "rb") as file:
        whole = file.read()
    for size in (3, 40, 100, len(whole) // 2):
        with open(tool.file("cut.so"), "wb") as file:
            file.write(whole[:size])
        why = "is no shared object" if size < 4 else "is cut short"
        tool.fails(1, ["cut.so", why], "model", "info", "cut.so")
    tool.write("net.pt2", "PK\x03\x04 and more")
    tool.fails(1, ["net.pt2 is an archive", "unpack it"], "model", "info",
               "net.pt2")


@case
def a_model_s_input_is_laid_out_as_the_model_takes_it(tool):
    # Generated code's complaints: torch's check of inputs' strides.
    model = build_model(tool, body="in[i] * 10", strides="1, 2")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    tool.save("x.npy", x)
    tool.done("model", "run", model, "--input", "x.npy", "--output-dir", "out")
    # The kernel runs over memory: rows of the result are columns of x.
    assert tool.load("out/0.npy").flatten().tolist() == [0, 30, 10, 40, 20, 50]
    # One row in memory for all: only if all rows are alike.
    model = build_model(tool, strides="0, 1")
    tool.fails(1, ["unmatched stride value at 0, expected: 0", "input 0, x.npy, "
                   "is f32 (2, 3)"], "model", "run", model, "--input", "x.npy",
               "--output-dir", "out")


@case
def a_model_is_asked_to_check_its_inputs(tool):
    # As generated code does, by this variable.
    model = build_model(
        tool, more="return !getenv(\"AOTI_RUNTIME_CHECK_INPUTS\")")
    tool.save("x.npy", np.zeros(4, np.float32))
    tool.done("model", "run", model, "--input", "x.npy", "--output-dir", "out")


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
        tool, more="return aoti_torch_mps_dream()")
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
