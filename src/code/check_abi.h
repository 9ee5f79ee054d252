// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_abi.h: how checked code (mtli_tier CHECKED) and the run-time part of
// the checker, src/check, talk. The compiler writes to this layout by offset.
#ifndef MTLI_CHECK_ABI_H
#define MTLI_CHECK_ABI_H

#include <stdint.h>

#include "code/cpu_abi.h"

// What is checked; the bits of mtl_pipeline_desc.check.
enum {
  MTLI_CHECK_BOUNDS = 1,
  MTLI_CHECK_RACES = 2,
  MTLI_CHECK_INIT = 4,
  MTLI_CHECK_SYNC = 8,
  MTLI_CHECK_ALIGN = 16,
  MTLI_CHECK_NAN = 32,
  MTLI_CHECK_INTEGER = 64,
  MTLI_CHECK_HOST = 128,
  MTLI_CHECK_UNIFORM = 256,
  MTLI_CHECK_STOP = 512,
};

// The kind of access or use at a site.
typedef enum mtli_check_access {
  MTLI_CHECK_READ,
  MTLI_CHECK_WRITE,
  MTLI_CHECK_ATOMIC_READ,
  MTLI_CHECK_ATOMIC_WRITE,
  MTLI_CHECK_ATOMIC_EXCHANGE,  // reads, then writes without using the read
                               // value
  MTLI_CHECK_ATOMIC_BOTH,
  MTLI_CHECK_VARIABLE,   // a variable begins without a value
  MTLI_CHECK_BRANCH,  // control flow depends on the value
  MTLI_CHECK_ADDRESS,  // an address is computed from a value
  MTLI_CHECK_BARRIER,    // of the threadgroup
  MTLI_CHECK_SIMD_BARRIER,
  MTLI_CHECK_SHUFFLE,    // a simdgroup function that reads other lanes
  MTLI_CHECK_SIMD,       // another simdgroup function
  MTLI_CHECK_FENCE,
  MTLI_CHECK_OPERATION,  // of arithmetic
  MTLI_CHECK_SCAN_INCLUSIVE,  // simdgroup functions of the lanes up to each
  MTLI_CHECK_SCAN_EXCLUSIVE,  // and before it
} mtli_check_access;

// The kind of memory that a site accesses.
typedef enum mtli_check_space {
  MTLI_CHECK_NOWHERE,
  MTLI_CHECK_DEVICE,
  MTLI_CHECK_THREADGROUP,
  MTLI_CHECK_PRIVATE,
  MTLI_CHECK_CONSTANT,  // data of the program
  MTLI_CHECK_ANYWHERE,  // not known before it runs
  MTLI_CHECK_TEXELS,    // device memory that is a texture's
} mtli_check_space;

enum { MTLI_CHECK_NO_SLOT = 0xffff };

// Values in place of an origin (mtli_check_use_fn), for findings other than
// unset values.
enum {
  MTLI_CHECK_DIVISION = 0x7ffffff0,  // by zero
  MTLI_CHECK_SHIFT = 0x7ffffff1,     // by the width or more
  MTLI_CHECK_BORN = 0x7ffffff2,  // computed from finite values, but not finite
  MTLI_CHECK_KEPT = 0x7ffffff3,      // not finite, and stored
  MTLI_CHECK_OVERFLOW = 0x7ffffff4,  // the least integer by -1
};

// One place in the source. Texts are offsets into mtli_check_sites.texts, where
// 0 is the empty one.
typedef struct mtli_check_site {
  uint32_t line;
  uint32_t column;
  uint32_t file;
  uint32_t name;     // of the variable or argument
  uint32_t inlined;  // "f.metal:5:3, f.metal:20:7": what it is inlined into
  uint32_t size_bytes;    // of the access; of a barrier its flags
  uint32_t object_bytes;  // of the variable, a referenced type or a member
  uint16_t slot;          // of the parameter, or MTLI_CHECK_NO_SLOT
  uint8_t access;         // mtli_check_access
  uint8_t space;          // mtli_check_space
  uint32_t align_bytes;
} mtli_check_site;

typedef struct mtli_check_sites {
  const mtli_check_site *sites;  // offset 0: [count]
  const char *texts;             // offset 8
  uint32_t count;                // offset 16; site 0 is none
  uint32_t checks;               // offset 20: MTLI_CHECK_ bits it is made for
} mtli_check_sites;

typedef struct mtli_check mtli_check;

// The address to access in place of address: the same, or one where an access
// that is out of bounds does no harm. unset has a bit for each byte of a
// written value that was never given one. Afterwards check->unset has them for
// a read one.
typedef void *mtli_check_access_fn(mtli_check *check, void *address,
                                   uint32_t site, uint64_t unset);
// The same for memory that begins at base.
typedef void *mtli_check_variable_fn(mtli_check *check, void *address,
                                     uint32_t site, uint64_t unset, void *base,
                                     uint8_t *shadow);
// Returns how many bytes of a piece may be accessed: all or none.
typedef uint64_t mtli_check_range_fn(mtli_check *check, void *address,
                                     uint32_t site, uint64_t bytes, void *base,
                                     uint8_t *shadow);
// Reports a finding about a value; origin is the site that it comes from.
typedef void mtli_check_use_fn(mtli_check *check, uint32_t site,
                               uint32_t origin);
// An access outside a member of a structure, though inside the structure.
typedef void mtli_check_member_fn(mtli_check *check, uint32_t site,
                                  void *address, void *base);
// Before a wait. origin: as above, of the value passed; or 0.
typedef void mtli_check_arrive_fn(mtli_check *check, uint32_t site,
                                  uint32_t flags, uint32_t origin);
// After a wait: returns the origin of the value received, or 0.
typedef uint32_t mtli_check_pass_fn(mtli_check *check, uint32_t site);

// An access of a part of a word: MTLI_CHECK_PART_ flags, its first byte in the
// word and the one behind its last. Returns 1 if it is free of races by what is
// known of the word, and has been noted there; else 0.
typedef struct mtli_check_cell mtli_check_cell;
typedef uint32_t mtli_check_part_fn(mtli_check *check, mtli_check_cell *cell,
                                    uint32_t first, uint32_t end,
                                    uint32_t flags, uint32_t site);
enum { MTLI_CHECK_PART_WRITE = 1, MTLI_CHECK_PART_THREADGROUP = 2 };

typedef void mtli_check_settle_fn(mtli_check *check);

// Runs count threads of a row from x on, the first with this index in the
// threadgroup. It counts their segments.
typedef void mtli_check_row_fn(const mtli_cpu_launch *launch, void *scratch,
                               const mtli_cpu_group *group, uint32_t x,
                               uint32_t y, uint32_t z, uint32_t index,
                               uint32_t count);
typedef void mtli_check_start_fn(const mtli_cpu_launch *launch, void *scratch,
                                 const mtli_cpu_group *group, uint32_t x,
                                 uint32_t y, uint32_t z, uint32_t index,
                                 void *const *waiting, void *frame);
typedef void mtli_check_execute_fn(uint32_t function, uint32_t mask,
                                   uint64_t *values, uint32_t *operands);

// The last accesses of a word of 4 bytes: a write, and two reads that nothing
// orders. They are named by their segments: what a thread does between two
// waits, numbered in the order in which they run. 0 is none.
struct mtli_check_cell {
  uint32_t write;  // from MTLI_CHECK_PACKED on: see there
  uint32_t read;
  uint32_t other_read;
  uint16_t write_site;  // MTLI_CHECK_CELL_ATOMIC | site
  uint16_t read_site;   // bytes << 12 | site; bytes has a bit for each byte read
};
enum {
  MTLI_CHECK_CELL_ATOMIC = 0x8000,
  MTLI_CHECK_MOST_WRITE_SITE = 0x7fff,  // larger ones are given as 0
  MTLI_CHECK_MOST_READ_SITE = 0xbff,  // larger ones number pairs
                                      // (src/check/read_sites.c)
};
// No segment has such a number: what is known of the word's bytes differs and
// is packed (src/check/parts.c), or they have cells of their own.
#define MTLI_CHECK_PACKED UINT32_C(0xe0000000)
#define MTLI_CHECK_SPLIT UINT32_C(0xffffffff)

// A parameter's buffer, for the fast paths (fast_paths.c).
typedef struct mtli_check_view {
  uint64_t first;  // offset 0: its address
  // Offset 8: how many bytes may be accessed; 0: the functions below must be
  // called.
  uint64_t bytes;
  mtli_check_cell *cells;  // offset 16: of its first word
  // The same as cells where reads of parts of a word may be taken for reads of
  // the word: nothing in the dispatch writes such a part.
  mtli_check_cell *coarse;  // offset 24
  uint8_t *set;             // offset 32: 0xff for a byte that is set; NULL: all
  // Of screened code (compiler/check/screen/screen_stamps.c): stamps of its words, each
  // array twice.
  uint32_t *writes;        // offset 40
  uint32_t *reads;         // offset 48
  uint32_t *writes_again;  // offset 56
  uint32_t *reads_again;   // offset 64
  uint32_t least;          // offset 72: below are stamps of words not set
  uint32_t unused;
} mtli_check_view;

struct mtli_check {
  uint64_t unset;                       // offset 0
  mtli_check_access_fn *device;         // offset 8
  mtli_check_variable_fn *threadgroup;  // offset 16
  mtli_check_variable_fn *variable;     // offset 24: private or constant
  mtli_check_range_fn *range;           // offset 32
  mtli_check_use_fn *use;               // offset 40
  mtli_check_member_fn *member;         // offset 48
  mtli_check_arrive_fn *arrive;         // offset 56
  mtli_check_pass_fn *pass;             // offset 64
  // Runs a threadgroup whose threads do not wait for each other.
  void (*run_threads)(mtli_check *check, const mtli_cpu_launch *launch,
                      void *scratch, const mtli_cpu_group *group,
                      mtli_check_row_fn *row);  // offset 72
  // The same for coroutines; states and keys are those of schedule.ll.
  void (*run_waiting)(mtli_check *check, const mtli_cpu_launch *launch,
                      void *scratch, void *context,
                      const mtli_cpu_group *group, mtli_check_start_fn *start,
                      mtli_check_execute_fn *execute, uint64_t key_words,
                      uint64_t frame_bytes);  // offset 80
  // Called after a write to another address than the requested one.
  mtli_check_settle_fn *settle;  // offset 88
  uint32_t segment;              // offset 96: that runs
  uint32_t thread;               // offset 100: thread_index_in_threadgroup
  // Segments below a floor come before the running one; those that are not
  // below `shared` do not, unless they are the running thread's own.
  uint32_t device_floor;        // offset 104
  uint32_t device_shared;       // offset 108
  uint32_t threadgroup_floor;   // offset 112
  uint32_t threadgroup_shared;  // offset 116
  const mtli_check_view *views;           // offset 120: [parameter]
  char *threadgroup_memory;               // offset 128
  mtli_check_cell *threadgroup_cells;     // offset 136
  mtli_check_part_fn *part;               // offset 144
  uint8_t *threadgroup_set;               // offset 152
  // The site that an unset value comes from: of one to be written, and then of
  // one that was read.
  uint32_t origin;  // offset 160
  // Of screened code: stamps of the dispatch's threads begin at `stamp`, those
  // of the threadgroup's at group_stamp. arrived counts the threads that have
  // come to a barrier of the threadgroup, times its weight, from group_stamp on.
  uint32_t stamp;        // offset 164
  uint32_t group_stamp;  // offset 168
  uint32_t arrived;      // offset 172
  uint32_t *threadgroup_writes;        // offset 176
  uint32_t *threadgroup_reads;         // offset 184
  uint32_t *threadgroup_writes_again;  // offset 192
  uint32_t *threadgroup_reads_again;   // offset 200
};

#endif
