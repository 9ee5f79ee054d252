// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mps_multiplication.c: MPSMatrixMultiplication: products of matrices in
// buffers, by a kernel that is compiled for their types when it is first used.
//
// Source  Apple: MPSMatrixMultiplication's reference, for names and meanings
#include <pthread.h>

#include "objc/metal/metal.h"
#include "objc/metal/mps/mps_matrix.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MTLFunctionConstantValues;
extern struct objc_class OBJC_CLASS_$_MPSMatrix;

typedef struct multiplication {
  struct objc_object object;
  id device;  // +1
  id label;
  NSUInteger options;
  bool turns_left, turns_right;
  NSUInteger rows, columns, interior;
  double alpha, beta;
  MTLOrigin resultMatrixOrigin, leftMatrixOrigin, rightMatrixOrigin;
  NSUInteger batchStart, batchSize;
} multiplication;

// --- The kernel --------------------------------------------------------------

enum { TILE = 32, TILE_ROWS_A_THREAD = 4 };

// What the kernel's buffer 3 holds. Distances are in elements.
typedef struct product_sizes {
  uint32_t rows, columns, interior;
  uint32_t left_row, right_row, result_row;
  uint64_t left_matrix, right_matrix, result_matrix;
  float alpha, beta;
} product_sizes;

// A threadgroup makes 32 x 32 elements from tiles of both matrices that lie in
// its memory by [row][interior] and [interior][column], whichever way the
// matrices are stored.
static const char kernel_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant bool turns_left [[function_constant(0)]];\n"
    "constant bool turns_right [[function_constant(1)]];\n"
    "struct sizes {\n"
    "  uint rows, columns, interior;\n"
    "  uint left_row, right_row, result_row;\n"
    "  ulong left_matrix, right_matrix, result_matrix;\n"
    "  float alpha, beta;\n"
    "};\n"
    "kernel void multiply(device const left_type *left [[buffer(0)]],\n"
    "                     device const right_type *right [[buffer(1)]],\n"
    "                     device result_type *result [[buffer(2)]],\n"
    "                     constant sizes &s [[buffer(3)]],\n"
    "                     uint3 group [[threadgroup_position_in_grid]],\n"
    "                     uint3 t [[thread_position_in_threadgroup]]) {\n"
    "  threadgroup float a[32][33], b[32][33];\n"
    "  left += group.z * s.left_matrix;\n"
    "  right += group.z * s.right_matrix;\n"
    "  result += group.z * s.result_matrix;\n"
    "  const uint row = group.y * 32, column = group.x * 32;\n"
    "  float sums[4] = {0, 0, 0, 0};\n"
    "  for (uint k = 0; k < s.interior; k += 32) {\n"
    "    for (uint i = t.y; i < 32; i += 8) {\n"
    "      const uint2 l = turns_left ? uint2(k + i, row + t.x)\n"
    "                                 : uint2(row + i, k + t.x);\n"
    "      const bool in_left =\n"
    "          turns_left ? l.x < s.interior && l.y < s.rows\n"
    "                     : l.x < s.rows && l.y < s.interior;\n"
    "      const float x =\n"
    "          in_left ? float(left[(ulong)l.x * s.left_row + l.y]) : 0;\n"
    "      const uint2 r = turns_right ? uint2(column + i, k + t.x)\n"
    "                                  : uint2(k + i, column + t.x);\n"
    "      const bool in_right =\n"
    "          turns_right ? r.x < s.columns && r.y < s.interior\n"
    "                      : r.x < s.interior && r.y < s.columns;\n"
    "      const float y =\n"
    "          in_right ? float(right[(ulong)r.x * s.right_row + r.y]) : 0;\n"
    "      if (turns_left) a[t.x][i] = x; else a[i][t.x] = x;\n"
    "      if (turns_right) b[t.x][i] = y; else b[i][t.x] = y;\n"
    "    }\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    for (uint i = 0; i < 32; ++i) {\n"
    "      const float y = b[i][t.x];\n"
    "      for (uint j = 0; j < 4; ++j) sums[j] += a[t.y * 4 + j][i] * y;\n"
    "    }\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  }\n"
    "  for (uint j = 0; j < 4; ++j) {\n"
    "    const uint y = row + t.y * 4 + j, x = column + t.x;\n"
    "    if (y < s.rows && x < s.columns) {\n"
    "      device result_type &to = result[(ulong)y * s.result_row + x];\n"
    "      float value = s.alpha * sums[j];\n"
    "      if (s.beta != 0) value += s.beta * float(to);\n"
    "      to = result_type(value);\n"
    "    }\n"
    "  }\n"
    "}\n";

static const char *type_name(uint32_t type) {
  switch (type) {
    case MPS_FLOAT32: return "float";
    case MPS_FLOAT16: return "half";
    case MPS_BFLOAT16: return "bfloat";
    default:
      metal_assert(
          "MPSMatrixMultiplication: MPSDataType %#x is not among "
          "those that it multiplies: Float32, Float16 and BFloat16",
          type);
  }
}

// Makes a pipeline for types and turns; the caller owns it.
static id pipeline_create(const multiplication *of, id types) {
  const id source =
      string_make_printf("%s%s", string_utf8(types), kernel_source);
  id error = NULL;
  const id library =
      SEND(id(*)(id, SEL, id, id, id *), of->device,
           "newLibraryWithSource:options:error:", source, NULL, &error);
  const id values =
      SEND(id(*)(id, SEL), CLASS_OF(MTLFunctionConstantValues), "new");
  const bool turns[] = {of->turns_left, of->turns_right};
  const NSUInteger bool_type = 53;  // MTLDataTypeBool
  SEND(void (*)(id, SEL, const void *, NSUInteger, NSRange), values,
       "setConstantValues:type:withRange:", turns, bool_type, (NSRange){0, 2});
  const id function =
      SEND(id(*)(id, SEL, id, id, id *), library,
           "newFunctionWithName:constantValues:error:", string_make("multiply"),
           values, &error);
  const id pipeline =
      SEND(id(*)(id, SEL, id, id *), of->device,
           "newComputePipelineStateWithFunction:error:", function, &error);
  objc_release(function);
  objc_release(values);
  objc_release(library);
  if (!pipeline) {
    metal_assert(
        "MPSMatrixMultiplication: its kernel cannot be made: %s",
        string_utf8(SEND(id(*)(id, SEL), error, "localizedDescription")));
  }
  return pipeline;
}

// Returns the pipeline for the types of matrices, which all products share.
static id pipeline_for(const multiplication *of, const mps_matrix *left,
                       const mps_matrix *right, const mps_matrix *result) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static id known;
  const id types = string_make_printf(
      "typedef %s left_type;\ntypedef %s right_type;\n"
      "typedef %s result_type;\n",
      type_name(left->dataType), type_name(right->dataType),
      type_name(result->dataType));
  const id key =
      string_make_printf("%p %d %d %s", (void *)of->device, of->turns_left,
                         of->turns_right, string_utf8(types));
  pthread_mutex_lock(&lock);
  if (!known) {
    known = dictionary_create();
  }
  id pipeline = dictionary_get(known, key);
  if (!pipeline) {
    pipeline = pipeline_create(of, types);
    dictionary_set(known, key, pipeline);
    objc_release(pipeline);
  }
  pthread_mutex_unlock(&lock);
  return pipeline;
}

// --- MPSMatrixMultiplication -------------------------------------------------

VALUE_PROPERTY(multiplication, MTLOrigin, resultMatrixOrigin)
VALUE_PROPERTY(multiplication, MTLOrigin, leftMatrixOrigin)
VALUE_PROPERTY(multiplication, MTLOrigin, rightMatrixOrigin)
VALUE_PROPERTY(multiplication, NSUInteger, batchStart)
VALUE_PROPERTY(multiplication, NSUInteger, batchSize)
VALUE_PROPERTY(multiplication, NSUInteger, options)
READ_PROPERTY(multiplication, id, device)
COPY_PROPERTY(multiplication, label)

static id init_all(id self, SEL _cmd, id device, int turns_left,
                   int turns_right, NSUInteger rows, NSUInteger columns,
                   NSUInteger interior, double alpha, double beta) {
  (void)_cmd;
  multiplication *made = (multiplication *)self;
  made->device = objc_retain(device);
  made->turns_left = (turns_left & 0xff) != 0;
  made->turns_right = (turns_right & 0xff) != 0;
  made->rows = rows;
  made->columns = columns;
  made->interior = interior;
  made->alpha = alpha;
  made->beta = beta;
  made->batchSize = (NSUInteger)-1;
  return self;
}

static id init_plain(id self, SEL _cmd, id device, NSUInteger rows,
                     NSUInteger columns, NSUInteger interior) {
  return init_all(self, _cmd, device, 0, 0, rows, columns, interior, 1, 0);
}

static void multiplication_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((multiplication *)self)->device);
  objc_release(((multiplication *)self)->label);
  instance_dispose(self);
}

// Checks that rows x columns from origin on are in the matrix.
static void check_part(const char *which, const mps_matrix *matrix,
                       MTLOrigin origin, NSUInteger rows, NSUInteger columns) {
  if (!object_is((id)matrix, &OBJC_CLASS_$_MPSMatrix)) {
    metal_assert("MPSMatrixMultiplication: the %s matrix is no MPSMatrix",
                 which);
  }
  if (origin.x + rows > matrix->rows || origin.y + columns > matrix->columns) {
    metal_assert(
        "MPSMatrixMultiplication: %lu x %lu elements from row %lu and "
        "column %lu on are not in the %s matrix of %lu x %lu",
        rows, columns, origin.x, origin.y, which, matrix->rows,
        matrix->columns);
  }
}

// Binds the part of a matrix that begins at origin, and returns the elements
// between its rows.
static uint32_t bind(id encoder, const multiplication *of,
                     const mps_matrix *matrix, MTLOrigin origin,
                     NSUInteger index) {
  const NSUInteger bytes = mps_type_bytes(matrix->dataType);
  const NSUInteger offset = matrix->offset +
                            (origin.z + of->batchStart) * matrix->matrixBytes +
                            origin.x * matrix->rowBytes + origin.y * bytes;
  SEND(void (*)(id, SEL, id, NSUInteger, NSUInteger), encoder,
       "setBuffer:offset:atIndex:", matrix->data, offset, index);
  return (uint32_t)(matrix->rowBytes / bytes);
}

// Returns how many matrices there are from the first of the batch on.
static NSUInteger matrices_left(const multiplication *of,
                                const mps_matrix *matrix, MTLOrigin origin) {
  const NSUInteger first = origin.z + of->batchStart;
  return first < matrix->matrices ? matrix->matrices - first : 0;
}

static NSUInteger least(NSUInteger one, NSUInteger other) {
  return one < other ? one : other;
}

static void encode(id self, SEL _cmd, id commands, const mps_matrix *left,
                   const mps_matrix *right, const mps_matrix *result) {
  (void)_cmd;
  const multiplication *of = (multiplication *)self;
  const MTLOrigin at[] = {of->leftMatrixOrigin, of->rightMatrixOrigin,
                          of->resultMatrixOrigin};
  check_part("left", left, at[0], of->turns_left ? of->interior : of->rows,
             of->turns_left ? of->rows : of->interior);
  check_part("right", right, at[1],
             of->turns_right ? of->columns : of->interior,
             of->turns_right ? of->interior : of->columns);
  check_part("result", result, at[2], of->rows, of->columns);
  NSUInteger batch = least(of->batchSize, matrices_left(of, result, at[2]));
  batch = least(batch, matrices_left(of, left, at[0]));
  batch = least(batch, matrices_left(of, right, at[1]));
  if (!batch || !of->rows || !of->columns) {
    return;
  }
  const id encoder = SEND(id(*)(id, SEL), commands, "computeCommandEncoder");
  SEND(void (*)(id, SEL, id), encoder,
       "setComputePipelineState:", pipeline_for(of, left, right, result));
  const product_sizes sizes = {
      .rows = (uint32_t)of->rows,
      .columns = (uint32_t)of->columns,
      .interior = (uint32_t)of->interior,
      .left_row = bind(encoder, of, left, at[0], 0),
      .right_row = bind(encoder, of, right, at[1], 1),
      .result_row = bind(encoder, of, result, at[2], 2),
      .left_matrix = left->matrixBytes / mps_type_bytes(left->dataType),
      .right_matrix = right->matrixBytes / mps_type_bytes(right->dataType),
      .result_matrix = result->matrixBytes / mps_type_bytes(result->dataType),
      .alpha = (float)of->alpha,
      .beta = (float)of->beta};
  SEND(void (*)(id, SEL, const void *, NSUInteger, NSUInteger), encoder,
       "setBytes:length:atIndex:", &sizes, sizeof sizes, 3);
  SEND(void (*)(id, SEL, MTLSize, MTLSize), encoder,
       "dispatchThreadgroups:threadsPerThreadgroup:",
       (MTLSize){(of->columns + TILE - 1) / TILE, (of->rows + TILE - 1) / TILE,
                 batch},
       (MTLSize){TILE, TILE / TILE_ROWS_A_THREAD, 1});
  SEND(void (*)(id, SEL), encoder, "endEncoding");
}

METHODS(multiplication_methods,
        METHOD("initWithDevice:transposeLeft:transposeRight:resultRows:"
               "resultColumns:interiorColumns:alpha:beta:",
               "@72@0:8@16B24B28Q32Q40Q48d56d64", init_all),
        METHOD("initWithDevice:resultRows:resultColumns:interiorColumns:",
               "@48@0:8@16Q24Q32Q40", init_plain),
        METHOD("dealloc", "v16@0:8", multiplication_dealloc),
        METHOD("encodeToCommandBuffer:leftMatrix:rightMatrix:resultMatrix:",
               "v48@0:8@16@24@32@40", encode),
        VALUE_METHODS(multiplication, resultMatrixOrigin,
                      "setResultMatrixOrigin:", "{?=QQQ}"),
        VALUE_METHODS(multiplication, leftMatrixOrigin,
                      "setLeftMatrixOrigin:", "{?=QQQ}"),
        VALUE_METHODS(multiplication, rightMatrixOrigin,
                      "setRightMatrixOrigin:", "{?=QQQ}"),
        VALUE_METHODS(multiplication, batchStart, "setBatchStart:", "Q"),
        VALUE_METHODS(multiplication, batchSize, "setBatchSize:", "Q"),
        VALUE_METHODS(multiplication, options, "setOptions:", "Q"),
        METHOD("device", "@16@0:8", multiplication_get_device),
        OBJECT_METHODS(multiplication, label, "setLabel:"));
DEFINE_CLASS(MPSMatrixMultiplication, MPSKernel, sizeof(multiplication),
             multiplication_methods, NO_METHODS);

// What all kernels are.
METHODS(kernel_methods, METHOD_LIST_END);
DEFINE_CLASS(MPSKernel, NSObject, sizeof(struct objc_object), kernel_methods,
             NO_METHODS);

// True for our devices: what the headers declare runs on each.
OBJC_EXPORT int MPSSupportsMTLDevice(id device) {
  return object_is(device, &OBJC_CLASS_$_MettleDevice);
}
