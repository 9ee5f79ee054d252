// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu_objects.h: the cpu driver's objects: the driver's part of each object of
// the runtime, and jobs, which threads share.
#ifndef MTLI_CPU_OBJECTS_H
#define MTLI_CPU_OBJECTS_H

#include "base/memory/pages.h"
#include "code/cpu_abi.h"
#include "runtime/driver.h"

typedef struct cpu_pool cpu_pool;
typedef struct cpu_late cpu_late;
typedef struct cpu_overseer cpu_overseer;
typedef struct cpu_squad cpu_squad;
typedef struct cpu_context cpu_context;
typedef struct cpu_queue cpu_queue;
typedef struct cpu_job cpu_job;

enum { CPU_DEVICE = 0, CPU_DISCRETE_DEVICE, CPU_DEVICE_COUNT };

typedef struct cpu_device {
  mtl_device device;
  cpu_pool *pool;
  cpu_late *late;           // of cpu-discrete; NULL on cpu
  uint64_t clock_start_ns;  // of cpu-discrete's clock
} cpu_device;

// Converts a time of CLOCK_MONOTONIC to the device's clock; on cpu they are the
// same.
uint64_t cpu_device_ticks(const cpu_device *device, uint64_t now_ns);

static inline uint64_t at_least(uint64_t value, uint64_t low) {
  return value < low ? low : value;
}

static inline uint64_t at_most(uint64_t value, uint64_t high) {
  return value > high ? high : value;
}

static inline bool cpu_is_discrete(const mtl_device *device) {
  return device->index == CPU_DISCRETE_DEVICE;
}

// A range of a managed buffer that the host wrote.
typedef struct cpu_range {
  struct cpu_range *next;
  size_t offset_bytes;
  size_t length_bytes;
} cpu_range;

typedef struct cpu_buffer {
  mtl_buffer buffer;
  mtli_pages memory;  // the memory that kernels access; empty if the client's
                      // is used
  // cpu-discrete, shared and managed (coherence.c):
  mtli_pages host;  // the memory that the host accesses; empty if the client's
                    // is used
  mtli_pages synced;     // shared: the bytes on which both sides last agreed
  pthread_mutex_t lock;  // of the copies' coherence
  cpu_range *modified;   // managed: ranges not yet copied to the device
} cpu_buffer;

// Parts of one heap may overlap: they share its lock.
static inline pthread_mutex_t *cpu_buffer_lock(cpu_buffer *buffer) {
  cpu_buffer *parent = (cpu_buffer *)buffer->buffer.parent;
  return parent ? &parent->lock : &buffer->lock;
}

// An object's line table, followed by its texts (lines.c).
typedef struct cpu_lines {
  void *bytes;  // [table_bytes + text_bytes] malloc'ed; NULL if there are none
  size_t table_bytes;
  size_t text_bytes;
} cpu_lines;

// A loaded shared object with machine code.
typedef struct cpu_code {
  cpu_lines lines;
  void *library;              // of dlopen
  int file;                   // the memory file that it was loaded from, or -1
                              // if closed
  const mtli_cpu_code *code;  // in it
  // The range of its instructions; kernels call nothing outside.
  uintptr_t base;  // address minus the object's own offset
  uintptr_t first_instruction;
  uintptr_t end_instructions;
} cpu_code;

// True if an instruction belongs to the code. Safe in signal handlers.
static inline bool cpu_code_has(const cpu_code *code, uintptr_t instruction) {
  return code && instruction >= code->first_instruction &&
         instruction < code->end_instructions;
}

typedef struct cpu_variant cpu_variant;

// The recent time of a job's piece: on one thread, and shared with threads that
// were spinning (habits.c); 0 if unknown.
typedef struct cpu_habit {
  _Atomic uint64_t piece_ps[2];
  _Atomic uint32_t count;
} cpu_habit;

enum { CPU_HABITS = 8 };  // for jobs of 1 piece, up to 3, 15, 63, ...

typedef struct cpu_pipeline {
  mtl_pipeline pipeline;
  cpu_code code;         // for threadgroups of pipeline.kernel->group_class
  pthread_mutex_t lock;  // of variants
  _Atomic(cpu_variant *) variants;  // code for other classes; only grows
  _Atomic uint64_t group_ns;  // the time of a recent threadgroup; 0 if unknown
  cpu_habit habits[CPU_HABITS];
  // In a checked pipeline: the pipeline that screens its dispatches; NULL for
  // none.
  struct cpu_pipeline *screened;  // +1
} cpu_pipeline;

typedef struct cpu_event {
  mtli_host_event base;
  // The queue of the event's device whose last committed list signals it. Only
  // compared, never followed: it may be gone.
  _Atomic uintptr_t signaller;
} cpu_event;

// The goal of a waiting client's thread: room in a queue, a command buffer's
// completion, or an event's value. All zero is none.
typedef struct cpu_goal {
  const mtl_queue *queue;
  const mtl_command_buffer *command_buffer;
  mtli_host_event *event;
  uint64_t value;
} cpu_goal;

// Work that several threads share: pieces first to end - 1, run in any order.
typedef void cpu_job_run_fn(cpu_job *job, uint64_t first, uint64_t end,
                            cpu_context *context);

// A range of a job's pieces; those from next on are not taken yet. Each range
// has a cache line of its own.
typedef struct cpu_run {
  _Alignas(64) _Atomic uint64_t next;
  uint64_t end;
  _Atomic bool is_taken;  // some thread has begun with it
} cpu_run;

typedef struct cpu_slot cpu_slot;
typedef struct cpu_jobs cpu_jobs;

enum {
  CPU_RUNS = 64,   // ranges of a job; more threads share them
  CPU_SLOTS = 64,  // jobs shared at once; a bit each
};

struct cpu_job {
  cpu_queue *queue;
  mtli_command *command;
  cpu_job_run_fn *run;
  // What run needs of a context, besides a position and the launch's
  // threadgroup memory: values kept across threadgroups and barriers.
  size_t kept_bytes;
  size_t margin_bytes;  // padding around position and threadgroup memory
  mtli_cpu_launch launch;
  // Of a dispatch: code for complete threadgroups, and for threadgroups cut off
  // along x.
  const cpu_code *code;
  const cpu_code *edge_code;
  uint32_t piece_groups;  // threadgroups in a piece of a dispatch
  uint64_t piece_count;
  bool is_in_order;  // one thread runs all pieces, in order
  // Of a job that threads share (jobs.c, pieces.c):
  cpu_slot *slot;
  cpu_run *runs;       // [run_count], in the slot
  uint32_t run_count;  // 0 until the job is shared
  uint64_t chunk;      // pieces that a thread takes at a time
  bool may_overlap;    // set by prepare: it may run beside the next command
  // Of a checked dispatch: whether its code is screening code, and whether that
  // code has stopped.
  bool is_screened;
  bool is_by_group;  // the checker is told when each threadgroup begins
  bool is_suspect;
};

// A signal or completion of cpu-discrete that has not arrived yet (late.c).
typedef struct cpu_late_item {
  struct cpu_late_item *next;
  uint64_t due_ns;
  void (*arrive)(struct cpu_late_item *item);
} cpu_late_item;

// The classes of a dispatch's threadgroups, and of those that the grid cuts
// off.
typedef struct cpu_classes {
  mtli_group_class whole;
  mtli_group_class edge;
} cpu_classes;

typedef struct cpu_command {
  cpu_job job;
  // Of a dispatch, if cpu_dispatch_prepare has found them; the job then has the
  // threadgroups' size. An indirect dispatch's are found when it runs.
  cpu_classes classes;
  bool has_classes;
  cpu_late_item late;
  mtli_command *command;
} cpu_command;

// The driver's part of a command buffer.
typedef struct cpu_list {
  cpu_late_item late;
  mtl_command_buffer *command_buffer;
  mtl_status status;  // of its first failed command
  char *text;         // malloc'ed
  uint64_t start_ns;  // the time when its work began; 0 while it waits for code
  uint64_t end_ns;
} cpu_list;

static inline cpu_list *cpu_list_of(mtl_command_buffer *command_buffer) {
  return command_buffer->driver_data;
}

typedef enum cpu_queue_state {
  CPU_QUEUE_IDLE = 0,  // nothing to do
  CPU_QUEUE_READY,     // in the pool's list
  CPU_QUEUE_RUNNING,   // on a thread, in the hands of its jobs' users, or
                       // waiting for an event
} cpu_queue_state;

struct cpu_queue {
  mtl_queue queue;
  cpu_pool *pool;
  // Under the pool's lock:
  cpu_queue_state state;
  cpu_queue *next_ready;
  bool was_helped;  // a client's thread ran it last
  // The command buffer taken up last. Only compared, never followed: it may
  // have completed.
  const mtl_command_buffer *taken_up;
  bool is_overseen;           // in overseer.c's list; see the end for the rest
  mtl_command_buffer *first;  // submitted, and not taken up yet
  mtl_command_buffer *last;
  // Of the thread that runs the queue:
  mtl_command_buffer *current;
  mtli_command *next_command;
  bool is_stale;         // the host may have written since the last upload
  mtli_watcher watcher;  // called when the awaited event has its value
  const mtli_command *awaiting;  // the command that waits; NULL for none
  // Unfinished jobs, plus one for the thread that runs the queue. The thread
  // that decrements it to 0 continues the queue.
  _Atomic uint32_t outstanding;
  _Atomic bool has_failed;  // of the current command buffer
  // MTL_TIMED_OUT or MTL_CANCELLED if the current command buffer is to end;
  // written under the pool's lock.
  _Atomic uint32_t stop;
  // The event that the queue waits for, or is about to; and whether a thread is
  // ending that wait (stop.c).
  _Atomic(mtli_host_event *) awaited;
  _Atomic bool is_being_stopped;
  // While it is overseen; under the pool's lock:
  uint64_t time_left_ns;  // paused while it waits for an event
  cpu_queue *next_overseen;
  uint64_t deadline_ns;   // when the limit expires; 0 if never
  uint64_t interrupt_ns;  // interval from one interrupt to the next; 0 before
                          // the first
};

#endif
