# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""errors.py: an exception for each status of the C API, with its text."""

from __future__ import annotations

from typing import Any, Dict, Sequence, Type


class MettleError(RuntimeError):
    """Any failure of Mettle; ``str(error)`` is the text with the numbers."""

    status = "MTL_ERROR"


class InvalidArgumentError(MettleError, ValueError):
    """A value outside what the call allows."""

    status = "MTL_INVALID_ARGUMENT"


class InvalidStateError(MettleError):
    """The right call at the wrong time: a commit after a commit."""

    status = "MTL_INVALID_STATE"


class OutOfMemoryError(MettleError, MemoryError):
    """Host or device memory cannot be had."""

    status = "MTL_OUT_OF_MEMORY"


class NotFoundError(MettleError, LookupError):
    """No such device, function, constant, file or header."""

    status = "MTL_NOT_FOUND"


class UnsupportedError(MettleError, NotImplementedError):
    """Metal has it; this device or version has not."""

    status = "MTL_UNSUPPORTED"


class CompileError(MettleError):
    """The source is wrong: the text is every diagnostic, with file, line,
    column and a caret."""

    status = "MTL_COMPILE_FAILED"


class CompilerLostError(MettleError):
    """The compiler crashed or passed its limits; the next request works."""

    status = "MTL_COMPILER_LOST"


class BadDataError(MettleError):
    """A code container or file is damaged or foreign."""

    status = "MTL_BAD_DATA"


class FileError(MettleError, OSError):
    """The operating system refused a file operation."""

    status = "MTL_IO_ERROR"


class TimedOutError(MettleError, TimeoutError):
    """The time given has passed."""

    status = "MTL_TIMED_OUT"


class KernelFaultError(MettleError):
    """A kernel read or wrote memory that is not there, trapped, or failed an
    assertion; the text has the kernel, its line and the thread."""

    status = "MTL_KERNEL_FAULT"


class CancelledError(MettleError):
    """The work was ended early, or before it could run."""

    status = "MTL_CANCELLED"


class FindingsError(MettleError):
    """A check has findings, or could not check something; the text is the
    report."""

    def __init__(self, text: str, findings: Sequence[Any]) -> None:
        super().__init__(text)
        self.findings = list(findings)


# By the numbers of mtl_status.
BY_STATUS: Dict[int, Type[MettleError]] = dict(enumerate((
    InvalidArgumentError, InvalidStateError, OutOfMemoryError, NotFoundError,
    UnsupportedError, CompileError, CompilerLostError, BadDataError,
    FileError, TimedOutError, KernelFaultError, CancelledError), 1))
