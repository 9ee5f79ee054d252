# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""differing.py: `mettle diff`. A kernel that races has other results one thread
at a time than 32 at a time: what differs, by how much, and who stored it."""

import numpy as np

from tool import case

SOURCE = """\
#include <metal_stdlib>
using namespace metal;

kernel void chain(device float *y [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  if (i > 0) {
    y[i] = y[i - 1] * 2 + 1;
  }
}

static void put(device int2 *y, uint i, int value) {
  y[i].y = value;
}
kernel void inside(device int2 *y [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  if (i > 0) put(y, i, y[i - 1].y + 1);
}

kernel void good(device const float *x [[buffer(0)]],
                 device half *y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  y[i] = half(sin(x[i]) * 3);
}
"""
CHAIN = ("diff", "d.metal", "chain", "--grid", "32", "--group", "32",
         "0=@ones.npy")


def prepare(tool):
    tool.write("d.metal", SOURCE)
    tool.save("ones.npy", np.ones(32, np.float32))


@case
def diff_tells_the_first_value_that_differs(tool):
    prepare(tool)
    # By one thread after the other each is twice the last one and one more: 3,
    # 7, 15; from 1 to 3 all at once. 7 is 2^2 * 1.75, 3 is 2 * 1.5: between
    # them lie 2^23 * (0.5 + 0.75) floats.
    result = tool(*CHAIN, "--tiers", "0,1")
    assert result.code == 5, result.err
    assert result.out.startswith(
        "y[2]: 7 in tier 0 on cpu, 3 in tier 1 on cpu: 10485760 ULPs; 30 of 32 "
        "values differ"), result.out
    assert "stored by d.metal:7:10, thread 2" in result.out, result.out
    assert "1 argument differs" in result.err


@case
def diff_takes_floats_that_are_near_for_alike(tool):
    prepare(tool)
    ulps = str(2**28)  # more than 31 doublings
    tool.done(*CHAIN, "--tiers", "0,1", "--ulps", ulps)
    assert tool(*CHAIN, "--tiers", "0,1", "--ulps", "10").code == 5


@case
def diff_tells_the_part_of_an_element_and_its_caller(tool):
    prepare(tool)
    result = tool("diff", "d.metal", "inside", "--grid", "32", "--group", "32",
                  "0=zeros:32", "--tiers", "1,C")
    assert result.code == 5, result.err
    assert result.out.startswith(
        "y[2] scalar 1: 1 in tier 1 on cpu, 2 in tier C on cpu; 30 of 64 values "
        "differ\n"), result.out
    assert "stored by d.metal:12:8" in result.out, result.out
    assert "inlined into " in result.out and "d.metal:16:14" in result.out


@case
def diff_compares_tiers_and_devices(tool):
    prepare(tool)
    result = tool.done("diff", "d.metal", "good", "--grid", "100",
                       "0=rand:100", "1=zeros:100", "--devices",
                       "cpu,cpu-discrete")
    assert result.out == (
        "good: the same in tier 0 on cpu, tier 1 on cpu, tier C on cpu, tier 0 "
        "on cpu-discrete, tier 1 on cpu-discrete and tier C on cpu-discrete\n")


@case
def diff_says_what_is_wrong(tool):
    prepare(tool)
    tool.fails(2, ["--tiers 2"], *CHAIN, "--tiers", "2")
    tool.fails(2, ["nothing to compare"], *CHAIN, "--tiers", "1")
    tool.fails(2, ["--ulps x"], *CHAIN, "--ulps", "x")
    tool.fails(2, ["'mettle run's"], *CHAIN, "--print", "y")
    tool.fails(2, ["gpu7"], *CHAIN, "--devices", "cpu,gpu7")
    tool.fails(3, ["error"], "diff", "kernels.metal", "-D", "kernel=oops",
               "--grid", "1")
