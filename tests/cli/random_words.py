# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_words.py: command lines at random, of words that make sense in some
place and of damaged ones: each ends with one of the four exit codes, and says
why if it is not 0."""

import random

from tool import case

KERNEL = """
#include <metal_stdlib>
using namespace metal;
struct Inner { half2 h; bool on; packed_float3 p[2]; };
struct Outer { float3 axis; Inner in[3]; float3x3 m; uint g[2][2]; };
kernel void k(constant Outer &r, device Outer *s, device float *x,
              constant float4 *v, texture2d<float> t,
              texture2d<float, access::write> w, sampler q,
              threadgroup float *room [[threadgroup(0)]],
              uint i [[thread_position_in_grid]]) {
  x[0] = r.axis.x + s[0].m[1][1] + v[0].x + t.sample(q, float2(0)).x;
  w.write(float4(1), uint2(0));
  room[0] = x[0];
}
"""
RIGHT = ["r=zeros", "s=zeros:2", "x=iota:9", "v=ones:2", "t=4,4", "w=like:t",
         "q=linear", "room=64"]
WORDS = RIGHT + [
    "--grid", "1", "x", "--grid=2,2", "--group=1", "--print", "--save",
    "--print=s", "--print", "x:3", "--save=x=o.npy", "--json", "--log",
    "--repeat", "2", "--debug", "--math", "safe", "--constant", "n=4",
    "r.axis=1,2,3", "r={axis:[1,2,3],in:[{h:(1,2)}]}", "s[1].in[2].on=true",
    "s[0].m[1]=1,2,3", "r.g[1][0]=7", "x[3]=5", "v=(1,2,3,4)", "v[0].y=2",
    "t=rgba8Unorm:2,2", "w=8,8", "q=repeat,pixel", "tex0=4,4", "tg0=16",
    "sampler0=nearest", "table0=f", "0=zeros", "2=f32:1,2", "3=@no.npy",
    "x=@no.png", "x=zeros:f32:4", "x=rand:4:1", "-D", "A=1", "-I", ".", "--",
    "k", "=", "", "nan", "x=nan,inf,-inf", "x=0x", "r=,", "s={{{{", "s=}}"]
LETTERS = "[](){},.:=@-0x9 \"'\\\n\t\xe4%s"


def _damage(rng, word):
    at = rng.randrange(len(word) + 1)
    kind = rng.randrange(4)
    if kind == 0:
        return word[:at]
    if kind == 1:
        return word[:at] + rng.choice(LETTERS) + word[at:]
    if kind == 2:
        return word[:at] + word[at + 1:]
    return word + rng.choice(WORDS)


def _line(rng):
    words = (RIGHT + ["--grid", "1"]) if rng.random() < 0.6 else []
    for _ in range(rng.randrange(6)):
        word = rng.choice(WORDS)
        word = _damage(rng, word) if rng.random() < 0.5 else word
        words.insert(rng.randrange(len(words) + 1), word)
    if words and rng.random() < 0.5:
        words.pop(rng.randrange(len(words)))
    return words


@case
def random_command_lines_end_well(tool):
    tool.write("k.metal", KERNEL)
    rng = random.Random(1)
    codes = []
    for _ in range(200):
        words = _line(rng)
        result = tool("run", "k.metal", *words)
        codes.append(result.code)
        assert result.code in (0, 1, 2), (words, result.code, result.err)
        assert result.code == 0 or result.err.startswith("mettle run: "), (
            words, result.err)
    # All ways are gone.
    assert codes.count(0) >= 10 and codes.count(2) >= 50, codes
