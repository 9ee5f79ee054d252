# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_side.py CASE THREADS: one model in eager torch and in torch.compile.
Runs under a Python that has torch. For each line "eager" or "compiled" on
standard input it runs the model once and answers with the seconds taken, or
"nan" where that cannot be done."""

import os
import sys
import time

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "aoti"))
import models  # noqa: E402


def main():
    torch.set_num_threads(int(sys.argv[2]))
    torch.manual_seed(0)
    with torch.no_grad():
        module, inputs = models.CASES[sys.argv[1]].build()[:2]
        module.eval()
        sides = {"eager": module, "compiled": torch.compile(module)}
        for line in sys.stdin:
            side = line.strip()
            try:
                start = time.perf_counter()
                sides[side](*inputs)
                print(time.perf_counter() - start, flush=True)
            except Exception as error:  # no compiler, for instance
                print(error, file=sys.stderr)
                print("nan", flush=True)


if __name__ == "__main__":
    main()
