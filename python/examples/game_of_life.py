# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""game_of_life.py: generations are computed while Python does other things:
arrays in Mettle's memory, calls that do not wait, and await."""

import asyncio

import numpy as np

import mettle

SOURCE = """
kernel void step(device const uchar *now, device uchar *next,
                 constant uint2 &size, uint2 p [[thread_position_in_grid]]) {
  int count = 0;
  for (int y = -1; y <= 1; y++) {
    for (int x = -1; x <= 1; x++) {
      const uint2 at = (p + uint2(x, y) + size) % size;
      count += now[at.y * size.x + at.x];
    }
  }
  const uint i = p.y * size.x + p.x;
  next[i] = count == 3 || (count == 4 && now[i]);
}"""
GLIDER = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]


async def generations(world, count):
    """The world after so many generations."""
    height, width = world.shape
    step = mettle.compile_shader(SOURCE).step
    now, following = mettle.array(world), mettle.zeros(world.shape, np.uint8)
    for _ in range(count):
        commands = step(now, following, (width, height),
                        threads=(width, height))
        now, following = following, now
    await commands  # the loop is free meanwhile
    return now.numpy()


async def main():
    world = np.zeros((16, 16), np.uint8)
    world[:3, :3] = GLIDER
    later = await generations(world, 40)
    print("\n".join("".join(" #"[cell] for cell in row) for row in later))
    # A glider is one cell further down and right every four generations.
    assert (later == np.roll(world, (10, 10), (0, 1))).all()


if __name__ == "__main__":
    asyncio.run(main())
