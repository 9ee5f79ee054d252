// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// link_loops.h: the loops over simdgroups around a variant.
#ifndef MTLC_LINK_LOOPS_H
#define MTLC_LINK_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/finish/simdgroups/group_loop.h"

mtl_status lanes_link_loop(mtlc_kernel *kernel, const lanes_variant *variant,
                           bool has_waits, uint64_t frame_bytes);
bool lanes_is_in_place(const lanes_variant *variant);

#endif
