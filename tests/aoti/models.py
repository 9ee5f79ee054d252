# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""models.py: whole models with random weights, as plain nn.Module."""

from case import registry

try:
    import torch
    from torch import nn
    import torch.nn.functional as F
    Module = nn.Module
except ImportError:  # only names and sources are wanted
    torch = nn = F = None
    Module = object

CASES, case = registry()


def settle(module):
    """Gives batch norms statistics of their own, as training would."""
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.7, 1.3)
    return module


def save_steps(module, inputs, steps, folder, save):
    """Runs step by step: the token that wins, the next position, and the
    caches that came out go in again. Saves what the last step gives."""
    token, position, *caches = inputs
    for _ in range(steps):
        logits, *caches = module(token, position, *caches)
        token = logits.argmax(-1).reshape(token.shape)
        position = position + 1
    for i, result in enumerate((logits, *caches)):
        save(f"{folder}/last{i}.npy", result)


# --- Convolutional networks --------------------------------------------------

class Block(Module):
    """Two convolutions around a shortcut (He et al., 2015)."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        self.first = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outer)
        self.second = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outer)
        self.shortcut = nn.Identity()
        if stride != 1 or inner != outer:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inner, outer, 1, stride, bias=False),
                nn.BatchNorm2d(outer))

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(y)) + self.shortcut(x))


@case(1e-4)
def resnet_18():
    stages = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1),
              (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    net = nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.MaxPool2d(3, 2, 1), *(Block(*stage) for stage in stages),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
    return settle(net), (torch.randn(1, 3, 96, 96),)


class Squeeze(Module):
    def __init__(self, channels):
        super().__init__()
        inner = max(8, channels // 4 // 8 * 8)
        self.down = nn.Conv2d(channels, inner, 1)
        self.up = nn.Conv2d(inner, channels, 1)

    def forward(self, x):
        y = F.adaptive_avg_pool2d(x, 1)
        return x * F.hardsigmoid(self.up(F.relu(self.down(y))))


class Inverted(Module):
    """Expand, depthwise, squeeze, project (Howard et al., 2019)."""

    def __init__(self, inner, kernel, wide, outer, squeezes, hard, stride):
        super().__init__()
        act = nn.Hardswish if hard else nn.ReLU
        parts = []
        if wide != inner:
            parts += [nn.Conv2d(inner, wide, 1, bias=False),
                      nn.BatchNorm2d(wide), act()]
        parts += [nn.Conv2d(wide, wide, kernel, stride, kernel // 2,
                            groups=wide, bias=False), nn.BatchNorm2d(wide),
                  act()]
        parts += [Squeeze(wide)] if squeezes else []
        parts += [nn.Conv2d(wide, outer, 1, bias=False), nn.BatchNorm2d(outer)]
        self.parts = nn.Sequential(*parts)
        self.is_residual = stride == 1 and inner == outer

    def forward(self, x):
        y = self.parts(x)
        return x + y if self.is_residual else y


@case(1e-4)
def mobilenet_v3_small():
    rows = [(16, 3, 16, 16, 1, 0, 2), (16, 3, 72, 24, 0, 0, 2),
            (24, 3, 88, 24, 0, 0, 1), (24, 5, 96, 40, 1, 1, 2),
            (40, 5, 240, 40, 1, 1, 1), (40, 5, 240, 40, 1, 1, 1),
            (40, 5, 120, 48, 1, 1, 1), (48, 5, 144, 48, 1, 1, 1),
            (48, 5, 288, 96, 1, 1, 2), (96, 5, 576, 96, 1, 1, 1),
            (96, 5, 576, 96, 1, 1, 1)]
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16),
        nn.Hardswish(), *(Inverted(*row) for row in rows),
        nn.Conv2d(96, 576, 1, bias=False), nn.BatchNorm2d(576), nn.Hardswish(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(576, 1024),
        nn.Hardswish(), nn.Linear(1024, 1000))
    return settle(net), (torch.randn(1, 3, 96, 96),)


class Unit(Module):
    def __init__(self, inner, outer, kernel=1, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, kernel, stride, kernel // 2,
                              bias=False)
        self.norm = nn.BatchNorm2d(outer)

    def forward(self, x):
        return F.silu(self.norm(self.conv(x)))


class Cross(Module):
    """Splits, works on one half, and concatenates every stage."""

    def __init__(self, inner, outer):
        super().__init__()
        self.enter = Unit(inner, outer)
        self.work = nn.ModuleList(Unit(outer // 2, outer // 2, 3)
                                  for _ in range(2))
        self.leave = Unit(2 * outer, outer)

    def forward(self, x):
        parts = list(self.enter(x).chunk(2, 1))
        for unit in self.work:
            parts.append(unit(parts[-1]) + parts[-1])
        return self.leave(torch.cat(parts, 1))


@case(1e-4)
def detector():
    class Detector(Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(Unit(3, 16, 3, 2), Unit(16, 32, 3, 2),
                                      Cross(32, 32))
            self.middle = nn.Sequential(Unit(32, 64, 3, 2), Cross(64, 64))
            self.deep = nn.Sequential(Unit(64, 128, 3, 2), Cross(128, 128))
            self.up = Cross(192, 64)
            self.down = Unit(64, 64, 3, 2)
            self.join = Cross(192, 128)
            self.heads = nn.ModuleList([nn.Conv2d(64, 24, 1),
                                        nn.Conv2d(128, 24, 1)])

        def forward(self, x):
            middle = self.middle(self.stem(x))
            deep = self.deep(middle)
            up = F.interpolate(deep, scale_factor=2, mode="nearest")
            near = self.up(torch.cat([up, middle], 1))
            far = self.join(torch.cat([self.down(near), deep], 1))
            pooled = F.max_pool2d(far, 5, 1, 2)
            outputs = [self.heads[0](near), self.heads[1](far + pooled)]
            flat = torch.cat([y.flatten(2) for y in outputs], 2)
            boxes, scores = flat.split([4, 20], 1)
            return boxes.softmax(1).transpose(1, 2), scores.sigmoid()

    return settle(Detector()), (torch.randn(1, 3, 96, 96),)


# --- Transformers ------------------------------------------------------------

class Attention(Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, memory=None, is_causal=False):
        memory = x if memory is None else memory
        y = F.scaled_dot_product_attention(
            self.split(self.query(x)), self.split(self.key(memory)),
            self.split(self.value(memory)), is_causal=is_causal)
        return self.out(y.transpose(1, 2).flatten(2))


class Layer(Module):
    def __init__(self, width, heads, crosses=False):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.own = Attention(width, heads)
        self.cross = Attention(width, heads) if crosses else None
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x, memory=None, is_causal=False):
        x = x + self.own(self.norms[0](x), is_causal=is_causal)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory)
        return x + self.narrow(F.gelu(self.wide(self.norms[2](x))))


@case(1e-4)
def vision_transformer():
    class Vision(Module):
        def __init__(self, width=128, heads=2, depth=4):
            super().__init__()
            self.patches = nn.Conv2d(3, width, 8, 8)
            self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
            self.places = nn.Parameter(torch.randn(1, 65, width) * 0.02)
            self.layers = nn.ModuleList(Layer(width, heads)
                                        for _ in range(depth))
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, 100)

        def forward(self, x):
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1)
            x = x + self.places
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x)[:, 0])

    return Vision(), (torch.randn(2, 3, 64, 64),)


@case(1e-4)
def speech():
    class Speech(Module):
        """An encoder of spectra and a decoder of words, as Whisper's."""

        def __init__(self, width=128, heads=2, depth=2):
            super().__init__()
            self.first = nn.Conv1d(80, width, 3, padding=1)
            self.second = nn.Conv1d(width, width, 3, 2, 1)
            self.places = nn.Parameter(torch.randn(50, width) * 0.02)
            self.encoder = nn.ModuleList(Layer(width, heads)
                                         for _ in range(depth))
            self.words = nn.Embedding(500, width)
            self.word_places = nn.Parameter(torch.randn(12, width) * 0.02)
            self.decoder = nn.ModuleList(Layer(width, heads, True)
                                         for _ in range(depth))
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

        def forward(self, spectrum, words):
            x = F.gelu(self.second(F.gelu(self.first(spectrum))))
            x = x.transpose(1, 2) + self.places
            for layer in self.encoder:
                x = layer(x)
            memory = self.norms[0](x)
            y = self.words(words) + self.word_places
            for layer in self.decoder:
                y = layer(y, memory, is_causal=True)
            return self.norms[1](y) @ self.words.weight.t()

    return Speech(), (torch.randn(1, 80, 100), torch.randint(0, 500, (1, 12)))


# --- A decoder with a cache --------------------------------------------------

def rotate(x, position, size):
    """Rotary positions (Su et al., 2021), halves paired."""
    steps = torch.arange(size // 2, dtype=torch.float32)
    angles = position.to(torch.float32) * torch.pow(10000.0,
                                                    -2.0 * steps / size)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class DecoderLayer(Module):
    def __init__(self, width, heads, groups, linear):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-5)
                                   for _ in range(2))
        self.query = linear(width, width)
        self.key = linear(width, groups * self.size)
        self.value = linear(width, groups * self.size)
        self.out = linear(width, width)
        self.gate = linear(width, 2 * width)
        self.up = linear(width, 2 * width)
        self.down = linear(2 * width, width)

    def forward(self, x, position, keys, values):
        y = self.norms[0](x)
        query = self.query(y).view(1, self.heads, 1, self.size)
        key = self.key(y).view(1, self.groups, 1, self.size)
        value = self.value(y).view(1, self.groups, 1, self.size)
        query = rotate(query, position, self.size)
        key = rotate(key, position, self.size)
        places = torch.arange(keys.shape[2])
        here = (places == position).view(1, 1, -1, 1)
        keys = torch.where(here, key, keys)
        values = torch.where(here, value, values)
        mask = torch.where(places <= position, 0.0, float("-inf"))
        repeats = self.heads // self.groups
        y = F.scaled_dot_product_attention(
            query, keys.repeat_interleave(repeats, 1),
            values.repeat_interleave(repeats, 1),
            attn_mask=mask.to(x.dtype).view(1, 1, 1, -1))
        x = x + self.out(y.reshape(1, 1, -1))
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), keys, values


class Decoder(Module):
    def __init__(self, linear, width=256, heads=4, groups=2, depth=2):
        super().__init__()
        self.words = nn.Embedding(512, width)
        self.layers = nn.ModuleList(DecoderLayer(width, heads, groups, linear)
                                    for _ in range(depth))
        self.norm = nn.RMSNorm(width, eps=1e-5)
        self.head = nn.Linear(width, 512, bias=False)

    def forward(self, token, position, *caches):
        x = self.words(token)
        updated = []
        for i, layer in enumerate(self.layers):
            x, keys, values = layer(x, position, caches[2 * i],
                                    caches[2 * i + 1])
            updated += [keys, values]
        return (self.head(self.norm(x)), *updated)


def decoder_inputs(dtype):
    caches = [torch.zeros(1, 2, 40, 64, dtype=dtype) for _ in range(4)]
    return torch.tensor([[7]]), torch.tensor([0]), *caches


@case(1e-4, steps=32)
def decoder():
    return (Decoder(lambda a, b: nn.Linear(a, b, bias=False)),
            decoder_inputs(torch.float32))


@case(1e-2)
def decoder_bf16():
    model = Decoder(lambda a, b: nn.Linear(a, b, bias=False))
    return model.bfloat16(), decoder_inputs(torch.bfloat16)


class Int4Linear(Module):
    """Weights of 4 bits with a scale and a zero for each 32 along a row,
    unpacked by the graph itself."""

    def __init__(self, inner, outer):
        super().__init__()
        self.register_buffer("packed", torch.randint(
            0, 256, (outer, inner // 2), dtype=torch.uint8))
        self.register_buffer("scales",
                             torch.rand(outer, inner // 32, 1) * 0.01)
        self.register_buffer("zeros", -7.5 * self.scales)

    def forward(self, x):
        low, high = self.packed & 15, self.packed >> 4
        whole = torch.stack([low, high], -1).flatten(1).to(torch.float32)
        whole = whole.unflatten(1, (-1, 32)) * self.scales + self.zeros
        return x @ whole.flatten(1).t()


@case(1e-4)
def decoder_int4():
    return Decoder(Int4Linear), decoder_inputs(torch.float32)
