// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoder_info.h: adds the state of encoders to a command buffer's error.
#ifndef METTLE_OBJC_ENCODER_INFO_H
#define METTLE_OBJC_ENCODER_INFO_H

#include "objc/metal/metal.h"

// Records an encoder of a command buffer whose errorOptions ask for it.
void encoder_infos_note(id commands, id encoder);

// Returns error with MTLCommandBufferEncoderInfoErrorKey in its userInfo,
// autoreleased; or error itself, if the command buffer did not ask for it.
id encoder_infos_add(id commands, id error);

#endif
