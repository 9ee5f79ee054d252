// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptx_abi.h: how the cuda driver calls compiled code. The compiler declares the
// kernel's parameters in this order, the driver fills them in as one block.
//
// A pipeline's PTX blob has one entry, MTLI_PTX_ENTRY. A threadgroup is a block
// of as many threads, along the same sides; its threadgroup memory is the
// block's dynamic shared memory: first the kernel's static variables
// (mtli_kernel.static_threadgroup_bytes), then the threadgroup arguments.
//
// The code is right for threadgroups of its class (mtli_kernel.group_class):
//   is_uneven  the grid's last threadgroups may be cut off along any side; else
//              all of them are full
//   is_whole   the threads of each threadgroup are whole simdgroups
// Code for uneven threadgroups serves all, code for whole ones these alone.
#ifndef MTLI_PTX_ABI_H
#define MTLI_PTX_ABI_H

#include <stdint.h>

#define MTLI_PTX_ABI_VERSION 2
#define MTLI_PTX_ENTRY "mettle_kernel"

// The parameters before the arguments, each at its natural alignment.
typedef struct mtli_ptx_launch {
  uint32_t grid_threads[3];   // offset 0: threads in the grid
  uint32_t group_count[3];    // offset 12: threadgroups
  uint32_t first_group[2];    // offset 24: along y and z, where the grid is
                              // launched in parts
  uint64_t log;               // offset 32: mtli_log_header's address, or 0
  uint64_t fault;             // offset 40: mtli_ptx_fault's address
  uint64_t ranges;            // address of mtli_ptx_ranges, for a kernel made
                              // for debugging
} mtli_ptx_launch;
// Then [parameter_count] 64 bits each: the address that a buffer parameter
// points to; of a threadgroup parameter its memory's offset in bytes; 0 for
// what is not there.

// Bytes from begin up to end.
typedef struct mtli_ptx_range {
  uint64_t begin;
  uint64_t end;
} mtli_ptx_range;

// What memory there is. Behind it slot_count ranges, one of each parameter:
// those of what is bound, or begin > end where that is not known; and count
// ranges of all that may be accessed, apart from each other and by rising
// address.
typedef struct mtli_ptx_ranges {
  uint64_t count;       // offset 0
  uint64_t slot_count;  // offset 8
} mtli_ptx_ranges;
#define MTLI_PTX_NO_SLOT UINT32_MAX  // of an access: any memory

// Texts begin at multiples of so many bytes, and their memory ends at one.
enum { MTLI_PTX_TEXT_BYTES = 16 };

// Bits of an access that was refused.
enum {
  MTLI_PTX_WRITE = 1,
  MTLI_PTX_THREADGROUP = 2,
  MTLI_PTX_SLOT_SHIFT = 8,  // from here on the slot of the argument plus 1
};
enum { MTLI_PTX_REFUSED = 4 };  // the reason

// The record of a kernel that stops itself: the first thread that does so
// writes it and ends; threads that stop later only end.
typedef struct mtli_ptx_fault {
  uint32_t reason;     // offset 0: 0, or the reason of mettle.trap plus 1,
                       // or MTLI_PTX_REFUSED
  uint32_t is_whole;   // offset 4: not 0 once the rest is written
  uint64_t text;       // offset 8: the text's device address, or 0
  uint64_t place;      // address of the text "FILE:LINE", or 0
  uint32_t group[3];   // offset 24: threadgroup_position_in_grid
  uint32_t thread[3];  // offset 36: thread_position_in_threadgroup
  uint64_t address;    // offset 48: of MTLI_PTX_REFUSED, or the offset in
                       // threadgroup memory
  uint32_t access;     // offset 56: MTLI_PTX_WRITE and so on
} mtli_ptx_fault;

#endif
