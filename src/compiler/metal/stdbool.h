// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stdbool.h: bool is a word of the language.
#ifndef METTLE_STDBOOL_H
#define METTLE_STDBOOL_H

#define __bool_true_false_are_defined 1

#endif
