// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPPTensorOpsConvolution2d.h: convolutions of images whose channels lie side
// by side (NHWC) with weights whose output channels do (HWIO).
#ifndef METTLE_MPP_CONVOLUTION2D
#define METTLE_MPP_CONVOLUTION2D

#include <MetalPerformancePrimitives/MPPTensorOpsMatMul2d.h>
#include <metal_vector>

namespace mpp {
namespace tensor_ops {

enum class convolution2d_activation_layout { nhwc };
enum class convolution2d_weights_layout { hwio };

// Sizes as the tensors' extents: of the result (output channels, width, height,
// images), of the activation (channels, width, height, images), of the kernel
// (width, height). An element of the result is the sum, over the kernel's
// places and the channels, of
//   activation(c, x * stride + kx * dilation - anchor + offset, ...)
//   * weights(o, c, kx, ky)
// with anchor = ((kernel - 1) * dilation + 1) / 2 and what lies outside the
// activation 0.
// Source: PyTorch, conv3d_mpp, which measured the anchor
struct convolution2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  struct size4 {
    int x, y, z, w;
  };
  struct size2 {
    int x, y;
  };

  size4 destination_dimensions, source_dimensions;
  size2 kernel_dimensions;
  convolution2d_activation_layout activation_layout;
  convolution2d_weights_layout weights_layout;
  size2 strides, dilations;
  int groups;
  bool relaxed_precision;
  mode convolution2d_mode;

  METTLE_INLINE constexpr convolution2d_descriptor(
      int4 destination, int4 source, int2 kernel_size,
      convolution2d_activation_layout activation =
          convolution2d_activation_layout::nhwc,
      convolution2d_weights_layout weights = convolution2d_weights_layout::hwio,
      int2 stride = int2(1, 1), int2 dilation = int2(1, 1), int group_count = 1,
      bool relaxed = false, mode how = mode::multiply)
      : destination_dimensions(__builtin_bit_cast(size4, destination.v)),
        source_dimensions(__builtin_bit_cast(size4, source.v)),
        kernel_dimensions(__builtin_bit_cast(size2, kernel_size.v)),
        activation_layout(activation),
        weights_layout(weights),
        strides(__builtin_bit_cast(size2, stride.v)),
        dilations(__builtin_bit_cast(size2, dilation.v)),
        groups(group_count),
        relaxed_precision(relaxed),
        convolution2d_mode(how) {}
};

}  // namespace tensor_ops
}  // namespace mpp

namespace __mettle {

// The result as a matrix: a row for each place, a column for each channel.
template <int Channels, int Width, int Height, int Images, int Groups>
struct image_layout
    : fragment_layout<Channels, Width * Height * Images, Groups> {
  typedef fragment_layout<Channels, Width * Height * Images, Groups> matrix;
  static constexpr int width = Width, height = Height;
  template <typename I>
  METTLE_INLINE static metal::array<I, 4> index(int i) {
    const int row = matrix::row(i);
    return {I(matrix::column(i)), I(row % Width), I(row / Width % Height),
            I(row / Width / Height)};
  }
};

template <mpp::tensor_ops::convolution2d_descriptor D, int Groups>
struct convolution {
  static constexpr auto size = D.destination_dimensions;
  typedef image_layout<size.x, size.y, size.z, size.w, Groups> layout;
  static constexpr bool adds =
      D.convolution2d_mode ==
      mpp::tensor_ops::convolution2d_descriptor::mode::multiply_accumulate;

  // Loads 16 places of the activation by 16 channels from c on, under one place
  // of the kernel.
  template <typename T>
  METTLE_INLINE static void fetch_places(float (&out)[8], const T &activation,
                                         int row, int c, int channels, int x0,
                                         int y0) {
    for (int h = 0; h < 2; h++) {
      const int r = row + 8 * h + fragment_row();
      const int x = r % size.y * D.strides.x + x0;
      const int y = r / size.y % size.z * D.strides.y + y0;
      const int n = r / size.y / size.z;
      const bool is_there = r < size.y * size.z * size.w && x >= 0 &&
                            x < activation.get_extent(1) && y >= 0 &&
                            y < activation.get_extent(2) &&
                            n < activation.get_extent(3);
      const auto first = activation.__data() + (x * activation.__stride(1) +
                                                y * activation.__stride(2) +
                                                n * activation.__stride(3));
      for (int j = 0; j < 4; j++) {
        const int at = c + fragment_column() + j;
        out[4 * h + j] =
            is_there && at < channels
                ? converted_element<float>(typename T::value_type(
                      first[at * activation.__stride(0)]))
                : 0.0f;
      }
    }
  }
  // Loads weights: 16 channels from c on by 16 output channels.
  template <typename T>
  METTLE_INLINE static void fetch_weights(float (&out)[8], const T &weights,
                                          int c, int o, int channels, int kx,
                                          int ky) {
    const auto plane =
        metal::tensor<typename T::element_type, metal::dextents<int, 2>,
                      metal::tensor_inline>(
            weights.__data() +
                (kx * weights.__stride(2) + ky * weights.__stride(3)),
            metal::dextents<int, 2>(int(weights.get_extent(0)), channels),
            metal::array<long, 2>{weights.__stride(0), weights.__stride(1)});
    load_fragment(out, plane, o, c,
                  lesser(int(weights.get_extent(0)), size.x), channels);
  }

  template <typename Activation, typename Weights, typename Target>
  METTLE_INLINE static void run(const Activation &activation,
                                const Weights &weights, Target &target,
                                int2 offsets) {
    typedef operand_element<Target> C;
    metal::cooperative_tensor<
        C, metal::extents<int, size.x, size.y, size.z, size.w>, layout>
        held;
    if constexpr (adds && operand<Target>::is_cooperative)
      held = target;
    else if constexpr (adds)
      held.load(target);
    float sums[layout::capacity / 8][8];
    _Pragma("clang loop unroll(full)") for (int i = 0; i < layout::capacity;
                                            i++) sums[i / 8][i % 8] =
        adds ? converted_element<float>(held[i]) : 0.0f;
    const int channels = lesser(int(activation.get_extent(0)),
                                int(weights.get_extent(1)));
    for (int ky = 0; ky < D.kernel_dimensions.y; ky++)
      for (int kx = 0; kx < D.kernel_dimensions.x; kx++)
        for (int c = 0; c < channels; c += 16)
          step(sums, activation, weights, c, channels, kx, ky, offsets);
    _Pragma("clang loop unroll(full)") for (int i = 0; i < layout::capacity;
                                            i++) held[i] =
        converted_element<C>(sums[i / 8][i % 8]);
    if constexpr (operand<Target>::is_cooperative)
      target = held;
    else
      held.store(target);
  }

  template <typename Activation, typename Weights>
  METTLE_INLINE static void step(float (&sums)[layout::capacity / 8][8],
                                 const Activation &activation,
                                 const Weights &weights, int c, int channels,
                                 int kx, int ky, int2 offsets) {
    constexpr auto kernel_size = D.kernel_dimensions;
    const int x0 = kx * D.dilations.x -
                   ((kernel_size.x - 1) * D.dilations.x + 1) / 2 + offsets.v.x;
    const int y0 = ky * D.dilations.y -
                   ((kernel_size.y - 1) * D.dilations.y + 1) / 2 + offsets.v.y;
    float a[layout::own_rows][8];
    _Pragma("clang loop unroll(full)") for (int i = 0; i < layout::own_rows;
                                            i++)
        fetch_places(a[i], activation, layout::first_row() + 16 * i, c,
                     channels, x0, y0);
    float b[layout::own_columns][8];
    _Pragma("clang loop unroll(full)") for (int j = 0; j < layout::own_columns;
                                            j++)
        fetch_weights(b[j], weights, c, layout::first_column() + 16 * j,
                      channels, kx, ky);
    multiply_add_fragments<false, false, layout::own_rows, layout::own_columns>(
        sums, a, b);
  }
};

}  // namespace __mettle

namespace mpp {
namespace tensor_ops {

// The scope is all simdgroups of the threadgroup.
template <convolution2d_descriptor Descriptor, typename Scope, class... Args>
class convolution2d;
template <convolution2d_descriptor Descriptor, int Groups, class... Args>
class convolution2d<Descriptor, metal::execution_simdgroups<Groups>, Args...> {
  typedef __mettle::convolution<Descriptor, Groups> form;
  static_assert(Descriptor.groups == 1, "convolution2d has one group");
  static_assert(Descriptor.kernel_dimensions.x > 0 &&
                    Descriptor.kernel_dimensions.y > 0 &&
                    Descriptor.strides.x > 0 && Descriptor.strides.y > 0 &&
                    Descriptor.dilations.x > 0 && Descriptor.dilations.y > 0,
                "a kernel's sizes, strides and dilations are above 0");

 public:
  static constexpr convolution2d_descriptor descriptor = Descriptor;

  METTLE_INLINE constexpr convolution2d() : offsets_(0) {}
  METTLE_INLINE constexpr explicit convolution2d(int2 offsets)
      : offsets_(offsets) {}
  // Sets the offsets of places in the activation, in x and y.
  METTLE_INLINE void set_offsets(int2 offsets) {
    offsets_ = offsets;
  }

  template <typename Activation, typename Weights, typename T,
            typename Coord = int>
  METTLE_INLINE auto get_destination_cooperative_tensor() const {
    return metal::cooperative_tensor<
        T,
        metal::extents<Coord, form::size.x, form::size.y, form::size.z,
                       form::size.w>,
        typename form::layout>();
  }
  template <typename Activation, typename Weights, typename Target>
  METTLE_INLINE void run(Activation &&activation, Weights &&weights,
                         Target &&target) const {
    static_assert(__mettle::operand_of<Activation>::rank == 4 &&
                      __mettle::operand_of<Weights>::rank == 4 &&
                      __mettle::operand_of<Target>::rank == 4,
                  "the operands of convolution2d have four dimensions");
    static_assert(
        __mettle::is_product<__mettle::operand_element<Activation>,
                             __mettle::operand_element<Weights>,
                             __mettle::operand_element<Target>>() &&
            metal::is_same_v<
                __mettle::sum_t<__mettle::operand_element<Activation>,
                                __mettle::operand_element<Weights>>,
                float>,
        "convolution2d has no product of these types of elements");
    form::run(activation, weights, target, offsets_);
  }

 private:
  int2 offsets_;
};

}  // namespace tensor_ops
}  // namespace mpp

#endif
