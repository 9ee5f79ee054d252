# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports ExecuTorch programs for the Metal backend where there is no Metal.

    from mettle_executorch.export import metal_export
    with metal_export():
        program = to_edge_transform_and_lower(
            torch.export.export(net, inputs, strict=False),
            partitioner=[MetalPartitioner([spec])]).to_executorch()

Programs hold code for this machine's processor: one made here does not run on a
Mac, nor the reverse.

ExecuTorch's exporter moves a program to a real mps device before AOTInductor
compiles it. Here it moves to fake mps tensors, as export_mps.py does for whole
models, and what asks the device is answered."""

import contextlib
import importlib
import os
import sys

import torch

from mettle_executorch.fold_norms import fold_batch_norms

HERE = os.path.dirname(os.path.abspath(__file__))
BITS = range(1, 8)
kept_library = None  # of torch.library: operators last as long


def _export_mps():
    for name in ("export_mps", "mettle.export_mps"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    for folder in (os.path.join(HERE, "..", ".."),
                   os.path.join(HERE, "..", "..", "..", "tools")):
        if os.path.exists(os.path.join(folder, "export_mps.py")):
            sys.path.insert(0, folder)
            return importlib.import_module("export_mps")
    raise RuntimeError("export_mps.py is not where Mettle installs it")


def _pack_4bit(weights):
    """[N, K] of 0 to 15 to [N, K / 2]: the even k is in the low half."""
    weights = weights.to(torch.uint8)
    return weights[:, 0::2] | weights[:, 1::2] << 4


def _linear_4bit(x, packed, group_size, scales, zeros):
    """x times the transpose of scale * q + zero."""
    q = torch.stack((packed & 15, packed >> 4), dim=-1).flatten(1)
    weights = (q * scales.float().repeat_interleave(group_size, 1)
               + zeros.float().repeat_interleave(group_size, 1))
    return (x.float() @ weights.T).to(x.dtype)


def declare_torchao_operators():
    """Declares torchao's operators of few bits for Metal, which are in a library
    for Macs, and computes those of 4 bits on the CPU, so that models that use
    them quantise, export, and have an eager reference."""
    global kept_library
    if kept_library or hasattr(torch.ops.torchao, "_linear_fp_act_4bit_weight"):
        return
    kept_library = torch.library.Library("torchao", "FRAGMENT")
    for bits in BITS:
        kept_library.define(f"_linear_fp_act_{bits}bit_weight(Tensor A, Tensor "
                            "B, int group_size, Tensor S, Tensor Z) -> Tensor")
        kept_library.define(f"_pack_weight_{bits}bit(Tensor W) -> Tensor")
    kept_library.impl("_pack_weight_4bit", _pack_4bit, "CPU")
    kept_library.impl("_linear_fp_act_4bit_weight", _linear_4bit, "CPU")


class _AnyOperator(dict):
    """The list of operators that the backend has: all that models call as
    functions (aoti_torch_mps_...). Those that have none (aten::median.dim) would
    go through PyTorch's proxy executor, which is not there: they are refused."""

    def __contains__(self, name):
        return not name.startswith("aten::")


@contextlib.contextmanager
def _replaced(place, **values):
    """Sets attributes of place, and puts them back."""
    # A class attribute as it is written: not bound to the class.
    before = {name: vars(place)[name] if name in vars(place) else None
              for name in values}
    for name, value in values.items():
        setattr(place, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                delattr(place, name)
            else:
                setattr(place, name, value)


@contextlib.contextmanager
def metal_export(all_operators=False, fold_norms=True):
    """While it is open, programs lower to the Metal backend on this machine.

    all_operators: also such as Mettle has and ExecuTorch's own Metal backend has
    not (sort, cumsum, ...): their programs run on Mettle alone.
    fold_norms: batch norms become part of the convolutions before them."""
    declare_torchao_operators()
    mps = _export_mps()
    from executorch.backends.apple.metal.metal_backend import MetalBackend
    mps.prepare()
    compile_options = MetalBackend.get_aoti_compile_options.__func__
    preprocess = MetalBackend.preprocess.__func__
    operators = MetalBackend.get_supported_fallback_kernels.__func__

    def move(cls, program, device, compile_specs):
        if fold_norms:
            fold_batch_norms(program)
        mps.rewrite_attention(program)
        mps.to_fake_mps(program)
        return program

    def options(cls, compile_specs):
        return {**compile_options(cls, compile_specs),
                "always_keep_tensor_constants": True,
                "joint_graph_constant_folding": False}

    def supported(cls):
        if all_operators:
            return _AnyOperator()
        # A convolution by the name that keeps its operands' order.
        return {**operators(cls), mps.CONVOLUTION + "_channels_last": None}

    def without_guards(cls, program, compile_specs):
        mps.forget_headers()
        module = torch.export.ExportedProgram.module

        def unguarded(self, *args, **kwargs):
            return module(self, *args, **{**kwargs, "check_guards": False})

        with _replaced(torch.export.ExportedProgram, module=unguarded):
            return preprocess(cls, program, compile_specs)

    with _replaced(
            MetalBackend, move_program_to_device=classmethod(move),
            get_aoti_compile_options=classmethod(options),
            preprocess=classmethod(without_guards),
            get_supported_fallback_kernels=classmethod(supported)):
        yield
