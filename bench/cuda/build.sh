#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# build.sh BUILD_TREE OUTPUT: the comparison with nvcc, by hand: it needs CUDA's
# toolkit with cuBLAS. Run OUTPUT/compare BUILD_TREE/mettle-bench-rivals.so
# products.metal on a machine with an NVIDIA GPU.
set -eu
here=$(dirname "$0")
build=$1
output=$2
exec nvcc -O3 -std=c++20 -arch="${CUDA_ARCH:-native}" -I "$here/../../include" \
  -I "$build/include" "$here/main.cu" "$here/kernels.cu" "$here/products.cu" \
  -o "$output/compare" -L "$build" -lmettle -lcublas -Xlinker \
  -rpath="$build"
