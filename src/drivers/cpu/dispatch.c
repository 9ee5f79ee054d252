// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dispatch.c: how much of the pool a dispatch, copy or fill is worth. Waking a
// thread costs some microseconds, so work is begun on the thread at hand, timed
// as it goes, and shared once what is left is worth a wake.
#include <inttypes.h>
#include <string.h>

#include "base/futex.h"
#include "drivers/cpu/cpu.h"

enum {
  // Work is timed for this long before it is shared.
  PROBE_NS = 4000,
  // Less than this is not worth another thread: a wake takes 4 to 8 us until
  // the thread runs (measured on a 2-core virtual Xeon).
  SHARE_NS = 16000,
  // The same if a thread looks out, which joins within half a microsecond.
  HOT_PROBE_NS = 1500,
  HOT_SHARE_NS = 4000,
  // More than this is always shared.
  LONG_NS = 300 * 1000,
  // A piece of shared work at a time: long against the cost of taking it
  // (0.1 us), short against the whole.
  CHUNK_NS = 50000,
  CHUNK_LEAST_NS = 1000,
  CHUNKS_PER_THREAD = 8,
  // Copies are shared in pieces of this size.
  COPY_PIECE_BYTES = 256 * 1024,
  // What one thread copies in a nanosecond, to begin with.
  COPY_BYTES_PER_NS = 8,
};

static uint64_t at_least(uint64_t value, uint64_t low) {
  return value < low ? low : value;
}

static uint64_t at_most(uint64_t value, uint64_t high) {
  return value > high ? high : value;
}

// How many pieces to take at a time of count that take about piece_ns each.
static uint64_t choose_chunk(uint64_t count, uint64_t piece_ns,
                             uint64_t threads) {
  const uint64_t fair = at_least(count / (threads * CHUNKS_PER_THREAD), 1);
  const uint64_t most = at_least(count / (threads * 2), 1);
  piece_ns = at_least(piece_ns, 1);
  const uint64_t least = at_most(CHUNK_LEAST_NS / piece_ns, most);
  return at_least(at_most(at_least(CHUNK_NS / piece_ns, 1), fair), least);
}

// Shares job from piece `done` on, whose pieces take about piece_ns each, and
// works on it too.
static void share(cpu_queue *queue, cpu_job *job, uint64_t done,
                  uint64_t piece_ns, cpu_context *context) {
  const uint64_t threads = cpu_pool_threads(queue->pool);
  const uint64_t left = job->piece_count - done;
  job->chunk = choose_chunk(left, piece_ns, threads);
  const uint64_t worth = at_least(left * piece_ns / SHARE_NS, 1);
  const uint64_t others = at_most(at_most(threads - 1, left - 1), worth);
  cpu_pieces_cut(job, done, others + 1);
  cpu_pool_share(queue->pool, job, (uint32_t)others, context);
}

// Shares the whole of a job whose pieces took expected_ns each when last seen:
// a piece that one thread did first, to time it, could be a good part of it.
static void share_at_once(cpu_queue *queue, cpu_job *job, uint64_t expected_ns,
                          _Atomic uint64_t *lately_ns, cpu_context *context) {
  const uint64_t start_ns = mtli_now_ns();
  share(queue, job, 0, expected_ns, context);
  const uint64_t spent_ns = mtli_now_ns() - start_ns;
  atomic_store_explicit(
      lately_ns, at_least(spent_ns * job->run_count / job->piece_count, 1),
      memory_order_relaxed);
}

// Lets others have the whole of job while this thread goes on with the
// commands beside it; cpu_queue_settle comes back for what is left.
static void give_away(cpu_queue *queue, cpu_job *job, uint64_t piece_ns) {
  const uint64_t threads = cpu_pool_threads(queue->pool);
  job->chunk = choose_chunk(job->piece_count, piece_ns, threads);
  cpu_pieces_cut(job, 0, at_most(threads, job->piece_count));
  cpu_pool_offer(queue->pool, job, 1);
}

// What is worth sharing now.
static uint64_t least_shared_ns(cpu_queue *queue) {
  return cpu_pool_has_lookout(queue->pool) ? HOT_SHARE_NS : SHARE_NS;
}

// Runs the pieces of job from `done` on, which take about piece_ns each; those
// before took spent_ns. Shares them unless habit, which may be NULL, says no.
static void run_rest(cpu_queue *queue, cpu_job *job, uint64_t done,
                     uint64_t spent_ns, cpu_habit *habit,
                     cpu_context *context) {
  const uint64_t piece_ns = at_least(spent_ns / done, 1);
  const uint64_t left_ns = (job->piece_count - done) * piece_ns;
  const uint64_t start_ns = mtli_now_ns();
  const bool is_hot = cpu_pool_has_lookout(queue->pool);
  if (left_ns < (is_hot ? HOT_SHARE_NS : SHARE_NS)) {
    cpu_fault_run_guarded(job, done, job->piece_count, context);
  } else if (!habit || left_ns > LONG_NS) {
    share(queue, job, done, piece_ns, context);
  } else if (!cpu_habit_is_to_share(habit)) {
    cpu_fault_run_guarded(job, done, job->piece_count, context);
    cpu_habit_note(habit, false, spent_ns + mtli_now_ns() - start_ns,
                   job->piece_count);
  } else {
    share(queue, job, done, piece_ns, context);
    if (is_hot) {  // otherwise most of it was the wake
      cpu_habit_note(habit, true, spent_ns + mtli_now_ns() - start_ns,
                     job->piece_count);
    }
  }
}

// Runs all pieces of job. *lately_ns is what a piece took lately, 0 if unknown.
// The context may be left unfinished.
static void run_pieces(cpu_queue *queue, cpu_job *job,
                       _Atomic uint64_t *lately_ns, cpu_habit *habits,
                       cpu_context *context) {
  job->queue = queue;
  const uint64_t total = job->piece_count;
  const bool is_alone = job->is_in_order ||
                        cpu_pool_threads(queue->pool) == 1 ||
                        (total == 1 && !job->may_overlap);
  if (is_alone) {
    cpu_fault_run_guarded(job, 0, total, context);
    return;
  }
  // Relaxed: an estimate, by whoever wrote it last.
  const uint64_t expected_ns =
      atomic_load_explicit(lately_ns, memory_order_relaxed);
  if (job->may_overlap && expected_ns * total > SHARE_NS) {
    give_away(queue, job, expected_ns);
    return;
  }
  if (!job->may_overlap && expected_ns * total > LONG_NS) {
    share_at_once(queue, job, expected_ns, lately_ns, context);
    return;
  }
  uint64_t done = 0;
  uint64_t step = 1;
  uint64_t spent_ns = 0;
  const uint64_t probe_ns =
      cpu_pool_has_lookout(queue->pool) ? HOT_PROBE_NS : PROBE_NS;
  const uint64_t start_ns = mtli_now_ns();
  while (done < total && spent_ns < probe_ns) {
    step = at_most(step, total - done);
    cpu_fault_run_guarded(job, done, done + step, context);
    done += step;
    step *= 2;
    spent_ns = mtli_now_ns() - start_ns;
    if (atomic_load_explicit(&queue->has_failed, memory_order_relaxed)) {
      return;
    }
  }
  atomic_store_explicit(lately_ns, at_least(spent_ns / done, 1),
                        memory_order_relaxed);
  if (done < total) {
    run_rest(queue, job, done, spent_ns,
             habits ? cpu_habit_of(habits, total) : NULL, context);
  }
}

// habits may be NULL: then it is always shared.
static void run_job(cpu_queue *queue, cpu_job *job, _Atomic uint64_t *lately_ns,
                    cpu_habit *habits, cpu_context *context) {
  mtli_command_times *times = job->command->times;
  const uint64_t start_ns = times ? mtli_now_ns() : 0;
  job->run_count = 0;
  if (times) {
    mtli_command_starts(times, start_ns);
  }
  run_pieces(queue, job, lately_ns, habits, context);
  // Others may have come to the job's end; it is there while this has not.
  cpu_context_finish(job, context);
  if (times && !job->run_count) {  // of a shared one the last user notes it
    const uint64_t end_ns = mtli_now_ns();
    mtli_command_ends(times, end_ns);
    mtli_trace_command(job->command, start_ns, end_ns);
  }
}

// Runs threadgroups. What code leaves to do is done when other code comes, or
// the thread leaves the job.
static void enter(cpu_job *job, const cpu_code *code, uint64_t first,
                  uint64_t end, cpu_context *context) {
  if (context->unfinished && context->unfinished != code) {
    const cpu_code *left = context->unfinished;
    context->unfinished = NULL;
    left->code->finish(context->scratch);  // within this code's guard
  }
  context->unfinished = code->code->finish ? code : NULL;
  mtli_cpu_code_run(code->code, &job->launch, (uint32_t)first, (uint32_t)end,
                    context->scratch, context->kept);
}

static void run_groups(cpu_job *job, uint64_t first, uint64_t end,
                       cpu_context *context) {
  const uint64_t row = job->launch.group_count[0];
  if (job->edge_code == job->code) {
    enter(job, job->code, first, end, context);
    return;
  }
  // The last of each row of threadgroups is cut off.
  while (first < end) {
    const uint64_t edge = first - first % row + row - 1;
    const bool is_edge = first == edge;
    const uint64_t stop = is_edge ? first + 1 : at_most(edge, end);
    const cpu_code *code = is_edge ? job->edge_code : job->code;
    enter(job, code, first, stop, context);
    first = stop;
  }
}

// Reads the count of threadgroups of an indirect dispatch. False if there is
// nothing to run.
static bool read_indirect(cpu_queue *queue, const mtli_dispatch *dispatch,
                          mtli_cpu_launch *launch) {
  uint32_t groups[3];
  memcpy(groups,
         (const char *)(uintptr_t)dispatch->indirect->gpu_address +
             dispatch->indirect_offset_bytes,
         sizeof groups);
  bool fits = true;
  for (int i = 0; i < 3; i++) {
    const uint64_t threads = (uint64_t)groups[i] * dispatch->group_threads[i];
    fits = fits && threads <= UINT32_MAX;
    launch->grid_threads[i] = (uint32_t)threads;
    launch->group_count[i] = groups[i];
  }
  const uint64_t groups_xy = (uint64_t)groups[0] * groups[1];
  if (groups_xy == 0 || groups[2] == 0) {
    return false;
  }
  if (!fits || groups_xy > UINT32_MAX / groups[2]) {
    cpu_queue_fail(queue, MTL_INVALID_ARGUMENT,
                   "kernel '%s': an indirect grid of %ux%ux%u threadgroups is "
                   "too large",
                   dispatch->pipeline->kernel->name, groups[0], groups[1],
                   groups[2]);
    return false;
  }
  return true;
}

enum { MOST_THREADS = 1024, LEAST_THREADS = 128 };  // of threadgroups formed

// Where simdgroups below each other share what they load in loops. False if the
// program's own threadgroups have such.
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

// Rows of the grid, or pieces of them: whole simdgroups, memory in its order,
// and no code for other rows. False if a program's own threadgroups are that
// already, or more of their lanes have threads, or if there are loops: what
// these read may be near in them.
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
    // Several of the program's at a time, if there are many: each costs what
    // it takes to call it.
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

// The program's threadgroups, or others for kernels to which they make no
// difference.
static void choose_groups(const mtli_dispatch *dispatch,
                          uint32_t out_group[3]) {
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  const uint32_t *own = dispatch->group_threads;
  const uint32_t *grid = dispatch->grid_threads;
  uint32_t side[3];
  memcpy(out_group, own, 3 * sizeof *own);
  if (!kernel->any_groups || dispatch->indirect ||
      grid[0] > MTLI_ROW_GRID_LIMIT || !grid[0] || !grid[1] || !grid[2]) {
    return;
  }
  if (!(kernel->shares_rows ? choose_block(own, grid, side)
                            : choose_rows(kernel->is_brief, own, grid, side))) {
    return;
  }
  const uint64_t columns = (grid[0] + side[0] - 1) / side[0];
  const uint64_t rows = (grid[1] + side[1] - 1) / side[1];
  if (columns * rows <= UINT32_MAX / grid[2]) {
    memcpy(out_group, side, sizeof side);
  }
}

// Fills in the launch. False if there is nothing to run.
static bool prepare_launch(cpu_queue *queue, mtli_command *command) {
  const mtli_dispatch *dispatch = &command->dispatch;
  cpu_command *data = mtli_command_data(command);
  mtli_cpu_launch *launch = &data->job.launch;
  launch->arguments = dispatch->arguments;
  launch->argument_bytes = dispatch->argument_bytes;
  launch->will_finish = 1;
  launch->threadgroup_bytes = dispatch->threadgroup_bytes;
  launch->log = queue->current->log;
  if (!data->has_classes) {
    choose_groups(dispatch, launch->group_threads);
  }
  if (dispatch->indirect) {
    return read_indirect(queue, dispatch, launch);
  }
  for (int i = 0; i < 3; i++) {
    const uint32_t side = launch->group_threads[i];
    const uint32_t threads = dispatch->grid_threads[i];
    launch->grid_threads[i] = threads;
    launch->group_count[i] = threads / side + (threads % side != 0);
  }
  return true;
}

void cpu_dispatch_prepare(mtli_command *command) {
  const mtli_dispatch *dispatch = &command->dispatch;
  cpu_command *data = mtli_command_data(command);
  cpu_pipeline *pipeline = (cpu_pipeline *)dispatch->pipeline;
  uint32_t *group = data->job.launch.group_threads;
  choose_groups(dispatch, group);
  // An indirect grid is whole threadgroups.
  data->classes = cpu_classes_of(
      dispatch, dispatch->indirect ? group : dispatch->grid_threads, group);
  data->has_classes = !dispatch->indirect;
  cpu_code_prepare(pipeline, data->classes.whole);
  cpu_code_prepare(pipeline, data->classes.edge);
}

typedef enum code_state { CODE_READY, CODE_AWAITED, CODE_FAILED } code_state;

// Finds the code for one class of a dispatch's threadgroups. If it has to be
// awaited, others run the queue from now on.
static code_state take_code(cpu_queue *queue, mtli_command *command,
                            mtli_group_class group_class,
                            const cpu_code **out_code) {
  cpu_pipeline *pipeline = (cpu_pipeline *)command->dispatch.pipeline;
  for (;;) {
    cpu_variant *variant = NULL;
    const mtl_status status =
        cpu_code_find(pipeline, group_class, out_code, &variant);
    if (status != MTL_OK) {
      cpu_queue_fail(queue, status, "%s", mtl_last_error());
      return CODE_FAILED;
    }
    if (*out_code) {
      return CODE_READY;
    }
    if (command == queue->current->commands) {
      cpu_list_of(queue->current)->start_ns = 0;  // nothing has run yet
    }
    // Once watched, another thread may run the queue, from this command on.
    queue->next_command = command;
    cpu_queue_pause(queue, NULL);
    if (cpu_variant_watch(variant, &queue->watcher)) {
      return CODE_AWAITED;
    }
    cpu_queue_unpause(queue);
    queue->next_command = command->next;
  }
}

static code_state take_codes(cpu_queue *queue, mtli_command *command) {
  cpu_list *list = cpu_list_of(queue->current);
  cpu_command *data = mtli_command_data(command);
  cpu_job *job = &data->job;
  const cpu_classes classes =
      data->has_classes
          ? data->classes
          : cpu_classes_of(&command->dispatch, job->launch.grid_threads,
                           job->launch.group_threads);
  code_state state = take_code(queue, command, classes.whole, &job->code);
  if (state == CODE_READY) {
    state = take_code(queue, command, classes.edge, &job->edge_code);
  }
  if (state != CODE_AWAITED && list->start_ns == 0) {
    list->start_ns = mtli_now_ns();
  }
  return state;
}

static uint64_t code_bytes(const cpu_job *job) {
  const uint32_t *group = job->launch.group_threads;
  const uint32_t threads = group[0] * group[1] * group[2];
  const uint64_t whole_bytes = mtli_cpu_code_bytes(job->code->code, threads);
  return job->edge_code == job->code
             ? whole_bytes
             : at_least(whole_bytes,
                        mtli_cpu_code_bytes(job->edge_code->code, threads));
}

bool cpu_dispatch_run(cpu_queue *queue, mtli_command *command,
                      cpu_context *context) {
  cpu_job *job = &((cpu_command *)mtli_command_data(command))->job;
  cpu_pipeline *pipeline = (cpu_pipeline *)command->dispatch.pipeline;
  mtli_cpu_launch *launch = &job->launch;
  if (!prepare_launch(queue, command)) {
    return true;
  }
  const code_state state = take_codes(queue, command);
  if (state != CODE_READY) {
    return state == CODE_FAILED;
  }
  job->run = run_groups;
  job->is_in_order = pipeline->pipeline.kernel->tier == MTLI_TIER_0;
  job->kept_bytes = code_bytes(job);
  // T0 stays inside: what it touches beyond is a mistake of the kernel's. Where
  // there is no threadgroup memory, so is what any code touches behind the
  // position: an argument without memory (driver.h) whose place it knew.
  job->margin_bytes = job->is_in_order || !launch->threadgroup_bytes
                          ? 0
                          : MTLI_CPU_SCRATCH_MARGIN_BYTES;
  job->piece_count = (uint64_t)launch->group_count[0] * launch->group_count[1] *
                     launch->group_count[2];
  run_job(queue, job, &pipeline->group_ns, pipeline->habits, context);
  return true;
}

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

// A row of a box is a piece.
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
  // A piece begins with the pattern: its size is a multiple of it.
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
  run_job(queue, job, &piece_ns, NULL, context);
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
  run_job(queue, job, &row_ns, NULL, context);
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
  const bool is_worth_sharing =
      cpu_pool_threads(queue->pool) > 1 && work->piece_count > 1 &&
      work->piece_count * work->piece_ns > least_shared_ns(queue);
  if (!is_worth_sharing) {
    _Atomic uint64_t lately_ns = work->piece_ns;
    run_job(queue, job, &lately_ns, NULL, context);
    return;
  }
  job->queue = queue;
  if (command->times) {
    mtli_command_starts(command->times, mtli_now_ns());
  }
  share(queue, job, 0, work->piece_ns, context);
}
