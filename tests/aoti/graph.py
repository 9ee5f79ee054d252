# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""graph.py: a function as a case: torch's names, where there is a torch."""

try:
    import torch
    from torch import nn
    import torch.nn.functional as F
except ImportError:  # only names and sources are wanted
    torch = nn = F = None


def graph(function, *inputs, dynamic=None, trial=None):
    class Graph(nn.Module):
        def forward(self, *arguments):
            return function(*arguments)

    if dynamic is not None:
        dynamic = {"arguments": tuple(dynamic)}
    return Graph(), inputs, dynamic, trial or inputs
