// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// passes.c: MTLComputePassDescriptor and MTLBlitPassDescriptor, with the
// samples that encoders take at their start and end.
#include "objc/metal/commands/passes.h"

#include "objc/metal/property.h"

extern struct objc_class
    OBJC_CLASS_$_MTLComputePassSampleBufferAttachmentDescriptor;
extern struct objc_class
    OBJC_CLASS_$_MTLComputePassSampleBufferAttachmentDescriptorArray;
extern struct objc_class
    OBJC_CLASS_$_MTLBlitPassSampleBufferAttachmentDescriptor;
extern struct objc_class
    OBJC_CLASS_$_MTLBlitPassSampleBufferAttachmentDescriptorArray;

// --- Attachments -------------------------------------------------------------

typedef struct attachment {
  struct objc_object object;
  id sampleBuffer;
  NSUInteger startOfEncoderSampleIndex;
  NSUInteger endOfEncoderSampleIndex;
} attachment;

OBJECT_PROPERTY(attachment, sampleBuffer)
VALUE_PROPERTY(attachment, NSUInteger, startOfEncoderSampleIndex)
VALUE_PROPERTY(attachment, NSUInteger, endOfEncoderSampleIndex)
REFERENCES(attachment, sampleBuffer, sampleBuffer)

METHODS(attachment_methods, REFERENCES_METHODS(attachment),
        OBJECT_METHODS(attachment, sampleBuffer, "setSampleBuffer:"),
        VALUE_METHODS(attachment, startOfEncoderSampleIndex,
                      "setStartOfEncoderSampleIndex:", "Q"),
        VALUE_METHODS(attachment, endOfEncoderSampleIndex,
                      "setEndOfEncoderSampleIndex:", "Q"));
DEFINE_CLASS(MTLComputePassSampleBufferAttachmentDescriptor, NSObject,
             sizeof(attachment), attachment_methods, NO_METHODS);
DEFINE_CLASS(MTLBlitPassSampleBufferAttachmentDescriptor, NSObject,
             sizeof(attachment), attachment_methods, NO_METHODS);

typedef struct attachments {
  struct objc_object object;
  id items[MTL_MAX_SAMPLE_ATTACHMENTS];  // made when first asked for
} attachments;

static id *item_at(id self, NSUInteger index) {
  if (index >= MTL_MAX_SAMPLE_ATTACHMENTS) {
    metal_assert("sample buffer attachment %lu is not below %d", index,
                 MTL_MAX_SAMPLE_ATTACHMENTS);
  }
  return &((attachments *)self)->items[index];
}

static id attachments_get(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  id *item = item_at(self, index);
  if (!*item) {
    *item =
        self->isa ==
                &OBJC_CLASS_$_MTLBlitPassSampleBufferAttachmentDescriptorArray
            ? CREATE(MTLBlitPassSampleBufferAttachmentDescriptor)
            : CREATE(MTLComputePassSampleBufferAttachmentDescriptor);
  }
  return *item;
}

static void attachments_set(id self, SEL _cmd, id item, NSUInteger index) {
  (void)_cmd;
  id *place = item_at(self, index);
  const id old = *place;
  *place = SEND(id(*)(id, SEL), item, "copy");
  objc_release(old);
}

static void attachments_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  for (size_t i = 0; i < MTL_MAX_SAMPLE_ATTACHMENTS; ++i) {
    objc_release(((attachments *)self)->items[i]);
  }
  instance_dispose(self);
}

METHODS(attachments_methods, METHOD("dealloc", "v16@0:8", attachments_dealloc),
        METHOD("objectAtIndexedSubscript:", "@24@0:8Q16", attachments_get),
        METHOD("setObject:atIndexedSubscript:", "v32@0:8@16Q24",
               attachments_set));
DEFINE_CLASS(MTLComputePassSampleBufferAttachmentDescriptorArray, NSObject,
             sizeof(attachments), attachments_methods, NO_METHODS);
DEFINE_CLASS(MTLBlitPassSampleBufferAttachmentDescriptorArray, NSObject,
             sizeof(attachments), attachments_methods, NO_METHODS);

// --- Descriptors -------------------------------------------------------------

typedef struct pass_descriptor {
  struct objc_object object;
  id sampleBufferAttachments;  // made when first asked for
  NSUInteger dispatchType;     // of a compute pass
} pass_descriptor;

VALUE_PROPERTY(pass_descriptor, NSUInteger, dispatchType)
REFERENCES(pass_descriptor, sampleBufferAttachments, sampleBufferAttachments)

static id compute_attachments(id self, SEL _cmd) {
  (void)_cmd;
  pass_descriptor *pass = (pass_descriptor *)self;
  if (!pass->sampleBufferAttachments) {
    pass->sampleBufferAttachments =
        CREATE(MTLComputePassSampleBufferAttachmentDescriptorArray);
  }
  return pass->sampleBufferAttachments;
}

static id blit_attachments(id self, SEL _cmd) {
  (void)_cmd;
  pass_descriptor *pass = (pass_descriptor *)self;
  if (!pass->sampleBufferAttachments) {
    pass->sampleBufferAttachments =
        CREATE(MTLBlitPassSampleBufferAttachmentDescriptorArray);
  }
  return pass->sampleBufferAttachments;
}

static id pass_make(Class self, SEL _cmd) {
  (void)_cmd;
  return objc_autorelease(instance_create(self, 0));
}

METHODS(compute_methods, REFERENCES_METHODS(pass_descriptor),
        METHOD("sampleBufferAttachments", "@16@0:8", compute_attachments),
        VALUE_METHODS(pass_descriptor, dispatchType, "setDispatchType:", "Q"));
METHODS(compute_class_methods,
        METHOD("computePassDescriptor", "@16@0:8", pass_make));
DEFINE_CLASS(MTLComputePassDescriptor, NSObject, sizeof(pass_descriptor),
             compute_methods, &compute_class_methods);

METHODS(blit_methods, REFERENCES_METHODS(pass_descriptor),
        METHOD("sampleBufferAttachments", "@16@0:8", blit_attachments));
METHODS(blit_class_methods, METHOD("blitPassDescriptor", "@16@0:8", pass_make));
DEFINE_CLASS(MTLBlitPassDescriptor, NSObject, sizeof(pass_descriptor),
             blit_methods, &blit_class_methods);

static uint32_t index_of(NSUInteger index) {
  return index > UINT32_MAX ? MTL_DONT_SAMPLE : (uint32_t)index;
}

mtl_encoder_desc encoder_desc_of(id descriptor) {
  const pass_descriptor *pass = (pass_descriptor *)descriptor;
  mtl_encoder_desc desc = {.dispatch_type =
                               pass ? (mtl_dispatch_type)pass->dispatchType
                                    : MTL_DISPATCH_SERIAL};
  const attachments *list =
      pass ? (attachments *)pass->sampleBufferAttachments : NULL;
  for (size_t i = 0; list && i < MTL_MAX_SAMPLE_ATTACHMENTS; ++i) {
    const attachment *item = (attachment *)list->items[i];
    if (item && item->sampleBuffer) {
      desc.samples[i] =
          (mtl_sample_attachment){samples_of(item->sampleBuffer),
                                  index_of(item->startOfEncoderSampleIndex),
                                  index_of(item->endOfEncoderSampleIndex)};
    }
  }
  return desc;
}
