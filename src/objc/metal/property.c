// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// property.c: copies and deallocates objects whose fields are values and
// references.
#include "objc/metal/property.h"

#include <string.h>

id fields_copy(id from, size_t size_bytes, size_t first_offset, size_t count) {
  const size_t head_bytes = sizeof(struct objc_object);
  const id made = instance_create(from->isa, 0);
  memcpy((char *)made + head_bytes, (const char *)from + head_bytes,
         size_bytes - head_bytes);
  const id *fields = (const id *)((char *)made + first_offset);
  for (size_t i = 0; i < count; ++i) {
    objc_retain(fields[i]);
  }
  return made;
}

void fields_release(id object, size_t first_offset, size_t count) {
  id *fields = (id *)((char *)object + first_offset);
  for (size_t i = 0; i < count; ++i) {
    const id old = fields[i];
    fields[i] = NULL;
    objc_release(old);
  }
}
