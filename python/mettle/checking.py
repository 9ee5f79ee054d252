# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""checking.py: the checker as a context: races, bounds, uninitialised reads
and divergence of the kernels that run inside it.

Each pipeline has a checked twin, made when it first runs inside a check.
Findings are kept for the whole process; a check takes those that are new."""

from __future__ import annotations

import contextvars
import ctypes
import os
from typing import (Any, Dict, Iterable, Iterator, List, NamedTuple, Optional,
                    Tuple, Union)

from ._native import mtl
from ._structures import CheckHandler, CheckPlace
from .errors import FindingsError, InvalidArgumentError, KernelFaultError

KINDS = {"bounds": 1, "races": 2, "init": 4, "sync": 8, "align": 16,
         "nan": 32, "integer": 64, "uniform": 256, "stop": 512}  # mtl_check
DEFAULT = 31
ALL = 127
REPORTING = KINDS["uniform"] | KINDS["stop"]  # how, not what


class Place(NamedTuple):
    """One side of a finding."""

    file: str  # "" if not known
    line: int  # 0 if not known
    column: int
    inlined: str  # where to: "f.metal:9:3, f.metal:20:7"
    does: str  # "read", "write", "atomic", "barrier"
    variable: str
    kernel: str
    thread: Optional[int]  # in its threadgroup
    group: Optional[Tuple[int, int, int]]
    dispatch: int

    def __str__(self) -> str:
        folder = os.path.join(os.getcwd(), "")
        where = f"{self.file.removeprefix(folder)}:{self.line}:" \
            f"{self.column}" if self.line else f"kernel {self.kernel}"
        who = "" if self.thread is None else \
            f", thread {self.thread} of threadgroup {self.group}"
        return f"{self.does} at {where}{who}"


class Finding(NamedTuple):
    """A kind and a pair of lines, with the first instance."""

    kind: str  # "race.threadgroup"
    text: str
    first: Place
    second: Optional[Place]
    instances: int
    schedule: str

    def __str__(self) -> str:
        places = [f"  {place}" for place in (self.first, self.second) if place]
        return "\n".join([f"{self.kind}: {self.text}", *places])


def _text(raw: Optional[bytes]) -> str:
    return (raw or b"").decode(errors="replace")


def _place(raw: CheckPlace) -> Optional[Place]:
    if not raw.line and not raw.kernel:
        return None
    thread, group = (raw.thread, tuple(raw.group)) if raw.has_thread else \
        (None, None)
    return Place(_text(raw.file), raw.line, raw.column, _text(raw.inlined),
                 _text(raw.does), _text(raw.variable), _text(raw.kernel),
                 thread, group, raw.dispatch)


def _all_findings() -> List[Finding]:
    found: List[Finding] = []

    def add(_context: Any, address: Any) -> None:
        raw = address.contents
        first = _place(raw.first)
        assert first is not None
        found.append(Finding(_text(raw.kind), _text(raw.text), first,
                             _place(raw.second), raw.count,
                             _text(raw.schedule)))

    mtl.mtl_check_report(CheckHandler(add), None)
    return found


def _counts() -> Tuple[int, ...]:
    """(findings, instances, dispatches, unchecked) of the process."""
    counts = [ctypes.c_uint64() for _ in range(4)]
    mtl.mtl_check_counts(*map(ctypes.byref, counts))
    return tuple(count.value for count in counts)


def _key(finding: Finding) -> Any:
    sides = [(p.kernel, p.file, p.line, p.column, p.does) if p else None
             for p in (finding.first, finding.second)]
    return finding.kind, *sides


def _bits(kinds: Union[str, Iterable[str]]) -> int:
    names = kinds.split(",") if isinstance(kinds, str) else list(kinds)
    bits = 0
    for name in names:
        bit = {**KINDS, "default": DEFAULT, "all": ALL}.get(name.strip())
        if bit is None:
            raise InvalidArgumentError(
                f"check has no kind {name!r}; there are {', '.join(KINDS)}, "
                "default and all")
        bits |= bit
    return bits if bits & ~REPORTING else bits | DEFAULT


class check:  # pylint: disable=invalid-name
    """Checks the kernels that run inside:

        with mettle.check():
            lib.sum(x, out, threads=1024, group_size=256)

    Leaving raises FindingsError if there are findings, or if something could
    not be checked. Inside, kernels run on: a read out of bounds gives 0, a
    write is dropped.

    kinds   "races,bounds", a list of them, "all", or the five of every day:
            bounds, races, init, sync, align; nan, integer, uniform (races of
            writes of one value, too) and stop are asked for by name
    raises  False: findings are looked at instead, as this object is iterable

    Calls of compile_shader's and metal_kernel's functions wait for their end
    inside. A command buffer of the object model fails with the text of its
    first finding, as it does in C. A task of asyncio has the check that it
    was started in; a thread has none but its own."""

    def __init__(self, kinds: Union[str, Iterable[str]] = "default", *,
                 raises: bool = True) -> None:
        self.bits = _bits(kinds)
        self.raises = raises
        self.findings: List[Finding] = []
        self._before: Dict[Any, int] = {}
        self._unchecked = 0
        self._token: Any = None

    def __enter__(self) -> "check":
        self._before = {_key(f): f.instances for f in _all_findings()}
        self._unchecked = _counts()[3]
        self._token = _active.set(self)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        _active.reset(self._token)
        self.findings = [
            finding for finding in _all_findings()
            if finding.instances > self._before.get(_key(finding), 0)]
        if kind is not None or not self.raises:
            return
        if self.findings:
            raise FindingsError(str(self), self.findings)
        if _counts()[3] > self._unchecked:
            raise FindingsError("not all could be checked", [])

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or "no findings"


_active: "contextvars.ContextVar[Optional[check]]" = contextvars.ContextVar(
    "mettle.check", default=None)
active = _active.get


def bits() -> int:
    """What the pipelines made now are checked for; 0 outside of a check."""
    check_now = active()
    return check_now.bits if check_now is not None else 0


def instances() -> int:
    """Of all findings of the process."""
    return _counts()[1]


def is_finding(error: BaseException, before: int) -> bool:
    """True if a run's error is no more than the text of a finding."""
    return isinstance(error, KernelFaultError) and instances() > before
