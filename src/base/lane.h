// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane.h: runs the client's callbacks, and other work that may block, on
// threads of Mettle's. A lane is a sequence: its tasks run one after another
// in the order posted. Lanes run side by side, so a callback that waits for
// something holds up nothing but its own lane.
//
// Threads are started at need and end after a while without work.
#ifndef MTLI_LANE_H
#define MTLI_LANE_H

typedef struct mtli_lane mtli_lane;
typedef struct mtli_task mtli_task;

// Runs once. The task is free again: it may be reused or freed.
typedef void mtli_task_fn(mtli_task *task);

// Part of the object that the work belongs to.
struct mtli_task {
  mtli_task *next;
  mtli_task_fn *run;
};

// Returns an empty lane, or NULL when out of memory.
mtli_lane *mtli_lane_create(void);

// Ends the lane once its tasks have run; a task may end its own lane. NULL is
// allowed.
void mtli_lane_end(mtli_lane *lane);

// Runs task after those posted before it. Never blocks. If no thread can be
// had, runs it at once on the calling thread: a callback on the wrong thread
// is a nuisance, a lost completion a hang.
//
// Threads    Any, holding no lock that the task takes.
void mtli_lane_post(mtli_lane *lane, mtli_task *task);

// Forgets all threads, in the child of a fork, which has none of them.
// mtli_lane_lock and unlock are called around the fork.
void mtli_lane_lock(void);
void mtli_lane_unlock(void);
void mtli_lane_forget_threads(void);

#endif
