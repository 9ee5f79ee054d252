// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_commands.h: what encoders need of MTLIndirectCommandBuffer.
#ifndef METTLE_OBJC_INDIRECT_COMMANDS_H
#define METTLE_OBJC_INDIRECT_COMMANDS_H

#include "objc/metal/metal.h"

// The C API's in an MTLIndirectCommandBuffer; NULL for nil.
mtl_indirect_command_buffer *indirect_commands_of(id commands);

// Checks that a range of Metal's is one of the C API's, and ends the program
// otherwise.
void indirect_commands_check(id commands, NSRange range);

#endif
