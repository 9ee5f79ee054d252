// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// purgeable.c: purgeable states. Memory is released when a state says so, never
// behind the client's back: volatile memory stays.
#include "mettle/heap.h"
#include "runtime/objects.h"

// Sets the state of memory, which all that lies in it shares.
static mtl_status set(mtl_buffer *memory, mtl_purgeable_state state,
                      mtl_purgeable_state *out_before, const char *call) {
  if (state < MTL_PURGEABLE_KEEP_CURRENT || state > MTL_PURGEABLE_EMPTY) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: state %d does not exist", call,
                     (int)state);
  }
  MTL_TRY(mtli_device_check(memory->device));
  // Relaxed: clients that rely on contents order the calls.
  const uint32_t before =
      state == MTL_PURGEABLE_KEEP_CURRENT
          ? atomic_load_explicit(&memory->purgeable, memory_order_relaxed)
          : atomic_exchange_explicit(&memory->purgeable, (uint32_t)state,
                                     memory_order_relaxed);
  if (state == MTL_PURGEABLE_EMPTY && !memory->no_copy_bytes) {
    atomic_store_explicit(&memory->is_prefaulted, false, memory_order_relaxed);
    // Only advice: a device that cannot give memory back keeps it.
    (void)memory->device->driver->buffer_advise(memory, MTLI_ADVICE_DISCARD);
  }
  if (out_before) {
    *out_before =
        before ? (mtl_purgeable_state)before : MTL_PURGEABLE_NON_VOLATILE;
  }
  return MTL_OK;
}

static mtl_status set_of_resource(mtl_buffer *buffer, mtl_purgeable_state state,
                                  mtl_purgeable_state *out_before,
                                  const char *call) {
  if (!buffer) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: the resource is NULL", call);
  }
  if (buffer->parent && state != MTL_PURGEABLE_KEEP_CURRENT) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: '%s' lies in %s '%s', whose state it has", call,
                     mtl_buffer_label(buffer),
                     buffer->viewed ? "another device's buffer" : "heap",
                     mtl_buffer_label(buffer->parent));
  }
  return set(buffer->parent ? buffer->parent : buffer, state, out_before, call);
}

mtl_status mtl_buffer_set_purgeable_state(mtl_buffer *buffer,
                                          mtl_purgeable_state state,
                                          mtl_purgeable_state *out_before) {
  return set_of_resource(buffer, state, out_before,
                         "mtl_buffer_set_purgeable_state");
}

mtl_status mtl_texture_set_purgeable_state(mtl_texture *texture,
                                           mtl_purgeable_state state,
                                           mtl_purgeable_state *out_before) {
  return set_of_resource(texture ? texture->buffer : NULL, state, out_before,
                         "mtl_texture_set_purgeable_state");
}

mtl_status mtl_heap_set_purgeable_state(mtl_heap *heap,
                                        mtl_purgeable_state state,
                                        mtl_purgeable_state *out_before) {
  static const char call[] = "mtl_heap_set_purgeable_state";
  if (!heap) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: heap is NULL", call);
  }
  return set(mtli_heap_memory(heap), state, out_before, call);
}
