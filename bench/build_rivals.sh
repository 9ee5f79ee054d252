#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# build_rivals.sh OUTPUT FALLBACK_COMPILER SOURCE...: the kernels in C as a
# library: by clang with OpenMP where both are there, the rival to beat, or else
# by the compiler at hand; with this machine's instructions and -O3.
set -eu
output=$1
fallback=$2
shift 2
options="-std=gnu11 -O3 -march=native -fPIC -shared -Wall -Wextra"

# -Wno-pass-failed: a loop that clang cannot vectorise is its loss.
for compiler in "clang-19 -Wno-pass-failed" clang "$fallback"; do
  # shellcheck disable=SC2086
  if echo 'int main(void) { return 0; }' |
    $compiler -fopenmp -march=native -x c - -o "$output" 2>/dev/null; then
    # shellcheck disable=SC2086
    exec $compiler $options -fopenmp "$@" -o "$output" -lm
  fi
done
echo "No compiler with OpenMP: the kernels in C run on one core." >&2
# shellcheck disable=SC2086
exec $fallback $options -Wno-unknown-pragmas "$@" -o "$output" -lm
