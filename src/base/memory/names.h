// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// names.h: texts that last as long as the process, each kept once. For names
// that are told after what has them is gone.
#ifndef MTLI_NAMES_H
#define MTLI_NAMES_H

// Returns the kept copy of text, made if there is none; "" without memory. On
// any thread; takes no lock.
const char *mtli_name_keep(const char *text);

#endif
