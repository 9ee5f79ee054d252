# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# case.py: compiles Metal 4 programs and runs their kernels in both tiers, which
# must agree to the bit.
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "corpus"))

import check  # noqa: E402
import mettle  # noqa: E402

HEAD = """#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
"""

_device = None


def device():
    global _device
    if _device is None:
        _device = mettle.Device()
    return _device


def to_bfloat(values):
    """The bits of bfloats, rounded to nearest even."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def of_bfloat(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Program:
    def __init__(self, text, language=400, head=HEAD):
        self.library = device().library(head + text, language=language)
        self.pipelines = {}

    def pipeline(self, kernel, debug):
        key = (kernel, debug)
        if key not in self.pipelines:
            self.pipelines[key] = self.library.pipeline(kernel, debug=debug)
        return self.pipelines[key]

    def run(self, kernel, arguments, groups=(1,), group=(32,), memory=None,
            tiers=(False, True)):
        """Runs groups threadgroups. Returns the arguments' arrays as the
        kernel leaves them; a tier that differs from the first is a failure."""
        results = None
        for debug in tiers:
            given = {i: a.copy() if isinstance(a, np.ndarray) else a
                     for i, a in arguments.items()}
            self.pipeline(kernel, debug)(given, group=group, groups=groups,
                                         memory=memory)
            if results is None:
                results = given
                continue
            for i, array in given.items():
                if isinstance(array, np.ndarray) and \
                        array.tobytes() != results[i].tobytes():
                    check.failed(f"{kernel}: buffer {i} differs in tier 0")
        return results


def refused(name, text, wanted, language=400, head=HEAD):
    """Checks that a program does not compile, and what is said."""
    try:
        device().library(head + text, language=language)
    except mettle.Error as error:
        if wanted in str(error):
            return check.passed()
        return check.failed(f"{name}: {error}")
    return check.failed(f"{name}: compiles")
