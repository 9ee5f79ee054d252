// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// promote_allocas.h: puts the emitter's memories that are written in several
// places into registers, each at a cost that grows with how long it lives.
#ifndef MTLC_PROMOTE_ALLOCAS_H
#define MTLC_PROMOTE_ALLOCAS_H

#include "compiler/vectorize/emit/values/emitter.h"

// Puts memories that are written more than once into registers.
void lanes_promote_allocas(lanes_emitter *e);

#endif
