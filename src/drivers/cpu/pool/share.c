// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// share.c: decides how many threads a job is worth. Waking a thread costs some
// microseconds: so work starts on the current thread, is timed, and is shared
// once the rest is worth a wake.
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
  // More than this is shared at once, without a look.
  HOT_AT_ONCE_NS = 8000,
  // So much work is enough for one more thread that already looks for some.
  HOT_HELPER_NS = 2000,
  // More than this is always shared.
  LONG_NS = 300 * 1000,
  // Length of a shared piece of work: long against the cost of taking it (0.1
  // us), short against the whole.
  CHUNK_NS = 50000,
  CHUNK_LEAST_NS = 1000,
  CHUNKS_PER_THREAD = 8,
};

// Returns how many pieces to take at a time of count that take about piece_ns
// each.
static uint64_t choose_chunk(uint64_t count, uint64_t piece_ns,
                             uint64_t threads) {
  const uint64_t fair = at_least(count / (threads * CHUNKS_PER_THREAD), 1);
  const uint64_t most = at_least(count / (threads * 2), 1);
  piece_ns = at_least(piece_ns, 1);
  const uint64_t least = at_most(CHUNK_LEAST_NS / piece_ns, most);
  return at_least(at_most(at_least(CHUNK_NS / piece_ns, 1), fair), least);
}

// Shares job from piece `done` on, whose pieces take about piece_ns each, and
// works on it too. Where too many jobs are shared already it does all of it.
static void share(cpu_queue *queue, cpu_job *job, uint64_t done,
                  uint64_t piece_ns, cpu_context *context) {
  const uint64_t threads = cpu_pool_threads(queue->pool);
  const uint64_t left = job->piece_count - done;
  job->chunk = choose_chunk(left, piece_ns, threads);
  const uint64_t least_ns =
      cpu_pool_has_lookout(queue->pool) ? HOT_HELPER_NS : SHARE_NS;
  const uint64_t worth = at_least(left * piece_ns / least_ns, 1);
  const uint64_t others = at_most(at_most(threads - 1, left - 1), worth);
  if (!cpu_pool_take_slot(queue->pool, job)) {
    cpu_fault_run_guarded(job, done, job->piece_count, context);
    return;
  }
  cpu_pieces_cut(job, done, others + 1);
  cpu_pool_share(queue->pool, job, (uint32_t)others, context);
}

// Records the time of a piece of a job that was shared as a whole.
static void note_shared(const cpu_job *job, uint64_t spent_ns,
                        _Atomic uint64_t *lately_ns) {
  const uint64_t threads = at_least(job->run_count, 1);
  atomic_store_explicit(lately_ns,
                        at_least(spent_ns * threads / job->piece_count, 1),
                        memory_order_relaxed);
}

// Shares the whole of a job whose pieces took expected_ns each when last seen:
// a piece that one thread did first, to time it, could be a good part of it.
static void share_at_once(cpu_queue *queue, cpu_job *job, uint64_t expected_ns,
                          _Atomic uint64_t *lately_ns, cpu_context *context) {
  const uint64_t start_ns = mtli_now_ns();
  share(queue, job, 0, expected_ns, context);
  note_shared(job, mtli_now_ns() - start_ns, lately_ns);
}

// Gives the whole of job to other threads while this one continues with the
// commands beside it; cpu_queue_settle comes back for the rest.
static void give_away(cpu_queue *queue, cpu_job *job, uint64_t piece_ns,
                      cpu_context *context) {
  const uint64_t threads = cpu_pool_threads(queue->pool);
  if (!cpu_pool_take_slot(queue->pool, job)) {
    cpu_fault_run_guarded(job, 0, job->piece_count, context);
    return;
  }
  job->chunk = choose_chunk(job->piece_count, piece_ns, threads);
  cpu_pieces_cut(job, 0, at_most(threads, job->piece_count));
  cpu_pool_offer(queue->pool, job, 1);
}

// Returns the shortest work that is worth sharing now.
static uint64_t least_shared_ns(cpu_queue *queue) {
  return cpu_pool_has_lookout(queue->pool) ? HOT_SHARE_NS : SHARE_NS;
}

// Runs the pieces of job from `done` on, which take about piece_ns each; those
// before took spent_ns. Shares them unless habit, which may be NULL, says no.
static void run_rest(cpu_queue *queue, cpu_job *job, uint64_t done,
                     uint64_t piece_ns, uint64_t spent_ns, cpu_habit *habit,
                     cpu_context *context) {
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
    if (is_hot) {  // otherwise most of the time was the wake-up
      cpu_habit_note(habit, true, spent_ns + mtli_now_ns() - start_ns,
                     job->piece_count);
    }
  }
}

// Runs all pieces of a job whose pieces took expected_ns each when last seen,
// while other threads spin: they would wait for the first piece.
static void run_hot(cpu_queue *queue, cpu_job *job, uint64_t expected_ns,
                    _Atomic uint64_t *lately_ns, cpu_habit *habit,
                    cpu_context *context) {
  const uint64_t start_ns = mtli_now_ns();
  run_rest(queue, job, 0, expected_ns, 0, habit, context);
  note_shared(job, mtli_now_ns() - start_ns, lately_ns);
}

// Runs the first pieces of job, to time them, then the rest.
static void probe(cpu_queue *queue, cpu_job *job, bool is_hot,
                  _Atomic uint64_t *lately_ns, cpu_habit *habit,
                  cpu_context *context) {
  const uint64_t total = job->piece_count;
  const uint64_t probe_ns = is_hot ? HOT_PROBE_NS : PROBE_NS;
  uint64_t done = 0;
  uint64_t step = 1;
  uint64_t spent_ns = 0;
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
  const uint64_t piece_ns = at_least(spent_ns / done, 1);
  atomic_store_explicit(lately_ns, piece_ns, memory_order_relaxed);
  if (done < total) {
    run_rest(queue, job, done, piece_ns, spent_ns, habit, context);
  }
}

// Runs all pieces of job. *lately_ns is the recent time of a piece, 0 if
// unknown. The context may be left unfinished.
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
  const bool is_hot = cpu_pool_has_lookout(queue->pool);
  cpu_habit *habit = habits ? cpu_habit_of(habits, total) : NULL;
  if (job->may_overlap && expected_ns * total > SHARE_NS) {
    give_away(queue, job, expected_ns, context);
  } else if (!job->may_overlap && expected_ns * total > LONG_NS) {
    share_at_once(queue, job, expected_ns, lately_ns, context);
  } else if (!job->may_overlap && habit && is_hot &&
             expected_ns * total > HOT_AT_ONCE_NS) {
    run_hot(queue, job, expected_ns, lately_ns, habit, context);
  } else {
    probe(queue, job, is_hot, lately_ns, habit, context);
  }
}

void cpu_job_run(cpu_queue *queue, cpu_job *job, _Atomic uint64_t *lately_ns,
                 cpu_habit *habits, cpu_context *context) {
  mtli_command_times *times = job->command->times;
  const uint64_t start_ns = times ? mtli_now_ns() : 0;
  job->run_count = 0;
  if (times) {
    mtli_command_starts(times, start_ns);
  }
  run_pieces(queue, job, lately_ns, habits, context);
  // Other threads may have finished the job's last piece; it exists as long as
  // this context is not finished.
  cpu_context_finish(job, context);
  if (times && !job->run_count) {  // of a shared job the last user notes it
    const uint64_t end_ns = mtli_now_ns();
    mtli_command_ends(times, end_ns);
    mtli_trace_whole_command(job->command, start_ns, end_ns);
  }
}

void cpu_job_run_known(cpu_queue *queue, cpu_job *job, uint64_t piece_ns,
                       cpu_context *context) {
  const bool is_worth_sharing =
      cpu_pool_threads(queue->pool) > 1 && job->piece_count > 1 &&
      job->piece_count * piece_ns > least_shared_ns(queue);
  if (!is_worth_sharing) {
    _Atomic uint64_t lately_ns = piece_ns;
    cpu_job_run(queue, job, &lately_ns, NULL, context);
    return;
  }
  job->queue = queue;
  if (job->command->times) {
    mtli_command_starts(job->command->times, mtli_now_ns());
  }
  share(queue, job, 0, piece_ns, context);
}
