; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; check_lane_loop.ll: mettle.group of checked kernels whose threads do not wait
; for each other: the checker's run-time part runs them.

declare void @mettle.body(ptr, ptr, ptr, i32, i32, i32, i32)

define void @mettle.group(ptr %launch, ptr %scratch, ptr %context, ptr %group)
    nounwind {
  %check.at = getelementptr i8, ptr %launch, i64 72
  %check = load ptr, ptr %check.at
  %at = getelementptr i8, ptr %check, i64 72
  %run = load ptr, ptr %at
  call void %run(ptr %check, ptr %launch, ptr %scratch, ptr %group,
                 ptr @mettle.body)
  ret void
}
