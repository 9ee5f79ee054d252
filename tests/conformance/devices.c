// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// devices.c: enumeration, names, limits, families.
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

TEST(devices, list_starts_with_the_default) {
  unsetenv("METTLE_DEVICE");
  mtl_device *first = NULL;
  size_t count = 0;
  CHECK_OK(mtl_device_list(&first, 1, &count));
  CHECK(count >= 1);
  mtl_device *chosen = NULL;
  CHECK_OK(mtl_device_default(&chosen));
  CHECK_TEXT(mtl_device_get_info(chosen)->name,
             mtl_device_get_info(first)->name);
  mtl_device_release(first);
  mtl_device_release(chosen);
}

TEST(devices, list_without_room_only_counts) {
  size_t count = 0;
  CHECK_OK(mtl_device_list(NULL, 0, &count));
  CHECK(count >= 1);
}

TEST(devices, those_for_tests_are_not_listed) {
  mtl_device *devices[16];
  size_t count = 0;
  CHECK_OK(mtl_device_list(devices, COUNT_OF(devices), &count));
  for (size_t i = 0; i < count; i++) {
    const char *name = mtl_device_get_info(devices[i])->name;
    CHECK(strcmp(name, "cpu-discrete") != 0);
    CHECK(strcmp(name, "null") != 0);
    mtl_device_release(devices[i]);
  }
}

static void check_setting(const char *name, const char *value,
                          const char *allowed) {
  mtl_device *device = (mtl_device *)1;
  setenv(name, value, 1);
  CHECK_ERROR(mtl_device_default(&device), MTL_INVALID_ARGUMENT, name);
  CHECK(device == NULL);
  CHECK_CONTAINS(mtl_last_error(), value);
  CHECK_CONTAINS(mtl_last_error(), allowed);
  unsetenv(name);
}

TEST(devices, wrong_values_of_the_environment_are_errors) {
  check_setting("METTLE_CPU_THREADS", "many", "a number from 1 to ");
  check_setting("METTLE_CPU_THREADS", "0", "a number from 1 to ");
  check_setting("METTLE_CPU_THREADS", "-4", "a number from 1 to ");
  check_setting("METTLE_CPU_THREADS", " 4", "a number from 1 to ");
  check_setting("METTLE_CPU_THREADS", "4x", "a number from 1 to ");
  check_setting("METTLE_CPU_THREADS", "99999999999999999999",
                "a number from 1 to ");
  check_setting("METTLE_CACHE", "off", "0|1");
  check_setting("METTLE_CACHE_MB", "1e3", "a number from 0 to 4294967295");
  check_setting("METTLE_CACHE_MB", "4294967296",
                "a number from 0 to 4294967295");
  check_setting("METTLE_COMPILER_SECONDS", "0", "a number from 1 to ");
  check_setting("METTLE_COMPILER_MEMORY_MB", "4G", "a number from 1 to ");
  check_setting("METTLE_CALLS", "some", "all|none");
  check_setting("METTLE_CONSTANTS_MB", "-1", "a number from 0 to ");
  check_setting("METTLE_POOL_MB", "x", "a number from 0 to ");
  check_setting("METTLE_GUARD_ENDS", "yes", "0|1");
  check_setting("METTLE_GUARDS", "none", "advice|mappings");
  check_setting("METTLE_FAMILY", "metal5", "apple8|apple9|apple10|metal4");
  check_setting("METTLE_HOST_LIBRARY", "mkl", "onednn|openblas|none|0");
  check_setting("METTLE_DEVICE_LIBRARY", "mkl", "cublas|cudnn|none|0");
  check_setting("METTLE_HOST_LIBRARY", "one", "onednn|openblas|none|0");
}

TEST(devices, empty_values_of_the_environment_are_as_good_as_none) {
  setenv("METTLE_CPU_THREADS", "", 1);
  setenv("METTLE_CACHE", "", 1);
  setenv("METTLE_DEVICE", "", 1);
  mtl_device *device = NULL;
  CHECK_OK(mtl_device_default(&device));
  mtl_device_release(device);
}

TEST(devices, list_names_are_distinct_and_findable) {
  mtl_device *devices[16];
  size_t count = 0;
  CHECK_OK(mtl_device_list(devices, COUNT_OF(devices), &count));
  CHECK(count <= COUNT_OF(devices));
  for (size_t i = 0; i < count; i++) {
    const char *name = mtl_device_get_info(devices[i])->name;
    for (size_t k = 0; k < i; k++) {
      CHECK(strcmp(name, mtl_device_get_info(devices[k])->name) != 0);
    }
    mtl_device *found = NULL;
    CHECK_OK(mtl_device_by_name(name, &found));
    CHECK_TEXT(mtl_device_get_info(found)->name, name);
    mtl_device_release(found);
  }
  for (size_t i = 0; i < count; i++) {
    mtl_device_release(devices[i]);
  }
}

TEST(devices, unknown_name_is_not_found_and_lists_names) {
  mtl_device *device = (mtl_device *)1;
  CHECK_ERROR(mtl_device_by_name("abacus", &device), MTL_NOT_FOUND, "abacus");
  CHECK(device == NULL);
  CHECK_CONTAINS(mtl_last_error(), "cpu");
  CHECK_CONTAINS(mtl_last_error(), "null");
}

TEST(devices, environment_names_the_default) {
  setenv("METTLE_DEVICE", "null", 1);
  mtl_device *device = NULL;
  CHECK_OK(mtl_device_default(&device));
  CHECK_TEXT(mtl_device_get_info(device)->name, "null");
  mtl_device_release(device);
}

TEST(devices, environment_with_unknown_name_is_not_found) {
  setenv("METTLE_DEVICE", "abacus", 1);
  mtl_device *device = (mtl_device *)1;
  CHECK_ERROR(mtl_device_default(&device), MTL_NOT_FOUND, "abacus");
  CHECK(device == NULL);
}

TEST(devices, null_arguments_are_refused) {
  mtl_device *device;
  CHECK_ERROR(mtl_device_default(NULL), MTL_INVALID_ARGUMENT, "out_device");
  CHECK_ERROR(mtl_device_by_name(NULL, &device), MTL_INVALID_ARGUMENT, "name");
  CHECK_ERROR(mtl_device_by_name("cpu", NULL), MTL_INVALID_ARGUMENT,
              "out_device");
  CHECK_ERROR(mtl_device_list(NULL, 0, NULL), MTL_INVALID_ARGUMENT,
              "out_count");
}

TEST(devices, info_has_sane_limits) {
  const mtl_device_info *info = the_info();
  CHECK(info->name[0] != '\0' && info->architecture[0] != '\0');
  CHECK_EQUAL(info->thread_execution_width, 32);
  CHECK(info->max_threads_per_threadgroup >= 1024);
  for (int side = 0; side < 3; side++) {
    CHECK(info->max_threadgroup_threads[side] >= 64);
  }
  CHECK(info->max_threadgroup_memory_bytes >= 32768);
  CHECK(info->max_buffer_bytes >= UINT64_C(1) << 28);
  CHECK(info->recommended_max_working_set_bytes >= UINT64_C(1) << 28);
  CHECK_EQUAL(info->buffer_offset_alignment_bytes, 1);
  CHECK(info->compute_units >= 1);
}

TEST(devices, unified_memory_is_as_the_name_says) {
  const bool discrete = strcmp(the_info()->name, "cpu-discrete") == 0 ||
                        strncmp(the_info()->name, "cuda", 4) == 0;
  CHECK(the_info()->has_unified_memory == !discrete);
}

TEST(devices, registry_id_is_stable_and_distinct) {
  mtl_device *again = NULL;
  CHECK_OK(mtl_device_by_name(the_info()->name, &again));
  CHECK_EQUAL(mtl_device_get_info(again)->registry_id, the_info()->registry_id);
  mtl_device_release(again);
  static const char *const names[] = {"cpu", "cpu-discrete", "null", "metal"};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    mtl_device *other = NULL;
    CHECK_OK(mtl_device_by_name(names[i], &other));
    CHECK_EQUAL(
        mtl_device_get_info(other)->registry_id == the_info()->registry_id,
        strcmp(names[i], the_info()->name) == 0);
    mtl_device_release(other);
  }
}

TEST(devices, families_follow_from_one_another) {
  CHECK(mtl_device_supports_family(the_device(), MTL_FAMILY_COMMON1));
  if (mtl_device_supports_family(the_device(), MTL_FAMILY_APPLE9)) {
    CHECK(mtl_device_supports_family(the_device(), MTL_FAMILY_APPLE8));
    CHECK(mtl_device_supports_family(the_device(), MTL_FAMILY_APPLE7));
  }
  CHECK(!mtl_device_supports_family(the_device(), (mtl_family)424242));
}

TEST(devices, the_environment_names_a_newer_family) {
  CHECK(!mtl_device_supports_family(the_device(), MTL_FAMILY_METAL4));
  setenv("METTLE_FAMILY", "metal4", 1);
  CHECK(mtl_device_supports_family(the_device(), MTL_FAMILY_METAL4));
  CHECK(mtl_device_supports_family(the_device(), MTL_FAMILY_APPLE10));
  setenv("METTLE_FAMILY", "apple9", 1);
  CHECK(mtl_device_supports_family(the_device(), MTL_FAMILY_APPLE9));
  CHECK(mtl_device_supports_family(the_device(), MTL_FAMILY_APPLE8));
  CHECK(!mtl_device_supports_family(the_device(), MTL_FAMILY_APPLE10));
  unsetenv("METTLE_FAMILY");
  CHECK(!mtl_device_supports_family(the_device(), MTL_FAMILY_APPLE10));
}

TEST(devices, allocated_bytes_follow_buffers) {
  const uint64_t before = mtl_device_current_allocated_bytes(the_device());
  mtl_buffer *buffer = NULL;
  CHECK_OK(mtl_buffer_create(
      the_device(), &(mtl_buffer_desc){.length_bytes = 1 << 20}, &buffer));
  const uint64_t during = mtl_device_current_allocated_bytes(the_device());
  CHECK(during >= before + (1 << 20));
  mtl_buffer_release(buffer);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), before);
}

TEST(devices, release_null_and_retain_null_are_allowed) {
  mtl_device_release(NULL);
  CHECK(mtl_device_retain(NULL) == NULL);
}

TEST(devices, objects_keep_their_device_alive) {
  mtl_device *device = NULL;
  CHECK_OK(mtl_device_by_name(the_info()->name, &device));
  mtl_buffer *buffer = NULL;
  CHECK_OK(mtl_buffer_create(device, &(mtl_buffer_desc){.length_bytes = 64},
                             &buffer));
  mtl_device_release(device);
  CHECK_TEXT(mtl_device_get_info(mtl_buffer_device(buffer))->name,
             the_info()->name);
  mtl_buffer_release(buffer);
}

TEST(devices, version_is_the_headers) {
  CHECK_TEXT(mtl_version(), "0.2.0");
}

TEST(devices, status_names_are_never_null) {
  CHECK_TEXT(mtl_status_name(MTL_OK), "MTL_OK");
  CHECK_TEXT(mtl_status_name(MTL_KERNEL_FAULT), "MTL_KERNEL_FAULT");
  CHECK_TEXT(mtl_status_name(MTL_CANCELLED), "MTL_CANCELLED");
  CHECK(mtl_status_name((mtl_status)9999) != NULL);
}
