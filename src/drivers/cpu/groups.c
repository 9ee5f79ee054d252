// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// groups.c: chooses the threadgroup size of a dispatch: the program's, or a
// better one for kernels whose results do not depend on it.
#include <string.h>

#include "drivers/cpu/cpu.h"

enum { MOST_THREADS = 1024, LEAST_THREADS = 128 };  // of threadgroups formed
                                                    // here

// Forms blocks, in which simdgroups of several rows share what they load in
// loops. False if the program's own threadgroups are such blocks.
static bool choose_block(const uint32_t own[3], const uint32_t grid[3],
                         uint32_t out_side[3]) {
  enum { ROWS = 8, HALF = MTL_SIMD_WIDTH / 2 };
  const uint64_t threads = (uint64_t)own[0] * own[1] * own[2];
  if (((own[0] == MTL_SIMD_WIDTH || own[0] == HALF) &&
       threads % LEAST_THREADS == 0) ||
      grid[0] < MTL_SIMD_WIDTH || grid[1] < ROWS) {
    return false;
  }
  out_side[0] = MTL_SIMD_WIDTH;
  out_side[1] = ROWS;
  out_side[2] = 1;
  return true;
}

// Forms rows of the grid, or pieces of rows: complete simdgroups, accesses in
// the order of memory, and no code for other shapes. False if the program's
// threadgroups are as good, or if the kernel has loops, whose loads may be near
// each other in the program's.
static bool choose_rows(bool is_brief, const uint32_t own[3],
                        const uint32_t grid[3], uint32_t out_side[3]) {
  enum { LEAST_GROUPS = 256 };
  const uint64_t own_threads = (uint64_t)own[0] * own[1] * own[2];
  const bool is_row = own[1] == 1 && own[2] == 1 && own[0] >= LEAST_THREADS &&
                      own[0] % MTL_SIMD_WIDTH == 0;
  const bool fills = grid[0] >= LEAST_THREADS || grid[0] % MTL_SIMD_WIDTH == 0;
  const bool are_few = own_threads < MTL_SIMD_WIDTH && grid[0] > own_threads;
  out_side[1] = out_side[2] = 1;
  if (is_row && is_brief && own[0] < MOST_THREADS) {
    // Takes several of the program's threadgroups at once if there are many,
    // since each costs a call.
    const uint64_t groups = (uint64_t)(grid[0] / own[0]) * grid[1] * grid[2];
    const uint64_t most = at_most(grid[0], MOST_THREADS) / own[0];
    out_side[0] =
        own[0] * (uint32_t)at_least(at_most(groups / LEAST_GROUPS, most), 1);
    return true;
  }
  if (is_row || !(are_few || (fills && is_brief))) {
    return false;
  }
  const uint32_t most = is_brief ? MOST_THREADS : LEAST_THREADS;
  out_side[0] = (uint32_t)at_most(grid[0], most);
  if (out_side[0] >= LEAST_THREADS) {
    out_side[0] -= out_side[0] % MTL_SIMD_WIDTH;
  } else if (fills) {
    out_side[1] = (uint32_t)at_most(grid[1], LEAST_THREADS / out_side[0]);
  }
  return true;
}

// Forms threadgroups for a launch whose sizes are own and grid. False if the
// program's are as good.
static bool form(const mtli_kernel *kernel, const uint32_t own[3],
                 const uint32_t grid[3], uint32_t out_group[3]) {
  uint32_t side[3];
  if (!kernel->facts.any_groups || grid[0] > MTLI_ROW_GRID_LIMIT || !grid[0] ||
      !grid[1] || !grid[2]) {
    return false;
  }
  if (!(kernel->facts.shares_rows
            ? choose_block(own, grid, side)
            : choose_rows(kernel->facts.is_brief, own, grid, side))) {
    return false;
  }
  const uint64_t columns = (grid[0] + side[0] - 1) / side[0];
  const uint64_t rows = (grid[1] + side[1] - 1) / side[1];
  if (columns * rows > UINT32_MAX / grid[2]) {
    return false;
  }
  memcpy(out_group, side, sizeof side);
  return true;
}

// Returns by how many dimensions a launch is turned: code for other rows than
// those along x is slow, so threadgroups of one thread along x are turned.
static uint32_t choose_turn(const mtli_dispatch *dispatch) {
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  uint32_t size[3];
  for (int i = 0; i < 3; i++) {
    const uint32_t side = dispatch->group_threads[i];
    size[i] = dispatch->indirect
                  ? side
                  : (uint32_t)at_most(side, dispatch->grid_threads[i]);
  }
  const uint32_t dimension = mtli_row_dimension(size);
  const bool is_better = kernel->facts.depends_on_row ||
                         kernel->group_class.row_dimension == dimension;
  return kernel->tier == MTLI_TIER_1 && is_better ? dimension : 0;
}

void cpu_groups_choose(const mtli_dispatch *dispatch, mtli_cpu_launch *launch) {
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  const uint32_t *own = dispatch->group_threads;
  const uint32_t *grid = dispatch->grid_threads;
  launch->turn = 0;
  if (!dispatch->indirect && form(kernel, own, grid, launch->group_threads)) {
    return;
  }
  launch->turn = choose_turn(dispatch);
  mtli_turn(own, launch->turn, launch->group_threads);
  if (launch->turn && !dispatch->indirect) {
    uint32_t turned[3];
    mtli_turn(grid, launch->turn, turned);
    (void)form(kernel, launch->group_threads, turned, launch->group_threads);
  }
}
