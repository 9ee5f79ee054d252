# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_plants.py: bugs that are planted in random kernels: statements of
blocks of their own, of which each finding names a line with MARK."""

MARK = "/* planted */"
BARRIER = "threadgroup_barrier(mem_flags::{});"
NEXT = "(index + 1u) % count"
OUT = "out[16u * self + 2u] ^= "


def marked(text):
    return f"{text} {MARK}"


def outside(r):
    """(kind, lines) of an index out of bounds."""
    n = r.randrange(1, 9)
    return r.choice([
        ("bounds.device", [marked(f"{OUT}bits(x[4095u + {n}u]);")]),
        ("bounds.device", [marked(f"{OUT}bits(x[4096u * ({n}u + self)]);")]),
        ("bounds.device", [marked(f"{OUT}uint(n[int(index) - {4096 + n}]);")]),
        ("bounds.device", [marked(f"out[131072u + {n}u * self] = {n}u;")]),
        ("bounds.device",
         [marked(f"((device uchar *)out)[524288u + self * {n}u] = 1;")]),
        ("bounds.device", [marked(f"{OUT}uint(((device const short *)bytes)[8191u + {n}u]);")]),
        ("bounds.device",
         [marked("{} bits(((device const float4 *)x)[1024u + lane]);".format(OUT))]),
        ("bounds.device",
         [marked("{} bits(float3(((device const packed_float3 *)x)[1365u]));".format(OUT))]),
        ("bounds.device",
         [marked(f"atomic_fetch_add_explicit(shared + 79u + {n}u, 1u, memory_order_relaxed);")]),
        ("bounds.threadgroup", [marked(f"held[511u + {n}u] = 5u;")]),
        ("bounds.threadgroup",
         ["threadgroup uint room[9];", marked(f"room[9u * ({n}u + index)] = 1u;")]),
        ("bounds.threadgroup",
         [f"threadgroup uchar room[{n}];", marked(f"{OUT}room[{n}u + (index & 1u)];")]),
        ("bounds.private",
         ["uint a[4] = {1u, 2u, 3u, 4u};", marked(f"{OUT}a[(self & 3u) + {n}u];")]),
        ("bounds.private",
         [f"float3 a[{n}] = {{}};", marked(f"a[uint({n}) + (lane & 1u)].y = 2.0f;"),
          f"{OUT}bits(a[0]);"]),
        ("bounds.constant", [marked(f"{OUT}table[(lane & 7u) + {n + 7}u];")]),
        ("bounds.subobject", [marked(f"{OUT}uint(u.some[3u + min({n}u, 4u)]);")])])


def unordered(r):
    """A barrier that is left out, or is of other memory."""
    flags = r.choice(["mem_none", "mem_device", "mem_texture"])
    wrong = r.choice(["", "", BARRIER.format(flags)])
    return r.choice([
        ("race.threadgroup",
         [marked("held[index] = self + 1u;"), wrong, marked(f"{OUT}held[{NEXT}];")]),
        ("race.threadgroup",
         ["held[index] = self;", BARRIER.format("mem_threadgroup"),
          marked(f"const uint other = held[{NEXT}];"), wrong,
          marked("held[index] = other + 1u;")]),
        ("race.threadgroup",
         ["held[index] = self;", BARRIER.format("mem_threadgroup"),
          "for (uint s = 1u; s < count; s *= 2u) {",
          marked("if (index % (2u * s) == 0u && index + s < count) held[index] += held[index + s];"),
          wrong, "}"]),
        ("race.threadgroup",
         ["threadgroup uint room[257];",
          marked("room[index] = self;"), marked("room[index + 1u] = self + 3u;")]),
        ("race.threadgroup",
         ["threadgroup ushort first;", marked("if (index == 0u) first = ushort(self);"),
          wrong, marked(f"{OUT}first;")]),
        ("race.threadgroup",
         ["threadgroup uchar small[256];", marked("small[index] = uchar(self);"),
          wrong, marked(f"{OUT}small[{NEXT}];")]),
        ("race.threadgroup",
         ["threadgroup float4 wide[256];",
          marked("wide[index].yz = float2(index);"), wrong,
          marked(f"{OUT}bits(wide[{NEXT}].z);")]),
        ("race.device",
         [marked("out[125000u + index] = self;"),
          BARRIER.format("mem_threadgroup"),
          marked(f"{OUT}out[125000u + {NEXT}];")])])


def plain(r):
    """An atomic that is none."""
    word = r.randrange(64, 80)
    one = f"((device uint *)shared)[{word}]"
    own = f"atomic_fetch_add_explicit(shared + {word}, 1u, memory_order_relaxed);"
    own = r.choice([own, own.replace("_add", "_max"), own.replace("_add", "_xor")])
    return r.choice([
        ("race.device", [marked(f"{one} += self + 1u;")]),
        ("race.device", [marked(f"{one} = self;")]),
        ("race.device", [marked(own), marked(f"{OUT}{one};")]),
        ("race.device", [marked(f"if (self == 3u) {one} = 7u;"), marked(own)]),
        ("race.device", [marked(f"((device ushort *)shared)[{2 * word}] += ushort(self + 1u);")]),
        ("race.device",
         [marked(f"{one} = max({one}, self);")]),
        ("race.threadgroup",
         [marked("held[0] = index;"), BARRIER.format("mem_threadgroup"),
          marked("held[0] += index;")]),
        ("race.threadgroup",
         ["if (index == 0u) held[0] = 0u;", BARRIER.format("mem_threadgroup"),
          marked("atomic_fetch_add_explicit((threadgroup atomic_uint *)held, 1u, memory_order_relaxed);"),
          marked(f"{OUT}held[0];")])])


def unset(r):
    """A variable without a value."""
    n = r.randrange(1, 7)
    return r.choice([
        ("init.private",
         ["uint p;", f"if ((self & 1u) == 1u) p = self + {n}u;", marked(f"{OUT}p;")]),
        ("init.private",
         ["float q[4];", "q[lane & 1u] = 1.0f;", marked(f"{OUT}bits(q[2u + (lane & 1u)]);")]),
        ("init.private",
         ["uint p;", "for (uint i = 0u; i < (self & 3u); ++i) p = i;",
          marked("if (p > 1u) out[16u * self] ^= 1u;")]),
        ("init.private",
         ["pair p;", "p.high[0] = 3;", "p.low[0] = 1;",
          marked(f"{OUT}uint(p.low[1]) ^ uint(p.high[0]);")]),
        ("init.private",
         ["uint4 v;", "v.x = self;", "v.w = 1u;", marked(f"{OUT}v.x ^ v.z;")]),
        ("init.private",
         ["float l[3];", "l[0] = 1.0f;", "l[2] = float(lane);",
          marked(f"{OUT}bits(total(l, 0u));")]),
        ("init.private",
         ["uint p;", "if (index > 0u) p = 1u;", marked(f"{OUT}bits(x[p & 7u]);")]),
        ("init.private",
         ["ushort p;", "if (lane > 1u) p = ushort(lane);",
          marked(f"switch (p & 3u) {{ case 1: out[16u * self] ^= 9u; break; default: out[16u * self] ^= {n}u; }}")]),
        ("init.private",
         ["float p, q;", "if (index > 0u) { p = 1.0f; q = 2.0f; }",
          marked(f"{OUT}bits(fma(p, 2.0f, q));")]),
        ("init.private",
         ["uint p;", "if (self == 1u) p = 1u;",
          marked("atomic_fetch_add_explicit(shared + 64, p, memory_order_relaxed);")]),
        ("init.threadgroup",
         ["threadgroup uint room[300];", "if (index > 0u) room[index] = self;",
          BARRIER.format("mem_threadgroup"), marked(f"{OUT}room[0];")]),
        ("init.threadgroup",
         ["threadgroup half2 room[256];", "room[index].x = half(lane);",
          BARRIER.format("mem_threadgroup"), marked(f"{OUT}bits(room[{NEXT}]);")])])


def short(_):
    """The output is a word too short (run_random.c)."""
    return "bounds.device", [marked("out[16u * self + 15u] ^= 1u;")]


PLANTS = {"outside": outside, "unordered": unordered, "plain": plain,
          "unset": unset, "short": short}
