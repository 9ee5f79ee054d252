// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// aoti.h: the C ABI that PyTorch's AOTInductor models for device "mps" call,
// as libmettle-aoti.so gives it. Names and signatures are PyTorch's.
//
// A model.so imports these functions; whoever hosts one links libmettle-aoti
// or opens it with RTLD_GLOBAL before the model. model.h does all that and is
// what most programs want.
//
// Results. 0 is success; everything else is an mtl_status, with its text in
// mtl_last_error(). Generated code ignores what kernel calls return: their
// failures stay on the current stream (stream.h) and come back from the next
// synchronisation; a compiler's diagnostics go to stderr as well. No exception
// enters or leaves.
//
// Tensors. A handle is one tensor: sizes, strides and an offset, all in
// elements, over a storage that handles share and count. Views share memory at
// any offset and stride and may be written through. A handle may be deleted,
// and memory freed, while work that uses it is pending. Device types are 0, the
// host, and 13, mps: Mettle's device, whose memory the host can see at
// get_data_ptr once the stream has been synchronised. Element types are
// PyTorch's codes: all integers, bool, float16, bfloat16, float32, float64
// (on the host only) and complex ones (as pairs).
//
// Memory. aoti_torch_mps_malloc and tensors come from the pool of the current
// stream's device. Outside of a model's run new memory is free of pending work,
// so that the host may fill it at once; within one (autograd is switched off
// then) it is only ordered on the stream.
//
// Order. Kernels, operators and copies between mps tensors run in the order of
// the calls on the calling thread's current stream, and nothing waits but what
// hands data to the host: aoti_torch_copy_ to or from a CPU tensor, item, and
// operators whose result's size depends on data.
//
// Ownership  "new": the handle is yours, aoti_torch_delete_tensor_object.
// Threads    Any; one handle is used by one thread at a time.
// Source     PyTorch: torch/csrc/inductor/aoti_torch/c/shim.h, shim_mps.h
#ifndef METTLE_AOTI_H
#define METTLE_AOTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t AOTITorchError;
typedef struct AtenTensorOpaque *AtenTensorHandle;
typedef struct AOTIMetalShaderLibraryOpaque *AOTIMetalShaderLibraryHandle;
typedef struct AOTIMetalKernelFunctionOpaque *AOTIMetalKernelFunctionHandle;
typedef struct AOTIProxyExecutorOpaque *AOTIProxyExecutorHandle;

// --- Constants ---------------------------------------------------------------

MTL_API int32_t aoti_torch_device_type_cpu(void);
MTL_API int32_t aoti_torch_device_type_cuda(void);
MTL_API int32_t aoti_torch_device_type_meta(void);
MTL_API int32_t aoti_torch_device_type_xpu(void);
MTL_API int32_t aoti_torch_device_type_mps(void);
MTL_API int32_t aoti_torch_device_type_privateuse1(void);
MTL_API int32_t aoti_torch_dtype_uint8(void);
MTL_API int32_t aoti_torch_dtype_int8(void);
MTL_API int32_t aoti_torch_dtype_int16(void);
MTL_API int32_t aoti_torch_dtype_int32(void);
MTL_API int32_t aoti_torch_dtype_int64(void);
MTL_API int32_t aoti_torch_dtype_float16(void);
MTL_API int32_t aoti_torch_dtype_float32(void);
MTL_API int32_t aoti_torch_dtype_float64(void);
MTL_API int32_t aoti_torch_dtype_complex32(void);
MTL_API int32_t aoti_torch_dtype_complex64(void);
MTL_API int32_t aoti_torch_dtype_complex128(void);
MTL_API int32_t aoti_torch_dtype_bool(void);
MTL_API int32_t aoti_torch_dtype_bfloat16(void);
MTL_API int32_t aoti_torch_dtype_uint16(void);
MTL_API int32_t aoti_torch_dtype_uint32(void);
MTL_API int32_t aoti_torch_dtype_uint64(void);
MTL_API size_t aoti_torch_dtype_element_size(int32_t dtype);
MTL_API int32_t aoti_torch_layout_strided(void);
MTL_API int32_t aoti_torch_dtype_float8_e5m2(void);
MTL_API int32_t aoti_torch_dtype_float8_e4m3fn(void);
MTL_API int32_t aoti_torch_dtype_float8_e5m2fnuz(void);
MTL_API int32_t aoti_torch_dtype_float8_e4m3fnuz(void);
MTL_API int32_t aoti_torch_dtype_float8_e8m0fnu(void);
MTL_API int32_t aoti_torch_dtype_float4_e2m1fn_x2(void);
MTL_API int32_t aoti_torch_layout_sparse_coo(void);
MTL_API int32_t aoti_torch_layout_sparse_csr(void);
MTL_API int32_t aoti_torch_layout__mkldnn(void);
MTL_API int32_t aoti_torch_layout_sparse_csc(void);
MTL_API int32_t aoti_torch_layout_sparse_bsr(void);
MTL_API int32_t aoti_torch_layout_sparse_bsc(void);
MTL_API int32_t aoti_torch_layout_jagged(void);
MTL_API AOTITorchError aoti_torch_get_current_device_index(int32_t *out_index);
MTL_API int32_t aoti_torch_memory_format_contiguous_format(void);
MTL_API int32_t aoti_torch_memory_format_channels_last(void);
MTL_API int32_t aoti_torch_memory_format_channels_last_3d(void);
MTL_API int32_t aoti_torch_memory_format_preserve_format(void);
MTL_API uint64_t aoti_torch_abi_version(void);

// --- Tensors: making and deleting --------------------------------------------

// Borrows data: it must live as long as tensors over it, unless it is memory
// that Mettle knows (stream.h), which the tensor then retains. storage_offset
// counts from data. Memory that Mettle does not know becomes an mps tensor in
// place.
MTL_API AOTITorchError aoti_torch_create_tensor_from_blob(
    void *data, int64_t ndim, const int64_t *sizes, const int64_t *strides,
    int64_t storage_offset, int32_t dtype, int32_t device_type,
    int32_t device_index, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_create_tensor_from_blob_v2(
    void *data, int64_t ndim, const int64_t *sizes, const int64_t *strides,
    int64_t storage_offset, int32_t dtype, int32_t device_type,
    int32_t device_index, AtenTensorHandle *out_new, int32_t layout,
    const uint8_t *opaque_metadata, int64_t opaque_metadata_size);
MTL_API AOTITorchError aoti_torch_empty_strided(
    int64_t ndim, const int64_t *sizes, const int64_t *strides, int32_t dtype,
    int32_t device_type, int32_t device_index, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_empty_strided_pinned(
    int64_t ndim, const int64_t *sizes, const int64_t *strides, int32_t dtype,
    int32_t device_type, int32_t device_index, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_new_uninitialized_tensor(AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor);
MTL_API AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle tensor,
                                                    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_clone(AtenTensorHandle tensor,
                                        AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_clone_preserve_strides(
    AtenTensorHandle tensor, AtenTensorHandle *out_new);

// --- Tensors: views ----------------------------------------------------------

// storage_offset of _reinterpret_tensor is an increment on self's. What would
// reach past the storage is refused.
MTL_API AOTITorchError aoti_torch__reinterpret_tensor(
    AtenTensorHandle self, int64_t ndim, const int64_t *sizes,
    const int64_t *strides, int64_t storage_offset, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_as_strided(AtenTensorHandle self,
                                             const int64_t *sizes,
                                             const int64_t *strides,
                                             AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch__alloc_from_pool(
    AtenTensorHandle self, int64_t offset_bytes, int32_t dtype, int64_t ndim,
    const int64_t *sizes, const int64_t *strides, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_assign_tensors(AtenTensorHandle source,
                                                 AtenTensorHandle target);
MTL_API AOTITorchError aoti_torch_assign_tensors_out(AtenTensorHandle source,
                                                     AtenTensorHandle *out_new);

// --- Tensors: what they are --------------------------------------------------

// Sizes and strides are borrowed: valid as long as the handle.
MTL_API AOTITorchError aoti_torch_get_data_ptr(AtenTensorHandle tensor,
                                               void **out_data);
MTL_API AOTITorchError aoti_torch_get_sizes(AtenTensorHandle tensor,
                                            int64_t **out_sizes);
MTL_API AOTITorchError aoti_torch_get_strides(AtenTensorHandle tensor,
                                              int64_t **out_strides);
MTL_API AOTITorchError aoti_torch_get_size(AtenTensorHandle tensor,
                                           int64_t dimension,
                                           int64_t *out_size);
MTL_API AOTITorchError aoti_torch_get_stride(AtenTensorHandle tensor,
                                             int64_t dimension,
                                             int64_t *out_stride);
MTL_API AOTITorchError aoti_torch_get_dim(AtenTensorHandle tensor,
                                          int64_t *out_dim);
MTL_API AOTITorchError aoti_torch_get_numel(AtenTensorHandle tensor,
                                            int64_t *out_numel);
MTL_API AOTITorchError aoti_torch_get_storage_numel(AtenTensorHandle tensor,
                                                    int64_t *out_numel);
MTL_API AOTITorchError aoti_torch_get_storage_size(AtenTensorHandle tensor,
                                                   int64_t *out_bytes);
MTL_API AOTITorchError aoti_torch_get_storage_offset(AtenTensorHandle tensor,
                                                     int64_t *out_elements);
MTL_API AOTITorchError aoti_torch_get_dtype(AtenTensorHandle tensor,
                                            int32_t *out_dtype);
MTL_API AOTITorchError aoti_torch_get_device_type(AtenTensorHandle tensor,
                                                  int32_t *out_device_type);
MTL_API AOTITorchError aoti_torch_get_device_index(AtenTensorHandle tensor,
                                                   int32_t *out_device_index);
MTL_API AOTITorchError aoti_torch_get_layout(AtenTensorHandle tensor,
                                             int32_t *out_layout);
MTL_API AOTITorchError aoti_torch_is_contiguous(AtenTensorHandle tensor,
                                                bool *out_is_contiguous);
MTL_API AOTITorchError aoti_torch_is_defined(AtenTensorHandle tensor,
                                             bool *out_is_defined);

// --- Tensors: contents -------------------------------------------------------

// copy_ converts types, and broadcasts source to target.
MTL_API AOTITorchError aoti_torch_copy_(AtenTensorHandle target,
                                        AtenTensorHandle source,
                                        int32_t non_blocking);
MTL_API AOTITorchError aoti_torch_tensor_copy_(AtenTensorHandle source,
                                               AtenTensorHandle target);
MTL_API AOTITorchError aoti_torch_zero_(AtenTensorHandle tensor);
MTL_API AOTITorchError aoti_torch_item_float16(AtenTensorHandle tensor,
                                               uint16_t *out_value);
MTL_API AOTITorchError aoti_torch_item_bfloat16(AtenTensorHandle tensor,
                                                uint16_t *out_value);
MTL_API AOTITorchError aoti_torch_item_float32(AtenTensorHandle tensor,
                                               float *out_value);
MTL_API AOTITorchError aoti_torch_item_float64(AtenTensorHandle tensor,
                                               double *out_value);
MTL_API AOTITorchError aoti_torch_item_uint8(AtenTensorHandle tensor,
                                             uint8_t *out_value);
MTL_API AOTITorchError aoti_torch_item_uint16(AtenTensorHandle tensor,
                                              uint16_t *out_value);
MTL_API AOTITorchError aoti_torch_item_uint32(AtenTensorHandle tensor,
                                              uint32_t *out_value);
MTL_API AOTITorchError aoti_torch_item_uint64(AtenTensorHandle tensor,
                                              uint64_t *out_value);
MTL_API AOTITorchError aoti_torch_item_int8(AtenTensorHandle tensor,
                                            int8_t *out_value);
MTL_API AOTITorchError aoti_torch_item_int16(AtenTensorHandle tensor,
                                             int16_t *out_value);
MTL_API AOTITorchError aoti_torch_item_int32(AtenTensorHandle tensor,
                                             int32_t *out_value);
MTL_API AOTITorchError aoti_torch_item_int64(AtenTensorHandle tensor,
                                             int64_t *out_value);
MTL_API AOTITorchError aoti_torch_item_bool(AtenTensorHandle tensor,
                                            bool *out_value);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_float32(float value, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_float64(double value, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_uint8(uint8_t value, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_uint16(uint16_t value, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_uint32(uint32_t value, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_uint64(uint64_t value, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_int8(int8_t value, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_int16(int16_t value, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_int32(int32_t value, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_int64(int64_t value, AtenTensorHandle *out_new);
MTL_API AOTITorchError
aoti_torch_scalar_to_tensor_bool(bool value, AtenTensorHandle *out_new);

// --- The process -------------------------------------------------------------

// warn prints to stderr; a check that fails becomes the stream's error.
MTL_API bool aoti_torch_grad_mode_is_enabled(void);
MTL_API void aoti_torch_grad_mode_set_enabled(bool enabled);
MTL_API void aoti_torch_warn(const char *function, const char *file,
                             uint32_t line, const char *message);
MTL_API void aoti_torch_check(bool condition, const char *function,
                              const char *file, uint32_t line,
                              const char *message);
MTL_API AOTITorchError aoti_torch_proxy_executor_call_function(
    AOTIProxyExecutorHandle proxy, int node_index, int int_count, int64_t *ints,
    int tensor_count, AtenTensorHandle *tensors);

// --- Kernels -----------------------------------------------------------------

// Kernels live as long as their library; the same name gives the same one.
// length and group_size are threads. A tensor on the host may be an argument if
// it is a scalar: its value is copied, float64 as float32.
MTL_API AOTITorchError aoti_torch_mps_create_shader_library(
    const char *source, AOTIMetalShaderLibraryHandle *out_library);
MTL_API AOTITorchError
aoti_torch_mps_delete_shader_library(AOTIMetalShaderLibraryHandle library);
MTL_API AOTITorchError aoti_torch_mps_get_kernel_function(
    AOTIMetalShaderLibraryHandle library, const char *name,
    AOTIMetalKernelFunctionHandle *out_function);
MTL_API AOTITorchError
aoti_torch_mps_start_encoding(AOTIMetalKernelFunctionHandle function);
MTL_API AOTITorchError
aoti_torch_mps_set_arg_tensor(AOTIMetalKernelFunctionHandle function,
                              unsigned index, AtenTensorHandle tensor);
MTL_API AOTITorchError aoti_torch_mps_set_arg_int(
    AOTIMetalKernelFunctionHandle function, unsigned index, int64_t value);
MTL_API AOTITorchError
torch_mps_set_arg_bytes(AOTIMetalKernelFunctionHandle function, unsigned index,
                        const void *bytes, uint64_t size);
MTL_API AOTITorchError aoti_torch_mps_dispatch_single(
    AOTIMetalKernelFunctionHandle function, uint64_t length);
MTL_API AOTITorchError aoti_torch_mps_dispatch_single_with_group_size(
    AOTIMetalKernelFunctionHandle function, uint64_t length,
    uint64_t group_size);
MTL_API AOTITorchError
aoti_torch_mps_dispatch_array(AOTIMetalKernelFunctionHandle function,
                              const uint64_t *length, size_t length_size);
MTL_API AOTITorchError aoti_torch_mps_dispatch_array_with_group_size(
    AOTIMetalKernelFunctionHandle function, const uint64_t *length,
    size_t length_size, const uint64_t *group_size, size_t group_size_size);
MTL_API void aoti_torch_mps_shared_callback(
    AOTIMetalKernelFunctionHandle function, void *user_data);

// Calls callback(function, user_data) once with the current stream locked.
// Nothing is committed.
typedef void (*aoti_torch_mps_command_block_callback_t)(
    AOTIMetalKernelFunctionHandle function, void *user_data);
MTL_API AOTITorchError aoti_torch_mps_run_command_block(
    AOTIMetalKernelFunctionHandle function,
    aoti_torch_mps_command_block_callback_t callback, void *user_data);

// --- Memory ------------------------------------------------------------------

// Sizes and offsets are bytes. 0 bytes are NULL.
MTL_API AOTITorchError aoti_torch_mps_malloc(void **out_buffer,
                                             size_t num_bytes);
MTL_API AOTITorchError aoti_torch_mps_free(void *buffer);
// Copies on the host, at once, from constants_start + bytes_read to buffer +
// constant_offset.
MTL_API AOTITorchError aoti_torch_mps_memcpy(void *buffer,
                                             size_t constant_offset,
                                             size_t bytes_read,
                                             size_t data_size,
                                             uint8_t *constants_start);
// Copies in the stream's order. target is the start of memory from
// aoti_torch_mps_malloc. source is the start of such memory or of a tensor's
// data; an address within memory stands for itself, and source_offset is not
// added: the caller in PyTorch's model_container.h passes the tensor's data
// pointer and, once more, its offset in elements. Memory that Mettle does not
// know is the host's.
MTL_API AOTITorchError aoti_torch_mps_copy_buffer(void *source, void *target,
                                                  size_t data_size,
                                                  size_t source_offset,
                                                  size_t target_offset);

// --- Operators ---------------------------------------------------------------

// Those ending in _out write into out; others give new tensors. An optional
// tensor or number is a pointer, NULL for none. ops.h says what each computes.
MTL_API AOTITorchError aoti_torch_mps_mm_out(AtenTensorHandle out,
                                             AtenTensorHandle self,
                                             AtenTensorHandle mat2);
MTL_API AOTITorchError aoti_torch_mps_addmm_out(AtenTensorHandle out,
                                                AtenTensorHandle self,
                                                AtenTensorHandle mat1,
                                                AtenTensorHandle mat2,
                                                double beta, double alpha);
MTL_API AOTITorchError aoti_torch_mps_bmm_out(AtenTensorHandle out,
                                              AtenTensorHandle self,
                                              AtenTensorHandle mat2);
MTL_API AOTITorchError aoti_torch_mps_baddbmm_out(AtenTensorHandle out,
                                                  AtenTensorHandle self,
                                                  AtenTensorHandle batch1,
                                                  AtenTensorHandle batch2,
                                                  double beta, double alpha);
MTL_API AOTITorchError aoti_torch_mps_convolution(
    AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle *bias,
    const int64_t *stride, int64_t stride_len, const int64_t *padding,
    int64_t padding_len, const int64_t *dilation, int64_t dilation_len,
    int32_t transposed, const int64_t *output_padding,
    int64_t output_padding_len, int64_t groups, AtenTensorHandle *out_new);
// The same over two dimensions, with the result in channels-last order: models
// from export_mps.py ask for it where their next kernels count on it.
MTL_API AOTITorchError aoti_torch_mps_convolution_channels_last(
    AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle *bias,
    const int64_t *stride, int64_t stride_len, const int64_t *padding,
    int64_t padding_len, const int64_t *dilation, int64_t dilation_len,
    int32_t transposed, const int64_t *output_padding,
    int64_t output_padding_len, int64_t groups, AtenTensorHandle *out_new);
// Attention. out_new_weights may be NULL here: weights that nobody wants are
// never all in memory.
MTL_API AOTITorchError
aoti_torch_mps__scaled_dot_product_attention_math_for_mps(
    AtenTensorHandle query, AtenTensorHandle key, AtenTensorHandle value,
    AtenTensorHandle *attn_mask, double dropout_p, int32_t is_causal,
    AtenTensorHandle *dropout_mask, double *scale, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_weights);
MTL_API AOTITorchError
aoti_torch_mps__scaled_dot_product_attention_math_for_mps_v2(
    AtenTensorHandle query, AtenTensorHandle key, AtenTensorHandle value,
    AtenTensorHandle *attn_mask, double dropout_p, int32_t is_causal,
    AtenTensorHandle *dropout_mask, double *scale, int32_t enable_gqa,
    AtenTensorHandle *out_new, AtenTensorHandle *out_new_weights);
MTL_API AOTITorchError aoti_torch_mps_topk(AtenTensorHandle self, int64_t k,
                                           int64_t dim, int32_t largest,
                                           int32_t sorted,
                                           AtenTensorHandle *out_new_values,
                                           AtenTensorHandle *out_new_indices);
MTL_API AOTITorchError aoti_torch_mps_sort(AtenTensorHandle self, int64_t dim,
                                           int32_t descending,
                                           AtenTensorHandle *out_new_values,
                                           AtenTensorHandle *out_new_indices);
MTL_API AOTITorchError aoti_torch_mps_sort_stable(
    AtenTensorHandle self, int32_t *stable, int64_t dim, int32_t descending,
    AtenTensorHandle *out_new_values, AtenTensorHandle *out_new_indices);
MTL_API AOTITorchError aoti_torch_mps_cumsum(AtenTensorHandle self, int64_t dim,
                                             int32_t *dtype,
                                             AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_scatter_src_out(AtenTensorHandle out,
                                                      AtenTensorHandle self,
                                                      int64_t dim,
                                                      AtenTensorHandle index,
                                                      AtenTensorHandle src);
MTL_API AOTITorchError aoti_torch_scatter_out(AtenTensorHandle out,
                                              AtenTensorHandle self,
                                              int64_t dim,
                                              AtenTensorHandle index,
                                              AtenTensorHandle src);
MTL_API AOTITorchError aoti_torch_mps_scatter_value_out(AtenTensorHandle out,
                                                        AtenTensorHandle self,
                                                        int64_t dim,
                                                        AtenTensorHandle index,
                                                        double value);
MTL_API AOTITorchError aoti_torch_mps_scatter_reduce_two_out(
    AtenTensorHandle out, AtenTensorHandle self, int64_t dim,
    AtenTensorHandle index, AtenTensorHandle src, const char *reduce,
    int32_t include_self);
MTL_API AOTITorchError aoti_torch_scatter_reduce_out(
    AtenTensorHandle out, AtenTensorHandle self, int64_t dim,
    AtenTensorHandle index, AtenTensorHandle src, const char *reduce,
    int32_t include_self);
MTL_API AOTITorchError aoti_torch_index_put_out(AtenTensorHandle out,
                                                AtenTensorHandle self,
                                                const AtenTensorHandle *indices,
                                                uint32_t num_indices,
                                                AtenTensorHandle values,
                                                bool accumulate);
MTL_API AOTITorchError aoti_torch_mps_index_put(
    AtenTensorHandle self, const AtenTensorHandle **indices,
    int64_t indices_length, AtenTensorHandle values, int32_t accumulate,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_cumprod(AtenTensorHandle self,
                                              int64_t dim, int32_t *dtype,
                                              AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_cummax(AtenTensorHandle self, int64_t dim,
                                             AtenTensorHandle *out_new,
                                             AtenTensorHandle *out_new_indices);
MTL_API AOTITorchError aoti_torch_mps_cummin(AtenTensorHandle self, int64_t dim,
                                             AtenTensorHandle *out_new,
                                             AtenTensorHandle *out_new_indices);
MTL_API AOTITorchError aoti_torch_mps_avg_pool2d(
    AtenTensorHandle self, const int64_t *kernel_size,
    int64_t kernel_size_length, const int64_t *stride, int64_t stride_length,
    const int64_t *padding, int64_t padding_length, int32_t ceil_mode,
    int32_t count_include_pad, int64_t *divisor_override,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_max_pool2d_with_indices(
    AtenTensorHandle self, const int64_t *kernel_size,
    int64_t kernel_size_length, const int64_t *stride, int64_t stride_length,
    const int64_t *padding, int64_t padding_length, const int64_t *dilation,
    int64_t dilation_length, int32_t ceil_mode, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_indices);
MTL_API AOTITorchError aoti_torch_mps__adaptive_avg_pool2d(
    AtenTensorHandle self, const int64_t *output_size,
    int64_t output_size_length, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_adaptive_max_pool2d(
    AtenTensorHandle self, const int64_t *output_size,
    int64_t output_size_length, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_indices);
MTL_API AOTITorchError aoti_torch_mps__linear_fp_act_4bit_weight(
    AtenTensorHandle a, AtenTensorHandle b, int64_t group_size,
    AtenTensorHandle scales, AtenTensorHandle zeros, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_gather_qmv(
    AtenTensorHandle x, AtenTensorHandle weights, AtenTensorHandle scales,
    AtenTensorHandle zeros, AtenTensorHandle expert_indices, int64_t group_size,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_gated_delta_rule(
    AtenTensorHandle query, AtenTensorHandle key, AtenTensorHandle value,
    AtenTensorHandle gate, AtenTensorHandle beta, AtenTensorHandle state,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_view_as_complex(
    AtenTensorHandle self, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_view_as_real(AtenTensorHandle self,
                                                   AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_view_dtype(AtenTensorHandle self,
                                                 int32_t dtype,
                                                 AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_permute(AtenTensorHandle self,
                                              const int64_t *dims,
                                              int64_t dims_len,
                                              AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_reshape(AtenTensorHandle self,
                                              const int64_t *shape,
                                              int64_t shape_len,
                                              AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_squeeze_dim(AtenTensorHandle self,
                                                  int64_t dim,
                                                  AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_slice_Tensor(AtenTensorHandle self,
                                                   int64_t dim, int64_t *start,
                                                   int64_t *end, int64_t step,
                                                   AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_narrow(AtenTensorHandle self, int64_t dim,
                                             int64_t start, int64_t length,
                                             AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_cat(const AtenTensorHandle *tensors,
                                          int64_t tensors_len, int64_t dim,
                                          AtenTensorHandle *out_new);

// --- Operators on the host ---------------------------------------------------
//
// What models seldom need: each waits for all earlier work on the stream and
// computes on the calling thread.

MTL_API AOTITorchError aoti_torch_mps_add_Tensor(AtenTensorHandle self,
                                                 AtenTensorHandle other,
                                                 double alpha,
                                                 AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_mul_Tensor(AtenTensorHandle self,
                                                 AtenTensorHandle other,
                                                 AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_pow_Tensor_Tensor(
    AtenTensorHandle self, AtenTensorHandle exponent,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_gcd(AtenTensorHandle self,
                                          AtenTensorHandle other,
                                          AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_polar(AtenTensorHandle size,
                                            AtenTensorHandle angle,
                                            AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_add_Scalar(AtenTensorHandle self,
                                                 double other, double alpha,
                                                 AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_mul_Scalar(AtenTensorHandle self,
                                                 double other,
                                                 AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_pow_Tensor_Scalar(
    AtenTensorHandle self, double exponent, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_pow_Scalar(double self,
                                                 AtenTensorHandle exponent,
                                                 AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_abs(AtenTensorHandle self,
                                          AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_angle(AtenTensorHandle self,
                                            AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_fill__Scalar(AtenTensorHandle self,
                                                   double value);
MTL_API AOTITorchError aoti_torch_aten_fill__Scalar(AtenTensorHandle self,
                                                    double value);
MTL_API AOTITorchError aoti_torch_mps_bucketize_Tensor(
    AtenTensorHandle self, AtenTensorHandle boundaries, int32_t out_int32,
    int32_t right, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_searchsorted_Tensor(
    AtenTensorHandle sorted_sequence, AtenTensorHandle self, int32_t out_int32,
    int32_t right, const char **side, AtenTensorHandle *sorter,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_searchsorted_Scalar(
    AtenTensorHandle sorted_sequence, double self, int32_t out_int32,
    int32_t right, const char **side, AtenTensorHandle *sorter,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_logcumsumexp(AtenTensorHandle self,
                                                   int64_t dim,
                                                   AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_kthvalue(
    AtenTensorHandle self, int64_t k, int64_t dim, int32_t keepdim,
    AtenTensorHandle *out_new_values, AtenTensorHandle *out_new_indices);
MTL_API AOTITorchError aoti_torch_mps__embedding_bag_forward_only(
    AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets,
    int32_t scale_grad_by_freq, int64_t mode, int32_t sparse,
    AtenTensorHandle *per_sample_weights, int32_t include_last_offset,
    int64_t padding_idx, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_owners, AtenTensorHandle *out_new_sizes,
    AtenTensorHandle *out_new_largest);
MTL_API AOTITorchError aoti_torch_mps__embedding_bag(
    AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets,
    int32_t scale_grad_by_freq, int64_t mode, int32_t sparse,
    AtenTensorHandle *per_sample_weights, int32_t include_last_offset,
    int64_t padding_idx, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_owners, AtenTensorHandle *out_new_sizes,
    AtenTensorHandle *out_new_largest);
MTL_API AOTITorchError aoti_torch_mps_nonzero_static(AtenTensorHandle self,
                                                     int64_t size,
                                                     int64_t fill_value,
                                                     AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps__cdist_forward(AtenTensorHandle x1,
                                                     AtenTensorHandle x2,
                                                     double p,
                                                     int64_t *compute_mode,
                                                     AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps__fft_c2c(
    AtenTensorHandle self, const int64_t *dim, int64_t dim_length,
    int64_t normalization, int32_t forward, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps__fft_r2c(
    AtenTensorHandle self, const int64_t *dim, int64_t dim_length,
    int64_t normalization, int32_t onesided, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps__fused_rms_norm(
    AtenTensorHandle input, const int64_t *normalized_shape,
    int64_t normalized_shape_length, AtenTensorHandle *weight, double *eps,
    AtenTensorHandle *out_new, AtenTensorHandle *out_new_factors);
MTL_API AOTITorchError aoti_torch_mps__grouped_mm(
    AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle *offs,
    AtenTensorHandle *bias, int32_t *out_dtype, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps__trilinear(
    AtenTensorHandle i1, AtenTensorHandle i2, AtenTensorHandle i3,
    const int64_t *expand1, int64_t expand1_length, const int64_t *expand2,
    int64_t expand2_length, const int64_t *expand3, int64_t expand3_length,
    const int64_t *sumdim, int64_t sumdim_length, int64_t unroll_dim,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps__weight_int8pack_mm(
    AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle scales,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_addbmm(AtenTensorHandle self,
                                             AtenTensorHandle batch1,
                                             AtenTensorHandle batch2,
                                             double beta, double alpha,
                                             AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_addmv(AtenTensorHandle self,
                                            AtenTensorHandle mat,
                                            AtenTensorHandle vec, double beta,
                                            double alpha,
                                            AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_hann_window(
    int64_t window_length, int32_t *dtype, int32_t *layout, int32_t *device,
    int32_t device_index, int32_t *pin_memory, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_histc(AtenTensorHandle self, int64_t bins,
                                            double min, double max,
                                            AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_index_Tensor(
    AtenTensorHandle self, const AtenTensorHandle **indices,
    int64_t indices_length, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_index_reduce(
    AtenTensorHandle self, int64_t dim, AtenTensorHandle index,
    AtenTensorHandle source, const char *reduce, int32_t include_self,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_masked_select(AtenTensorHandle self,
                                                    AtenTensorHandle mask,
                                                    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_median(AtenTensorHandle self,
                                             AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_nanmedian(AtenTensorHandle self,
                                                AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_nonzero(AtenTensorHandle self,
                                              AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_nonzero(AtenTensorHandle self,
                                          AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_max_pool3d_with_indices(
    AtenTensorHandle self, const int64_t *kernel_size,
    int64_t kernel_size_length, const int64_t *stride, int64_t stride_length,
    const int64_t *padding, int64_t padding_length, const int64_t *dilation,
    int64_t dilation_length, int32_t ceil_mode, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_indices);
MTL_API AOTITorchError aoti_torch_mps_avg_pool3d(
    AtenTensorHandle self, const int64_t *kernel_size,
    int64_t kernel_size_length, const int64_t *stride, int64_t stride_length,
    const int64_t *padding, int64_t padding_length, int32_t ceil_mode,
    int32_t count_include_pad, int64_t *divisor_override,
    AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_grid_sampler_3d(
    AtenTensorHandle input, AtenTensorHandle grid, int64_t interpolation_mode,
    int64_t padding_mode, int32_t align_corners, AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_masked_scatter(AtenTensorHandle self,
                                                     AtenTensorHandle mask,
                                                     AtenTensorHandle source,
                                                     AtenTensorHandle *out_new);
MTL_API AOTITorchError aoti_torch_mps_repeat_interleave_Tensor(
    AtenTensorHandle repeats, int64_t *output_size, AtenTensorHandle *out_new);

MTL_API AOTITorchError aoti_torch_mps_randint_low_out(AtenTensorHandle out,
                                                      int64_t low, int64_t high,
                                                      const int64_t *size,
                                                      int64_t size_length);

#ifdef __cplusplus
}
#endif
#endif
