// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// refused.c: stubs of ABI functions that generated code may call and Mettle
// does not implement. A model that references one still loads and computes what
// does not need it; the call fails and names the function.
//
// Names: torch/csrc/inductor/aoti_torch/generated/c_shim_mps.h, c_shim_aten.h,
// c/shim.h and c/shim_deprecated.h, 2.13.
#include "aoti/tensor.h"

// Callers pass arguments, which both x86-64's and AArch64's conventions let a
// function ignore.
#define REFUSE(name)                                                       \
  MTL_API AOTITorchError name(void);                                       \
  AOTITorchError name(void) {                                              \
    return mtl_fail(MTL_UNSUPPORTED, "the model calls " #name              \
                                     ", which Mettle does not implement"); \
  }

// --- Operators on the device -------------------------------------------------

REFUSE(aoti_torch_mps__adaptive_avg_pool2d_backward)
REFUSE(aoti_torch_mps__cdist_backward)
REFUSE(aoti_torch_mps__efficientzerotensor)
REFUSE(aoti_torch_mps__embedding_bag_dense_backward)
REFUSE(aoti_torch_mps__embedding_bag_per_sample_weights_backward)
REFUSE(aoti_torch_mps__fused_moving_avg_obs_fq_helper_functional)
REFUSE(aoti_torch_mps__histogramdd_from_bin_cts)
REFUSE(aoti_torch_mps__scaled_dot_product_fused_attention_overrideable)
REFUSE(aoti_torch_mps__scaled_dot_product_fused_attention_overrideable_backward)
REFUSE(aoti_torch_mps__to_sparse)
REFUSE(aoti_torch_mps__weight_int4pack_mm)
REFUSE(aoti_torch_mps_adaptive_max_pool2d_backward)
REFUSE(aoti_torch_mps_avg_pool2d_backward)
REFUSE(aoti_torch_mps_avg_pool3d_backward)
REFUSE(aoti_torch_mps_bernoulli__Tensor)
REFUSE(aoti_torch_mps_bernoulli__float)
REFUSE(aoti_torch_mps_cholesky_inverse)
REFUSE(aoti_torch_mps_cholesky_solve)
REFUSE(aoti_torch_mps_convolution_backward)
REFUSE(aoti_torch_mps_exponential)
REFUSE(aoti_torch_mps_grid_sampler_2d_backward)
REFUSE(aoti_torch_mps_grid_sampler_3d_backward)
REFUSE(aoti_torch_mps_histogram_bin_ct)
REFUSE(aoti_torch_mps_lu_unpack)
REFUSE(aoti_torch_mps_masked_scatter_backward)
REFUSE(aoti_torch_mps_max_pool2d_with_indices_backward)
REFUSE(aoti_torch_mps_max_pool3d_with_indices_backward)
REFUSE(aoti_torch_mps_max_unpool2d)
REFUSE(aoti_torch_mps_max_unpool3d)
REFUSE(aoti_torch_mps_native_dropout)
REFUSE(aoti_torch_mps_normal_functional)
REFUSE(aoti_torch_mps_pad)
REFUSE(aoti_torch_mps_rand)
REFUSE(aoti_torch_mps_rand_generator)
REFUSE(aoti_torch_mps_rand_like)
REFUSE(aoti_torch_mps_rand_like_generator)
REFUSE(aoti_torch_mps_randint)
REFUSE(aoti_torch_mps_randint_generator)
REFUSE(aoti_torch_mps_randint_like)
REFUSE(aoti_torch_mps_randint_like_low_dtype)
REFUSE(aoti_torch_mps_randint_low)
REFUSE(aoti_torch_mps_randn)
REFUSE(aoti_torch_mps_randn_generator)
REFUSE(aoti_torch_mps_randn_like)
REFUSE(aoti_torch_mps_randn_like_generator)
REFUSE(aoti_torch_mps_randperm)
REFUSE(aoti_torch_mps_replication_pad1d_backward)
REFUSE(aoti_torch_mps_replication_pad2d_backward)
REFUSE(aoti_torch_mps_resize_)
REFUSE(aoti_torch_mps_resize_as_)
REFUSE(aoti_torch_mps_set__source_Tensor)
REFUSE(aoti_torch_mps_soft_margin_loss_backward)
REFUSE(aoti_torch_mps_to_sparse)
REFUSE(aoti_torch_mps_triangular_solve)
REFUSE(aoti_torch_mps_uniform)
REFUSE(aoti_torch_mps_upsample_bicubic2d_backward)
REFUSE(aoti_torch_mps_upsample_linear1d_backward)
REFUSE(aoti_torch_mps_upsample_trilinear3d_backward)

// --- The rest ----------------------------------------------------------------

REFUSE(aoti_torch_aten_amax)
REFUSE(aoti_torch_aten_full)
REFUSE(aoti_torch_aten_narrow)
REFUSE(aoti_torch_aten_new_empty)
REFUSE(aoti_torch_aten_new_zeros)
REFUSE(aoti_torch_aten_pad)
REFUSE(aoti_torch_aten_subtract_Tensor)
REFUSE(aoti_torch__mm_plus_mm_out)
REFUSE(aoti_torch_call_dispatcher)
REFUSE(aoti_torch_check_inf_and_nan)
REFUSE(aoti_torch_create_device_guard)
REFUSE(aoti_torch_delete_c10_value_object)
REFUSE(aoti_torch_delete_device_guard)
REFUSE(aoti_torch_delete_library_object)
REFUSE(aoti_torch_delete_stream)
REFUSE(aoti_torch_device_guard_set_index)
REFUSE(aoti_torch_get_current_stream)
REFUSE(aoti_torch_int64_to_ivalue)
REFUSE(aoti_torch_item_complex64)
REFUSE(aoti_torch_library_def)
REFUSE(aoti_torch_library_impl)
REFUSE(aoti_torch_library_init_def)
REFUSE(aoti_torch_library_init_fragment)
REFUSE(aoti_torch_library_init_impl)
REFUSE(aoti_torch_scalar_to_tensor_complex128)
REFUSE(aoti_torch_scalar_to_tensor_complex64)
REFUSE(aoti_torch_str_to_ivalue)
REFUSE(aoti_torch_stream_id)
REFUSE(aoti_torch_strlist_to_ivalue)
REFUSE(aoti_torch_tensor_to_ivalue)
REFUSE(aoti_torch__embedding_bag)
REFUSE(aoti_torch__fft_c2c)
REFUSE(aoti_torch__scaled_dot_product_efficient_attention)
REFUSE(aoti_torch__scaled_dot_product_flash_attention)
REFUSE(aoti_torch__scaled_dot_product_flash_attention_v2)
REFUSE(aoti_torch__scaled_mm)
REFUSE(aoti_torch__scaled_mm_v2)
REFUSE(aoti_torch_repeat_interleave_Tensor)
