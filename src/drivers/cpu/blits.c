// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// blits.c: runs copies, fills, updates and host functions as jobs.
#include <string.h>

#include "drivers/cpu/cpu.h"

enum {
  // threads share a copy in pieces of this size
  COPY_PIECE_BYTES = 256 * 1024,
  // a first guess of one thread's speed
  COPY_BYTES_PER_NS = 8,
};

static void copy_pieces(cpu_job *job, uint64_t first, uint64_t end,
                        cpu_context *context) {
  (void)context;
  const mtli_command *command = job->command;
  const size_t from = first * COPY_PIECE_BYTES;
  const size_t to = at_most(end * COPY_PIECE_BYTES, command->copy.length_bytes);
  const char *source =
      (const char *)(uintptr_t)command->copy.source->gpu_address;
  char *target = (char *)(uintptr_t)command->copy.target->gpu_address;
  memcpy(target + command->copy.target_offset_bytes + from,
         source + command->copy.source_offset_bytes + from, to - from);
}

// Copies rows of a box; a row is a piece.
static void copy_rows(cpu_job *job, uint64_t first, uint64_t end,
                      cpu_context *context) {
  (void)context;
  const mtli_command *command = job->command;
  const mtli_box_side *source = &command->copy_box.source;
  const mtli_box_side *target = &command->copy_box.target;
  const char *from = (const char *)(uintptr_t)source->buffer->gpu_address +
                     source->offset_bytes;
  char *to =
      (char *)(uintptr_t)target->buffer->gpu_address + target->offset_bytes;
  for (uint64_t i = first; i < end; i++) {
    const size_t image = i / command->copy_box.rows;
    const size_t row = i % command->copy_box.rows;
    memcpy(to + image * target->image_pitch + row * target->row_pitch,
           from + image * source->image_pitch + row * source->row_pitch,
           command->copy_box.row_bytes);
  }
}

static void fill_pieces(cpu_job *job, uint64_t first, uint64_t end,
                        cpu_context *context) {
  (void)context;
  const mtli_command *command = job->command;
  const size_t from = first * COPY_PIECE_BYTES;
  const size_t to = at_most(end * COPY_PIECE_BYTES, command->fill.length_bytes);
  char *target = (char *)(uintptr_t)command->fill.buffer->gpu_address +
                 command->fill.offset_bytes;
  const uint8_t *pattern = command->fill.pattern;
  if (memcmp(pattern, pattern + 1, 3) == 0) {  // one byte, four times
    memset(target + from, pattern[0], to - from);
    return;
  }
  // A piece begins with the pattern, since its size is a multiple of the
  // pattern's.
  size_t i = from;
  for (; i + sizeof command->fill.pattern <= to; i += 4) {
    memcpy(target + i, pattern, sizeof command->fill.pattern);
  }
  memcpy(target + i, pattern, to - i);
}

static void update_pieces(cpu_job *job, uint64_t first, uint64_t end,
                          cpu_context *context) {
  (void)context;
  const mtli_command *command = job->command;
  const size_t from = first * COPY_PIECE_BYTES;
  const size_t to =
      at_most(end * COPY_PIECE_BYTES, command->update.length_bytes);
  char *target = (char *)(uintptr_t)command->update.buffer->gpu_address;
  memcpy(target + command->update.offset_bytes + from,
         (const char *)command->update.bytes + from, to - from);
}

static void run_blit(cpu_queue *queue, mtli_command *command,
                     cpu_job_run_fn *run, size_t length_bytes,
                     cpu_context *context) {
  static _Atomic uint64_t piece_ns = COPY_PIECE_BYTES / COPY_BYTES_PER_NS;
  cpu_job *job = &((cpu_command *)mtli_command_data(command))->job;
  job->run = run;
  job->piece_count = (length_bytes + COPY_PIECE_BYTES - 1) / COPY_PIECE_BYTES;
  cpu_job_run(queue, job, &piece_ns, NULL, context);
}

void cpu_copy_run(cpu_queue *queue, mtli_command *command,
                  cpu_context *context) {
  run_blit(queue, command, copy_pieces, command->copy.length_bytes, context);
}

void cpu_copy_box_run(cpu_queue *queue, mtli_command *command,
                      cpu_context *context) {
  static _Atomic uint64_t row_ns;
  cpu_job *job = &((cpu_command *)mtli_command_data(command))->job;
  job->run = copy_rows;
  job->piece_count =
      (uint64_t)command->copy_box.rows * command->copy_box.images;
  cpu_job_run(queue, job, &row_ns, NULL, context);
}

void cpu_fill_run(cpu_queue *queue, mtli_command *command,
                  cpu_context *context) {
  run_blit(queue, command, fill_pieces, command->fill.length_bytes, context);
}

void cpu_update_run(cpu_queue *queue, mtli_command *command,
                    cpu_context *context) {
  run_blit(queue, command, update_pieces, command->update.length_bytes,
           context);
}

static void host_pieces(cpu_job *job, uint64_t first, uint64_t end,
                        cpu_context *context) {
  const mtli_host_work *work = &job->command->host_work;
  work->function(work->arguments, work->addresses, context->kept, first, end);
}

void cpu_host_work_run(cpu_queue *queue, mtli_command *command,
                       cpu_context *context) {
  const mtli_host_work *work = &command->host_work;
  cpu_job *job = &((cpu_command *)mtli_command_data(command))->job;
  job->run = host_pieces;
  job->kept_bytes = work->scratch_bytes;
  job->piece_count = work->piece_count;
  cpu_job_run_known(queue, job, work->piece_ns, context);
}
