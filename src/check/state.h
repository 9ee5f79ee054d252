// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// state.h: what the checker's files share: segments, cells, and the state of
// the dispatch at hand.
//
// A segment is what one thread does between two waits. Segments are numbered
// in the order in which they run, over all dispatches. A cell of shadow memory
// says which segments accessed a word last; whether two of them are ordered
// follows from what is known of each.
#ifndef MTLI_CHECK_STATE_H
#define MTLI_CHECK_STATE_H

#include <pthread.h>

#include "check/check.h"

enum {
  CHECK_MOST_THREADS = 1024,
  CHECK_QUEUES = 64,
};

// Stages of a queue that is ordered by barriers: bits of mtl_stages.
enum { CHECK_STAGE_DISPATCH, CHECK_STAGE_BLIT, CHECK_STAGES };

typedef uint32_t check_segment;  // 0 is none
typedef mtli_check_cell check_cell;

// The known facts of a segment.
typedef struct check_moment {
  uint32_t group;              // linear
  uint32_t threadgroup_epoch;  // barriers passed that order threadgroup memory
  uint32_t device_epoch;       // and device memory
  uint32_t simd_threadgroup;   // the same, of the simdgroup
  uint32_t simd_device;
  uint16_t thread;
} check_moment;

typedef enum check_kind {
  CHECK_THREADGROUP,
  CHECK_TRACKED,  // device memory
  CHECK_UNTRACKED,
  CHECK_TEXELS = 4,  // combined with one of the two above: a barrier names it
                     // separately
} check_kind;

// An access of a word beside those that its cell names (further.c).
typedef struct check_further {
  check_segment segment;
  uint16_t site;
  uint16_t bytes;  // of the word, a bit for each
} check_further;
typedef struct check_further_node check_further_node;

// Shadow of a piece of device memory.
typedef struct check_memory {
  uint64_t first;
  uint64_t bytes;
  check_cell *cells;     // one for each 4 bytes; NULL until it is needed
  check_cell *quarters;  // one for each byte, of words that are split (parts.c)
  uint8_t *set;          // 0xff for each byte that is set; NULL: all are
  bool has_parts;        // the dispatch at hand writes parts of words
  bool is_union;         // of several buffers, none of which is all of it
  uint32_t resident;     // the last dispatch for which it was resident
  bool is_untracked;     // only the client orders encoders over it
  uint32_t barrier;      // segments of that queue below it are ordered by a
  uint64_t barrier_queue;  // barrier that names this memory
  uint32_t *writes;  // stamps (screen.c), one for each 4 bytes; NULL until
  uint32_t *reads;   // they are needed
  // Lists of accesses (further.c), one for each 4 bytes; NULL until needed.
  uint32_t *further;
  check_further_node *nodes;  // [node_count], room for node_room
  uint32_t node_count;
  uint32_t node_room;
  uint32_t unused_node;
  char *label;
} check_memory;

// Adds an access of a word.
void check_further_add(check_memory *memory, uint64_t word,
                       check_further access);
// Removes the accesses of a word for which a test is false. The test may
// change them.
typedef bool check_further_test(void *context, check_further *access);
void check_further_keep(check_memory *memory, uint64_t word,
                        check_further_test *is_kept, void *context);
void check_further_drop(check_memory *memory);

check_memory *check_memory_find(uint64_t address);
// Returns the one at a place by rising address; NULL behind the last.
check_memory *check_memory_at(size_t place);
// Makes the cells. False if there is no memory for them.
bool check_memory_prepare(check_memory *memory);
// Allocates the stamps. Forgets all of them.
bool check_memory_prepare_stamps(check_memory *memory);
void check_memory_forget_stamps(void);
// Marks all of a memory as set.
void check_memory_is_set(check_memory *memory);
// True if there is untracked memory.
bool check_memory_has_untracked(void);
// Forgets all accesses; behind the last number of a segment.
void check_memory_forget(void);

// A dispatch, for as long as its segments may be asked for.
typedef struct check_past {
  check_segment first;
  uint32_t queue;  // index
  uint32_t encoder;
  uint32_t stage;
  const char *kernel;
  const mtli_check_sites *sites;
  uint32_t group_count[3];
  uint32_t number;
} check_past;

// A range that an argument may access.
typedef struct check_range {
  uint64_t first;
  uint64_t bytes;
  check_memory *memory;  // NULL: no shadow
  bool is_host;
  bool is_written;  // by the kernel
  const char *name;
  mtl_data_type type;
  bool is_read;
  uint32_t align_bytes;   // the alignment that its accesses need
  uint32_t object_bytes;  // of a referenced type
} check_range;

// What a group knows of other groups' segments through fences and atomics.
typedef struct check_known {
  uint32_t owner;  // group that knows
  uint16_t owner_thread;
  uint16_t is_all;  // all threads of owner know
  uint32_t group;   // of which
  uint16_t thread;
  check_segment segment;  // of that thread, ordered up to here
  uint32_t device_epoch;  // of all its threads, ordered before this one
} check_known;

// The first of a queue's own segments that are not ordered before its next
// work.
typedef struct check_window {
  check_segment buffers;
  check_segment texels;
} check_window;

typedef struct check_state {
  mtli_check check;  // first: kernels have its address
  const mtli_check_sites *sites;
  const char *kernel;
  uint32_t checks;
  check_segment last;         // number given last
  check_segment safe;         // those below are ordered before this dispatch
  check_segment texels_safe;  // the same, of texels
  check_segment group_first;  // first of the threadgroup
  uint32_t dispatch;          // index in the past
  uint32_t queue;             // index
  uint64_t queue_number;
  uint32_t encoder;  // its section's number (clocks.c)
  uint32_t stage;
  bool is_tracked;   // all memory that the dispatch may access
  check_moment now;  // of segment
  uint32_t threads;  // in the threadgroup
  uint32_t group_size[3];
  check_segment dispatch_first;  // first of the dispatch
  check_segment device_first;    // first behind the last barrier for such
  check_segment texels_first;    // the same, of textures
  uint64_t threadgroup_bytes;
  uint64_t threadgroup_room;  // bytes that have cells
  check_cell *threadgroup_quarters;
  mtli_check_view *views;  // [range_count]
  check_range *ranges;     // [range_count]
  size_t range_count;
  check_memory *found;  // for an address, last
  uint32_t group_count[3];
  // Waits:
  uint32_t arrived;       // at the threadgroup barrier
  uint32_t arrived_site;  // where the first did
  uint32_t arrived_flags;
  uint32_t arrived_other;  // another site, or 0
  uint32_t arrived_thread[2];
  uint32_t simd_epoch;  // simdgroup barriers so far
  struct {
    uint32_t site;
    uint32_t origin;
    uint32_t flags;
    uint32_t simd_threadgroup;
    uint32_t simd_device;
    check_segment segment;
    bool has_new;   // it has passed a wait that orders: a new segment begins
    uint32_t born;  // where it first made a value that is not finite
  } thread[CHECK_MOST_THREADS];
  // A write that may be of the same value as another thread's: in `bounce`,
  // and to come to `pending`.
  char *pending;
  uint32_t pending_bytes;
  uint32_t pending_site;
  check_segment pending_other;
  uint32_t pending_other_site;
  char bounce[128];
  char *dump;  // for accesses out of bounds
  uint32_t schedule_kind;
  uint64_t seed;
  bool is_stale;  // reads that race may return the value from before the
                  // dispatch
  uint64_t stale_seed;
  uint32_t run;            // of the dispatch, from 0
  check_window window;     // of the queue, before further runs
  bool has_device_writes;  // through addresses that are no argument
  uint32_t *order;         // [group_count] of groups; NULL: forward
  uint32_t thread_order[CHECK_MOST_THREADS];
  bool is_to_stop;
  bool has_fences;  // the kernel has some
  bool has_simd_orders;  // barriers of its simdgroups order memory
  bool has_parts;   // it writes parts of words, and the site does not say which
  uint64_t marked;  // bytes of a write that were read before they were set
  check_known *known;
  size_t known_count;
  size_t known_capacity;
  // Of screened dispatches (screen.c):
  uint32_t screened_threads;
  uint64_t group_stamp_bytes;
} check_state;

enum { CHECK_DUMP_BYTES = 1 << 16, CHECK_MOST_INLINE = 1 << 14 };

// Segments of the dispatch's queue below that are ordered by a barrier that
// names the memory.
static inline check_segment check_barrier_of(const check_state *s,
                                             const check_memory *memory) {
  return memory->barrier_queue == s->queue_number ? memory->barrier : 0;
}

// clocks.c: true if a segment, of another dispatch, comes before. is_tracked:
// its queue orders encoders over the memory that both access.
// barrier: segments of its queue below are ordered by one that names the
// memory.
bool check_past_is_ordered(const check_state *s, const check_past *past,
                           check_segment segment, check_kind kind,
                           check_segment barrier);
// Begins work of state->stage on a queue; next is the number that its first
// segment gets. Sets the queue's index, and the encoder that it is in.
void check_clock_take(check_state *s, uint64_t queue, unsigned orders,
                      check_segment next);
// True if a queue is ordered by barriers.
bool check_clock_has_barriers(uint64_t queue);
check_window check_clock_window(uint32_t queue);
void check_clock_set_window(uint32_t queue, check_window window);
// The dispatch runs again: behind its first run.
void check_clock_run_again(check_state *s, check_segment next);
// The queue's last dispatch has ended, with the segment before end.
void check_clock_end(uint32_t queue, check_segment end);
// Marks segments below as ordered before the queue's next work, whichever queue
// they belong to.
void check_clock_safe(check_state *s);
// Forgets all.
void check_clocks_forget(void);
// dispatch.c: the state, ready for a dispatch or a command; NULL if there is no
// memory for it. Keeps what it is of for findings; false if there is none.
check_state *check_state_prepare(void);
bool check_past_add(check_state *s);
// host.c: a list of buffers whose pages are protected while work uses them.
// check_host_hold adds one, check_host_release ends the uses and frees the
// list, check_hold_free frees the list alone.
typedef struct check_hold check_hold;
void check_host_hold(check_hold **holds, const mtli_check_held *held);
void check_host_release(check_hold *holds);
void check_hold_free(check_hold *holds);
// commands.c: the sites of a command other than a dispatch: 1 reads, 2 writes.
const mtli_check_sites *check_command_sites(void);
// commands.c: true for the sites of a command other than a dispatch.
bool check_is_command(const mtli_check_sites *sites);
// Forgets what is known of segments below end.
void check_segments_drop(check_segment end);

// fences.c: the thread that runs passes a fence; reads or writes an atomic.
void check_fences_clear(void);
void check_fence(check_state *s, bool is_of_group);
void check_fences_atomic(check_state *s, uint64_t address, bool reads,
                         bool writes);

// settings.c: the schedule asked for, of a dispatch's run number `run`, and how
// many runs each is to have.
enum { CHECK_FORWARD, CHECK_REVERSE, CHECK_RANDOM };
uint32_t check_schedule(uint32_t run, uint64_t *out_seed, bool *out_is_stale);
uint32_t check_schedule_runs(void);
// True if a schedule may be one that is stale.
bool check_schedule_is_stale(void);

// explore.c: a dispatch begins, whose ranges are known; false if there is no
// memory for it. A run is over: true if there is to be another one. Where a
// read that races may get an older value: there, or at address itself.
bool check_explore_begin(const check_state *s);
bool check_explore_next(check_state *s);
void check_explore_end(void);
void *check_explore_stale(check_state *s, void *address, uint64_t length);

// Returns what fast paths may assume of an argument.
mtli_check_view check_view_of(const check_state *s, const check_range *range);

// settings.c: true if METTLE_CHECK_SCREEN is "only": a dispatch that screening
// stops is reported as unchecked; for tests.
bool check_screens_only(void);

// False if nothing is known of it.
bool check_moment_of(check_segment segment, check_moment *out);
// Returns the dispatch that a segment is of.
const check_past *check_past_of(check_segment segment);
// True if segment `before`, at least state->safe, happens before the running
// one: its writes to memory of that kind are visible.
bool check_is_ordered(const check_state *s, check_segment before,
                      check_kind kind, check_segment barrier);
// Returns the number given last; rows of threads count by themselves.
check_segment check_last(check_state *s);
// Resumes a thread that has waited: in its segment, unless the wait orders
// others before it.
void check_go_on(check_state *s, uint32_t thread);
// Begins a segment of a thread.
void check_switch(check_state *s, uint32_t thread);
// The next segments are of thread and those behind it, at one epoch.
void check_expect(check_state *s, uint32_t thread);
// Invalidates the facts about the running threads.
void check_part(check_state *s);
// Sets the floors and bounds of the running group.
void check_set_floors(check_state *s);

// parts.c: the bytes of a word, as cells of their own.
static inline bool check_is_parted(const check_cell *cell) {
  return cell->write >= MTLI_CHECK_PACKED;
}
void check_parts_load(const check_cell *cell, const check_cell *quarters,
                      check_cell out[4]);
// Segments below floor may be forgotten.
void check_parts_store(check_cell *cell, check_cell *quarters,
                       const check_cell in[4], check_segment floor);
// Returns the cell of the byte at an offset.
check_cell check_parts_at(const check_cell *cell, const check_cell *quarters,
                          uint64_t offset);
mtli_check_part_fn check_part_access;
// Forgets the names in packed cells: no cell is packed any more.
void check_parts_forget(void);

// read_sites.c: the site of a cell's read, and of its other_read. They are 0 if
// they are not known.
uint32_t check_read_site(const check_cell *cell);
uint32_t check_other_read_site(const check_cell *cell);
void check_set_read_sites(check_cell *cell, uint32_t read, uint32_t other_read);
// Forgets all pairs: no cell has one any more.
void check_read_sites_forget(void);

// races.c: looks at an access of memory with cells (of its first word, and its
// bytes). Returns where to write: elsewhere, if it may be the value that is
// there; then check_settle is to come.
typedef struct check_place {
  check_cell *cells;
  check_cell *quarters;
  uint64_t offset;
  uint64_t length;
  uint64_t told;  // offset to tell
  check_kind kind;
  bool is_coarse;  // a read of a part of a word counts as a read of the word
  check_segment barrier;  // check_barrier_of the memory
  check_memory *memory;   // device memory, else NULL
} check_place;
void *check_races(check_state *s, uint32_t site, void *address,
                  const check_place *place);
// Completes a write that waited for its value.
void check_settle(mtli_check *check);
bool check_is_atomic(const mtli_check_site *site);
bool check_is_write(const mtli_check_site *site);

// origins.c: an unset value is stored there, which comes from origin; 0 if
// that is not known.
void check_origins_clear(void);
void check_origins_put(const void *address, uint64_t length, uint32_t origin);
uint32_t check_origins_get(const void *address);

// values.c
void check_use(mtli_check *check, uint32_t site, uint32_t origin);

// bounds.c
void *check_harmless(check_state *s);
void check_report_bounds(check_state *s, const char *kind, uint32_t site,
                         uint64_t address, uint64_t first, uint64_t bytes,
                         uint64_t length);
void check_report_member(mtli_check *check, uint32_t site, void *address,
                         void *base);
void check_report_residency(check_state *s, uint32_t site,
                            const check_memory *memory);
void check_report_align(check_state *s, uint32_t site, uint64_t address);

static inline const mtli_check_site *check_site(const check_state *s,
                                                uint32_t site) {
  return &s->sites->sites[site];
}

static inline const char *check_text(const check_state *s, uint32_t offset) {
  return s->sites->texts + offset;
}

// accesses.c
void check_take_functions(check_state *s);
// schedule.c
void check_run_threads(mtli_check *check, const mtli_cpu_launch *launch,
                       void *scratch, const mtli_cpu_group *group,
                       mtli_check_row_fn *row);
void check_run_waiting(mtli_check *check, const mtli_cpu_launch *launch,
                       void *scratch, void *context,
                       const mtli_cpu_group *group, mtli_check_start_fn *start,
                       mtli_check_execute_fn *execute, uint64_t key_words,
                       uint64_t frame_bytes);
void check_arrive(mtli_check *check, uint32_t site, uint32_t flags,
                  uint32_t origin);
uint32_t check_pass(mtli_check *check, uint32_t site);
uint64_t check_random(uint64_t *seed);

// --- findings.c --------------------------------------------------------------

// One side of a finding.
typedef struct check_side {
  const mtli_check_sites *sites;
  uint32_t site;
  bool has_thread;
  uint32_t thread;
  uint32_t group;
  const char *kernel;
  const uint32_t *group_count;  // [3]
  uint32_t dispatch;
} check_side;

// Records an instance, and returns the number of its finding; SIZE_MAX if there
// is no memory for it. detail describes it. The lock is held.
size_t check_report(check_state *s, const char *kind, const check_side *first,
                    const check_side *second, const char *detail, ...)
    __attribute__((format(printf, 5, 6)));
check_side check_side_now(const check_state *s, uint32_t site);
check_side check_side_of(const check_state *s, check_segment segment,
                         uint32_t site);

// findings.c: converts a side to the public form.
mtl_check_place check_place_of(const check_side *side);
// Returns the state of the last dispatch.
const check_state *check_last_state(void);

// Returns the first finding of the dispatch, malloc'ed; NULL if there is none.
char *check_first_text(const check_state *s);

// Counted for the last line of the report.
extern uint32_t check_dispatches;
extern uint32_t check_unchecked;
extern pthread_mutex_t check_lock;
const char *check_schedule_text(void);
// Writes the name of run number `run` into out [64].
void check_schedule_name(uint32_t run, char *out);

#endif
