// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// log_state.c: log states, and the way from a command buffer's records
// (code/log_abi.h) to the handlers.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "code/log_abi.h"
#include "runtime/log.h"

enum {
  DEFAULT_BYTES = 1 << 20,
  LEAST_BYTES = 1 << 10,  // Metal: MTLLogStateDescriptor.bufferSize
  MOST_BYTES = 1 << 30,
  MOST_STRING_BYTES = 4096,
};

static void log_state_destroy(mtli_object *object) {
  mtl_log_state *state = (mtl_log_state *)object;
  mtli_log_receiver *receiver = atomic_load(&state->receivers);
  while (receiver) {
    mtli_log_receiver *next = atomic_load(&receiver->next);
    free(receiver);
    receiver = next;
  }
  mtl_device *device = state->device;
  pthread_mutex_destroy(&state->lock);
  free(state->label);
  free(state);
  mtl_device_release(device);  // -1
}

static mtl_status check_desc(const mtl_log_state_desc *desc) {
  if ((unsigned)desc->level > MTL_LOG_FAULT) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_log_state_create: level %u; the last is %u",
                     (unsigned)desc->level, MTL_LOG_FAULT);
  }
  if (desc->buffer_bytes &&
      (desc->buffer_bytes < LEAST_BYTES || desc->buffer_bytes > MOST_BYTES)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_log_state_create: buffer_bytes %zu; %d to %d, or 0 "
                     "for the default",
                     desc->buffer_bytes, LEAST_BYTES, MOST_BYTES);
  }
  return MTL_OK;
}

mtl_status mtl_log_state_create(mtl_device *device,
                                const mtl_log_state_desc *desc,
                                mtl_log_state **out_state) {
  if (!device || !out_state) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_log_state_create: %s is NULL",
                     device ? "out_state" : "device");
  }
  *out_state = NULL;
  MTL_TRY(mtli_device_check(device));
  static const mtl_log_state_desc defaults;
  desc = desc ? desc : &defaults;
  MTL_TRY(check_desc(desc));
  mtl_log_state *state = calloc(1, sizeof *state);
  if (!state) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a log state");
  }
  mtli_object_init(&state->object, log_state_destroy);
  pthread_mutex_init(&state->lock, NULL);
  state->device = mtl_device_retain(device);  // +1
  state->level = desc->level ? desc->level : MTL_LOG_DEBUG;
  state->buffer_bytes = desc->buffer_bytes ? desc->buffer_bytes : DEFAULT_BYTES;
  state->label = mtli_label_copy(desc->label);
  *out_state = state;
  return MTL_OK;
}

mtl_status mtli_log_state_check(const mtl_log_state *state,
                                const mtl_device *device, const char *call) {
  if (state && state->device != device) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: log_state '%s' is of device '%s', not '%s'", call,
                     mtl_log_state_label(state), state->device->info.name,
                     device->info.name);
  }
  return MTL_OK;
}

mtl_log_state *mtl_log_state_retain(mtl_log_state *state) {
  if (state) {
    mtli_object_retain(&state->object);
  }
  return state;
}

void mtl_log_state_release(mtl_log_state *state) {
  if (state) {
    mtli_object_release(&state->object);
  }
}

const char *mtl_log_state_label(const mtl_log_state *state) {
  return state->label ? state->label : "";
}

mtl_status mtl_log_state_add_handler(mtl_log_state *state,
                                     mtl_log_handler *handler, void *context) {
  if (!state || !handler) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_log_state_add_handler: %s is NULL",
                     state ? "handler" : "state");
  }
  mtli_log_receiver *receiver = malloc(sizeof *receiver);
  if (!receiver) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a log handler");
  }
  *receiver = (mtli_log_receiver){.handler = handler, .context = context};
  pthread_mutex_lock(&state->lock);
  mtli_log_receiver *last = atomic_load(&state->receivers);
  while (last && atomic_load(&last->next)) {
    last = atomic_load(&last->next);
  }
  // Release, with the acquires of deliver_record: it sees a whole receiver.
  atomic_store_explicit(last ? &last->next : &state->receivers, receiver,
                        memory_order_release);
  pthread_mutex_unlock(&state->lock);
  return MTL_OK;
}

uint64_t mtl_log_state_dropped(const mtl_log_state *state) {
  return atomic_load_explicit(&state->dropped, memory_order_relaxed);
}

const char *mtl_log_level_name(mtl_log_level level) {
  static const char *const names[] = {"undefined", "debug", "info",
                                      "notice",    "error", "fault"};
  return names[(unsigned)level <= MTL_LOG_FAULT ? level : MTL_LOG_UNDEFINED];
}

mtli_log_header *mtli_log_memory_create(const mtl_log_state *state) {
  mtli_log_header *memory = calloc(1, sizeof *memory + state->buffer_bytes);
  if (memory) {
    memory->capacity_bytes = (uint32_t)(state->buffer_bytes / 8 * 8);
    memory->level = (uint32_t)state->level;
  }
  return memory;
}

// A literal lies in the kernel's code, another string in a buffer. What a
// kernel calls a string may be anything, so no other memory is read.
static const char *find_string(void *context, uint64_t address,
                               size_t *out_length) {
  const mtl_log_state *state = context;
  const char *string = (const char *)(uintptr_t)address;
  Dl_info info;
  size_t most = mtli_bytes_behind(state->device, address);
  if (state->device->copies_log_texts) {
    most = address ? MOST_STRING_BYTES : 0;
  } else if (most == 0 && dladdr(string, &info) != 0) {
    most = MOST_STRING_BYTES;
  }
  if (most == 0) {
    return NULL;
  }
  *out_length = strnlen(string, most);
  return string;
}

// Returns the whole string, ended by a zero; "" if there is none. *out_copy is
// malloc'ed.
static const char *whole_string(mtl_log_state *state, uint64_t address,
                                char **out_copy) {
  size_t length = 0;
  const char *string = find_string(state, address, &length);
  *out_copy = string ? strndup(string, length) : NULL;
  return *out_copy ? *out_copy : "";
}

static void deliver_record(mtl_log_state *state,
                           const mtli_log_record *record) {
  char *copies[3];
  mtl_log_message message = {.level = (mtl_log_level)record->level};
  message.subsystem = whole_string(state, record->subsystem, &copies[0]);
  message.category = whole_string(state, record->category, &copies[1]);
  const char *format = whole_string(state, record->format, &copies[2]);
  mtli_bytes text = {0};
  mtli_log_format(&text, format, (const uint8_t *)(record + 1),
                  record->size_bytes - sizeof *record, find_string, state);
  mtli_bytes_append(&text, "", 1);
  message.text = text.failed ? "(out of memory)" : (const char *)text.data;
  mtli_log_tell(state, &message);
  mtli_bytes_clear(&text);
  for (int i = 0; i < 3; i++) {
    free(copies[i]);
  }
}

void mtli_log_tell(mtl_log_state *state, const mtl_log_message *message) {
  // Acquire: pairs with the release in mtl_log_state_add_handler.
  for (mtli_log_receiver *receiver =
           atomic_load_explicit(&state->receivers, memory_order_acquire);
       receiver;
       receiver = atomic_load_explicit(&receiver->next, memory_order_acquire)) {
    receiver->handler(receiver->context, message);
  }
}

void mtli_log_deliver(mtl_log_state *state, const mtli_log_header *memory) {
  atomic_fetch_add_explicit(&state->dropped, memory->dropped,
                            memory_order_relaxed);
  const uint8_t *records = (const uint8_t *)(memory + 1);
  // Not memory->capacity_bytes: a kernel may have written anywhere.
  const size_t capacity = state->buffer_bytes / 8 * 8;
  const size_t end =
      memory->used_bytes < capacity ? memory->used_bytes : capacity;
  size_t at = 0;
  while (end - at >= sizeof(mtli_log_record)) {
    const mtli_log_record *record = (const mtli_log_record *)(records + at);
    if (record->size_bytes < sizeof *record || record->size_bytes % 8 ||
        record->size_bytes > end - at) {
      return;
    }
    if (record->level) {
      deliver_record(state, record);
    }
    at += record->size_bytes;
  }
}
