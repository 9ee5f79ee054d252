// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// counters.c: samples the GPU's clock into MTLCounterSampleBuffers. Every GPU
// can sample where an encoder begins and ends, but not every one between two
// commands: so a timed command gets an encoder of its own.
#include <string.h>

#include "drivers/metal/metal.h"

enum {
  CHUNK = 512,  // samples of one MTLCounterSampleBuffer, which takes 4096
  RESOLVE_BYTES = 256,  // the alignment of an offset to resolve to
};
#define DONT_SAMPLE (~0ul)  // MTLCounterDontSample

// Returns the set of counters that has the time; nil if there is none.
static id find_set(id device) {
  const id sets = GET_OBJECT(device, counterSets);
  const unsigned long count = sets ? GET_NUMBER(sets, count) : 0;
  for (unsigned long i = 0; i < count; i++) {
    const id set = SEND(id(*)(id, SEL, unsigned long), sets, objectAtIndex, i);
    if (strcmp(metal_text(GET_OBJECT(set, name)), "timestamp") == 0) {
      return set;
    }
  }
  return NULL;
}

static id new_samples(id device, id *out_error) {
  enum { AT_STAGES = 0 };  // MTLCounterSamplingPointAtStageBoundary
  const bool does = (SEND(unsigned long (*)(id, SEL, unsigned long), device,
                          supportsCounterSampling, (unsigned long)AT_STAGES) &
                     0xff) != 0;
  const id set = does ? find_set(device) : NULL;
  if (!set) {
    return NULL;
  }
  const id descriptor = metal_new("MTLCounterSampleBufferDescriptor");
  SET_OBJECT(descriptor, setCounterSet, set);
  SET_NUMBER(descriptor, setSampleCount, CHUNK);
  SET_NUMBER(descriptor, setStorageMode, 0);
  const id samples = SEND(id(*)(id, SEL, id, id *), device, newCounterSamples,
                          descriptor, out_error);
  metal_release(descriptor);
  return samples;
}

// Takes the places of count samples that follow each other.
static mtl_status take(metal_encoding *encoding, unsigned long count,
                       metal_samples *out) {
  if (!encoding->samples || encoding->sample_count + count > CHUNK) {
    const mtl_device *device = encoding->command_buffer->queue->device;
    id error = NULL;
    const id made = new_samples(metal_device_of(device)->object, &error);
    if (!made) {
      return error ? metal_fail(error, "newCounterSampleBuffer")
                   : mtli_fail(MTL_UNSUPPORTED,
                               "device '%s' samples no times of encoders",
                               device->info.name);
    }
    if (!metal_encoding_keep(encoding, made)) {
      return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for samples");
    }
    encoding->samples = made;
    encoding->sample_count = 0;
  }
  *out = (metal_samples){.buffer = encoding->samples,
                         .first = encoding->sample_count};
  encoding->sample_count += count;
  return MTL_OK;
}

// Returns a descriptor of a pass that takes samples, autoreleased.
static id pass_of(const char *class_name, SEL make, id samples,
                  unsigned long first, unsigned long last) {
  const id pass =
      ((metal_get_object *)metal.send)(metal.get_class(class_name), make);
  const id attachments = GET_OBJECT(pass, sampleBufferAttachments);
  const id attachment = SEND(id(*)(id, SEL, unsigned long), attachments,
                             objectAtIndexedSubscript, 0ul);
  SET_OBJECT(attachment, setSampleBuffer, samples);
  SET_NUMBER(attachment, setStartOfEncoderSample, first);
  SET_NUMBER(attachment, setEndOfEncoderSample, last);
  return pass;
}

id metal_timed_compute(const metal_encoding *encoding, unsigned long type) {
  const metal_samples *samples = &encoding->timed;
  const id pass = pass_of("MTLComputePassDescriptor",
                          metal.selectors[METAL_computePassDescriptor],
                          samples->buffer, samples->first, samples->first + 1);
  SET_NUMBER(pass, setDispatchType, type);
  return SEND(id(*)(id, SEL, id), encoding->commands, computeEncoderFor, pass);
}

id metal_timed_blit(const metal_encoding *encoding) {
  const metal_samples *samples = &encoding->timed;
  return SEND(id(*)(id, SEL, id), encoding->commands, blitEncoderFor,
              pass_of("MTLBlitPassDescriptor",
                      metal.selectors[METAL_blitPassDescriptor],
                      samples->buffer, samples->first, samples->first + 1));
}

mtl_status metal_encode_sample(metal_encoding *encoding,
                               const mtli_command *command) {
  metal_samples samples;
  MTL_TRY(take(encoding, 1, &samples));
  const id staged = metal_encoding_stage(encoding, NULL, RESOLVE_BYTES);
  if (!staged) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a sample");
  }
  metal_encoding_end(encoding);
  encoding->blit = SEND(id(*)(id, SEL, id), encoding->commands, blitEncoderFor,
                        pass_of("MTLBlitPassDescriptor",
                                metal.selectors[METAL_blitPassDescriptor],
                                samples.buffer, DONT_SAMPLE, samples.first));
  SET_OBJECT(encoding->blit, waitForFence, encoding->fence);
  // Metal may drop an encoder without work.
  SEND(void (*)(id, SEL, id, metal_range, unsigned char), encoding->blit,
       fillBuffer, staged, ((metal_range){0, sizeof(uint64_t)}), 0);
  metal_encoding_end(encoding);
  const id blit = metal_encoding_blit(encoding);
  SEND(void (*)(id, SEL, id, metal_range, id, unsigned long), blit,
       resolveCounters, samples.buffer, ((metal_range){samples.first, 1}),
       staged, 0ul);
  const mtl_buffer *target = command->sample.buffer;
  SEND(void (*)(id, SEL, id, unsigned long, id, unsigned long, unsigned long),
       blit, copyBuffer, staged, 0ul, metal_object_of(target),
       metal_offset_of(target) + command->sample.offset_bytes,
       sizeof(uint64_t));
  return MTL_OK;
}

mtl_status metal_time_next(metal_encoding *encoding,
                           const mtli_command *command) {
  if (take(encoding, 2, &encoding->timed) != MTL_OK) {
    return MTL_OK;  // such a GPU reports no times
  }
  metal_encoding_end(encoding);
  encoding->timed.times = command->times;
  encoding->timed.is_blit = command->kind != MTLI_COMMAND_DISPATCH &&
                            command->kind != MTLI_COMMAND_EXECUTE;
  if (!metal_timed_add(encoding)) {
    encoding->timed.buffer = NULL;
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for times");
  }
  return MTL_OK;
}

// --- what was sampled --------------------------------------------------------

// The two clocks, at two moments.
typedef struct clocks {
  uint64_t host_ns[2];
  uint64_t ticks[2];
} clocks;

static uint64_t host_time(const clocks *seen, uint64_t ticks) {
  const double rate = seen->ticks[1] > seen->ticks[0]
                          ? (double)(seen->host_ns[1] - seen->host_ns[0]) /
                                (double)(seen->ticks[1] - seen->ticks[0])
                          : 1;
  const double since = (double)(int64_t)(ticks - seen->ticks[0]);
  return seen->host_ns[0] + (uint64_t)(int64_t)(since * rate);
}

static uint64_t within(uint64_t time, uint64_t first, uint64_t last) {
  return time < first ? first : time > last ? last : time;
}

void metal_tell_times(mtl_device *device, const metal_timed *timed,
                      uint64_t start_ns, uint64_t end_ns) {
  clocks seen = {{timed->host_ns}, {timed->ticks}};
  (void)metal_device_timestamps(device, &seen.host_ns[1], &seen.ticks[1]);
  for (size_t i = 0; i < timed->count; i++) {
    const metal_samples *each = &timed->samples[i];
    const id data = SEND(id(*)(id, SEL, metal_range), each->buffer,
                         resolveCounterRange, ((metal_range){each->first, 2}));
    uint64_t ticks[2];
    if (!data || GET_NUMBER(data, length) < sizeof ticks) {
      continue;
    }
    memcpy(ticks, SEND(const void *(*)(id, SEL), data, bytes), sizeof ticks);
    if (ticks[0] == UINT64_MAX || ticks[1] == UINT64_MAX) {
      continue;  // MTLCounterErrorValue
    }
    // What one clock says of the other is not exact.
    mtli_command_starts(each->times,
                        within(host_time(&seen, ticks[0]), start_ns, end_ns));
    mtli_command_ends(each->times,
                      within(host_time(&seen, ticks[1]), start_ns, end_ns));
  }
}
