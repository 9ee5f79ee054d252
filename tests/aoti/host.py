# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""host.py: model.h from Python, to feed outputs of a run to the next one."""

import ctypes
import os

import numpy as np

MAX_RANK = 16
COMMIT_AND_WAIT = 2
# mtl_scalar_type, by the names that export.py gives types.
SCALARS = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "f16": 5,
           "f32": 6, "f64": 7, "complex64": 9, "bool": 11, "bf16": 15}
BFLOAT16 = SCALARS["bf16"]
TYPES = {np.dtype(np.float32): 6, np.dtype(np.int64): 4,
         np.dtype(np.float16): 5}
DTYPES = {code: dtype for dtype, code in TYPES.items()}


class Error(Exception):
    pass


class Tensor(ctypes.Structure):  # mtl_model_tensor
    _fields_ = [("buffer", ctypes.c_void_p), ("offset_bytes", ctypes.c_size_t),
                ("type", ctypes.c_int), ("rank", ctypes.c_uint32),
                ("sizes", ctypes.c_int64 * MAX_RANK),
                ("strides", ctypes.c_int64 * MAX_RANK),
                ("data", ctypes.c_void_p)]


class BufferDesc(ctypes.Structure):  # mtl_buffer_desc
    _fields_ = [("length_bytes", ctypes.c_size_t),
                ("storage_mode", ctypes.c_int),
                ("hazard_tracking", ctypes.c_int),
                ("bytes", ctypes.c_void_p), ("no_copy_bytes", ctypes.c_void_p),
                ("deallocator", ctypes.c_void_p),
                ("deallocator_context", ctypes.c_void_p),
                ("guarded", ctypes.c_bool), ("label", ctypes.c_char_p)]


class Host:
    def __init__(self, build):
        # Opened for this module alone: models must find it all the same.
        self.library = ctypes.CDLL(os.path.join(build, "libmettle-aoti.so"))
        self.library.mtl_last_error.restype = ctypes.c_char_p
        self.library.mtl_buffer_contents.restype = ctypes.c_void_p
        self.library.mtl_buffer_contents.argtypes = [ctypes.c_void_p]
        for name in ("mtl_buffer_release", "mtl_model_release",
                     "mtl_model_result_release", "mtl_stream_device"):
            getattr(self.library, name).argtypes = [ctypes.c_void_p]
        self.library.mtl_stream_device.restype = ctypes.c_void_p
        self.stream = self.make("mtl_stream_current")
        self.device = self.library.mtl_stream_device(self.stream)

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments):
            raise Error(f"{name}: {self.library.mtl_last_error().decode()}")

    def make(self, name, *arguments):
        made = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(made))
        return made

    def tensor(self, array, kind=None):
        array = np.ascontiguousarray(array)
        desc = BufferDesc(length_bytes=array.nbytes,
                          bytes=array.ctypes.data_as(ctypes.c_void_p))
        buffer = self.make("mtl_buffer_create", ctypes.c_void_p(self.device),
                           ctypes.byref(desc))
        steps = [s // array.itemsize for s in array.strides]
        return Tensor(buffer.value, 0,
                      BFLOAT16 if kind == "bf16" else TYPES[array.dtype],
                      array.ndim,
                      (ctypes.c_int64 * MAX_RANK)(*array.shape),
                      (ctypes.c_int64 * MAX_RANK)(*steps))

    def result(self, result, index):
        tensor = Tensor()
        self.call("mtl_model_result_get", result, ctypes.c_size_t(index),
                  ctypes.byref(tensor))
        return tensor

    def array(self, tensor):
        """A copy of a contiguous tensor's elements."""
        address = self.library.mtl_buffer_contents(tensor.buffer)
        shape = tuple(tensor.sizes[:tensor.rank])
        dtype = DTYPES[tensor.type]
        size = int(np.prod(shape)) * dtype.itemsize
        data = ctypes.string_at(address + tensor.offset_bytes, size)
        return np.frombuffer(data, dtype).reshape(shape)


def decode(build, folder, steps):
    """Runs a decoder step by step, its caches staying on the device, and
    returns what the last step gave."""
    host = Host(build)
    model = host.make("mtl_model_load", f"{folder}/model.so".encode(), None)
    count = len([n for n in os.listdir(folder) if n.startswith("in")])
    arrays = [np.load(f"{folder}/in{i}.npy") for i in range(count)]
    caches = [host.tensor(array) for array in arrays[2:]]
    owned = [cache.buffer for cache in caches]
    token, position, before = arrays[0], arrays[1], None
    for _ in range(steps):
        heads = [host.tensor(token), host.tensor(position)]
        inputs = (Tensor * count)(*heads, *caches)
        result = host.make("mtl_model_run", model, host.stream, inputs,
                           ctypes.c_size_t(count))
        for head in heads:
            host.library.mtl_buffer_release(head.buffer)
        host.call("mtl_stream_synchronize", host.stream, COMMIT_AND_WAIT)
        if before:
            host.library.mtl_model_result_release(before)
        before = result
        logits = host.array(host.result(result, 0))
        caches = [host.result(result, i) for i in range(1, count - 1)]
        token = np.argmax(logits, -1).astype(np.int64).reshape(token.shape)
        position = position + 1
    outputs = [logits] + [host.array(cache) for cache in caches]
    host.library.mtl_model_result_release(before)
    host.library.mtl_model_release(model)
    for buffer in owned:
        host.library.mtl_buffer_release(buffer)
    return outputs


def update_convolution(build, folder):
    """The case `convolution`, whose last layer's weights become zeros at once,
    and ones by a swap: every output is a bias then, and a bias more than a sum
    that all channels share. Runs in between let weights be kept. Returns what
    is wrong, or None."""
    host = Host(build)
    model = host.make("mtl_model_load", f"{folder}/model.so".encode(), None)
    inputs = (Tensor * 1)(host.tensor(np.load(f"{folder}/in0.npy")))

    def run():
        for _ in range(3):
            result = host.make("mtl_model_run", model, host.stream, inputs,
                               ctypes.c_size_t(1))
            host.call("mtl_stream_synchronize", host.stream, COMMIT_AND_WAIT)
            output = host.array(host.result(result, 0))
            host.library.mtl_model_result_release(result)
        return output

    def update(value, is_active):
        weight = host.tensor(np.full((4, 8, 1, 1), value, np.float32))
        host.call("mtl_model_update_constants", model,
                  (ctypes.c_char_p * 1)(b"2.weight"), (Tensor * 1)(weight),
                  ctypes.c_size_t(1), ctypes.c_bool(is_active))
        host.library.mtl_buffer_release(weight.buffer)

    run()
    update(0, True)
    output = run()
    bias = output[0, :, 0, 0].reshape(1, 4, 1, 1)
    if not np.allclose(output, bias):
        return "an update of the active constants is not seen"
    update(1, False)
    if not np.allclose(run(), bias):
        return "an update of the inactive constants is seen before the swap"
    host.call("mtl_model_swap_constants", model)
    sums = run() - bias
    host.library.mtl_model_release(model)
    if np.allclose(sums, 0) or not np.allclose(sums, sums[:, :1], atol=1e-5):
        return "a swap gives other constants"
    return None
