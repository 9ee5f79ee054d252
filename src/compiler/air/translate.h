// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// translate.h: translates a function of a compiled Metal library to a code
// container of this one function, in the compiler's process.
#ifndef MTLC_TRANSLATE_H
#define MTLC_TRANSLATE_H

#include "compiler/process/compile.h"

// Translates one function. Damaged bitcode is MTL_BAD_DATA, what has no
// definition here MTL_UNSUPPORTED, by name.
void mtlc_translate(const mtli_translation_request *request,
                    mtlc_result *out_result);

// Reads the support library that the build has made beside the program, if it
// is this compiler's. Without it the first translation compiles it.
void mtlc_translate_prepare(void);
// Compiles the support library into a file of a folder, mettlec.air, for
// mtlc_translate_prepare.
bool mtlc_translate_precompile(const char *folder);

// support.c, for translate.c: the support library's bitcode; false, with the
// error set, if it does not compile.
bool air_support_library(const void **out_bitcode, size_t *out_size_bytes);

#endif
