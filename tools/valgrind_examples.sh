#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# valgrind_examples.sh BUILD: runs each example under valgrind, which must find
# nothing, leaks included. The last line is "N passed, N failed".
#
# Kernels run under valgrind too, so they are compiled for a CPU that it knows:
# it has no AVX-512. Guard pages are mappings, which its search for leaks passes
# over: each page that looks accessible and is not costs it a signal, which is
# half a minute for the unused part of the reserved address space.
set -u
export METTLE_GUARDS=mappings METTLE_CPU_TARGET="x86_64 x86-64-v3"
build=$1
passed=0
failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

cd "$build" || exit 1
for program in examples/*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  [ "$program" = examples/run_model ] && continue  # needs a model from torch
  if valgrind -q --error-exitcode=99 \
      --leak-check=full --show-leak-kinds=definite,indirect,possible \
      --errors-for-leak-kinds=definite,indirect --trace-children=no \
      "$program" >"$output" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED valgrind $program"
    tail -n 40 "$output"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
