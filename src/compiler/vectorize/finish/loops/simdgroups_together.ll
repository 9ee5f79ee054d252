; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; simdgroups_together.ll: runs the simdgroups of one threadgroup in rounds, each
; from one threadgroup barrier to the next, for kernels whose simdgroups all come
; to the same barriers. There is a loop over simdgroups for each state, which is
; what lies between two barriers (simdgroups_step.ll), or one for all of them.
; What simdgroups share is read from one place and written to another, so that
; each of them finds it as it was; both become registers. group_loop.c replaces $ROW
; by the row length, $FRAME by the bytes of a frame, $COMMON by those that are
; shared, and the other words in capitals by the loops and the ways there and
; back.
; Code for whole simdgroups alone has 0 for $LEAST and $GAPS, else 1 and one less
; than $LANES, which run at a time: all of a simdgroup or half of it.

%group = type { [3 x i32], [3 x i32], [3 x i32], i32 }

declare void @mettle.note.thread(ptr nocapture, i32) nounwind willreturn memory(inaccessiblemem: write)
declare i32 @mettle.simdgroup.$ROW(ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32, ptr, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @mettle.simdgroups.$ROW(ptr noalias readonly %launch, ptr %scratch,
                                    ptr %context, ptr noalias readonly %group,
                                    ptr %memory)
    nounwind {
enter:
  %in = alloca [$COMMON x i8], align 64
  %out = alloca [$COMMON x i8], align 64
  %partial.in = alloca [$COMMON x i8], align 64
  %partial.out = alloca [$COMMON x i8], align 64
  %thread.at = getelementptr i8, ptr %scratch, i64 12
  %threads.at = getelementptr %group, ptr %group, i32 0, i32 3
  %threads = load i32, ptr %threads.at
  %size.x.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 0
  %size.x = load i32, ptr %size.x.at
  %size.y.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 1
  %size.y = load i32, ptr %size.y.at
  %end = and i32 %threads, -$LANES
  %any.whole = icmp uge i32 %end, $LEAST
  ; The lanes of the last simdgroup if it has gaps, and its frame.
  %left = and i32 %threads, $GAPS
  %any.partial = icmp ne i32 %left, 0
  %bit = shl nuw i32 1, %left
  %mask = sub i32 %bit, 1
  %whole.count = udiv i32 %end, $LANES
  %whole.count.64 = zext i32 %whole.count to i64
  %partial.offset = mul i64 %whole.count.64, $FRAME
  %partial.frame = getelementptr i8, ptr %context, i64 %partial.offset
  br label %round

round:
  %state = phi i32 [ 0, %enter ], [ %reached, %round.end ]
  ; Keeps LLVM from moving memory accesses across a barrier.
  fence syncscope("singlethread") seq_cst
  br i1 %any.whole, label %choose, label %whole.done

choose:
  switch i32 %state, label %enter.$OTHERWISE [ $WAYS ]

$LOOPS
whole.done:
  %reached.whole = phi i32 [ 0, %round ] $REACHED
  br i1 %any.partial, label %partial, label %round.end

partial:
  call void @mettle.note.thread(ptr %thread.at, i32 %end)
  call void @llvm.memcpy.p0.p0.i64(ptr %partial.in, ptr %in, i64 $COMMON, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %partial.out, ptr %in, i64 $COMMON, i1 false)
  ; A simdgroup with gaps whose row fills it is the end of a single row.
  %reached.partial = call i32 @mettle.simdgroup.$ROW(ptr %launch, ptr %memory,
      ptr %group, ptr %partial.frame, i32 %end, i32 %mask, i32 %state,
      i32 %end, i32 0, i32 0, ptr %partial.in, ptr %partial.out) noinline
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %partial.out, i64 $COMMON, i1 false)
  br label %round.end

round.end:
  %reached = phi i32 [ %reached.whole, %whole.done ], [ %reached.partial, %partial ]
  call void @llvm.memcpy.p0.p0.i64(ptr %in, ptr %out, i64 $COMMON, i1 false)
  %any.waiting = icmp ne i32 %reached, 0
  br i1 %any.waiting, label %round, label %leave

leave:
  ret void
}
