// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fault_text.c: writes a fault's error: the kernel, its line and thread, and
// what happened. It trusts nothing that the kernel may have overwritten.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "drivers/cpu/cpu.h"

static const char *signal_name(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGTRAP: return "SIGTRAP";
  }
  return "a signal";
}

// Returns the address of the code's object if an address, of an instruction or
// a text, is in it; else 0.
static uintptr_t object_around(const cpu_code *code, uintptr_t address) {
  Dl_info own;
  Dl_info other;
  return code && dladdr(code->code, &own) &&
                 dladdr((const void *)address, &other) &&
                 own.dli_fbase == other.dli_fbase
             ? (uintptr_t)own.dli_fbase
             : 0;
}

// Returns a text of the kernel's own, or NULL: a faulty kernel may have left
// any address in its position.
static const char *note_of(const cpu_job *job,
                           const mtli_cpu_position *position) {
  const char *note = NULL;
  memcpy(&note, (const char *)position + MTLI_CPU_TRAP_TEXT_OFFSET,
         sizeof note);
  return object_around(job->code, (uintptr_t)note) ||
                 object_around(job->edge_code, (uintptr_t)note)
             ? note
             : NULL;
}

// Describes why the code stopped itself, as it noted (cpu_abi.h).
static void describe_stop(const cpu_job *job, const cpu_context *context,
                          char *text, size_t capacity) {
  enum { STOPPED_BY_TRAP = 1, STOPPED_BY_ASSERTION, STOPPED_AS_SAID };
  const mtli_cpu_position *position = context->scratch;
  const uint32_t reason = position->reserved[0];
  const char *note = note_of(job, position);
  const char *signal = signal_name(context->fault.signal);
  if ((reason == STOPPED_BY_ASSERTION || reason == STOPPED_AS_SAID) && note) {
    snprintf(text, capacity, "%s%s (%s)",
             reason == STOPPED_AS_SAID ? "" : "assertion failed: ", note,
             signal);
    return;
  }
  snprintf(text, capacity, "%s (%s)",
           reason == STOPPED_BY_TRAP        ? "it called __builtin_trap"
           : reason == STOPPED_BY_ASSERTION ? "an assertion failed"
                                            : "it trapped",
           signal);
}

// Returns the bytes from an address to a piece of memory; 0 inside.
static size_t distance_bytes(uintptr_t address, uintptr_t first,
                             size_t size_bytes) {
  return address < first                ? first - address
         : address < first + size_bytes ? 0
                                        : address - first - size_bytes + 1;
}

static void describe_threadgroup_memory(const cpu_job *job,
                                        const cpu_context *context,
                                        const char *does, char *text,
                                        size_t capacity) {
  const uintptr_t address = context->fault.address;
  const size_t size_bytes = job->launch.threadgroup_bytes;
  const uintptr_t first =
      (uintptr_t)context->scratch + sizeof(mtli_cpu_position);
  const size_t away_bytes = distance_bytes(address, first, size_bytes);
  if (address < first) {
    snprintf(text, capacity,
             "it %s %zu bytes before its %zu bytes of threadgroup memory", does,
             away_bytes, size_bytes);
  } else if (away_bytes == 1) {
    snprintf(
        text, capacity,
        "it %s right behind the end of its %zu bytes of threadgroup memory",
        does, size_bytes);
  } else {
    snprintf(text, capacity,
             "it %s %zu bytes past the end of its %zu bytes of threadgroup "
             "memory",
             does, away_bytes - 1, size_bytes);
  }
}

// Finds the threadgroup argument without memory that an address belongs to, or
// NULL. Their fake addresses are one after another (driver.h).
static const mtl_argument *find_missing(const cpu_job *job,
                                        const cpu_context *context) {
  const uintptr_t first =
      (uintptr_t)context->scratch + sizeof(mtli_cpu_position);
  const uintptr_t address = context->fault.address;
  if (job->command->kind != MTLI_COMMAND_DISPATCH || address < first ||
      address - first > context->workspace.guard_bytes) {
    return NULL;
  }
  const mtli_dispatch *dispatch = &job->command->dispatch;
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  const uintptr_t near = address - first + MTLI_NO_THREADGROUP_MEMORY / 2;
  const mtl_argument *nearest = NULL, *any = NULL;
  uintptr_t nearest_offset = 0;
  for (uint32_t slot = 0; slot < kernel->parameter_count; slot++) {
    const mtli_parameter *parameter = &kernel->parameters[slot];
    const uintptr_t offset = (uintptr_t)dispatch->arguments[slot];
    if (parameter->builtin != MTLI_BUILTIN_NONE ||
        parameter->argument.kind != MTL_ARGUMENT_THREADGROUP_MEMORY ||
        offset < MTLI_NO_THREADGROUP_MEMORY) {
      continue;
    }
    any = any ? any : &parameter->argument;
    if (offset > nearest_offset && offset <= near) {
      nearest = &parameter->argument;
      nearest_offset = offset;
    }
  }
  return nearest ? nearest : job->launch.threadgroup_bytes ? NULL : any;
}

static bool describe_missing(const cpu_job *job, const cpu_context *context,
                             char *text, size_t capacity) {
  const mtl_argument *argument = find_missing(job, context);
  if (argument) {
    snprintf(
        text, capacity,
        "it %s argument '%s' [[threadgroup(%u)]], whose length is 0: it is "
        "not bound",
        context->fault.is_write ? "wrote to" : "read", argument->name,
        argument->index);
  }
  return argument;
}

// Describes an address near the worker's own memory. False if it is elsewhere.
static bool describe_own(const cpu_job *job, const cpu_context *context,
                         char *text, size_t capacity) {
  enum { NEAR_BYTES = 16 * 1024 * 1024 };
  const cpu_workspace *workspace = &context->workspace;
  const cpu_fault *fault = &context->fault;
  const char *does = fault->is_write ? "wrote" : "read";
  const size_t stack_bytes = (size_t)(workspace->stack_end - workspace->stack);
  const size_t threadgroup_bytes = job->launch.threadgroup_bytes;
  if (distance_bytes(fault->address, (uintptr_t)workspace->stack, stack_bytes) <
      NEAR_BYTES) {
    if (fault->address < (uintptr_t)workspace->stack) {
      snprintf(text, capacity,
               "its private memory does not fit on its stack of %zu bytes: "
               "calls without end, or an index far off a private array",
               stack_bytes);
    } else {
      snprintf(text, capacity, "it %s past the end of its private memory",
               does);
    }
    return true;
  }
  if (threadgroup_bytes &&
      distance_bytes(fault->address, (uintptr_t)context->scratch,
                     threadgroup_bytes) < NEAR_BYTES) {
    describe_threadgroup_memory(job, context, does, text, capacity);
    return true;
  }
  if (job->kept_bytes &&
      distance_bytes(fault->address, (uintptr_t)workspace->kept,
                     workspace->kept_bytes) < NEAR_BYTES) {
    snprintf(text, capacity,
             "it %s outside of the private memory that it keeps across "
             "barriers",
             does);
    return true;
  }
  return false;
}

static const mtli_dispatch *dispatch_of(const cpu_job *job) {
  return job->command->kind == MTLI_COMMAND_DISPATCH ? &job->command->dispatch
                                                     : NULL;
}

// The low half of the address space is the process's, the high half the
// system's; no address between them exists.
static void describe_improper(const cpu_fault *fault, char *text,
                              size_t capacity) {
  enum { USER_BITS = 47, MOST_ALIGNMENT = 64 };
  const int64_t high = (int64_t)fault->address >> USER_BITS;
  const char *signal = signal_name(fault->signal);
  if (fault->address == 0) {
    snprintf(text, capacity,
             "it used an address that no memory can have, or a misaligned one "
             "(%s)",
             signal);
  } else if (high != 0 && high != -1) {
    snprintf(text, capacity,
             "it used address %#zx, which no memory can have "
             "(%s)",
             (size_t)fault->address, signal);
  } else if (fault->address % MOST_ALIGNMENT) {
    snprintf(
        text, capacity,
        "it used address %#zx, which is misaligned: not a multiple of what "
        "the type demands (%s)",
        (size_t)fault->address, signal);
  } else {
    snprintf(text, capacity,
             "it used address %#zx in a way that it must not "
             "(%s)",
             (size_t)fault->address, signal);
  }
}

// Describes the fault.
static void describe(const cpu_job *job, const cpu_context *context, char *text,
                     size_t capacity) {
  const cpu_fault *fault = &context->fault;
  if (fault->is_stop) {
    cpu_queue_describe_stop(job->queue, text, capacity);
    return;
  }
  if (fault->is_improper) {
    describe_improper(fault, text, capacity);
    return;
  }
  if (!fault->is_access) {
    describe_stop(job, context, text, capacity);
    return;
  }
  if (describe_missing(job, context, text, capacity) ||
      describe_own(job, context, text, capacity)) {
    return;
  }
  const mtli_access access = {.address = fault->address,
                              .is_write = fault->is_write,
                              .dispatch = dispatch_of(job)};
  char place[256];
  mtli_describe_access(job->queue->queue.device, &access, place, sizeof place);
  snprintf(text, capacity, "it %s address %#zx%s%s (%s)",
           fault->is_write ? "wrote to" : "read", (size_t)fault->address,
           *place                  ? ", "
           : fault->address < 4096 ? ", a null pointer"
                                   : "",
           place, signal_name(fault->signal));
}

// --- the line ----------------------------------------------------------------

static bool find_line_in(const cpu_code *code, uintptr_t address, char *file,
                         size_t capacity, uint32_t *line) {
  const uintptr_t first = object_around(code, address);
  return first && code->lines.bytes &&
         cpu_lines_find(&code->lines, address - first, file, capacity, line);
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text);
  const size_t end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

// Names the threadgroups that ran together with the noted one, if there were
// any.
static void describe_others(const cpu_job *job,
                            const mtli_cpu_position *position, char *text,
                            size_t capacity) {
  const mtli_cpu_code *code = job->code->code;
  const uint32_t count = position->reserved[1];
  text[0] = 0;
  if (count > 1 && count == code->groups_at_once) {
    snprintf(text, capacity, " or one of the %u next, %u apart", count - 1,
             code->groups_apart);
  }
}

// Writes "file:line, " of the instruction, or of the call if it is in a
// function without lines, such as memcpy; or nothing.
static void write_line(const cpu_job *job, const cpu_fault *fault, char *out,
                       size_t capacity) {
  const char *kernels_file = job->command->dispatch.pipeline->kernel->file;
  const cpu_code *codes[] = {job->code, job->edge_code};
  const uintptr_t addresses[] = {fault->instruction, fault->link - 1};
  *out = 0;
  for (int i = 0; i < 4; i++) {
    char file[256];
    uint32_t line = 0;
    const cpu_code *code = codes[i % 2];
    if (find_line_in(code, addresses[i / 2], file, sizeof file, &line)) {
      const bool is_kernels = kernels_file && ends_with(kernels_file, file);
      snprintf(out, capacity, "%s:%u, ", is_kernels ? kernels_file : file,
               line);
      return;
    }
  }
}

// --- the thread --------------------------------------------------------------

typedef struct thread_place {
  uint32_t thread[3];
  uint32_t group[3];
} thread_place;

// Returns how many threads the noted threadgroup has along a side of the
// launch: the last one may be smaller.
static uint32_t side_of(const cpu_job *job, const mtli_cpu_position *position,
                        uint32_t side) {
  const mtli_cpu_launch *launch = &job->launch;
  const uint32_t full = launch->group_threads[side];
  const uint32_t left =
      launch->grid_threads[side] - position->group[side] * full;
  return left < full ? left : full;
}

// Converts an index in the noted threadgroup, which the driver may have formed,
// to a place in the program's threadgroups.
static thread_place place_of(const cpu_job *job,
                             const mtli_cpu_position *position,
                             uint32_t index) {
  const mtli_dispatch *dispatch = &job->command->dispatch;
  thread_place out;
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t side = side_of(job, position, i);
    const uint32_t place = position->group[i] * job->launch.group_threads[i] +
                           (side ? index % side : 0);
    index = side ? index / side : 0;
    const uint32_t own = (i + job->launch.turn) % 3;
    out.group[own] = place / dispatch->group_threads[own];
    out.thread[own] = place % dispatch->group_threads[own];
  }
  return out;
}

// Returns how many threads may be the one that failed: in tier T1 those that
// ran together, unless the code stopped by itself and has noted one.
static uint32_t count_of(const cpu_job *job, const cpu_context *context,
                         uint32_t first) {
  const mtli_cpu_position *position = context->scratch;
  const bool is_noted = !context->fault.is_stop && !context->fault.is_access &&
                        position->reserved[0] != 0;
  const mtli_kernel *kernel = job->command->dispatch.pipeline->kernel;
  if (kernel->tier != MTLI_TIER_1 || is_noted) {
    return 1;
  }
  const uint32_t at_once = position->thread_in_group >> MTLI_CPU_COUNT_SHIFT;
  const uint32_t count = at_once ? at_once : MTL_SIMD_WIDTH;
  const uint32_t threads = side_of(job, position, 0) *
                           side_of(job, position, 1) *
                           side_of(job, position, 2);
  const uint32_t left = threads > first ? threads - first : 1;
  return left < count ? left : count;
}

// Writes "thread (x, y, z) of threadgroup (x, y, z)", or the first and the last
// of those that it may be.
static void write_threads(const cpu_job *job, const cpu_context *context,
                          char *out, size_t capacity) {
  const mtli_cpu_position *position = context->scratch;
  const uint32_t first =
      position->thread_in_group & ((1u << MTLI_CPU_COUNT_SHIFT) - 1);
  const uint32_t count = count_of(job, context, first);
  const thread_place a = place_of(job, position, first);
  const thread_place b = place_of(job, position, first + count - 1);
  const uint32_t *t = a.thread, *g = a.group;
  const uint32_t *end = b.thread, *end_group = b.group;
  if (count == 1) {
    snprintf(out, capacity, "thread (%u, %u, %u) of threadgroup (%u, %u, %u)",
             t[0], t[1], t[2], g[0], g[1], g[2]);
  } else if (memcmp(g, end_group, sizeof a.group) == 0) {
    snprintf(out, capacity,
             "one of threads (%u, %u, %u) to (%u, %u, %u) of threadgroup "
             "(%u, %u, %u)",
             t[0], t[1], t[2], end[0], end[1], end[2], g[0], g[1], g[2]);
  } else {
    snprintf(out, capacity,
             "one of thread (%u, %u, %u) of threadgroup (%u, %u, %u) to thread "
             "(%u, %u, %u) of threadgroup (%u, %u, %u)",
             t[0], t[1], t[2], g[0], g[1], g[2], end[0], end[1], end[2],
             end_group[0], end_group[1], end_group[2]);
  }
}

void cpu_fault_report(const cpu_job *job, const cpu_context *context) {
  char what[512];
  describe(job, context, what, sizeof what);
  if (job->command->kind == MTLI_COMMAND_HOST_WORK) {
    cpu_queue_fail(job->queue, MTL_KERNEL_FAULT, "host work '%s' failed: %s",
                   job->command->host_work.name, what);
    return;
  }
  if (job->command->kind != MTLI_COMMAND_DISPATCH) {
    cpu_queue_fail(job->queue, MTL_KERNEL_FAULT,
                   "a blit reached memory that is gone: %s", what);
    return;
  }
  const mtli_dispatch *dispatch = &job->command->dispatch;
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  const mtli_cpu_position *position = context->scratch;
  char line[320];
  const bool is_stop = context->fault.is_stop;
  write_line(job, &context->fault, line, sizeof line);
  char threads[160];
  write_threads(job, context, threads, sizeof threads);
  char others[64];
  describe_others(job, position, others, sizeof others);
  const mtl_status status =
      is_stop ? atomic_load_explicit(&job->queue->stop, memory_order_relaxed)
              : MTL_KERNEL_FAULT;
  cpu_queue_fail(
      job->queue, status, "kernel '%s' (%s:%u)%s%s%s %s at %s%s%s: %s",
      kernel->name, kernel->file ? kernel->file : "", kernel->line,
      dispatch->debug_group ? " in debug group '" : "",
      dispatch->debug_group ? dispatch->debug_group : "",
      dispatch->debug_group ? "'" : "", is_stop ? "ended early" : "failed",
      line, threads, others, what);
}
