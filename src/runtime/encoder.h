// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoder.h: what compute and blit encoders have in common: they open a
// recording, record while they are open, and end.
#ifndef MTLI_ENCODER_H
#define MTLI_ENCODER_H

#include "runtime/recording.h"

// The first member of each kind of encoder.
typedef struct mtli_encoder {
  mtli_object object;
  mtli_recording *recording;  // +1
  bool is_open;
} mtli_encoder;

// Makes a zeroed encoder of size_bytes and opens command_buffer with it; call
// is the public function that asks. The encoder is the caller's.
mtl_status mtli_encoder_create(mtl_command_buffer *command_buffer,
                               size_t size_bytes, const char *call,
                               mtli_encoder **out_encoder);

// Ends the encoder; NULL and one that has ended are errors.
mtl_status mtli_encoder_end(mtli_encoder *encoder, const char *call);

// Tells whether commands may be recorded; if not, fails the recording if it
// still can.
bool mtli_encoder_check(mtli_encoder *encoder, const char *call);

#endif
