# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""export_mps.py: compiles PyTorch models for device "mps" where there is none.

    import torch
    from mettle import export_mps
    export_mps.export(net.eval(), (torch.randn(8, 16),), "net")

makes net/model.so and net/model_weights.blob, for `mettle model run`. It wants
torch 2.13 or newer, for the CPU, and g++. Generated code embeds PyTorch's
headers.

Inductor asks a real mps device for three facts and for its guard, which are
answered here, and it lowers with fake mps tensors: weights are real again only
where they are written. Random numbers and float64 do not export."""

import glob
import operator
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError(
        "mettle.export_mps compiles PyTorch's models: it wants torch 2.13 or "
        "newer, for the CPU (pip install 'torch>=2.13'), and g++",
        name="torch") from None
import torch._inductor.codegen.cpp_wrapper_cpu as cpp_wrapper_cpu
import torch._inductor.codegen.cpp_wrapper_gpu as cpp_wrapper_gpu
import torch._inductor.codegen.mps as mps_code
import torch._inductor.fx_passes.fuse_attention as fuse_attention
import torch._inductor.fx_passes.joint_graph as joint_graph
import torch._inductor.graph as inductor_graph
import torch._inductor.ir as inductor_ir
import torch.utils._pytree as pytree
from torch._inductor.graph import GraphLowering
from torch._inductor.runtime.hints import ReductionHint
from torch._inductor.virtualized import V
from torch._subclasses.fake_tensor import FakeTensor

OPTIONS = {
    "aot_inductor.link_libtorch": False,
    "aot_inductor.package": True,
    "aot_inductor.package_constants_in_so": False,
    "aot_inductor.package_constants_on_disk_format": "binary_blob",
    "always_keep_tensor_constants": True,
    "joint_graph_constant_folding": False,
    "aot_inductor.compile_wrapper_opt_level": "O0",  # half of the time is g++'s
}
# Operators on fake tensors of a device ask for its guard on their way.
GUARD = """#include <c10/core/impl/DeviceGuardImplInterface.h>
using c10::DeviceType;
C10_REGISTER_GUARD_IMPL(MPS, c10::impl::NoOpDeviceGuardImpl<DeviceType::MPS>)
"""
HEADERS = list(mps_code.MetalKernel.headers)
CONVOLUTION = "aoti_torch_mps_convolution"
is_prepared = False


def steps(index, variables):
    """What index adds from one value of each variable to the next, the smallest
    first, without zeros; None if that is not constant."""
    found = []
    for variable in variables:
        step = (index.subs(variable, variable + 1) - index).expand()
        if not step.is_Integer:
            return None
        found += [abs(int(step))] if step != 0 else []
    return sorted(found)


class ColumnKernel(mps_code.MetalKernel):
    """Inductor's kernel, but what reduces columns side by side has a thread a
    column, which goes down it; Inductor has a threadgroup a column, each of
    whose threads takes an element far from the next one's."""
    KINDS = ("sum", "prod", "max", "min", "welford_reduce")

    def __init__(self, tiling, **kwargs):
        super().__init__(tiling, **kwargs)
        self.has_columns = self.find_columns()
        if self.has_columns:
            self.max_threadgroup_size = 1

    def find_columns(self):
        trees = [tree for tree in self.range_trees if tree.is_reduction]
        nodes = [node for node in self.features.scheduler_nodes()
                 if node.is_reduction()]
        return bool(nodes) and len(trees) == 1 and trees[0].numel.is_Integer \
            and all(self.reduces_columns(node) for node in nodes)

    def reduces_columns(self, node):
        if node.node.data.reduction_type not in self.KINDS:
            return False
        body, count = node._body, 0
        for index in body.get_read_exprs():
            down = steps(index, body.reduce_vars)
            across = steps(index, body.iter_vars)
            if down is None or across is None:
                return False
            if down and (down[0] == 1 or not across or across[0] != 1):
                return False
            count += bool(down)
        return count > 0

    def codegen_iteration_ranges_entry(self, entry):
        if not self.has_columns or not entry.is_reduction:
            super().codegen_iteration_ranges_entry(entry)
            return
        root = entry.root
        counter = f"{root.prefix}row"
        if all(e.root is not root for e in self.multistage_reduction_entry):
            self.multistage_reduction_entry.append(entry)
            self.body.writeline(f"for (int {counter} = 0; {counter} < "
                                f"{root.numel}; ++{counter}) {{")
        index = self.sexpr(self.rename_indexing(entry.expr))
        with self.body.indent():
            self.body.writeline(f"{self.index_dtype} {entry.name} = "
                                f"{index.replace(root.name, counter)};")

    def _reduction_nocache(self, dtype, src_dtype, kind, value):
        if not self.has_columns:
            return super()._reduction_nocache(dtype, src_dtype, kind, value)
        self.headers.add("reduction_utils")
        if kind == "welford_reduce":
            sums = self._new_idxvar("float3", default_value="0.0",
                                    is_threadgroup=False)
            self.compute.writeline(
                f"{sums} = ::c10::metal::welford_combine({sums}, "
                f"float3({value}, 0.0, 1.0));")
            return tuple(mps_code.CSEVariable(f"{sums}.{part}", sums.bounds,
                                              torch.float32)
                         for part in "xyz")
        if kind in ("sum", "prod"):
            sums = self._new_idxvar(
                mps_code.DTYPE_TO_COMPUTATION_DTYPE[src_dtype],
                default_value=int(kind == "prod"), is_threadgroup=False)
            self.compute.writeline(
                f"{sums} {'*' if kind == 'prod' else '+'}= {value};")
            return mps_code.CSEVariable(
                str(sums), sums.bounds,
                mps_code.DTYPE_TO_COMPUTATION_DTYPE[dtype])
        name = mps_code.DTYPE_TO_METAL[src_dtype]
        largest = self._new_idxvar(
            src_dtype, is_threadgroup=False, default_value=
            f"::c10::metal::{kind.capitalize()}Op<{name}>::identity()")
        self.compute.writeline(f"{largest} = ::c10::metal::{kind}({largest}, "
                               f"static_cast<{name}>({value}));")
        return mps_code.CSEVariable(
            str(largest), largest.bounds,
            mps_code.DTYPE_TO_COMPUTATION_DTYPE[dtype])

    def codegen_kernel(self, name="generated_kernel"):
        text = super().codegen_kernel(name)
        return re.sub(r"\[\[max_total_threads_per_threadgroup\(1\)\]\]", "",
                      text) if self.has_columns else text

    def call_kernel(self, *args, **kwargs):
        if not self.has_columns:
            super().call_kernel(*args, **kwargs)
            return
        wrapper = V.graph.wrapper_code
        generate = wrapper.generate_kernel_call

        def generate_without_group(name, arguments, **options):
            arguments[-1] = options["arg_types"][-1] = None
            return generate(name, arguments, **options)

        wrapper.generate_kernel_call = generate_without_group
        try:
            super().call_kernel(*args, **kwargs)
        finally:
            del wrapper.generate_kernel_call


def register_guard():
    root = os.path.dirname(torch.__file__)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "guard.so")
        subprocess.run(
            ["g++", "-std=c++20", "-shared", "-fPIC", "-x", "c++", "-",
             "-o", path, f"-I{root}/include", f"-L{root}/lib", "-lc10",
             "-D_GLIBCXX_USE_CXX11_ABI="
             + str(int(torch.compiled_with_cxx11_abi()))],
            input=GUARD, text=True, check=True)
        torch.ops.load_library(path)


def answer_for_the_device():
    register_guard()
    leave_out_unused_weights()
    leave_columns_whole()
    keep_channels_last()
    mps_code.MetalScheduling.kernel_type = ColumnKernel
    prepare = joint_graph.lazy_init
    joint_graph.lazy_init = lambda device=None: prepare(torch.device("cpu"))
    # Attention written as products becomes an operator that asks the device.
    fuse_attention._sfdp_init = lambda device=None: None
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


def leave_columns_whole():
    """Columns side by side are not cut into pieces, which other kernels add up:
    there are enough of them, and a ColumnKernel goes down each."""
    original = inductor_ir.Reduction.num_splits

    def splits(*args, **kwargs):
        hint, count = original(*args, **kwargs)
        ranges = kwargs["ranges"] if "ranges" in kwargs else args[4]
        is_outer = hint in (ReductionHint.OUTER, ReductionHint.OUTER_TINY)
        columns = V.graph.sizevars.optimization_hint(
            inductor_ir.sympy_product(ranges), fallback=1)
        return hint, 1 if is_outer and columns >= 16 else count

    inductor_ir.Reduction.num_splits = staticmethod(splits)


def leave_out_unused_weights():
    """Attention has its weights as a second result: where nobody wants them, a
    model asks for none, and Mettle never has all of them in memory."""
    wrapper = cpp_wrapper_cpu.CppWrapperCpu
    original = wrapper.generate_c_shim_fallback_kernel

    def call(self, kernel, args):
        outputs = kernel.outputs
        if "_scaled_dot_product_attention_" in kernel.cpp_kernel_name:
            kernel.outputs = [
                None if x.get_name() in V.graph.removed_buffers else x
                for x in outputs]
        original(self, kernel, args)
        kernel.outputs = outputs

    wrapper.generate_c_shim_fallback_kernel = call


def is_channels_last(sizes, strides):
    """True if elements lie in that order and not in the rows' as well."""
    for order in (range(len(sizes)), (0, *range(2, len(sizes)), 1)):
        step, is_so = 1, True
        for d in reversed(order):
            is_so = is_so and (sizes[d] == 1 or strides[d] == step)
            step *= sizes[d]
        if is_so:
            return order[-1] == 1
    return False


def keep_channels_last():
    """Convolutions of what lies in channels-last order give the same, as they do
    on a Mac; without one, PyTorch says rows. Mettle's function of that name
    gives rows, so another is called where a model counts on channels."""
    determine = torch._C._conv_determine_backend_memory_format

    def determine_for_mps(x, weight, backend):
        if x.device.type == "mps" and x.dim() == 4 and any(
                is_channels_last(t.shape, t.stride()) for t in (x, weight)):
            return torch.channels_last
        return determine(x, weight, backend)

    torch._C._conv_determine_backend_memory_format = determine_for_mps
    wrapper = cpp_wrapper_cpu.CppWrapperCpu
    original = wrapper.generate_c_shim_extern_kernel_alloc

    def call(self, kernel, args):
        name = kernel.cpp_kernel_name
        if self.get_c_shim_func_name(kernel.get_kernel_name(),
                                     "mps") == CONVOLUTION:
            layout = kernel.get_layout()
            if len(layout.size) == 4 and is_channels_last(layout.size,
                                                          layout.stride):
                kernel.cpp_kernel_name = CONVOLUTION + "_channels_last"
                self.header.writeline(  # a function may be declared twice
                    f'extern "C" decltype({CONVOLUTION}) '
                    f"{kernel.cpp_kernel_name};")
        original(self, kernel, args)
        kernel.cpp_kernel_name = name

    wrapper.generate_c_shim_extern_kernel_alloc = call


def to_fake_mps(program):
    """Moves an exported program to fake tensors on mps, weights included."""
    mode = next(n.meta["val"].fake_mode for n in program.graph.nodes
                if isinstance(n.meta.get("val"), FakeTensor))
    mode.allow_non_fake_inputs = True

    def move(value):
        if not isinstance(value, torch.Tensor):
            return value
        is_real = not isinstance(value, FakeTensor)
        if is_real:  # rows, where elements shared memory or lay apart
            value = value.detach().clone()
        with mode:
            fake = torch.empty_strided(value.size(), value.stride(),
                                       dtype=value.dtype, device="mps")
        if is_real:
            fake.real_cpu = value
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
        if node.target is aten.view.default:
            node.target = aten.reshape.default  # results lie in other strides
        target = node.target
        if not isinstance(target, torch._ops.OpOverload):
            # ExecuTorch's edge dialect has operators around PyTorch's.
            target = getattr(target, "_op", None)
        if target is not aten.scaled_dot_product_attention.default:
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


def prepare():
    """Answers what Inductor asks an mps device, from now on."""
    global is_prepared
    if not is_prepared:
        answer_for_the_device()
        is_prepared = True


def forget_headers():
    """Kernels' includes only grow within a process: each export begins anew."""
    mps_code.MetalKernel.headers.clear()
    for header in HEADERS:
        mps_code.MetalKernel.headers.add(header)


def export(module, inputs, folder, dynamic_shapes=None):
    """Compiles module for inputs into folder/model.so and its weights."""
    prepare()
    forget_headers()
    work = os.path.join(os.path.abspath(folder), "work")
    os.makedirs(work, exist_ok=True)
    with torch.no_grad():
        program = torch.export.export(module, tuple(inputs), strict=False,
                                      dynamic_shapes=dynamic_shapes)
        rewrite_attention(program)
        to_fake_mps(program)
        fakes = tuple(n.meta["val"] for n in program.graph.nodes
                      if n.op == "placeholder"
                      and n.name in program.graph_signature.user_inputs)
        torch._inductor.aot_compile(
            program.module(check_guards=False), fakes,
            options={**OPTIONS, "aot_inductor.output_path": work})
    for ending, name in (("so", "model.so"), ("blob", "model_weights.blob")):
        for path in glob.glob(f"{work}/**/*.{ending}", recursive=True):
            shutil.move(path, os.path.join(folder, name))
    shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit("mettle.export_mps is imported, not run: export(module, inputs, "
             "folder) compiles a model")
