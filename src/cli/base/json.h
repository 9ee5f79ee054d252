// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// json.h: the little of JSON that the verbs write.
#ifndef METTLE_CLI_JSON_H
#define METTLE_CLI_JSON_H

#include <stdint.h>
#include <stdio.h>

// Writes text in quotes, escaped.
void json_write_text(FILE *file, const char *text);
// Writes "[x, y, z]".
void json_write_size(FILE *file, const uint32_t size[3]);

#endif
