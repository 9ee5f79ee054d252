# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_model.py [FOLDER]: exports a small PyTorch model for device "mps", where
there is none, and runs it without PyTorch's help. Exporting needs torch 2.13
and g++."""

import os
import sys
import tempfile

import numpy as np

import mettle


def export(folder):
    """Writes FOLDER/model.so, its weights, and an input with its output."""
    import torch
    from torch import nn

    from mettle import export_mps
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32),
                        nn.Linear(32, 4)).eval()
    x = torch.randn(8, 16)
    export_mps.export(net, (x,), folder)
    np.save(os.path.join(folder, "x.npy"), x.numpy())
    np.save(os.path.join(folder, "y.npy"), net(x).detach().numpy())


def run(folder):
    """Runs FOLDER/model.so on the input beside it."""
    model = mettle.load_model(os.path.join(folder, "model.so"))
    for constant in model.constants:
        print(f"{constant.original_name}: {constant.dtype}, "
              f"{constant.nbytes} bytes")
    y, = model(np.load(os.path.join(folder, "x.npy")))
    difference = np.abs(y.numpy() - np.load(os.path.join(folder, "y.npy")))
    print(f"largest difference from torch: {difference.max():.1e}")
    assert difference.max() < 1e-5


def main(folder=None):
    if folder is not None and os.path.exists(os.path.join(folder,
                                                          "model.so")):
        run(folder)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = folder or scratch
        export(folder)
        run(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
