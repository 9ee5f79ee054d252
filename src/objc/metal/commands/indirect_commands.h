// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_commands.h: MTLIndirectCommandBuffer, for encoders.
#ifndef METTLE_OBJC_INDIRECT_COMMANDS_H
#define METTLE_OBJC_INDIRECT_COMMANDS_H

#include "objc/metal/metal.h"

// Returns the C API's object in an MTLIndirectCommandBuffer; NULL for nil.
mtl_indirect_command_buffer *indirect_commands_of(id commands);

// Checks that a range fits the C API's types; otherwise ends the program.
void indirect_commands_check(id commands, NSRange range);

#endif
