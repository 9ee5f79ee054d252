# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tinygrad_metal.py: a METAL device for tinygrad over libmettle, in the place of
# the one that needs Apple's frameworks: tinygrad renders its kernels as for a
# Mac, and they are compiled and launched here.
import sys
import types

import numpy as np

import mettle

SOURCES = []  # the text of every kernel that was compiled


def install():
    """Makes Device["METAL"] this device. tinygrad must be importable."""
    module = types.ModuleType("tinygrad.runtime.ops_metal")
    sys.modules[module.__name__] = module
    from tinygrad.device import Allocator, Compiled, Compiler, Program
    from tinygrad.renderer.cstyle import MetalRenderer

    class MetalCompiler(Compiler):
        """Hands the text on: a pipeline is made of it at once."""

        def __init__(self):
            super().__init__(None)

        def compile(self, src):
            return src.encode()

    class MetalAllocator(Allocator):
        def _alloc(self, size, options):
            return np.zeros(size, np.uint8)

        def _copyin(self, dest, src):
            dest[:] = np.frombuffer(src, np.uint8)

        def _copyout(self, dest, src):
            dest[:] = src.tobytes()

        def _offset(self, buf, size, offset):
            return buf[offset:offset + size]

    class MetalProgram(Program):
        def __init__(self, dev, obj):
            self.signature = obj.signature
            source = obj.lib.decode()
            SOURCES.append(source)
            self.kernel = dev.mettle.library(
                source, math=mettle.MATH_SAFE,
                file_name=f"{obj.name}.metal").pipeline(obj.name)

        def __call__(self, *bufs, global_size=(1, 1, 1), local_size=(1, 1, 1),
                     vals=(), wait=False, **_):
            arguments = dict(enumerate(bufs))
            for value, (_, index, dtype, _) in zip(
                    vals, self.signature[len(bufs):]):
                arguments[index] = np.dtype(f"int{dtype.bitsize}").type(value)
            self.kernel(arguments, groups=global_size, group=local_size)
            return 1e-6

    class MetalDevice(Compiled):
        def __init__(self, device):
            self.mettle = mettle.Device()
            # Apple9 has simdgroup matrices: its kernels use them.
            super().__init__(device, MetalAllocator(
                self, supports_copy_from_disk=False, supports_transfer=False),
                [MetalRenderer], MetalProgram, None, arch="Apple9")

    module.MetalCompiler = MetalCompiler
    module.MetalDevice = MetalDevice
