; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; simdgroups_at_once.ll: runs whole simdgroups of one threadgroup, COUNT at a
; time, as far as that goes. group_loop.c replaces ROW by the row length that the
; code is for, POSITIONS by where each but the first begins and OTHERS by
; these as arguments, LAST by the number of what follows them, WIDEST by the
; longest row for which it works, and SINGLES by how to run them one by one if
; they refuse to run at once. Returns where it has come to: the thread, and x, y
; and z.

declare void @mettle.note.thread(ptr nocapture, i32) nounwind willreturn memory(inaccessiblemem: write)
declare i32 @mettle.simdgroup.$ROW(ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32, ptr, ptr)
declare i32 @mettle.simdgroups.of.$ROW(ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32, ptr, ptr, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)

define { i32, i32, i32, i32 } @mettle.at.once.$ROW(
    ptr noalias readonly %launch, ptr %scratch, ptr %context,
    ptr noalias readonly %group, i32 %threads, i32 %size.x, i32 %size.y)
    nounwind alwaysinline {
enter:
  %thread.at = getelementptr i8, ptr %scratch, i64 12
  %batches = udiv i32 %threads, $BATCH
  %end = mul i32 %batches, $BATCH
  %any = icmp ne i32 %end, 0
  %fits = icmp ule i32 %size.x, $WIDEST
  %go = and i1 %any, %fits
  br i1 %go, label %batch, label %leave

batch:
  %first.0 = phi i32 [ 0, %enter ], [ %first.$LAST, %next ]
  %x.0 = phi i32 [ 0, %enter ], [ %x.$LAST, %next ]
  %y.0 = phi i32 [ 0, %enter ], [ %y.$LAST, %next ]
  %z.0 = phi i32 [ 0, %enter ], [ %z.$LAST, %next ]
  ; With how many threads run (mtli_cpu_position).
  %count = shl nuw i32 $BATCH, 16
  %noted = or i32 %first.0, %count
  call void @mettle.note.thread(ptr %thread.at, i32 %noted)
$POSITIONS
  %done = call i32 @mettle.simdgroups.of.$ROW(ptr %launch, ptr %scratch,
      ptr %group, ptr %context, i32 %first.0, i32 -1, i32 0,
      i32 %x.0, i32 %y.0, i32 %z.0, ptr null, ptr null$OTHERS) alwaysinline
$SINGLES
next:
  %more = icmp ult i32 %first.$LAST, %end
  br i1 %more, label %batch, label %leave

leave:
  %first = phi i32 [ 0, %enter ], [ %first.$LAST, %next ]
  %x = phi i32 [ 0, %enter ], [ %x.$LAST, %next ]
  %y = phi i32 [ 0, %enter ], [ %y.$LAST, %next ]
  %z = phi i32 [ 0, %enter ], [ %z.$LAST, %next ]
  %at.first = insertvalue { i32, i32, i32, i32 } poison, i32 %first, 0
  %at.x = insertvalue { i32, i32, i32, i32 } %at.first, i32 %x, 1
  %at.y = insertvalue { i32, i32, i32, i32 } %at.x, i32 %y, 2
  %at = insertvalue { i32, i32, i32, i32 } %at.y, i32 %z, 3
  ret { i32, i32, i32, i32 } %at
}
