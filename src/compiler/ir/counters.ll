; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; counters.ll: a worker's own sums for atomic additions whose results nobody
; wants and which nothing in the kernel can see (vectorize/counters.c): a table of
; addresses and what is still to be added there. An address has one place in it;
; what another address drives out, and what is left at the end of mettle_entry, is
; added to memory then. Few threads, or addresses that drive each other out, do
; without.

; whether it is in use now, whether it has been, how often an address was not
; there, additions, addresses (0: none), sums
%counters = type { i32, i32, i64, i64, [512 x i64], [512 x i32] }
%launch = type { ptr, [3 x i32], [3 x i32], [3 x i32], i32 }

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; Bytes before all else that a worker keeps: a multiple of 64.
define i64 @mettle.kept_bytes() alwaysinline nounwind {
  ret i64 6208
}

define void @mettle.begin(ptr %launch, i32 %first, i32 %end, ptr %scratch,
                          ptr %counters) nounwind {
  %table.at = getelementptr i8, ptr %scratch, i64 32
  store ptr %counters, ptr %table.at
  %x.at = getelementptr %launch, ptr %launch, i32 0, i32 2, i32 0
  %x = load i32, ptr %x.at
  %y.at = getelementptr %launch, ptr %launch, i32 0, i32 2, i32 1
  %y = load i32, ptr %y.at
  %z.at = getelementptr %launch, ptr %launch, i32 0, i32 2, i32 2
  %z = load i32, ptr %z.at
  %plane = mul i32 %x, %y
  %threads = mul i32 %plane, %z
  %threads.64 = zext i32 %threads to i64
  %groups = sub i32 %end, %first
  %groups.64 = zext i32 %groups to i64
  %all = mul i64 %threads.64, %groups.64
  ; The table takes as long to clear and to empty as some 100 additions.
  %is.worth = icmp uge i64 %all, 2048
  %on = zext i1 %is.worth to i32
  store i32 %on, ptr %counters
  %used.at = getelementptr %counters, ptr %counters, i32 0, i32 1
  store i32 %on, ptr %used.at
  br i1 %is.worth, label %clear, label %done

clear:
  %missed.at = getelementptr %counters, ptr %counters, i32 0, i32 2
  store i64 0, ptr %missed.at
  %added.at = getelementptr %counters, ptr %counters, i32 0, i32 3
  store i64 0, ptr %added.at
  %tags = getelementptr %counters, ptr %counters, i32 0, i32 4
  call void @llvm.memset.p0.i64(ptr %tags, i8 0, i64 4096, i1 false)
  br label %done

done:
  ret void
}

define void @mettle.finish(ptr %counters) nounwind {
  %used.at = getelementptr %counters, ptr %counters, i32 0, i32 1
  %used = load i32, ptr %used.at
  %any = icmp ne i32 %used, 0
  br i1 %any, label %places, label %done

places:
  %i = phi i64 [ 0, %0 ], [ %i.next, %next ]
  %tag.at = getelementptr %counters, ptr %counters, i32 0, i32 4, i64 %i
  %tag = load i64, ptr %tag.at
  %is.there = icmp ne i64 %tag, 0
  br i1 %is.there, label %add, label %next

add:
  %sum.at = getelementptr %counters, ptr %counters, i32 0, i32 5, i64 %i
  %sum = load i32, ptr %sum.at
  %to = inttoptr i64 %tag to ptr
  %old = atomicrmw add ptr %to, i32 %sum monotonic
  br label %next

next:
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, 512
  br i1 %more, label %places, label %done

done:
  ret void
}

; Whether the table is to be used for up to 32 additions that follow.
define i1 @mettle.counters.ready(ptr %counters) alwaysinline nounwind {
  %on = load i32, ptr %counters
  %is.on = icmp ne i32 %on, 0
  ret i1 %is.on
}

define void @mettle.counters.note(ptr %counters) alwaysinline nounwind {
  %added.at = getelementptr %counters, ptr %counters, i32 0, i32 3
  %added = load i64, ptr %added.at
  %more = add i64 %added, 32
  store i64 %more, ptr %added.at
  ret void
}

define void @mettle.counters.add(ptr %counters, ptr %address, i32 %value)
    alwaysinline nounwind {
  %bits = ptrtoint ptr %address to i64
  %word = lshr i64 %bits, 2
  %i = and i64 %word, 511
  %tag.at = getelementptr %counters, ptr %counters, i32 0, i32 4, i64 %i
  %tag = load i64, ptr %tag.at
  %is.there = icmp eq i64 %tag, %bits
  br i1 %is.there, label %add, label %miss

add:
  %sum.at = getelementptr %counters, ptr %counters, i32 0, i32 5, i64 %i
  %sum = load i32, ptr %sum.at
  %new = add i32 %sum, %value
  store i32 %new, ptr %sum.at
  br label %done

miss:
  ; Where there is no such memory, the fault is here.
  %touched = load volatile i32, ptr %address
  call void @mettle.counters.miss(ptr %counters, i64 %bits, i32 %value, i64 %i)
  br label %done

done:
  ret void
}

define void @mettle.counters.miss(ptr %counters, i64 %bits, i32 %value, i64 %i)
    noinline nounwind {
  %tag.at = getelementptr %counters, ptr %counters, i32 0, i32 4, i64 %i
  %sum.at = getelementptr %counters, ptr %counters, i32 0, i32 5, i64 %i
  %tag = load i64, ptr %tag.at
  %sum = load i32, ptr %sum.at
  store i64 %bits, ptr %tag.at
  store i32 %value, ptr %sum.at
  %is.there = icmp ne i64 %tag, 0
  br i1 %is.there, label %out, label %done

out:
  %to = inttoptr i64 %tag to ptr
  %old = atomicrmw add ptr %to, i32 %sum monotonic
  %missed.at = getelementptr %counters, ptr %counters, i32 0, i32 2
  %missed = load i64, ptr %missed.at
  %missed.up = add i64 %missed, 1
  store i64 %missed.up, ptr %missed.at
  %added.at = getelementptr %counters, ptr %counters, i32 0, i32 3
  %added = load i64, ptr %added.at
  %missed.twice = shl i64 %missed.up, 1
  %is.often = icmp ugt i64 %missed.twice, %added
  %are.many = icmp ugt i64 %missed.up, 256
  %is.vain = and i1 %is.often, %are.many
  br i1 %is.vain, label %off, label %done

off:
  store i32 0, ptr %counters
  br label %done

done:
  ret void
}
