#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""corpora.py BUILD [PROJECT...]: what kernels that others wrote take to
compile with a warm compiler and no cache: those that tests/corpus runs, of MLX,
ggml, tinygrad and IREE. A line for each project: sources and pipelines, each
with the median and the worst, and the peak memory of the compiler. Projects
that cannot be had are left out."""

import ctypes
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECTS = ("mlx", "ggml", "tinygrad", "iree")
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def _watch(mettle, libraries, pipelines):
    """Times what mettle creates, into lists of (seconds, what)."""
    create, names = mettle._make, {}

    def watched(call, *arguments):
        start = time.perf_counter()
        made = create(call, *arguments)
        seconds = time.perf_counter() - start
        if call == "mtl_library_create_from_source":
            lines = arguments[1].count(b"\n")
            libraries.append((seconds, f"{lines} lines"))
        elif call == "mtl_function_create":
            names[made.value] = arguments[1].decode()
        elif call == "mtl_pipeline_create":
            pipelines.append((seconds, names[arguments[0].value]))
        return made
    mettle._make = watched


def _tell(kind, times):
    if times:
        worst = max(times)
        print(f"  {kind:<10} {len(times):5}   median "
              f"{statistics.median(ms for ms, _ in times) * 1000:6.0f} ms"
              f"   worst {worst[0] * 1000:6.0f} ms  {worst[1]}", flush=True)


def measure(project):
    """Runs one project's tests in this process, a child, with its compilations
    timed."""
    sys.path.insert(0, os.path.join(HERE, "..", "tests", "corpus"))
    import mettle
    libraries, pipelines = [], []
    mettle.Device().library("kernel void k() {}")  # the first is not warm
    _watch(mettle, libraries, pipelines)
    runner = __import__(f"test_{project}")
    sys.argv[1:] = []
    report = sys.stdout
    with open(os.devnull, "w", encoding="utf-8") as sys.stdout:
        try:
            runner.main()
        except SystemExit:
            pass
        finally:
            sys.stdout = report
    if libraries or pipelines:
        print(project)
    _tell("sources", libraries)
    _tell("pipelines", pipelines)


def main():
    os.environ["METTLE_BUILD_DIR"] = os.path.abspath(sys.argv[1])
    os.environ["METTLE_CACHE"] = "0"
    # Compilers outlive the children that start them, and become ours.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    print("\nkernels that others wrote, warm compilation")
    for project in sys.argv[2:] or PROJECTS:
        child = os.fork()
        if child == 0:
            measure(project)
            sys.stdout.flush()
            os._exit(0)
        most_kb = 0
        while True:
            try:
                pid, _, usage = os.wait4(-1, 0)
            except ChildProcessError:
                break
            if pid != child:
                most_kb = max(most_kb, usage.ru_maxrss)
        if most_kb:
            print(f"  the compiler's memory: {most_kb / 1024:.0f} MB at the "
                  "most")


if __name__ == "__main__":
    main()
