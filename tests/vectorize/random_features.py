# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_features.py: statements of random kernels that take a feature of the
language, or the shape of a well-known kernel, as a whole: pointers that select,
unions, matrices, lambdas, recursion, loops left in several places, rows and
products, threadgroup memory that others read, tiles.

Memory of a thread's own: in output, vectors of each size from word 32768, 40
words from 65536 for its struct, one packed vector of each kind behind that; a
simdgroup's own: 104 words from 122880."""

from random_expressions import (INTEGERS, REALS, WIDTHS, Variable, base_of,
                                size_of)


class Block(list):
    """A list of statements, each a list of lines and Blocks."""


PACKED = ["packed_short3", "packed_uchar3", "packed_half3", "packed_int3"]
FENCE = "threadgroup_barrier(mem_flags::mem_threadgroup);"


class Features:
    """Mixed into Maker, whose expressions and statements it uses."""

    own_kinds = ["uint", "float", "half", "uchar", "short2", "ulong"]
    grid_kinds = ["uint", "float", "short", "half2", "int"]

    # --- memory of one's own -------------------------------------------------------

    def own_memory(self):
        """Declarations of places in device and threadgroup memory."""
        p, lines = self.prefix, []
        # Of three components the fourth may be written, too; and NaN of any sign
        # stays where no last statement cleans it.
        kinds = [k for _, k in self.structs]
        if (self.chance(0.5) and all(size_of(k) != 3 for k in kinds) and not
                (self.returns and any(base_of(k) in REALS for k in kinds))):
            lines.append([f"device parts_{self.name} &own_part = *(device "
                          f"parts_{self.name} *)({p}out + 65536 + 40 * {p}self);"])
            for member, kind in self.structs:
                lines.append([f"own_part.{member} = {self.expression(kind, 2)};"])
                self.variables.append(Variable(f"own_part.{member}", kind,
                                               space="device"))
        if self.chance(0.2):
            kind = self.pick(*self.own_kinds)
            lines.append([f"threadgroup {kind} mine[256][2];"])
            for i in (0, 1):
                lines.append([f"mine[{p}index][{i}] = {self.expression(kind, 2)};"])
            for i in (self.index(2), self.pick("0", "1")):
                self.variables.append(Variable(f"mine[{p}index][{i}]", kind,
                                               space="threadgroup"))
        if self.chance(0.25):
            kind, (n, m) = self.pick(*self.grid_kinds), self.pick(
                (2, 3), (3, 5), (4, 4), (7, 2))
            lines.append([f"{kind} grid2[{n}][{m}] = {{}};"])
            for _ in range(2):
                self.variables.append(Variable(
                    f"grid2[{self.index(n)}][{self.index(m)}]", kind))
        return lines

    def reread(self, kind):
        """What the thread itself may have written to memory."""
        p = self.prefix
        if self.readable and self.chance(0.5):
            return f"{kind}({p}held[{self.expression('uint', 3)} % {p}count])"
        r = self.r.random()
        if r < 0.6:
            return f"{kind}({p}out[16 * {p}self + ({self.index(16)})])"
        if r < 0.8:
            return (f"{kind}({p}out[16384 + ({self.index(16)}) * {p}u.threads"
                    f" + {p}self])")
        other = self.pick("ushort", "uchar", "short")
        per = 64 if other == "uchar" else 32
        return (f"{kind}(((device const {other} *){p}out)"
                f"[{per} * {p}self + ({self.index(per)})])")

    def packed_store(self):
        p, i = self.prefix, self.r.randrange(len(PACKED))
        kind = PACKED[i][len("packed_"):]
        place = f"((device {PACKED[i]} *)({p}out + {106496 + 4096 * i}))[{p}self]"
        if self.chance(0.3):
            return f"{place}.{self.pick(*'xyz')} = {self.expression(base_of(kind), 2)};" \
                if base_of(kind) in INTEGERS else f"{place} = clean({self.vector(kind, 1)});"
        return f"{place} = clean({self.vector(kind, 1)});"

    # --- pointers --------------------------------------------------------------------

    def scalars_of(self, kind):
        return [v.name for v in self.variables if not v.constant
                and v.kind == kind and v.space == "thread"]

    def private_pointer(self):
        kind = self.pick("uint", "float", "int")
        places = [f"&{name}" for name in self.scalars_of(kind)]
        for name, element, length in self.arrays:
            if element == kind:
                places += [f"&{name}[{self.index(length)}]"]
        if len(places) < 2:
            return self.assignment()
        a, b = self.r.sample(places, 2)
        v = self.result_variable()
        q = self.fresh("q")
        if self.chance(0.25):
            return (f"{{ thread {kind} *{q}[2] = {{{a}, {b}}}; "
                    f"*{q}[{self.index(2)}] = {self.expression(kind, 2)}; "
                    f"{v} }}".replace("@", f"*{q}[{self.index(2)}]"))
        return (f"{{ thread {kind} *{q} = {self.condition(2)} ? {a} : {b}; "
                f"*{q} = {kind}(*{q} {self.pick('+', '-', '*')} "
                f"{self.expression(kind, 2)}); {v} }}".replace("@", f"*{q}"))

    def result_variable(self, mark="@"):
        """"v = kind(@);" for some scalar variable v."""
        plain = [v for v in self.variables
                 if not v.constant and size_of(v.kind) == 1]
        v = self.r.choice(plain) if plain else Variable("own", "uint")
        return f"{v.name} = {v.kind}({mark});"

    def device_places(self):
        p = self.prefix
        return [f"{p}out + 16 * {p}self + ({self.index(16)})",
                f"{p}out + 16384 + ({self.index(16)}) * {p}u.threads + {p}self",
                f"{p}out + 16384 + {self.r.randrange(16)}u * {p}u.threads + {p}self"]

    def regular_loads(self):
        """Elements at places that rise in some way from thread to thread."""
        p, t = self.prefix, self.fresh("t")
        loads = []
        for _ in range(self.r.randrange(1, 5)):
            kind, limit = self.pick(("int", 4096), ("int", 4096), ("uchar", 16384),
                                    ("ushort", 8192), ("ulong", 2048))
            base = f"{p}n" if kind == "int" else f"((device const {kind} *){p}bytes)"
            loads.append(f"{t} = {t} * 31u + uint({base}[uint({self.regular()}) & "
                         f"{limit - 1}u]);")
        own = f"{p}out[16 * {p}self + ({self.regular(1)} & 15)]"
        return (f"{{ uint {t} = 0; {' '.join(loads)} "
                + self.result_variable().replace("@", t)
                + self.pick("", f" {own} = {t};", f" {own} ^= {t};") + " }")

    def blocks(self):
        """Words, halves and bytes of blocks, as quantised products read them:
        which block and which part of it the bits of a thread's index say."""
        p, t, i, q, lane = (self.prefix, self.fresh("t"), self.fresh("i"),
                            self.fresh("q"), self.fresh("lane"))
        threads = self.pick(2, 4, 8, 16)  # of a block
        size = self.pick(16, 18, 32, 34, 64, 66, 144, 210)
        part = self.pick(1, 2, 4, 8, 16)
        kind, bytes_each = self.pick(("uchar", 1), ("uchar", 1), ("ushort", 2),
                                     ("uint", 4))
        size += -size % bytes_each
        block, rest = f"short({lane} / {threads})", f"short({lane} % {threads})"
        if self.chance(0.3):
            block, rest = f"short({lane} % {threads})", f"short({lane} / {threads})"
        first = (2 if bytes_each < 4 else 4) * self.r.randrange(3)
        at = f"{i} * {size} + {rest} * {max(part, bytes_each)} + {first}"
        count = self.r.randrange(1, 9)
        loads = [f"{t} = {t} * 31u + {q}[{k}];" for k in range(count)]
        if self.chance(0.4):
            loads.append(f"{t} += uint({p}n[{q}[0] & {self.pick(7, 15, 31)}u]);")
        if self.chance(0.5):
            loads.append(f"{t} ^= {p}bytes[{i} * {size} + {rest} / {self.pick(1, 2, 4)}];")
        limit = self.pick("20", "17", f"int({p}u.five * 4u)",
                          f"int({self.expression('uint', 1)} & 31u)")
        return (f"{{ uint {t} = 0; const ushort {lane} = {p}lane; "
                f"for (int {i} = {block}; {i} < {limit}; {i} += {32 // threads}) {{ "
                f"device const {kind} *{q} = (device const {kind} *)({p}bytes + ({at})); "
                f"{' '.join(loads)} }} "
                + self.result_variable().replace("@", t) + " }")

    def device_pointer(self):
        p, q = self.prefix, self.fresh("q")
        a, b, c = self.device_places()
        r = self.r.random()
        if r < 0.3:
            return (f"{{ device uint *{q}[3] = {{{a}, {b}, {c}}}; "
                    f"*{q}[{self.index(3)}] {self.pick('=', '+=', '^=')} "
                    f"{self.expression('uint', 2)}; }}")
        if r < 0.6:
            return (f"{{ device uint *{q} = {self.condition(2)} ? {a} : {b}; "
                    f"*{q} += {self.expression('uint', 2)}; "
                    + self.result_variable().replace("@", f"*{q}") + " }")
        sources = [f"(device const uint *){p}n + ({self.expression('uint', 2)} & 1023u)",
                   f"(device const uint *){p}x + {p}lane", f"{p}out + 16 * {p}self"]
        a, b = self.r.sample(sources, 2)
        return (f"{{ device const uint *{q} = {self.condition(2)} ? {a} : {b}; "
                + self.result_variable().replace(
                    "@", f"{q}[{self.expression('uint', 2)} & 15u]") + " }")

    # --- what a language has ---------------------------------------------------------

    def lambda_expression(self):
        f, q = self.fresh("f"), self.fresh("q")
        saved = list(self.variables)
        self.variables.append(Variable(q, "uint"))
        inner = f"{self.assignment()} if ({self.condition(2)}) {{ return {q} * 3u; }}"
        last = self.expression("uint", 2)
        self.variables = saved
        return (f"{{ auto {f} = [&](uint {q}) -> uint {{ {inner} return {last}; }}; "
                + self.result_variable().replace("@", f"{f}({self.expression('uint', 2)})")
                + " " + self.result_variable().replace("@", f"{f}({self.expression('uint', 2)})")
                + " }")

    def union(self):
        n = self.fresh("n")
        value = self.result_variable().replace("@", self.pick(
            f"{n}.u", f"{n}.h[{self.index(2)}]", f"{n}.c[{self.index(4)}]"))
        return (f"{{ union {{ uint u; float f; ushort h[2]; uchar c[4]; }} {n}; "
                f"{n}.u = {self.expression('uint', 2)}; "
                f"{n}.h[{self.index(2)}] = {self.expression('ushort', 2)}; "
                f"{n}.c[{self.index(4)}] ^= {self.expression('uchar', 3)}; {value} }}")

    def structure_copy(self):
        if "w" not in self.declared:
            return self.assignment()
        r = self.r.random()
        if r < 0.35:
            return f"w[{self.index(3)}] = s;"
        if r < 0.7:
            return f"s = w[{self.index(3)}];"
        return self.result_variable().replace("@", f"w[{self.index(3)}].digest()")

    def matrix(self):
        kind = self.pick("float", "float", "half")
        c, r = self.pick(2, 3, 4), self.pick(2, 3, 4)
        m, name = self.fresh("m"), f"{kind}{c}x{r}"
        columns = ", ".join(self.vector(f"{kind}{r}", 2) for _ in range(c))
        lines = [f"{name} {m} = {name}({columns});"]
        lines += [f"{m}[{self.index(c)}] = {m} * {self.vector(f'{kind}{c}', 2)};"]
        if self.chance(0.4):
            lines += [f"{m}[{self.index(c)}][{self.index(r)}] = {self.expression(kind, 2)};"]
        if self.chance(0.4):
            lines += [f"{m} = {m} * (transpose({m}) * {m});"]
        if c == r and self.chance(0.4):
            value = f"determinant({m})"
        elif self.chance(0.5):
            value = f"({self.vector(f'{kind}{r}', 2)} * {m})[{self.index(c)}]"
        else:
            value = f"{m}[{self.index(c)}].{self.r.choice('xyzw'[:r])}"
        return "{ " + " ".join(lines) + " " + \
            self.result_variable().replace("@", value) + " }"

    def recursion(self):
        if self.barriers or self.collectives:
            return self.assignment()
        return ("{ uint acc = 0; " + self.result_variable().replace(
            "@", f"climbed({self.expression('uint', 2)} & 15u, acc) + acc") + " }")

    def swap(self):
        kind = self.pick("uint", "float", "int")
        names = self.scalars_of(kind)
        if len(names) < 2:
            return self.assignment()
        a, b = self.r.sample(names, 2)
        return self.pick(f"exchange_values({a}, {b});",
                         f"if (!order_values(&{a}, &{b}, {self.index(4)})) "
                         f"{{ {self.assignment()} }}")

    # --- flow ------------------------------------------------------------------------

    def endless(self, place):
        """A loop left in several places, with values of its own at each."""
        k = self.fresh("k")
        counter = Variable(k, "uint", constant=True)
        free = place.inside(False, True, True)
        body = Block([[f"if ({k}++ > {self.pick('6u', '3u', '11u')}) break;"]])
        saved = list(self.variables)
        self.variables.append(counter)
        for _ in range(self.r.randrange(1, 4)):
            body.append([f"if ({self.condition(1)})", Block(
                [self.block(free), [self.pick("break;", "continue;", "break;", "")]])])
            body.append(self.statement(free))
        self.variables = saved
        head = self.pick("while (true)", "for (;;)")
        return Block([[f"uint {k} = 0;"], [head, body]])

    def uniform_switch(self, place):
        p = self.prefix
        counters = [v.name for v in self.variables
                    if v.constant and v.name[0] == "k"] if place.steady else []
        what = self.pick(f"{p}u.five", "fc_count", f"{p}group.x", *counters,
                         f"{p}u.some[1]")
        lines = [f"switch (3u & uint({what})) {{"]
        inner = place.inside(True)
        inner.can_break = inner.can_continue = inner.steady = False
        for value in range(self.r.randrange(2, 4)):
            lines += [f"case {value}:", self.block(inner)]
            if self.chance(0.7):
                lines += ["break;"]
        if self.chance(0.5):
            lines += ["default:", self.block(inner)]
        return lines + ["}"]

    # --- shapes of kernels -----------------------------------------------------------

    def rows(self):
        """A sum or extremum along a row, by steps of one or of many threads."""
        p, k = self.prefix, self.fresh("k")
        start, step = self.pick((f"{p}lane", "32u"), (f"{p}index", f"{p}count"),
                                ("0u", "1u"), (f"{p}self & 63u", f"{p}u.three"),
                                (f"4u * {p}lane", "128u"))
        end = self.pick("128u", "100u", f"{p}u.five * 20u",
                        f"({self.expression('uint', 2)} & 127u)")
        row = self.pick("0u", f"{p}at.y * {p}u.width", f"{p}group.x * 128u",
                        f"({self.expression('uint', 2)} & 1023u)")
        place = f"({row} + {k}) & 4095u"
        value = self.pick(
            f"{p}x[{place}]", f"{p}x[{place}] * {p}x[({k} * 5u + {p}lane) & 4095u]",
            f"exp({p}x[{place}])", f"float({p}bytes[{place}])",
            f"float(((device const char *){p}bytes)[{place}]) * {p}x[{place}]",
            f"float(((device const half *){p}bytes)[{place}])",
            f"dot(((device const float4 *){p}x)[({row} + {k}) & 1023u], float4({k}))",
            f"float(({p}bytes[{place}] >> (4u * ({p}lane & 1u))) & 15) * {p}x[{place}]")
        name = self.fresh("t")
        fold = self.pick(f"{name} += {value};", f"{name} = max({name}, {value});",
                         f"{name} = fma({value}, 0.5f, {name});",
                         f"{{ float e = {value}; if (e > {name}) {{ {name} = e; best = {k}; }} }}")
        return (f"{{ float {name} = {self.expression('float', 2)}; uint best = 0; "
                f"for (uint {k} = {start}; {k} < {end}; {k} += {step}) {{ {fold} }} "
                + self.result_variable().replace("@", f"{name} + float(best)") + " }")

    def own_row(self):
        """Elements side by side in a row of the thread's own, in the bounds of
        their memory without a mask; or fields of a structure in an array."""
        p, k, t = self.prefix, self.fresh("k"), self.fresh("t")
        kind, memory, count = self.pick(
            ("float", f"{p}x", 4096), ("int", f"{p}n", 4096),
            ("uchar", f"((device const uchar *){p}bytes)", 16384),
            ("short", f"((device const short *){p}bytes)", 8192),
            ("ulong", f"((device const ulong *){p}n)", 2048),
            ("uint2", f"((device const uint2 *){p}n)", 2048),
            ("float4", f"((device const float4 *){p}x)", 1024))
        length = self.pick(4, 8, 12, 16, 19)
        stride = length + self.pick(0, 0, 1, 4)
        which = self.pick(f"{p}self", f"{p}lane", f"{p}at.x", f"{p}index * 3u",
                          self.expression("uint", 2))
        row = f"({which}) % {count // stride}u * {stride}u"
        fold = self.pick(f"{t} = {t} * 3u + uint({{}});",
                         f"{t} ^= uint({{}}) * ({k} + 1u);")
        element = f"{memory}[{row} + {k}]"
        if self.chance(0.2):  # an index that wraps
            element = f"{p}n[{self.pick('uchar', 'char')}({which} + {k}) & 255]"
            if self.chance(0.5):
                element = f"{p}n[uchar({which} + {k})]"
            kind = "int"
        if kind in ("uint2", "float4"):
            element += self.pick(".x", ".y")
        end = self.pick(f"{length}u", f"{length}u", f"{p}u.five % {length}u",
                        f"({self.expression('uint', 2)} % {length + 1}u)")
        walk = (f"for (uint {k} = 0; {k} < {end}; ++{k}) "
                f"{{ {fold.format(element)} }} ")
        if self.chance(0.25):
            name = self.fresh("s")
            field = self.pick("a", "b.y", "c.z", "d.x", "e[1]")
            walk = (f"struct {name} {{ uint a; short2 b; uchar4 c; float2 d; "
                    "uint e[3]; }; "
                    f"const {name} {k} = ((device const {name} *){p}n)"
                    f"[({which}) % 400u]; {t} = {k}.a ^ {k}.e[2] * 3u + "
                    f"as_type<uint>({k}.c) + uint({k}.{field}); ")
        return (f"{{ uint {t} = {self.expression('uint', 2)}; {walk}"
                + self.result_variable().replace("@", t) + " }")

    def edges(self):
        """A filter that clamps its indices at the edges of an image, or leaves
        out what lies beyond."""
        p, t, d, x, w = (self.prefix, *map(self.fresh, "tdxw"))
        memory = self.pick(f"{p}x", f"{p}n", f"((device const uchar *){p}bytes)",
                           f"((device const short *){p}bytes)")
        before = self.pick("0", "-1", "-2", f"-int({p}u.three & 3u)")
        behind = self.pick("1", "2", "3", f"int({p}u.five & 3u)")
        at = self.pick(f"{p}at.x", f"{p}at.x", f"{p}self", f"{p}lane",
                       f"{p}at.x * 2u", f"({p}self - {self.r.randrange(70)}u)",
                       f"({p}at.x + {self.expression('uint', 3)})")
        width = self.pick("100u", "40u", f"({p}u.width & 127u) + 1u",
                          f"min({p}u.width, 120u) + 3u", f"{p}u.five")
        row = self.pick("0", f"int({p}at.y & 15u) * {w}",
                        f"int({self.expression('uint', 3)} & 15u) * {w}")
        clamped = self.pick(f"clamp({x} + {d}, 0, {w} - 1)",
                            f"min(max({x} + {d}, 0), {w} - 1)",
                            f"max(min({w} - 1, {x} + {d}), 0)",
                            f"int(min(uint({x} + {d}), uint({w} - 1)))")
        within = self.pick(f"{x} + {d} >= 0 && {x} + {d} < {w}",
                           f"uint({x} + {d}) < uint({w})",
                           f"!({x} + {d} < 0 || {x} + {d} > {w} - 1)",
                           f"{x} + {d} > 1 && {w} > {x} + {d}")
        fold = f"{t} = {t} * 3 + int({memory}[{row} + {{}}]) * ({d} + 5);"
        body = self.pick(fold.format(clamped),
                         f"if ({within}) {fold.format(f'{x} + {d}')}",
                         f"if ({within}) {fold.format(f'{x} + {d}')} else {t} ^= {d} + 3;",
                         f"{{ if (!({within})) continue; {fold.format(f'{x} + {d}')} }}",
                         f"{t} += {within} ? int({memory}[{row} + {x} + {d}]) : 5;")
        return (f"{{ int {t} = 1; const int {w} = int({width}), {x} = int({at}); "
                f"for (int {d} = {before}; {d} {self.pick('<', '<=')} {behind}; "
                f"++{d}) {body} "
                + self.result_variable().replace("@", t) + " }")

    def whole_vectors(self):
        """Vectors that neighbouring threads load and store side by side, computed
        with as wholes, and perhaps taken apart."""
        p, n = self.prefix, self.pick(2, 4)
        base = self.pick("uchar", "ushort", "char", "short", "uint")
        real = self.chance(0.5) and base != "uint"
        wide = self.pick("float", "float", "half") if real else self.pick("int", "uint")
        limit = 16384 * 8 // (n * WIDTHS[base])
        memory = f"((device const {base}{n} *){p}{self.pick('n', 'bytes')})"
        place = lambda: self.pick(  # noqa: E731
            f"{p}self", f"({p}self + {p}u.five) % {limit}u", f"{p}index + {p}u.five",
            f"({p}at.y * 32u + {p}at.x) % {limit}u", f"{p}lane", f"{p}u.five")
        names = [self.fresh("v") for _ in range(self.r.randrange(1, 4))]
        lines = [f"{wide}{n} {v} = {wide}{n}({memory}[{place()}]);" for v in names]
        # A product of bytes fits into half; further ones might make NaN.
        steps = 1 if wide == "half" else self.r.randrange(4)
        for step in range(steps):
            a, b = self.pick(*names), self.pick(*names, f"{wide}{n}(3)",
                                                f"{wide}{n}({wide}({p}u.five))")
            op = self.pick("+", "*") if real else self.pick(*"+-*&|^", "<<", ">>")
            b = f"{wide}{n}({self.pick(1, 3)})" if op in ("<<", ">>") else b
            names.append(self.fresh("v"))
            lines.append(f"{wide}{n} {names[-1]} = {a} {op} {b};")
        out = wide if real else self.pick("uchar", "ushort", wide)
        area = {2: 53248, 4: 45056, 8: 36864, 16: 32768}[n * WIDTHS[out] // 8]
        for v in self.r.sample(names, 1):
            lines.append(f"((device {out}{n} *)({p}out + {area}u))[{p}self] = {out}{n}({v});")
        if self.chance(0.4):
            lines.append(self.result_variable().replace(
                "@", f"{self.pick(*names)}.{self.pick('x', 'y')}"))
        return "{ " + " ".join(lines) + " }"

    def product(self):
        """A block of a matrix product, held in a private array."""
        p, c, k = self.prefix, self.fresh("c"), self.fresh("k")
        n, m = self.pick((2, 2), (4, 4), (1, 4), (3, 2), (8, 1))
        kind = self.pick("float", "float", "float4", "half", "int")
        stride = self.pick("64u", f"{p}u.width", "33u")
        row = self.pick(f"{p}at.y", f"{p}group.y * {n}u", f"{p}simdgroup")
        column = self.pick(f"{p}at.x", f"{p}at.x * {m}u", f"{p}lane")
        a = f"(({row} + i) * {stride} + {k})"
        b = f"({k} * {stride} + {column} + j)"
        load = {"float": f"{p}x[@ & 4095u]", "int": f"{p}n[@ & 4095u]",
                "float4": f"((device const float4 *){p}x)[@ & 1023u]",
                "half": f"((device const half *){p}bytes)[@ & 8191u]"}[kind]
        step = f"{c}[i][j] {self.pick('+=', '+=', '-=')} {load.replace('@', a)} * {load.replace('@', b)};"
        end = self.pick("16u", "7u", f"{p}u.five", f"({self.expression('uint', 2)} & 15u)")
        out = f"{c}[{self.index(n)}][{self.index(m)}]"
        if kind == "float4":
            out += self.pick(".x", ".w")
        return (f"{{ {kind} {c}[{n}][{m}] = {{}}; for (uint {k} = 0; {k} < {end}; ++{k}) "
                f"{{ for (uint i = 0; i < {n}u; ++i) {{ for (uint j = 0; j < {m}u; ++j) "
                f"{{ {step} }} }} }} " + self.result_variable().replace("@", out) + " }")

    def lane_loop(self):
        """Each lane's value in turn; the lanes that are not there give nothing."""
        p, v = self.prefix, self.result_variable()
        e, k, t = self.expression("uint", 2), self.fresh("k"), self.fresh("t")
        step = self.pick("", f"if ({self.condition(2)}) {{ {self.assignment()} }} ")
        return (f"{{ uint {t} = {e}, sum = 0; const uint there = active(); "
                f"for (ushort {k} = 0; {k} < 32; ++{k}) {{ const uint other = "
                f"{self.pick('simd_shuffle', 'simd_broadcast')}({t}, {k}); "
                f"if ((there >> {k}) & 1u) {{ sum = sum * 3u + other; }} {step}}} "
                + v.replace("@", "sum") + " }")

    def butterfly(self):
        """A reduction by hand, where all 32 threads are there."""
        kind, t = self.pick("float", "uint", "half", "float2"), self.fresh("t")
        op = self.pick(f"{t} += @;", f"{t} = max({t}, @);", f"{t} = {t} * {kind}(0.5f) - @;"
                       if base_of(kind) in REALS else f"{t} ^= @ * 3u;")
        head, how = self.pick(
            ("for (ushort d = 16; d > 0; d >>= 1)", f"simd_shuffle_xor({t}, d)"),
            ("for (ushort d = 16; d > 0; d /= 2)", f"simd_shuffle_down({t}, d)"),
            ("for (ushort d = 1; d < 32; d <<= 1)", f"simd_shuffle_up({t}, d)"),
            ("for (ushort d = 1; d < 8; ++d)", f"simd_shuffle_rotate_down({t}, d)"))
        value = t if size_of(kind) == 1 else f"{t}.y"
        return (f"{{ {kind} {t} = {self.expression(kind, 2)}; {head} {{ {op.replace('@', how)} }} "
                + self.result_variable().replace("@", value) + " }")

    def compare_and_swap(self):
        p, r = self.prefix, self.r.random()
        if r < 0.4:
            return (f"atomic_fetch_add_explicit((device atomic_float *){p}shared + 72 + "
                    f"({self.index(8)}), float({self.expression('uint', 2)} & 15u), "
                    "memory_order_relaxed);")
        word = f"{p}shared + 64 + ({self.index(8)})"
        return (f"{{ device atomic_uint *cell = {word}; uint e = {self.expression('uint', 2)}; "
                "uint seen = atomic_load_explicit(cell, memory_order_relaxed); "
                "while (!atomic_compare_exchange_weak_explicit(cell, &seen, seen + e, "
                "memory_order_relaxed, memory_order_relaxed)) {} }")

    # --- threads of a group ------------------------------------------------------------

    def shared_reading(self, place):
        """Statements that read what the others wrote."""
        p = self.prefix
        mine = self.expression("uint", 1)
        saved, self.readable = self.readable, True
        quiet, self.barriers = self.barriers, False
        inner = place.inside(True)
        inner.can_break = inner.can_continue = inner.steady = False
        visible = list(self.variables)
        body = Block(self.statement(inner) for _ in range(self.r.randrange(1, 4)))
        self.readable, self.barriers, self.variables = saved, quiet, visible
        return Block([[FENCE], [f"{p}held[{p}index] = {mine};"], [FENCE], [body]])

    def near(self):
        """Values of a simdgroup's own threads, by some simdgroups only."""
        p = self.prefix
        v = self.result_variable().replace(
            "@", f"exchanged_near({p}held + 256, {p}index, {p}count, "
            f"{self.expression('uint', 1)}, {self.expression('uint', 2)})")
        test = self.pick(f"{p}simdgroup & 1u", f"{p}simdgroup < {p}u.three - 1u",
                         "true", f"{p}u.five > 3u")
        return [f"if ({test})", Block([[v], [self.assignment()]])]

    def staged_product(self):
        """A product through threadgroup memory, tile by tile."""
        p, t, k, sum_ = self.prefix, self.fresh("k"), self.fresh("k"), self.fresh("t")
        kind = self.pick("float", "half", "uint")
        tile = self.fresh("tile")
        a, b = (self.expression(kind, 2) for _ in range(2))
        first = self.pick(f"({p}index + {k}) % {p}count",
                          f"({p}at_group.y * {p}size.x + {k}) % {p}count",
                          f"{k} % {p}count")
        second = self.pick(f"({k} * {p}size.x + {p}at_group.x) % {p}count",
                           f"({p}index ^ {k}) % {p}count")
        return Block([
            [f"threadgroup {kind} {tile}[2][256];"],
            [f"{kind} {sum_} = 0;"],
            [f"for (uint {t} = 0; {t} < {self.pick(p + 'u.three', '2u', 'fc_count')}; ++{t})",
             Block([[FENCE], [f"{tile}[0][{p}index] = {a};"],
                    [f"{tile}[1][{p}index] = {kind}({b} + {kind}({t}));"], [FENCE],
                    [f"for (uint {k} = 0; {k} < {self.pick('8u', '16u', p + 'u.five')}; ++{k})",
                     Block([[f"{sum_} += {tile}[0][{first}] * {tile}[1][{second}];"]])]])],
            [self.result_variable().replace("@", sum_)]])

    def tile_source(self, kind):
        """(pointer, stride) of a matrix in device memory."""
        p = self.prefix
        stride = self.pick("8", "9", "16", "13", f"{p}u.five + 4u", "8")
        if kind == "float":
            return f"{p}x + 32u * {p}simdgroup + {self.r.randrange(40)}u", stride
        return (f"(device const {kind} *){p}bytes + 24u * {p}simdgroup + "
                f"{self.r.randrange(40)}u"), stride

    def staged_tiles(self):
        """Matrices from odd places of both memories and back again."""
        p, m = self.prefix, self.fresh("m")
        kind, other = self.pick("float", "half"), self.pick("float", "half", "bfloat")
        room, out = self.fresh("room"), f"{p}out + 122880u + 104u * (8u * ({p}group.x + 4u * {p}group.y) + {p}simdgroup)"
        flip = lambda: self.pick("", ", ulong2(0), true", ", ulong2(1, 2), false",
                                 ", ulong2(0, 1), true")
        source, stride = self.tile_source(kind)
        source2, stride2 = self.tile_source(other)
        stride3, stride4 = self.pick("8", "9", "11"), self.pick("8", "13", "9")
        loop = self.pick("", f"for (uint i = 0; i < {p}u.three; ++i) ")
        count = self.pick("", f"if (({p}simdgroup & 1u) == 0u) ")
        lines = [
            [f"threadgroup {kind} {room}[8][128];"],
            [f"simdgroup_matrix<{kind}, 8, 8> {m}a;"],
            [f"simdgroup_matrix<{other}, 8, 8> {m}b;"],
            [f"simdgroup_matrix<float, 8, 8> {m}c = make_filled_simdgroup_matrix<float, 8, 8>(0.5f);"],
            [f"simdgroup_load({m}b, {source2}, {stride2}{flip()});"],
            [f"for (uint i = {p}lane; i < 128u; i += 32u) {{ {room}[{p}simdgroup][i] = "
             f"clean({kind}({self.expression(kind, 2)})); }}"],
            [FENCE],
            [self.pick(f"simdgroup_load({m}a, {source}, {stride}{flip()});",
                       f"simdgroup_load({m}a, &{room}[{p}simdgroup][0], {stride3}{flip()});")],
            [f"{loop}{{ {count}simdgroup_multiply_accumulate({m}c, {m}a, {m}b, {m}c); "
             f"{self.pick('', f'{m}b.thread_elements()[0] = {m}b.thread_elements()[1];')} }}"],
            [FENCE],
            [f"{m}c.thread_elements()[0] = clean({m}c.thread_elements()[0]); "
             f"{m}c.thread_elements()[1] = clean({m}c.thread_elements()[1]);"],
            [f"{m}a.thread_elements() = clean(vec<{kind}, 2>({m}c.thread_elements()));"],
            [f"simdgroup_store({m}a, &{room}[{p}simdgroup][0], {stride3}{flip()});"],
            [f"simdgroup_store({m}c, (device float *)({out}), {stride4});"],
            [FENCE],
            [self.result_variable().replace(
                "@", f"{room}[{p}simdgroup][uint({self.expression('uint', 2)}) & 127u]")]]
        return Block(lines)

    def tile_product(self):
        """A block of a matrix product, several tiles a simdgroup."""
        p, m, k = self.prefix, self.fresh("m"), self.fresh("k")
        rows, columns = self.pick((2, 2), (4, 4), (1, 4), (3, 2), (4, 8))
        kind = self.pick("float", "float", "half", "bfloat")
        # Subnormal bfloats may count as 0, so there are none.
        of_bfloats = kind == "bfloat"
        staged = of_bfloats or self.chance(0.4)
        tile, stride = f"simdgroup_matrix<{kind}, 8, 8>", self.pick("64u", "40u", "33u")
        base = f"{p}x" if kind == "float" else f"(device const half *){p}bytes"
        end = self.pick("4u", "3u", f"{p}u.three", f"({p}group.x & 3u)")
        row = self.pick("0u", f"8u * {p}simdgroup", f"{p}group.y * 8u")
        a = f"{base} + (({row} + 8u * i) * {stride} + 8u * {k} & 1023u)"
        b = f"{base} + (8u * {k} * {stride} + 8u * j & 2047u)"
        if staged:
            room = self.fresh("room")
            b = f"&{room}[8u * j & 63u]"
        value = f"clean({kind}({self.expression(kind, 2)}))"
        if of_bfloats:
            a = f"&{room}[8u * i + 8u & 63u]"
            value = f"bfloat(float({self.expression('uint', 2)} & 255u) / 7.0f - 18.0f)"
        loads = [f"for (uint i = 0; i < {rows}u; ++i) {{ simdgroup_load({m}a[i], {a}, "
                 f"{'16u' if of_bfloats else stride}"
                 f"{self.pick('', '', ', ulong2(0), true')}); }}",
                 f"for (uint j = 0; j < {columns}u; ++j) {{ simdgroup_load({m}b[j], {b}, "
                 f"{'16u' if staged else stride}{self.pick('', '', ', ulong2(0), true')}); }}"]
        products = (f"for (uint i = 0; i < {rows}u; ++i) {{ for (uint j = 0; j < {columns}u; ++j) "
                    f"{{ simdgroup_multiply_accumulate({m}c[i][j], {m}a[i], {m}b[j], {m}c[i][j]); }} }}")
        body = Block([[text] for text in loads] + [[products]])
        if staged:
            body = Block([[FENCE], [f"for (uint i = {p}index; i < 256u; i += {p}count) {{ "
                                    f"{room}[i] = {value}; }}"],
                          [FENCE]] + body)
        if self.chance(0.3) and not of_bfloats:
            body.append([f"{m}c[0][0].thread_elements()[1] {self.pick('=', '+=')} "
                         f"clean({self.expression('float', 2)});"])
        if self.chance(0.3):
            body = Block([[f"if ({self.uniform_condition()})", Block(body)]])
        lines = Block([
            [f"{tile} {m}a[{rows}], {m}b[{columns}];"],
            [f"simdgroup_float8x8 {m}c[{rows}][{columns}];"],
            [f"for (uint i = 0; i < {rows}u; ++i) {{ for (uint j = 0; j < {columns}u; ++j) {{ "
             f"{m}c[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(float(i)); }} }}"],
            [f"for (uint {k} = 0; {k} < {end}; ++{k})", body]])
        if staged:
            lines.insert(0, [f"threadgroup {kind} {room}[256];"])
        for i in range(2):
            lines.append([f"{p}out[16 * {p}self + {i}] ^= bits({m}c[{self.r.randrange(rows)}]"
                          f"[{self.r.randrange(columns)}].thread_elements()[{i}]);"])
        return lines

    # --- one of them -------------------------------------------------------------------

    def feature(self, place):
        """A statement, as Maker.statement makes them."""
        uniform = place.uniform and place.result is None
        choices = [self.private_pointer, self.device_pointer, self.lambda_expression,
                   self.regular_loads, self.regular_loads, self.blocks, self.blocks, self.union, self.structure_copy, self.matrix, self.recursion,
                   self.swap, self.rows, self.own_row, self.own_row, self.product,
                   self.edges, self.edges,
                   self.whole_vectors, self.whole_vectors,
                   self.packed_store]
        if self.atomics:
            choices += [self.compare_and_swap] * 3
        if self.collectives and not self.in_middle:
            choices += [self.lane_loop] * 2
            if self.whole and uniform and not self.returns:
                choices += [self.butterfly] * 3
        made = self.r.choice(choices)
        if self.whole and uniform and not self.returns and self.chance(0.3):
            made = self.tile_product
        elif self.barriers and uniform and self.chance(0.6):
            made = self.pick(self.shared_reading, self.near, self.staged_product,
                             self.uniform_switch)
            if self.whole and self.chance(0.7):
                made = self.pick(self.staged_tiles, self.tile_product)
        elif self.chance(0.3):
            made = self.endless
        if made in (self.shared_reading, self.uniform_switch, self.endless):
            return made(place)
        result = made()
        return [result] if isinstance(result, str) else result
