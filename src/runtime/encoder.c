// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoder.c: the life of an encoder, whatever it records.
#include "runtime/encoder.h"

#include <stdlib.h>

static void encoder_destroy(mtli_object *object) {
  mtli_encoder *encoder = (mtli_encoder *)object;
  mtli_recording *recording = encoder->recording;
  if (encoder->is_open) {
    recording->is_encoding = false;
  }
  free(encoder);
  mtl_command_buffer_release(&recording->command_buffer);  // -1
}

mtl_status mtli_encoder_create(mtl_command_buffer *command_buffer,
                               size_t size_bytes, const char *call,
                               mtli_encoder **out_encoder) {
  mtli_encoder *encoder = calloc(1, size_bytes);
  if (!encoder) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an encoder");
  }
  mtli_recording *recording = mtli_recording_of(command_buffer);
  const mtl_status status = mtli_recording_open(recording, call);
  if (status != MTL_OK) {
    free(encoder);
    return status;
  }
  mtli_object_init(&encoder->object, encoder_destroy);
  mtl_command_buffer_retain(command_buffer);  // +1
  encoder->recording = recording;
  encoder->is_open = true;
  *out_encoder = encoder;
  return MTL_OK;
}

mtl_status mtli_encoder_end(mtli_encoder *encoder, const char *call) {
  if (!encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: encoder is NULL", call);
  }
  if (!encoder->is_open) {
    return mtli_fail(MTL_INVALID_STATE, "%s: the encoder has ended already",
                     call);
  }
  encoder->is_open = false;
  return mtli_recording_close(encoder->recording);
}

bool mtli_encoder_check(mtli_encoder *encoder, const char *call) {
  if (!encoder) {
    return false;
  }
  // A committed recording is the driver's; its error is not ours to set.
  if (!encoder->is_open && !encoder->recording->is_committed) {
    mtli_recording_fail(encoder->recording, MTL_INVALID_STATE,
                        "%s: the encoder has ended", call);
  }
  return encoder->is_open;
}
