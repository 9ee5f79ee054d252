// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// log.h: what kernels say by os_log, delivered to the host.
//
// A log state goes into a queue's or a command buffer's desc. Each command
// buffer has room of its own for messages; they are formatted and handed to the
// handlers when its work is done, also when it has failed.
#ifndef METTLE_LOG_H
#define METTLE_LOG_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_log_state mtl_log_state;

// log_debug, log_info, log, log_error and log_fault, by rising weight.
//
// Source     Metal: MTLLogLevel
typedef enum mtl_log_level {
  MTL_LOG_UNDEFINED = 0,
  MTL_LOG_DEBUG,
  MTL_LOG_INFO,
  MTL_LOG_NOTICE,
  MTL_LOG_ERROR,
  MTL_LOG_FAULT,
} mtl_log_level;

typedef struct mtl_log_state_desc {
  mtl_log_level level;  // messages below it are not kept; UNDEFINED: DEBUG
  size_t buffer_bytes;  // room of a command buffer; 0 for 1 MiB, else 1 KiB to
                        // 1 GiB. A message takes 32 bytes and 16 or more for
                        // each argument
  const char *label;    // copied; NULL for none
} mtl_log_state_desc;

// Makes a log state.
//
//   desc   NULL for the defaults
//
// Ownership  The log state is yours; it retains device.
// Threads    Any, for all functions of this header.
// Errors     MTL_INVALID_ARGUMENT  no such level or size
// Source     Metal: -[MTLDevice newLogStateWithDescriptor:error:]
MTL_API MTL_MUST_USE mtl_status
mtl_log_state_create(mtl_device *device, const mtl_log_state_desc *desc,
                     mtl_log_state **out_state);
MTL_API mtl_log_state *mtl_log_state_retain(mtl_log_state *state);
MTL_API void mtl_log_state_release(mtl_log_state *state);
MTL_API const char *mtl_log_state_label(const mtl_log_state *state);

typedef struct mtl_log_message {
  const char *subsystem;  // "default" where the kernel names none
  const char *category;
  mtl_log_level level;
  const char *text;  // formatted
} mtl_log_message;

typedef void mtl_log_handler(void *context, const mtl_log_message *message);

// Adds a function to call with each message, after those added before. The
// messages of a thread come in its order; those of different threads in any.
// Command buffers of different queues may call at the same time. A command
// buffer's messages come before its completed callbacks, and so before wait
// returns. Without a handler messages are lost.
//
// Ownership  The message is borrowed by the handler; context must live as long
//            as the log state.
// Source     Metal: -[MTLLogState addLogHandler:]
MTL_API MTL_MUST_USE mtl_status mtl_log_state_add_handler(
    mtl_log_state *state, mtl_log_handler *handler, void *context);

// Returns how many messages found no room so far, of command buffers that have
// completed.
MTL_API uint64_t mtl_log_state_dropped(const mtl_log_state *state);

// Returns "debug", "info", "notice", "error" or "fault"; else "undefined".
MTL_API const char *mtl_log_level_name(mtl_log_level level);

#ifdef __cplusplus
}
#endif
#endif
