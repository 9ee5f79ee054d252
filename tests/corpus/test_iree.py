#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_iree.py --list | KERNEL...: the two built-in kernel files of IREE's
# Metal driver, launched as the driver does, against NumPy. Ends with 77 where
# they cannot be had.
import struct
import sys

import numpy as np

import check
import mettle
import sources

SIZE = 4096
# Offsets and lengths; the driver picks the kernel by what divides both.
FILLS = {"fill_buffer_16byte": ((0, 4096), (64, 16), (160, 1040)),
         "fill_buffer_4byte": ((4, 4), (20, 1000), (12, 4084)),
         "fill_buffer_1byte": ((1, 1), (3, 2), (5, 6), (2, 4093), (7, 1000),
                               (0, 3), (4, 1), (6, 129))}
COPIES = ((0, 0, 4096), (1, 3, 1), (17, 2, 1001), (4, 9, 4087), (31, 32, 33))


def fill(kernel, name, random):
    bytes_each = {"fill_buffer_16byte": 16}.get(name, 4)
    for offset, length in FILLS[name]:
        for pattern in (b"\xab" * 4, b"\x12\x34" * 2, b"\x01\x23\x45\x67"):
            if name.endswith("1byte") and len(set(pattern)) > 2:
                continue  # patterns of four bytes are aligned
            if len(set(pattern)) > 1 and (offset | length) % 2:
                continue
            buffer = random.integers(0, 256, SIZE + 4).astype(np.uint8)
            want = buffer.copy()
            want[offset:offset + length] = np.resize(
                np.frombuffer(pattern, np.uint8), length)
            ends = offset % 4 + (offset + length) % 4
            work = length if not name.endswith("1byte") else max(
                length - ends, 1)
            kernel({0: buffer, 1: struct.pack(
                "<QQI4x", offset, length, int.from_bytes(pattern, "little"))},
                groups=(-(-work // (32 * bytes_each)),), group=(32,))
            check.equal(f"{name} of {length} at {offset}, {pattern.hex()}",
                        buffer, want)


def copy(kernel, name, random):
    for source, target, length in COPIES:
        a, b = (random.integers(0, 256, SIZE).astype(np.uint8)
                for _ in range(2))
        want = b.copy()
        want[target:target + length] = a[source:source + length]
        kernel({0: a, 1: b, 2: struct.pack("<3Q", source, target, length)},
               groups=(-(-length // 32),), group=(32,))
        check.equal(f"{name} of {length} from {source} to {target}", b, want)


KERNELS = {**{name: fill for name in FILLS}, "copy_buffer_1byte": copy}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(KERNELS))
        return
    texts = sources.iree()
    if not texts:
        check.skipped("no IREE: let pip reach its index, or set "
                      "METTLE_CORPUS_IREE to a checkout")
        check.finish()
    device = mettle.Device()
    libraries = [device.library(text) for text in texts]
    for name in sys.argv[1:] or KERNELS:
        library = next(l for l in libraries if name in l.names())
        for debug in (False, True):
            KERNELS[name](library.pipeline(name, debug=debug), name,
                          np.random.default_rng(9))
    check.finish()


if __name__ == "__main__":
    main()
