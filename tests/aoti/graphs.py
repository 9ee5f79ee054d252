# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""graphs.py: small graphs, one behaviour of Inductor's mps code each."""

from case import registry
from graph import F, graph, nn, torch
import blocks
import library_graphs

CASES, case = registry()
CASES.update(library_graphs.CASES)
CASES.update(blocks.CASES)

# --- Layouts -----------------------------------------------------------------

@case(quick=True)
def transposed_add():
    return graph(lambda a, b: a.t() + b, torch.randn(33, 70),
                 torch.randn(70, 33))


@case(quick=True)
def offset_view():
    # A view with a storage offset, written and read in one run.
    return graph(lambda a: (torch.sin(a)[3:, 2:] * 2, torch.cos(a)[:, 1:5] + 1),
                 torch.randn(40, 17))


@case()
def strided_view():
    return graph(lambda a: (a * 2)[::2, 1::3] - a[1::2, 1::3],
                 torch.randn(20, 31))


@case()
def broadcast():
    return graph(lambda a, b, c: a + b * c, torch.randn(7, 1, 5),
                 torch.randn(1, 9, 1), torch.randn(5))


@case()
def expanded_product():
    return graph(lambda a, b: torch.bmm(a.expand(4, 6, 8), b),
                 torch.randn(1, 6, 8), torch.randn(4, 8, 5))


@case(quick=True)
def cat_split():
    return graph(lambda a, b: (torch.cat([a, b * 2], 1),
                               *torch.split(a + 1, [3, 5], 1)),
                 torch.randn(6, 8), torch.randn(6, 4))


@case()
def stack_permute():
    return graph(lambda a, b: torch.stack([a, b], 2).permute(2, 0, 1)
                 .contiguous(), torch.randn(5, 6), torch.randn(5, 6))


@case()
def written_slice():
    def write(a, b):
        a = a.clone()
        a[:, 2:6] = b
        a[1:3].add_(10)
        return a
    return graph(write, torch.randn(5, 9), torch.randn(5, 4))


@case()
def padding_modes():
    return graph(lambda a: (F.pad(a, (1, 2, 3, 0)),
                            F.pad(a, (2, 2, 1, 1), mode="reflect"),
                            F.pad(a, (1, 1, 2, 2), mode="replicate")),
                 torch.randn(1, 2, 6, 7))


@case()
def roll_flip_tile():
    return graph(lambda a: (a.roll(3, 1), a.flip(0, 1), a.tile(2, 3)),
                 torch.randn(6, 10))


@case()
def unfold_diagonal():
    return graph(lambda a: (a.unfold(1, 3, 2).sum(-1), a.diagonal(1) * 2,
                            a.tril(1), a.triu(-2)), torch.randn(9, 9))


# --- Reductions --------------------------------------------------------------

@case(quick=True)
def sum_short_rows():
    return graph(lambda a: (a.sum(1), a.sum(0), a.sum()), torch.randn(37, 19))


@case()
def sum_long_rows():
    return graph(lambda a: a.sum(1), torch.randn(3, 5000))


@case()
def sum_of_100000():
    return graph(lambda a: a.sum(), torch.rand(100000))


@case()
def partial_simdgroups():
    # Rows of 33, 65 and 1000: the last simdgroup is not full.
    return graph(lambda a, b, c: (a.sum(1), b.amax(1), c.prod(1)),
                 torch.randn(5, 33), torch.randn(5, 65),
                 torch.rand(4, 1000) * 0.01 + 0.995)


@case()
def extremes():
    return graph(lambda a: (a.amax(1), a.amin(0), a.max(), a.argmax(1),
                            a.argmin(1)), torch.randn(20, 70))


@case()
def long_argmax():
    return graph(lambda a: (a.argmax(1), a.argmin(0)), torch.randn(4, 3000))


@case()
def any_all():
    return graph(lambda a: (a.any(1), (a > -3).all(1), (a > 2).any(0)),
                 torch.randn(30, 40))


@case()
def mean_variance():
    return graph(lambda a: (a.mean(1), a.var(1), a.std(0, unbiased=False)),
                 torch.randn(16, 300))


@case()
def product_of_integers():
    # One whole simdgroup: PyTorch's 64-bit product takes lanes that do not run for
    # 0 (c10/metal/reduction_utils.h, 2.13).
    return graph(lambda a: (a.sum(1), a.prod(1), a.amax(0)),
                 torch.randint(0, 2, (9, 32)) * 2 - 1)


@case()
def counts_and_losses():
    # Sums of 64 bits over fewer rows than a simdgroup has threads.
    return graph(lambda a, t: ((a != 0).sum(1), (a < 3).sum(),
                               F.cross_entropy(a, t),
                               F.cross_entropy(a, t, ignore_index=3),
                               F.nll_loss(a, t, reduction="sum"),
                               (t - 20).amax(), (t + 20).amin()),
                 torch.randn(8, 9), torch.randint(0, 9, (8,)))


@case()
def norms_of_vectors():
    return graph(lambda a: (a.norm(dim=1), a.abs().sum(0),
                            torch.linalg.vector_norm(a, 3, dim=1)),
                 torch.randn(11, 60))


@case()
def log_sum_exp():
    return graph(lambda a: (torch.logsumexp(a, 1), torch.logsumexp(a, 0)),
                 torch.randn(8, 500) * 4)


# --- Norms, softmax ----------------------------------------------------------

@case(quick=True)
def softmax():
    return graph(lambda a: (F.softmax(a, -1), F.log_softmax(a, 0)),
                 torch.randn(12, 77))


@case()
def long_softmax():
    return graph(lambda a: F.softmax(a, -1), torch.randn(4, 3000) * 3)


@case(quick=True)
def layer_norm():
    return nn.LayerNorm(96), (torch.randn(5, 7, 96),)


@case()
def long_layer_norm():
    return nn.LayerNorm(2500), (torch.randn(3, 2500),)


@case()
def group_norm():
    return nn.GroupNorm(4, 16), (torch.randn(2, 16, 6, 5),)


@case()
def batch_norm():
    norm = nn.BatchNorm2d(6)
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2)
    return norm, (torch.randn(2, 6, 5, 7),)


@case()
def rms_norm():
    return nn.RMSNorm(128, eps=1e-6), (torch.randn(9, 128),)


@case()
def instance_norm():
    return nn.InstanceNorm2d(5, affine=True), (torch.randn(2, 5, 9, 8),)


# --- Indexing ----------------------------------------------------------------

@case(quick=True)
def embedding():
    return nn.Embedding(50, 24), (torch.randint(0, 50, (4, 9)),)


@case()
def gather():
    return graph(lambda a, i: (torch.gather(a, 1, i), a.take_along_dim(i, 1)),
                 torch.randn(7, 20), torch.randint(0, 20, (7, 5)))


@case()
def index_rows():
    return graph(lambda a, i, j: (a[i], a[i, j], a.index_select(1, j)),
                 torch.randn(15, 11), torch.tensor([3, -1, 0, 14]),
                 torch.tensor([0, 10, -2, 5]).abs())


@case()
def scatter_add():
    return graph(lambda a, i, s: a.scatter_add(0, i, s), torch.zeros(6, 9),
                 torch.randint(0, 6, (30, 9)), torch.randn(30, 9))


@case()
def index_add():
    return graph(lambda a, i, s: a.index_add(0, i, s), torch.randn(8, 5),
                 torch.randint(0, 8, (20,)), torch.randn(20, 5))


@case()
def scatter_values():
    return graph(lambda a, i: a.scatter(1, i, 7.0), torch.randn(5, 12),
                 torch.stack([torch.randperm(12)[:4] for _ in range(5)]))


@case()
def index_put():
    def put(a, i, v):
        a = a.clone()
        a[i] = v
        return a
    return graph(put, torch.randn(9, 4), torch.tensor([8, 2, 5]),
                 torch.randn(3, 4))


@case()
def masked_fill_where():
    return graph(lambda a, b: (a.masked_fill(b > 0, -1.5),
                               torch.where(a > b, a, b)),
                 torch.randn(13, 14), torch.randn(13, 14))


# --- Order -------------------------------------------------------------------

@case()
def top_k():
    return graph(lambda a: (*torch.topk(a, 5, 1),
                            *torch.topk(a, 2, 0, largest=False)),
                 torch.randn(6, 64))


@case()
def sorting():
    return graph(lambda a: (*torch.sort(a, dim=1, stable=True),
                            *torch.sort(a, dim=0, descending=True,
                                        stable=True)),
                 torch.randn(7, 45))


@case()
def cumulative_sum():
    return graph(lambda a, b: (a.cumsum(1), b.cumsum(0)), torch.randn(5, 90),
                 torch.randint(-5, 5, (70, 3)))


# --- Types -------------------------------------------------------------------

@case()
def casts():
    return graph(lambda a, b: (a.to(torch.int32), a.to(torch.int64),
                               (a > 0).to(torch.float32), b.to(torch.float32),
                               b.to(torch.uint8), a.to(torch.float16)),
                 torch.randn(50) * 20, torch.randint(-100, 100, (40,)))


@case()
def integer_operations():
    return graph(lambda a, b: (a // b, a % b, a & b, a | b, a ^ b, ~a, a << 2,
                               a >> 1, torch.div(a, b, rounding_mode="trunc"),
                               torch.fmod(a, b)),
                 torch.randint(-1000, 1000, (64,)), torch.randint(1, 50, (64,)))


@case()
def small_integers():
    return graph(lambda a, b: (a + b, a * 2, a.to(torch.int16) * b),
                 torch.randint(-50, 50, (33,), dtype=torch.int8),
                 torch.randint(-50, 50, (33,), dtype=torch.int16))


@case(1e-2)
def half_precision():
    return graph(lambda a, b: (a * b + 1, F.softmax(a, 1), a @ b.t()),
                 torch.randn(12, 40).half(), torch.randn(12, 40).half())


@case(1e-2, quick=True)
def brain_float():
    return graph(lambda a, b: (a * b + 1, F.softmax(a, 1), a @ b.t(),
                               F.gelu(a)), torch.randn(12, 40).bfloat16(),
                 torch.randn(12, 40).bfloat16())


@case()
def bool_logic():
    return graph(lambda a, b: (a & b, a | ~b, a ^ b, a.logical_or(b)),
                 torch.rand(60) > 0.5, torch.rand(60) > 0.5)


# --- Functions ---------------------------------------------------------------

@case()
def trigonometry():
    return graph(lambda a: (a.sin(), a.cos(), (a * 0.3).tan(), a.atan(),
                            a.tanh(), (a * 0.1).asin(), (a * 0.1).acos(),
                            torch.atan2(a, a + 1)), torch.randn(200))


@case()
def exponentials():
    return graph(lambda a: (a.exp(), a.abs().log(), a.expm1(), a.abs().log1p(),
                            a.abs().sqrt(), a.abs().rsqrt(), a.exp2(),
                            (a.abs() + 0.1).pow(1.7), a.abs().log2()),
                 torch.randn(200))


@case()
def rounding():
    return graph(lambda a: (a.floor(), a.ceil(), a.round(), a.trunc(), a.frac(),
                            a.sign(), a.clamp(-1, 2)), torch.randn(150) * 4)


@case(2e-5)
def special_functions():
    return graph(lambda a: (a.erf(), torch.lgamma(a.abs() + 0.5),
                            torch.special.i0(a), torch.special.i1(a),
                            torch.digamma(a.abs() + 1)), torch.randn(100))


@case()
def activations():
    return graph(lambda a: (F.relu(a), F.gelu(a), F.silu(a), F.sigmoid(a),
                            F.softplus(a), F.elu(a), F.leaky_relu(a),
                            F.hardswish(a), F.hardsigmoid(a), F.mish(a),
                            F.gelu(a, approximate="tanh")), torch.randn(300))


@case()
def not_numbers():
    values = [1.0, float("nan"), float("inf"), float("-inf"), -0.0, 2.5]
    return graph(lambda a: (a.isnan(), a.isinf(), torch.nan_to_num(a),
                            torch.maximum(a, a.flip(0)),
                            torch.minimum(a, a.flip(0)), a.signbit()),
                 torch.tensor(values))


# --- Pools, sampling ---------------------------------------------------------

@case()
def max_pool():
    return graph(lambda a: (F.max_pool2d(a, 2), F.max_pool2d(a, 3, 2, 1)),
                 torch.randn(2, 3, 12, 14))


@case()
def average_pool():
    return graph(lambda a: (F.avg_pool2d(a, 2), F.adaptive_avg_pool2d(a, 1),
                            F.avg_pool2d(a, 3, 1, 1)),
                 torch.randn(2, 3, 12, 14))


@case()
def upsample():
    return graph(lambda a: (F.interpolate(a, scale_factor=2, mode="nearest"),
                            F.interpolate(a, scale_factor=2, mode="bilinear",
                                          align_corners=False)),
                 torch.randn(1, 3, 7, 6))


@case()
def pixel_shuffle():
    return graph(lambda a: (F.pixel_shuffle(a, 2), F.pixel_unshuffle(a, 2)),
                 torch.randn(1, 8, 6, 4))


# --- Products, convolutions --------------------------------------------------

@case(quick=True)
def matrix_products():
    return graph(lambda a, b: (a @ b, a.t() @ b.t(), torch.addmm(b, a, b,
                                                                 beta=0.5)),
                 torch.randn(24, 24), torch.randn(24, 24))


@case()
def batched_products():
    return graph(lambda a, b, c: (torch.bmm(a, b),
                                  torch.baddbmm(c, a, b, beta=2, alpha=0.5)),
                 torch.randn(3, 5, 7), torch.randn(3, 7, 4),
                 torch.randn(3, 5, 4))


@case(quick=True)
def linear_layer():
    return nn.Linear(70, 33), (torch.randn(9, 70),)


@case(quick=True)
def convolution():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(8, 4, 1)), (torch.randn(2, 3, 15, 16),)


@case()
def convolution_kinds():
    class Kinds(nn.Module):
        def __init__(self):
            super().__init__()
            self.grouped = nn.Conv2d(6, 12, 3, groups=3, bias=False)
            self.depthwise = nn.Conv2d(6, 6, 3, groups=6, padding=1)
            self.dilated = nn.Conv2d(6, 4, 3, dilation=2, stride=2)
            self.transposed = nn.ConvTranspose2d(6, 5, 3, stride=2, padding=1,
                                                 output_padding=1)
            self.line = nn.Conv1d(6, 7, 5, stride=2, padding=2)

        def forward(self, x):
            return (self.grouped(x), self.depthwise(x), self.dilated(x),
                    self.transposed(x), self.line(x[:, :, 0]))
    return Kinds(), (torch.randn(2, 6, 13, 12),)


@case()
def channels_last():
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(4, 8, 3, padding=1)
            self.second = nn.Conv2d(8, 1, 3)

        def forward(self, x):
            x = x.contiguous(memory_format=torch.channels_last)
            return self.second(F.silu(self.first(x))).contiguous()
    return Last(), (torch.randn(2, 4, 9, 10),)


@case()
def attention():
    return graph(lambda q, k, v, m: (
        F.scaled_dot_product_attention(q, k, v),
        F.scaled_dot_product_attention(q, k, v, is_causal=True),
        F.scaled_dot_product_attention(q, k, v, attn_mask=m, scale=0.3)),
        torch.randn(2, 4, 16, 64), torch.randn(2, 4, 16, 64),
        torch.randn(2, 4, 16, 64), torch.randn(2, 4, 16, 16))


# --- Constants, dynamic shapes -----------------------------------------------

@case()
def two_constants():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("a", torch.randn(3, 3))
            self.register_buffer("b", torch.full((3, 3), 5))

        def forward(self, x):
            return x + self.a, x * self.b
    return Two(), (torch.randn(3, 3),)


@case()
def dynamic_rows():
    rows = torch.export.Dim("rows", min=2, max=2048)
    return graph(lambda a, b: F.relu(a + b), torch.randn(128, 200),
                 torch.randn(128, 200), dynamic=({0: rows}, {0: rows}),
                 trial=(torch.randn(77, 200), torch.randn(77, 200)))


@case()
def dynamic_reduction():
    rows = torch.export.Dim("rows", min=2, max=4000)
    return graph(lambda a: (F.softmax(a, -1), a.sum(0)), torch.randn(9, 64),
                 dynamic=({0: rows},), trial=(torch.randn(1500, 64),))


@case(quick=True)
def mutated_input():
    def update(state, new):
        state.mul_(0.5).add_(new)
        return state.sum(1), state + 1
    return graph(update, torch.randn(4, 8), torch.randn(4, 8))
