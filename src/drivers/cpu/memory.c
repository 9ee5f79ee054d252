// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memory.c: allocates each buffer as pages of its own, so that its contents are
// aligned, zeroed and returned at once. On cpu the host and kernels share them;
// on cpu-discrete a shared or managed buffer has separate pages for each side.
#include <stdlib.h>
#include <string.h>

#include "drivers/cpu/cpu.h"

static void pages_destroy(cpu_buffer *cpu) {
  mtli_pages_destroy(&cpu->memory);
  mtli_pages_destroy(&cpu->host);
  mtli_pages_destroy(&cpu->synced);
}

// Makes the host's side of a buffer whose kernels see other memory.
static mtl_status host_create(cpu_buffer *cpu, const mtl_buffer_desc *desc) {
  if (desc->no_copy_bytes) {
    cpu->host.bytes = desc->no_copy_bytes;
  } else {
    MTL_TRY(mtli_buffer_create_pages(desc, &cpu->host));
  }
  if (desc->bytes) {
    memcpy(cpu->host.bytes, desc->bytes, desc->length_bytes);
  }
  if (desc->storage_mode == MTL_STORAGE_SHARED) {
    MTL_TRY(mtli_pages_create(desc->length_bytes, 0, &cpu->synced));
  }
  if (desc->bytes || desc->no_copy_bytes) {  // otherwise all are zero
    memcpy(cpu->memory.bytes, cpu->host.bytes, desc->length_bytes);
    if (cpu->synced.bytes) {
      memcpy(cpu->synced.bytes, cpu->host.bytes, desc->length_bytes);
    }
  }
  cpu->buffer.contents = cpu->host.bytes;
  return MTL_OK;
}

static mtl_status discrete_create(cpu_buffer *cpu,
                                  const mtl_buffer_desc *desc) {
  MTL_TRY(mtli_buffer_create_pages(desc, &cpu->memory));
  if (desc->storage_mode != MTL_STORAGE_PRIVATE) {
    return host_create(cpu, desc);
  }
  if (desc->bytes) {
    memcpy(cpu->memory.bytes, desc->bytes, desc->length_bytes);
  }
  return MTL_OK;
}

static mtl_status unified_create(cpu_buffer *cpu, const mtl_buffer_desc *desc) {
  if (desc->no_copy_bytes) {
    cpu->memory.bytes = desc->no_copy_bytes;
  } else {
    MTL_TRY(mtli_buffer_create_pages(desc, &cpu->memory));
  }
  if (desc->bytes) {
    memcpy(cpu->memory.bytes, desc->bytes, desc->length_bytes);
  }
  if (desc->storage_mode != MTL_STORAGE_PRIVATE) {
    cpu->buffer.contents = cpu->memory.bytes;
  }
  return MTL_OK;
}

static void write_initial(mtli_pages *pages, const mtl_buffer_desc *desc) {
  if (pages->bytes && desc->bytes) {
    memcpy(pages->bytes, desc->bytes, desc->length_bytes);
  }
}

// Makes a part of a heap: a part of each of the heap's copies.
static void part_create(cpu_buffer *cpu, const mtl_buffer_desc *desc) {
  const cpu_buffer *parent = (const cpu_buffer *)cpu->buffer.parent;
  const size_t offset = cpu->buffer.parent_offset_bytes;
  cpu->memory.bytes = parent->memory.bytes + offset;
  if (parent->host.bytes) {
    cpu->host.bytes = parent->host.bytes + offset;
  }
  if (parent->synced.bytes) {
    cpu->synced.bytes = parent->synced.bytes + offset;
  }
  if (parent->buffer.contents) {
    cpu->buffer.contents = (char *)parent->buffer.contents + offset;
  }
  pthread_mutex_t *lock = cpu_buffer_lock(cpu);
  pthread_mutex_lock(lock);
  write_initial(&cpu->memory, desc);
  write_initial(&cpu->host, desc);
  write_initial(&cpu->synced, desc);
  pthread_mutex_unlock(lock);
}

static mtl_status whole_create(cpu_buffer *cpu, const mtl_buffer_desc *desc) {
  return cpu_is_discrete(cpu->buffer.device) ? discrete_create(cpu, desc)
                                             : unified_create(cpu, desc);
}

mtl_status cpu_buffer_create(mtl_buffer *buffer, const mtl_buffer_desc *desc) {
  cpu_buffer *cpu = (cpu_buffer *)buffer;
  mtl_status status = MTL_OK;
  if (buffer->parent) {
    part_create(cpu, desc);
  } else {
    status = whole_create(cpu, desc);
  }
  if (status != MTL_OK) {
    pages_destroy(cpu);
    return status;
  }
  pthread_mutex_init(&cpu->lock, NULL);
  buffer->gpu_address = (uintptr_t)cpu->memory.bytes;
  cpu_check_buffer_created(
      buffer, desc->storage_mode == MTL_STORAGE_PRIVATE && !desc->bytes);
  return MTL_OK;
}

void cpu_buffer_destroy(mtl_buffer *buffer) {
  cpu_buffer *cpu = (cpu_buffer *)buffer;
  cpu_check_buffer_destroyed(buffer);
  pages_destroy(cpu);
  while (cpu->modified) {
    cpu_range *next = cpu->modified->next;
    free(cpu->modified);
    cpu->modified = next;
  }
  pthread_mutex_destroy(&cpu->lock);
}

static void advise(const mtli_pages *pages, size_t length_bytes,
                   mtli_advice advice) {
  if (!pages->bytes) {
    return;
  }
  if (advice == MTLI_ADVICE_PREFAULT) {
    mtli_pages_prefault(pages->bytes, length_bytes);
  } else if (pages->first) {
    mtli_pages_discard(pages->bytes, length_bytes);
  }
}

mtl_status cpu_buffer_advise(mtl_buffer *buffer, mtli_advice advice) {
  cpu_buffer *cpu = (cpu_buffer *)buffer;
  pthread_mutex_t *lock = cpu_buffer_lock(cpu);
  pthread_mutex_lock(lock);  // all copies are lost, or none
  advise(&cpu->memory, buffer->length_bytes, advice);
  advise(&cpu->host, buffer->length_bytes, advice);
  advise(&cpu->synced, buffer->length_bytes, advice);
  pthread_mutex_unlock(lock);
  return MTL_OK;
}

mtl_status cpu_buffer_modified(mtl_buffer *buffer, size_t offset_bytes,
                               size_t length_bytes) {
  if (!cpu_is_discrete(buffer->device)) {
    return MTL_OK;  // there is only one copy
  }
  return cpu_coherence_modified((cpu_buffer *)buffer, offset_bytes,
                                length_bytes);
}

// Kernels read host memory, so the descriptor can stay in the object.
mtl_status cpu_texture_create(mtl_texture *texture) {
  texture->resource_id = (uintptr_t)&texture->descriptor;
  return MTL_OK;
}

void cpu_texture_destroy(mtl_texture *texture) {
  (void)texture;
}
