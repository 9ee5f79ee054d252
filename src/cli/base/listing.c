// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// listing.c: puts source lines into a listing of machine code.
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A source file, read once; files follow each other in a list.
typedef struct source_file {
  struct source_file *next;
  char *name;
  char *text;     // NULL if it cannot be read
  size_t length;  // bytes
} source_file;

enum { MOST_BYTES = 64 << 20 };

static char *read_text(const char *name, size_t *out_length) {
  FILE *file = fopen(name, "rb");
  if (file == NULL) {
    return NULL;
  }
  char *text = NULL;
  size_t capacity = 0;
  size_t length = 0;
  for (size_t got = 1; got > 0 && length < MOST_BYTES;) {
    if (capacity - length < 4096) {
      capacity = capacity ? 2 * capacity : 65536;
      char *grown = realloc(text, capacity);
      if (grown == NULL) {
        break;
      }
      text = grown;
    }
    got = fread(text + length, 1, capacity - length, file);
    length += got;
  }
  fclose(file);
  *out_length = length;
  return text;
}

static source_file *find_file(source_file **files, const char *name) {
  for (source_file *file = *files; file != NULL; file = file->next) {
    if (strcmp(file->name, name) == 0) {
      return file;
    }
  }
  source_file *file = calloc(1, sizeof *file);
  if (file == NULL || (file->name = strdup(name)) == NULL) {
    free(file);
    return NULL;
  }
  file->text = read_text(name, &file->length);
  file->next = *files;
  *files = file;
  return file;
}

static void print_source_line(const source_file *file, unsigned long number) {
  const char *at = file->text;
  const char *end = file->text ? file->text + file->length : NULL;
  for (unsigned long i = 1; i < number && at != NULL; ++i) {
    at = memchr(at, '\n', (size_t)(end - at));
    at = at ? at + 1 : NULL;
  }
  if (at != NULL && at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    printf("  %.*s", (int)((stop ? stop : end) - at), at);
  }
}

// line, of length bytes: "; FILE:LINE", then perhaps a space and more.
static void print_place(source_file **files, const char *line, size_t length) {
  const size_t end = strcspn(line + 2, " \n") + 2;
  const char *colon = memrchr(line, ':', end < length ? end : length);
  printf("%.*s", (int)length, line);
  if (colon != NULL && colon > line + 2) {
    char *name = strndup(line + 2, (size_t)(colon - line - 2));
    const source_file *file = name ? find_file(files, name) : NULL;
    if (file != NULL) {
      print_source_line(file, strtoul(colon + 1, NULL, 10));
    }
    free(name);
  }
  putchar('\n');
}

void listing_print(const char *text) {
  source_file *files = NULL;
  while (*text != '\0') {
    const size_t length = strcspn(text, "\n");
    if (strncmp(text, "; ", 2) == 0) {
      print_place(&files, text, length);
    } else {
      printf("%.*s\n", (int)length, text);
    }
    text += length + (text[length] == '\n');
  }
  while (files != NULL) {
    source_file *next = files->next;
    free(files->name);
    free(files->text);
    free(files);
    files = next;
  }
}
