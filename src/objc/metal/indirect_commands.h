// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_commands.h: MTLIndirectCommandBuffer.
#ifndef METTLE_OBJC_INDIRECT_COMMANDS_H
#define METTLE_OBJC_INDIRECT_COMMANDS_H

#include "objc/metal/metal.h"

// Records the commands of range, as they are now, into an open encoder.
void indirect_commands_replay(id commands, NSRange range,
                              mtl_compute_encoder *encoder);

#endif
