// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// operation.h: what operations and their queues know of each other. One lock
// guards all of them: their number is small, and dependencies cross queues.
#ifndef METTLE_OBJC_OPERATION_H
#define METTLE_OBJC_OPERATION_H

#include "objc/foundation/foundation.h"

typedef struct operation {
  struct objc_object object;
  id dependencies;  // +1, an NSMutableArray
  id completion;    // +1, a block or nil
  id name;          // +1
  id queue;         // borrowed: where it was added
  NSInteger priority;
  NSInteger quality;
  bool is_cancelled, is_executing, is_finished;
  bool is_launched;  // given to a thread
  bool is_done;      // its end was told
} operation;

void operations_lock(void);
void operations_unlock(void);
// Waits for the end of some operation. The lock is held once.
void operations_wait(void);

bool operation_is_ready(id self);
// Tells the end of an operation, if it is finished and nobody did yet.
void operation_check_end(id self);

// Takes a finished operation off its queue. True if that was the last one: the
// caller releases the queue, without the lock, which is held.
bool operation_queue_remove(id queue, id ended);
// Starts what can run, on all queues. The lock is held.
void operation_queues_schedule(void);

#endif
