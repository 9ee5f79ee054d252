// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// event.c: represents every event as an MTLSharedEvent. Metal's listeners
// advance a timeline that watchers wait on.
#include <inttypes.h>
#include <stdlib.h>

#include "drivers/metal/metal.h"

// Outlives the event: a listener may still run.
struct metal_mirror {
  mtli_object object;
  mtli_timeline timeline;
};

static void mirror_destroy(mtli_object *object) {
  metal_mirror *mirror = (metal_mirror *)object;
  (void)mtli_timeline_end(&mirror->timeline);  // nobody watches
  free(mirror);
}

static metal_mirror *mirror_create(uint64_t value) {
  metal_mirror *mirror = calloc(1, sizeof *mirror);
  if (mirror) {
    mtli_object_init(&mirror->object, mirror_destroy);
    mtli_timeline_init(&mirror->timeline, value);
  }
  return mirror;
}

mtl_status metal_event_create(mtl_event *event) {
  metal_event *made = (metal_event *)event;
  void *pool = metal.pool_push();
  made->mirror = mirror_create(event->initial_value);
  made->object = made->mirror
                     ? GET_OBJECT(metal_device_of(event->device)->object,
                                  newSharedEvent)
                     : NULL;
  mtl_status status = MTL_OK;
  if (made->object) {
    SEND(void (*)(id, SEL, uint64_t), made->object, setSignaledValue,
         event->initial_value);
  } else {
    free(made->mirror);
    status = mtli_fail(MTL_OUT_OF_MEMORY, "Metal has no event");
  }
  metal.pool_pop(pool);
  return status;
}

mtli_watcher *metal_event_destroy(mtl_event *event) {
  metal_event *made = (metal_event *)event;
  metal_mirror *mirror = made->mirror;
  if (mtli_device_is_inherited(event->device)) {
    return NULL;
  }
  pthread_mutex_lock(&mirror->timeline.lock);
  mtli_watcher *left = mirror->timeline.watchers;
  mirror->timeline.watchers = NULL;
  pthread_mutex_unlock(&mirror->timeline.lock);
  metal_give_back(event->device, made->object);
  mtli_object_release(&mirror->object);  // -1
  return left;
}

uint64_t metal_event_value(mtl_event *event) {
  return SEND(uint64_t(*)(id, SEL), metal_event_object(event), signaledValue);
}

mtl_status metal_event_signal(mtl_event *event, uint64_t value) {
  SEND(void (*)(id, SEL, uint64_t), metal_event_object(event),
       setSignaledValue, value);
  return MTL_OK;
}

// Metal counts milliseconds: a wait is never shorter than was asked for.
mtl_status metal_event_wait(mtl_event *event, uint64_t value,
                            uint64_t timeout_ns) {
  enum { MS_NS = 1000 * 1000 };
  if (metal_event_value(event) >= value) {
    return MTL_OK;
  }
  if (timeout_ns == 0) {
    return MTL_TIMED_OUT;
  }
  const uint64_t timeout_ms =
      timeout_ns == MTL_WAIT_FOREVER
          ? UINT64_MAX
          : timeout_ns / MS_NS + (timeout_ns % MS_NS != 0);
  void *pool = metal.pool_push();
  const bool has_come =
      (SEND(unsigned long (*)(id, SEL, uint64_t, uint64_t),
            metal_event_object(event), waitUntilSignaledValue, value,
            timeout_ms) &
       0xff) != 0;
  metal.pool_pop(pool);
  return has_come ? MTL_OK : MTL_TIMED_OUT;
}

static void listen(const metal_block *block, id event, uint64_t value) {
  (void)event;
  mtli_timeline_raise(&((metal_mirror *)block->object)->timeline, value);
}

bool metal_event_notify(mtl_event *event, mtli_watcher *watcher) {
  const metal_event *made = (metal_event *)event;
  metal_mirror *mirror = made->mirror;
  const uint64_t threshold = watcher->threshold;
  if (metal_event_value(event) >= threshold ||
      !mtli_timeline_watch(&mirror->timeline, watcher)) {
    return false;
  }
  const metal_block block =
      metal_block_of((void (*)(void))listen, &mirror->object);
  void *pool = metal.pool_push();
  SEND(void (*)(id, SEL, id, uint64_t, const metal_block *), made->object,
       notifyListener, metal_device_of(event->device)->listener, threshold,
       &block);
  metal.pool_pop(pool);
  return true;
}
