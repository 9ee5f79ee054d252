# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# products.py: programs with one matmul2d each, of any shape, types, transposes,
# scope and operands, written, run and compared with NumPy.
import dataclasses
import re

import numpy as np

from case import Program, check, of_bfloat, to_bfloat

# Left, right, result; of the specification's tables.
TYPES = (("half", "half", "half"), ("half", "half", "float"),
         ("float", "float", "float"), ("half", "float", "float"),
         ("float", "half", "float"), ("bfloat", "bfloat", "float"),
         ("bfloat", "bfloat", "bfloat"), ("bfloat", "half", "half"),
         ("half", "bfloat", "bfloat"), ("bfloat", "float", "float"),
         ("float", "bfloat", "float"), ("char", "char", "int"),
         ("char", "half", "float"), ("half", "char", "half"),
         ("char", "float", "float"), ("float", "char", "float"),
         ("bfloat", "char", "bfloat"), ("char", "bfloat", "float"),
         ("uchar", "uchar", "int"), ("char", "uchar", "int"),
         ("uchar", "char", "int"))
NUMPY = {"half": np.float16, "float": np.float32, "bfloat": np.uint16,
         "char": np.int8, "uchar": np.uint8, "int": np.int32}

KERNEL = """
kernel void @name(device @A *a, device @B *b, device @C *c,
                  constant int *s, uint g [[threadgroup_position_in_grid]],
                  uint t [[thread_position_in_grid]]) {
  constexpr auto how = matmul2d_descriptor::mode::@mode;
  constexpr auto desc = matmul2d_descriptor(@M, @N, @K, @ta, @tb, true,
                                            how);
  matmul2d<desc, @scope> op;
  // s: M, N, K, strides of a, b and c, where a and b begin, what c lacks.
  auto ta = tensor(a, dextents<int, 2>((@ta ? s[0] : s[2]) + s[6],
                                       (@ta ? s[2] : s[0]) + s[7]),
                   array<int, 2>{1, s[3]}).slice(s[6], s[7]);
  auto tb = tensor(b, dextents<int, 2>((@tb ? s[2] : s[1]) + s[8],
                                       (@tb ? s[1] : s[2]) + s[9]),
                   array<int, 2>{1, s[4]}).slice(s[8], s[9]);
  auto tc = tensor(c, dextents<int, 2>(s[1] - s[11], s[0] - s[10]),
                   array<int, 2>{1, s[5]});
  @left
  @right
  @target
}
"""
HELD = {"left": """auto la = op.get_left_input_cooperative_tensor<@A, @B, @C>();
  la.load(ta);""", "right":
        """auto rb = op.get_right_input_cooperative_tensor<@A, @B, @C>();
  rb.load(tb);""", "target":
        """auto cc = op.get_destination_cooperative_tensor<decltype(@l),
                                                  decltype(@r), @C>();
  @load
  op.run(@l, @r, cc);
  cc.store(tc);"""}


@dataclasses.dataclass
class Product:
    """One kernel: static sizes, and how its operands are given."""

    m: int
    n: int
    k: int  # 0: dynamic
    types: tuple
    left_transposed: bool
    right_transposed: bool
    groups: int  # simdgroups; 0: one thread
    adds: bool
    held: tuple  # of left, right and result: held together?

    def text(self, name):
        held = {key: HELD[key] if is_held else ""
                for key, is_held in zip(("left", "right", "target"),
                                        self.held)}
        held["target"] = held["target"] or "op.run(@l, @r, tc);"
        words = dict(
            name=name, mode="multiply_accumulate" if self.adds else "multiply",
            scope=f"execution_simdgroups<{self.groups}>" if self.groups
            else "execution_thread", M=self.m, N=self.n,
            K=self.k or "dynamic_length_v<int>",
            ta=str(self.left_transposed).lower(),
            tb=str(self.right_transposed).lower(),
            l="la" if self.held[0] else "ta", r="rb" if self.held[1] else "tb",
            load="cc.load(tc);" if self.adds else
            "for (int i = 0; i < cc.get_capacity(); i++) cc[i] = 5;",
            A=self.types[0], B=self.types[1], C=self.types[2], **held)
        text = KERNEL
        while "@" in text:
            text = re.sub(r"@(\w+)", lambda word: str(words[word[1]]), text)
        return text


def values(random, kind, shape):
    """Small numbers of a type: sums of their products are exact in floats,
    where they are whole. Returns what is in memory, and the numbers."""
    if kind == "uchar":
        whole = random.integers(0, 256, shape)
    elif kind == "char":
        whole = random.integers(-128, 128, shape)
    else:
        whole = random.integers(-8, 9, shape)
    if kind == "bfloat":
        return to_bfloat(whole), whole.astype(np.float64)
    return whole.astype(NUMPY[kind]), whole.astype(np.float64)


def rounded(kind, numbers):
    if kind == "bfloat":
        return to_bfloat(numbers)
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32 if kind != "int" else np.int64).astype(
            NUMPY[kind])


def padded(random, matrix, before, width):
    """The matrix in rows of width elements, with others around it."""
    rows, columns = matrix.shape
    out = values(random, "char", (rows + before[1], width))[0].astype(
        matrix.dtype)
    out[before[1]:, before[0]:before[0] + columns] = matrix
    return out


def run(random, program, name, it, size, cut, align=1):
    """Runs a kernel on matrices of size (m, n, k), of which the result lacks
    the last cut rows and columns in memory. Rows of the operands begin at
    multiples of align elements."""
    m, n, k = size
    a, fa = values(random, it.types[0], (m, k))
    b, fb = values(random, it.types[1], (k, n))
    c, fc = values(random, it.types[2], (m, n))
    stored = (a.T if it.left_transposed else a, b.T if it.right_transposed
              else b)
    froms = [tuple(int(i) for i in random.integers(0, 4, 2) * (align, 1))
             for _ in "ab"]
    widths = [s.shape[1] + f[0] + int(random.integers(0, 3))
              for s, f in zip(stored, froms)]
    widths = [-(-width // align) * align for width in widths]
    memory = [np.ascontiguousarray(padded(random, s, f, w))
              for s, f, w in zip(stored, froms, widths)]
    wide = n + int(random.integers(0, 4))
    target = padded(random, c, (0, 0), wide)
    sizes = np.array([m, n, k, widths[0], widths[1], wide, *froms[0], *froms[1],
                      *cut],
                     np.int32)
    out = program.run(name, {0: memory[0], 1: memory[1], 2: target.copy(),
                             3: sizes},
                      group=(32 * it.groups if it.groups else 1,))[2]
    whole = fa @ fb
    if it.types[2] == "int":
        whole = (fa.astype(np.int64) @ fb.astype(np.int64))
    if it.adds:
        whole = whole + (of_bfloat(c).astype(np.float64)
                         if it.types[2] == "bfloat" else fc)
    want = target.copy()
    shown = (m - cut[0], n - cut[1])
    want[:shown[0], :shown[1]] = rounded(it.types[2], whole)[:shown[0],
                                                            :shown[1]]
    check.equal(f"{it} of {size} less {cut}", out, want)


def program_of(items):
    return Program("".join(it.text(f"p{i}")
                                    for i, it in enumerate(items)))
