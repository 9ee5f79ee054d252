// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu.h: the cpu driver: how its work is scheduled, and its slots. It includes
// the driver's objects (cpu_objects.h), its threads (pool/threads.h) and what
// they need to run kernels (fault/fault.h).
//
// A queue is no thread but a list with a state. Whoever makes it runnable (a
// commit, an event) puts it into the pool's list; a worker, or the client's
// thread that waits, takes it and runs its commands, one queue on one thread at
// a time. A dispatch that is worth it becomes a job that other workers join;
// the last of them to leave goes on with the queue, so that nobody ever waits
// for anybody on a worker.
#ifndef MTLI_CPU_H
#define MTLI_CPU_H

#include "drivers/cpu/cpu_objects.h"
#include "drivers/cpu/fault/fault.h"
#include "drivers/cpu/pool/threads.h"

// --- pipeline.c, variants.c --------------------------------------------------

// Loads the machine code of a pipeline's container.
mtl_status cpu_code_load(const mtli_code *container, cpu_code *out_code);
void cpu_code_unload(const cpu_code *code, bool is_inherited);

// Returns the classes of a dispatch's threadgroups: of complete ones, and of
// those that the grid cuts off along x. The sizes are the launch's.
cpu_classes cpu_classes_of(const mtli_dispatch *dispatch,
                           const uint32_t grid_threads[3],
                           const uint32_t group_threads[3], uint32_t turn);

// Finds the code for threadgroups of a class. If it is still being compiled, or
// starts to be, *out_code is NULL and *out_variant is set. Does not wait. Any
// thread. Errors: of the compilation, if it has failed.
mtl_status cpu_code_find(cpu_pipeline *pipeline, mtli_group_class group_class,
                         const cpu_code **out_code, cpu_variant **out_variant);
// Starts compiling that code, unless it has been started and has not failed.
// Any thread.
void cpu_code_prepare(cpu_pipeline *pipeline, mtli_group_class group_class);
// Calls watcher when the variant is compiled; false if it is already.
bool cpu_variant_watch(cpu_variant *variant, mtli_watcher *watcher);
void cpu_variants_free(cpu_pipeline *pipeline);

// --- queue.c, commands.c, help.c ---------------------------------------------

// Runs a queue in state RUNNING until it has nothing to do, waits, or has
// reached the goal.
void cpu_queue_run(cpu_queue *queue, cpu_context *context,
                   const cpu_goal *goal);
// Puts a running queue back into the pool's list.
void cpu_queue_hand_over(cpu_queue *queue);
// Stops the clock of the queue's time limit before a wait, for an event unless
// that is NULL.
void cpu_queue_pause(cpu_queue *queue, mtli_host_event *event);
// Undoes cpu_queue_pause: the queue does not wait.
void cpu_queue_unpause(cpu_queue *queue);
// Starts the clock again after the wait. The pool's lock is held.
void cpu_queue_resume(cpu_queue *queue);
// Ends the current command buffer: no further command begins, and threads in it
// are interrupted. The pool's lock is held.
void cpu_queue_stop(cpu_queue *queue, mtl_status status);
// Describes why it ended early, for its error.
void cpu_queue_describe_stop(const cpu_queue *queue, char *text,
                             size_t capacity);
// Wakes a stopped queue that waits for an event. The pool's lock is held.
void cpu_queue_stop_waiting(cpu_queue *queue);
bool cpu_goal_is_reached(const cpu_goal *goal);
// Runs the queue at queue_address on the client's thread, if it is ready,
// until the goal is reached or there is nothing to do.
void cpu_queue_help_towards(cpu_pool *pool, uintptr_t queue_address,
                            const cpu_goal *goal);

// Runs the current command buffer's commands. True when all are done; false if
// another thread will run the queue on.
bool cpu_commands_run(cpu_queue *queue, cpu_context *context);
// True if no job of the queue is unfinished. Otherwise the last thread to leave
// its jobs will run the queue; the caller must leave it.
bool cpu_queue_settle(cpu_queue *queue, cpu_context *context);
// Keeps the current command buffer's first failure.
void cpu_queue_fail(cpu_queue *queue, mtl_status status, const char *format,
                    ...) __attribute__((format(printf, 3, 4)));

// --- groups.c ----------------------------------------------------------------

// Chooses the size of threadgroups to run, in threads along the launch's
// dimensions, and its turn.
void cpu_groups_choose(const mtli_dispatch *dispatch, mtli_cpu_launch *launch);

// --- dispatch.c, blits.c -----------------------------------------------------

// Starts compiling the code that a dispatch will need.
void cpu_dispatch_prepare(mtli_command *command);
// Runs a dispatch, or shares it with the pool. False if its code is not
// compiled yet: the queue is left until it is.
bool cpu_dispatch_run(cpu_queue *queue, mtli_command *command,
                      cpu_context *context);
void cpu_copy_run(cpu_queue *queue, mtli_command *command,
                  cpu_context *context);
void cpu_copy_box_run(cpu_queue *queue, mtli_command *command,
                      cpu_context *context);
void cpu_fill_run(cpu_queue *queue, mtli_command *command,
                  cpu_context *context);
void cpu_update_run(cpu_queue *queue, mtli_command *command,
                    cpu_context *context);
void cpu_host_work_run(cpu_queue *queue, mtli_command *command,
                       cpu_context *context);

// --- check.c: what the checker is told -------------------------------------

// Prepares a dispatch of checked code; false if it cannot be checked.
bool cpu_check_begin(cpu_queue *queue, mtli_command *command, cpu_job *job);
cpu_job_run_fn cpu_check_run;
// After a run: true if the job has to run again.
bool cpu_check_again(cpu_job *job);
void cpu_check_end(cpu_queue *queue, cpu_job *job);
// Adds screening code to a checked pipeline, if its kernel can be screened.
void cpu_check_pipeline_created(cpu_pipeline *pipeline,
                                const mtl_function *function,
                                const mtl_pipeline_desc *desc);
// Begins and ends a run of screening code in a dispatch. begin is false if it
// cannot run; job->is_suspect tells whether it has stopped.
bool cpu_check_screen_begin(cpu_job *job);
cpu_job_run_fn cpu_check_screen;
void cpu_check_screen_end(cpu_job *job);
// dispatch.c: runs threadgroups with a job's code.
cpu_job_run_fn cpu_run_groups;
// check.c: reports to the checker; does nothing unless it is on.
// cpu_check_command reports the start of a command other than a dispatch.
void cpu_check_command(cpu_queue *queue, const mtli_command *command);
void cpu_check_waited(const cpu_queue *queue, const mtli_command *command);
void cpu_check_host_signals(const mtl_event *event, uint64_t value);
void cpu_check_event_destroyed(const mtl_event *event);
void cpu_check_committed(mtl_command_buffer *command_buffer);
// check_host.c: closes the buffers of a command buffer's work to the host,
// until the host has seen that the work is complete.
void cpu_check_host_hold(mtl_command_buffer *command_buffer);
void cpu_check_started(const cpu_queue *queue);
void cpu_check_completed(const cpu_queue *queue);
// is_unset: only kernels can write the buffer, and none has.
void cpu_check_buffer_created(const mtl_buffer *buffer, bool is_unset);
void cpu_check_buffer_destroyed(const mtl_buffer *buffer);

// --- coherence.c: cpu-discrete's two copies ----------------------------------

mtl_status cpu_coherence_modified(cpu_buffer *buffer, size_t offset_bytes,
                                  size_t length_bytes);
// upload copies host to device, before a command buffer's work begins or
// continues; download copies back, before anyone learns that the work is done.
void cpu_coherence_upload(mtl_command_buffer *command_buffer);
void cpu_coherence_download(mtl_command_buffer *command_buffer);
// Copies all of a managed buffer from device to host.
void cpu_coherence_synchronize(cpu_buffer *buffer);

// --- the slots ---------------------------------------------------------------

mtli_device_count_fn cpu_device_count;
mtli_device_name_fn cpu_device_name;
mtli_device_is_listed_fn cpu_device_is_listed;
mtli_device_open_fn cpu_device_open;
mtli_device_close_fn cpu_device_close;
mtli_device_family_fn cpu_device_family;
mtli_device_code_target_fn cpu_device_code_target;
mtli_device_timestamps_fn cpu_device_timestamps;
mtli_device_reach_fn cpu_device_reach;
mtli_buffer_create_fn cpu_buffer_create;
mtli_buffer_destroy_fn cpu_buffer_destroy;
mtli_buffer_modified_fn cpu_buffer_modified;
mtli_buffer_advise_fn cpu_buffer_advise;
mtli_texture_create_fn cpu_texture_create;
mtli_texture_destroy_fn cpu_texture_destroy;
mtli_pipeline_create_fn cpu_pipeline_create;
mtli_pipeline_destroy_fn cpu_pipeline_destroy;
mtli_commands_prepare_fn cpu_commands_prepare;
mtli_commands_clear_fn cpu_commands_clear;
mtli_queue_create_fn cpu_queue_create;
mtli_queue_destroy_fn cpu_queue_destroy;
mtli_queue_submit_fn cpu_queue_submit;
mtli_queue_cancel_fn cpu_queue_cancel;
mtli_queue_help_fn cpu_queue_help;
mtli_event_destroy_fn cpu_event_destroy;
mtli_event_signal_fn cpu_event_signal;
mtli_event_wait_fn cpu_event_wait;

#endif
