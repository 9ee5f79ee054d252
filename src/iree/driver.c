// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// driver.c: finds Mettle's devices for IREE: the driver and its factory.
#include <stdlib.h>
#include <string.h>

#include "mettle_hal.h"

typedef struct mettle_driver {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
} mettle_driver;

static const iree_hal_driver_vtable_t driver_vtable;

static void driver_destroy(iree_hal_driver_t *base) {
  mettle_driver *driver = (mettle_driver *)base;
  iree_allocator_free(driver->host_allocator, driver);
}

// Returns device number index of those listed for work. Ids count from 1, since
// 0 is IREE's default.
static iree_status_t device_at(size_t index, mtl_device **out_device) {
  mtl_device *devices[16] = {NULL};
  size_t count = 0;
  *out_device = NULL;
  IREE_RETURN_IF_ERROR(
      mettle_status(mtl_device_list(devices, 16, &count), "mtl_device_list"));
  for (size_t i = 0; i < count && i < 16; i++) {
    if (i == index) {
      *out_device = devices[i];
    } else {
      mtl_device_release(devices[i]);
    }
  }
  if (!*out_device) {
    return iree_make_status(IREE_STATUS_NOT_FOUND,
                            "no Mettle device %zu: there are %zu", index,
                            count);
  }
  return iree_ok_status();
}

static iree_status_t query_available_devices(
    iree_hal_driver_t *base, iree_allocator_t host_allocator,
    iree_host_size_t *out_count, iree_hal_device_info_t **out_infos) {
  (void)base;
  mtl_device *devices[16] = {NULL};
  size_t count = 0;
  IREE_RETURN_IF_ERROR(
      mettle_status(mtl_device_list(devices, 16, &count), "mtl_device_list"));
  count = count < 16 ? count : 16;
  iree_host_size_t bytes = count * sizeof(iree_hal_device_info_t);
  for (size_t i = 0; i < count; i++) {
    bytes += strlen(mtl_device_get_info(devices[i])->name);
  }
  iree_status_t status =
      iree_allocator_malloc(host_allocator, bytes, (void **)out_infos);
  char *text = (char *)(*out_infos + count);
  for (size_t i = 0; i < count; i++) {
    if (iree_status_is_ok(status)) {
      const char *name = mtl_device_get_info(devices[i])->name;
      const iree_string_view_t view = iree_make_string_view(text, strlen(name));
      memcpy(text, name, view.size);
      (*out_infos)[i] = (iree_hal_device_info_t){
          .device_id = i + 1, .path = view, .name = view};
      text += view.size;
    }
    mtl_device_release(devices[i]);
  }
  *out_count = count;
  return status;
}

static iree_status_t open_default(mtl_device **out_device) {
  return mettle_status(mtl_device_default(out_device), "mtl_device_default");
}

static iree_status_t dump_device_info(iree_hal_driver_t *base,
                                      iree_hal_device_id_t id,
                                      iree_string_builder_t *builder) {
  (void)base;
  mtl_device *device = NULL;
  IREE_RETURN_IF_ERROR(id == IREE_HAL_DEVICE_ID_DEFAULT
                           ? open_default(&device)
                           : device_at((size_t)id - 1, &device));
  const mtl_device_info *info = mtl_device_get_info(device);
  iree_status_t status = iree_string_builder_append_format(
      builder,
      "\n- name: %s\n- architecture: %s\n- compute units: %u\n"
      "- threads of a threadgroup: %u\n- threadgroup memory: %" PRIu64
      " bytes\n- memory: %s\n- largest buffer: %" PRIu64 " bytes\n",
      info->name, info->architecture, info->compute_units,
      info->max_threads_per_threadgroup, info->max_threadgroup_memory_bytes,
      info->has_unified_memory ? "the host's" : "its own",
      info->max_buffer_bytes);
  mtl_device_release(device);
  return status;
}

static iree_status_t parse_count(iree_string_pair_t pair, uint64_t *out_value) {
  if (!iree_string_view_atoi_uint64(pair.value, out_value)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "device parameter %.*s=%.*s is no number",
                            (int)pair.key.size, pair.key.data,
                            (int)pair.value.size, pair.value.data);
  }
  return iree_ok_status();
}

static iree_status_t parse_math(iree_string_view_t value,
                                mtl_math_mode *out_mode) {
  static const char *const names[] = {"fast", "relaxed", "safe"};
  for (int i = 0; i < 3; i++) {
    if (iree_string_view_equal(value, iree_make_cstring_view(names[i]))) {
      *out_mode = (mtl_math_mode)i;
      return iree_ok_status();
    }
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "device parameter math=%.*s: fast, relaxed or safe",
                          (int)value.size, value.data);
}

// mettle://cpu?queues=4&slab_mb=16&math=safe
static iree_status_t parse_params(iree_host_size_t count,
                                  const iree_string_pair_t *params,
                                  mettle_hal_device_options *options) {
  mettle_hal_device_options_initialize(options);
  for (iree_host_size_t i = 0; i < count; i++) {
    uint64_t value = 0;
    if (iree_string_view_equal(params[i].key, IREE_SV("queues"))) {
      IREE_RETURN_IF_ERROR(parse_count(params[i], &value));
      options->queue_count = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    } else if (iree_string_view_equal(params[i].key, IREE_SV("slab_mb"))) {
      IREE_RETURN_IF_ERROR(parse_count(params[i], &value));
      if (value < 1 || value > 65536) {
        return iree_make_status(
            IREE_STATUS_OUT_OF_RANGE,
            "device parameter slab_mb=%" PRIu64 ": 1 to 65536", value);
      }
      options->slab_bytes = value * 1024 * 1024;
    } else if (iree_string_view_equal(params[i].key, IREE_SV("math"))) {
      IREE_RETURN_IF_ERROR(parse_math(params[i].value, &options->math_mode));
    } else {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "no device parameter '%.*s': there are queues, "
                              "slab_mb and math",
                              (int)params[i].key.size, params[i].key.data);
    }
  }
  return iree_ok_status();
}

// Makes IREE's device of device, and takes that.
static iree_status_t create_device(
    mtl_device *device, iree_host_size_t param_count,
    const iree_string_pair_t *params,
    const iree_hal_device_create_params_t *create_params,
    iree_allocator_t host_allocator, iree_hal_device_t **out_device) {
  mettle_hal_device_options options;
  iree_status_t status = parse_params(param_count, params, &options);
  if (iree_status_is_ok(status)) {
    status = mettle_hal_device_create(device, &options, create_params,
                                      host_allocator, out_device);
  }
  mtl_device_release(device);
  return status;
}

static iree_status_t create_device_by_id(
    iree_hal_driver_t *base, iree_hal_device_id_t id,
    iree_host_size_t param_count, const iree_string_pair_t *params,
    const iree_hal_device_create_params_t *create_params,
    iree_allocator_t host_allocator, iree_hal_device_t **out_device) {
  (void)base;
  mtl_device *device = NULL;
  IREE_RETURN_IF_ERROR(id == IREE_HAL_DEVICE_ID_DEFAULT
                           ? open_default(&device)
                           : device_at((size_t)id - 1, &device));
  return create_device(device, param_count, params, create_params,
                       host_allocator, out_device);
}

static iree_status_t open_path(iree_string_view_t path,
                               mtl_device **out_device) {
  uint64_t index = 0;
  if (iree_string_view_is_empty(path)) {
    return open_default(out_device);
  }
  if (iree_string_view_atoi_uint64(path, &index)) {
    return device_at((size_t)index, out_device);
  }
  char name[64];
  if (path.size >= sizeof name) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "no device '%.*s'",
                            (int)path.size, path.data);
  }
  memcpy(name, path.data, path.size);
  name[path.size] = '\0';
  return mettle_status(mtl_device_by_name(name, out_device),
                       "mtl_device_by_name");
}

static iree_status_t create_device_by_path(
    iree_hal_driver_t *base, iree_string_view_t driver_name,
    iree_string_view_t path, iree_host_size_t param_count,
    const iree_string_pair_t *params,
    const iree_hal_device_create_params_t *create_params,
    iree_allocator_t host_allocator, iree_hal_device_t **out_device) {
  (void)base;
  (void)driver_name;
  mtl_device *device = NULL;
  IREE_RETURN_IF_ERROR(open_path(path, &device));
  return create_device(device, param_count, params, create_params,
                       host_allocator, out_device);
}

static const iree_hal_driver_vtable_t driver_vtable = {
    .destroy = driver_destroy,
    .query_available_devices = query_available_devices,
    .dump_device_info = dump_device_info,
    .create_device_by_id = create_device_by_id,
    .create_device_by_path = create_device_by_path,
};

static iree_status_t factory_enumerate(
    void *self, iree_host_size_t *out_count,
    const iree_hal_driver_info_t **out_infos) {
  (void)self;
  static const iree_hal_driver_info_t infos[1] = {
      {.driver_name = IREE_SVL(METTLE_HAL_DRIVER_NAME),
       .full_name = IREE_SVL("Metal on every machine (Mettle)")}};
  *out_count = 1;
  *out_infos = infos;
  return iree_ok_status();
}

static iree_status_t factory_try_create(void *self, iree_string_view_t name,
                                        iree_allocator_t host_allocator,
                                        iree_hal_driver_t **out_driver) {
  (void)self;
  if (!iree_string_view_equal(name, IREE_SV(METTLE_HAL_DRIVER_NAME))) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "no driver '%.*s' here",
                            (int)name.size, name.data);
  }
  mettle_driver *driver = NULL;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof *driver, (void **)&driver));
  iree_hal_resource_initialize(&driver_vtable, &driver->resource);
  driver->host_allocator = host_allocator;
  *out_driver = (iree_hal_driver_t *)driver;
  return iree_ok_status();
}

iree_status_t mettle_hal_driver_module_register(
    iree_hal_driver_registry_t *registry) {
  static const iree_hal_driver_factory_t factory = {
      .enumerate = factory_enumerate, .try_create = factory_try_create};
  return iree_hal_driver_registry_register_factory(registry, &factory);
}
