// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_sequence.c: tasks of a lane run in order, lanes side by side.
#include <semaphore.h>
#include <stddef.h>

#include "base/lane.h"
#include "harness/test.h"

enum { TASKS = 1000 };

typedef struct counted {
  mtli_task task;
  int number;
} counted;

static int seen[TASKS];
static int seen_count;
static sem_t done;

static void count(mtli_task *task) {
  seen[seen_count++] = ((counted *)task)->number;
  if (seen_count == TASKS) {
    sem_post(&done);
  }
}

TEST(lane, runs_tasks_in_the_order_posted) {
  static counted tasks[TASKS];
  sem_init(&done, 0, 0);
  mtli_lane *lane = mtli_lane_create();
  for (int i = 0; i < TASKS; i++) {
    tasks[i] = (counted){.task = {.run = count}, .number = i};
    mtli_lane_post(lane, &tasks[i].task);
  }
  sem_wait(&done);
  for (int i = 0; i < TASKS; i++) {
    CHECK_EQUAL(seen[i], i);
  }
  mtli_lane_end(lane);
}

static sem_t released;

static void wait_for_release(mtli_task *task) {
  (void)task;
  sem_wait(&released);
  sem_post(&done);
}

static void release(mtli_task *task) {
  (void)task;
  sem_post(&released);
}

TEST(lane, that_blocks_holds_up_no_other) {
  sem_init(&done, 0, 0);
  sem_init(&released, 0, 0);
  mtli_lane *blocked = mtli_lane_create();
  mtli_lane *other = mtli_lane_create();
  mtli_task first = {.run = wait_for_release};
  mtli_task second = {.run = release};
  mtli_lane_post(blocked, &first);
  mtli_lane_post(other, &second);
  sem_wait(&done);
  mtli_lane_end(blocked);
  mtli_lane_end(other);
}

typedef struct ending {
  mtli_task task;
  mtli_lane *lane;
} ending;

static void end_own_lane(mtli_task *task) {
  mtli_lane_end(((ending *)task)->lane);
  sem_post(&done);
}

TEST(lane, may_be_ended_by_its_own_task) {
  sem_init(&done, 0, 0);
  for (int i = 0; i < 100; i++) {
    ending it = {.task = {.run = end_own_lane}, .lane = mtli_lane_create()};
    mtli_lane_post(it.lane, &it.task);
    sem_wait(&done);
  }
}

TEST(lane, without_tasks_ends) {
  mtli_lane_end(mtli_lane_create());
  mtli_lane_end(NULL);
}
