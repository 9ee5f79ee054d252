// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sources.c: invalid source texts of every kind, and their errors.
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The compiler works on after every one of these.
static void check_compiler_works(void) {
  mtl_buffer *out = new_buffer(40);
  RUN(new_pipeline(simple_kernels, "store_index"), size_of(10, 1, 1),
      size_of(10, 1, 1), out);
  CHECK_EQUAL(words(out)[9], 9);
}

static mtl_status compile(const char *source, size_t length) {
  mtl_library *library = (mtl_library *)1;
  const mtl_status status = mtl_library_create_from_source(
      the_device(), source, length, NULL, &library);
  if (status != MTL_OK) {
    CHECK(library == NULL);
    CHECK(mtl_last_error()[0] != '\0');
  } else {
    mtl_library_release(library);
  }
  return status;
}

TEST(sources, that_do_not_parse) {
  CHECK_CONTAINS(compile_error("kernel void k( {\n"), "program_source:1:");
  CHECK_CONTAINS(compile_error("kernel void k() {\n"), "expected '}'");
  compile_error("}}}}");
  compile_error("kernel void k() { int a[; }\n");
  check_compiler_works();
}

TEST(sources, that_do_not_type) {
  CHECK_CONTAINS(compile_error("kernel void k(device float *p) {\n"
                               "  device float4 *q = p;\n"
                               "}\n"),
                 "program_source:2:");
  compile_error("kernel void k(device float *p) { threadgroup float *q = p; }");
  compile_error("struct A {}; kernel void k(device int *p) { p[0] = A(); }");
}

TEST(sources, that_write_constant_memory) {
  CHECK_CONTAINS(
      compile_error("kernel void k(constant int *p) { p[0] = 1; }\n"),
      "program_source:1:");
}

TEST(sources, whose_kernels_are_wrong) {
  compile_error("kernel int k(device int *p) { return p[0]; }\n");
  compile_error("kernel void k(device int *p [[buffer(31)]]) { p[0] = 1; }\n");
  compile_error(
      "kernel void k(device int *p [[buffer(1)]],\n"
      "              device int *q [[buffer(1)]]) { p[0] = q[0]; }\n");
  compile_error(
      "kernel void k(device int *p [[buffer(0)]],\n"
      "              float i [[thread_position_in_grid]]) { p[0] = i; }\n");
}

TEST(sources, that_recurse_templates_without_end) {
  const char *source =
      "template <int N> struct Deep { static int f() {\n"
      "  return Deep<N + 1>::f() + 1; } };\n"
      "kernel void k(device int *p) { p[0] = Deep<0>::f(); }\n";
  const mtl_status status = compile(source, strlen(source));
  CHECK(status == MTL_COMPILE_FAILED || status == MTL_COMPILER_LOST);
  check_compiler_works();
}

static bool itself(void *context, const char *name, const char **out_text,
                   size_t *out_length) {
  (void)name;
  *out_text = context;
  *out_length = strlen(context);
  return true;
}

TEST(sources, that_include_themselves) {
  const char *source = "#include \"self.h\"\n";
  mtl_library *library = (mtl_library *)1;
  CHECK_ERROR(mtl_library_create_from_source(
                  the_device(), source, strlen(source),
                  &(mtl_compile_options){.header_callback = itself,
                                         .header_context = (void *)source},
                  &library),
              MTL_COMPILE_FAILED, "self.h");
  CHECK(library == NULL);
  check_compiler_works();
}

TEST(sources, that_are_random_bytes) {
  uint32_t state = 12345;
  char bytes[4096];
  for (int round = 0; round < 20; round++) {
    for (size_t i = 0; i < sizeof bytes; i++) {
      state = state * 1664525 + 1013904223;
      bytes[i] = (char)(state >> 24);
    }
    const mtl_status status = compile(bytes, sizeof bytes);
    CHECK(status == MTL_COMPILE_FAILED || status == MTL_COMPILER_LOST);
  }
  check_compiler_works();
}

TEST(sources, with_zero_bytes_inside) {
  static const char source[] =
      "kernel void k(device int *p) { p[0] = 1; }\0\0garbage(";
  const mtl_status status = compile(source, sizeof source - 1);
  CHECK(status == MTL_COMPILE_FAILED || status == MTL_OK);
  check_compiler_works();
}

TEST(sources, of_50_megabytes) {
  const size_t length = 50 << 20;
  char *source = malloc(length);
  CHECK(source != NULL);
  static const char line[] = "// a comment that says nothing at all\n";
  for (size_t i = 0; i < length; i++) {
    source[i] = line[i % (sizeof line - 1)];
  }
  static const char kernel[] =
      "\nkernel void k(device int *p [[buffer(0)]]) { p[0] = 1; }\n";
  memcpy(source + length - (sizeof kernel - 1), kernel, sizeof kernel - 1);
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_source(the_device(), source, length, NULL,
                                          &library));
  CHECK_EQUAL(mtl_library_function_count(library), 1);
  mtl_library_release(library);
  free(source);
}

TEST(sources, nested_very_deeply) {
  enum { DEPTH = 200000 };
  char *source = malloc(DEPTH * 2 + 128);
  CHECK(source != NULL);
  size_t length = (size_t)sprintf(source,
                                  "kernel void k(device int *p) {\n"
                                  "  p[0] = ");
  memset(source + length, '(', DEPTH);
  length += DEPTH;
  source[length++] = '1';
  memset(source + length, ')', DEPTH);
  length += DEPTH;
  length += (size_t)sprintf(source + length, ";\n}\n");
  const mtl_status status = compile(source, length);
  CHECK(status == MTL_COMPILE_FAILED || status == MTL_COMPILER_LOST);
  free(source);
  check_compiler_works();
}

TEST(sources, with_a_recursive_function_that_waits) {
  const char *source =
      "#include <metal_stdlib>\n"
      "uint fibonacci(uint n) {\n"
      "  metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);\n"
      "  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);\n"
      "}\n"
      "kernel void k(device uint *p [[buffer(0)]]) {\n"
      "  p[0] = fibonacci(p[0]);\n"
      "}\n";
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_source(the_device(), source, strlen(source),
                                          NULL, &library));
  release_library_later(library);
  mtl_pipeline *pipeline = NULL;
  CHECK_EQUAL(
      mtl_pipeline_create(new_function(library, "k"), NULL, &pipeline),
      MTL_UNSUPPORTED);
  CHECK_CONTAINS(mtl_last_error(), "fibonacci");
}
