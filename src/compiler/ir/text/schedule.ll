; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; schedule.ll: mettle.group for kernels whose threads wait for each other. Each
; thread is a coroutine. A thread runs until it waits or returns, notes which
; in its state, and goes on when this scheduler resumes it.
;
; The rule of docs/ir.md, "Which threads are active", is this: of a simdgroup's
; waiting threads, those furthest behind in the program go first, together. How
; far a thread is, is its key, mettle.key_words numbers compared in order: the
; position of each cycle around the call and its turn in it, outermost first,
; then the position of the call (make_coroutines.c).

%group = type { [3 x i32], [3 x i32], [3 x i32], i32 }

; Where a threadgroup's threads keep what they wait for, in the context memory.
; states    [threads] i32: 0 returned, 1 at a threadgroup barrier, 2 + n at
;           simdgroup function n of the kernel
; values    [threads] i64, the argument, then the result, of that function
; operands  [threads] i32, its second argument
; keys      [threads][key_words] i32
; frames    [threads][frame_bytes]
%waiting = type { ptr, ptr, ptr, ptr, ptr }

@mettle.key_words = external constant i64
@mettle.frame_bytes = external constant i64

; The thread: launch, scratch, group, position in the threadgroup, index in it,
; waiting, frame. Runs to where it first waits.
declare void @mettle.body(ptr, ptr, ptr, i32, i32, i32, i32, ptr, ptr)
; Carries out simdgroup function n for the threads in the mask: values,
; operands.
declare void @mettle.execute(i32, i32, ptr, ptr)

declare void @llvm.coro.resume(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @llvm.umin.i32(i32, i32)

define internal i32 @mettle.padded(i32 %threads) alwaysinline nounwind {
  %up = add i32 %threads, 31
  %padded = and i32 %up, -32
  ret i32 %padded
}

define internal void @mettle.lay_out(ptr %waiting, ptr %context, i32 %threads)
    alwaysinline nounwind {
  %padded = call i32 @mettle.padded(i32 %threads)
  %n = zext i32 %padded to i64
  %values = getelementptr i32, ptr %context, i64 %n
  %operands = getelementptr i64, ptr %values, i64 %n
  %keys = getelementptr i32, ptr %operands, i64 %n
  %words = load i64, ptr @mettle.key_words
  %key.words = mul i64 %words, %n
  %frames = getelementptr i32, ptr %keys, i64 %key.words
  store ptr %context, ptr %waiting
  %values.at = getelementptr %waiting, ptr %waiting, i32 0, i32 1
  store ptr %values, ptr %values.at
  %operands.at = getelementptr %waiting, ptr %waiting, i32 0, i32 2
  store ptr %operands, ptr %operands.at
  %keys.at = getelementptr %waiting, ptr %waiting, i32 0, i32 3
  store ptr %keys, ptr %keys.at
  %frames.at = getelementptr %waiting, ptr %waiting, i32 0, i32 4
  store ptr %frames, ptr %frames.at
  ret void
}

; Writes mtli_cpu_position.thread_in_group. Volatile: a signal handler reads it.
define internal void @mettle.note_thread(ptr %scratch, i32 %index) alwaysinline
    nounwind {
  %at = getelementptr i8, ptr %scratch, i64 12
  store volatile i32 %index, ptr %at
  ret void
}

define internal ptr @mettle.frame(ptr %waiting, i32 %index) alwaysinline
    nounwind {
  %frames.at = getelementptr %waiting, ptr %waiting, i32 0, i32 4
  %frames = load ptr, ptr %frames.at
  %bytes = load i64, ptr @mettle.frame_bytes
  %index.wide = zext i32 %index to i64
  %offset = mul i64 %bytes, %index.wide
  %frame = getelementptr i8, ptr %frames, i64 %offset
  ret ptr %frame
}

define internal void @mettle.resume(ptr %waiting, ptr %scratch, i32 %index)
    alwaysinline nounwind {
  call void @mettle.note_thread(ptr %scratch, i32 %index)
  %frame = call ptr @mettle.frame(ptr %waiting, i32 %index)
  call void @llvm.coro.resume(ptr %frame)
  ret void
}

; -1, 0 or 1 as the first key is behind, level with, or ahead of the second.
define internal i32 @mettle.compare_keys(ptr %left, ptr %right) alwaysinline
    nounwind {
enter:
  %words = load i64, ptr @mettle.key_words
  br label %test
test:
  %i = phi i64 [ 0, %enter ], [ %i.next, %same ]
  %more = icmp ult i64 %i, %words
  br i1 %more, label %compare, label %equal
compare:
  %left.at = getelementptr i32, ptr %left, i64 %i
  %left.word = load i32, ptr %left.at
  %right.at = getelementptr i32, ptr %right, i64 %i
  %right.word = load i32, ptr %right.at
  %i.next = add i64 %i, 1
  %differs = icmp ne i32 %left.word, %right.word
  br i1 %differs, label %different, label %same
same:
  br label %test
different:
  %is.behind = icmp ult i32 %left.word, %right.word
  %order = select i1 %is.behind, i32 -1, i32 1
  ret i32 %order
equal:
  ret i32 0
}

; Runs a simdgroup until each of its threads has returned or is at a
; threadgroup barrier. Returns whether one is at a barrier.
define internal i1 @mettle.drain(ptr %waiting, ptr %scratch, i32 %first,
                                 i32 %lanes) nounwind {
enter:
  %states = load ptr, ptr %waiting
  %values.at = getelementptr %waiting, ptr %waiting, i32 0, i32 1
  %values = load ptr, ptr %values.at
  %operands.at = getelementptr %waiting, ptr %waiting, i32 0, i32 2
  %operands = load ptr, ptr %operands.at
  %keys.at = getelementptr %waiting, ptr %waiting, i32 0, i32 3
  %keys = load ptr, ptr %keys.at
  %words = load i64, ptr @mettle.key_words
  %own.values = getelementptr i64, ptr %values, i32 %first
  %own.operands = getelementptr i32, ptr %operands, i32 %first
  br label %pick

pick:
  br label %look

look:
  %lane = phi i32 [ 0, %pick ], [ %lane.next, %look.next ]
  %best = phi i32 [ -1, %pick ], [ %best.next, %look.next ]
  %mask = phi i32 [ 0, %pick ], [ %mask.next, %look.next ]
  %barrier = phi i1 [ false, %pick ], [ %barrier.next, %look.next ]
  %index = add i32 %first, %lane
  %state.at = getelementptr i32, ptr %states, i32 %index
  %state = load i32, ptr %state.at
  %is.barrier = icmp eq i32 %state, 1
  %barrier.next = or i1 %barrier, %is.barrier
  %is.waiting = icmp ugt i32 %state, 1
  br i1 %is.waiting, label %weigh, label %look.next

weigh:
  %bit = shl i32 1, %lane
  %is.first = icmp eq i32 %best, -1
  br i1 %is.first, label %look.next, label %compare

compare:
  %index.wide = zext i32 %index to i64
  %key.at = mul i64 %index.wide, %words
  %key = getelementptr i32, ptr %keys, i64 %key.at
  %best.index = add i32 %first, %best
  %best.wide = zext i32 %best.index to i64
  %best.at = mul i64 %best.wide, %words
  %best.key = getelementptr i32, ptr %keys, i64 %best.at
  %order = call i32 @mettle.compare_keys(ptr %key, ptr %best.key)
  %is.behind = icmp slt i32 %order, 0
  %is.level = icmp eq i32 %order, 0
  %best.behind = select i1 %is.behind, i32 %lane, i32 %best
  %with.bit = or i32 %mask, %bit
  %mask.level = select i1 %is.level, i32 %with.bit, i32 %mask
  %mask.behind = select i1 %is.behind, i32 %bit, i32 %mask.level
  br label %look.next

look.next:
  %best.next = phi i32 [ %best, %look ], [ %lane, %weigh ],
                       [ %best.behind, %compare ]
  %mask.next = phi i32 [ %mask, %look ], [ %bit, %weigh ],
                       [ %mask.behind, %compare ]
  %lane.next = add i32 %lane, 1
  %more = icmp ult i32 %lane.next, %lanes
  br i1 %more, label %look, label %picked

picked:
  %none = icmp eq i32 %mask.next, 0
  br i1 %none, label %done, label %execute

execute:
  %chosen = add i32 %first, %best.next
  %chosen.at = getelementptr i32, ptr %states, i32 %chosen
  %chosen.state = load i32, ptr %chosen.at
  %function = sub i32 %chosen.state, 2
  call void @mettle.execute(i32 %function, i32 %mask.next, ptr %own.values,
                            ptr %own.operands)
  br label %go.on

go.on:
  %left = phi i32 [ %mask.next, %execute ], [ %left.next, %go.on ]
  %next = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %below = sub i32 %left, 1
  %left.next = and i32 %left, %below
  %resumed = add i32 %first, %next
  call void @mettle.resume(ptr %waiting, ptr %scratch, i32 %resumed)
  %any.left = icmp ne i32 %left.next, 0
  br i1 %any.left, label %go.on, label %pick

done:
  ret i1 %barrier.next
}

declare i32 @llvm.cttz.i32(i32, i1)

define internal void @mettle.start(ptr %launch, ptr %scratch, ptr %group,
                                   ptr %waiting) nounwind {
enter:
  %size.x.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 0
  %size.x = load i32, ptr %size.x.at
  %size.y.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 1
  %size.y = load i32, ptr %size.y.at
  %threads.at = getelementptr %group, ptr %group, i32 0, i32 3
  %threads = load i32, ptr %threads.at
  br label %thread

thread:
  %index = phi i32 [ 0, %enter ], [ %index.next, %thread ]
  %x = phi i32 [ 0, %enter ], [ %x.next, %thread ]
  %y = phi i32 [ 0, %enter ], [ %y.next, %thread ]
  %z = phi i32 [ 0, %enter ], [ %z.next, %thread ]
  call void @mettle.note_thread(ptr %scratch, i32 %index)
  %frame = call ptr @mettle.frame(ptr %waiting, i32 %index)
  call void @mettle.body(ptr %launch, ptr %scratch, ptr %group, i32 %x, i32 %y,
                         i32 %z, i32 %index, ptr %waiting, ptr %frame)
  %x.up = add i32 %x, 1
  %x.ends = icmp eq i32 %x.up, %size.x
  %x.next = select i1 %x.ends, i32 0, i32 %x.up
  %x.carry = zext i1 %x.ends to i32
  %y.up = add i32 %y, %x.carry
  %y.ends = icmp eq i32 %y.up, %size.y
  %y.next = select i1 %y.ends, i32 0, i32 %y.up
  %y.carry = zext i1 %y.ends to i32
  %z.next = add i32 %z, %y.carry
  %index.next = add i32 %index, 1
  %more = icmp ult i32 %index.next, %threads
  br i1 %more, label %thread, label %done

done:
  ret void
}

; Resumes every thread that is at a threadgroup barrier.
define internal void @mettle.release(ptr %waiting, ptr %scratch, i32 %threads)
    nounwind {
enter:
  %states = load ptr, ptr %waiting
  br label %thread

thread:
  %index = phi i32 [ 0, %enter ], [ %index.next, %thread.next ]
  %state.at = getelementptr i32, ptr %states, i32 %index
  %state = load i32, ptr %state.at
  %is.barrier = icmp eq i32 %state, 1
  br i1 %is.barrier, label %go.on, label %thread.next

go.on:
  call void @mettle.resume(ptr %waiting, ptr %scratch, i32 %index)
  br label %thread.next

thread.next:
  %index.next = add i32 %index, 1
  %more = icmp ult i32 %index.next, %threads
  br i1 %more, label %thread, label %done

done:
  ret void
}

define void @mettle.group(ptr %launch, ptr %scratch, ptr %context, ptr %group)
    nounwind {
enter:
  %waiting = alloca %waiting
  %threads.at = getelementptr %group, ptr %group, i32 0, i32 3
  %threads = load i32, ptr %threads.at
  call void @mettle.lay_out(ptr %waiting, ptr %context, i32 %threads)
  call void @mettle.start(ptr %launch, ptr %scratch, ptr %group, ptr %waiting)
  br label %round

round:
  br label %simdgroup

simdgroup:
  %first = phi i32 [ 0, %round ], [ %first.next, %simdgroup ]
  %any = phi i1 [ false, %round ], [ %any.next, %simdgroup ]
  %left = sub i32 %threads, %first
  %lanes = call i32 @llvm.umin.i32(i32 %left, i32 32)
  %barrier = call i1 @mettle.drain(ptr %waiting, ptr %scratch, i32 %first,
                                   i32 %lanes)
  %any.next = or i1 %any, %barrier
  %first.next = add i32 %first, 32
  %more = icmp ult i32 %first.next, %threads
  br i1 %more, label %simdgroup, label %drained

drained:
  br i1 %any.next, label %release, label %done

release:
  call void @mettle.release(ptr %waiting, ptr %scratch, i32 %threads)
  br label %round

done:
  ret void
}

; Shuffles: each thread in the mask takes the value of the thread that its
; operand names. Its operand becomes the mask: what threads outside of it have
; to give is elsewhere (make_coroutines.c).
define void @mettle.execute_shuffle(i32 %mask, ptr %values,
                                    ptr %operands) nounwind {
enter:
  %old = alloca [32 x i64]
  call void @llvm.memcpy.p0.p0.i64(ptr %old, ptr %values, i64 256, i1 false)
  br label %lane

lane:
  %left = phi i32 [ %mask, %enter ], [ %left.next, %lane ]
  %to = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %below = sub i32 %left, 1
  %left.next = and i32 %left, %below
  %operand.at = getelementptr i32, ptr %operands, i32 %to
  %operand = load i32, ptr %operand.at
  %from = and i32 %operand, 31
  %from.at = getelementptr i64, ptr %old, i32 %from
  %value = load i64, ptr %from.at
  %to.at = getelementptr i64, ptr %values, i32 %to
  store i64 %value, ptr %to.at
  store i32 %mask, ptr %operand.at
  %more = icmp ne i32 %left.next, 0
  br i1 %more, label %lane, label %done

done:
  ret void
}
