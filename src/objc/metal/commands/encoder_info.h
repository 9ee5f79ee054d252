// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoder_info.h: what the error of a command buffer tells of its encoders.
#ifndef METTLE_OBJC_ENCODER_INFO_H
#define METTLE_OBJC_ENCODER_INFO_H

#include "objc/metal/metal.h"

// Notes an encoder of a command buffer, which asked for it by its errorOptions.
void encoder_infos_note(id commands, id encoder);

// Returns error with MTLCommandBufferEncoderInfoErrorKey in its userInfo,
// autoreleased; or error itself, if the command buffer did not ask for it.
id encoder_infos_add(id commands, id error);

#endif
