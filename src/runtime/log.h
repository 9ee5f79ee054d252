// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// log.h: log states, and the records of os_log on their way to handlers.
#ifndef MTLI_LOG_H
#define MTLI_LOG_H

#include "base/memory/bytes.h"
#include "code/log_abi.h"
#include "mettle/log.h"
#include "runtime/objects.h"

typedef struct mtli_log_receiver {
  _Atomic(struct mtli_log_receiver *) next;
  mtl_log_handler *handler;
  void *context;
} mtli_log_receiver;

struct mtl_log_state {
  mtli_object object;
  mtl_device *device;  // +1
  mtl_log_level level;
  size_t buffer_bytes;
  char *label;
  pthread_mutex_t lock;                    // of the writers of receivers
  _Atomic(mtli_log_receiver *) receivers;  // in the order added; only grows
  _Atomic uint64_t dropped;
};

// Fails if state, which may be NULL, is another device's.
mtl_status mtli_log_state_check(const mtl_log_state *state,
                                const mtl_device *device, const char *call);

// Makes the memory for a command buffer's messages; malloc'ed, NULL when out of
// memory.
mtli_log_header *mtli_log_memory_create(const mtl_log_state *state);

// Formats the messages in memory and calls the handlers.
void mtli_log_deliver(mtl_log_state *state, const mtli_log_header *memory);

// Calls the handlers with a message.
void mtli_log_tell(mtl_log_state *state, const mtl_log_message *message);

// Finds the text that a kernel's address means: [*out_length] characters, NULL
// if no constant memory is there.
typedef const char *mtli_log_string_fn(void *context, uint64_t address,
                                       size_t *out_length);

// Appends format to text with each conversion replaced by its argument, which
// has a kind of its own: a conversion that does not go with it shows the value
// as what it is. arguments is [size_bytes] of code/log_abi.h.
void mtli_log_format(mtli_bytes *text, const char *format,
                     const uint8_t *arguments, size_t size_bytes,
                     mtli_log_string_fn *find_string, void *context);

#endif
