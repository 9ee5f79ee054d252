// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dispatch.c: runs a dispatch: prepares its launch, finds its code, runs its
// threadgroups.
#include <string.h>

#include "base/futex.h"
#include "check/check.h"
#include "drivers/cpu/cpu.h"

// Runs threadgroups. Additions that the code defers are done when other code
// runs, or when the thread leaves the job.
static void enter(cpu_job *job, const cpu_code *code, uint64_t first,
                  uint64_t end, cpu_context *context) {
  if (context->unfinished && context->unfinished != code) {
    const cpu_code *left = context->unfinished;
    context->unfinished = NULL;
    left->code->finish(context->scratch);  // within the guard of the current
                                           // code
  }
  context->unfinished = code->code->finish ? code : NULL;
  mtli_cpu_code_run(code->code, &job->launch, (uint32_t)first, (uint32_t)end,
                    context->scratch, context->kept);
}

static uint64_t count_groups(const mtli_cpu_launch *launch) {
  return (uint64_t)launch->group_count[0] * launch->group_count[1] *
         launch->group_count[2];
}

// Makes a piece of each window of threadgroups that merged code runs together,
// if there are enough windows for all threads.
static void cut_windows(cpu_queue *queue, cpu_job *job) {
  enum { LEAST_WINDOWS = 2 };  // for each thread
  const uint64_t groups = count_groups(&job->launch);
  const uint64_t window = mtli_cpu_code_window(job->code->code);
  const uint64_t threads = cpu_pool_threads(queue->pool);
  const bool are_enough =
      job->launch.turn == 0 &&
      (threads == 1 || groups / window >= threads * LEAST_WINDOWS);
  job->piece_groups = are_enough ? (uint32_t)window : 1;
  job->piece_count = (groups + job->piece_groups - 1) / job->piece_groups;
}

// Returns how many threadgroups follow each other at an end of the launch's
// first dimension: as many as the dimensions have that the program counts
// faster.
static uint64_t count_edge(const mtli_cpu_launch *launch) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < launch->turn; i++) {
    count *= launch->group_count[mtli_cpu_launch_dimension(launch, i)];
  }
  return count;
}

void cpu_run_groups(cpu_job *job, uint64_t first, uint64_t end,
                    cpu_context *context) {
  first *= job->piece_groups;
  end = at_most(end * job->piece_groups, count_groups(&job->launch));
  if (job->edge_code == job->code) {
    enter(job, job->code, first, end, context);
    return;
  }
  // Threadgroups at the end of the launch's first dimension are cut off by the
  // grid. Indices count the program's x fastest: in a launch that is not turned
  // each row ends with one such threadgroup, in a turned one each slice of the
  // grid ends with a run of them.
  //
  //     not turned             turned: y is the first
  //     0 1 2 3 E  row         0 1 2 3
  //     5 6 7 8 E  row         4 5 6 7
  //                            E E E E    slice of 12, edge of 4
  const uint64_t edge_groups = count_edge(&job->launch);
  const uint64_t slice_groups = job->launch.group_count[0] * edge_groups;
  while (first < end) {
    const uint64_t next_slice = first - first % slice_groups + slice_groups;
    const uint64_t edge = next_slice - edge_groups;
    const bool is_edge = first >= edge;
    const uint64_t stop = at_most(is_edge ? next_slice : edge, end);
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
  mtli_turn(groups, launch->turn, launch->group_count);
  for (int i = 0; i < 3; i++) {
    const uint64_t threads =
        (uint64_t)launch->group_count[i] * launch->group_threads[i];
    fits = fits && threads <= UINT32_MAX;
    launch->grid_threads[i] = (uint32_t)threads;
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
    cpu_groups_choose(dispatch, launch);
  }
  if (dispatch->indirect) {
    return read_indirect(queue, dispatch, launch);
  }
  mtli_turn(dispatch->grid_threads, launch->turn, launch->grid_threads);
  for (int i = 0; i < 3; i++) {
    const uint32_t side = launch->group_threads[i];
    const uint32_t threads = launch->grid_threads[i];
    launch->group_count[i] = threads / side + (threads % side != 0);
  }
  return true;
}

void cpu_dispatch_prepare(mtli_command *command) {
  const mtli_dispatch *dispatch = &command->dispatch;
  cpu_command *data = mtli_command_data(command);
  cpu_pipeline *pipeline = (cpu_pipeline *)dispatch->pipeline;
  mtli_cpu_launch *launch = &data->job.launch;
  cpu_groups_choose(dispatch, launch);
  uint32_t grid[3];
  mtli_turn(dispatch->grid_threads, launch->turn, grid);
  // An indirect grid consists of whole threadgroups.
  data->classes = cpu_classes_of(
      dispatch, dispatch->indirect ? launch->group_threads : grid,
      launch->group_threads, launch->turn);
  data->has_classes = !dispatch->indirect;
  cpu_code_prepare(pipeline, data->classes.whole);
  cpu_code_prepare(pipeline, data->classes.edge);
  if (pipeline->screened) {
    cpu_code_prepare(pipeline->screened, data->classes.whole);
    cpu_code_prepare(pipeline->screened, data->classes.edge);
  }
}

typedef enum code_state { CODE_READY, CODE_AWAITED, CODE_FAILED } code_state;

// Finds the code for one class of a dispatch's threadgroups. If it is still
// being compiled, another thread runs the queue on later.
static code_state take_code(cpu_queue *queue, mtli_command *command,
                            cpu_pipeline *pipeline,
                            mtli_group_class group_class,
                            const cpu_code **out_code) {
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
    // From here on another thread may run the queue from this command.
    queue->next_command = command;
    cpu_queue_pause(queue, NULL);
    if (cpu_variant_watch(variant, &queue->watcher)) {
      return CODE_AWAITED;
    }
    cpu_queue_unpause(queue);
    queue->next_command = command->next;
  }
}

static code_state take_codes(cpu_queue *queue, mtli_command *command,
                             cpu_pipeline *pipeline) {
  cpu_list *list = cpu_list_of(queue->current);
  cpu_command *data = mtli_command_data(command);
  cpu_job *job = &data->job;
  const cpu_classes classes =
      data->has_classes
          ? data->classes
          : cpu_classes_of(&command->dispatch, job->launch.grid_threads,
                           job->launch.group_threads, job->launch.turn);
  code_state state = take_code(queue, command, pipeline, classes.whole, &job->code);
  if (state == CODE_READY) {
    state = take_code(queue, command, pipeline, classes.edge, &job->edge_code);
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

// Sets the job's order of execution and the memory that its code needs.
static void prepare_code(cpu_job *job, bool is_tier_1) {
  job->is_in_order = !is_tier_1 || job->is_screened;
  job->kept_bytes = code_bytes(job);
  // Padding around position and threadgroup memory, for what tier 1 code may
  // touch. Tier 0 stays inside, so that anything beyond is a fault. So is any
  // access after the position where there is no threadgroup memory: an argument
  // without memory (driver.h).
  job->margin_bytes = is_tier_1 && job->launch.threadgroup_bytes
                          ? MTLI_CPU_SCRATCH_MARGIN_BYTES
                          : 0;
}

// Runs a checked dispatch by screening code, and by checked code if that stops.
// False if the queue is left until there is code.
static bool run_checked(cpu_queue *queue, mtli_command *command, cpu_job *job,
                        cpu_context *context) {
  cpu_pipeline *pipeline = (cpu_pipeline *)command->dispatch.pipeline;
  const cpu_code *checked[] = {job->code, job->edge_code};
  code_state state = CODE_FAILED;
  if (pipeline->screened) {
    state = take_codes(queue, command, pipeline->screened);
    if (state == CODE_AWAITED) {
      return false;
    }
  }
  const cpu_code *screened[] = {job->code, job->edge_code};
  job->code = checked[0];
  job->edge_code = checked[1];
  if (!cpu_check_begin(queue, command, job)) {
    cpu_queue_fail(queue, MTL_OUT_OF_MEMORY, "kernel '%s' cannot be checked",
                   pipeline->pipeline.kernel->name);
    return true;
  }
  job->is_suspect = true;
  if (state == CODE_READY && cpu_check_screen_begin(job)) {
    job->code = screened[0];
    job->edge_code = screened[1];
    job->is_screened = true;
    job->run = cpu_check_screen;
    prepare_code(job, true);
    cpu_job_run(queue, job, &pipeline->screened->group_ns, NULL, context);
    job->is_screened = false;
    job->code = checked[0];
    job->edge_code = checked[1];
    cpu_check_screen_end(job);
  }
  if (job->is_suspect) {
    mtli_check_screen_missed(pipeline->pipeline.kernel->name);
    job->run = cpu_check_run;
    prepare_code(job, false);
    do {
      cpu_job_run(queue, job, &pipeline->group_ns, pipeline->habits, context);
    } while (cpu_check_again(job));
  }
  cpu_check_end(queue, job);
  return true;
}

bool cpu_dispatch_run(cpu_queue *queue, mtli_command *command,
                      cpu_context *context) {
  cpu_job *job = &((cpu_command *)mtli_command_data(command))->job;
  cpu_pipeline *pipeline = (cpu_pipeline *)command->dispatch.pipeline;
  mtli_cpu_launch *launch = &job->launch;
  if (!prepare_launch(queue, command)) {
    return true;
  }
  const code_state state = take_codes(queue, command, pipeline);
  if (state != CODE_READY) {
    return state == CODE_FAILED;
  }
  const mtli_tier tier = (mtli_tier)pipeline->pipeline.kernel->tier;
  job->piece_groups = 1;
  job->piece_count = count_groups(launch);
  if (tier == MTLI_TIER_CHECKED) {
    return run_checked(queue, command, job, context);
  }
  job->run = cpu_run_groups;
  cut_windows(queue, job);
  prepare_code(job, tier == MTLI_TIER_1);
  cpu_job_run(queue, job, &pipeline->group_ns, pipeline->habits, context);
  return true;
}
