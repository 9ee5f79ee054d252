#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python_calls.py: what a call of a small kernel costs from Python: saxpy of
1000 elements, in microseconds of processor time and by the clock, the best of
some rounds, by turns with the same in torch where it is there.

    PYTHONPATH=python python3 bench/python_calls.py"""

import time

import numpy as np

import mettle

SOURCE = """
kernel void saxpy(device const float *x, device float *y, constant float &a,
                  uint i [[thread_position_in_grid]]) { y[i] += a * x[i]; }"""
COUNT, ROUNDS, CALLS = 1000, 15, 400


def rows():
    """(what, a function of no arguments), each the same work."""
    saxpy = mettle.compile_shader(SOURCE).saxpy
    x, y = np.ones(COUNT, np.float32), np.zeros(COUNT, np.float32)
    a, b = mettle.array(x), mettle.array(y)
    yield "NumPy arrays, waits", lambda: saxpy(x, y, 0.5)
    yield "mettle.Arrays, waits", lambda: saxpy(a, b, 0.5, wait=True)
    yield "mettle.Arrays, goes on", lambda: saxpy(a, b, 0.5)
    yield "NumPy: y += a * x", lambda: np.add(y, 0.5 * x, out=y)
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
    s, t = torch.ones(COUNT), torch.zeros(COUNT)
    yield "torch: y.add_(x, alpha=a)", lambda: t.add_(s, alpha=0.5)
    yield "torch CPU tensors, waits", lambda: saxpy(s, t, 0.5)


def main():
    best = {}
    work = list(rows())
    for _, function in work:
        function()
    for _ in range(ROUNDS):
        for name, function in work:
            clock, processor = time.perf_counter(), time.thread_time()
            for _ in range(CALLS):
                function()
            took = (time.perf_counter() - clock) / CALLS * 1e6
            used = (time.thread_time() - processor) / CALLS * 1e6
            mettle.synchronize()
            old = best.get(name, (1e9, 1e9))
            best[name] = min(old[0], took), min(old[1], used)
    print(f"{'':28} by the clock  of this thread's processor time")
    for name, (took, used) in best.items():
        print(f"{name:28} {took:9.2f} us {used:9.2f} us")


if __name__ == "__main__":
    main()
