# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_handle.py: the base of all objects: one reference to an object of the C
API, released with the Python object."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar, Optional, Sequence


class Handle:
    """An object of the C API. It is passed to C functions as it is."""

    __slots__ = ("_as_parameter_", "__weakref__")
    _release: ClassVar[Any]  # a C function
    _as_parameter_: Optional[int]

    def __init__(self, handle: int) -> None:
        self._as_parameter_ = handle

    def __del__(self) -> None:
        handle = getattr(self, "_as_parameter_", None)
        if handle:
            self._as_parameter_ = None
            self._release(handle)

    @property
    def handle(self) -> int:
        """The address of the C object, for calls of one's own by ctypes. The
        reference stays this object's."""
        assert self._as_parameter_ is not None
        return self._as_parameter_

    def _title(self) -> str:
        """The class, and the label of a labelled object."""
        label: str = getattr(self, "label", "")
        return f"mettle.{type(self).__name__}" + (f" {label!r}" if label
                                                  else "")

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} belongs to its process")


def handles(objects: Sequence[Handle]) -> Any:
    """Their C objects, as an array."""
    return (ctypes.c_void_p * len(objects))(
        *(one.handle for one in objects))
