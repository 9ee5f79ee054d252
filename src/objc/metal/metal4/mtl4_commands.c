// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mtl4_commands.c: MTL4ArgumentTable, MTL4CommandAllocator, MTL4CommandBuffer
// and its encoder, MTL4CommandQueue. A command buffer is a list of commands with
// what they were given; the queue encodes it into a command buffer of Metal 3
// when it is committed, where addresses are looked up among what is resident.
// Hazards are tracked, so that barriers order nothing that is not ordered.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "objc/dispatch/dispatch.h"
#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_MettleArgumentTable4;
extern struct objc_class OBJC_CLASS_$_MettleAllocator4;
extern struct objc_class OBJC_CLASS_$_MettleCommands4;
extern struct objc_class OBJC_CLASS_$_MettleEncoder4;
extern struct objc_class OBJC_CLASS_$_MettleQueue4;
extern struct objc_class OBJC_CLASS_$_MettleFeedback4;
extern struct objc_class OBJC_CLASS_$_MettleTensor;
extern struct objc_class OBJC_CLASS_$_MettleFunctionTable;

static id fail(id *out_error, const char *text) {
  error_set(out_error, MTLCommandBufferErrorDomain, 9, text);
  return NULL;
}

// --- MTL4ArgumentTable ---------------------------------------------------------

typedef struct argument_table {
  struct objc_object object;
  id device;  // +1
  id label;
  NSUInteger buffers, textures, samplers;
  table_contents contents;
} argument_table;

static id new_table(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  const mtl4_table_descriptor *from = (mtl4_table_descriptor *)descriptor;
  if (from->maxBufferBindCount > TABLE_BUFFERS ||
      from->maxTextureBindCount > TABLE_TEXTURES ||
      from->maxSamplerStateBindCount > TABLE_SAMPLERS) {
    return fail(out_error,
                "an argument table holds at most 31 buffers, 128 textures and "
                "16 samplers");
  }
  argument_table *made = (argument_table *)CREATE(MettleArgumentTable4);
  made->device = objc_retain(self);
  made->label = objc_retain(from->label);
  made->buffers = from->maxBufferBindCount;
  made->textures = from->maxTextureBindCount;
  made->samplers = from->maxSamplerStateBindCount;
  return &made->object;
}

static void table_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((argument_table *)self)->device);
  objc_release(((argument_table *)self)->label);
  instance_dispose(self);
}

static void check_index(const char *call, NSUInteger index, NSUInteger count) {
  if (index >= count) {
    metal_assert("%s index %lu is outside a table of %lu", call, index, count);
  }
}

static void table_set_address(id self, SEL _cmd, uint64_t address,
                              NSUInteger index) {
  (void)_cmd;
  argument_table *table = (argument_table *)self;
  check_index("setAddress:atIndex:", index, table->buffers);
  table->contents.buffers[index] = address;
  table->contents.are_resources[index] = false;
}

static void table_set_resource(id self, SEL _cmd, uint64_t resource,
                               NSUInteger index) {
  table_set_address(self, _cmd, resource, index);
  ((argument_table *)self)->contents.are_resources[index] = true;
}

static void table_set_texture(id self, SEL _cmd, uint64_t resource,
                              NSUInteger index) {
  (void)_cmd;
  argument_table *table = (argument_table *)self;
  check_index("setTexture:atIndex:", index, table->textures);
  table->contents.textures[index] = resource;
}

static void table_set_sampler(id self, SEL _cmd, uint64_t resource,
                              NSUInteger index) {
  (void)_cmd;
  argument_table *table = (argument_table *)self;
  check_index("setSamplerState:atIndex:", index, table->samplers);
  table->contents.samplers[index] = resource;
}

READ_PROPERTY(argument_table, id, device)
READ_PROPERTY(argument_table, id, label)

METHODS(table_methods, METHOD("dealloc", "v16@0:8", table_dealloc),
        METHOD("device", "@16@0:8", argument_table_get_device),
        METHOD("label", "@16@0:8", argument_table_get_label),
        METHOD("setAddress:atIndex:", "v32@0:8Q16Q24", table_set_address),
        METHOD("setResource:atBufferIndex:", "v32@0:8{MTLResourceID=Q}16Q24",
               table_set_resource),
        METHOD("setTexture:atIndex:", "v32@0:8{MTLResourceID=Q}16Q24",
               table_set_texture),
        METHOD("setSamplerState:atIndex:", "v32@0:8{MTLResourceID=Q}16Q24",
               table_set_sampler));
DEFINE_CLASS(MettleArgumentTable4, NSObject, sizeof(argument_table),
             table_methods, NO_METHODS);

// --- MTL4CommandAllocator --------------------------------------------------------

// Commands lie in the C library's memory: there is nothing to give back.
typedef struct allocator {
  struct objc_object object;
  id device;  // +1
  id label;
} allocator;

REFERENCES(allocator, device, label)
READ_PROPERTY(allocator, id, device)
READ_PROPERTY(allocator, id, label)

static id new_allocator_by(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  (void)out_error;
  allocator *made = (allocator *)CREATE(MettleAllocator4);
  made->device = objc_retain(self);
  made->label = objc_retain(
      descriptor ? ((mtl4_allocator_descriptor *)descriptor)->label : NULL);
  return &made->object;
}

static id new_allocator(id self, SEL _cmd) {
  return new_allocator_by(self, _cmd, NULL, NULL);
}

static void allocator_reset(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

static uint64_t allocator_size(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

METHODS(allocator_methods, REFERENCES_METHODS(allocator),
        METHOD("device", "@16@0:8", allocator_get_device),
        METHOD("label", "@16@0:8", allocator_get_label),
        METHOD("allocatedSize", "Q16@0:8", allocator_size),
        METHOD("reset", "v16@0:8", allocator_reset));
DEFINE_CLASS(MettleAllocator4, NSObject, sizeof(allocator), allocator_methods,
             NO_METHODS);

// --- Commands ----------------------------------------------------------------------

// What encoding has open: one encoder of Metal 3 at a time.
typedef struct encoding {
  id target;    // the MTLCommandBuffer
  id resident;  // an NSArray of allocations
  id compute;
  id blit;
  const char *failure;
} encoding;

typedef struct command {
  struct command *next;
  void (*encode)(const struct command *, encoding *);
  id one, other;  // +1 or nil
  uint64_t words[6];
  table_contents *table;
  bool ends_encoder;
} command;

typedef struct commands {
  struct objc_object object;
  id device;  // +1
  id label;
  id sets;  // +1: residency sets of its own
  command *first;
  command **last;
  bool is_open;
} commands;

typedef struct encoder {
  struct objc_object object;
  id commands;  // +1
  id label;
  id bound;     // +1, the table that is bound
} encoder;

// Ends the encoder that is open, if one is: of the two, one at most.
static void end_open(encoding *at) {
  const id open = at->compute ? at->compute : at->blit;
  if (open) {
    SEND(void (*)(id, SEL), open, "endEncoding");
  }
  at->compute = at->blit = NULL;
}

static id compute_of(encoding *at) {
  if (!at->compute) {
    end_open(at);
    at->compute = SEND(id(*)(id, SEL), at->target, "computeCommandEncoder");
  }
  return at->compute;
}

static id blit_of(encoding *at) {
  if (!at->blit) {
    end_open(at);
    at->blit = SEND(id(*)(id, SEL), at->target, "blitCommandEncoder");
  }
  return at->blit;
}

// The resident buffer that holds an address, and where in it.
static id find_buffer(const encoding *at, uint64_t address,
                      NSUInteger *out_offset) {
  const size_t count = array_count(at->resident);
  for (size_t i = 0; i < count; ++i) {
    const id each = array_at(at->resident, i);
    if (!is_buffer(each)) {
      continue;
    }
    const uint64_t first = SEND(uint64_t(*)(id, SEL), each, "gpuAddress");
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

static void bind_resource(encoding *at, uint64_t identifier,
                          NSUInteger index) {
  const id found = resource_find(identifier);
  if (found && found->isa == &OBJC_CLASS_$_MettleTensor) {
    SEND(void (*)(id, SEL, id, NSUInteger), at->compute,
         "setTensor:atBufferIndex:", found, index);
  } else if (found && found->isa == &OBJC_CLASS_$_MettleFunctionTable) {
    SEND(void (*)(id, SEL, id, NSUInteger), at->compute,
         "setVisibleFunctionTable:atBufferIndex:", found, index);
  } else {
    at->failure = "an argument table has a resource that is no tensor and no "
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

static void encode_pipeline(const command *of, encoding *at) {
  SEND(void (*)(id, SEL, id), compute_of(at), "setComputePipelineState:",
       of->one);
}

static void encode_memory(const command *of, encoding *at) {
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
    at->failure = "the sizes of a dispatch are at an address of no resident "
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
  SEND(void (*)(id, SEL, id, id), blit_of(at), "copyFromTexture:toTexture:",
       of->one, of->other);
}

static void encode_mipmaps(const command *of, encoding *at) {
  SEND(void (*)(id, SEL, id), blit_of(at), "generateMipmapsForTexture:",
       of->one);
}

// The list keeps all that a command names until it is begun anew.
static command *add(commands *of, void (*encode)(const command *, encoding *),
                    id one, id other) {
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

static void clear(commands *of) {
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

// Encodes a list; the text of what is wrong, or NULL.
static const char *encode_all(const commands *of, id target, id resident) {
  encoding at = {.target = target, .resident = resident};
  for (const command *each = of->first; each && !at.failure;
       each = each->next) {
    each->encode(each, &at);
  }
  end_open(&at);
  return at.failure;
}

// --- MTL4CommandBuffer -----------------------------------------------------------

static id new_commands(id self, SEL _cmd) {
  (void)_cmd;
  commands *made = (commands *)CREATE(MettleCommands4);
  made->device = objc_retain(self);
  made->last = &made->first;
  made->sets = mutable_array_create();
  return &made->object;
}

static void commands_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  commands *of = (commands *)self;
  clear(of);
  objc_release(of->device);
  objc_release(of->label);
  objc_release(of->sets);
  instance_dispose(self);
}

static void commands_begin(id self, SEL _cmd, id from) {
  (void)_cmd;
  commands *of = (commands *)self;
  if (!from) {
    metal_assert("beginCommandBufferWithAllocator: there is no allocator");
  }
  if (of->is_open) {
    metal_assert("beginCommandBufferWithAllocator: it was begun before");
  }
  clear(of);
  SEND(void (*)(id, SEL), of->sets, "removeAllObjects");
  of->is_open = true;
}

static void commands_begin_with(id self, SEL _cmd, id from, id options) {
  (void)options;
  commands_begin(self, _cmd, from);
}

static void commands_end(id self, SEL _cmd) {
  (void)_cmd;
  if (!((commands *)self)->is_open) {
    metal_assert("endCommandBuffer: it was not begun");
  }
  ((commands *)self)->is_open = false;
}

static id commands_encoder(id self, SEL _cmd) {
  (void)_cmd;
  encoder *made = (encoder *)CREATE(MettleEncoder4);
  made->commands = objc_retain(self);
  return objc_autorelease(&made->object);
}

static void commands_use_set(id self, SEL _cmd, id set) {
  (void)_cmd;
  array_add(((commands *)self)->sets, set);
}

static void commands_use_sets(id self, SEL _cmd, const id *sets,
                              NSUInteger count) {
  for (NSUInteger i = 0; i < count; ++i) {
    commands_use_set(self, _cmd, sets[i]);
  }
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

READ_PROPERTY(commands, id, device)
COPY_PROPERTY(commands, label)

METHODS(commands_methods, METHOD("dealloc", "v16@0:8", commands_dealloc),
        METHOD("device", "@16@0:8", commands_get_device),
        OBJECT_METHODS(commands, label, "setLabel:"),
        METHOD("beginCommandBufferWithAllocator:", "v24@0:8@16",
               commands_begin),
        METHOD("beginCommandBufferWithAllocator:options:", "v32@0:8@16@24",
               commands_begin_with),
        METHOD("endCommandBuffer", "v16@0:8", commands_end),
        METHOD("computeCommandEncoder", "@16@0:8", commands_encoder),
        METHOD("useResidencySet:", "v24@0:8@16", commands_use_set),
        METHOD("useResidencySets:count:", "v32@0:8^@16Q24", commands_use_sets),
        METHOD("pushDebugGroup:", "v24@0:8@16", nothing_with),
        METHOD("popDebugGroup", "v16@0:8", nothing));
DEFINE_CLASS(MettleCommands4, NSObject, sizeof(commands), commands_methods,
             NO_METHODS);

// --- MTL4ComputeCommandEncoder -----------------------------------------------------

static command *add_to(id self, void (*encode)(const command *, encoding *),
                       id one, id other) {
  return add((commands *)((encoder *)self)->commands, encode, one, other);
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
  const argument_table *bound = (argument_table *)((encoder *)self)->bound;
  if (bound) {
    made->table = malloc(sizeof *made->table);
    if (!made->table) {
      runtime_fail("no memory for a command");
    }
    *made->table = bound->contents;
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

static void encoder_barrier(id self, SEL _cmd, NSUInteger after,
                            NSUInteger before, NSUInteger options) {
  (void)self;
  (void)_cmd;
  (void)after;
  (void)before;
  (void)options;
}

static void encoder_fence(id self, SEL _cmd, id fence, NSUInteger stages) {
  (void)self;
  (void)_cmd;
  (void)fence;
  (void)stages;
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
    METHOD("copyFromTexture:toTexture:", "v32@0:8@16@24",
           encoder_copy_texture),
    METHOD("generateMipmapsForTexture:", "v24@0:8@16", encoder_mipmaps),
    METHOD("barrierAfterEncoderStages:beforeEncoderStages:visibilityOptions:",
           "v40@0:8Q16Q24Q32", encoder_barrier),
    METHOD("barrierAfterQueueStages:beforeStages:visibilityOptions:",
           "v40@0:8Q16Q24Q32", encoder_barrier),
    METHOD("barrierAfterStages:beforeQueueStages:visibilityOptions:",
           "v40@0:8Q16Q24Q32", encoder_barrier),
    METHOD("updateFence:afterEncoderStages:", "v32@0:8@16Q24", encoder_fence),
    METHOD("waitForFence:beforeEncoderStages:", "v32@0:8@16Q24",
           encoder_fence),
    METHOD("pushDebugGroup:", "v24@0:8@16", nothing_with),
    METHOD("popDebugGroup", "v16@0:8", nothing),
    METHOD("insertDebugSignpost:", "v24@0:8@16", nothing_with));
DEFINE_CLASS(MettleEncoder4, NSObject, sizeof(encoder), encoder_methods,
             NO_METHODS);

// --- What a commit tells --------------------------------------------------------------

typedef struct feedback {
  struct objc_object object;
  id error;  // +1 or nil
  double GPUStartTime;
  double GPUEndTime;
} feedback;

REFERENCES(feedback, error, error)
READ_PROPERTY(feedback, id, error)
READ_PROPERTY(feedback, double, GPUStartTime)
READ_PROPERTY(feedback, double, GPUEndTime)

METHODS(feedback_methods, REFERENCES_METHODS(feedback),
        METHOD("error", "@16@0:8", feedback_get_error),
        METHOD("GPUStartTime", "d16@0:8", feedback_get_GPUStartTime),
        METHOD("GPUEndTime", "d16@0:8", feedback_get_GPUEndTime));
DEFINE_CLASS(MettleFeedback4, NSObject, sizeof(feedback), feedback_methods,
             NO_METHODS);

typedef struct commit_options {
  struct objc_object object;
  id handlers;  // +1 or nil: blocks
} commit_options;

static void options_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((commit_options *)self)->handlers);
  instance_dispose(self);
}

static void options_add(id self, SEL _cmd, id literal) {
  (void)_cmd;
  commit_options *of = (commit_options *)self;
  if (!of->handlers) {
    of->handlers = mutable_array_create();
  }
  void *copy = _Block_copy(literal);
  array_add(of->handlers, copy);
  _Block_release(copy);
}

METHODS(options_methods, METHOD("dealloc", "v16@0:8", options_dealloc),
        METHOD("addFeedbackHandler:", "v24@0:8@?16", options_add));
DEFINE_CLASS(MTL4CommitOptions, NSObject, sizeof(commit_options),
             options_methods, NO_METHODS);

// --- MTL4CommandQueue -----------------------------------------------------------------

typedef struct queue4 {
  struct objc_object object;
  id device;  // +1
  id queue;   // +1, an MTLCommandQueue
  id sets;    // +1, an NSMutableArray
  id label;
  id feedback_queue;  // +1, a dispatch queue
  pthread_mutex_t lock;
} queue4;

static id new_queue_by(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  (void)out_error;
  const mtl4_queue_descriptor *from = (mtl4_queue_descriptor *)descriptor;
  queue4 *made = (queue4 *)CREATE(MettleQueue4);
  pthread_mutex_init(&made->lock, NULL);
  made->device = objc_retain(self);
  made->queue = SEND(id(*)(id, SEL), self, "newCommandQueue");
  made->sets = mutable_array_create();
  made->label = objc_retain(from ? from->label : NULL);
  made->feedback_queue =
      from && from->feedbackQueue
          ? objc_retain(from->feedbackQueue)
          : dispatch_queue_create_serial("MTL4CommandQueue");
  return &made->object;
}

static id new_queue(id self, SEL _cmd) {
  return new_queue_by(self, _cmd, NULL, NULL);
}

static void queue_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  queue4 *of = (queue4 *)self;
  objc_release(of->feedback_queue);
  objc_release(of->label);
  objc_release(of->sets);
  objc_release(of->queue);
  objc_release(of->device);
  pthread_mutex_destroy(&of->lock);
  instance_dispose(self);
}

static void queue_add_set(id self, SEL _cmd, id set) {
  (void)_cmd;
  queue4 *of = (queue4 *)self;
  pthread_mutex_lock(&of->lock);
  array_add(of->sets, set);
  SEND(void (*)(id, SEL, id), of->queue, "addResidencySet:", set);
  pthread_mutex_unlock(&of->lock);
}

static void queue_remove_set(id self, SEL _cmd, id set) {
  (void)_cmd;
  queue4 *of = (queue4 *)self;
  pthread_mutex_lock(&of->lock);
  SEND(void (*)(id, SEL, id), of->sets, "removeObjectIdenticalTo:", set);
  SEND(void (*)(id, SEL, id), of->queue, "removeResidencySet:", set);
  pthread_mutex_unlock(&of->lock);
}

static void queue_add_sets(id self, SEL _cmd, const id *sets,
                           NSUInteger count) {
  for (NSUInteger i = 0; i < count; ++i) {
    queue_add_set(self, _cmd, sets[i]);
  }
}

static void queue_remove_sets(id self, SEL _cmd, const id *sets,
                              NSUInteger count) {
  for (NSUInteger i = 0; i < count; ++i) {
    queue_remove_set(self, _cmd, sets[i]);
  }
}

// All allocations of the queue's sets and of a command buffer's.
static id resident_of(queue4 *of, id own_sets) {
  const id all = objc_autorelease(mutable_array_create());
  pthread_mutex_lock(&of->lock);
  const id both = SEND(id(*)(id, SEL, id), of->sets,
                       "arrayByAddingObjectsFromArray:", own_sets);
  pthread_mutex_unlock(&of->lock);
  const size_t count = array_count(both);
  for (size_t i = 0; i < count; ++i) {
    const id list = SEND(id(*)(id, SEL), array_at(both, i), "allAllocations");
    SEND(void (*)(id, SEL, id), all, "addObjectsFromArray:", list);
  }
  return all;
}

// What the feedback's handlers are called with, when the last is done.
typedef struct pending {
  id handlers;  // +1
  id queue;     // +1
  id feedback;  // +1
} pending;

static void tell(void *context) {
  pending *of = context;
  const size_t count = array_count(of->handlers);
  for (size_t i = 0; i < count; ++i) {
    BLOCK_CALL(void (*)(id, id), array_at(of->handlers, i), of->feedback);
  }
  objc_release(of->handlers);
  objc_release(of->queue);
  objc_release(of->feedback);
  free(of);
}

static void done(void *context, mtl_command_buffer *finished) {
  pending *of = context;
  feedback *told = (feedback *)of->feedback;
  const char *text;
  const mtl_status status = mtl_command_buffer_error(finished, &text);
  if (status != MTL_OK && !told->error) {
    id made = NULL;
    (void)mtl_fail(status, "%s", text);
    error_from_mettle(&made, MTLCommandBufferErrorDomain, status);
    told->error = objc_retain(made);
  }
  told->GPUEndTime =
      (double)mtl_command_buffer_get_times(finished).device_end_ns * 1e-9;
  dispatch_queue_add(of->queue, tell, of);
}

// Has the handlers told when target, the last of a commit, is done.
static void tell_end(queue4 *of, id target, id handlers, id error) {
  pending *made = calloc(1, sizeof *made);
  feedback *told = (feedback *)CREATE(MettleFeedback4);
  if (!made) {
    runtime_fail("no memory for a commit's feedback");
  }
  told->error = objc_retain(error);
  *made = (pending){objc_retain(handlers), objc_retain(of->feedback_queue),
                    &told->object};
  mtl_command_buffer *last = ((metal_command_buffer *)target)->commands;
  if (mtl_command_buffer_on_completed(last, done, made) != MTL_OK) {
    runtime_fail("commit: %s", mtl_last_error());
  }
}

// Encodes and commits [count], in order. A command buffer that cannot be encoded
// is told of by the feedback, and by a line where nobody asked for one.
static void queue_commit_with(id self, SEL _cmd, const id *list,
                              NSUInteger count, id options) {
  (void)_cmd;
  void *pool = objc_autoreleasePoolPush();
  queue4 *of = (queue4 *)self;
  const id handlers = options ? ((commit_options *)options)->handlers : NULL;
  id error = NULL;
  for (NSUInteger i = 0; i < count; ++i) {
    const commands *each = (commands *)list[i];
    if (each->is_open) {
      metal_assert("commit: a command buffer was not ended");
    }
    const id target = SEND(id(*)(id, SEL), of->queue, "commandBuffer");
    SEND(void (*)(id, SEL, id), target, "setLabel:", each->label);
    const char *failure =
        encode_all(each, target, resident_of(of, each->sets));
    if (failure) {
      error = error_make(MTLCommandBufferErrorDomain, 9, failure);
      if (!handlers) {
        runtime_warn("commit: %s", failure);
      }
      continue;  // what was encoded of it is dropped
    }
    if (handlers && i + 1 == count) {
      tell_end(of, target, handlers, error);
    }
    SEND(void (*)(id, SEL), target, "commit");
  }
  if (handlers && error) {
    const id last = SEND(id(*)(id, SEL), of->queue, "commandBuffer");
    tell_end(of, last, handlers, error);
    SEND(void (*)(id, SEL), last, "commit");
  }
  objc_autoreleasePoolPop(pool);
}

static void queue_commit(id self, SEL _cmd, const id *list, NSUInteger count) {
  queue_commit_with(self, _cmd, list, count, NULL);
}

static void event_at(id self, const char *selector, id event, uint64_t value) {
  void *pool = objc_autoreleasePoolPush();
  const id target =
      SEND(id(*)(id, SEL), ((queue4 *)self)->queue, "commandBuffer");
  if (*selector == 's') {
    SEND(void (*)(id, SEL, id, uint64_t), target, "encodeSignalEvent:value:",
         event, value);
  } else {
    SEND(void (*)(id, SEL, id, uint64_t), target, "encodeWaitForEvent:value:",
         event, value);
  }
  SEND(void (*)(id, SEL), target, "commit");
  objc_autoreleasePoolPop(pool);
}

static void queue_signal(id self, SEL _cmd, id event, uint64_t value) {
  (void)_cmd;
  event_at(self, "signal", event, value);
}

static void queue_wait(id self, SEL _cmd, id event, uint64_t value) {
  (void)_cmd;
  event_at(self, "wait", event, value);
}

READ_PROPERTY(queue4, id, device)
READ_PROPERTY(queue4, id, label)

METHODS(queue_methods, METHOD("dealloc", "v16@0:8", queue_dealloc),
        METHOD("device", "@16@0:8", queue4_get_device),
        METHOD("label", "@16@0:8", queue4_get_label),
        METHOD("commit:count:", "v32@0:8^@16Q24", queue_commit),
        METHOD("commit:count:options:", "v40@0:8^@16Q24@32",
               queue_commit_with),
        METHOD("signalEvent:value:", "v32@0:8@16Q24", queue_signal),
        METHOD("waitForEvent:value:", "v32@0:8@16Q24", queue_wait),
        METHOD("addResidencySet:", "v24@0:8@16", queue_add_set),
        METHOD("addResidencySets:count:", "v32@0:8^@16Q24", queue_add_sets),
        METHOD("removeResidencySet:", "v24@0:8@16", queue_remove_set),
        METHOD("removeResidencySets:count:", "v32@0:8^@16Q24",
               queue_remove_sets));
DEFINE_CLASS(MettleQueue4, NSObject, sizeof(queue4), queue_methods,
             NO_METHODS);

METHODS(device_methods, METHOD("newMTL4CommandQueue", "@16@0:8", new_queue),
        METHOD("newMTL4CommandQueueWithDescriptor:error:", "@32@0:8@16^@24",
               new_queue_by),
        METHOD("newCommandAllocator", "@16@0:8", new_allocator),
        METHOD("newCommandAllocatorWithDescriptor:error:", "@32@0:8@16^@24",
               new_allocator_by),
        METHOD("newCommandBuffer", "@16@0:8", new_commands),
        METHOD("newArgumentTableWithDescriptor:error:", "@32@0:8@16^@24",
               new_table));
DEFINE_CATEGORY(MettleDevice, commands4, device_methods);
