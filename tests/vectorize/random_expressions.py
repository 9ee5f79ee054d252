# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_expressions.py: MSL expressions of any type, at random.

Every expression has a value that Metal, or docs/ir.md, states: overflow
wraps, division by zero gives 0, shift amounts and conversions are taken as
define_arithmetic does. Not stated is the payload and sign of a NaN, so bits of
floating-point values are looked at through clean() alone."""

import random

SIGNED = ["char", "short", "int", "long"]
UNSIGNED = ["uchar", "ushort", "uint", "ulong"]
INTEGERS = SIGNED + UNSIGNED
REALS = ["half", "bfloat", "float"]
SCALARS = INTEGERS + REALS + ["bool"]
COMMON = ["uint", "int", "float", "float", "uint"]
WIDTHS = {"char": 8, "short": 16, "int": 32, "long": 64, "half": 16,
          "uchar": 8, "ushort": 16, "uint": 32, "ulong": 64, "bfloat": 16,
          "float": 32, "bool": 1}
UNSIGNED_OF = dict(zip(SIGNED, UNSIGNED), **dict(zip(UNSIGNED, UNSIGNED)))
REAL_UNARY = ["floor", "ceil", "rint", "trunc", "round", "fract", "fabs",
              "sqrt", "saturate", "sign", "floor", "fabs", "sqrt", "rint", "exp", "exp2", "log", "log2", "sin", "cos", "tan",
              "tanh", "atan", "asin", "rsqrt", "saturate", "sign", "sinh",
              "cospi", "exp10", "log10", "acosh"]
# The bits of floats where functions change: infinities, NaN, the smallest and
# the largest, whole numbers that end an exactness, halves.
EDGES = ["0x7f800000", "0xff800000", "0x7fc00000", "0x00000001", "0x80000001",
         "0x007fffff", "0x00800000", "0x7f7fffff", "0xff7fffff", "0x4b000000",
         "0x4b800001", "0x4f000000", "0xcf000000", "0x4f800000", "0x5f000000",
         "0x3effffff", "0x3f000001", "0xbf800000", "0x477fe000", "0x33800000",
         "0x42b17218", "0xc2cff1b5", "0x49742400"]
RARE_UNARY = ["asinh", "atanh", "cosh", "acos", "sinpi", "tanpi", "fabs", "trunc",
              "precise::exp", "precise::log", "precise::sin", "precise::sqrt",
              "fast::exp", "fast::log", "fast::sin", "fast::cos", "fast::tanh",
              "fast::rsqrt", "precise::rsqrt", "precise::tan", "fast::exp2"]


def base_of(kind):
    return kind.rstrip("234")


def size_of(kind):
    """Components of a vector, 1 of a scalar."""
    return int(kind[-1]) if kind[-1] in "234" else 1


class Variable:
    def __init__(self, name, kind, constant=False, space="thread"):
        self.name, self.kind, self.constant = name, kind, constant
        self.space = space


class Expressions:
    """Makes expressions over self.variables and self.arrays."""

    # Types of variables and of compared values, inputs, function constants.
    common, scalars, comparable = COMMON, SCALARS, COMMON + INTEGERS + REALS
    has_vectors = True
    inputs = ["self", "lane", "index", "at.x", "at.y", "at_group.x", "u.five",
              "u.three", "u.some[0]", "u.some[1]", "group.x", "simdgroup",
              "size.x", "u.scale[1]", "count", "u.width"]
    constants = ["fc_count", "fc_scale", "fc_flag", "MISSING"]

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.variables = []
        self.arrays = []  # (name, element kind, length)
        self.prefix = ""  # of the inputs: "" or "in."
        self.readable = False  # whether threads may look at each other's words

    def pick(self, *choices):
        return self.r.choice(choices)

    def chance(self, probability):
        return self.r.random() < probability

    def any_kind(self):
        """A type for a variable: mostly ordinary ones."""
        if self.chance(0.45):
            return self.pick(*self.common)
        if self.chance(0.55):
            return self.pick(*self.scalars)
        if self.chance(0.6):
            return self.pick("float", "uint", "half", "int") + self.pick(*"234")
        return self.pick(*INTEGERS, *REALS) + self.pick(*"234")

    def with_kind(self, wanted):
        return [v for v in self.variables if wanted(v.kind)]

    # --- indices ---------------------------------------------------------------

    def index(self, limit, depth=2):
        """A uint below limit: constant, uniform, or by thread."""
        p, r = self.prefix, self.r.random()
        if r < 0.25:
            return f"{self.r.randrange(limit)}u"
        if r < 0.4:
            return f"{p}u.{self.pick('five', 'three')} % {limit}u"
        if r < 0.5:
            return f"{p}lane % {limit}u"
        e = self.expression("uint", depth + 1)
        if self.chance(0.3):
            e = f"uint({self.regular(1)})"
        if limit & (limit - 1) == 0:
            return f"{e} & {limit - 1}u"
        return f"{e} % {limit}u"

    def regular(self, depth=0):
        """A number that rises from thread to thread, or parts of one."""
        p, r = self.prefix, self.r.random()
        if depth > 2 or r < 0.1:
            text = p + self.pick("lane", "lane", "index", "at.x", "self", "at.y",
                                 "at_group.x", "at_group.y", "simdgroup", "size.x")
            return f"int({text})" if self.chance(0.15) else text
        a, power = self.regular(depth + 1), self.r.randrange(1, 6)
        if r < 0.75:
            ones = (1 << self.r.randrange(1, 6)) - 1
            return f"({a} " + self.pick(
                f"* {self.pick(2, 3, 4, 8, 12, 16, 64)}", f"<< {power}",
                f">> {power}", f"/ {self.pick(2, 4, 8, 16, 3)}",
                f"% {self.pick(2, 4, 8, 16, 32, 64, 12)}",
                f"& {ones << self.r.randrange(5)}", f"& ~{(1 << power) - 1}",
                f"+ {self.pick(1, 2, 3, 4, 8, 32, 64)}", f"- {self.pick(1, 4, 16)}",
                f"^ {self.pick(1, 2, 3, 4, 8, 31)}", f"| {self.pick(1, 4, 32)}",
                f"+ {p}u.{self.pick('five', 'three', 'width')}",
                f"* {p}u.{self.pick('five', 'width')}", f"+ {p}group.x * 64") + ")"
        if r < 0.8:
            return f"{self.pick('uint', 'ushort', 'ulong', 'int', 'uchar')}({a})"
        if r < 0.85:
            return f"({self.pick(63, 5, 0)} - {a})"
        if r < 0.9:
            b = self.regular(depth + 1)
            return f"({self.condition(3)} ? uint({a}) : uint({b}))"
        return f"({a} {self.pick(*'+++-^|')} {self.regular(depth + 1)})"

    def strided(self):
        """An index by a stride that only the program knows, 0 to 2, or by a
        position as a vector; below 4096."""
        p = self.prefix
        factor = self.pick(f"({p}u.five - 4u)", f"({p}u.three - 3u)",
                           f"({p}u.five - {p}u.three)")
        left, up = self.r.randrange(-3, 4), self.r.randrange(-3, 4)
        vectors = [
            f"place_of(uint2(clamp(int2({p}at.xy) + int2({left}, {up}), int2(0), "
            "int2(30, 120))), 31u)",
            f"place_of(min({p}at.xy * 2u + {self.r.randrange(9)}u, "
            f"uint2({p}u.width, 60u)), 31u)"]
        return self.pick(
            f"{factor} * {p}self + {self.r.randrange(64)}u",
            f"uint(ulong({p}self) * {factor}) + {p}u.five",
            f"int({p}self) * int({factor}) + int({p}u.three)",
            *(vectors if self.has_vectors else []))

    def parted(self):
        """A flat index, taken apart into rows and columns and put together."""
        p = self.prefix
        divisor = self.pick(f"({p}u.five * {self.pick(7, 20, 200)}u)",
                            f"({p}u.width + {self.pick(0, 1, 30)}u)",
                            f"{self.pick(3, 40, 64, 1000)}u")
        flat = self.pick(f"{p}self", f"({p}self + {self.r.randrange(99)}u)",
                         f"({p}self + {divisor} - 1u)")
        if self.chance(0.3):
            divisor, flat = f"max(int({divisor}), 1)", f"int({flat})"
        return self.pick(f"{flat} % {divisor}", f"{flat} / {divisor}",
                         f"{flat} / {divisor} * {self.r.randrange(99)} + "
                         f"{flat} % {divisor}")

    def place(self, limit, depth):
        """An index into an input of limit elements, at least 4096."""
        p, r = self.prefix, self.r.random()
        if self.chance(0.2):
            return self.pick(f"{self.regular()} & {limit - 1}",
                             f"uint({self.regular()}) % {limit}u")
        if self.chance(0.12):
            return self.strided()
        if self.chance(0.1):
            return f"uint({self.parted()}) & {limit - 1}"
        if r < 0.15:
            return f"{p}self"
        if r < 0.25:
            return f"{p}self + {self.r.randrange(999)}u"
        if r < 0.33:
            return f"{self.pick(2, 3, 4)}u * {p}self"
        if r < 0.41:
            return f"{p}at.y * {p}u.width + {p}at.x"
        if r < 0.47:
            return f"({p}self - {self.r.randrange(9)}u) & {limit - 1}u"
        if r < 0.52:
            return f"{p}u.five * {p}u.three + {self.r.randrange(9)}u"
        if r < 0.6:
            return f"min({self.expression('uint', depth + 1)}, {limit - 1}u)"
        if r < 0.66:
            return (f"int({p}self) - int({self.expression('uint', depth + 1)}"
                    " & 63u) + 64")
        return f"{self.expression('uint', depth + 1)} & {limit - 1}u"

    # --- leaves ----------------------------------------------------------------

    def literal(self, kind):
        r = self.r
        if kind == "bool":
            return self.pick("true", "false")
        if kind in REALS:
            if kind == "float" and self.chance(0.1):
                return f"as_type<float>({self.pick(*EDGES)}u)"
            value = self.pick(0.5, -1.25, 3.0, 0.0, -0.0, 1.0, 1e4, -7.5, 0.001)
            return f"{kind}({value}f)"
        bits = WIDTHS[kind]
        value = self.pick(r.randrange(10), r.getrandbits(6), r.getrandbits(bits),
                          2**(bits - 1), 2**bits - 1, 2**(bits - 1) - 1, 1)
        return f"{kind}({value}ul)"

    def load(self, kind, depth):
        p = self.prefix
        if kind == "float":
            return f"{p}x[{self.place(4096, depth)}]"
        if kind == "bool":
            return f"({p}n[{self.place(4096, depth)}] & 1)"
        if kind in ("int", "uint"):
            return f"{kind}({p}n[{self.place(4096, depth)}])"
        limit = 16384 * 8 // WIDTHS[kind]
        if limit < 4096:
            return (f"((device const {kind} *){p}bytes)"
                    f"[{self.expression('uint', depth + 1)} & {limit - 1}u]")
        return f"((device const {kind} *){p}bytes)[{self.place(limit, depth)}]"

    def leaf(self, kind, depth):
        p, r = self.prefix, self.r.random()
        same = self.with_kind(lambda k: k == kind)
        if same and r < 0.45:
            return self.r.choice(same).name
        scalars = self.with_kind(lambda k: size_of(k) == 1)
        if scalars and r < 0.6:
            return f"{kind}({self.r.choice(scalars).name})"
        vectors = self.with_kind(lambda k: size_of(k) > 1)
        if vectors and r < 0.68:
            return self.component(self.r.choice(vectors), kind)
        if r < 0.78:
            return self.literal(kind)
        if r < 0.86:
            name = self.pick(*self.inputs)
            return f"{kind}({p}{name})"
        if r < 0.9:
            return f"{kind}({self.pick(*self.constants)})"
        if r < 0.92:
            return f"{kind}(table[{self.index(8)}])"
        if r < 0.93:
            return f"{kind}(pairs[{self.index(3)}].{self.pick('low', 'high')}[{self.index(2)}])"
        if r < (0.97 if self.readable else 0.945):
            return self.reread(kind)
        return self.load(kind, depth)

    def component(self, variable, kind):
        n = size_of(variable.kind)
        if self.chance(0.6):
            return f"{kind}({variable.name}.{self.r.choice('xyzw'[:n])})"
        return f"{kind}({variable.name}[{self.index(n)}])"

    def element(self, kind):
        """An array's element, if there is an array."""
        if not self.arrays:
            return self.literal(kind)
        name, element, length = self.r.choice(self.arrays)
        text = f"{name}[{self.index(length)}]"
        if size_of(element) > 1:
            text += "." + self.r.choice("xyzw"[:size_of(element)])
        return f"{kind}({text})"

    # --- expressions -----------------------------------------------------------

    def expression(self, kind, depth=0):
        if size_of(kind) > 1:
            return self.vector(kind, depth)
        if kind == "bool":
            return self.condition(depth)
        if depth > 2 or self.chance(0.4):
            return self.leaf(kind, depth)
        if self.chance(0.07):
            return self.element(kind)
        if self.chance(0.07):
            a, b = self.expression(kind, depth + 1), self.expression(kind, depth + 1)
            return f"({self.condition(depth + 1)} ? {a} : {b})"
        if self.chance(0.1):
            other = self.pick(*self.scalars)
            return f"{kind}({self.expression(other, depth + 1)})"
        return self.real(kind, depth) if kind in REALS else self.integer(kind, depth)

    def integer(self, kind, depth):
        r = self.r.random()
        a, b = self.expression(kind, depth + 1), self.expression(kind, depth + 1)
        if r < 0.55:
            op = self.pick(*"+-*&|^+-*", "<<", ">>", "/", "%")
            return f"{kind}({self.operation(a, op, b)})"
        if r < 0.63:
            other = self.expression(self.pick(*INTEGERS), depth + 1)
            return f"{kind}({self.operation(a, self.pick(*'+-*&|^/%'), other)})"
        if r < 0.7:
            return f"{kind}({self.pick('-', '~', '!')}{a})"
        if r < 0.8:
            return self.bits(kind, depth)
        c = self.expression(kind, depth + 1)
        limit = WIDTHS[kind] // 2 - 1
        text = self.pick(
            f"min({a}, {b})", f"max({a}, {b})", f"absdiff({a}, {b})",
            f"addsat({a}, {b})", f"subsat({a}, {b})", f"hadd({a}, {b})",
            f"rhadd({a}, {b})", f"mulhi({a}, {b})", f"madhi({a}, {b}, {c})",
            f"madsat({a}, {b}, {c})", f"rotate({a}, {b})", f"clz({a})",
            f"ctz({a})", f"popcount({a})", f"reverse_bits({a})", f"abs({a})",
            f"clamp({a}, min({b}, {c}), max({b}, {c}))",
            f"select({a}, {b}, {self.condition(depth + 1)})",
            f"extract_bits({a}, uint({b} & {limit}), uint({c} & {limit}))",
            f"insert_bits({a}, {b}, uint({c} & {limit}), {limit}u)")
        if "uint" in text or WIDTHS[kind] < 64:
            return f"{kind}({text})"
        return f"{kind}({a} + {text})"

    def operation(self, a, op, b):
        return f"{a} {op} {b}"

    def bits(self, kind, depth):
        """The bits of a value of another type."""
        d = depth + 1
        return f"{kind}(" + self.pick(
            f"as_type<uint>(clean({self.expression('float', d)}))",
            f"as_type<ushort>(clean({self.expression('half', d)}))",
            f"as_type<short>(clean({self.expression('bfloat', d)}))",
            f"as_type<ulong>({self.vector('uint2', d)})",
            f"as_type<uint>({self.vector('uchar4', d)})",
            f"as_type<int>({self.vector('ushort2', d)})",
            f"as_type<long>({self.vector('short4', d)})") + ")"

    def real(self, kind, depth):
        r = self.r.random()
        a, b = self.expression(kind, depth + 1), self.expression(kind, depth + 1)
        if r < 0.55:
            return f"{kind}({a} {self.pick(*'+-*+-*/')} {b})"
        if r < 0.62:
            return f"{kind}(-{a})"
        if r < 0.7 and kind != "bfloat":
            return f"{kind}({a} * {b} + {self.expression(kind, depth + 1)})"
        f, g = ((a, b) if kind == "float" or kind == "half" and self.chance(0.5)
                else (f"float({a})", f"float({b})"))
        if r < 0.8:
            names = RARE_UNARY if self.chance(0.2) and kind == "float" else REAL_UNARY
            return f"{kind}({self.pick(*names)}({f}))"
        c = "half(2.5f)" if f == a and kind == "half" else "2.5f"
        return f"{kind}(" + self.pick(
            f"fma({f}, {g}, {c})", f"fmin({f}, {g})", f"fmax({f}, {g})",
            f"min({f}, {c})", f"max({f}, {g})", f"fmod({f}, {g})",
            f"clamp({f}, -{c}, {c})", f"mix({f}, {g}, {c})",
            f"step({f}, {g})", f"copysign({f}, clean({g}))",
            f"pow({f}, {c})", f"powr(fabs({f}), {c})", f"atan2({f}, {g})",
            f"ldexp({f}, int({self.expression('int', 3)} & 15))",
            f"select({f}, {g}, {self.condition(depth + 1)})",
            f"smoothstep({f}, {g}, {c})", f"fdim({f}, {g})",
            f"median3({f}, {g}, {c})", f"nextafter({f}, {g})",
            f"pow({f}, {g})", f"fmax3({f}, {g}, {c})",
            f"sincos_sum(float({f}))", f"float(ilogb({f}))",
            f"cross({self.vector('float3', 3)}, {self.vector('float3', 3)}).y",
            f"distance({self.vector('float4', 3)}, {self.vector('float4', 3)})",
            f"dot({self.vector('float3', 3)}, {self.vector('float3', 3)})",
            f"length({self.vector('float2', 3)})") + ")"

    def comparison(self, depth):
        kind = self.pick(*self.comparable)
        return (f"({self.expression(kind, depth + 1)} "
                f"{self.pick('<', '==', '>', '!=', '<=', '>=')} "
                f"{self.expression(kind, depth + 1)})")

    def condition(self, depth=0):
        p, r = self.prefix, self.r.random()
        if r < 0.12:
            return self.uniform_condition()
        flags = self.with_kind(lambda k: k == "bool")
        if flags and r < 0.2:
            return self.r.choice(flags).name
        if depth > 2:
            return f"bool({p}self & {self.pick(1, 2, 4)})"
        if r < 0.72:
            return self.comparison(depth)
        if r < 0.77:
            kind = self.pick("float3", "int4", "uint2", "half4", "short3")
            return (f"{self.pick('any', 'all')}({self.vector(kind, depth + 1)} "
                    f"{self.pick('<', '==', '>=')} {self.vector(kind, depth + 1)})")
        if r < 0.81:
            return (f"{self.pick('isnan', 'isinf', 'isfinite')}"
                    f"({self.expression('float', depth + 1)})")
        if r < 0.83:
            return (f"{self.pick('signbit', 'isnormal')}"
                    f"(clean({self.expression('float', depth + 1)}))")
        if r < 0.85:
            return f"!({self.condition(depth + 1)})"
        return (f"({self.condition(depth + 1)} {self.pick('&&', '||', '!=')} "
                f"{self.condition(depth + 1)})")

    def uniform_condition(self):
        """The same for a whole threadgroup."""
        p = self.prefix
        return self.pick(
            f"({p}u.five > 3)", f"({p}u.three == {p}u.five)",
            f"bool({p}n[{p}u.five] & 1)", f"bool({p}group.x & 1)",
            f"({p}size.x > 7)", "fc_flag", "(fc_count > 4)",
            f"({p}u.scale[1] < {p}x[{p}group.y])")

    def vector(self, kind, depth):
        base, n = base_of(kind), size_of(kind)
        r = self.r.random()
        same = self.with_kind(lambda k: k == kind)
        if same and (r < 0.25 or depth > 2):
            return self.r.choice(same).name
        wide = self.with_kind(lambda k: size_of(k) > 1 and base_of(k) == base)
        if wide and r < 0.4:
            v = self.r.choice(wide)
            letters = self.pick("xyzw", "rgba")[:size_of(v.kind)]
            return v.name + "." + "".join(self.r.choice(letters) for _ in range(n))
        if depth > 2:
            return f"{kind}({self.leaf(base, depth)})"
        if r < 0.5:
            return self.constructed(kind, depth)
        if r < 0.58:
            other = self.pick(*INTEGERS, *REALS) + str(n)
            return f"{kind}({self.vector(other, depth + 1)})"
        if r < 0.65 and base == "float":
            return (f"float{n}(((device const {self.pick('', 'packed_')}float{n} *)"
                    f"{self.prefix}x)[{self.index(1024)}])")
        if r < 0.65:
            limit = 16384 * 8 // (WIDTHS[base] * (4 if n == 3 else n))
            return (f"((device const {kind} *){self.prefix}bytes)"
                    f"[{self.index(limit)}]")
        return self.componentwise(kind, depth)

    def constructed(self, kind, depth):
        base, n = base_of(kind), size_of(kind)
        if self.chance(0.3):
            return f"{kind}({self.expression(base, depth + 1)})"
        if n == 2 or self.chance(0.6):
            parts = [self.expression(base, depth + 2) for _ in range(n)]
        else:
            parts = [self.vector(f"{base}{n - 1}", depth + 1),
                     self.expression(base, depth + 1)]
            self.r.shuffle(parts)
        return f"{kind}({', '.join(parts)})"

    def componentwise(self, kind, depth):
        base = base_of(kind)
        a, b = self.vector(kind, depth + 1), self.vector(kind, depth + 1)
        if self.chance(0.3):
            b = self.expression(base, depth + 1)
        if self.chance(0.6):
            ops = "+-*" if base in REALS else ["+", "-", "*", "&", "|", "^", "/",
                                               "%", "<<", ">>"]
            return f"{kind}({a} {self.r.choice(ops)} {b})"
        b, c = self.vector(kind, depth + 1), self.vector(kind, depth + 1)
        texts = [f"select({a}, {b}, {c} < {b})", f"-{a}"]
        if base != "bfloat":
            texts += [f"min({a}, {b})", f"max({a}, {b})", f"abs({a})"]
        if base in ("float", "half"):
            texts += [f"fma({a}, {b}, {c})", f"floor({a})", f"mix({a}, {b}, {c})",
                      f"sqrt({a})", f"exp({a})"]
        if base == "float":
            texts += [f"normalize({a})"]
        if base in INTEGERS:
            texts += [f"popcount({a})", f"addsat({a}, {b})", f"rotate({a}, {b})",
                      f"mulhi({a}, {b})", f"~{a}"]
        return f"{kind}({self.r.choice(texts)})"
