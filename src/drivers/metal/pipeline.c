// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline.c: creates MTLFunctions, pipeline states and function tables.
//
// Metal describes a function's arguments only with a pipeline. So one is made
// when the function is created, and its state is kept for clients that ask for
// no special options.
#include <stdlib.h>
#include <string.h>

#include "drivers/metal/metal.h"

// --- functions -----------------------------------------------------------------

// Returns MTLFunctionConstantValues of the set constants; nil if the library
// has none.
static id constant_values(const mtl_function *function) {
  const mtli_code *code = function->library->compiled.code;
  const id values =
      code->constant_count ? metal_new("MTLFunctionConstantValues") : NULL;
  for (size_t i = 0; i < code->constant_count; i++) {
    const mtl_constant_info *info = &code->constants[i].info;
    if (!function->values[i].is_set) {
      continue;
    }
    SEND(void (*)(id, SEL, const void *, unsigned long, unsigned long), values,
         setConstantValue, function->values[i].bytes,
         metal_data_type(info->type, info->components),
         (unsigned long)info->index);
  }
  return values;
}

static mtl_status make_function(metal_function *made) {
  const mtl_function *function = &made->function;
  const metal_library *library = (const metal_library *)function->library;
  const id name =
      metal_string(function->kernel->name, strlen(function->kernel->name));
  const id values = constant_values(function);
  id error = NULL;
  made->object =
      values ? SEND(id(*)(id, SEL, id, id, id *), library->object,
                    newFunctionWithValues, name, values, &error)
             : SEND(id(*)(id, SEL, id), library->object, newFunction, name);
  metal_release(values);
  metal_release(name);
  return made->object ? MTL_OK : metal_fail(error, "newFunctionWithName");
}

static id descriptor_of(id function) {
  const id descriptor = metal_new("MTLComputePipelineDescriptor");
  SET_OBJECT(descriptor, setComputeFunction, function);
  return descriptor;
}

static mtl_status take_arguments(mtl_function *function,
                                 const mtli_kernel *kernel) {
  function->arguments =
      calloc(kernel->parameter_count + 1, sizeof *function->arguments);
  if (!function->arguments) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for arguments");
  }
  function->argument_count = kernel->parameter_count;
  for (size_t i = 0; i < kernel->parameter_count; i++) {
    function->arguments[i] = kernel->parameters[i].argument;
  }
  return MTL_OK;
}

static mtl_status describe(metal_function *made) {
  mtl_function *function = &made->function;
  MTL_TRY(make_function(made));
  mtli_kernel *kernel = &made->reflected.kernel;
  if (!function->kernel->is_visible) {
    const id descriptor = descriptor_of(made->object);
    // Metal cannot reflect a function that calls linked functions without them.
    // That is no error here: creating its pipeline reports it.
    (void)metal_reflect(metal_device_of(function->library->device), descriptor,
                        &made->reflected);
    metal_release(descriptor);
  }
  kernel->name = function->kernel->name;
  kernel->symbol = kernel->file = "";
  kernel->is_visible = function->kernel->is_visible;
  function->kernel = kernel;
  return take_arguments(function, kernel);
}

mtl_status metal_function_describe(mtl_function *function) {
  void *pool = metal.pool_push();
  const mtl_status status = describe((metal_function *)function);
  if (status != MTL_OK) {
    metal_function_destroy(function);
  }
  metal.pool_pop(pool);
  return status;
}

void metal_function_destroy(mtl_function *function) {
  metal_function *made = (metal_function *)function;
  const mtl_device *device = function->library->device;
  metal_reflected_clear(device, &made->reflected);
  metal_give_back(device, made->object);
}

// --- pipelines -----------------------------------------------------------------

// Returns an NSArray of MTLFunctions, autoreleased; nil if there is no memory.
static id functions_array(mtl_function *const *functions, size_t count) {
  id *objects = calloc(count + 1, sizeof *objects);
  for (size_t i = 0; objects && i < count; i++) {
    objects[i] = ((metal_function *)functions[i])->object;
  }
  const id array = objects ? metal_array(objects, count) : NULL;
  free(objects);
  return array;
}

static void link_functions(id descriptor, const mtli_linked_functions *linked) {
  const id object = metal_new("MTLLinkedFunctions");
  SET_OBJECT(object, setFunctions,
             functions_array(linked->functions, linked->table_count));
  SET_OBJECT(object, setPrivateFunctions,
             functions_array(linked->functions + linked->table_count,
                             linked->count - linked->table_count));
  SET_OBJECT(descriptor, setLinkedFunctions, object);
  SET_NUMBER(descriptor, setMaxCallStackDepth, linked->call_depth);
  metal_release(object);
}

static mtl_status reflect_as_wanted(metal_pipeline *made,
                                    const metal_function *function,
                                    const mtl_pipeline_desc *desc) {
  const mtli_linked_functions *linked = mtli_pipeline_linked(&made->pipeline);
  const id descriptor = descriptor_of(function->object);
  metal_label(descriptor, desc->label);
  if (desc->max_total_threads_per_threadgroup) {
    SET_NUMBER(descriptor, setMaxTotalThreads,
               desc->max_total_threads_per_threadgroup);
  }
  if (linked->count || linked->call_depth > 1) {
    link_functions(descriptor, linked);
  }
  const mtl_status status = metal_reflect(metal_device_of(made->pipeline.device),
                                          descriptor, &made->reflected);
  metal_release(descriptor);
  return status;
}

// True if the state that function was described with will do.
static bool is_plain(const metal_pipeline *made, const metal_function *function,
                     const mtl_pipeline_desc *desc) {
  return function->reflected.state && !desc->label &&
         !desc->max_total_threads_per_threadgroup &&
         mtli_pipeline_linked(&made->pipeline)->count == 0;
}

static mtl_status check_options(const mtl_pipeline_desc *desc) {
  return desc->dump_after
             ? mtli_fail(MTL_UNSUPPORTED,
                         "dump_after: Metal's compiler shows no passes")
             : MTL_OK;
}

static mtl_status create(metal_pipeline *made, const metal_function *function,
                         const mtl_pipeline_desc *desc) {
  mtl_pipeline *pipeline = &made->pipeline;
  metal_reflected *reflected = &made->reflected;
  MTL_TRY(check_options(desc));
  if (is_plain(made, function, desc)) {
    reflected->state = metal_retain(function->reflected.state);
    pipeline->kernel = function->function.kernel;
  } else {
    MTL_TRY(reflect_as_wanted(made, function, desc));
    reflected->kernel.name = function->function.kernel->name;
    reflected->kernel.symbol = reflected->kernel.file = "";
    pipeline->kernel = &reflected->kernel;
  }
  MTL_TRY(mtli_pipeline_limit_threads(pipeline, desc));
  const unsigned long most = GET_NUMBER(reflected->state, maxTotalThreads);
  if (most < pipeline->max_threads) {
    pipeline->max_threads = (uint32_t)most;
  }
  return MTL_OK;
}

mtl_status metal_pipeline_create(mtl_pipeline *pipeline,
                                 const mtl_function *function,
                                 const mtl_pipeline_desc *desc) {
  void *pool = metal.pool_push();
  const mtl_status status = create((metal_pipeline *)pipeline,
                                   (const metal_function *)function, desc);
  if (status != MTL_OK) {
    metal_pipeline_destroy(pipeline);
  }
  metal.pool_pop(pool);
  return status;
}

void metal_pipeline_destroy(mtl_pipeline *pipeline) {
  metal_reflected_clear(pipeline->device,
                        &((metal_pipeline *)pipeline)->reflected);
}

// --- function tables -----------------------------------------------------------

static mtl_status create_table(metal_function_table *made) {
  const metal_pipeline *pipeline = (metal_pipeline *)made->table.pipeline;
  const id descriptor = metal_new("MTLVisibleFunctionTableDescriptor");
  SET_NUMBER(descriptor, setFunctionCount, made->table.count);
  made->object = SEND(id(*)(id, SEL, id), pipeline->reflected.state, newTable,
                      descriptor);
  metal_release(descriptor);
  if (!made->object) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "Metal has no table of %u functions",
                     made->table.count);
  }
  made->table.resource_id =
      SEND(uint64_t(*)(id, SEL), made->object, gpuResourceID);
  made->handle = (metal_handle){.resource_id = made->table.resource_id,
                                .object = made->object};
  metal_handle_add(metal_device_of(pipeline->pipeline.device), &made->handle);
  return MTL_OK;
}

mtl_status metal_function_table_create(mtl_function_table *table) {
  void *pool = metal.pool_push();
  const mtl_status status = create_table((metal_function_table *)table);
  metal.pool_pop(pool);
  return status;
}

void metal_function_table_destroy(mtl_function_table *table) {
  metal_function_table *made = (metal_function_table *)table;
  mtl_device *device = table->pipeline->device;
  metal_handle_remove(metal_device_of(device), &made->handle);
  metal_give_back(device, made->object);
}

void metal_function_table_set(mtl_function_table *table, uint32_t index,
                              uint64_t number) {
  const mtli_linked_functions *linked = mtli_pipeline_linked(table->pipeline);
  const metal_pipeline *pipeline = (metal_pipeline *)table->pipeline;
  void *pool = metal.pool_push();
  const id handle =
      number ? SEND(id(*)(id, SEL, id), pipeline->reflected.state,
                    functionHandle,
                    ((metal_function *)linked->functions[number - 1])->object)
             : NULL;
  SEND(void (*)(id, SEL, id, unsigned long),
       ((metal_function_table *)table)->object, setFunction, handle,
       (unsigned long)index);
  metal.pool_pop(pool);
}
