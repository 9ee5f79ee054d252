// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// json.c: writes texts and sizes as JSON.
#include "cli/base/json.h"

void json_write_text(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text != '\0'; ++text) {
    const unsigned char letter = (unsigned char)*text;
    if (letter == '"' || letter == '\\') {
      fprintf(file, "\\%c", letter);
    } else if (letter < 0x20) {
      fprintf(file, "\\u%04x", letter);
    } else {
      fputc(letter, file);
    }
  }
  fputc('"', file);
}

void json_write_size(FILE *file, const uint32_t size[3]) {
  fprintf(file, "[%u, %u, %u]", size[0], size[1], size[2]);
}
