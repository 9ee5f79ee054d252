// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// label.c: the client's names for objects.
#include <stdlib.h>
#include <string.h>

#include "runtime/objects.h"

char *mtli_label_copy(const char *label) {
  return label ? strdup(label) : NULL;
}

void mtli_label_set(mtl_device *device, char **slot, const char *label) {
  char *copy = mtli_label_copy(label);
  pthread_mutex_lock(&device->lock);
  char *old = *slot;
  *slot = copy;
  pthread_mutex_unlock(&device->lock);
  free(old);
}
