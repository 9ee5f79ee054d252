// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// library.c: compiles source by Metal and describes functions and constants. A
// library's container keeps the source with its macros, so that it can be
// written to a file and compiled again.
#include <stdlib.h>
#include <string.h>

#include "base/memory/bytes.h"
#include "drivers/metal/metal.h"

// --- source ------------------------------------------------------------------

static mtl_status check_options(const mtl_compile_options *options) {
  const char *what = options->include_path_count ? "include paths"
                     : options->header_callback  ? "a header callback"
                                                 : NULL;
  return what ? mtli_fail(MTL_UNSUPPORTED,
                          "Metal's compiler takes one text and no %s", what)
              : MTL_OK;
}

static void add(mtli_bytes *text, const char *more) {
  mtli_bytes_append(text, more, strlen(more));
}

// Writes macros as lines before the source, since Metal's options take no
// macros with parameters. #line sets the file's name.
static bool write_source(mtli_bytes *text, const char *source,
                         size_t source_bytes,
                         const mtl_compile_options *options) {
  for (size_t i = 0; i < options->macro_count; i++) {
    const mtl_macro *macro = &options->macros[i];
    add(text, "#define ");
    add(text, macro->name);
    add(text, " ");
    add(text, macro->value ? macro->value : "1");
    add(text, "\n");
  }
  if (options->file_name) {
    add(text, "#line 1 \"");
    add(text, options->file_name);
    add(text, "\"\n");
  } else if (options->macro_count) {
    add(text, "#line 1\n");
  }
  mtli_bytes_append(text, source, source_bytes);
  return !text->failed;
}

// --- what is in a library ------------------------------------------------------

// MTLFunctionType.
enum { VERTEX = 1, FRAGMENT = 2, KERNEL = 3, VISIBLE = 5 };

static const char *stage_name(unsigned long type) {
  switch (type) {
    case VERTEX: return "vertex";
    case FRAGMENT: return "fragment";
    default: return "other";
  }
}

// Adds a constant unless one of its index is there; by rising index.
static mtl_status add_constant(mtli_code *code, mtli_arena *arena, id from) {
  const uint32_t index = (uint32_t)GET_NUMBER(from, index);
  size_t place = code->constant_count;
  while (place > 0 && code->constants[place - 1].info.index >= index) {
    if (code->constants[--place].info.index == index) {
      code->constants[place].info.required |= GET_BOOL(from, required);
      return MTL_OK;
    }
  }
  mtli_constant *constants = realloc(
      code->constants, (code->constant_count + 1) * sizeof *constants);
  const char *text = metal_text(GET_OBJECT(from, name));
  char *name = mtli_arena_copy_text(arena, text, strlen(text));
  if (constants) {
    code->constants = constants;
  }
  if (!constants || !name) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library");
  }
  memmove(constants + place + 1, constants + place,
          (code->constant_count - place) * sizeof *constants);
  code->constant_count++;
  uint32_t columns = 1;
  mtl_constant_info info = {
      .name = name, .index = index, .required = GET_BOOL(from, required)};
  metal_data_type_read(GET_NUMBER(from, type), &info.type, &info.components,
                       &columns);
  constants[place] = (mtli_constant){.info = info, .symbol = ""};
  return MTL_OK;
}

static mtl_status add_constants(mtli_code *code, mtli_arena *arena,
                                id function) {
  const id all = GET_OBJECT(GET_OBJECT(function, functionConstants), allValues);
  const unsigned long count = all ? GET_NUMBER(all, count) : 0;
  for (unsigned long i = 0; i < count; i++) {
    MTL_TRY(add_constant(
        code, arena,
        SEND(id(*)(id, SEL, unsigned long), all, objectAtIndex, i)));
  }
  return MTL_OK;
}

// Adds a function by its name: one that runs here, or a line of the others.
static mtl_status add_function(mtli_code *code, mtli_arena *arena,
                               mtli_bytes *others, id library, id name) {
  const id function =
      SEND(id(*)(id, SEL, id), library, newFunction, name);
  if (!function) {
    return MTL_OK;  // Metal reports it again to callers that ask
  }
  const unsigned long type = GET_NUMBER(function, functionType);
  mtl_status status = add_constants(code, arena, function);
  if (type == KERNEL || type == VISIBLE) {
    const char *text = metal_text(name);
    mtli_kernel *kernel = &code->kernels[code->kernel_count++];
    *kernel =
        (mtli_kernel){.name = mtli_arena_copy_text(arena, text, strlen(text)),
                      .is_visible = type == VISIBLE,
                      .symbol = "",
                      .file = ""};
    if (!kernel->name) {
      status = mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library");
    }
  } else {
    add(others, stage_name(type));
    add(others, " ");
    add(others, metal_text(name));
    add(others, "\n");
  }
  metal_release(function);
  return status;
}

static mtl_status list_functions(mtli_code *code, mtli_arena *arena,
                                 mtli_bytes *others, id library) {
  const id functions = GET_OBJECT(library, functionNames);
  const unsigned long count = functions ? GET_NUMBER(functions, count) : 0;
  code->kernels = calloc(count + 1, sizeof *code->kernels);
  if (!code->kernels) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library");
  }
  for (unsigned long i = 0; i < count; i++) {
    MTL_TRY(add_function(
        code, arena, others, library,
        SEND(id(*)(id, SEL, unsigned long), functions, objectAtIndex, i)));
  }
  return MTL_OK;
}

// Writes the container: code's functions and constants, and the source.
static mtl_status write_container(mtli_code *code, const mtli_bytes *source,
                                  mtli_compiled *compiled) {
  mtli_blob blob = {.kind = MTLI_BLOB_SOURCE,
                    .target = "",
                    .bytes = source->data,
                    .size_bytes = source->size};
  code->blobs = &blob;
  code->blob_count = 1;
  MTL_TRY(mtli_code_write(code, &compiled->bytes, &compiled->size_bytes));
  return mtli_code_read(compiled->bytes, compiled->size_bytes,
                        &compiled->arena, &compiled->code);
}

static mtl_status describe(id object, const mtli_bytes *source,
                           const mtl_compile_options *options,
                           const char *warnings, mtli_compiled *compiled) {
  mtli_arena arena = {0};
  mtli_bytes others = {0};
  mtli_code code = {.language_version = options->language_version
                                            ? options->language_version
                                            : MTL_LANGUAGE_3_2,
                    .math_mode = options->math_mode,
                    .debug = options->debug,
                    .warnings = warnings};
  mtl_status status = list_functions(&code, &arena, &others, object);
  mtli_bytes_append(&others, "", 1);
  code.other_functions = others.failed ? "" : (const char *)others.data;
  if (status == MTL_OK) {
    status = write_container(&code, source, compiled);
  }
  free(code.kernels);
  free(code.constants);
  mtli_bytes_clear(&others);
  mtli_arena_clear(&arena);
  return status;
}

// --- compiling -----------------------------------------------------------------

// MTLLanguageVersion: major << 16 | minor.
static unsigned long language_number(mtl_language_version version) {
  return (unsigned long)version / 100 << 16 |
         (unsigned long)version % 100 / 10;
}

static id compile_options(mtl_language_version version, mtl_math_mode mode,
                          bool logs) {
  static const unsigned long modes[] = {  // MTLMathMode
      [MTL_MATH_FAST] = 2, [MTL_MATH_RELAXED] = 1, [MTL_MATH_SAFE] = 0};
  const id options = metal_new("MTLCompileOptions");
  if (RESPONDS(options, setMathMode)) {
    SET_NUMBER(options, setMathMode, modes[mode]);
  } else {
    SET_NUMBER(options, setFastMathEnabled, mode != MTL_MATH_SAFE);
  }
  if (logs && RESPONDS(options, setEnableLogging)) {
    SET_NUMBER(options, setEnableLogging, 1);
  }
  if (version) {
    SET_NUMBER(options, setLanguageVersion, language_number(version));
  }
  return options;
}

// Compiles a text by Metal; *out_error may be set on success, too: warnings.
static mtl_status compile(const mtl_device *device, const mtli_bytes *source,
                          mtl_language_version version, mtl_math_mode mode,
                          id *out_object, id *out_error) {
  *out_error = NULL;
  const id text = metal_string((const char *)source->data, source->size);
  if (!text) {
    return mtli_fail(MTL_COMPILE_FAILED, "the source is not UTF-8");
  }
  const id options = compile_options(
      version, mode, strstr(metal_text(text), "os_log") != NULL);
  *out_object =
      SEND(id(*)(id, SEL, id, id, id *), metal_device_of(device)->object,
           newLibrary, text, options, out_error);
  metal_release(options);
  metal_release(text);
  return *out_object ? MTL_OK : metal_fail(*out_error, "newLibraryWithSource");
}

static mtl_status compile_and_describe(metal_library *library,
                                       const mtli_bytes *source,
                                       const mtl_compile_options *options) {
  id error = NULL;
  MTL_TRY(compile(library->library.device, source, options->language_version,
                  options->math_mode, &library->object, &error));
  const char *warnings =
      error ? metal_text(GET_OBJECT(error, localizedDescription)) : "";
  const mtl_status status = describe(library->object, source, options, warnings,
                                     &library->library.compiled);
  if (status != MTL_OK) {
    metal_release(library->object);
  }
  return status;
}

mtl_status metal_library_compile(mtl_library *library, const char *source,
                                 size_t source_bytes,
                                 const mtl_compile_options *options) {
  MTL_TRY(check_options(options));
  mtli_bytes text = {0};
  void *pool = metal.pool_push();
  const mtl_status status =
      write_source(&text, source, source_bytes, options)
          ? compile_and_describe((metal_library *)library, &text, options)
          : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a source");
  metal.pool_pop(pool);
  mtli_bytes_clear(&text);
  return status;
}

mtl_status metal_library_load(mtl_library *library) {
  const mtli_code *code = library->compiled.code;
  const mtli_blob *blob = mtli_code_find_blob(code, MTLI_BLOB_SOURCE);
  if (!blob) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "the library has no source in it, which device '%s' "
                     "compiles itself",
                     library->device->info.name);
  }
  const mtli_bytes source = {.data = (void *)(uintptr_t)blob->bytes,
                             .size = blob->size_bytes};
  id error = NULL;
  void *pool = metal.pool_push();
  const mtl_status status =
      compile(library->device, &source, code->language_version, code->math_mode,
              &((metal_library *)library)->object, &error);
  metal.pool_pop(pool);
  return status;
}

void metal_library_destroy(mtl_library *library) {
  metal_give_back(library->device, ((metal_library *)library)->object);
}
