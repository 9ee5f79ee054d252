# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_integers.py: random kernels of integers alone, whose threads do not wait
for each other. They are C++ as well: the host's compiler, which shares neither
front end nor library with Mettle, says what they must leave in memory. What C++
leaves undefined (division by zero, long shifts) goes through functions that
host_metal.h defines as docs/ir.md does."""

import os
import re

from random_expressions import INTEGERS
from random_source import Maker, kernel_source

FUNCTIONS = """
template <typename A, typename B> auto divided(A a, B b) { return a / b; }
template <typename A, typename B> auto remainder_of(A a, B b) { return a % b; }
template <typename A, typename B> auto to_left(A a, B b) { return a << b; }
template <typename A, typename B> auto to_right(A a, B b) { return a >> b; }
"""
NAMES = {"/": "divided", "%": "remainder_of", "<<": "to_left", ">>": "to_right"}


class IntegerMaker(Maker):
    common, scalars = ["uint", "int", "uint"], INTEGERS + ["bool"]
    comparable = common + INTEGERS
    inputs = [name for name in Maker.inputs if "scale" not in name]
    constants = ["fc_count", "fc_flag", "MISSING"]
    elements = ["uint", "uchar", "ulong", "int", "short", "long", "ushort"]
    has_vectors = False  # the host's compiler knows none
    listed, first = "int", ["uint", "int", "int"]
    own_kinds = ["uint", "uchar", "short", "ulong"]
    grid_kinds = ["uint", "short", "int", "long"]

    def __init__(self, seed, name):
        super().__init__(seed, name)
        self.whole = self.barriers = self.collectives = False
        self.atomics, self.returns = self.chance(0.3), self.chance(0.5)
        self.name = f"kernel_{name}"

    def any_kind(self):
        return self.pick(*(self.common if self.chance(0.5) else self.scalars))

    def operation(self, a, op, b):
        return f"{NAMES[op]}({a}, {b})" if op in NAMES else f"({a} {op} {b})"

    def bits(self, kind, depth):
        return f"{kind}({self.expression(self.pick(*INTEGERS), depth + 1)})"

    def condition(self, depth=0):
        while True:
            text = super().condition(depth)
            if not re.search(r"\b(any|all|is\w+|signbit)\(", text):
                return text

    def store(self):
        while True:
            text = super().store()
            if not re.search(r"half|float|packed|int4|char4", text):
                return text

    def odd(self):
        while True:
            text = super().odd()
            if not re.search(r"modf|frexp|device const float", text):
                return text

    def atomic(self):
        while True:
            text = super().atomic()
            if "float" not in text:
                return text

    def feature(self, place):
        made = self.pick(self.private_pointer, self.device_pointer, self.union,
                         self.regular_loads, self.regular_loads,
                         self.blocks,
                         self.lambda_expression, self.structure_copy,
                         self.recursion, self.swap, self.endless,
                         *([self.compare_and_swap] * 2 if self.atomics else []))
        return made(place) if made == self.endless else [made()]


def host_source(programs):
    """The same kernels for the host, with a main that prints a hash each."""
    folder = os.path.dirname(os.path.abspath(__file__))
    text = f'#include "{folder}/host_metal.h"\n'
    for program in programs:
        source = kernel_source(program.record, program.functions)
        text += re.sub(r" ?\[\[[^\]]*\]\]", "", source)
    calls = "".join(f'  run_kernel("{p.name}", {p.name});\n' for p in programs)
    return text + f"int main() {{\n  set_limit();\n{calls}  return 0;\n}}\n"
