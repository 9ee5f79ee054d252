; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; counters.ll: a worker's own sums for atomic additions whose results nobody
; wants and which nothing in the kernel can see (vectorize/counters.c). Each of a
; few windows lies over some pages of device memory in a row, and has two sums
; for each of their words, so that neighbouring lanes need not wait for each
; other; a word's place is the low bits of its address. A window grows by the
; pages that are added to right beside it, so that all of it is memory that is
; there. What lies outside is added to memory at once. The sums are when the
; worker has done its share.

; whether it is used; where it begins and how many bytes it covers; how many
; additions were outside; all of them, about; sums, the second half a page off
; the first: a load waits for stores whose addresses are alike in 12 bits
%window = type { i64, i64, i64, i64, i64, [3 x i64], [4096 x i32], [512 x i32],
                  [4096 x i32] }
%launch = type { ptr, [3 x i32], [3 x i32], [3 x i32], i32, ptr, ptr, i32 }

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i32 @llvm.vector.reduce.or.v16i32(<16 x i32>)

; How many windows the kernel has, and whether what it adds to lies apart from
; what it reads behind it.
declare i64 @mettle.counters.windows()
declare i1 @mettle.counters.apart(ptr)

define void @mettle.begin(ptr %launch, ptr %scratch, ptr %windows) nounwind {
  %windows.at = getelementptr i8, ptr %scratch, i64 32
  %waits.at = getelementptr %launch, ptr %launch, i32 0, i32 7
  %waits = load i32, ptr %waits.at
  %is.kept = icmp ne i32 %waits, 0
  %present = load ptr, ptr %windows.at
  %is.there = icmp ne ptr %present, null
  %goes.on = and i1 %is.kept, %is.there
  br i1 %goes.on, label %done, label %begin

begin:
  store ptr %windows, ptr %windows.at
  %apart = call i1 @mettle.counters.apart(ptr %launch)
  %on = zext i1 %apart to i64
  %count = call i64 @mettle.counters.windows()
  br label %clear

clear:
  %i = phi i64 [ 0, %begin ], [ %i.next, %clear ]
  %window = getelementptr %window, ptr %windows, i64 %i
  call void @llvm.memset.p0.i64(ptr %window, i8 0, i64 64, i1 false)
  store i64 %on, ptr %window
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %count
  br i1 %more, label %clear, label %done

done:
  ret void
}

define void @mettle.finish(ptr %scratch) nounwind {
  %windows.at = getelementptr i8, ptr %scratch, i64 32
  %windows = load ptr, ptr %windows.at
  %any = icmp ne ptr %windows, null
  br i1 %any, label %begin, label %done

begin:
  store ptr null, ptr %windows.at
  %count = call i64 @mettle.counters.windows()
  br label %each

each:
  %i = phi i64 [ 0, %begin ], [ %i.next, %each ]
  %window = getelementptr %window, ptr %windows, i64 %i
  call void @mettle.counters.empty(ptr %window)
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %count
  br i1 %more, label %each, label %done

done:
  ret void
}

define void @mettle.counters.empty(ptr %window) nounwind {
  %first.at = getelementptr %window, ptr %window, i32 0, i32 1
  %first = load i64, ptr %first.at
  %bytes.at = getelementptr %window, ptr %window, i32 0, i32 2
  %bytes = load i64, ptr %bytes.at
  %any = icmp ne i64 %bytes, 0
  br i1 %any, label %lines, label %done

lines:
  %offset = phi i64 [ 0, %0 ], [ %offset.next, %line.done ]
  %address = add i64 %first, %offset
  %word = lshr i64 %address, 2
  %place = and i64 %word, 4095
  %even.at = getelementptr %window, ptr %window, i32 0, i32 6, i64 %place
  %even = load <16 x i32>, ptr %even.at, align 64
  %odd.at = getelementptr %window, ptr %window, i32 0, i32 8, i64 %place
  %odd = load <16 x i32>, ptr %odd.at, align 64
  %sums = add <16 x i32> %even, %odd
  store <16 x i32> %sums, ptr %even.at, align 64
  %or = call i32 @llvm.vector.reduce.or.v16i32(<16 x i32> %sums)
  %is.empty = icmp eq i32 %or, 0
  br i1 %is.empty, label %line.done, label %words

words:
  %i = phi i64 [ 0, %lines ], [ %i.next, %word.done ]
  %sum.at = getelementptr i32, ptr %even.at, i64 %i
  %sum = load i32, ptr %sum.at
  %is.zero = icmp eq i32 %sum, 0
  br i1 %is.zero, label %word.done, label %add

add:
  %target = inttoptr i64 %address to ptr
  %to = getelementptr i32, ptr %target, i64 %i
  %old = atomicrmw add ptr %to, i32 %sum monotonic
  br label %word.done

word.done:
  %i.next = add i64 %i, 1
  %more.words = icmp ult i64 %i.next, 16
  br i1 %more.words, label %words, label %line.done

line.done:
  %offset.next = add i64 %offset, 64
  %more = icmp ult i64 %offset.next, %bytes
  br i1 %more, label %lines, label %done

done:
  ret void
}

; Whether a window is to be used for an addition of up to 32 lanes.
define i1 @mettle.counters.ready(ptr %window) alwaysinline nounwind {
  %on = load i64, ptr %window
  %is.on = icmp ne i64 %on, 0
  ret i1 %is.on
}

; Counts 32 additions.
define void @mettle.counters.note(ptr %window) alwaysinline nounwind {
  %all.at = getelementptr %window, ptr %window, i32 0, i32 4
  %all = load i64, ptr %all.at
  %more = add i64 %all, 32
  store i64 %more, ptr %all.at
  ret void
}

; One lane's.
define void @mettle.counters.add(ptr %window, ptr %address, i32 %value)
    alwaysinline nounwind {
  %first.at = getelementptr %window, ptr %window, i32 0, i32 1
  %first = load i64, ptr %first.at
  %bytes.at = getelementptr %window, ptr %window, i32 0, i32 2
  %bytes = load i64, ptr %bytes.at
  %bits = ptrtoint ptr %address to i64
  %offset = sub i64 %bits, %first
  %is.inside = icmp ult i64 %offset, %bytes
  br i1 %is.inside, label %inside, label %outside

inside:
  %word = lshr i64 %bits, 2
  %place = and i64 %word, 4095
  %sum.at = getelementptr %window, ptr %window, i32 0, i32 6, i64 %place
  %sum = load i32, ptr %sum.at
  %new = add i32 %sum, %value
  store i32 %new, ptr %sum.at
  br label %done

outside:
  ; Where there is no such memory, the fault is here.
  %old = atomicrmw add ptr %address, i32 %value monotonic
  call preserve_mostcc void @mettle.counters.miss(ptr %window, i64 %bits)
  br label %done

done:
  ret void
}

; What was added at an address was outside.
define preserve_mostcc void @mettle.counters.miss(ptr %window, i64 %bits) noinline nounwind {
  %missed.at = getelementptr %window, ptr %window, i32 0, i32 3
  %missed = load i64, ptr %missed.at
  %missed.up = add i64 %missed, 1
  store i64 %missed.up, ptr %missed.at
  ; A window takes as long to open and to empty as some 100 additions.
  %is.early = icmp ult i64 %missed.up, 512
  %on = load i64, ptr %window
  %is.off = icmp eq i64 %on, 0
  %is.passed = or i1 %is.early, %is.off
  br i1 %is.passed, label %done, label %look

look:
  %first.at = getelementptr %window, ptr %window, i32 0, i32 1
  %first = load i64, ptr %first.at
  %bytes.at = getelementptr %window, ptr %window, i32 0, i32 2
  %bytes = load i64, ptr %bytes.at
  %page = and i64 %bits, -4096
  %end = add i64 %first, %bytes
  %is.none = icmp eq i64 %bytes, 0
  %is.next = icmp eq i64 %page, %end
  %page.end = add i64 %page, 4096
  %is.before = icmp eq i64 %page.end, %first
  %is.beside = or i1 %is.next, %is.before
  %has.room = icmp ult i64 %bytes, 16384
  %fits = and i1 %is.beside, %has.room
  %grows = or i1 %is.none, %fits
  br i1 %grows, label %grow, label %count

grow:
  %from.page = or i1 %is.none, %is.before
  %first.new = select i1 %from.page, i64 %page, i64 %first
  store i64 %first.new, ptr %first.at
  %bytes.new = add i64 %bytes, 4096
  store i64 %bytes.new, ptr %bytes.at
  %word = lshr i64 %page, 2
  %place = and i64 %word, 4095
  %even.at = getelementptr %window, ptr %window, i32 0, i32 6, i64 %place
  call void @llvm.memset.p0.i64(ptr align 64 %even.at, i8 0, i64 4096, i1 false)
  %odd.at = getelementptr %window, ptr %window, i32 0, i32 8, i64 %place
  call void @llvm.memset.p0.i64(ptr align 64 %odd.at, i8 0, i64 4096, i1 false)
  br label %done

count:
  ; Given up where more than half of all additions are outside.
  %all.at = getelementptr %window, ptr %window, i32 0, i32 4
  %all = load i64, ptr %all.at
  %twice = shl i64 %missed.up, 1
  %is.often = icmp ugt i64 %twice, %all
  %are.many = icmp ugt i64 %missed.up, 2048
  %is.vain = and i1 %is.often, %are.many
  br i1 %is.vain, label %off, label %done

off:
  store i64 0, ptr %window
  br label %done

done:
  ret void
}
