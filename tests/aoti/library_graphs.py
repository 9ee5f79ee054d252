# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""library_graphs.py: small graphs of what Inductor leaves to the device's
library: each calls an operator through the ABI."""

from case import registry
from graph import F, graph, nn, torch

CASES, case = registry()


@case()
def scatter_reductions():
    return graph(lambda x, i, s: (x.scatter_reduce(1, i, s, "amax"),
                                  x.scatter_add(1, i, s),
                                  x.scatter_reduce(1, i, s, "mean"),
                                  x.scatter(1, i, 2.0)),
                 torch.randn(4, 6), torch.randint(0, 6, (4, 6)),
                 torch.randn(4, 6))


@case()
def wide_pools():
    return graph(lambda x: (F.max_pool2d(x, 7, 3, 3), F.avg_pool2d(x, 6, 2),
                            F.adaptive_avg_pool2d(x, (5, 3)),
                            F.adaptive_max_pool2d(x, (4, 4))),
                 torch.randn(1, 4, 20, 20))


@case(1e-4)
def recurrent():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells = nn.GRU(12, 24, batch_first=True)
            self.out = nn.Linear(24, 5)

        def forward(self, x):
            y, last = self.cells(x)
            return self.out(y), last

    return Recurrent(), (torch.randn(2, 7, 12),)


@case(1e-4)
def experts():
    class Experts(nn.Module):
        """A token goes to the two of four that its gate prefers."""

        def __init__(self):
            super().__init__()
            self.gate = nn.Linear(16, 4)
            self.first = nn.Parameter(torch.randn(4, 16, 32) * 0.2)
            self.second = nn.Parameter(torch.randn(4, 32, 16) * 0.2)

        def forward(self, x):
            weights, chosen = self.gate(x).softmax(-1).topk(2, -1)
            y = torch.einsum("td,tkdh->tkh", x, self.first[chosen])
            y = torch.einsum("tkh,tkhd->tkd", F.silu(y), self.second[chosen])
            return (y * weights.unsqueeze(-1)).sum(1)

    return Experts(), (torch.randn(6, 16),)


@case()
def searches():
    return graph(lambda a, b, s: (torch.bucketize(a, b),
                                  torch.searchsorted(s, a.view(2, 10),
                                                     right=True)),
                 torch.randn(20), torch.arange(-2.0, 2.0, 0.5),
                 torch.randn(2, 7).sort(1)[0])


@case()
def complex_numbers():
    # Rotary positions as complex factors.
    def rotate(x, angle):
        turn = torch.polar(torch.ones_like(angle), angle)
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * turn).flatten(-2)
    return graph(rotate, torch.randn(3, 5, 8), torch.randn(5, 4))


@case()
def bags():
    return graph(lambda i, w: (F.embedding_bag(i, w, mode="mean"),
                               F.embedding_bag(i, w, mode="sum")),
                 torch.randint(0, 10, (4, 3)), torch.randn(10, 6))


@case()
def volumes():
    class Volumes(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv3d(2, 4, 3, padding=1)
            self.up = nn.ConvTranspose3d(4, 3, 3, stride=2)

        def forward(self, x):
            y = self.conv(x)
            return y, self.up(y), F.max_pool3d(y, 2), F.avg_pool3d(y, 2)
    return Volumes(), (torch.randn(1, 2, 5, 6, 5),)


@case(1e-4)
def cells():
    class Cells(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells = nn.LSTM(6, 8, batch_first=True)
            self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

        def forward(self, x):
            return self.layer(self.cells(x)[0])
    return Cells(), (torch.randn(2, 5, 6),)


@case()
def sampled_grid():
    return graph(lambda a, g: (F.grid_sample(a, g, align_corners=False),
                               F.interpolate(a, scale_factor=1.7,
                                             mode="bicubic")),
                 torch.randn(1, 3, 8, 8),
                 torch.rand(1, 5, 6, 2) * 2 - 1)


@case()
def running_sums():
    return graph(lambda a: (a.logcumsumexp(1), a.cumprod(1), a.cummax(1)[0],
                            a.cumsum(0)), torch.randn(4, 9))


# --- On the host -------------------------------------------------------------

@case()
def spectra():
    return graph(lambda a, b: (torch.fft.rfft(a).abs(),
                               torch.view_as_real(torch.fft.fft(a)),
                               torch.view_as_real(torch.fft.rfft2(
                                   b, norm="ortho")),
                               torch.fft.ifft2(torch.fft.fft2(b)).real,
                               torch.view_as_real(torch.fft.rfft(b, dim=1))),
                 torch.randn(3, 12), torch.randn(2, 6, 10))


@case()
def spectrogram():
    return graph(lambda a: torch.stft(a, 16, 4, window=torch.hann_window(16),
                                      return_complex=True).abs(),
                 torch.randn(2, 100))


@case()
def distances():
    return graph(lambda a, b: (torch.cdist(a, b), torch.cdist(a, b, p=1.0),
                               torch.cdist(a, b, p=3.0)),
                 torch.randn(2, 5, 4), torch.randn(2, 7, 4))


@case()
def bilinear_layer():
    return nn.Bilinear(4, 5, 3), (torch.randn(6, 4), torch.randn(6, 5))


@case()
def histograms_medians():
    return graph(lambda a: (torch.histc(a, 10, -2, 2), torch.histc(a, 5),
                            a.median(), a.nanmedian()), torch.randn(101))


@case()
def summed_batch():
    return graph(lambda m, a, b: torch.addbmm(m, a, b, beta=0.5, alpha=2),
                 torch.randn(4, 6), torch.randn(3, 4, 5), torch.randn(3, 5, 6))


@case()
def index_reductions():
    return graph(lambda a, i, s: (a.index_reduce(0, i, s, "amax"),
                                  a.index_reduce(0, i, s, "prod",
                                                 include_self=False)),
                 torch.randn(5, 4), torch.tensor([0, 2, 2, 4, 1, 0]),
                 torch.randn(6, 4))


@case()
def int8_weights():
    return graph(torch.ops.aten._weight_int8pack_mm, torch.randn(5, 64),
                 torch.randint(-127, 127, (16, 64), dtype=torch.int8),
                 torch.rand(16) * 0.01)


@case(1e-2)
def grouped_rows():
    return graph(torch.ops.aten._grouped_mm, torch.randn(12, 16).bfloat16(),
                 torch.randn(3, 16, 8).bfloat16(),
                 torch.tensor([4, 8, 12], dtype=torch.int32))


@case()
def indexed_complex():
    def rotate(angle, position, x):
        turn = torch.polar(torch.ones_like(angle), angle)[position]
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * turn).flatten(-2)
    return graph(rotate, torch.randn(20, 4), torch.tensor([3, 19, 0, -1]),
                 torch.randn(4, 8))


@case()
def picked_by_a_mask():
    return graph(lambda a: (torch.nonzero(a > 0), a[a > 0] * 2),
                 torch.randn(4, 6))


@case()
def padded_volume_means():
    return graph(lambda a: F.avg_pool3d(a, 3, 2, 1, count_include_pad=False),
                 torch.randn(1, 2, 6, 7, 8))


@case()
def sampled_volume():
    return graph(lambda a, g: (F.grid_sample(a, g, align_corners=False),
                               F.grid_sample(a, g, padding_mode="reflection",
                                             align_corners=True)),
                 torch.randn(1, 2, 4, 5, 6),
                 torch.rand(1, 3, 4, 4, 3) * 2.4 - 1.2)


# --- Operands whose dimensions are turned: results keep their order ----------

@case()
def turned_elements():
    def compute(x, a, g, h):
        t = torch.view_as_complex(x.unflatten(-1, (-1, 2))).transpose(0, 2)
        return (t.abs() + 1, torch.view_as_real(t * a.t()) + 1, t.angle() + 1,
                torch.view_as_real(torch.polar(a.t(), a.t() * 2)) + 1,
                torch.gcd(g.t(), h) + 1, torch.view_as_real(t ** 2) + 1,
                torch.view_as_real(t * t[:1]) + 1)
    return graph(compute, torch.randn(3, 4, 10), torch.randn(3, 4),
                 torch.randint(1, 100, (4, 6)), torch.randint(1, 100, (6, 4)))


@case()
def turned_rows():
    def compute(x, b, i):
        t = x.transpose(0, 1)
        values, places = torch.sort(t, dim=0, stable=True)
        largest, chosen = torch.topk(t, 2, 1)
        running, since = torch.cummax(t, 1)
        return (values + 1, places + 1, largest + 1, chosen + 1, running + 1,
                since + 1, torch.bucketize(t, b) + 1,
                torch.searchsorted(b, t) + 1, torch.logcumsumexp(t, 1) + 1,
                t.cumsum(1) + 1, t.cumprod(0) + 1,
                torch.kthvalue(t, 2, 1).values + 1,
                t.scatter_reduce(0, i, x, "amax") + 1)
    return graph(compute, torch.randn(5, 5), torch.arange(-2.0, 2.0, 0.5),
                 torch.randint(0, 5, (5, 5)))


@case()
def turned_picks():
    def compute(x, y, i, w):
        t = x.transpose(1, 2)
        c = torch.view_as_complex(y).transpose(0, 1)
        written = t.clone()
        written[i] = 3.0
        return (t.masked_scatter(t > 0, x.flatten().abs()) + 1,
                torch.view_as_real(c[i]) + 1, torch.view_as_real(c[:, i]) + 1,
                t.index_reduce(0, i, t, "amax") + 1, torch.cdist(t, t) + 1,
                written + 1, torch.addbmm(w, t, x) + 1,
                torch.view_as_real(torch.fft.fft(c)) + 1,
                torch.view_as_real(torch.fft.fft(c, dim=0)) + 1,
                torch.view_as_real(torch.fft.rfft(t, dim=1)) + 1)
    return graph(compute, torch.randn(3, 4, 4), torch.randn(3, 3, 2),
                 torch.tensor([2, 0, 1]), torch.randn(4, 4))
