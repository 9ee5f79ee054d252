# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""blocks.py: parts of models as people write them, small."""

from case import registry
from graph import F, graph, nn, torch

CASES, case = registry()
Module = nn.Module if nn else object


# --- Pictures ----------------------------------------------------------------

@case(1e-4)
def u_net():
    class Net(Module):
        def __init__(self):
            super().__init__()
            self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1),
                                      nn.BatchNorm2d(8), nn.ReLU())
            self.deep = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1),
                                      nn.BatchNorm2d(16), nn.ReLU())
            self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
            self.out = nn.Sequential(nn.Conv2d(16, 8, 3, padding=1), nn.ReLU(),
                                     nn.Conv2d(8, 2, 1))

        def forward(self, x):
            wide = self.down(x)
            deep = self.deep(F.max_pool2d(wide, 2))
            return self.out(torch.cat([self.up(deep), wide], 1))
    return Net(), (torch.randn(1, 3, 32, 32),)


@case(1e-4)
def diffusion_block():
    class Block(Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList([nn.GroupNorm(8, 32),
                                        nn.GroupNorm(8, 64)])
            self.first = nn.Conv2d(32, 64, 3, padding=1)
            self.time = nn.Linear(16, 64)
            self.second = nn.Conv2d(64, 64, 3, padding=1)
            self.skip = nn.Conv2d(32, 64, 1)

        def forward(self, x, time):
            rates = torch.exp(-torch.arange(8, dtype=torch.float32) * 0.5)
            angles = time.float()[:, None] * rates[None]
            about = torch.cat([angles.sin(), angles.cos()], -1)
            y = self.first(F.silu(self.norms[0](x)))
            y = y + self.time(F.silu(about))[:, :, None, None]
            return self.skip(x) + self.second(F.silu(self.norms[1](y)))
    return Block(), (torch.randn(2, 32, 16, 16), torch.tensor([3, 700]))


@case(1e-4)
def convnext_block():
    class Block(Module):
        def __init__(self):
            super().__init__()
            self.depthwise = nn.Conv2d(24, 24, 7, padding=3, groups=24)
            self.norm = nn.LayerNorm(24)
            self.wide, self.narrow = nn.Linear(24, 96), nn.Linear(96, 24)
            self.scale = nn.Parameter(torch.full((24,), 0.1))

        def forward(self, x):
            y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
            y = self.narrow(F.gelu(self.wide(y))) * self.scale
            return x + y.permute(0, 3, 1, 2)
    return Block(), (torch.randn(2, 24, 14, 14),)


@case(1e-4)
def channels_last_weights():
    class Net(Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(3, 16, 3, 2, 1)
            self.grouped = nn.Conv2d(16, 16, 3, 1, 1, groups=4)
            self.last = nn.Conv2d(16, 8, 1)

        def forward(self, x):
            y = F.relu(self.first(x))
            y = y + self.grouped(y)
            return F.adaptive_avg_pool2d(self.last(y), (2, 3)), y
    return (Net().to(memory_format=torch.channels_last),
            (torch.randn(2, 3, 17, 19),))


# --- Sequences ---------------------------------------------------------------

@case(1e-4)
def unrolled_gru():
    class Net(Module):
        def __init__(self):
            super().__init__()
            self.cell, self.out = nn.GRUCell(12, 20), nn.Linear(20, 3)

        def forward(self, x):
            state, outs = torch.zeros(x.shape[1], 20), []
            for row in x:
                state = self.cell(row, state)
                outs.append(self.out(state))
            return torch.stack(outs), state
    return Net(), (torch.randn(6, 4, 12),)


@case(1e-4)
def experts_by_index_add():
    class Experts(Module):
        def __init__(self):
            super().__init__()
            self.gate = nn.Linear(16, 4)
            self.first = nn.Parameter(torch.randn(4, 16, 32) * 0.2)
            self.second = nn.Parameter(torch.randn(4, 32, 16) * 0.2)

        def forward(self, x):
            weights, chosen = self.gate(x).softmax(-1).topk(2, -1)
            weights = weights / weights.sum(-1, keepdim=True)
            rows = torch.arange(x.shape[0]).repeat_interleave(2)
            chosen = chosen.flatten()
            y = torch.bmm(x[rows].unsqueeze(1), self.first[chosen]).relu()
            y = torch.bmm(y, self.second[chosen]).squeeze(1)
            y = y * weights.flatten()[:, None]
            return torch.zeros_like(x).index_add(0, rows, y), chosen
    return Experts(), (torch.randn(10, 16),)


@case()
def dynamic_attention():
    class Net(Module):
        def __init__(self):
            super().__init__()
            self.all = nn.Linear(32, 96)

        def forward(self, x):
            query, key, value = (
                y.unflatten(-1, (4, 8)).transpose(1, 2)
                for y in self.all(x).chunk(3, -1))
            y = F.scaled_dot_product_attention(query, key, value,
                                               is_causal=True)
            return y.transpose(1, 2).flatten(2), x.mean(1)
    rows = torch.export.Dim("rows", min=2, max=512)
    return (Net(), (torch.randn(2, 11, 32),), {"x": {1: rows}},
            (torch.randn(2, 77, 32),))


@case()
def kept_keys():
    class Cache(Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(1, 2, 10, 4))

        def forward(self, key, position):
            self.keys.index_copy_(2, position, key)
            return self.keys.sum(2), self.keys * 1
    return Cache(), (torch.randn(1, 2, 1, 4), torch.tensor([3]))


@case()
def lengths_to_masks():
    def mask(x, lengths):
        here = torch.arange(9)[None] < lengths[:, None]
        both = torch.ones(9, 9, dtype=torch.bool).tril()[None] & here[:, None]
        scores = (x @ x.transpose(1, 2)).masked_fill(~both, -1e30)
        counts = here.sum(1, keepdim=True)
        return (scores.softmax(-1), both, (x * here[..., None]).sum(1) / counts,
                x.masked_fill(~here[..., None], float("-inf")).amax(1),
                (here.long().cumsum(1) - 1).clamp(min=0))
    return graph(mask, torch.randn(3, 9, 6), torch.tensor([9, 4, 1]))


# --- Types, shapes -----------------------------------------------------------

@case(1e-2)
def mixed_precision():
    class Net(Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(24, 32).bfloat16()
            self.second = nn.Linear(32, 8).half()

        def forward(self, x):
            y = self.first(x.bfloat16())
            z = F.layer_norm(y.float(), (32,)).half()
            return self.second(z), y, (z * 2.0).to(torch.bfloat16), y + x[:, :1]
    return Net(), (torch.randn(5, 24),)


@case()
def wide_integers():
    return graph(lambda a, b: (a * b + (1 << 40), a // b, a % b, (a * 3) >> 2,
                               a.abs().sum(), (a * 1000003) ^ (b << 33),
                               a.max(), a.cumsum(0), a.float().mean()),
                 torch.randint(-10**12, 10**12, (50,)),
                 torch.randint(1, 1000, (50,)))


@case()
def inputs_as_outputs():
    return graph(lambda a, b: (a, a.t(), a.view(-1), b[1:], a[0], a + 1, b),
                 torch.randn(4, 6), torch.randn(9))


@case()
def scalars():
    return graph(lambda a, b, c: (a + b, a * c, torch.where(c > 0, a, b),
                                  a.exp(), c[1] * a, a.reshape(1, 1), c.sum(),
                                  (c > 0).sum(), c.max()),
                 torch.tensor(1.5), torch.tensor(-2.0), torch.randn(5))


@case()
def empty_arrays():
    return graph(lambda a, b: (torch.cat([a, b], 0), a.sum(0), a * 2,
                               a @ b.t(), b[0:0], a.softmax(1)),
                 torch.randn(0, 6), torch.randn(3, 6))


# --- Layouts -----------------------------------------------------------------

@case()
def repeated_outputs():
    def compute(a, b):
        c = a + b
        return c, a, c, c.t(), c[1:], a, b.expand(2, 4, 6), c.unsqueeze(0)
    return graph(compute, torch.randn(4, 6), torch.randn(4, 6))


@case()
def channels_last_input():
    class Net(Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 5, 3, padding=1)

        def forward(self, x):
            return F.relu(self.conv(x)) + 1, x.mean((2, 3)), x * 2
    net = Net().to(memory_format=torch.channels_last)
    return net, (torch.randn(2, 3, 7, 6).to(
        memory_format=torch.channels_last),)


@case()
def inputs_that_are_views():
    return graph(lambda a, b, c: (a + b, a @ c.t()), torch.randn(6, 9).t(),
                 torch.randn(1, 6).expand(9, 6), torch.randn(4, 20)[:, 2:8])


@case()
def dynamic_channels_last():
    half = [torch.export.Dim(name, min=5, max=100) for name in "hw"]
    class Net(Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(3, 5, 3, padding=1)
            self.second = nn.Conv2d(5, 4, 3, padding=1)

        def forward(self, x):
            y = self.first(x)
            return (self.second(F.silu(y)).mean((2, 3)), x * 2,
                    F.interpolate(y, scale_factor=2))

    def picture(*sizes):
        return torch.randn(1, 3, *sizes).to(memory_format=torch.channels_last)
    return (Net(), (picture(16, 20),), {"x": {2: 2 * half[0], 3: 2 * half[1]}},
            (picture(22, 12),))


@case()
def constants_that_are_views():
    class Net(Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(6, 6), nn.Linear(6, 6)
            self.second.weight = self.first.weight
            weight = self.first.weight.detach()
            for name, value in {
                    "rows": weight[1:3], "turned": weight.t(),
                    "one": torch.randn(1, 6).expand(4, 6),
                    "none": torch.zeros(0, 3),
                    "bytes": torch.arange(5, dtype=torch.int8),
                    "bools": torch.tensor([True, False])}.items():
                self.register_buffer(name, value)

        def forward(self, x):
            return (self.first(self.second(x)), x @ self.turned,
                    x @ self.rows.t(), self.none + 1, self.bytes * 2,
                    ~self.bools, x @ self.one.t())
    return Net(), (torch.randn(3, 6),)


# --- Attention as people write it --------------------------------------------

@case(1e-4)
def attention_by_products():
    class Net(Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(50, 32, padding_idx=0)
            self.all, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

        def forward(self, words, mask):
            x = self.words(words)
            query, key, value = (
                y.unflatten(-1, (4, 8)).transpose(1, 2)
                for y in self.all(x).chunk(3, -1))
            far = (1 - mask[:, None, None].float()) * torch.finfo().min
            scores = query @ key.transpose(-1, -2) / 8 ** 0.5 + far
            y = scores.softmax(-1) @ value
            return x + self.out(y.transpose(1, 2).reshape(x.shape))
    mask = (torch.arange(12) < torch.tensor([[12], [7], [3]])).long()
    return Net(), (torch.randint(1, 50, (3, 12)), mask)


@case(1e-4)
def attention_for_any_length():
    class Net(Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(90, 48), nn.Embedding(64, 48)
            self.all, self.norm = nn.Linear(48, 144), nn.LayerNorm(48)

        def forward(self, ids):
            b, t = ids.shape
            x = self.words(ids) + self.places(torch.arange(t))
            query, key, value = (y.view(b, t, 3, 16).transpose(1, 2)
                                 for y in self.all(self.norm(x)).split(48, 2))
            y = F.scaled_dot_product_attention(query, key, value,
                                               is_causal=True)
            x = x + y.transpose(1, 2).contiguous().view(b, t, 48)
            return x @ self.words.weight.t()
    length = torch.export.Dim("length", min=2, max=64)
    return (Net(), (torch.randint(0, 90, (2, 17)),), {"ids": {1: length}},
            (torch.randint(0, 90, (2, 41)),))
