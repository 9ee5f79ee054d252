# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_source.py: MSL kernels at random, as trees that can be made smaller.

Kernels are free of races. A thread writes only what is its own: 16 words of
output, one element of each strided array, one element of threadgroup memory,
which others read between barriers. Atomics on shared words commute, or use
their results in a way that no order changes. Barriers stand in flow that a
whole threadgroup takes, simdgroup functions anywhere: values of threads that
are not active are not looked at.

A tree: a Block is a list of statements; a statement is a list of lines (str)
and Blocks."""

from random_expressions import (INTEGERS, REALS, Expressions, Variable, base_of,
                                size_of)
from random_features import Block, Features


PRELUDE = """#include <metal_stdlib>
using namespace metal;

struct uniforms {
  uint threads, width, five, three;
  int some[4];
  float scale[4];
};
constant uint table[8] = {7u, 0u, 0x80000000u, 3u, 0xffffu, 12u, 1u, 99u};
struct pair { ushort low[2]; int high[2]; };
constant pair pairs[3] = {{{1, 2}, {-3, 4}}, {{65535, 0}, {7}}, {{9, 8}, {0x7fffffff, -1}}};
constant uint fc_count [[function_constant(0)]];
constant uint fc_missing [[function_constant(1)]];
constant float fc_scale [[function_constant(2)]];
constant bool fc_flag [[function_constant(4)]];
#define MISSING (is_function_constant_defined(fc_missing) ? fc_missing : 6u)

struct input {
  device const float *x;
  device const int *n;
  device const uchar *bytes;
  device uint *out;
  device atomic_uint *shared;
  constant uniforms &u;
  threadgroup uint *held;
  uint3 at, at_group, size, group;
  uint index, lane, simdgroup, count, self;
};

template <typename T, typename B, B quiet>
T clean_bits(T f, B infinity) {
  return B(as_type<B>(f) & quiet) > infinity ? T(7) : f;
}
float clean(float f) { return clean_bits<float, uint, 0x7fffffffu>(f, 0x7f800000u); }
half clean(half f) { return clean_bits<half, ushort, 0x7fff>(f, 0x7c00); }
bfloat clean(bfloat f) { return clean_bits<bfloat, ushort, 0x7fff>(f, 0x7f80); }
template <typename T> T clean(T v) { return v; }
template <typename T, int N> vec<T, N> clean(vec<T, N> v) {
  for (int i = 0; i < N; ++i) { v[i] = clean(v[i]); }
  return v;
}
uint place_of(uint2 q, uint width) { return q.y * width + q.x; }
uint bits(bool v) { return v ? 5 : 3; }
uint bits(char v) { return uint(v); }
uint bits(uchar v) { return uint(v); }
uint bits(short v) { return uint(v); }
uint bits(ushort v) { return uint(v); }
uint bits(int v) { return uint(v); }
uint bits(uint v) { return v; }
uint bits(ulong v) { return uint(v ^ (v >> 32)); }
uint bits(long v) { return bits(ulong(v)); }
uint bits(float v) { return as_type<uint>(clean(v)); }
uint bits(half v) { return as_type<ushort>(clean(v)); }
uint bits(bfloat v) { return as_type<ushort>(clean(v)); }
template <typename T, int N> uint bits(vec<T, N> v) {
  uint r = 0;
  for (int i = 0; i < N; ++i) { r = r * 31 + bits(v[i]); }
  return r;
}
uint active() { return uint(ulong(simd_active_threads_mask())); }
// simd_shuffle, or one's own value where nobody is at the other end.
template <typename T> T pulled(T v, uint lane) {
  const uint mask = active();
  const T r = simd_shuffle(v, ushort(lane & 31));
  return (mask >> (lane & 31)) & 1 ? r : v;
}
template <typename T> T pulled_xor(T v, uint lane, uint mask) {
  const uint there = active();
  const T r = simd_shuffle_xor(v, ushort(mask & 31));
  return (there >> ((lane ^ mask) & 31)) & 1 ? r : v;
}
template <typename T> T quad_pulled(T v, uint lane, uint from) {
  const uint there = active() >> (lane & 28);
  const T r = quad_broadcast(v, ushort(from & 3));
  return (there >> (from & 3)) & 1 ? r : v;
}
uint exchanged(threadgroup uint *held, uint index, uint mine, uint other) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  held[index] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return held[other];
}
template <typename T, int N> T total(thread const T (&a)[N], uint from) {
  T sum = T(0);
  for (uint i = from % N; i < uint(N); ++i) { sum = T(sum + a[i]); }
  return sum;
}
uint exchanged_near(threadgroup uint *held, uint index, uint count, uint mine,
                    uint other) {
  const uint first = index & ~31u, there = min(32u, count - first);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  held[index] = mine;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  return held[first + other % there];
}
template <typename T> void exchange_values(thread T &a, thread T &b) {
  const T kept = a;
  a = b;
  b = kept;
}
template <typename T>
bool order_values(thread T *a, thread T *b, uint rounds) {
  for (uint i = 0; i < rounds; ++i) {
    if (*a < *b) { return false; }
    exchange_values(*a, *b);
    *b = T(*b + T(i));
  }
  return true;
}
uint climbed(uint n, thread uint &acc) {
  acc = acc * 31u + n;
  if (n == 0u) { return acc; }
  return (n & 1u) ? climbed(n >> 1, acc) : climbed(n - 1u, acc) ^ n;
}
float sincos_sum(float v) { float c; const float s = sincos(v, c); return s - c; }
uint twist0(uint v) { return v * 3u + 1u; }
uint twist1(uint v) { uint r = v; for (uint i = 0; i < (v & 3u); ++i) { r ^= r >> 3; } return r; }
uint twist2(uint v) { if (v & 1u) { return v / 3u; } return ~v; }
"""

PARAMETERS = """    device const float *x [[buffer(0)]],
    device const int *n [[buffer(1)]],
    device const uchar *bytes [[buffer(2)]],
    device uint *out [[buffer(3)]],
    device atomic_uint *shared [[buffer(4)]],
    constant uniforms &u [[buffer(5)]],
    threadgroup uint *held [[threadgroup(0)]],
    uint3 at [[thread_position_in_grid]],
    uint3 at_group [[thread_position_in_threadgroup]],
    uint3 size [[threads_per_threadgroup]],
    uint3 group [[threadgroup_position_in_grid]],
    uint3 grid [[threads_per_grid]],
    uint index [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]"""


class Place:
    """What may stand where: a block's surroundings."""

    def __init__(self, depth=0, uniform=True, can_break=False,
                 can_continue=False, result=None):
        self.depth, self.uniform = depth, uniform
        self.can_break, self.can_continue = can_break, can_continue
        self.result = result  # what `return` takes; None in kernels
        self.steady = False  # in a loop that a whole threadgroup goes through

    def inside(self, uniform, can_break=None, can_continue=None):
        inner = Place(self.depth + 1, self.uniform and uniform,
                      self.can_break if can_break is None else can_break,
                      self.can_continue if can_continue is None else can_continue,
                      self.result)
        inner.steady = self.steady and inner.uniform
        return inner


class Maker(Features, Expressions):
    """Makes the functions of one kernel."""

    # Types of arrays' elements, and of the one in the struct.
    elements = ["uint", "float", "half", "float4", "uchar", "ulong", "int", "short3"]
    listed, first = "float", ["uint", "float", "int"]
    helper_counts = (0, 0, 0, 1, 1, 2)
    variable_counts = range(4, 9)
    statement_counts = range(2, 8)

    def __init__(self, seed, name):
        super().__init__(seed)
        self.serial = 0
        self.in_middle = 0  # of loops that are entered in the middle
        self.helpers = []  # (name, result, [kinds])
        self.declared = set()  # names of structs that there are
        self.structs = []
        self.whole = self.chance(0.2)
        self.barriers = self.chance(0.45)
        self.collectives = self.chance(0.5)
        self.atomics = self.chance(0.3)
        self.returns = not self.barriers and self.chance(0.5)
        self.name = f"{'whole' if self.whole else 'kernel'}_{name}"

    def fresh(self, letter):
        self.serial += 1
        return f"{letter}{self.serial}_{self.name}"[:40] if letter == "h" \
            else f"{letter}{self.serial}"

    # --- places that can be written ---------------------------------------------

    def target(self):
        """(text, kind) of something assignable."""
        r = self.r.random()
        plain = [v for v in self.variables if not v.constant]
        if self.arrays and r < 0.2 or not plain:
            name, kind, length = self.r.choice(self.arrays)
            text = f"{name}[{self.index(length)}]"
            return self.part(text, kind)
        v = self.r.choice(plain)
        return self.part(v.name, v.kind)

    def part(self, text, kind):
        n = size_of(kind)
        if n == 1 or self.chance(0.4):
            return text, kind
        base = base_of(kind)
        if self.chance(0.3):
            return f"{text}[{self.index(n)}]", base
        count = self.r.randrange(1, n + 1)
        letters = self.r.sample("xyzw"[:n], count)
        return (f"{text}.{''.join(letters)}",
                base if count == 1 else f"{base}{count}")

    def assignment(self):
        text, kind = self.target()
        value = self.expression(kind)
        if base_of(kind) == "bool" or self.chance(0.5):
            return f"{text} = {value};"
        op = self.pick(*"+-*") if base_of(kind) in REALS else self.pick(*"+-*^&|")
        return f"{text} = {kind}({text} {op} {value});"

    def store(self):
        p, r = self.prefix, self.r.random()
        if r < 0.3:
            kind = self.pick(*self.common)
            return f"{p}out[16 * {p}self + ({self.index(16)})] = bits({self.expression(kind)});"
        if r < 0.5:
            return (f"{p}out[16384 + ({self.index(16)}) * {p}u.threads + {p}self]"
                    f" {self.pick('=', '+=', '^=')} bits({self.expression(self.pick(*self.common))});")
        if r < 0.6:
            kind = self.pick("ushort", "short", "half")
            return (f"((device {kind} *){p}out)[81920 + ({self.index(8)}) * "
                    f"{p}u.threads + {p}self] = clean({self.expression(kind)});")
        if r < 0.7:
            kind = self.pick("uchar", "char")
            return (f"((device {kind} *){p}out)[196608 + ({self.index(16)}) * "
                    f"{p}u.threads + {p}self] = {self.expression(kind)};")
        if r < 0.78:
            return f"((device float4 *)({p}out + 57344))[{p}self] = clean({self.vector('float4', 1)});"
        if r < 0.84:
            return f"((device packed_float3 *)({p}out + 61440))[{p}self] = clean({self.vector('float3', 1)});"
        kind, per = self.pick(("ulong", 8), ("ushort", 32), ("uchar", 64),
                              ("float4", 4), ("half2", 16), ("float", 16),
                              ("int4", 4), ("char4", 16), ("bfloat", 32))
        return (f"((device {kind} *){p}out)[{per} * {p}self + "
                f"({self.index(per)})] = clean({self.expression(kind)});")

    # --- simdgroups and atomics ---------------------------------------------------

    def collective(self):
        p = self.prefix
        plain = [v for v in self.variables if not v.constant and v.kind != "bool"
                 and base_of(v.kind) != "bfloat"
                 and base_of(v.kind) not in ("long", "ulong")]
        if not plain:
            return self.store()
        v = self.r.choice(plain)
        e = self.expression(v.kind, 2)
        lane = self.expression("uint", 2)
        whole = "active() == 0xffffffffu"
        near = self.r.randrange(20)
        texts = [f"pulled({e}, {lane})", f"pulled_xor({e}, {p}lane, {near}u)",
                 f"quad_pulled({e}, {p}lane, {lane})",
                 f"simd_broadcast_first({e})",
                 f"simd_sum({e})", f"simd_prefix_exclusive_sum({e})",
                 f"simd_min({e})", f"simd_max({e})", f"simd_product({e})",
                 f"simd_prefix_inclusive_sum({e})",
                 f"simd_prefix_inclusive_product({e})",
                 f"simd_prefix_exclusive_product({e})",
                 f"({whole} ? simd_shuffle_up({e}, {near}) : {v.name})",
                 f"({whole} ? simd_shuffle_down({e}, {near}) : {v.name})",
                 f"({whole} ? simd_shuffle_rotate_up({e}, {near}) : {v.name})",
                 f"({whole} ? simd_shuffle_rotate_down({e}, {near}) : {v.name})",
                 f"({whole} ? simd_shuffle_and_fill_up({e}, {v.name}, {near}) : {v.name})",
                 f"({whole} ? simd_shuffle_and_fill_down({e}, {v.name}, {near}, 8) : {v.name})",
                 f"({whole} ? quad_shuffle_xor({e}, 1) : {v.name})",
                 f"({whole} ? quad_shuffle_up({e}, 1) : {v.name})",
                 f"quad_sum({e})", f"quad_max({e})",
                 f"quad_prefix_exclusive_sum({e})"]
        if base_of(v.kind) in INTEGERS:
            texts += [f"simd_and({e})", f"simd_or({e})", f"simd_xor({e})",
                      f"quad_xor({e})"]
        if size_of(v.kind) == 1:
            texts += [f"ulong(simd_ballot({self.condition(2)}))",
                      f"simd_is_first()", f"popcount(active())",
                      f"simd_all({self.condition(2)})",
                      f"ulong(quad_vote::vote_t(quad_ballot({self.condition(2)})))"]
        return f"{v.name} = {v.kind}({self.r.choice(texts)});"

    def atomic(self):
        p, r = self.prefix, self.r.random()
        op = self.pick("add", "sub", "min", "max", "and", "or", "xor")
        if r < 0.3:  # anybody's word: the result stays unused
            word = 16 + ["add", "min", "max", "and", "or", "xor"].index(
                "add" if op == "sub" else op) * 8
            return (f"atomic_fetch_{op}_explicit({p}shared + {word} + ({self.index(8)}), "
                    f"{self.expression('uint', 2)}, memory_order_relaxed);")
        if r < 0.5:  # a ticket: which ones are taken, no order changes
            i = self.r.randrange(8)
            return (f"atomic_fetch_xor_explicit({p}shared + 8 + {i}, "
                    f"twist1(atomic_fetch_add_explicit({p}shared + {i}, 1u, "
                    "memory_order_relaxed) * 77u), memory_order_relaxed);")
        kind = self.pick("uint", "int", "float")
        own = f"(device atomic_{kind} *)({p}out + 16 * {p}self + ({self.index(16)}))"
        plain = [v for v in self.variables if not v.constant and size_of(v.kind) == 1]
        if not plain:
            return self.store()
        v = self.r.choice(plain)
        if kind == "float":
            return (f"atomic_store_explicit({own}, clean({self.expression('float', 2)}),"
                    " memory_order_relaxed);")
        value = self.expression(kind, 2)
        if r < 0.6:
            return f"{v.name} = {v.kind}(atomic_exchange_explicit({own}, {value}, memory_order_relaxed));"
        if r < 0.7:
            return (f"{{ {kind} e = {self.expression(kind, 2)}; bool b = "
                    f"atomic_compare_exchange_weak_explicit({own}, &e, {value}, "
                    f"memory_order_relaxed, memory_order_relaxed); {v.name} = {v.kind}(e + b); }}")
        return f"{v.name} = {v.kind}(atomic_fetch_{op}_explicit({own}, {value}, memory_order_relaxed));"

    # --- control flow ----------------------------------------------------------------

    def bound(self):
        """(text, whether all threads have the same)"""
        p = self.prefix
        if self.chance(0.4):
            return self.pick(f"{p}u.five", f"{p}u.three", "4u", "fc_count",
                             f"({p}group.x & 3u)"), True
        return f"({self.expression('uint', 2)} & {self.pick(3, 7, 15)}u)", False

    def loop(self, place):
        k = self.fresh("k")
        bound, uniform = self.bound()
        inner = place.inside(uniform, not uniform or not place.uniform,
                             not uniform or not place.uniform)
        if self.barriers and place.uniform and uniform:
            inner.can_break = inner.can_continue = False
            inner.steady = True
        r = self.r.random()
        counter = Variable(k, "int" if 0.45 <= r < 0.55 else "uint", constant=True)
        body = self.block(inner, counter)
        if r < 0.45:
            return [f"for (uint {k} = 0; {k} < {bound}; {k}++)", body]
        if r < 0.55:
            return [f"for (int {k} = int({bound}); {k} > 0; {k} -= 2)", body]
        inner.uniform = False
        if r < 0.65:
            return Block([[f"uint {k} = 0;"], ["do", body, f"while (++{k} < {bound});"]])
        free = place.inside(False, True, True)
        body = self.block(free, counter)
        test = self.condition(1)
        if self.collectives and self.chance(0.2):
            test = f"simd_any({test})"
        if r < 0.85:
            return Block([[f"uint {k} = 0;"], [f"while ({k}++ < 9u && {test})", body]])
        # Into the middle of a loop: flow that is not reducible, where nobody
        # says which threads are active together.
        saved, self.collectives = self.collectives, False
        self.in_middle += 1
        body, *others = (self.block(free, counter) for _ in range(3))
        test = self.condition(1)
        self.collectives = saved
        self.in_middle -= 1
        return Block([[f"uint {k} = 0;"],
                      [f"switch (3u & {self.expression('uint', 2)}) {{",
                       "case 0: do {", body, "case 1:", others[0],
                       "default:", others[1],
                       f"}} while (++{k} < 5u && {test}); }}"]])

    def switch(self, place):
        lines = [f"switch (3 & {self.expression(self.pick('uint', 'int', 'uchar'), 1)}) {{"]
        inner = place.inside(False, True)
        inner.steady = False
        for value in range(self.r.randrange(2, 5)):
            lines += [f"case {value}:", self.block(inner)]
            if self.chance(0.7):
                lines += ["break;"]
        if self.chance(0.4):
            lines += ["default:", self.block(inner)]
        return lines + ["}"]

    def branch(self, place):
        uniform = self.chance(0.25)
        test = self.uniform_condition() if uniform else self.condition()
        if self.collectives and not uniform and self.chance(0.15):
            test = self.pick("simd_any", "simd_all", "quad_any") + f"({test})"
        inner = place.inside(uniform)
        lines = [f"if ({test})", self.block(inner)]
        if self.chance(0.4):
            lines += ["else", self.block(inner)]
        return lines

    def barrier(self):
        """Values of other threads; sometimes ones that steer all threads."""
        p = self.prefix
        mine, other = self.expression("uint", 1), self.expression("uint", 2)
        r = self.r.random()
        fence = "threadgroup_barrier(mem_flags::mem_threadgroup);"
        if r < 0.3:
            v = Variable(self.fresh("s"), "uint", constant=True)
            text = (f"const uint {v.name} = exchanged({p}held, {p}index, {mine}, "
                    f"{p}u.five % {p}count);")
            return Block([[text], [f"if ({v.name} & 1u)",
                                   self.block(Place(3, True), v)]])
        plain = [v for v in self.variables if not v.constant
                 and size_of(v.kind) == 1] or [Variable("own", "uint")]
        v = self.r.choice(plain)
        if r < 0.7:
            return [f"{v.name} = {v.kind}(exchanged({p}held, {p}index, {mine}, "
                    f"{other} % {p}count));"]
        op = self.pick("add", "max", "xor")
        return Block([[fence], [f"{p}held[{p}index] = 0;"], [fence],
                      [f"if ({self.condition(2)}) atomic_fetch_{op}_explicit("
                       f"(threadgroup atomic_uint *){p}held + ({other} % {p}count), "
                       f"{mine}, memory_order_relaxed);"],
                      [fence],
                      [f"{v.name} = {v.kind}({p}held[{other} % {p}count]);"]])

    def tiles(self):
        """A product of 8 x 8 matrices by whole simdgroups."""
        p = self.prefix
        kind = self.pick("float", "half")
        a, b, c = (self.fresh("m") for _ in range(3))
        source = f"(device const float *){p}x + 64 * ({p}simdgroup + {p}u.five)"
        return Block([
            [f"simdgroup_matrix<{kind}, 8, 8> {a} = simdgroup_matrix<{kind}, 8, 8>({kind}(1.5f)), {b};"],
            [f"simdgroup_matrix<float, 8, 8> {c}, {c}x;"],
            [f"simdgroup_load({c}x, {source}, {self.pick(8, 16)});"],
            [f"{b}.thread_elements()[0] = {kind}({c}x.thread_elements()[1]);"],
            [f"{b}.thread_elements()[1] = {kind}({self.expression('float', 2)});"],
            [f"{a}.thread_elements()[1] = {kind}({c}x.thread_elements()[0]);"],
            [f"simdgroup_multiply({c}, {a}, {b});"],
            [f"simdgroup_multiply_accumulate({c}, {a}, {b}, {c}x);"],
            [f"{p}out[16 * {p}self + 3] = bits({c}.thread_elements()[0] + {c}.thread_elements()[1]);"]])

    def call(self):
        p = self.prefix
        name, result, kinds = self.r.choice(self.helpers)
        plain = [v for v in self.variables if not v.constant and
                 v.kind == kinds[-1] and v.space == "thread"]
        if not plain:
            return self.store()
        given = [self.expression(k, 2) for k in kinds[:-1]]
        given.append(self.r.choice(plain).name)
        text = f"{name}(in, {', '.join(given)})"
        targets = [v for v in self.variables if not v.constant and
                   size_of(v.kind) == size_of(result) and v.kind != "bool"]
        if not targets:
            return f"{p}out[16 * {p}self] = bits({text});"
        v = self.r.choice(targets)
        return f"{v.name} = {v.kind}({text});"

    def declaration(self):
        kind = self.any_kind()
        text = f"{kind} {{}} = {self.expression(kind)};"
        v = Variable(self.fresh("d"), kind)
        self.variables.append(v)
        return text.format(v.name)

    def odd(self):
        """What does not fit elsewhere: pointers, functions by pointer, parts."""
        p, r = self.prefix, self.r.random()
        plain = [v for v in self.variables if not v.constant and size_of(v.kind) == 1]
        if not plain:
            return self.store()
        v = self.r.choice(plain)
        if r < 0.25:
            return (f"{{ uint (*f)(uint) = {self.condition(2)} ? twist0 : "
                    f"{self.pick('twist1', 'twist2')}; "
                    f"{v.name} = {v.kind}(f({self.expression('uint', 1)})); }}")
        if r < 0.45 and self.arrays:
            name, kind, length = self.r.choice(self.arrays)
            if size_of(kind) == 1 and kind != "bool":
                return f"{v.name} = {v.kind}(total({name}, {self.expression('uint', 2)}));"
        if r < 0.6:
            return (f"{{ float whole; float part = modf({self.expression('float', 1)}, whole); "
                    f"{v.name} = {v.kind}(whole - part); }}")
        if r < 0.75:
            return (f"{{ int e; float part = frexp(clean({self.expression('float', 1)}), e); "
                    f"{v.name} = {v.kind}(part + float(e & 255)); }}")
        return (f"{{ device const float *q = {p}x + ({self.expression('uint', 2)} & 1023u); "
                f"for (uint i = 0; i < {p}u.five; ++i) {{ {v.name} = {v.kind}({v.name} + *q); "
                f"q += {self.pick('1', '7', p + 'u.three')}; }} }}")

    def statement(self, place):
        r = self.r.random()
        if place.depth > 4 or r < 0.3:
            return [self.assignment()]
        if r < 0.42:
            return [self.store()]
        if r < 0.48:
            return [self.declaration()]
        if r < 0.52:
            return [self.odd()]
        if r < 0.57:
            return self.feature(place)
        if r < 0.58 and place.steady:
            return [f"if ({self.uniform_condition()}) {self.pick('break', 'continue')};"]
        if r < 0.64:
            return self.branch(place)
        if r < 0.75:
            return self.loop(place)
        if r < 0.78:
            return self.switch(place)
        if r < 0.82 and self.helpers and not self.in_middle:
            return [self.call()]
        if r < 0.86 and place.can_break:
            return [f"if ({self.condition()}) break;"]
        if r < 0.89 and place.can_continue:
            return [f"if ({self.condition()}) continue;"]
        if r < 0.91 and place.result:
            return [f"if ({self.condition()}) return {self.expression(place.result, 2)};"]
        if r < 0.91 and self.returns and place.result is None:
            return [f"if (bool({self.prefix}self & {self.pick(1, 4, 16)}u) && "
                    f"{self.condition(1)}) return;"]
        if self.barriers and place.uniform and place.result is None:
            if self.whole and self.chance(0.3):
                return self.tiles()
            return self.barrier()
        if self.collectives and r < 0.97:
            return [self.collective()]
        if self.atomics:
            return [self.atomic()]
        return [self.assignment()]

    def block(self, place, *more):
        """A block with variables of its own, and more that it sees."""
        saved = list(self.variables)
        self.variables += more
        made = Block(self.statement(place) for _ in range(self.r.randrange(1, 3)))
        self.variables = saved
        return made

    # --- functions -------------------------------------------------------------------

    def pool(self, count):
        """Declares variables and arrays. Lines are statements of their own."""
        lines = Block()
        for i in range(count):
            kind = self.any_kind() if i > 2 else self.first[i]
            name = f"v{i}"
            lines.append([f"{kind} {name} = {self.expression(kind, 2)};"])
            self.variables.append(Variable(name, kind))
        for i in range(self.r.randrange(3)):
            kind = self.pick(*self.elements)
            length = self.pick(3, 4, 5, 8, 17)
            values = ", ".join(self.literal(base_of(kind)) for _ in range(min(length, 4)))
            if size_of(kind) > 1:
                values = ", ".join(f"{kind}({v})" for v in values.split(", "))
            lines.append([f"{kind} a{i}[{length}] = {{{values}}};"])
            self.arrays.append((f"a{i}", kind, length))
        self.declared.clear()
        if self.chance(0.35):
            self.declared.add("w")
            lines.append([f"parts_{self.name} s = {{}}, w[3] = {{}};"])
            for text in ("s", f"w[{self.index(3)}]"):
                for member, kind in self.structs:
                    self.variables.append(Variable(f"{text}.{member}", kind))
            self.arrays += [("s.list", self.listed, 4), ("w[1].list", self.listed, 4)]
        return lines

    def helper(self):
        name, result = self.fresh("h"), self.any_kind()
        kinds = [self.any_kind() for _ in range(self.r.randrange(1, 4))]
        self.variables, self.arrays, self.prefix = [], [], "in."
        self.variables = [Variable(f"p{i}", k) for i, k in enumerate(kinds)]
        saved, self.returns = self.returns, True
        body = self.pool(self.r.randrange(3, 5)) + [
            self.statement(Place(2, False, result=result))
            for _ in range(self.r.randrange(1, 4))]
        body.append([f"return {self.expression(result, 1)};"])
        self.returns = saved
        parameters = ", ".join(f"{k} p{i}" for i, k in enumerate(kinds[:-1]))
        last = f"thread {kinds[-1]} &p{len(kinds) - 1}"
        head = (f"{self.pick('', 'inline ', '__attribute__((noinline)) ')}{result} "
                f"{name}(thread const input &in, {parameters}"
                f"{', ' if parameters else ''}{last})")
        self.helpers.append((name, result, kinds))
        return [head, Block(body)]

    def record(self):
        """A struct of members of any kind, with a method."""
        self.structs = [(f"m{i}", self.any_kind())
                        for i in range(self.r.randrange(2, 5))]
        members = "".join(f"  {k} {m};\n" for m, k in self.structs)
        sums = " ^ ".join(f"bits({m})" for m, _ in self.structs)
        return (f"struct parts_{self.name} {{\n{members}  {self.listed} list[4];\n"
                f"  uint digest() const {{ return {sums} ^ bits(list[1]); }}\n}};\n")

    def functions(self):
        """[[head, Block]...]: the helpers, then the kernel."""
        made = [self.helper() for _ in range(self.pick(*self.helper_counts))]
        self.variables, self.arrays = [], []
        self.prefix = self.pick("", "in.")
        body = self.pool(self.pick(*self.variable_counts)) + self.own_memory()
        for _ in range(self.pick(*self.statement_counts)):
            place = Place()
            body.append(self.feature(place) if self.chance(0.25)
                        else self.statement(place))
        p = self.prefix
        for i, v in enumerate(self.variables[-14:]):
            body.append([f"{p}out[16 * {p}self + {i}] ^= bits({v.name});"])
        body += [[f"{v.name} = clean({v.name});"] for v in self.variables
                 if v.space == "device"]
        for i, (name, kind, length) in enumerate(self.arrays):
            body.append([f"{p}out[16 * {p}self + {14 + i % 2}] += bits({name}[{self.index(length)}]);"])
        head = (f"kernel void {self.name}(\n{PARAMETERS})")
        return made + [[head, Block(body)]]


class SmallMaker(Maker):
    """Makes kernels of a few statements, of which a short run has thousands."""

    helper_counts, variable_counts, statement_counts = (0,), (3,), (1, 2)


OPENING = """  const uint count = size.x * size.y * size.z;
  const uint self = at.x + grid.x * (at.y + grid.y * at.z);
  const input in = {x, n, bytes, out, shared, u, held, at, at_group, size, group,
                    index, lane, simdgroup, count, self};
  uint own = self;
"""


def text_of(part, indent=0):
    if isinstance(part, str):
        return "  " * indent + part + "\n"
    inner = indent + isinstance(part, Block)
    text = "".join(text_of(p, inner) for p in part)
    if isinstance(part, Block):
        return "  " * indent + "{\n" + text + "  " * indent + "}\n"
    return text


def kernel_source(record, functions):
    text = record
    for head, body in functions:
        opening = OPENING if head.startswith("kernel ") else ""
        lines = "".join(text_of(statement, 1) for statement in body)
        text += f"{head} {{\n{opening}{lines}}}\n"
    return text


class Program:
    """One kernel, its helpers and its struct."""

    def __init__(self, record, functions, name):
        self.record, self.functions, self.name = record, functions, name

    @staticmethod
    def random(seed, name, kind=Maker):
        maker = kind(seed, name)
        record = maker.record()
        return Program(record, maker.functions(), maker.name)

    def text(self):
        return kernel_source(self.record, self.functions)


def math_mode(seed):
    return ("fast", "safe", "relaxed")[seed % 3]


def source_of(programs, mode, more=""):
    return f"// math: {mode}\n{PRELUDE}{more}\n" + "\n".join(p.text() for p in programs)
