// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// counters.c: MTLCounterSet, MTLCounterSampleBuffer and the device's clock. The
// only counter set is "timestamp".
#include <stdlib.h>

#include "objc/metal/commands/passes.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleCounter;
extern struct objc_class OBJC_CLASS_$_MettleCounterSet;
extern struct objc_class OBJC_CLASS_$_MettleCounterSampleBuffer;

CONSTANT_STRING(MTLCommonCounterTimestamp, "GPUTimestamp");
CONSTANT_STRING(MTLCommonCounterSetTimestamp, "timestamp");
CONSTANT_STRING(MTLCounterErrorDomain, "MTLCounterErrorDomain");

// --- MTLCounter, MTLCounterSet -----------------------------------------------

static id counter_name(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return MTLCommonCounterTimestamp;
}

METHODS(counter_methods, METHOD("name", "@16@0:8", counter_name));
DEFINE_CLASS(MettleCounter, NSObject, sizeof(struct objc_object),
             counter_methods, NO_METHODS);

static id set_name(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return MTLCommonCounterSetTimestamp;
}

static id set_counters(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  const id counter = objc_autorelease(CREATE(MettleCounter));
  return array_make(&counter, 1);
}

METHODS(set_methods, METHOD("name", "@16@0:8", set_name),
        METHOD("counters", "@16@0:8", set_counters));
DEFINE_CLASS(MettleCounterSet, NSObject, sizeof(struct objc_object),
             set_methods, NO_METHODS);

// --- MTLCounterSampleBufferDescriptor ----------------------------------------

typedef struct samples_descriptor {
  struct objc_object object;
  id counterSet;
  id label;
  NSUInteger storageMode;
  NSUInteger sampleCount;
} samples_descriptor;

OBJECT_PROPERTY(samples_descriptor, counterSet)
COPY_PROPERTY(samples_descriptor, label)
VALUE_PROPERTY(samples_descriptor, NSUInteger, storageMode)
VALUE_PROPERTY(samples_descriptor, NSUInteger, sampleCount)
REFERENCES(samples_descriptor, counterSet, label)

METHODS(samples_descriptor_methods, REFERENCES_METHODS(samples_descriptor),
        OBJECT_METHODS(samples_descriptor, counterSet, "setCounterSet:"),
        OBJECT_METHODS(samples_descriptor, label, "setLabel:"),
        VALUE_METHODS(samples_descriptor, storageMode, "setStorageMode:", "Q"),
        VALUE_METHODS(samples_descriptor, sampleCount, "setSampleCount:", "Q"));
DEFINE_CLASS(MTLCounterSampleBufferDescriptor, NSObject,
             sizeof(samples_descriptor), samples_descriptor_methods,
             NO_METHODS);

// --- MTLCounterSampleBuffer --------------------------------------------------

typedef struct metal_samples {
  struct objc_object object;
  id device;  // +1
  mtl_counter_sample_buffer *samples;
} metal_samples;

mtl_counter_sample_buffer *samples_of(id samples) {
  return samples ? ((metal_samples *)samples)->samples : NULL;
}

static void samples_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_counter_sample_buffer_release(samples_of(self));
  objc_release(((metal_samples *)self)->device);
  instance_dispose(self);
}

READ_PROPERTY(metal_samples, id, device)

static id samples_label(id self, SEL _cmd) {
  (void)_cmd;
  return label_make(mtl_counter_sample_buffer_label(samples_of(self)));
}

static NSUInteger samples_count(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_counter_sample_buffer_count(samples_of(self));
}

// Returns an NSData of MTLCounterResultTimestamp, a uint64_t each; nil if it
// cannot be.
static id samples_resolve(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  const NSUInteger count = samples_count(self, NULL);
  if (range.location > count || range.length > count - range.location) {
    return NULL;
  }
  uint64_t *ticks = malloc(range.length * sizeof *ticks + 1);
  const bool good = ticks && mtl_counter_sample_buffer_resolve(
                                 samples_of(self), (uint32_t)range.location,
                                 (uint32_t)range.length, ticks) == MTL_OK;
  const id data = good ? data_make(ticks, range.length * sizeof *ticks) : NULL;
  free(ticks);
  return data;
}

METHODS(samples_methods, METHOD("dealloc", "v16@0:8", samples_dealloc),
        METHOD("device", "@16@0:8", metal_samples_get_device),
        METHOD("label", "@16@0:8", samples_label),
        METHOD("sampleCount", "Q16@0:8", samples_count),
        METHOD("resolveCounterRange:", "@32@0:8{_NSRange=QQ}16",
               samples_resolve));
DEFINE_CLASS(MettleCounterSampleBuffer, NSObject, sizeof(metal_samples),
             samples_methods, NO_METHODS);

// --- The device --------------------------------------------------------------

static id device_sets(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  const id set = objc_autorelease(CREATE(MettleCounterSet));
  return array_make(&set, 1);
}

enum { ERROR_INVALID = 1 };  // MTLCounterSampleBufferErrorInvalid

static id new_samples(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  const samples_descriptor *wanted = (samples_descriptor *)descriptor;
  if (!wanted->counterSet) {
    if (out_error) {
      *out_error = error_make(MTLCounterErrorDomain, ERROR_INVALID,
                              "a counter sample buffer needs a counterSet");
    }
    return NULL;
  }
  const mtl_counter_sample_buffer_desc desc = {
      .sample_count = wanted->sampleCount > UINT32_MAX
                          ? UINT32_MAX
                          : (uint32_t)wanted->sampleCount,
      .storage_mode = wanted->storageMode == STORAGE_PRIVATE
                          ? MTL_STORAGE_PRIVATE
                          : MTL_STORAGE_SHARED,
      .label = wanted->label ? string_utf8(wanted->label) : NULL};
  mtl_counter_sample_buffer *samples;
  const mtl_status status =
      mtl_counter_sample_buffer_create(device_of(self), &desc, &samples);
  if (status != MTL_OK) {
    error_from_mettle(out_error, MTLCounterErrorDomain, status);
    return NULL;
  }
  metal_samples *made = (metal_samples *)CREATE(MettleCounterSampleBuffer);
  made->device = objc_retain(self);
  made->samples = samples;
  return &made->object;
}

// MTLCounterSamplingPoint: at stages (encoders), dispatches and blits; there
// are no draws and tiles.
static int supports_sampling(id self, SEL _cmd, NSUInteger point) {
  enum { AT_STAGE = 0, AT_DISPATCH = 2, AT_BLIT = 4 };
  (void)self;
  (void)_cmd;
  return point == AT_STAGE || point == AT_DISPATCH || point == AT_BLIT;
}

static void sample_timestamps(id self, SEL _cmd, uint64_t *out_cpu,
                              uint64_t *out_gpu) {
  (void)_cmd;
  uint64_t host_ns = 0, ticks = 0;
  if (mtl_device_sample_timestamps(device_of(self), &host_ns, &ticks) ==
      MTL_OK) {
    *out_cpu = host_ns;
    *out_gpu = ticks;
  }
}

static uint64_t timestamp_frequency(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_device_get_info(device_of(self))->timestamp_frequency_hz;
}

METHODS(device_methods, METHOD("counterSets", "@16@0:8", device_sets),
        METHOD("newCounterSampleBufferWithDescriptor:error:", "@32@0:8@16^@24",
               new_samples),
        METHOD("supportsCounterSampling:", "B24@0:8Q16", supports_sampling),
        METHOD("sampleTimestamps:gpuTimestamp:", "v32@0:8^Q16^Q24",
               sample_timestamps),
        METHOD("queryTimestampFrequency", "Q16@0:8", timestamp_frequency));
DEFINE_CATEGORY(MettleDevice, counters, device_methods);
