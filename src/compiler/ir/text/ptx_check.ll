; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; ptx_check.ll: asks whether the bytes of an access are there; if not, the
; thread leaves a record and ends (code/ptx_abi.h has both tables).

@mettle_shared = external addrspace(3) global [0 x i8], align 64

declare i1 @llvm.nvvm.isspacep.local(ptr)
declare i1 @llvm.nvvm.isspacep.shared(ptr)
; Ends the thread: record, reason, text, place, threadgroup, thread, address,
; access.
declare void @mettle_stop(ptr, i32, i64, i64, i32, i32, i32, i32, i32, i32,
                          i64, i32)
; True if the bytes are of a constant of the program's.
declare i1 @mettle_is_constant(i64 %first, i64 %end)

; access: bit 0 for a write; what ends at mettle_stop has bit 1 set if address is
; an offset in threadgroup memory, and from bit 8 on the slot plus 1 whose memory
; it was to be.
define void @mettle_ask(ptr %address, i64 %bytes, i32 %slot,
                                 i32 %access, ptr %ranges, ptr %record,
                                 i64 %place, i32 %gx, i32 %gy, i32 %gz,
                                 i32 %tx, i32 %ty, i32 %tz)
    noinline nounwind {
  %first = ptrtoint ptr %address to i64
  %end = add i64 %first, %bytes
  %is.local = call i1 @llvm.nvvm.isspacep.local(ptr %address)
  br i1 %is.local, label %done, label %not.local

not.local:
  %is.shared = call i1 @llvm.nvvm.isspacep.shared(ptr %address)
  br i1 %is.shared, label %shared, label %global

shared:
  %base = ptrtoint ptr addrspacecast (ptr addrspace(3) @mettle_shared to ptr) to i64
  %offset = sub i64 %first, %base
  %offset.end = add i64 %offset, %bytes
  %size = call i32 asm "mov.u32 $0, %dynamic_smem_size;", "=r"()
  %size.wide = zext i32 %size to i64
  %starts.inside = icmp ult i64 %offset, %size.wide
  %ends.inside = icmp ule i64 %offset.end, %size.wide
  %is.inside.shared = and i1 %starts.inside, %ends.inside
  br i1 %is.inside.shared, label %done, label %stop

global:
  %wraps = icmp ult i64 %end, %first
  br i1 %wraps, label %stop, label %known.or.any

known.or.any:
  %has.slot = icmp ne i32 %slot, -1
  br i1 %has.slot, label %known, label %any

known:
  %slot.wide = zext i32 %slot to i64
  %pair = getelementptr inbounds { i64, i64 }, ptr %ranges, i64 %slot.wide
  %range = getelementptr inbounds i8, ptr %pair, i64 16
  %begin.known = load i64, ptr %range, align 8
  %end.at.known = getelementptr inbounds i8, ptr %range, i64 8
  %end.known = load i64, ptr %end.at.known, align 8
  %is.unknown = icmp ugt i64 %begin.known, %end.known
  br i1 %is.unknown, label %any, label %compare

compare:
  %begins.inside = icmp uge i64 %first, %begin.known
  %finishes.inside = icmp ule i64 %end, %end.known
  %is.inside.known = and i1 %begins.inside, %finishes.inside
  %slot.one = add i32 %slot, 1
  %slot.bits = shl i32 %slot.one, 8
  br i1 %is.inside.known, label %done, label %stop

; The last range that begins at the address or before.
any:
  %count = load i64, ptr %ranges, align 8
  %slots.at = getelementptr inbounds i8, ptr %ranges, i64 8
  %slots = load i64, ptr %slots.at, align 8
  %all.index = add i64 %slots, 1
  %all = getelementptr inbounds { i64, i64 }, ptr %ranges, i64 %all.index
  br label %halve

halve:
  %low = phi i64 [ 0, %any ], [ %next.low, %step ]
  %high = phi i64 [ %count, %any ], [ %next.high, %step ]
  %is.over = icmp uge i64 %low, %high
  br i1 %is.over, label %found, label %step

step:
  %sum = add i64 %low, %high
  %middle = lshr i64 %sum, 1
  %middle.at = getelementptr inbounds { i64, i64 }, ptr %all, i64 %middle
  %middle.begin = load i64, ptr %middle.at, align 8
  %is.behind = icmp ule i64 %middle.begin, %first
  %above = add i64 %middle, 1
  %next.low = select i1 %is.behind, i64 %above, i64 %low
  %next.high = select i1 %is.behind, i64 %high, i64 %middle
  br label %halve

found:
  %is.before.all = icmp eq i64 %low, 0
  br i1 %is.before.all, label %constant, label %last

last:
  %index = sub i64 %low, 1
  %last.at = getelementptr inbounds { i64, i64 }, ptr %all, i64 %index
  %last.end.at = getelementptr inbounds i8, ptr %last.at, i64 8
  %last.end = load i64, ptr %last.end.at, align 8
  %is.inside = icmp ule i64 %end, %last.end
  br i1 %is.inside, label %done, label %constant

constant:
  %is.constant = call i1 @mettle_is_constant(i64 %first, i64 %end)
  br i1 %is.constant, label %done, label %stop

stop:
  %told = phi i64 [ %offset, %shared ], [ %first, %global ],
                  [ %first, %compare ], [ %first, %constant ]
  %flag = phi i32 [ 2, %shared ], [ 0, %global ], [ %slot.bits, %compare ],
                  [ 0, %constant ]
  %told.access = or i32 %access, %flag
  call void @mettle_stop(ptr %record, i32 4, i64 0, i64 %place, i32 %gx,
                         i32 %gy, i32 %gz, i32 %tx, i32 %ty, i32 %tz,
                         i64 %told, i32 %told.access)
  br label %done

done:
  ret void
}
