# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""export.py FOLDER: compiles cases for device "mps" with a CPU-only torch.

Reads names of cases (graphs.py, models.py) from standard input, one a line, and
answers each with one line: "ok NAME" once FOLDER/NAME/ has model.so, its
weights, the inputs, what eager torch on the CPU computes and case.json, or
"failed NAME: why". Runs under a Python that has torch; generated code embeds
PyTorch's headers and is never part of this repository."""

import contextlib
import json
import os
import shutil
import sys
import tempfile
import traceback

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tools")]
import export_mps  # noqa: E402
import graphs  # noqa: E402
import models  # noqa: E402


def save(path, tensor):
    """Writes a tensor as .npy, and returns its type's name."""
    names = {torch.bfloat16: "bf16", torch.float32: "f32", torch.float16: "f16",
             torch.float64: "f64"}
    array = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        array = array.view(torch.uint16)
    np.save(path, array.numpy())
    return names.get(tensor.dtype, str(tensor.dtype).split(".")[1])


def export(name, target):
    case = (graphs.CASES | models.CASES)[name]
    torch.manual_seed(0)
    with torch.no_grad():
        built = case.build()
        module, inputs = built[0].eval(), tuple(built[1])
        dynamic = built[2] if len(built) > 2 else None
        trial = built[3] if len(built) > 3 else inputs
        folder = tempfile.mkdtemp(dir=target)
        results = module(*(x.clone() for x in trial))
        results = results if isinstance(results, (tuple, list)) else (results,)
        about = {
            "inputs": [save(f"{folder}/in{i}.npy", x)
                       for i, x in enumerate(trial)],
            "outputs": [save(f"{folder}/out{i}.npy", x)
                        for i, x in enumerate(results)],
            "tolerance": case.tolerance, "steps": case.steps,
        }
        if case.steps:
            models.save_steps(module, trial, case.steps, folder, save)
        with contextlib.redirect_stdout(sys.stderr):
            export_mps.export(module, inputs, folder, dynamic)
    with open(f"{folder}/case.json", "w", encoding="utf-8") as file:
        json.dump(about, file)
    shutil.rmtree(os.path.join(target, name), ignore_errors=True)
    os.rename(folder, os.path.join(target, name))


def main():
    target = sys.argv[1]
    os.makedirs(target, exist_ok=True)
    for line in sys.stdin:
        name = line.strip()
        try:
            export(name, target)
            print("ok", name, flush=True)
        except Exception as error:  # the next case may work
            traceback.print_exc()
            why = str(error).strip().split("\n")[0]
            print(f"failed {name}: {type(error).__name__}: {why}", flush=True)


if __name__ == "__main__":
    main()
