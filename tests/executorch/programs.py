#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""programs.py [NAME...]: exports ExecuTorch programs for the Metal backend on
this machine and runs them over Mettle, against eager PyTorch. Wants a Python
with torch 2.13 and executorch 1.5; run_executorch.py makes one. The last line is
"N passed, N failed"."""

import copy
import os
import subprocess
import sys
import tempfile
import textwrap
import time
import traceback
import types

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGIN = os.path.join(HERE, "..", "..", "plugins", "executorch")
sys.path.insert(0, PLUGIN)

import torch  # noqa: E402
from torch import nn  # noqa: E402

import mettle_executorch  # noqa: E402
from mettle_executorch.export import metal_export  # noqa: E402
from mettle_executorch.fold_norms import fold_batch_norms  # noqa: E402
from executorch.backends.apple.metal.metal_backend import (  # noqa: E402
    MetalBackend)
from executorch.backends.apple.metal.metal_partitioner import (  # noqa: E402
    MetalPartitioner)
from executorch.backends.xnnpack.partition.xnnpack_partitioner import (  # noqa: E402,E501
    XnnpackPartitioner)
from executorch.exir import (  # noqa: E402
    EdgeCompileConfig, to_edge_transform_and_lower)
from executorch.runtime import Runtime  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
FLOAT = 1e-5  # of values about 1, whose sums are in another order
runner = None


# --- How they are made and run -------------------------------------------------

def partitioner(method="forward"):
    return MetalPartitioner(
        [MetalBackend.generate_method_name_compile_spec(method)])


def export(net, inputs, dynamic_shapes=None):
    with torch.no_grad():
        return torch.export.export(net.eval(), inputs, strict=False,
                                   dynamic_shapes=dynamic_shapes)


def save(name, programs, partitioners=None, all_operators=False):
    """Lowers a program, or one a method, to a file."""
    if partitioners is None:
        partitioners = [partitioner()] if not isinstance(programs, dict) else {
            method: [partitioner(method)] for method in programs}
    with metal_export(all_operators), torch.no_grad():
        lowered = to_edge_transform_and_lower(
            programs, partitioner=partitioners).to_executorch()
    path = os.path.join(FOLDER.name, name + ".pte")
    with open(path, "wb") as file:
        file.write(lowered.buffer)
    return path


def load(path, method="forward"):
    mettle_executorch.load()
    loaded = Runtime.get().load_program(path).load_method(method)
    assert loaded is not None, f"{path}: {method} does not load"
    return loaded


def agree(got, want, tolerance=FLOAT):
    assert got.shape == want.shape and got.dtype == want.dtype, \
        f"{got.shape} {got.dtype}, not {want.shape} {want.dtype}"
    scale = max(1.0, want.abs().max().item() if want.is_floating_point() else 0)
    error = (got.double() - want.double()).abs().max().item()
    assert error <= tolerance * scale, f"error {error} of {scale}"


def check(name, net, *inputs, tolerance=FLOAT, all_operators=False):
    """Exports net, runs it twice, and compares."""
    program = save(name, export(net, inputs), all_operators=all_operators)
    method = load(program)
    with torch.no_grad():
        want = net(*inputs)
    want = want if isinstance(want, tuple) else (want,)
    for _ in range(2):
        got = method.execute(list(inputs))
        assert len(got) == len(want)
        for one, other in zip(got, want):
            agree(one, other, tolerance)
    return program


class Beside(nn.Module):
    """Modules side by side, each on inputs of its own."""

    def __init__(self, nets, counts):
        super().__init__()
        self.nets, self.counts = nn.ModuleList(nets), counts

    def forward(self, *inputs):
        results, at = [], 0
        for net, count in zip(self.nets, self.counts):
            result = net(*inputs[at:at + count])
            results += result if isinstance(result, tuple) else (result,)
            at += count
        return tuple(results)


def check_beside(name, *parts):
    """As check, of several (net, inputs, tolerance) in one program: most of an
    export is the C++ compiler's time on PyTorch's headers."""
    nets, all_inputs, tolerances = zip(*parts)
    inputs = [x for own in all_inputs for x in own]
    program = export(Beside(nets, [len(own) for own in all_inputs]),
                     tuple(inputs))
    method = load(save(name, program))
    for _ in range(2):
        got = method.execute(inputs)
        for net, own, tolerance in zip(nets, all_inputs, tolerances):
            with torch.no_grad():
                want = net(*own)
            want = want if isinstance(want, tuple) else (want,)
            for result in want:
                agree(got.pop(0), result, tolerance)
        assert not got


# --- Models --------------------------------------------------------------------

def layer_of_a_transformer():
    torch.manual_seed(1)
    check("transformer", nn.TransformerEncoderLayer(
        32, 4, 64, batch_first=True, dropout=0.0), torch.randn(2, 9, 32))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 4, 3, stride=2)

    def forward(self, x):
        y = torch.relu(self.norm(self.first(x)))
        # Of columns side by side, of rows, and of both.
        sums = (y.mean((2, 3)), y.amax((2, 3)), y.prod(2), y.std((2, 3)),
                y.sum(1), nn.functional.instance_norm(y), y.mean())
        return self.second(y), *sums


def convolutions_of_channels_last():
    """Inputs and outputs keep their order of dimensions, and what lies between
    has channels side by side."""
    torch.manual_seed(2)
    x = torch.randn(2, 3, 12, 12).to(memory_format=torch.channels_last)
    path = check("channels_last", Convolutions(), x)
    with open(path, "rb") as file:
        content = file.read()
    assert content.count(b"mps_convolution_channels_last") > 0
    # Threads that go down columns themselves.
    assert content.count(b"; ++r0_row)") >= 2


def with_statistics(net):
    """Gives every batch norm numbers of its own."""
    for part in net.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            part.running_mean.normal_()
            part.running_var.uniform_(0.3, 3)
            if part.affine:
                nn.init.normal_(part.weight)
                nn.init.normal_(part.bias)
    return net


def norms_become_part_of_convolutions():
    """All but those of a shared convolution, and of a transposed one."""
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(4, 4, 3, padding=1), \
                nn.BatchNorm2d(4)

        def forward(self, x):
            return self.norm(self.conv(x)) + self.conv(x)
    torch.manual_seed(9)
    net = with_statistics(nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 8, 3, groups=8, bias=False),
        nn.BatchNorm2d(8, affine=False), nn.BatchNorm2d(8),
        nn.ConvTranspose2d(8, 4, 3), nn.BatchNorm2d(4), Shared()))
    x = torch.randn(2, 3, 9, 9)
    check("norms", net, x)
    assert fold_batch_norms(export(net, (x,))) == 3


def halves_of_every_kind():
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(24, 40), nn.GELU(), nn.Linear(40, 8))
    check_beside("halves", *(
        (copy.deepcopy(net).to(kind), (torch.randn(3, 24).to(kind),), tolerance)
        for kind, tolerance in ((torch.float16, 2e-3), (torch.bfloat16, 2e-2))))


class Integers(nn.Module):
    """Integers and truth."""

    def forward(self, x, y):
        return x * 3 - y, x > y


def sizes_that_change():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(16, 24)

        def forward(self, x):
            return torch.softmax(self.linear(x), -1).sum(0)
    torch.manual_seed(4)
    net = Net()
    rows = torch.export.Dim("rows", min=2, max=64)
    method = load(save("dynamic", export(net, (torch.randn(64, 16),),
                                         ({0: rows},))))
    for n in (2, 7, 8, 64):
        x = torch.randn(n, 16)
        with torch.no_grad():
            agree(method.execute([x])[0], net(x), 1e-5 * n)


def several_methods_come_and_go():
    """22953: each has numbers of its own, however often it is loaded."""
    class Scaled(nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.factor = nn.Parameter(torch.full((16,), factor))

        def forward(self, x):
            return x * self.factor

    class Square(Scaled):
        def forward(self, x):
            return x * x + self.factor
    x = torch.randn(16)
    path = save("methods", {"twice": export(Scaled(2.0), (x,)),
                            "square": export(Square(3.0), (x,))})
    twice, square = load(path, "twice"), load(path, "square")
    agree(twice.execute([x])[0], x * 2)
    agree(square.execute([x])[0], x * x + 3)
    agree(twice.execute([x + 1])[0], (x + 1) * 2)
    for _ in range(6):
        agree(load(path, "twice").execute([x])[0], x * 2)
        agree(load(path, "square").execute([x])[0], x * x + 3)


class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(8, 4))

    def forward(self, row, at, x, y):
        self.rows[at] = row
        return self.rows.cumsum(0)[-1] + 0, x - y


def state_is_kept_and_large_inputs_stay_in_place():
    """Inputs from 64 KiB on are used where they are, at any address."""
    x, y = torch.randn(300, 200), torch.randn(300, 200)
    method = load(save("state", export(
        Cache(), (torch.ones(1, 4), torch.tensor([0]), x, y)),
        all_operators=True))
    total, room = torch.zeros(4), torch.randn(60009)
    for i in range(8):
        row, part = torch.randn(1, 4), room[i:i + 60000].view(300, 200)
        total += row[0]
        got = method.execute([row, torch.tensor([i]), part, y])
        agree(got[0], total)
        agree(got[1], part - y)


def beside_xnnpack():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 8)

        def forward(self, x):
            return self.second(torch.cos(self.first(x))) - 1
    torch.manual_seed(5)
    net, x = Net(), torch.randn(3, 16)
    path = save("mixed", export(net, (x,)),
                [XnnpackPartitioner(), partitioner()])
    with open(path, "rb") as file:
        content = file.read()
    assert b"XnnpackBackend" in content and b"MetalBackend" in content
    with torch.no_grad():
        agree(load(path).execute([x])[0], net(x))


def one_wait_and_one_commit():
    method, x = load(small_program()), torch.randn(4, 6)
    before = mettle_executorch.statistics()
    for _ in range(10):
        agree(method.execute([x])[0], torch.sin(x) @ x.t())
    after = mettle_executorch.statistics()
    assert after["waits"] - before["waits"] == 10, (before, after)
    assert after["commits"] - before["commits"] == 10, (before, after)
    assert after["dispatches"] - before["dispatches"] >= 10, (before, after)


def attention_that_sees_nothing():
    """A row of which every key is hidden is 0, as the exported program has it;
    eager PyTorch's shortcut for inference has NaN there."""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.heads = nn.MultiheadAttention(16, 2, bias=False,
                                               batch_first=True)

        def forward(self, x, hidden):
            attended, _ = self.heads(x, x, x, attn_mask=hidden,
                                     need_weights=False)
            return attended, nn.functional.scaled_dot_product_attention(
                x, x, x, attn_mask=torch.zeros_like(
                    hidden, dtype=torch.float32).masked_fill(
                        hidden, float("-inf")))
    torch.manual_seed(13)
    x, hidden = torch.randn(1, 5, 16), torch.ones(5, 5).triu(1).bool()
    hidden[2] = True
    program = export(Net(), (x, hidden))
    got = load(save("hidden", program)).execute([x, hidden])
    with torch.no_grad():
        for one, other in zip(got, program.module()(x, hidden)):
            assert one[0, 2].abs().max() == 0, one[0, 2]
            agree(one, other)


# --- What was reported of ExecuTorch's own Metal runtime -------------------------

class StridedOperands(nn.Module):
    """22951: convolutions and products took every operand for dense."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 6, 3)

    def forward(self, x, y):
        return self.conv(x.transpose(1, 2)), y.t() @ y[:, ::2]


class SizesOfOne(nn.Module):
    """22952: outputs of one channel, line or column were taken for dense ones:
    all their strides are as good as any. The convolutions behind them went
    wrong."""

    def __init__(self):
        super().__init__()
        self.channel = nn.Sequential(nn.Conv2d(3, 1, 1),
                                     nn.Conv2d(1, 4, 3, padding=1))
        self.line = nn.Sequential(nn.Conv2d(3, 5, (7, 1)),
                                  nn.Conv2d(5, 4, (1, 3), padding=(1, 1)))
        self.point = nn.Sequential(nn.Conv2d(3, 6, (7, 9), groups=3),
                                   nn.ConvTranspose2d(6, 2, 3, stride=2))

    def forward(self, x):
        return self.channel(x), self.line(x), self.point(x)


class ViewsAtAnOffset(nn.Module):
    """22956"""

    def forward(self, x):
        y = x * 2
        a, b = y.chunk(2)
        return torch.cat((b + 1, a - b)), y[3:].sum()


class WritesToStridedViews(nn.Module):
    """22983"""

    def forward(self, x):
        y = torch.zeros(4, 6)
        y[:, ::2] = x
        y[1:3, 1::2] = -x[1:3]
        return y.t() * 1.5


def reported_strides_and_offsets():
    torch.manual_seed(7)
    image = torch.ones(2, 3, 7, 9)
    check_beside(
        "reported",
        (StridedOperands(), (torch.randn(2, 9, 4), torch.randn(5, 6)), FLOAT),
        (SizesOfOne(), (image,), FLOAT),
        (SizesOfOne().bfloat16(), (image.bfloat16(),), 2e-2),
        (ViewsAtAnOffset(), (torch.randn(8, 5),), FLOAT),
        (WritesToStridedViews(), (torch.randn(4, 3),), FLOAT),
        (Integers(), (torch.arange(12).reshape(3, 4) % 7,
                      torch.full((3, 4), 5)), 0))


# --- In one process, and from C++ --------------------------------------------------

def in_a_new_process(program, *arguments, **variables):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program),
         *arguments], env={**os.environ, "PYTHONPATH": PLUGIN, **variables},
        capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr


def small_program():
    path = os.path.join(FOLDER.name, "small.pte")
    if not os.path.exists(path):
        class Net(nn.Module):
            def forward(self, x):
                return torch.sin(x) @ x.t()
        save("small", export(Net(), (torch.ones(4, 6),)))
    return path


RUN = """
    import sys
    {first}
    import torch, mettle_executorch
    from executorch.runtime import Runtime
    mettle_executorch.load()
    method = Runtime.get().load_program(sys.argv[1]).load_method("forward")
    x = torch.randn(4, 6)
    got = method.execute([x])[0]
    assert (got - torch.sin(x) @ x.t()).abs().max() < 1e-5
    {then}
    print("right")
"""


def torch_s_own_models_still_run():
    """A model that AOTInductor compiled for the CPU calls functions of the same
    names: libtorch's."""
    package = os.path.join(FOLDER.name, "cpu.pt2")
    x = torch.randn(2, 4)
    # Headers of the CPU are for this one alone.
    torch._inductor.aoti_compile_and_package(
        export(nn.Linear(4, 4), (x,)), package_path=package,
        inductor_configs={"aot_inductor.precompile_headers": False})
    then = """
    net = torch._inductor.aoti_load_package(sys.argv[2])
    assert net(torch.ones(2, 4)).shape == (2, 4)
    assert (method.execute([x])[0] - got).abs().max() == 0"""
    status, text = in_a_new_process(RUN.format(first="", then=then),
                                    small_program(), package)
    assert status == 0 and "right" in text, (status, text[-2000:])


def torch_loaded_for_the_whole_process():
    first = "import os; sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)"
    status, text = in_a_new_process(RUN.format(first=first, then=""),
                                    small_program())
    assert status == 0 and "right" in text, (status, text[-2000:])


def operators_without_a_function_are_named():
    class Net(nn.Module):
        def forward(self, x):
            return torch.median(x, 1)[0]
    program = export(Net(), (torch.randn(3, 5),))
    try:
        with metal_export(all_operators=True), torch.no_grad():
            to_edge_transform_and_lower(
                program, partitioner=[partitioner()],
                compile_config=EdgeCompileConfig(_check_ir_validity=False))
    except RuntimeError as error:
        assert "aten::median.dim" in str(error), error
    else:
        raise AssertionError("it is exported")


def errors_have_mettle_s_text():
    status, text = in_a_new_process(RUN.format(first="", then=""),
                                    small_program(), METTLE_DEVICE="nothing")
    assert status != 0 and "nothing" in text and "MetalBackend" in text, text


def programs_of_c_plus_plus():
    """Two threads, 5 loads each, 200 runs a load: all outputs are the same."""
    path = os.path.join(FOLDER.name, "run_program")
    mettle_executorch.build_runner(path)
    done = subprocess.run(
        [path, "--model_path", small_program(), "--threads=2", "--loads=5",
         "--repeat=200", "--output_file", FOLDER.name + "/out"],
        capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "2000 runs" in done.stdout, done.stdout
    with open(FOLDER.name + "/out-0.bin", "rb") as file:
        got = torch.frombuffer(bytearray(file.read()), dtype=torch.float32)
    # Each element is 6 sin(1).
    agree(got, torch.full((16,), 6 * 0.8414709848078965))


# --- Whole networks ------------------------------------------------------------

class Inverted(nn.Module):
    """A block of MobileNetV3.  // Howard et al., 2019, fig. 4"""

    def __init__(self, inner, wide, outer, kernel, squeezes, activation,
                 stride):
        super().__init__()
        self.adds = stride == 1 and inner == outer
        self.expand = nn.Sequential(nn.Conv2d(inner, wide, 1, bias=False),
                                    nn.BatchNorm2d(wide), activation())
        self.depth = nn.Sequential(
            nn.Conv2d(wide, wide, kernel, stride, kernel // 2, groups=wide,
                      bias=False), nn.BatchNorm2d(wide), activation())
        small = max(8, wide // 4)
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, small, 1), nn.ReLU(),
            nn.Conv2d(small, wide, 1), nn.Hardsigmoid()) if squeezes else None
        self.project = nn.Sequential(nn.Conv2d(wide, outer, 1, bias=False),
                                     nn.BatchNorm2d(outer))

    def forward(self, x):
        y = self.depth(self.expand(x))
        if self.squeeze is not None:
            y = y * self.squeeze(y)
        y = self.project(y)
        return x + y if self.adds else y


class MobileNet(nn.Module):
    """MobileNetV3-Small.  // Howard et al., 2019, table 2"""

    def __init__(self):
        super().__init__()
        relu, swish = nn.ReLU, nn.Hardswish
        rows = ((16, 16, 16, 3, True, relu, 2), (16, 72, 24, 3, False, relu, 2),
                (24, 88, 24, 3, False, relu, 1), (24, 96, 40, 5, True, swish, 2),
                (40, 240, 40, 5, True, swish, 1),
                (40, 240, 40, 5, True, swish, 1),
                (40, 120, 48, 5, True, swish, 1),
                (48, 144, 48, 5, True, swish, 1),
                (48, 288, 96, 5, True, swish, 2),
                (96, 576, 96, 5, True, swish, 1),
                (96, 576, 96, 5, True, swish, 1))
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), swish(),
            *(Inverted(*row) for row in rows),
            nn.Conv2d(96, 576, 1, bias=False), nn.BatchNorm2d(576), swish(),
            nn.AdaptiveAvgPool2d(1))
        self.classifier = nn.Sequential(nn.Linear(576, 1024), swish(),
                                        nn.Linear(1024, 1000))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def median_ms(method, x, count=30):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        method.execute([x])
        times.append(time.perf_counter() - start)
    return sorted(times)[count // 2] * 1e3


def mobilenet():
    torch.manual_seed(8)
    net, x = MobileNet(), torch.randn(1, 3, 224, 224)
    program = check("mobilenet", net, x)
    other = save("mobilenet_xnnpack", export(net, (x,)),
                 [XnnpackPartitioner()])
    ours, theirs = load(program), load(other)
    for _ in range(3):
        ours.execute([x])
        theirs.execute([x])
    print(f"mobilenet: Metal on Mettle {median_ms(ours, x):.2f} ms, XNNPACK "
          f"{median_ms(theirs, x):.2f} ms")


def gather_qmv_in_float(x, w, scales, biases, expert_idx, group_size):
    """ExecuTorch's own reference refuses scales of another type than x."""
    q = torch.stack((w & 15, w >> 4), dim=-1).flatten(-2)
    weights = (q * scales.float().repeat_interleave(group_size, -1)
               + biases.float().repeat_interleave(group_size, -1))
    return torch.einsum("pnk,pk->pn", weights[expert_idx.long()],
                        x.float()).to(x.dtype)


def qwen3_5_moe():
    """ExecuTorch's own small Qwen, as its CI exports it: 8 tokens one by one,
    and a prompt of 13 at once."""
    from executorch.backends.apple.metal.ops import gather_qmv
    from executorch.examples.models.qwen3_5_moe import export as qwen
    gather_qmv.gather_qmv.register_kernel("cpu")(gather_qmv_in_float)
    kept = {}
    original = qwen.load_and_quantize

    def load_and_keep(args):
        kept["model"], config = original(args)
        kept["eager"] = copy.deepcopy(kept["model"])
        return kept["model"], config
    arguments, sys.argv = sys.argv, [
        "export", "--tiny-test", "--backend", "metal", "--qlinear", "fpa4w",
        "--output-dir", FOLDER.name]
    qwen.load_and_quantize = load_and_keep
    try:
        with metal_export():
            qwen.main()
    finally:
        sys.argv, qwen.load_and_quantize = arguments, original
    path = os.path.join(FOLDER.name, "model.pte")
    decode, eager = load(path, "decode"), kept["eager"]
    token = 7
    with torch.no_grad():
        for position in range(8):
            inputs = (torch.tensor([[token]]), torch.tensor([position]))
            want = eager(*inputs)[:, -1]  # the program gives the last one's
            got = decode.execute(list(inputs))[0]
            agree(got, want, 1e-2)
            assert got[0].argmax() == want[0].argmax(), position
            token = int(want[0].argmax())
        eager = copy.deepcopy(kept["model"])  # gives the last one's by now
        tokens = torch.arange(13).reshape(1, 13) * 5 % 256
        inputs = (tokens, torch.arange(13))
        want = eager(*inputs)
        got = load(path, "prefill").execute(list(inputs))[0]
        agree(got, want, 1e-2)
        assert got[0].argmax() == want[0].argmax()


def main():
    tests = {name: value for name, value in globals().items()
             if isinstance(value, types.FunctionType)
             and value.__module__ == "__main__" and value.__code__.co_argcount
             == 0 and name not in ("main", "small_program")}
    passed = failed = 0
    for name in sys.argv[1:] or tests:
        start = time.monotonic()
        try:
            tests[name]()
            passed += 1
            print(f"passed {name} ({time.monotonic() - start:.0f} s)",
                  flush=True)
        except Exception:
            traceback.print_exc()
            failed += 1
            print(f"FAILED {name}", flush=True)
    FOLDER.cleanup()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
