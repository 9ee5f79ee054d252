# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""export.py FOLDER: compiles cases for device "mps" with a CPU-only torch.

Reads names of cases (graphs.py, models.py) from standard input, one a line, and
answers each with one line: "ok NAME" once FOLDER/NAME/ has model.so, its
weights, the inputs, what eager torch on the CPU computes and case.json, or
"failed NAME: why". Runs under a Python that has torch; generated code embeds
PyTorch's headers and is never part of this repository.

Inductor asks a real mps device for three facts, which are answered here, and it
lowers with fake mps tensors: weights are real again only where they are
written."""

import contextlib
import glob
import json
import operator
import os
import shutil
import sys
import tempfile
import traceback

import numpy as np
import torch
import torch._inductor.codegen.cpp_wrapper_gpu as cpp_wrapper_gpu
import torch._inductor.codegen.mps as mps_code
import torch._inductor.fx_passes.joint_graph as joint_graph
import torch._inductor.graph as inductor_graph
import torch.utils._pytree as pytree
from torch._inductor.graph import GraphLowering
from torch._subclasses.fake_tensor import FakeTensor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import graphs  # noqa: E402
import models  # noqa: E402

OPTIONS = {
    "aot_inductor.link_libtorch": False,
    "aot_inductor.package": True,
    "aot_inductor.package_constants_in_so": False,
    "aot_inductor.package_constants_on_disk_format": "binary_blob",
    "always_keep_tensor_constants": True,
    "joint_graph_constant_folding": False,
    "aot_inductor.compile_wrapper_opt_level": "O0",  # half of the time is g++'s
}
HEADERS = list(mps_code.MetalKernel.headers)


def answer_for_the_device():
    prepare = joint_graph.lazy_init
    joint_graph.lazy_init = lambda device=None: prepare(torch.device("cpu"))
    cpp_wrapper_gpu.get_gpu_type = lambda: "mps"
    torch._C._mps_get_core_count = lambda: 8
    original = GraphLowering.get_original_value_of_constant

    def value_of_constant(self, name):
        value = original(self, name)
        caller = sys._getframe(1).f_code.co_filename
        if not caller.endswith("codecache.py"):
            return value
        real = getattr(value, "real_cpu", None)
        if real is None:
            real = getattr(self.constants[name], "real_cpu", None)
        return value if real is None else real

    GraphLowering.get_original_value_of_constant = value_of_constant
    is_same = inductor_graph.is_same_tensor
    inductor_graph.is_same_tensor = lambda a, b: (
        a is b if isinstance(a, FakeTensor) or isinstance(b, FakeTensor)
        else is_same(a, b))


def to_fake_mps(program):
    """Moves an exported program to fake tensors on mps, weights included."""
    mode = next(n.meta["val"].fake_mode for n in program.graph.nodes
                if isinstance(n.meta.get("val"), FakeTensor))
    mode.allow_non_fake_inputs = True

    def move(value):
        if not isinstance(value, torch.Tensor):
            return value
        with mode:
            fake = torch.empty_strided(value.size(), value.stride(),
                                       dtype=value.dtype, device="mps")
        if not isinstance(value, FakeTensor):
            fake.real_cpu = value.detach().clone()
        return fake

    for key, value in list(program.state_dict.items()):
        fake = move(value)
        if isinstance(value, torch.nn.Parameter):
            real = fake.real_cpu
            fake = torch.nn.Parameter(fake, requires_grad=False)
            fake.real_cpu = real
        program._state_dict[key] = fake
    for key, value in list(program.constants.items()):
        program._constants[key] = move(value)
    program._example_inputs = None
    for module in program.graph_module.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        for node in module.graph.nodes:
            if node.kwargs.get("device") is not None:
                node.kwargs = {**node.kwargs, "device": torch.device("mps:0")}
            if "val" in node.meta:
                node.meta["val"] = pytree.tree_map(move, node.meta["val"])


def rewrite_attention(program):
    """scaled_dot_product_attention becomes the mps form's first result."""
    aten = torch.ops.aten
    names = ["query", "key", "value", "attn_mask", "dropout_p", "is_causal"]
    graph = program.graph_module.graph
    for node in list(graph.nodes):
        if node.target is not aten.scaled_dot_product_attention.default:
            continue
        given = {**dict(zip(names, node.args)), **node.kwargs}
        with graph.inserting_before(node):
            pair = graph.call_function(
                aten._scaled_dot_product_attention_math_for_mps.default,
                (given["query"], given["key"], given["value"],
                 given.get("attn_mask"), given.get("dropout_p", 0.0),
                 given.get("is_causal", False)),
                {"scale": given.get("scale"),
                 "enable_gqa": given.get("enable_gqa", False)})
            first = graph.call_function(operator.getitem, (pair, 0))
        pair.meta["val"] = (node.meta["val"], node.meta["val"])
        first.meta = dict(node.meta)
        node.replace_all_uses_with(first)
        graph.erase_node(node)
    program.graph_module.recompile()


def compile_model(module, inputs, dynamic, folder):
    mps_code.MetalKernel.headers.clear()
    for header in HEADERS:  # they only grow within a process
        mps_code.MetalKernel.headers.add(header)
    program = torch.export.export(module, inputs, strict=False,
                                  dynamic_shapes=dynamic)
    rewrite_attention(program)
    to_fake_mps(program)
    fakes = tuple(n.meta["val"] for n in program.graph.nodes
                  if n.op == "placeholder"
                  and n.name in program.graph_signature.user_inputs)
    return torch._inductor.aot_compile(
        program.module(check_guards=False), fakes,
        options={**OPTIONS, "aot_inductor.output_path": folder})


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
        work = os.path.join(folder, "work")
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
            compile_model(module, inputs, dynamic, work)
    shutil.move(glob.glob(f"{work}/**/*.so", recursive=True)[0],
                f"{folder}/model.so")
    for blob in glob.glob(f"{work}/**/*.blob", recursive=True):
        shutil.move(blob, f"{folder}/model_weights.blob")
    shutil.rmtree(work)
    with open(f"{folder}/case.json", "w", encoding="utf-8") as file:
        json.dump(about, file)
    shutil.rmtree(os.path.join(target, name), ignore_errors=True)
    os.rename(folder, os.path.join(target, name))


def main():
    target = sys.argv[1]
    os.makedirs(target, exist_ok=True)
    answer_for_the_device()
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
