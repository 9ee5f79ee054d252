#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compile_growth.py: how compilation grows with a kernel's length.

  compile_growth.py METTLE [KIND...] [LINES...]

Compiles made-up kernels of 100, 1000 and 5000 lines to machine code, without
the cache, and prints ms and ms per 1000 lines: of straight-line code, of loops
with branches in them, of branches, of calls of a small function, of private
arrays that are indexed by what only the thread knows, of code with 200
barriers (a barrier every other line in the shortest), of one loop that each
line may leave or begin again, of atomics whose results are used, of sines and
exponentials, and of sums over simdgroups. A growth that is linear leaves the
last figure the same."""

import os
import subprocess
import sys
import tempfile
import time

HEAD = """#include <metal_stdlib>
using namespace metal;
float small(float a, float b) { return a > b ? a * b : sqrt(abs(a)) - b; }
kernel void k(device float *x [[buffer(0)]], device float *y [[buffer(1)]],
              constant uint &n [[buffer(2)]],
              device atomic_uint *h [[buffer(3)]],
              uint i [[thread_position_in_grid]],
              uint l [[thread_position_in_threadgroup]]) {
  threadgroup float s[256];
  float a = x[i], b = y[i], c = 1.0f, d = 0.5f;
"""
TAIL = "  y[i] = a + b + c + d;\n}\n"


def names(line):
    return "abcd"[line % 4], "abcd"[(line + 1) % 4], "abcd"[(line * 7 + 2) % 4]


def straight(line):
    p, q, r = names(line)
    if line % 10 == 9:
        return f"{p} += x[(i + {line}) & 1023];"
    return f"{p} = fma({q}, {line % 17}.25f, {r}) * {q} - {p};"


def loops(line):
    p, q, r = names(line)
    place = line % 10
    if place == 0:
        return f"for (uint t = 0; t < n + {line % 7}; t++) {{"
    if place == 9:
        return "}"
    if place == 5:
        return f"if ({p} > {q}) {r} += x[(i * t + {line}) & 1023];"
    return f"{p} = {q} * {line % 17}.25f + {r} - {p};"


def branches(line):
    p, q, r = names(line)
    return f"if ({p} > {q} + {line % 17}.25f) {r} = {r} * {p} + {q};"


def calls(line):
    p, q, r = names(line)
    return f"{p} = small({q}, {r} + {line % 17}.25f);"


def arrays(line):
    p, q, _ = names(line)
    if line % 10 == 0:
        return f"{{ float t[8] = {{a, b, c, d, 1, 2, 3, {line}}};"
    if line % 10 == 9:
        return "}"
    return f"t[(i + {line}) & 7] = {p}; {q} += t[(l * {line}) & 7];"


def barriers(line, count):
    p, q, _ = names(line)
    if line % max(count // 200, 2) == 0:
        return (f"s[l] = {p}; threadgroup_barrier(mem_flags::mem_threadgroup); "
                f"{q} += s[(l + {line % 31 + 1}) & 255];")
    return straight(line)


def leaving(line, count, word):
    """One loop, of which every line but the first and last two may leave the
    rest to the next turn or to what follows."""
    p, q, r = names(line)
    if line == 0:
        return "for (uint t = 0; t < n; t++) {"
    if line == count - 1:
        return "}"
    if line % 2:
        return f"{p} = fma({q}, {line % 17}.25f, {r}) - {p};"
    return f"if ({p} > {q} + {line % 17}.25f) {word};"


def atomics(line):
    p, q, _ = names(line)
    if line % 2:
        return f"{p} = {q} * {line % 17}.25f - {p};"
    return (f"{p} += atomic_fetch_add_explicit(&h[(i + {line}) & 1023], 1u, "
            "memory_order_relaxed);")


def sines(line):
    p, q, _ = names(line)
    function = ("sin", "exp", "log", "cos")[line % 4]
    return f"{p} = {function}({q} + {line % 17}.25f) - {p};"


def sums(line):
    p, q, r = names(line)
    return f"{p} = simd_sum({q}) * {line % 17}.25f + {r};"


# What makes a line, from its number and how many there are.
KINDS = {
    "straight": lambda line, count: straight(line),
    "loops": lambda line, count: loops(line),
    "branches": lambda line, count: branches(line),
    "calls": lambda line, count: calls(line),
    "arrays": lambda line, count: arrays(line),
    "barriers": barriers,
    "breaks": lambda line, count: leaving(line, count, "break"),
    "continues": lambda line, count: leaving(line, count, "continue"),
    "atomics": lambda line, count: atomics(line),
    "sines": lambda line, count: sines(line),
    "sums": lambda line, count: sums(line),
}


def source(kind, count):
    lines = "".join(f"  {KINDS[kind](i, count)}\n" for i in range(count))
    return HEAD + lines + TAIL


def compile_ms(mettle, path):
    environment = dict(os.environ, METTLE_CACHE="0")
    start = time.monotonic()
    subprocess.run([mettle, "compile", "--report", path], check=True,
                   env=environment, stdout=subprocess.DEVNULL)
    return (time.monotonic() - start) * 1000


def main():
    mettle = sys.argv[1]
    counts = [int(text) for text in sys.argv[2:] if text.isdigit()]
    counts = counts or [100, 1000, 5000]
    kinds = [text for text in sys.argv[2:] if not text.isdigit()] or KINDS
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            for count in counts:
                path = os.path.join(folder, f"{kind}_{count}.metal")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(source(kind, count))
                ms = compile_ms(mettle, path)
                print(f"{kind:10} {count:6} lines {ms:8.0f} ms "
                      f"{ms / count * 1000:8.0f} ms per 1000 lines", flush=True)


if __name__ == "__main__":
    main()
