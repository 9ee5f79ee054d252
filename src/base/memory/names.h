// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// names.h: interned strings. They last as long as the process, longer than the
// objects that they name.
#ifndef MTLI_NAMES_H
#define MTLI_NAMES_H

// Returns the interned copy of text, which the first call makes; "" if memory
// is out. On any thread, without a lock.
const char *mtli_name_keep(const char *text);

#endif
