// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test.c: the main of test programs, and the checks of test.h.
#include "harness/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct deferred {
  void (*function)(void *context);
  void *context;
  struct deferred *next;
} deferred;

static test_case *first_case;
static test_case **last_case = &first_case;
static deferred *newest_deferred;

// Tests register themselves before main starts, in source order.
void test_register(test_case *entry) {
  *last_case = entry;
  last_case = &entry->next;
}

void test_fail(const char *file, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: ", file, line);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  fflush(NULL);
  _exit(1);  // other threads may be at work: run no exit handlers
}

void test_skip(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  putchar('\n');
  va_end(arguments);
  fflush(NULL);
  _exit(TEST_SKIPPED);
}

size_t test_resident_bytes(void) {
  size_t all, resident;
  FILE *file = fopen("/proc/self/statm", "re");
  CHECK(file && fscanf(file, "%zu %zu", &all, &resident) == 2);
  fclose(file);
  return resident * (size_t)sysconf(_SC_PAGESIZE);
}

void test_defer(void (*function)(void *context), void *context) {
  deferred *entry = malloc(sizeof *entry);
  if (entry == NULL) {
    test_fail(__FILE__, __LINE__, "out of memory");
  }
  *entry = (deferred){function, context, newest_deferred};
  newest_deferred = entry;
}

static void run_deferred(void) {
  while (newest_deferred != NULL) {
    deferred *entry = newest_deferred;
    newest_deferred = entry->next;
    entry->function(entry->context);
    free(entry);
  }
}

void test_check_equal(const char *file, int line, const char *text,
                      uint64_t actual, uint64_t expected) {
  if (actual != expected) {
    test_fail(file, line, "%s is %llu (%#llx), expected %llu (%#llx)", text,
              (unsigned long long)actual, (unsigned long long)actual,
              (unsigned long long)expected, (unsigned long long)expected);
  }
}

void test_check_text(const char *file, int line, const char *text,
                     const char *actual, const char *expected) {
  if (actual == NULL || strcmp(actual, expected) != 0) {
    test_fail(file, line, "%s is \"%s\", expected \"%s\"", text,
              actual ? actual : "(null)", expected);
  }
}

void test_check_contains(const char *file, int line, const char *actual,
                         const char *part) {
  if (actual == NULL || strstr(actual, part) == NULL) {
    test_fail(file, line, "the text \"%s\" lacks \"%s\"",
              actual ? actual : "(null)", part);
  }
}

void test_check_status(const char *file, int line, const char *text,
                       mtl_status actual, mtl_status expected,
                       const char *part) {
  if (actual != expected) {
    test_fail(file, line, "%s gives %s, expected %s; last error: %s", text,
              mtl_status_name(actual), mtl_status_name(expected),
              mtl_last_error());
  }
  if (part != NULL) {
    test_check_contains(file, line, mtl_last_error(), part);
  }
}

static int list_cases(void) {
  for (const test_case *entry = first_case; entry; entry = entry->next) {
    puts(entry->name);
  }
  return 0;
}

int main(int argument_count, char **arguments) {
  const char *name = argument_count > 1 ? arguments[argument_count - 1] : NULL;
  if (name != NULL && strcmp(name, "--list") == 0) {
    return list_cases();
  }
  size_t run_count = 0;
  for (const test_case *entry = first_case; entry; entry = entry->next) {
    if (name == NULL || strcmp(name, entry->name) == 0) {
      if (test_prepare) {
        test_prepare();
      }
      entry->function();
      run_deferred();
      run_count++;
    }
  }
  if (run_count == 0) {
    fprintf(stderr, "%s: no such test\n", name ? name : "(none)");
    return 2;
  }
  return 0;
}
