// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoder.h: common to compute and blit encoders: they open a recording, record
// while they are open, and end.
#ifndef MTLI_ENCODER_H
#define MTLI_ENCODER_H

#include "mettle/encoder.h"
#include "runtime/record/counters.h"
#include "runtime/record/recording.h"

// The first member of each kind of encoder.
typedef struct mtli_encoder {
  mtli_object object;
  mtli_recording *recording;  // +1
  bool is_open;
  bool has_samples;
  mtl_sample_attachment samples[MTL_MAX_SAMPLE_ATTACHMENTS];  // +1 each
} mtli_encoder;

// Makes a zeroed encoder of size_bytes and opens command_buffer with it, whose
// times tell of it as kind; call is the public function that asks. The encoder
// is the caller's.
mtl_status mtli_encoder_create(mtl_command_buffer *command_buffer,
                               size_t size_bytes, mtl_work_kind kind,
                               const char *call, mtli_encoder **out_encoder);

// Gives an encoder that has just been made its options; desc may be NULL.
// Records the samples of its beginning, and has the others recorded when it
// ends. Gives it back if one cannot be.
mtl_status mtli_encoder_set_desc(mtli_encoder *encoder,
                                 const mtl_encoder_desc *desc,
                                 const char *call);

// Ends the encoder; NULL and one that has ended are errors.
mtl_status mtli_encoder_end(mtli_encoder *encoder, const char *call);

// Tells whether commands may be recorded; if not, fails the recording if it
// still can.
bool mtli_encoder_check(mtli_encoder *encoder, const char *call);
// Checks that buffer has count words at the offset, which the device reads when
// it reaches the command. False fails the recording.
bool mtli_encoder_check_counts(mtli_encoder *encoder, const mtl_buffer *buffer,
                               size_t offset_bytes, size_t count,
                               const char *call);

#endif
