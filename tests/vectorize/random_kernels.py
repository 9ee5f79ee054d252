#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_kernels.py: makes kernels at random and has tier 1 checked against
tier 0. A failing kernel is made smaller statement by statement and printed.

  random_kernels.py --clang CLANG --program vectorize_random [--seed N]
                    [--count N] [--keep FOLDER]

Kernels are free of races: a thread writes only its own 16 elements of each
output and its own element of threadgroup memory, which others read between
barriers. Last line: N passed, N failed.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INTS = ["i0", "i1", "i2", "i3", "i4"]
FLOATS = ["f0", "f1", "f2", "f3"]
BATCH = 20


class Maker:
    """Makes one kernel. A statement is a nested list: [head, body, ...]."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.loops = 0
        self.barriers = self.r.random() < 0.3
        self.collectives = self.r.random() < 0.4
        self.returns = not self.barriers and self.r.random() < 0.4

    def pick(self, *choices):
        return self.r.choice(choices)

    def integer(self, depth=0):
        r = self.r.random()
        if depth > 3 or r < 0.35:
            return self.pick(*INTS, "in.index", "in.lane", "in.self",
                             "in.at.x", "in.at.y", "in.p[2]", "in.p[3]",
                             str(self.r.randrange(64)) + "u",
                             str(self.r.getrandbits(32)) + "u")
        a, b = self.integer(depth + 1), self.integer(depth + 1)
        if r < 0.75:
            return f"({a} {self.pick('+', '-', '*', '&', '|', '^')} {b})"
        return self.pick(
            f"({a} << ({b} & 31))", f"({a} >> ({b} & 31))",
            f"({a} / (({b} & 255) + 1))", f"({a} % (({b} & 1023) + 1))",
            f"(uint)((int){a} / (int)(({b} & 31) + 1))",
            f"(uint)(ushort)({a})", f"(uint)(char)({a})",
            f"(uint)(((ulong){a} * {b}) >> 16)",
            f"(uint)in.n[({a}) & 1023]", f"(uint)in.n[in.self + ({b} & 7)]",
            f"({self.condition(depth + 1)} ? {a} : {b})",
            f"a[{a} & 7]", f"in.bits[16 * in.self + ({a} & 15)]",
            f"small(f{self.r.randrange(4)})",
            f"__builtin_popcount({a})")

    def real(self, depth=0):
        r = self.r.random()
        if depth > 3 or r < 0.35:
            return self.pick(*FLOATS, "0.5f", "-1.25f", "3.0f",
                             "in.x[in.self]", "in.x[in.self + 3]")
        a, b = self.real(depth + 1), self.real(depth + 1)
        if r < 0.7:
            return f"({a} {self.pick('+', '-', '*')} {b})"
        return self.pick(
            f"({a} / ({b} * {b} + 1.0f))",
            f"__builtin_sqrtf(__builtin_fabsf({a}))",
            f"__builtin_floorf(bounded({a}))",
            f"(float)(int)({self.integer(depth + 1)} & 0xffff)",
            f"in.x[{self.integer(depth + 1)} & 2047]",
            f"in.x[in.at.y * in.p[3] + in.at.x]",
            f"in.x[in.p[2] * 5 + {self.pick('in.index', 'in.at.x', 'i0')} % 999]",
            f"({self.condition(depth + 1)} ? {a} : {b})",
            f"b[{self.integer(depth + 1)} & 3]",
            f"in.out[16 * in.self + ({self.integer(depth + 1)} & 15)]",
            f"(float)(_Float16)bounded({a})",
            f"__builtin_fmaf({a}, {b}, 1.5f)")

    def condition(self, depth=0):
        r = self.r.random()
        if r < 0.25:
            return self.uniform_condition()
        if r < 0.6:
            return (f"({self.integer(depth + 1)} "
                    f"{self.pick('<', '==', '>', '!=')} {self.integer(depth + 1)})")
        if r < 0.85:
            return f"({self.real(depth + 1)} {self.pick('<', '>')} {self.real(depth + 1)})"
        return (f"({self.condition(depth + 1)} {self.pick('&&', '||')} "
                f"{self.condition(depth + 1)})") if depth < 3 else "(i0 & 1)"

    def uniform_condition(self):
        return self.pick("(in.p[2] > 3)", "(in.p[3] == 3)",
                         "(in.n[in.p[2]] & 1)", "(in.group.x & 1)",
                         "(in.simdgroup == 0)")

    def assignment(self):
        r = self.r.random()
        if r < 0.35:
            return f"{self.pick(*INTS)} {self.pick('=', '+=', '^=')} {self.integer()};"
        if r < 0.6:
            return f"{self.pick(*FLOATS)} {self.pick('=', '+=', '-=')} {self.real()};"
        if r < 0.7:
            return f"a[{self.integer(2)} & 7] = {self.integer()};"
        if r < 0.78:
            return f"b[{self.integer(2)} & 3] = {self.real()};"
        if r < 0.88:
            return (f"in.bits[16 * in.self + ({self.integer(2)} & 15)] = "
                    f"{self.integer()};")
        if r < 0.95:
            return (f"in.out[16 * in.self + ({self.integer(2)} & 15)] = "
                    f"clean({self.real()});")
        if self.collectives:
            v, f = self.pick(*INTS), self.pick(*FLOATS)
            return self.pick(f"{v} ^= ballot({self.condition(2)});",
                             f"{v} += sum_int({self.integer(2)});",
                             f"{v} += prefix_int({self.integer(2)});",
                             f"{f} = clean(bounded(sum(bounded({self.real(2)}))));",
                             f"{f} = clean(bounded(before(bounded({self.real(2)}))));",
                             f"{v} = largest_uint({self.integer(2)});")
        return f"{self.pick(*INTS)}++;"

    def statement(self, depth, in_loop, uniform):
        r = self.r.random()
        if depth > 4 or r < 0.45:
            return [self.assignment()]
        if r < 0.65:
            whole = self.r.random() < 0.4
            c = self.uniform_condition() if self.r.random() < 0.2 else self.condition()
            s = [f"if ({c})", self.block(depth + 1, in_loop, False)]
            return s + ["else", self.block(depth + 1, in_loop, False)] if whole else s
        if r < 0.8:
            n = self.loops = self.loops + 1
            if self.r.random() < 0.4:
                bound = self.pick("in.p[2]", "in.p[3]", "4")
                still = uniform
            else:
                bound = f"({self.integer(1)} & {self.pick(3, 7, 15)})"
                still = False
            return [f"for (uint k{n} = 0; k{n} < {bound}; k{n}++)",
                    self.block(depth + 1, not still, still)]
        if r < 0.86:
            n = self.loops = self.loops + 1
            return [f"for (uint k{n} = 0; k{n} < 12 && {self.condition()}; k{n}++)",
                    self.block(depth + 1, True, False)]
        if r < 0.91:
            cases = []
            for value in range(self.r.randrange(2, 5)):
                cases += [f"case {value}:", self.block(depth + 2, False, False)]
                if self.r.random() < 0.7:
                    cases += ["break;"]
            return [f"switch ({self.integer(1)} & 3) {{", cases, "}"]
        if in_loop and r < 0.97:
            return [f"if ({self.condition()}) {self.pick('break', 'continue')};"]
        if self.barriers and uniform:
            return [["barrier(2);"], ["held[in.index] = " + self.integer(2) + ";"],
                    ["barrier(2);"],
                    [f"{self.pick(*INTS)} += held[{self.integer(2)} % count];"]]
        if self.returns and r > 0.985:
            return [f"if ({self.condition()}) return;"]
        return [self.assignment()]

    def block(self, depth, in_loop, uniform):
        return [self.statement(depth, in_loop, uniform)
                for _ in range(self.r.randrange(1, 4))]

    def body(self):
        return [self.statement(0, False, True)
                for _ in range(self.r.randrange(4, 12))]


def is_block(part):
    return isinstance(part, list)


def text_of(part, indent):
    if isinstance(part, str):
        return "  " * indent + part + "\n"
    if part and all(is_block(p) for p in part):
        return ("  " * indent + "{\n" + "".join(text_of(p, indent + 1) for p in part)
                + "  " * indent + "}\n")
    return "".join(text_of(p, indent) for p in part)


PRELUDE = """#include "kernels.h"
static float clean(float f) { return f == f ? f + 0.0f : 7.0f; }
static float bounded(float f) { return f > -1000 && f < 1000 ? f : 1.0f; }
static uint small(float f) { return (uint)(int)(bounded(f) * 16.0f); }
"""


def kernel_text(number, body):
    text = f"KERNEL({number}) {{\n"
    text += "  threadgroup uint held[1024];\n"
    text += ("  uint count = in.group_size.x * in.group_size.y * in.group_size.z;\n"
             "  uint a[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n  float b[4] = {0, 1, 2, 3};\n"
             "  uint i0 = in.n[in.self], i1 = in.self, i2 = 3, i3 = in.p[3], i4 = 0;\n"
             "  float f0 = in.x[in.self], f1 = 1, f2 = in.x[in.p[2]], f3 = 0;\n"
             "  held[in.index] = i0;\n  barrier(2);\n")
    for statement in body:
        text += text_of([statement], 1)
    text += "  device uint *bits = in.bits + 16 * in.self;\n"
    text += "".join(f"  bits[{k}] = {v};\n" for k, v in enumerate(INTS))
    text += "".join(f"  in.out[16 * in.self + {k}] = clean({v});\n"
                    for k, v in enumerate(FLOATS))
    return text + "  bits[9] = a[i0 & 7] + a[3];\n}\n"


class Runner:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def run(self, bodies):
        """Returns None if all agree, else what the program said last."""
        source = os.path.join(self.folder, "random.cpp")
        code = os.path.join(self.folder, "random.bc")
        with open(source, "w", encoding="ascii") as file:
            file.write(PRELUDE + "\n".join(
                kernel_text(n, body) for n, body in enumerate(bodies)))
        subprocess.run(
            [self.options.clang, "-cc1", "-triple", "x86_64-unknown-linux-gnu",
             "-x", "c++", "-std=c++17", "-fsycl-is-device", "-O1", "-w",
             "-disable-llvm-passes", "-ffp-contract=off", "-emit-llvm-bc",
             "-I", HERE, "-o", code, source], check=True)
        environment = dict(os.environ, RANDOM_KERNELS=code, RANDOM_FIRST="0",
                           RANDOM_COUNT=str(len(bodies)))
        try:
            result = subprocess.run(
                [self.options.program, "random.kernels_agree"],
                env=environment, capture_output=True, text=True, timeout=600,
                errors="replace")
        except subprocess.TimeoutExpired:
            return "a kernel that does not end"
        if result.returncode == 0:
            return None
        lines = (result.stdout + result.stderr).strip().splitlines()
        return f"status {result.returncode}: " + (lines[-1] if lines else "")


def smaller(body):
    """Yields bodies with one statement, branch or loop less."""
    for i, part in enumerate(body):
        yield body[:i] + body[i + 1:]
        if is_block(part):
            for inner in part:
                if is_block(inner):
                    yield body[:i] + ([inner] if all(map(is_block, body)) else inner) + body[i + 1:]
            for less in smaller(part):
                yield body[:i] + [less] + body[i + 1:]


def reduced(runner, body):
    progress = True
    while progress:
        progress = False
        for candidate in smaller(body):
            try:
                failed = runner.run([candidate])
            except subprocess.CalledProcessError:
                continue  # no longer C++
            if failed:
                body, progress = candidate, True
                break
    return body


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clang", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--no-reduction", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options, folder)
        for first in range(options.first, options.first + options.count, BATCH):
            size = min(BATCH, options.first + options.count - first)
            bodies = [Maker(options.seed * 1000003 + first + i).body()
                      for i in range(size)]
            if runner.run(bodies) is None:
                passed += size
                continue
            for i, body in enumerate(bodies):
                why = runner.run([body])
                if why is None:
                    passed += 1
                    continue
                failed += 1
                print(f"kernel {first + i} of seed {options.seed}: {why}")
                if not options.no_reduction:
                    body = reduced(runner, body)
                print(kernel_text(0, body), runner.run([body]), flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
