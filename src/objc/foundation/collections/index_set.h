// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// index_set.h: NSIndexSet for our own C code.
#ifndef METTLE_OBJC_INDEX_SET_H
#define METTLE_OBJC_INDEX_SET_H

#include "objc/foundation/foundation.h"

// Makes an empty NSMutableIndexSet, autoreleased.
id index_set_make(void);
void index_set_add(id set, NSUInteger first, NSUInteger count);
bool index_set_has(id set, NSUInteger index);
// Returns the set's first index that is at least index, or NSNotFound.
NSUInteger index_set_from(id set, NSUInteger index);

#endif
