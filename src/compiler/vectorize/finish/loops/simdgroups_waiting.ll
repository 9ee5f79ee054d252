; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; simdgroups_waiting.ll: runs the simdgroups of one threadgroup in rounds, each
; from one threadgroup barrier to the next, until all are at their end. The
; first four bytes of a simdgroup's frame are the state to go on in, 0 when it
; is done. As a rule all simdgroups are in the same state, and there is a loop for
; each (simdgroups_state.ll), in which the function of a simdgroup is no more
; than what lies between two barriers. group_loop.c replaces $ROW by the row length,
; $FRAME by the bytes of a frame, and the words in capitals below by the loops,
; the cases that lead to them and what they leave.
; Code for whole simdgroups alone has 0 for $LEAST and $GAPS, else 1 and 31.

%group = type { [3 x i32], [3 x i32], [3 x i32], i32 }

declare void @mettle.note.thread(ptr nocapture, i32) nounwind willreturn memory(inaccessiblemem: write)
declare i32 @mettle.simdgroup.$ROW(ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32, ptr, ptr)

define void @mettle.simdgroups.$ROW(ptr noalias readonly %launch, ptr %scratch,
                                    ptr %context, ptr noalias readonly %group)
    nounwind {
enter:
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
  ; -1: not all in the same
  %state = phi i32 [ 0, %enter ], [ %state.next, %round.end ]
  ; Keeps LLVM from moving memory accesses across a barrier.
  fence syncscope("singlethread") seq_cst
  br i1 %any.whole, label %choose, label %whole.done

choose:
  switch i32 %state, label %mixed [ $CASES ]

$LOOPS
mixed:
  %first = phi i32 [ 0, %choose ], [ %first.next, %mixed.next ]
  %frame = phi ptr [ %context, %choose ], [ %frame.next, %mixed.next ]
  %or = phi i32 [ 0, %choose ], [ %or.next, %mixed.next ]
  %and = phi i32 [ -1, %choose ], [ %and.next, %mixed.next ]
  %x = phi i32 [ 0, %choose ], [ %x.next, %mixed.next ]
  %y = phi i32 [ 0, %choose ], [ %y.next, %mixed.next ]
  %z = phi i32 [ 0, %choose ], [ %z.next, %mixed.next ]
  ; In the first round nothing has been kept.
  %kept = load i32, ptr %frame
  %begins = icmp eq i32 %state, 0
  %mixed.state = select i1 %begins, i32 0, i32 %kept
  %runs = icmp ne i32 %mixed.state, 0
  %runs.or.begins = or i1 %runs, %begins
  br i1 %runs.or.begins, label %mixed.run, label %mixed.next

mixed.run:
  call void @mettle.note.thread(ptr %thread.at, i32 %first)
  %reached = call i32 @mettle.simdgroup.$ROW(ptr %launch, ptr %scratch,
      ptr %group, ptr %frame, i32 %first, i32 -1, i32 %mixed.state,
      i32 %x, i32 %y, i32 %z, ptr null, ptr null) noinline
  store i32 %reached, ptr %frame
  br label %mixed.next

mixed.next:
  %now = phi i32 [ %reached, %mixed.run ], [ 0, %mixed ]
  %or.next = or i32 %or, %now
  %and.next = and i32 %and, %now
  ; Where the next simdgroup begins, if rows fill simdgroups.
  %x.up = add i32 %x, $LANES
  %x.ends = icmp uge i32 %x.up, %size.x
  %x.next = select i1 %x.ends, i32 0, i32 %x.up
  %x.carry = zext i1 %x.ends to i32
  %y.up = add i32 %y, %x.carry
  %y.ends = icmp uge i32 %y.up, %size.y
  %y.next = select i1 %y.ends, i32 0, i32 %y.up
  %y.carry = zext i1 %y.ends to i32
  %z.next = add i32 %z, %y.carry
  %first.next = add nuw i32 %first, $LANES
  %frame.next = getelementptr i8, ptr %frame, i64 $FRAME
  %more = icmp ult i32 %first.next, %end
  br i1 %more, label %mixed, label %whole.done

whole.done:
  %or.whole = phi i32 [ 0, %round ], [ %or.next, %mixed.next ] $ORS
  %and.whole = phi i32 [ -1, %round ], [ %and.next, %mixed.next ] $ANDS
  br i1 %any.partial, label %partial, label %round.end

partial:
  %partial.kept = load i32, ptr %partial.frame
  %partial.begins = icmp eq i32 %state, 0
  %partial.state = select i1 %partial.begins, i32 0, i32 %partial.kept
  %partial.runs = icmp ne i32 %partial.state, 0
  %partial.runs.or.begins = or i1 %partial.runs, %partial.begins
  br i1 %partial.runs.or.begins, label %partial.run, label %partial.next

partial.run:
  call void @mettle.note.thread(ptr %thread.at, i32 %end)
  ; A simdgroup with gaps whose row fills it is the end of a single row.
  %partial.reached = call i32 @mettle.simdgroup.$ROW(ptr %launch, ptr %scratch,
      ptr %group, ptr %partial.frame, i32 %end, i32 %mask,
      i32 %partial.state, i32 %end, i32 0, i32 0, ptr null, ptr null) noinline
  store i32 %partial.reached, ptr %partial.frame
  br label %partial.next

partial.next:
  %partial.now = phi i32 [ %partial.reached, %partial.run ], [ 0, %partial ]
  %or.partial = or i32 %or.whole, %partial.now
  %and.partial = and i32 %and.whole, %partial.now
  br label %round.end

round.end:
  %or.all = phi i32 [ %or.whole, %whole.done ], [ %or.partial, %partial.next ]
  %and.all = phi i32 [ %and.whole, %whole.done ], [ %and.partial, %partial.next ]
  %same = icmp eq i32 %or.all, %and.all
  %state.next = select i1 %same, i32 %or.all, i32 -1
  %any.waiting = icmp ne i32 %or.all, 0
  br i1 %any.waiting, label %round, label %leave

leave:
  ret void
}
