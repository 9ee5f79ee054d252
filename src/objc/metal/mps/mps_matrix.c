// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mps_matrix.c: MPSMatrixDescriptor and MPSMatrix: rows and columns of a
// buffer, one matrix or several behind each other.
#include "objc/metal/mps/mps_matrix.h"

#include "objc/metal/metal.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MPSMatrixDescriptor;

typedef struct matrix_descriptor {
  struct objc_object object;
  NSUInteger rows, columns, matrices;
  NSUInteger rowBytes, matrixBytes;
  uint32_t dataType;
} matrix_descriptor;

// --- MPSMatrixDescriptor -----------------------------------------------------

VALUE_PROPERTY(matrix_descriptor, NSUInteger, rows)
VALUE_PROPERTY(matrix_descriptor, NSUInteger, columns)
READ_PROPERTY(matrix_descriptor, NSUInteger, matrices)
VALUE_PROPERTY(matrix_descriptor, NSUInteger, rowBytes)
READ_PROPERTY(matrix_descriptor, NSUInteger, matrixBytes)
VALUE_PROPERTY(matrix_descriptor, uint32_t, dataType)
VALUES_ALONE(matrix_descriptor)

static id descriptor_with_matrices(Class self, SEL _cmd, NSUInteger rows,
                                   NSUInteger columns, NSUInteger matrices,
                                   NSUInteger row_bytes,
                                   NSUInteger matrix_bytes, uint32_t type) {
  (void)_cmd;
  matrix_descriptor *made = (matrix_descriptor *)instance_create(self, 0);
  made->rows = rows;
  made->columns = columns;
  made->matrices = matrices;
  made->rowBytes = row_bytes;
  made->matrixBytes = matrix_bytes;
  made->dataType = type;
  return objc_autorelease(&made->object);
}

static id descriptor_with(Class self, SEL _cmd, NSUInteger rows,
                          NSUInteger columns, NSUInteger row_bytes,
                          uint32_t type) {
  return descriptor_with_matrices(self, _cmd, rows, columns, 1, row_bytes,
                                  rows * row_bytes, type);
}

// Returns the bytes of a row, so that each begins at 16 bytes.
static NSUInteger row_bytes_for(Class self, SEL _cmd, NSUInteger columns,
                                uint32_t type) {
  (void)self;
  (void)_cmd;
  return (columns * mps_type_bytes(type) + 15) / 16 * 16;
}

METHODS(matrix_descriptor_methods, VALUES_ALONE_METHODS(matrix_descriptor),
        VALUE_METHODS(matrix_descriptor, rows, "setRows:", "Q"),
        VALUE_METHODS(matrix_descriptor, columns, "setColumns:", "Q"),
        METHOD("matrices", "Q16@0:8", matrix_descriptor_get_matrices),
        VALUE_METHODS(matrix_descriptor, rowBytes, "setRowBytes:", "Q"),
        METHOD("matrixBytes", "Q16@0:8", matrix_descriptor_get_matrixBytes),
        VALUE_METHODS(matrix_descriptor, dataType, "setDataType:", "I"));
METHODS(matrix_descriptor_class_methods,
        METHOD("matrixDescriptorWithRows:columns:rowBytes:dataType:",
               "@44@0:8Q16Q24Q32I40", descriptor_with),
        METHOD("matrixDescriptorWithDimensions:columns:rowBytes:dataType:",
               "@44@0:8Q16Q24Q32I40", descriptor_with),
        METHOD("matrixDescriptorWithRows:columns:matrices:rowBytes:"
               "matrixBytes:dataType:",
               "@60@0:8Q16Q24Q32Q40Q48I56", descriptor_with_matrices),
        METHOD("rowBytesFromColumns:dataType:", "Q28@0:8Q16I24", row_bytes_for),
        METHOD("rowBytesForColumns:dataType:", "Q28@0:8Q16I24", row_bytes_for));
DEFINE_CLASS(MPSMatrixDescriptor, NSObject, sizeof(matrix_descriptor),
             matrix_descriptor_methods, &matrix_descriptor_class_methods);

// --- MPSMatrix ---------------------------------------------------------------

READ_PROPERTY(mps_matrix, id, device)
READ_PROPERTY(mps_matrix, id, data)
READ_PROPERTY(mps_matrix, NSUInteger, offset)
READ_PROPERTY(mps_matrix, NSUInteger, rows)
READ_PROPERTY(mps_matrix, NSUInteger, columns)
READ_PROPERTY(mps_matrix, NSUInteger, matrices)
READ_PROPERTY(mps_matrix, NSUInteger, rowBytes)
READ_PROPERTY(mps_matrix, NSUInteger, matrixBytes)
READ_PROPERTY(mps_matrix, uint32_t, dataType)

static NSUInteger matrix_bytes(const mps_matrix *of) {
  return of->matrices
             ? (of->matrices - 1) * of->matrixBytes + of->rows * of->rowBytes
             : 0;
}

static id matrix_init_offset(id self, SEL _cmd, id buffer, NSUInteger offset,
                             const matrix_descriptor *by) {
  (void)_cmd;
  mps_matrix *made = (mps_matrix *)self;
  made->rows = by->rows;
  made->columns = by->columns;
  made->matrices = by->matrices;
  made->rowBytes = by->rowBytes;
  made->matrixBytes = by->matrixBytes;
  made->dataType = by->dataType;
  made->offset = offset;
  made->data = objc_retain(buffer);
  made->device = objc_retain(SEND(id(*)(id, SEL), buffer, "device"));
  const NSUInteger bytes = mps_type_bytes(by->dataType);
  const NSUInteger length = SEND(NSUInteger(*)(id, SEL), buffer, "length");
  // The last row may end where its last element does.
  const NSUInteger spare = by->rowBytes - by->columns * bytes;
  if (by->rowBytes < by->columns * bytes ||
      offset + matrix_bytes(made) > length + spare) {
    metal_assert(
        "MPSMatrix: %lu rows of %lu bytes from %lu on, %lu matrices, "
        "are not in a buffer of %lu bytes, or %lu columns are not in "
        "a row",
        made->rows, made->rowBytes, offset, made->matrices, length,
        made->columns);
  }
  return self;
}

static id matrix_init(id self, SEL _cmd, id buffer,
                      const matrix_descriptor *by) {
  return matrix_init_offset(self, _cmd, buffer, 0, by);
}

static id matrix_init_device(id self, SEL _cmd, id device,
                             const matrix_descriptor *by) {
  const NSUInteger bytes =
      (by->matrices ? by->matrices - 1 : 0) * by->matrixBytes +
      by->rows * by->rowBytes;
  const id buffer =
      SEND(id(*)(id, SEL, NSUInteger, NSUInteger), device,
           "newBufferWithLength:options:", bytes ? bytes : 1, STORAGE_SHARED);
  if (!buffer) {
    objc_release(self);
    return NULL;
  }
  matrix_init_offset(self, _cmd, buffer, 0, by);
  objc_release(buffer);
  return self;
}

static void matrix_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((mps_matrix *)self)->device);
  objc_release(((mps_matrix *)self)->data);
  instance_dispose(self);
}

// Has a managed buffer's bytes be the host's when the commands are done.
static void matrix_synchronize(id self, SEL _cmd, id commands) {
  (void)_cmd;
  const id buffer = ((mps_matrix *)self)->data;
  const NSUInteger storage =
      SEND(NSUInteger(*)(id, SEL), buffer, "storageMode");
  if (storage != STORAGE_MANAGED) {
    return;
  }
  const id blit = SEND(id(*)(id, SEL), commands, "blitCommandEncoder");
  SEND(void (*)(id, SEL, id), blit, "synchronizeResource:", buffer);
  SEND(void (*)(id, SEL), blit, "endEncoding");
}

static NSUInteger matrix_resource_size(id self, SEL _cmd) {
  (void)_cmd;
  return matrix_bytes((mps_matrix *)self);
}

METHODS(matrix_methods,
        METHOD("initWithBuffer:descriptor:", "@32@0:8@16@24", matrix_init),
        METHOD("initWithBuffer:offset:descriptor:", "@40@0:8@16Q24@32",
               matrix_init_offset),
        METHOD("initWithDevice:descriptor:", "@32@0:8@16@24",
               matrix_init_device),
        METHOD("dealloc", "v16@0:8", matrix_dealloc),
        METHOD("synchronizeOnCommandBuffer:", "v24@0:8@16", matrix_synchronize),
        METHOD("resourceSize", "Q16@0:8", matrix_resource_size),
        METHOD("device", "@16@0:8", mps_matrix_get_device),
        METHOD("data", "@16@0:8", mps_matrix_get_data),
        METHOD("offset", "Q16@0:8", mps_matrix_get_offset),
        METHOD("rows", "Q16@0:8", mps_matrix_get_rows),
        METHOD("columns", "Q16@0:8", mps_matrix_get_columns),
        METHOD("matrices", "Q16@0:8", mps_matrix_get_matrices),
        METHOD("rowBytes", "Q16@0:8", mps_matrix_get_rowBytes),
        METHOD("matrixBytes", "Q16@0:8", mps_matrix_get_matrixBytes),
        METHOD("dataType", "I16@0:8", mps_matrix_get_dataType));
DEFINE_CLASS(MPSMatrix, NSObject, sizeof(mps_matrix), matrix_methods,
             NO_METHODS);
