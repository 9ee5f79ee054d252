// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoder.c: MTLCommandEncoder, the superclass of compute and blit encoders.
#include "objc/metal/metal.h"
#include "objc/metal/property.h"

// An object has one of the C API's two encoders.
static void encoder_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  metal_encoder *encoder = (metal_encoder *)self;
  if (encoder->compute) {
    mtl_compute_encoder_release(encoder->compute);
  }
  if (encoder->blit) {
    mtl_blit_encoder_release(encoder->blit);
  }
  objc_release(encoder->label);
  objc_release(encoder->commands);
  instance_dispose(self);
}

static id encoder_device(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(id(*)(id, SEL), ((metal_encoder *)self)->commands, "device");
}

static id encoder_commands(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_encoder *)self)->commands;
}

COPY_PROPERTY(metal_encoder, label)

// A signpost would show in captures only, and there are none.
static void insert_signpost(id self, SEL _cmd, id name) {
  (void)self;
  (void)_cmd;
  (void)name;
}

METHODS(encoder_methods, METHOD("dealloc", "v16@0:8", encoder_dealloc),
        METHOD("device", "@16@0:8", encoder_device),
        METHOD("commandBuffer", "@16@0:8", encoder_commands),
        OBJECT_METHODS(metal_encoder, label, "setLabel:"),
        METHOD("insertDebugSignpost:", "v24@0:8@16", insert_signpost));
DEFINE_CLASS(MettleEncoder, NSObject, sizeof(metal_encoder), encoder_methods,
             NO_METHODS);
