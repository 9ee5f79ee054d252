// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fault.c: reads the records that kernels leave for the host: why one stopped
// itself, and log messages. Texts are constants of the module, on the GPU.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/log_abi.h"
#include "drivers/cuda/cuda.h"

enum { TEXT_LIMIT = 1024 };

// Copies a text from the GPU, "" for address 0. By pieces of MTLI_PTX_TEXT_BYTES
// at such addresses, which end where the text's memory does or before. False if
// nothing could be read.
static bool read_text(cuda_worker *worker, uint64_t address, char *text,
                      size_t capacity) {
  enum { STEP = MTLI_PTX_TEXT_BYTES };
  size_t length = 0;
  text[0] = '\0';
  while (address && length + STEP < capacity) {
    const size_t step = STEP - (address + length) % STEP;
    if (cuda_read(worker->device, text + length, address + length, step) !=
        MTL_OK) {
      break;
    }
    length += step;
    if (memchr(text + length - step, 0, step)) {
      return true;
    }
  }
  text[length] = '\0';
  return length > 0;
}

// Describes the access that was refused.
static void describe_refused(const cuda_worker *worker, const cuda_list *list,
                             char *text, size_t capacity) {
  const mtli_ptx_fault *fault = list->fault;
  const bool is_write = (fault->access & MTLI_PTX_WRITE) != 0;
  if (fault->access & MTLI_PTX_THREADGROUP) {
    const uint32_t bytes = list->dispatch ? list->dispatch->threadgroup_bytes : 0;
    if (fault->address >= MTLI_NO_THREADGROUP_MEMORY) {
      snprintf(text, capacity,
               "it %s a threadgroup argument whose length is 0: it is not bound",
               is_write ? "wrote to" : "read");
    } else {
      snprintf(text, capacity,
               "it %s byte %lld of its %u bytes of threadgroup memory",
               is_write ? "wrote to" : "read", (long long)fault->address,
               bytes);
    }
    return;
  }
  const uint32_t slot = fault->access >> MTLI_PTX_SLOT_SHIFT;
  const mtli_access access = {.address = fault->address,
                              .is_write = is_write,
                              .dispatch = list->dispatch,
                              .has_slot = slot && list->dispatch,
                              .slot = slot - 1};
  char where[TEXT_LIMIT / 2];
  mtli_describe_access(&worker->device->device, &access, where, sizeof where);
  snprintf(text, capacity, "it %s address %#llx%s%s",
           is_write ? "wrote to" : "read", (unsigned long long)fault->address,
           *where                  ? ", "
           : fault->address < 4096 ? ", a null pointer"
                                   : "",
           where);
}

void cuda_fault_note(cuda_worker *worker, cuda_list *list) {
  const mtli_ptx_fault *fault = list->fault;
  if (!fault || !fault->is_whole || !list->stopped ||
      list->status != MTL_OK) {
    return;
  }
  char text[TEXT_LIMIT], place[TEXT_LIMIT], message[3 * TEXT_LIMIT];
  (void)read_text(worker, fault->text, text, sizeof text);
  (void)read_text(worker, fault->place, place, sizeof place);
  const mtli_kernel *kernel = list->stopped->kernel;
  const char *what = fault->reason == 1   ? "it called __builtin_trap"
                     : fault->reason == 2 ? "assertion failed: "
                                          : "";
  if (fault->reason == MTLI_PTX_REFUSED) {
    describe_refused(worker, list, text, sizeof text);
  }
  snprintf(message, sizeof message,
           "kernel '%s' (%s:%u) failed at %s%sthread (%u, %u, %u) of "
           "threadgroup (%u, %u, %u): %s%s",
           kernel->name, kernel->file ? kernel->file : "", kernel->line, place,
           *place ? ", " : "", fault->thread[0], fault->thread[1],
           fault->thread[2], fault->group[0], fault->group[1], fault->group[2],
           what, text);
  cuda_list_fail(list, MTL_KERNEL_FAULT, message);
}

// --- messages ----------------------------------------------------------------

// Texts on the host, for as long as the messages are read.
typedef struct text {
  struct text *next;
  uint64_t address;  // on the GPU
  char bytes[TEXT_LIMIT];
} text;

typedef struct reader {
  cuda_worker *worker;
  text *texts;
} reader;

// Puts the host's address of a text in the place of the GPU's.
static void move_text(reader *r, void *place) {
  uint64_t address;
  memcpy(&address, place, sizeof address);
  if (!address) {
    return;
  }
  text *at = r->texts;
  while (at && at->address != address) {
    at = at->next;
  }
  if (!at) {
    at = malloc(sizeof *at);
    if (!at || !read_text(r->worker, address, at->bytes, sizeof at->bytes)) {
      // There is no text.
      free(at);
      memset(place, 0, sizeof address);
      return;
    }
    at->address = address;
    at->next = r->texts;
    r->texts = at;
  }
  const uint64_t moved = (uintptr_t)at->bytes;
  memcpy(place, &moved, sizeof moved);
}

static void move_record(reader *r, mtli_log_record *record) {
  move_text(r, &record->subsystem);
  move_text(r, &record->category);
  move_text(r, &record->format);
  char *at = (char *)(record + 1);
  char *end = (char *)record + record->size_bytes;
  while (at + sizeof(mtli_log_argument) <= end) {
    mtli_log_argument argument;
    memcpy(&argument, at, sizeof argument);
    at += sizeof argument;
    const size_t bytes =
        ((size_t)argument.element_bytes * argument.elements + 7) / 8 * 8;
    if (bytes == 0 || at + bytes > end) {
      return;
    }
    if (argument.kind == MTLI_LOG_STRING) {
      move_text(r, at);
    }
    at += bytes;
  }
}

void cuda_log_take(cuda_worker *worker, mtl_command_buffer *command_buffer) {
  cuda_list *list = command_buffer->driver_data;
  if (!list->log || !list->log->used_bytes) {
    return;
  }
  reader r = {.worker = worker};
  char *at = (char *)(list->log + 1);
  const char *end = at + list->log->capacity_bytes;
  const uint32_t used = list->log->used_bytes;
  if (used < list->log->capacity_bytes) {
    end = at + used;
  }
  while (at + sizeof(mtli_log_record) <= end) {
    mtli_log_record *record = (mtli_log_record *)at;
    if (record->size_bytes < sizeof *record ||
        record->size_bytes > (size_t)(end - at)) {
      break;
    }
    if (record->level) {
      move_record(&r, record);
    }
    at += record->size_bytes;
  }
  memcpy(command_buffer->log, list->log, list->log_bytes);
  list->texts = r.texts;
}

void cuda_log_forget(cuda_list *list) {
  for (text *at = list->texts; at;) {
    text *next = at->next;
    free(at);
    at = next;
  }
  list->texts = NULL;
}
