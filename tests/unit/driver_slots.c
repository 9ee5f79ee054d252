// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// driver_slots.c: every driver's table has all slots.
#include <string.h>

#include "harness/test.h"
#include "runtime/driver.h"

// The slots are consecutive pointers, from device_count to the end.
TEST(drivers, no_slot_is_null) {
  const size_t first = offsetof(mtli_driver, device_count);
  const size_t count = (sizeof(mtli_driver) - first) / sizeof(void *);
  CHECK(count >= 30);
  for (size_t i = 0; i < mtli_driver_count; i++) {
    const char *table = (const char *)mtli_drivers[i];
    for (size_t slot = 0; slot < count; slot++) {
      void *function = NULL;
      memcpy(&function, table + first + slot * sizeof function,
             sizeof function);
      if (!function) {
        test_fail(__FILE__, __LINE__, "slot %zu of driver '%s' is NULL", slot,
                  mtli_drivers[i]->name);
      }
    }
  }
}

TEST(drivers, objects_have_room_for_the_runtimes_part) {
  for (size_t i = 0; i < mtli_driver_count; i++) {
    const mtli_driver *driver = mtli_drivers[i];
    CHECK(driver->device_bytes >= sizeof(mtl_device));
    CHECK(driver->buffer_bytes >= sizeof(mtl_buffer));
    CHECK(driver->texture_bytes >= sizeof(mtl_texture));
    CHECK(driver->library_bytes >= sizeof(mtl_library));
    CHECK(driver->function_bytes >= sizeof(mtl_function));
    CHECK(driver->pipeline_bytes >= sizeof(mtl_pipeline));
    CHECK(driver->function_table_bytes >= sizeof(mtl_function_table));
    CHECK(driver->queue_bytes >= sizeof(mtl_queue));
    CHECK(driver->event_bytes >= sizeof(mtl_event));
  }
}

TEST(drivers, names_of_devices_are_distinct) {
  const char *names[64];
  size_t count = 0;
  for (size_t i = 0; i < mtli_driver_count; i++) {
    for (uint32_t n = 0; n < mtli_drivers[i]->device_count(); n++) {
      CHECK(count < sizeof names / sizeof *names);
      names[count++] = mtli_drivers[i]->device_name(n);
    }
  }
  CHECK(count >= 4);
  for (size_t i = 0; i < count; i++) {
    for (size_t j = i + 1; j < count; j++) {
      CHECK(strcmp(names[i], names[j]) != 0);
    }
  }
}
