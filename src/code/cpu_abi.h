// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu_abi.h: how the cpu driver calls compiled code. The compiler writes to
// this layout by offset (it asserts them), the driver fills it in.
//
// A pipeline's ELF blob exports MTLI_CPU_CODE_SYMBOL, a mtli_cpu_code. The loop
// over threadgroups is here (cpu_code.c) and not in each kernel: it would be a
// quarter of a small one's compilation.
#ifndef MTLI_CPU_ABI_H
#define MTLI_CPU_ABI_H

#include <stdint.h>

#define MTLI_CPU_ABI_VERSION 7
#define MTLI_CPU_CODE_SYMBOL "mettle_code"
#define MTLI_CPU_SCRATCH_ALIGNMENT 64  // bytes; a cache line, a zmm register
#define MTLI_CPU_SCRATCH_MARGIN_BYTES 1024  // 32 threads' 32 bytes each

struct mtli_check;
struct mtli_check_sites;

// One dispatch, read by all workers. A slot is a position in the kernel's
// parameter list (mtli_kernel.parameters); slots of built-in inputs are unused.
typedef struct mtli_cpu_launch {
  // [parameter_count] the address that a buffer parameter points to. For a
  // threadgroup parameter, the byte offset of its memory from the start of the
  // threadgroup memory, as an integer. NULL for an inactive argument.
  void *const *arguments;      // offset 0
  uint32_t grid_threads[3];    // offset 8: threads in the grid
  uint32_t group_threads[3];   // offset 20: threads of a full threadgroup
  uint32_t group_count[3];     // offset 32: threadgroups
  uint32_t threadgroup_bytes;  // offset 44: static and dynamic memory
                               // together, a multiple of 64
  void *log;                   // offset 48: mtli_log_header, or NULL
  // [parameter_count] how many bytes there are at a buffer parameter's address;
  // NULL if that is not known.
  const uint64_t *argument_bytes;  // offset 56
  // Not 0 if the caller will call mtli_cpu_code.finish: deferred additions may
  // then stay in the scratch.
  uint32_t will_finish;  // offset 64
  // By how many dimensions the three sizes above are turned (group_class.h):
  // dimension i is the program's (i + turn) % 3, for the code and for
  // mtli_cpu_group too. Threadgroups run in the program's order all the same.
  uint32_t turn;  // offset 68
  // of checked code: the state of check_abi.h; NULL for other code
  struct mtli_check *check;  // offset 72
} mtli_cpu_launch;

// Where a worker is, at the start of its scratch; the code updates it so that a
// fault can be located. Tier T0 writes group and thread at every switch of
// threads; tier T1 writes the group and the first of the threads that run, with
// their number in the high 16 bits where it is not 32.
typedef struct mtli_cpu_position {
  uint32_t group[3];         // offset 0: threadgroup_position_in_grid
  uint32_t thread_in_group;  // offset 12: thread_index_in_threadgroup
  // reserved[0], offset 16: 0, or why the code stopped itself:
  // 1 __builtin_trap, 2 an assertion, 3 what the text says (the reason of
  // mettle.trap in docs/ir.md, plus 1). The code sets it to 0 on entry.
  // reserved[1], offset 20: how many threadgroups run at once, of which group is
  // the first (mtli_cpu_group.count).
  // reserved[2] and [3], offset 24: the address of the text, which ends with a
  // zero; NULL if there is none. To stop, the code writes these and thread_in_group and executes
  // llvm.trap: the worker gets SIGILL (x86-64, ud2) or SIGTRAP (AArch64, brk)
  // with the program counter in the kernel, and does not come back.
  // reserved[4] and [5], offset 32: the code's own (ir/text/counters.ll), an address
  // that is NULL where a worker's share begins if will_finish is set.
  uint32_t reserved[12];
} mtli_cpu_position;
enum {
  MTLI_CPU_TRAP_TEXT_OFFSET = 24,
  MTLI_CPU_COUNT_SHIFT = 16,  // in thread_in_group, of the number of threads
};

// A worker's memory, two pieces aligned to 64. Its scratch:
//   offset 0    mtli_cpu_position, 64 bytes
//   offset 64   threadgroup memory, threadgroup_bytes: first the kernel's
//               static variables (mtli_kernel.static_threadgroup_bytes), then
//               the threadgroup arguments
// And what is kept:
//   offset 0            what the code keeps, kept_bytes
//   offset kept_bytes   context: coroutine frames or values that live across
//                       barriers
// Contents are unspecified on entry. Before and behind each lie
// MTLI_CPU_SCRATCH_MARGIN_BYTES that are the worker's as well: the code may read
// them, and write them as they are.

// A threadgroup to run.
typedef struct mtli_cpu_group {
  uint32_t position[3];  // offset 0: threadgroup_position_in_grid
  uint32_t size[3];      // offset 12: threads_per_threadgroup, of this one
  uint32_t origin[3];    // offset 24: position in the grid of its first thread
  uint32_t threads;      // offset 36: the product of size
  // offset 40: 1, or mtli_cpu_code.groups_at_once: so many threadgroups of that
  // size, the others groups_apart and its multiples further along x.
  uint32_t count;
} mtli_cpu_group;

// Runs a threadgroup to its end, or several.
typedef void mtli_cpu_run_group(const mtli_cpu_launch *launch, void *scratch,
                                void *context, const mtli_cpu_group *group);

// Begins a worker's share. kept: mtli_cpu_code.kept_bytes for the code's own.
typedef void mtli_cpu_begin(const mtli_cpu_launch *launch, void *scratch,
                            void *kept);

// Performs the additions that code with this scratch has deferred, also code
// that faulted. Harmless if there are none.
typedef void mtli_cpu_finish(void *scratch);

typedef struct mtli_cpu_code {
  mtli_cpu_run_group *run_group;  // offset 0
  mtli_cpu_begin *begin;          // offset 8; NULL: nothing to do
  mtli_cpu_finish *finish;        // offset 16; NULL: nothing is left to do
  // What a worker keeps from one threadgroup to the next, and the context: so
  // much for each threadgroup, and more for each of its simdgroups, the last
  // one filled up, and threads.
  uint64_t kept_bytes;       // offset 24, a multiple of 64
  uint64_t context_bytes;    // offset 32
  uint64_t simdgroup_bytes;  // offset 40
  uint64_t thread_bytes;     // offset 48
  // The places of checked code (check_abi.h); NULL if it is not checked.
  const struct mtli_check_sites *sites;  // offset 56
  // How many threadgroups run_group takes at once, and how far apart they are;
  // 0: one. Only with all others of their window: whole threadgroups, of which
  // the first along x is a multiple of the product of the two.
  uint32_t groups_at_once;  // offset 64
  uint32_t groups_apart;    // offset 68
} mtli_cpu_code;

// Returns how many threadgroups along x should be run by one call of
// mtli_cpu_code_run, from a multiple of that on; 1 if it makes no difference.
static inline uint32_t mtli_cpu_code_window(const mtli_cpu_code *code) {
  return code->groups_at_once ? code->groups_at_once * code->groups_apart : 1;
}

// Returns the launch's number of the program's dimension.
static inline uint32_t mtli_cpu_launch_dimension(const mtli_cpu_launch *launch,
                                                 uint32_t dimension) {
  return (dimension + 3 - launch->turn) % 3;
}

// Returns the bytes that the code needs to keep.
uint64_t mtli_cpu_code_bytes(const mtli_cpu_code *code,
                             uint32_t threads_per_threadgroup);

// Runs the threadgroups with linear indices first_group to end_group - 1, the
// program's x fastest, then y, then z, each to its end.
void mtli_cpu_code_run(const mtli_cpu_code *code, const mtli_cpu_launch *launch,
                       uint32_t first_group, uint32_t end_group, void *scratch,
                       void *kept);

#endif
