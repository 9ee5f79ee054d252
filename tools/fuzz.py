#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fuzz.py BUILD SECONDS: runs each fuzz target of a build folder for a bounded
time, as many at once as there are CPUs. What a target learns stays in
BUILD/corpus; an input that breaks one is left in BUILD/ and named. The last
line is "N passed, N failed"."""

import concurrent.futures
import os
import subprocess
import sys


def run(program, build, seconds):
    name = os.path.basename(program)
    corpus = os.path.join(build, "corpus", name)
    os.makedirs(corpus, exist_ok=True)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    seeds = os.path.join(root, "tests", "fuzz", "seeds", name)
    command = [program, f"-max_total_time={seconds}", "-timeout=10",
               "-rss_limit_mb=2048", "-print_final_stats=1",
               f"-artifact_prefix={build}/{name}-", corpus]
    if os.path.isdir(seeds):
        command.append(seeds)
    environment = dict(os.environ)
    environment.setdefault("UBSAN_OPTIONS", "halt_on_error=1")
    # Kernels that fault are part of the test: the driver catches the signal.
    environment.setdefault("ASAN_OPTIONS", "allow_user_segv_handler=1:"
                           "handle_segv=1")
    environment.setdefault(
        "LSAN_OPTIONS", "print_suppressions=0:suppressions="
        + os.path.join(root, "tests", "harness", "lsan.txt"))
    # The compiler of the plain build, not a fuzzed one.
    environment.setdefault("METTLE_COMPILER",
                           os.path.join(root, "build", "mettlec"))
    result = subprocess.run(command, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="replace", env=environment,
                            check=False)
    return name, result.returncode, result.stdout


def main():
    build, seconds = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    programs = sorted(
        os.path.join(build, "fuzz", name)
        for name in os.listdir(os.path.join(build, "fuzz"))
        if os.access(os.path.join(build, "fuzz", name), os.X_OK))
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(
            len(os.sched_getaffinity(0))) as pool:
        for name, status, output in pool.map(
                lambda program: run(program, build, seconds), programs):
            runs = [line.split()[-1] for line in output.split("\n")
                    if line.startswith("stat::number_of_executed_units")]
            print(f"{name:20} {runs[0] if runs else '?':>10} inputs in "
                  f"{seconds} s", flush=True)
            if status == 0:
                passed += 1
                continue
            failed += 1
            print(f"FAILED {name}: exit status {status}")
            print("\n".join("    " + line
                            for line in output.split("\n")[-40:]))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
