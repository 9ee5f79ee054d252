# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""world.py: a device, a queue, and one dispatch of a packed function."""

import mettle
import numpy as np

from writer import pack

DEVICE = mettle.Device()
QUEUE = DEVICE.new_queue()


def library_of(assembler, name, text):
    return mettle.Library.load(DEVICE, pack([(name, "kernel",
                                              assembler(text))]))


def run(pipeline, arguments, threads, group, textures=(), samplers=(),
        memory=(), tables={}):
    """arguments: index to array or bytes; returns the arrays afterwards."""
    buffers = {}
    with QUEUE.command_buffer() as commands:
        encoder = commands.compute_encoder()
        encoder.set_pipeline(pipeline)
        for index, value in arguments.items():
            if isinstance(value, bytes):
                encoder.set_bytes(index, value)
            else:
                buffers[index] = DEVICE.new_buffer(np.ascontiguousarray(value))
                encoder.set_buffer(index, buffers[index])
        for index, texture in enumerate(textures):
            encoder.set_texture(index, texture)
        for index, sampler in enumerate(samplers):
            encoder.set_sampler(index, sampler)
        for index, table in tables.items():
            encoder.set_function_table(index, table)
        for index, size in memory:
            encoder.set_threadgroup_memory(index, size)
        encoder.dispatch_threads(threads, group)
        encoder.end()
    commands.wait()
    return {index: buffers[index].numpy(arguments[index].dtype)[
        :arguments[index].size].copy() for index in buffers}


def raises(kind, words, call, *arguments):
    try:
        call(*arguments)
    except kind as error:
        for word in words:
            assert word in str(error), f"{word!r} not in {error}"
        return
    raise AssertionError(f"no {kind.__name__}")
