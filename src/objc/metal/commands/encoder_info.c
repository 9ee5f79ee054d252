// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoder_info.c: MTLCommandBufferEncoderInfo.
#include "objc/metal/commands/encoder_info.h"

#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleEncoderInfo;
extern struct objc_class OBJC_CLASS_$_NSError;
extern id const MTLCommandBufferEncoderInfoErrorKey;

enum { OPTION_ENCODER_STATUS = 1 };
// MTLCommandEncoderErrorState
enum { STATE_UNKNOWN = 0, STATE_FAULTED = 4 };

typedef struct encoder_info {
  struct objc_object object;
  id label;
  id debugSignposts;
  NSInteger errorState;
} encoder_info;

REFERENCES(encoder_info, label, debugSignposts)
READ_PROPERTY(encoder_info, id, label)
READ_PROPERTY(encoder_info, id, debugSignposts)
READ_PROPERTY(encoder_info, NSInteger, errorState)

METHODS(info_methods, REFERENCES_METHODS(encoder_info),
        METHOD("label", "@16@0:8", encoder_info_get_label),
        METHOD("debugSignposts", "@16@0:8", encoder_info_get_debugSignposts),
        METHOD("errorState", "q16@0:8", encoder_info_get_errorState));
DEFINE_CLASS(MettleEncoderInfo, NSObject, sizeof(encoder_info), info_methods,
             NO_METHODS);

void encoder_infos_note(id commands, id encoder) {
  metal_command_buffer *buffer = (metal_command_buffer *)commands;
  if (!(buffer->error_options & OPTION_ENCODER_STATUS)) {
    return;
  }
  if (!buffer->encoders) {
    buffer->encoders = mutable_array_create();
  }
  const id label = ((metal_encoder *)encoder)->label;
  SEND(void (*)(id, SEL, id), buffer->encoders, "addObject:",
       label ? label : string_make(""));
}

// It is unknown which of several encoders failed: the error's text names the
// kernel.
id encoder_infos_add(id commands, id error) {
  const metal_command_buffer *buffer = (metal_command_buffer *)commands;
  if (!(buffer->error_options & OPTION_ENCODER_STATUS)) {
    return error;
  }
  const size_t count = array_count(buffer->encoders);
  const id infos = objc_autorelease(mutable_array_create());
  for (size_t i = 0; i < count; ++i) {
    encoder_info *made = (encoder_info *)CREATE(MettleEncoderInfo);
    made->label = objc_retain(array_at(buffer->encoders, i));
    made->debugSignposts = array_create(NULL, 0);
    made->errorState = count == 1 ? STATE_FAULTED : STATE_UNKNOWN;
    SEND(void (*)(id, SEL, id), infos, "addObject:", &made->object);
    objc_release(&made->object);
  }
  const id info = objc_autorelease(dictionary_create());
  const id before = SEND(id(*)(id, SEL), error, "userInfo");
  const id domain = SEND(id(*)(id, SEL), error, "domain");
  const NSInteger code = SEND(NSInteger(*)(id, SEL), error, "code");
  SEND(void (*)(id, SEL, id), info, "addEntriesFromDictionary:", before);
  dictionary_set(info, MTLCommandBufferEncoderInfoErrorKey, infos);
  return SEND(id(*)(id, SEL, id, NSInteger, id), (id)&OBJC_CLASS_$_NSError,
              "errorWithDomain:code:userInfo:", domain, code, info);
}
