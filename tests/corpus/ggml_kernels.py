# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ggml_kernels.py: ggml's Metal kernels, compiled with its macros, and their
# argument structures, read from its header when the tests run.
import os
import re
import struct

import numpy as np

import mettle
import sources

ROOT = sources.ggml()
_FORMATS = {"int16_t": "h", "int32_t": "i", "int64_t": "q", "uint64_t": "Q",
            "size_t": "Q", "float": "f", "bool": "?"}
_libraries = {}
_device = None


def _header():
    with open(os.path.join(ROOT, "ggml-metal-impl.h"),
              encoding="utf-8") as file:
        return file.read()


def macro(name):
    """The number that the header defines as name."""
    return int(re.search(rf"#define {name}\s+(\d+)", _header()).group(1))


def arguments(name, **values):
    """The bytes of ggml_metal_kargs_<name>; what is not given is 0."""
    body = re.search(r"typedef struct \{([^}]*)\} ggml_metal_kargs_"
                     + name + ";", _header()).group(1)
    layout, fields = "", []
    for kind, field, length in re.findall(
            r"^\s*(\w+)\s+(\w+)(?:\[(\d+)\])?;", body, re.M):
        count = int(length or 1)
        given = values.pop(field, 0)
        fields += (list(given) if isinstance(given, (list, tuple))
                   else [given] + [0] * (count - 1))
        layout += _FORMATS[kind] * count
    if values:
        raise KeyError(f"{name} has no {', '.join(values)}")
    return struct.pack(layout, *fields) + b"\0" * 8  # its alignment


def shape(suffix, dimensions, element_bytes, row_bytes=None):
    """ne and nb of a tensor, innermost first, up to four dimensions."""
    sizes = (*dimensions, 1, 1, 1)[:4]
    strides = [element_bytes, row_bytes or element_bytes * sizes[0]]
    for size in sizes[1:3]:
        strides.append(strides[-1] * size)
    return {**{f"ne{suffix}{i}": n for i, n in enumerate(sizes)},
            **{f"nb{suffix}{i}": n for i, n in enumerate(strides)}}


def device():
    global _device
    _device = _device or mettle.Device()
    return _device


def library(name, tensors=False):
    """Compiles kernels/<name>.metal, once; with Metal 4's tensors if asked."""
    key = name, tensors
    if key not in _libraries:
        folder = os.path.join(ROOT, "kernels")
        path = os.path.join(folder, name + ".metal")
        with open(path, encoding="utf-8") as file:
            _libraries[key] = device().library(
                file.read(), include_paths=[folder, ROOT,
                                            os.path.dirname(ROOT)],
                macros={"GGML_METAL_HAS_BF16": "1",
                        **({"GGML_METAL_HAS_TENSOR": "1"} if tensors else {})},
                file_name=path, language=400 if tensors else 0)
    return _libraries[key]


def files():
    """The files that are libraries; two are there to be included."""
    names = sorted(os.listdir(os.path.join(ROOT, "kernels")))
    return [n[:-len(".metal")] for n in names
            if n.endswith(".metal") and not n.endswith("_common.metal")]


def constants(first, *values):
    """Function constants from number FC_<first> on; None leaves one out."""
    start = macro("FC_" + first)
    return {start + i: np.bool_(v) if isinstance(v, bool) else np.int16(v)
            for i, v in enumerate(values) if v is not None}
