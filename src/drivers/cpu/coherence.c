// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// coherence.c: keeps host and device memory coherent on cpu-discrete, only
// where Metal promises it: a shared buffer before and after each command buffer
// that uses it, a managed one where the client asks.
//
// Neither side may overwrite what the other has written meanwhile: the host may
// fill one part of a shared buffer while a kernel writes another. So a third
// copy holds the last agreed contents, and only bytes that differ from it are
// copied.
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "drivers/cpu/cpu.h"

enum { WORD_BYTES = 8, PIECE_BYTES = 32 * WORD_BYTES };

// The other side may write elsewhere in the same buffer, which a thread
// sanitizer cannot tell from a race.
#define RACES_BY_DESIGN __attribute__((no_sanitize("thread")))

RACES_BY_DESIGN static bool pieces_differ(const char *a, const char *b) {
  uint64_t difference = 0;
  for (size_t i = 0; i < PIECE_BYTES; i += WORD_BYTES) {
    uint64_t a_word;
    uint64_t b_word;
    __builtin_memcpy(&a_word, a + i, WORD_BYTES);
    __builtin_memcpy(&b_word, b + i, WORD_BYTES);
    difference |= a_word ^ b_word;
  }
  return difference != 0;
}

// Copies the bytes of [length_bytes] that changed in `from` to `to`.
RACES_BY_DESIGN static void move_changes(const char *from, char *synced,
                                         char *to, size_t length_bytes) {
  size_t first = 0;
  while (first < length_bytes) {
    const size_t rest_bytes = length_bytes - first;
    const size_t end =
        first + (rest_bytes < PIECE_BYTES ? rest_bytes : PIECE_BYTES);
    if (rest_bytes < PIECE_BYTES ||
        pieces_differ(from + first, synced + first)) {
      for (size_t i = first; i < end; i++) {
        if (from[i] != synced[i]) {
          synced[i] = from[i];
          to[i] = from[i];
        }
      }
    }
    first = end;
  }
}

mtl_status cpu_coherence_modified(cpu_buffer *buffer, size_t offset_bytes,
                                  size_t length_bytes) {
  cpu_range *range = malloc(sizeof *range);
  if (!range) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a modified range");
  }
  *range =
      (cpu_range){.offset_bytes = offset_bytes, .length_bytes = length_bytes};
  pthread_mutex_lock(cpu_buffer_lock(buffer));
  range->next = buffer->modified;
  buffer->modified = range;
  pthread_mutex_unlock(cpu_buffer_lock(buffer));
  return MTL_OK;
}

// Opens host memory that the checker may have closed.
static void open_host(const cpu_buffer *buffer, bool is_opened) {
  mtli_check_host_open((uintptr_t)buffer->host.bytes, is_opened);
}

static void upload(cpu_buffer *buffer) {
  pthread_mutex_lock(cpu_buffer_lock(buffer));
  open_host(buffer, true);
  if (buffer->buffer.storage_mode == MTL_STORAGE_SHARED) {
    move_changes(buffer->host.bytes, buffer->synced.bytes, buffer->memory.bytes,
                 buffer->buffer.length_bytes);
  }
  while (buffer->modified) {
    cpu_range *range = buffer->modified;
    buffer->modified = range->next;
    memcpy(buffer->memory.bytes + range->offset_bytes,
           buffer->host.bytes + range->offset_bytes, range->length_bytes);
    free(range);
  }
  open_host(buffer, false);
  pthread_mutex_unlock(cpu_buffer_lock(buffer));
}

static void download(cpu_buffer *buffer) {
  if (buffer->buffer.storage_mode != MTL_STORAGE_SHARED) {
    return;
  }
  pthread_mutex_lock(cpu_buffer_lock(buffer));
  open_host(buffer, true);
  move_changes(buffer->memory.bytes, buffer->synced.bytes, buffer->host.bytes,
               buffer->buffer.length_bytes);
  open_host(buffer, false);
  pthread_mutex_unlock(cpu_buffer_lock(buffer));
}

// Calls move for every buffer that the work may use.
static void for_each(mtl_command_buffer *command_buffer,
                     void (*move)(cpu_buffer *buffer)) {
  for (size_t i = 0; i < command_buffer->buffer_count; i++) {
    move((cpu_buffer *)command_buffer->buffers[i]);
  }
  for (size_t i = 0; i < command_buffer->resident_count; i++) {
    const mtli_residents *residents = command_buffer->residents[i];
    for (size_t k = 0; k < residents->count; k++) {
      move((cpu_buffer *)residents->buffers[k]);
    }
  }
}

void cpu_coherence_upload(mtl_command_buffer *command_buffer) {
  for_each(command_buffer, upload);
}

void cpu_coherence_download(mtl_command_buffer *command_buffer) {
  for_each(command_buffer, download);
}

void cpu_coherence_synchronize(cpu_buffer *buffer) {
  pthread_mutex_lock(cpu_buffer_lock(buffer));
  open_host(buffer, true);
  memcpy(buffer->host.bytes, buffer->memory.bytes, buffer->buffer.length_bytes);
  mtli_check_host_synchronize((uintptr_t)buffer->host.bytes);
  open_host(buffer, false);
  pthread_mutex_unlock(cpu_buffer_lock(buffer));
}
