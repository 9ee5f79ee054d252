#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# demo.sh BUILD: runs the examples of a build folder and prints a small table;
# what they write (the picture) is left in that folder. Fails if one fails.
set -u
build=$1
failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

cd "$build" || exit 1
echo
printf '%-16s %9s  %s\n' example 'time (ms)' result
for program in examples/*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  [ "$program" = examples/run_model ] && continue  # needs a model from torch
  start=$(date +%s%N)
  if "$program" >"$output" 2>&1; then
    result=$(tail -n 1 "$output")
  else
    result="FAILED: $(tail -n 1 "$output")"
    failed=1
  fi
  milliseconds=$((($(date +%s%N) - start) / 1000000))
  printf '%-16s %9d  %s\n' "$(basename "$program")" "$milliseconds" "$result"
done
for picture in *.png; do
  [ -f "$picture" ] && printf '\nThe picture: %s/%s\n' "$build" "$picture"
done
exit $failed
