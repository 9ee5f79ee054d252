// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check.h: the run-time part of the checker, for drivers and the runtime. It
// knows addresses, dispatches and queues by number, and no object of theirs.
//
// A checked dispatch runs on one thread at a time, in an order that the
// schedule says: whether two accesses conflict is decided by what orders them,
// never by which came first.
#ifndef MTLI_CHECK_H
#define MTLI_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "code/check_abi.h"
#include "mettle/check.h"
#include "mettle/encoder.h"
#include "mettle/library.h"

// Returns the checks that METTLE_CHECK requests, MTLI_CHECK_ bits; 0 if it is
// not set. Read once.
uint32_t mtli_check_wanted(void);
// True if something in this process is or may be checked: METTLE_CHECK is set,
// or a pipeline has requested it.
bool mtli_check_is_on(void);
void mtli_check_turn_on(void);
// Parses a list of checks, "races,bounds". False for an unknown name.
bool mtli_check_parse(const char *text, uint32_t *out_checks);

// --- memory ------------------------------------------------------------------

// A buffer is first seen, or is made. is_unset: it has no contents yet, for
// which its host cannot have given any. is_untracked: encoders over it may
// overlap. label is copied. One that is known does nothing.
void mtli_check_memory_add(uint64_t first, uint64_t bytes, bool is_unset,
                           bool is_untracked, const char *label);
void mtli_check_memory_remove(uint64_t first, uint64_t bytes);
// Marks memory as written by something other than a kernel.
void mtli_check_memory_set(uint64_t first, uint64_t bytes);
// Records a barrier that names the memory: it orders a queue's work so far
// before the rest.
void mtli_check_memory_orders(uint64_t queue, uint64_t address);
// Copies the state of bytes at source, which may be unset, with them.
void mtli_check_memory_copy(uint64_t first, uint64_t source, uint64_t bytes);

// --- hosts -------------------------------------------------------------------

// True if MTLI_CHECK_HOST is requested for a device whose kernels see the
// host's memory.
bool mtli_check_host_is_on(void);
void mtli_check_host_turn_on(void);

// The host's memory of a buffer that work uses which is about to be committed.
typedef struct mtli_check_held {
  uint64_t contents;
  uint64_t bytes;
  bool has_pages;   // pages of its own
  bool is_written;  // by the work, else read
  bool is_managed;  // the host sees writes only after a synchronise
  const char *label;
  const char *user;  // the kernel, or command
} mtli_check_held;

// Records a buffer's use by work. committed: of mtli_check_commit. Host
// accesses are reported until the host has seen that the work is complete.
void mtli_check_host_hold(void *committed, const mtli_check_held *held);
// Opens such memory for an access by Mettle itself, or closes it again.
void mtli_check_host_open(uint64_t contents, bool is_opened);
// Records that a managed buffer has been synchronised.
void mtli_check_host_synchronize(uint64_t contents);
// Forgets a buffer, which is being destroyed.
void mtli_check_host_forget(uint64_t contents);
// True if a fault is of memory that is closed to the host; the access may then
// continue.
bool mtli_check_host_fault(uint64_t address, bool is_write,
                           uint64_t instruction);

// --- dispatches --------------------------------------------------------------

// One parameter of a kernel.
typedef struct mtli_check_argument {
  uint64_t first;      // of a buffer: its address
  uint64_t bytes;      // the number of bytes; 0 for other arguments
  const char *name;    // borrowed for the dispatch
  mtl_data_type type;  // of its elements; none: words
  bool is_host;        // hosts, or later dispatches, read it
  bool is_buffer;      // it has a shadow: no inline bytes
} mtli_check_argument;

typedef struct mtli_check_dispatch {
  const char *kernel;
  const mtli_check_sites *sites;
  const mtli_check_argument *arguments;  // [argument_count]
  size_t argument_count;
  // [resident_count] buffers that it may access by their addresses, beside its
  // arguments.
  const uint64_t *residents;
  size_t resident_count;
  uint64_t queue;   // which one, never 0
  unsigned orders;  // mtl_barrier_scope: behind all of the queue's work on
                    // such memory before it
  uint32_t group_count[3];
} mtli_check_dispatch;

// Begins a dispatch: other threads wait with theirs until it ends. NULL if it
// cannot be checked, which is noted.
mtli_check *mtli_check_begin(const mtli_check_dispatch *dispatch);
// Returns the threadgroup to run as number `step`, of group_count's product.
uint32_t mtli_check_group_at(mtli_check *check, uint32_t step);
// Begins a threadgroup whose memory, of that many bytes, begins there.
void mtli_check_enter_group(mtli_check *check, uint32_t group,
                            void *threadgroup, uint64_t bytes);
// Ends a run of all threadgroups. True if another one is to be made, under
// another schedule (explore:N): what the dispatch found in memory is restored.
bool mtli_check_again(mtli_check *check);
// True if it should stop for a finding.
bool mtli_check_is_to_stop(const mtli_check *check);
// out_text: the dispatch's first finding, malloc'ed; NULL without one.
void mtli_check_end(mtli_check *check, char **out_text);

// --- screening ---------------------------------------------------------------

// False if checked code is to run at once: METTLE_CHECK_SCREEN is 0, or the
// schedule is not forward alone.
bool mtli_check_screens(void);
// Inside of a dispatch: code of MTLI_TIER_SCREENED is about to run it, all
// threadgroups in any order on one thread, with check in its launch. False if
// it may not. group_threads: in a full threadgroup. Sets *out_by_group if
// mtli_check_screen_group is to be called before each.
bool mtli_check_screen_begin(mtli_check *check, uint32_t group_threads,
                             uint64_t threadgroup_bytes, bool *out_by_group);
void mtli_check_screen_group(mtli_check *check, void *threadgroup);
// is_clean: it has come to its end, and the dispatch is done. Else what it did
// is undone, for checked code to run.
void mtli_check_screen_end(mtli_check *check, bool is_clean);
// Records that checked code is about to run a dispatch of a kernel.
void mtli_check_screen_missed(const char *kernel);
// Counts queues: one more, or one less. Work of several queues is not screened.
uint32_t mtli_check_queue_count(void);
void mtli_check_queue_begins(void);
void mtli_check_queue_ends(void);

// Records that a queue's work so far is complete: its next work is ordered
// after it.
void mtli_check_queue_orders(uint64_t queue);
// Records that the encoder with this ordinal in its command buffer begins or
// resumes on a queue. Over untracked memory only fences order encoders: those
// that the queue updates or has waited for within an encoder. On a queue that
// is ordered by barriers nothing else does, nor commands of an encoder.
void mtli_check_encoder(uint64_t queue, uint32_t ordinal, bool has_barriers);
void mtli_check_order(uint64_t queue, const mtl_order *order);
void mtli_check_fence_ends(uint64_t fence);
// Record signals and waits of an event: a queue or the host is about to signal
// a value, or has waited for one and resumes. After mtli_check_event_ends the
// event's number may be reused.
void mtli_check_signal(uint64_t queue, uint64_t event, uint64_t value);
void mtli_check_host_signal(uint64_t event, uint64_t value);
void mtli_check_waited(uint64_t queue, uint64_t event, uint64_t value);
void mtli_check_host_waited(uint64_t event, uint64_t value);
void mtli_check_event_ends(uint64_t event);
// Returns a clock of all work that the host has seen complete, when it commits
// a command buffer. The queue starts the command buffer with this clock, or
// with NULL.
void *mtli_check_commit(void);
void mtli_check_start(uint64_t queue, const void *committed);
// Records that work committed with this clock is complete, and returns a clock
// of the completion. mtli_check_seen records that the host has observed it;
// mtli_check_forget frees either clock.
void *mtli_check_complete(uint64_t queue, void *committed);
void mtli_check_seen(void *completed);
void mtli_check_forget(void *clock);

// Memory that a command accesses that is not a dispatch.
typedef struct mtli_check_piece {
  const char *name;  // for findings; static
  uint64_t queue;
  unsigned orders;      // as of a dispatch
  bool is_of_dispatch;  // of that stage, else a blit
  uint64_t read;        // addresses; 0 for none
  uint64_t written;
  uint64_t bytes;  // of each
} mtli_check_piece;

// Returns the first finding of it, malloc'ed, or NULL.
char *mtli_check_command(const mtli_check_piece *piece);

// Something could not be checked: exit status 4.
void mtli_check_note_unchecked(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
