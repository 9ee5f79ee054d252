# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_calls.py: kernels that call functions of numbers, many times: by
reference, the same variable twice, arrays with run-time indices, from each
other and where threads have parted. With METTLE_CALLS=all the compiler calls
them for all threads at once, as it does in kernels that are long."""

from random_source import Maker

KINDS = ["uint", "uint", "float", "int", "ulong", "ushort", "half"]
LENGTH = 8  # of an array


class Pure:
    """A function that touches what it is given alone."""

    def __init__(self, maker, name):
        self.r, self.name, self.earlier = maker.r, name, list(maker.pures)
        self.result = self.r.choice(KINDS)
        self.references = [(self.r.choice(KINDS), self.r.random() < 0.4)
                           for _ in range(self.r.randrange(1, 4))]
        self.values = [self.r.choice(KINDS) for _ in range(self.r.randrange(3))]
        self.names = [f"p{i}" for i in range(len(self.references + self.values))]
        self.kinds = [k for k, _ in self.references] + self.values
        self.fixed = [c for _, c in self.references] + [False] * len(self.values)
        self.locals = [(f"v{i}", self.r.choice(KINDS)) for i in range(3)]

    def head(self):
        parameters = [f"thread {'const ' if c else ''}{k} &{n}"
                      for n, (k, c) in zip(self.names, self.references)]
        parameters += [f"{k} {n}" for n, k in
                       zip(self.names[len(self.references):], self.values)]
        return (f"{self.result} {self.name}({', '.join(parameters)}, "
                f"thread uint *list)")

    def leaf(self):
        r = self.r.random()
        if r < 0.2:
            return f"list[{self.index()}]"
        if r < 0.35:
            return self.r.choice(["3", "7u", "0x9e3779b9u", "0.75f", "-5"])
        return self.r.choice(self.names + [n for n, _ in self.locals])

    def index(self):
        name = self.r.choice(self.names + [n for n, _ in self.locals])
        return self.r.choice([f"uint({name}) % {LENGTH}u",
                              str(self.r.randrange(LENGTH))])

    def expression(self, kind, depth=0):
        if depth == 2 or self.r.random() < 0.2:
            return f"{kind}({self.leaf()})"
        a, b = (self.expression(kind, depth + 1) for _ in "ab")
        operators = "+-*" if kind in ("float", "half") else "+-*^&|"
        return f"{kind}({a} {self.r.choice(operators)} {b})"

    def condition(self):
        kind = self.r.choice(["uint", "int", "float"])
        return f"{self.expression(kind, 1)} < {self.expression(kind, 1)}"

    def assignment(self):
        if self.r.random() < 0.3:
            return f"list[{self.index()}] {self.r.choice(['+=', '^=', '='])} " \
                   f"{self.expression('uint')};"
        places = [(n, k) for n, k, c in zip(self.names, self.kinds, self.fixed)
                  if not c] + self.locals
        name, kind = self.r.choice(places)
        return f"{name} = {self.expression(kind)};"

    def statement(self, depth=0):
        r = self.r.random()
        if r < 0.2 and self.earlier:
            called = self.r.choice(self.earlier)
            given = self.given(called)
            if given:
                return f"{self.locals[0][0]} = {self.locals[0][1]}({given});"
        if depth == 2 or r < 0.6:
            return self.assignment()
        inner = " ".join(self.statement(depth + 1) for _ in range(2))
        if r < 0.7:
            return f"if ({self.condition()}) {{ {inner} }}"
        if r < 0.8:
            return (f"if ({self.condition()}) {{ {inner} }} "
                    f"else {{ {self.statement(depth + 1)} }}")
        if r < 0.88:
            return f"if ({self.condition()}) return {self.expression(self.result)};"
        return (f"for (uint i{depth} = 0; i{depth} < "
                f"{self.r.choice([f'uint({self.names[0]}) % 4u', '5u', '8u'])}; "
                f"i{depth}++) {{ {inner} }}")

    def given(self, called):
        """A call of another with variables of this one, or None."""
        arguments = []
        for kind, is_fixed in called.references:
            fit = [n for n, k, c in zip(self.names, self.kinds, self.fixed)
                   if k == kind and (is_fixed or not c)]
            fit += [n for n, k in self.locals if k == kind]
            if not fit:
                return None
            arguments.append(self.r.choice(fit))
        arguments += [self.expression(k, 1) for k in called.values]
        return f"{called.name}({', '.join(arguments + ['list'])})"

    def body(self):
        """Lines, each a statement."""
        lines = [f"{k} {n} = {k}({self.r.randrange(1, 99)});" for n, k in self.locals]
        lines += [self.statement() for _ in range(self.r.randrange(2, 6))]
        return lines + [f"return {self.expression(self.result)};"]


class CallsMaker(Maker):
    def __init__(self, seed, name):
        super().__init__(seed, name)
        self.pures = []

    def functions(self):
        made = []
        for _ in range(self.r.randrange(1, 4)):
            pure = Pure(self, self.fresh("h"))
            self.pures.append(pure)
            made.append([pure.head(), [[line] for line in pure.body()]])
        return made + super().functions()

    def statement(self, place):
        return [self.pure_call()] if self.chance(0.3) else super().statement(place)

    def pure_call(self):
        """A block of its own; now and then one variable for two parameters."""
        pure, p = self.r.choice(self.pures), self.prefix
        names, lines = [], []
        for i, (kind, _) in enumerate(pure.references):
            same = [n for n, k in names if k == kind]
            if same and self.chance(0.4):
                names.append((self.r.choice(same), kind))
                continue
            names.append((f"q{i}", kind))
            lines.append(f"{kind} q{i} = {kind}({self.expression(kind, 2)});")
        values = ", ".join(self.expression("uint", 2) for _ in range(3))
        lines.append(f"uint q_list[{LENGTH}] = {{{values}}};")
        given = [n for n, _ in names]
        given += [self.expression(k, 2) for k in pure.values]
        call = f"{pure.name}({', '.join(given + ['q_list'])})"
        lines.append(f"{p}out[16 * {p}self + 1] ^= bits({call});")
        if self.chance(0.3):
            lines.append(f"{p}out[16 * {p}self + 2] += bits({call});")
        lines += [f"{p}out[16 * {p}self + 3] ^= bits({n});" for n, _ in names]
        lines.append(f"{p}out[16 * {p}self + 4] += q_list[{self.index(LENGTH)}];")
        return "{ " + " ".join(lines) + " }"
