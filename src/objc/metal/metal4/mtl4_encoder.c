// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mtl4_encoder.c: MTL4ComputeCommandEncoder, and encodes a list of commands
// into a Metal 3 command buffer of a queue that is ordered by barriers.
// Addresses are resolved among the resident allocations.
#include <stdlib.h>
#include <string.h>

#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"
#include "objc/runtime/failure.h"

extern struct objc_class OBJC_CLASS_$_MettleEncoder4;
extern struct objc_class OBJC_CLASS_$_MettleTensor;
extern struct objc_class OBJC_CLASS_$_MettleFunctionTable;

// The state of encoding: at most one open encoder of Metal 3.
typedef struct encoding {
  id target;    // the MTLCommandBuffer
  id resident;  // an NSArray of allocations
  id compute;
  id blit;
  bool is_begun;  // an encoder of Metal 3 was opened for that of Metal 4
  id pipeline;    // of it
  NSUInteger memory[TABLE_BUFFERS];  // threadgroup memory, bytes
  const char *failure;
} encoding;

typedef struct mtl4_command command;
struct mtl4_command {
  struct mtl4_command *next;
  void (*encode)(const struct mtl4_command *, encoding *);
  id one, other;  // +1 or nil
  uint64_t words[6];
  table_contents *table;
  bool ends_encoder;
};

typedef struct encoder {
  struct objc_object object;
  id commands;  // +1
  id label;
  id bound;  // +1, the bound table
} encoder;

// Ends the encoder that is open, if one is: of the two, one at most.
static void end_open(encoding *at) {
  const id open = at->compute ? at->compute : at->blit;
  if (open) {
    SEND(void (*)(id, SEL), open, "endEncoding");
  }
  at->compute = at->blit = NULL;
}

// Describes the next encoder of Metal 3, and notes that it is opened.
static mtl_encoder_desc next_desc(encoding *at) {
  const mtl_encoder_desc desc = {.dispatch_type = MTL_DISPATCH_CONCURRENT,
                                 .continues_encoder = at->is_begun};
  at->is_begun = true;
  return desc;
}

// Gives a new compute encoder what was set before a copy came between.
static void set_again(const encoding *at) {
  if (at->pipeline) {
    SEND(void (*)(id, SEL, id), at->compute,
         "setComputePipelineState:", at->pipeline);
  }
  for (NSUInteger i = 0; i < TABLE_BUFFERS; ++i) {
    if (at->memory[i]) {
      SEND(void (*)(id, SEL, NSUInteger, NSUInteger), at->compute,
           "setThreadgroupMemoryLength:atIndex:", at->memory[i], i);
    }
  }
}

static id compute_of(encoding *at) {
  if (!at->compute) {
    end_open(at);
    const mtl_encoder_desc desc = next_desc(at);
    at->compute = compute_encoder_open(at->target, &desc);
    set_again(at);
  }
  return at->compute;
}

static id blit_of(encoding *at) {
  if (!at->blit) {
    end_open(at);
    const mtl_encoder_desc desc = next_desc(at);
    at->blit = blit_encoder_open(at->target, &desc);
  }
  return at->blit;
}

// Returns the resident buffer that holds an address, and where in it.
static id find_buffer(const encoding *at, uint64_t address,
                      NSUInteger *out_offset) {
  const size_t count = array_count(at->resident);
  for (size_t i = 0; i < count; ++i) {
    const id each = array_at(at->resident, i);
    if (!is_buffer(each)) {
      continue;
    }
    const uint64_t first = SEND(uint64_t (*)(id, SEL), each, "gpuAddress");
    if (address >= first && address - first < ((metal_buffer *)each)->length) {
      *out_offset = address - first;
      return each;
    }
  }
  return NULL;
}

static void bind_buffer(encoding *at, uint64_t address, NSUInteger index) {
  NSUInteger offset = 0;
  const id buffer = find_buffer(at, address, &offset);
  if (!buffer) {
    at->failure =
        "an argument table has an address of no buffer that is resident: add "
        "it to a residency set of the queue's or the command buffer's";
    return;
  }
  SEND(void (*)(id, SEL, id, NSUInteger, NSUInteger), at->compute,
       "setBuffer:offset:atIndex:", buffer, offset, index);
}

static void bind_resource(encoding *at, uint64_t identifier, NSUInteger index) {
  const id found = resource_find(identifier);
  if (found && found->isa == &OBJC_CLASS_$_MettleTensor) {
    SEND(void (*)(id, SEL, id, NSUInteger), at->compute,
         "setTensor:atBufferIndex:", found, index);
  } else if (found && found->isa == &OBJC_CLASS_$_MettleFunctionTable) {
    SEND(void (*)(id, SEL, id, NSUInteger), at->compute,
         "setVisibleFunctionTable:atBufferIndex:", found, index);
  } else {
    at->failure =
        "an argument table has a resource that is no tensor and no "
        "function table, or is gone";
  }
}

static void bind_table(encoding *at, const table_contents *table) {
  for (NSUInteger i = 0; i < TABLE_BUFFERS; ++i) {
    if (table->buffers[i] && table->are_resources[i]) {
      bind_resource(at, table->buffers[i], i);
    } else if (table->buffers[i]) {
      bind_buffer(at, table->buffers[i], i);
    }
  }
  for (NSUInteger i = 0; i < TABLE_TEXTURES; ++i) {
    if (table->textures[i]) {
      SEND(void (*)(id, SEL, id, NSUInteger), at->compute,
           "setTexture:atIndex:", resource_find(table->textures[i]), i);
    }
  }
  for (NSUInteger i = 0; i < TABLE_SAMPLERS; ++i) {
    if (table->samplers[i]) {
      SEND(void (*)(id, SEL, id, NSUInteger), at->compute,
           "setSamplerState:atIndex:", resource_find(table->samplers[i]), i);
    }
  }
}

// What kernels reach by addresses that lie in memory is resident as well.
static void use_resident(encoding *at) {
  enum { READ_WRITE = 3 };
  const size_t count = array_count(at->resident);
  for (size_t i = 0; i < count; ++i) {
    const id each = array_at(at->resident, i);
    if (is_heap(each)) {
      SEND(void (*)(id, SEL, id), at->compute, "useHeap:", each);
    } else {
      SEND(void (*)(id, SEL, id, NSUInteger), at->compute,
           "useResource:usage:", each, (NSUInteger)READ_WRITE);
    }
  }
}

static MTLSize size_at(const command *of, int word) {
  return (MTLSize){of->words[word], of->words[word + 1], of->words[word + 2]};
}

static void encode_begin(const command *of, encoding *at) {
  (void)of;
  end_open(at);
  at->is_begun = false;
  at->pipeline = NULL;
  memset(at->memory, 0, sizeof at->memory);
}

static void encode_order(const command *of, encoding *at) {
  mtl_compute_encoder_order(((metal_encoder *)compute_of(at))->compute,
                            &(mtl_order){.kind = (mtl_order_kind)of->words[0],
                                         .after = (mtl_stages)of->words[1],
                                         .before = (mtl_stages)of->words[2],
                                         .fence = fence_of(of->one)});
}

static void encode_timestamp(const command *of, encoding *at) {
  mtl_compute_encoder_sample_counters(
      ((metal_encoder *)compute_of(at))->compute, mtl4_heap_samples(of->one),
      (uint32_t)of->words[0], true);
}

// The same in an encoder of its own, behind earlier ones.
static void encode_timestamp_apart(const command *of, encoding *at) {
  encode_begin(of, at);
  mtl_compute_encoder_order(((metal_encoder *)compute_of(at))->compute,
                            &(mtl_order){.kind = MTL_ORDER_BEHIND_QUEUE,
                                         .after = MTL_STAGES_ALL,
                                         .before = MTL_STAGES_ALL});
  encode_timestamp(of, at);
  end_open(at);
}

static void encode_pipeline(const command *of, encoding *at) {
  at->pipeline = of->one;
  SEND(void (*)(id, SEL, id), compute_of(at),
       "setComputePipelineState:", of->one);
}

static void encode_memory(const command *of, encoding *at) {
  if (of->words[1] < TABLE_BUFFERS) {
    at->memory[of->words[1]] = of->words[0];
  }
  SEND(void (*)(id, SEL, NSUInteger, NSUInteger), compute_of(at),
       "setThreadgroupMemoryLength:atIndex:", of->words[0], of->words[1]);
}

static void prepare_dispatch(const command *of, encoding *at) {
  const bool is_new = !at->compute;
  compute_of(at);
  if (is_new || of->ends_encoder) {
    use_resident(at);
  }
  if (of->table) {
    bind_table(at, of->table);
  }
}

static void encode_threads(const command *of, encoding *at) {
  prepare_dispatch(of, at);
  SEND(void (*)(id, SEL, MTLSize, MTLSize), at->compute,
       "dispatchThreads:threadsPerThreadgroup:", size_at(of, 0),
       size_at(of, 3));
}

static void encode_groups(const command *of, encoding *at) {
  prepare_dispatch(of, at);
  SEND(void (*)(id, SEL, MTLSize, MTLSize), at->compute,
       "dispatchThreadgroups:threadsPerThreadgroup:", size_at(of, 0),
       size_at(of, 3));
}

static void encode_groups_indirect(const command *of, encoding *at) {
  prepare_dispatch(of, at);
  NSUInteger offset = 0;
  const id buffer = find_buffer(at, of->words[0], &offset);
  if (!buffer) {
    at->failure =
        "the sizes of a dispatch are at an address of no resident "
        "buffer";
    return;
  }
  SEND(void (*)(id, SEL, id, NSUInteger, MTLSize), at->compute,
       "dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:"
       "threadsPerThreadgroup:",
       buffer, offset, size_at(of, 3));
}

static void encode_execute(const command *of, encoding *at) {
  const bool is_new = !at->compute;
  compute_of(at);
  if (is_new) {
    use_resident(at);
  }
  SEND(void (*)(id, SEL, id, NSRange), at->compute,
       "executeCommandsInBuffer:withRange:", of->one,
       ((NSRange){of->words[0], of->words[1]}));
}

static void encode_copy(const command *of, encoding *at) {
  SEND(void (*)(id, SEL, id, NSUInteger, id, NSUInteger, NSUInteger),
       blit_of(at),
       "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", of->one,
       of->words[0], of->other, of->words[1], of->words[2]);
}

static void encode_fill(const command *of, encoding *at) {
  SEND(void (*)(id, SEL, id, NSRange, unsigned), blit_of(at),
       "fillBuffer:range:value:", of->one,
       ((NSRange){of->words[0], of->words[1]}), (unsigned)of->words[2]);
}

static void encode_copy_texture(const command *of, encoding *at) {
  SEND(void (*)(id, SEL, id, id), blit_of(at),
       "copyFromTexture:toTexture:", of->one, of->other);
}

static void encode_mipmaps(const command *of, encoding *at) {
  SEND(void (*)(id, SEL, id), blit_of(at),
       "generateMipmapsForTexture:", of->one);
}

// Adds a command to a list, which retains all that it names until it is reset.
static command *add(mtl4_commands *of,
                    void (*encode)(const command *, encoding *), id one,
                    id other) {
  if (!of->is_open) {
    metal_assert("a command is encoded before its command buffer was begun");
  }
  command *made = calloc(1, sizeof *made);
  if (!made) {
    runtime_fail("no memory for a command");
  }
  made->encode = encode;
  made->one = objc_retain(one);
  made->other = objc_retain(other);
  *of->last = made;
  of->last = &made->next;
  return made;
}

void mtl4_commands_add_timestamp(mtl4_commands *of, id heap, NSUInteger index) {
  if (!heap || index > UINT32_MAX) {
    metal_assert("writeTimestampIntoHeap: there is no such entry");
  }
  add(of, encode_timestamp_apart, heap, NULL)->words[0] = index;
}

void mtl4_commands_clear(mtl4_commands *of) {
  while (of->first) {
    command *each = of->first;
    of->first = each->next;
    objc_release(each->one);
    objc_release(each->other);
    free(each->table);
    free(each);
  }
  of->last = &of->first;
}

// Encodes a list; returns the error's text, or NULL.
const char *mtl4_commands_encode(const mtl4_commands *of, id target,
                                 id resident) {
  encoding at = {.target = target, .resident = resident};
  for (const command *each = of->first; each && !at.failure;
       each = each->next) {
    each->encode(each, &at);
  }
  end_open(&at);
  return at.failure;
}

// --- MTL4ComputeCommandEncoder -----------------------------------------------

id mtl4_encoder_make(id self) {
  encoder *made = (encoder *)CREATE(MettleEncoder4);
  made->commands = objc_retain(self);
  add((mtl4_commands *)self, encode_begin, NULL, NULL);
  return objc_autorelease(&made->object);
}

static void nothing(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

static void nothing_with(id self, SEL _cmd, id object) {
  (void)self;
  (void)_cmd;
  (void)object;
}

static command *add_to(id self, void (*encode)(const command *, encoding *),
                       id one, id other) {
  return add((mtl4_commands *)((encoder *)self)->commands, encode, one, other);
}

static void encoder_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((encoder *)self)->commands);
  objc_release(((encoder *)self)->label);
  objc_release(((encoder *)self)->bound);
  instance_dispose(self);
}

static void encoder_pipeline(id self, SEL _cmd, id pipeline) {
  (void)_cmd;
  add_to(self, encode_pipeline, pipeline, NULL);
}

static void encoder_table(id self, SEL _cmd, id table) {
  (void)_cmd;
  encoder *of = (encoder *)self;
  objc_retain(table);
  objc_release(of->bound);
  of->bound = table;
}

static void encoder_memory(id self, SEL _cmd, NSUInteger length,
                           NSUInteger index) {
  (void)_cmd;
  command *made = add_to(self, encode_memory, NULL, NULL);
  made->words[0] = length;
  made->words[1] = index;
}

// Records a dispatch with a copy of the argument table: later changes of the
// table do not concern it.
static command *add_dispatch(id self,
                             void (*encode)(const command *, encoding *)) {
  command *made = add_to(self, encode, NULL, NULL);
  const id bound = ((encoder *)self)->bound;
  if (bound) {
    made->table = malloc(sizeof *made->table);
    if (!made->table) {
      runtime_fail("no memory for a command");
    }
    *made->table = *table_contents_of(bound);
  }
  return made;
}

static void put_size(command *of, int word, MTLSize size) {
  of->words[word] = size.width;
  of->words[word + 1] = size.height;
  of->words[word + 2] = size.depth;
}

static void encoder_threads(id self, SEL _cmd, MTLSize grid, MTLSize group) {
  (void)_cmd;
  command *made = add_dispatch(self, encode_threads);
  put_size(made, 0, grid);
  put_size(made, 3, group);
}

static void encoder_groups(id self, SEL _cmd, MTLSize grid, MTLSize group) {
  (void)_cmd;
  command *made = add_dispatch(self, encode_groups);
  put_size(made, 0, grid);
  put_size(made, 3, group);
}

static void encoder_groups_indirect(id self, SEL _cmd, uint64_t address,
                                    MTLSize group) {
  (void)_cmd;
  command *made = add_dispatch(self, encode_groups_indirect);
  made->words[0] = address;
  put_size(made, 3, group);
}

static void encoder_execute(id self, SEL _cmd, id buffer, NSRange range) {
  (void)_cmd;
  command *made = add_to(self, encode_execute, buffer, NULL);
  made->words[0] = range.location;
  made->words[1] = range.length;
}

static void encoder_copy(id self, SEL _cmd, id from, NSUInteger from_offset,
                         id to, NSUInteger to_offset, NSUInteger length) {
  (void)_cmd;
  command *made = add_to(self, encode_copy, from, to);
  made->words[0] = from_offset;
  made->words[1] = to_offset;
  made->words[2] = length;
}

static void encoder_fill(id self, SEL _cmd, id buffer, NSRange range,
                         unsigned value) {
  (void)_cmd;
  command *made = add_to(self, encode_fill, buffer, NULL);
  made->words[0] = range.location;
  made->words[1] = range.length;
  made->words[2] = value & 0xff;
}

static void encoder_copy_texture(id self, SEL _cmd, id from, id to) {
  (void)_cmd;
  add_to(self, encode_copy_texture, from, to);
}

static void encoder_mipmaps(id self, SEL _cmd, id texture) {
  (void)_cmd;
  add_to(self, encode_mipmaps, texture, NULL);
}

// Returns Metal's stages as the C API has them.
static uint64_t stages_of(NSUInteger stages) {
  enum { DISPATCH = 1 << 27, BLIT = 1 << 28 };
  return (stages & DISPATCH ? MTL_STAGE_DISPATCH : 0) |
         (stages & BLIT ? MTL_STAGE_BLIT : 0);
}

static void add_order(id self, mtl_order_kind kind, NSUInteger after,
                      NSUInteger before, id fence) {
  command *made = add_to(self, encode_order, fence, NULL);
  made->words[0] = kind;
  made->words[1] = stages_of(after);
  made->words[2] = stages_of(before);
}

static void barrier_within(id self, SEL _cmd, NSUInteger after,
                           NSUInteger before, NSUInteger options) {
  (void)_cmd;
  (void)options;
  add_order(self, MTL_ORDER_WITHIN_ENCODER, after, before, NULL);
}

static void barrier_behind_queue(id self, SEL _cmd, NSUInteger after,
                                 NSUInteger before, NSUInteger options) {
  (void)_cmd;
  (void)options;
  add_order(self, MTL_ORDER_BEHIND_QUEUE, after, before, NULL);
}

static void barrier_before_queue(id self, SEL _cmd, NSUInteger after,
                                 NSUInteger before, NSUInteger options) {
  (void)_cmd;
  (void)options;
  add_order(self, MTL_ORDER_BEFORE_QUEUE, after, before, NULL);
}

static void update_fence(id self, SEL _cmd, id fence, NSUInteger after) {
  (void)_cmd;
  add_order(self, MTL_ORDER_UPDATE_FENCE, after, 0, fence);
}

static void wait_fence(id self, SEL _cmd, id fence, NSUInteger before) {
  (void)_cmd;
  add_order(self, MTL_ORDER_WAIT_FENCE, 0, before, fence);
}

static void encoder_timestamp(id self, SEL _cmd, NSInteger granularity, id heap,
                              NSUInteger index) {
  (void)_cmd;
  (void)granularity;
  if (!heap || index > UINT32_MAX) {
    metal_assert("writeTimestampWithGranularity: there is no such entry");
  }
  add_to(self, encode_timestamp, heap, NULL)->words[0] = index;
}

static id encoder_commands(id self, SEL _cmd) {
  (void)_cmd;
  return ((encoder *)self)->commands;
}

COPY_PROPERTY(encoder, label)

METHODS(
    encoder_methods, METHOD("dealloc", "v16@0:8", encoder_dealloc),
    OBJECT_METHODS(encoder, label, "setLabel:"),
    METHOD("commandBuffer", "@16@0:8", encoder_commands),
    METHOD("endEncoding", "v16@0:8", nothing),
    METHOD("setComputePipelineState:", "v24@0:8@16", encoder_pipeline),
    METHOD("setArgumentTable:", "v24@0:8@16", encoder_table),
    METHOD("setThreadgroupMemoryLength:atIndex:", "v32@0:8Q16Q24",
           encoder_memory),
    METHOD("dispatchThreads:threadsPerThreadgroup:",
           "v64@0:8{?=QQQ}16{?=QQQ}40", encoder_threads),
    METHOD("dispatchThreadgroups:threadsPerThreadgroup:",
           "v64@0:8{?=QQQ}16{?=QQQ}40", encoder_groups),
    METHOD("dispatchThreadgroupsWithIndirectBuffer:threadsPerThreadgroup:",
           "v48@0:8Q16{?=QQQ}24", encoder_groups_indirect),
    METHOD("executeCommandsInBuffer:withRange:", "v40@0:8@16{_NSRange=QQ}24",
           encoder_execute),
    METHOD("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:",
           "v56@0:8@16Q24@32Q40Q48", encoder_copy),
    METHOD("fillBuffer:range:value:", "v44@0:8@16{_NSRange=QQ}24C40",
           encoder_fill),
    METHOD("copyFromTexture:toTexture:", "v32@0:8@16@24", encoder_copy_texture),
    METHOD("generateMipmapsForTexture:", "v24@0:8@16", encoder_mipmaps),
    METHOD("barrierAfterEncoderStages:beforeEncoderStages:visibilityOptions:",
           "v40@0:8Q16Q24Q32", barrier_within),
    METHOD("barrierAfterQueueStages:beforeStages:visibilityOptions:",
           "v40@0:8Q16Q24Q32", barrier_behind_queue),
    METHOD("barrierAfterStages:beforeQueueStages:visibilityOptions:",
           "v40@0:8Q16Q24Q32", barrier_before_queue),
    METHOD("updateFence:afterEncoderStages:", "v32@0:8@16Q24", update_fence),
    METHOD("waitForFence:beforeEncoderStages:", "v32@0:8@16Q24", wait_fence),
    METHOD("writeTimestampWithGranularity:intoHeap:atIndex:",
           "v40@0:8q16@24Q32", encoder_timestamp),
    METHOD("pushDebugGroup:", "v24@0:8@16", nothing_with),
    METHOD("popDebugGroup", "v16@0:8", nothing),
    METHOD("insertDebugSignpost:", "v24@0:8@16", nothing_with));
DEFINE_CLASS(MettleEncoder4, NSObject, sizeof(encoder), encoder_methods,
             NO_METHODS);
