; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; simdgroups_rest.ll: the last simdgroup of a threadgroup in simdgroups.ll, where
; it may lack threads.
  %left = urem i32 %threads, $LANES
  %any = icmp ne i32 %left, 0
  br i1 %any, label %partial, label %leave

partial:
  %bit = shl nuw i32 1, %left
  %mask = sub i32 %bit, 1
  call void @mettle.note.thread(ptr %thread.at, i32 %end)
  ; A simdgroup with gaps whose row fills it is the end of a single row.
  %done.partial = call i32 @mettle.simdgroup.$ROW(ptr %launch, ptr %scratch,
      ptr %group, ptr %context, i32 %end, i32 %mask, i32 0,
      i32 %end, i32 0, i32 0,
      ptr null, ptr null) noinline
  br label %leave
