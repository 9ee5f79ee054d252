# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_steps.py: trees, scans and exchanges of one element for each thread,
in steps between barriers, whose threadgroup memory may be registers where the
number of threads is known."""

from random_features import Block
from random_source import PARAMETERS, Maker

KINDS = ["uint", "uint", "float", "float", "int", "half", "ushort", "uchar", "uint2"]
LENGTH = 256  # of an array: the most threads that a grid's threadgroups have
HELD_BYTES = 8 * LENGTH


class StepsMaker(Maker):
    def operation(self, kind, a, b):
        operators = ["+", "*"] if kind in ("float", "half") else ["+", "^", "-", "|"]
        text = self.pick(f"{a} {self.pick(*operators)} {b}", f"max({a}, {b})",
                         f"min({a}, {b})")
        return f"clean({kind}({text}))"

    def other(self):
        """(the index of another thread's element, when there is one)."""
        d = self.pick(1, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 40, 64, 100)
        k = self.pick(1, 2, 3, 5, 8, 16, 31, 32, 63, 64)
        return self.pick(
            (f"index - {d}u", f"index >= {d}u"),
            (f"index + {d}u", f"index + {d}u < count"),
            (f"index ^ {k}u", f"(index ^ {k}u) < count"),
            (f"(index + {d}u) % count", "true"),
            ("count - 1u - index", "true"),
            (f"2u * index + {k % 2}u", f"2u * index + {k % 2}u < count"),
            (f"{d}u * index % count", "true"),
            (f"index / {k}u", "true"),
            (f"{k}u % count", "true"),
            (f"index & {31 - k % 8}u", f"(index & {31 - k % 8}u) < count"))

    def place(self):
        """The same, for stores: no two threads' is the same."""
        d, k = self.pick(1, 5, 32, 33), self.pick(1, 3, 16, 32, 63)
        return self.pick(("index", "true"), (f"(index + {d}u) % count", "true"),
                         (f"index ^ {k}u", f"(index ^ {k}u) < count"),
                         ("count - 1u - index", "true"))

    def condition(self):
        d = self.pick(1, 2, 5, 8, 16, 32, 33, 64)
        bit = self.r.randrange(8)
        return self.pick(f"index < {d}u", f"index % {d}u == 0u",
                         f"(uint({self.pick(*self.names)}) >> {bit} & 1u) == 1u"
                         if self.names else "simdgroup == 1u",
                         f"in.n[self & 4095u] > {self.r.randrange(-9, 9)}")

    def step(self):
        name, kind, _ = self.pick(*self.tables)
        index, there = self.other()
        r = self.r.random()
        if r < 0.25:  # a tree
            steps = self.pick(*(f"{1 << k}u" for k in range(7)), "count / 2u")
            return [[self.barrier], [
                f"if (index < {steps} && index + {steps} < count) {name}[index] = "
                f"{self.operation(kind, f'{name}[index]', f'{name}[index + {steps}]')};"]]
        if r < 0.35:
            inner = (f"if (index < s && index + s < count) {name}[index] = "
                     f"{self.operation(kind, f'{name}[index]', f'{name}[index + s]')};")
            first = self.pick("count / 2u", "32u", "64u")
            return [[f"for (uint s = {first}; s > 0u; s >>= 1)",
                     Block([[self.barrier], [inner]])]]
        value = f"v{len(self.kept)}"
        lines = [[self.barrier],
                 [f"{kind} {value} = {there} ? {name}[{index}] : {kind}(1);"]]
        self.names += [value] if kind != "uint2" else []
        self.kept.append(value)
        if r < 0.75:  # a scan, or an exchange
            to, may = self.place()
            guard = self.pick("true", self.condition())
            stored = self.pick(value, self.operation(kind, value, f"{kind}(index)"))
            if to == "index":
                stored = self.operation(kind, f"{name}[index]", value)
            lines += [[self.barrier], [f"if ({may} && {guard}) {name}[{to}] = {stored};"]]
        return lines

    def functions(self):
        self.barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);"
        self.tables, self.names, self.kept = [], [], []
        body = []
        for i in range(self.r.randrange(1, 4)):
            kind = self.pick(*KINDS)
            is_held = i == 0 and self.chance(0.5)
            body.append([f"threadgroup {kind} *t{i} = (threadgroup {kind} *)held;"
                         if is_held else f"threadgroup {kind} t{i}[{LENGTH}];"])
            body.append([f"t{i}[index] = clean({kind}("
                         f"{self.pick('n[self & 4095u]', 'x[self & 4095u]', 'self')}));"])
            self.tables.append((f"t{i}", kind, is_held))
        for _ in range(self.r.randrange(2, 9)):
            body += self.step()
        body.append([self.barrier])
        for i, name in enumerate([f"{t}[index]" for t, _, _ in self.tables] + self.kept):
            body.append([f"out[16 * self + {i % 16}] ^= bits({name});"])
        return [[f"kernel void {self.name}(\n{PARAMETERS})", Block(body)]]
