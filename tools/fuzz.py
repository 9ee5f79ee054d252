#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fuzz.py BUILD SECONDS: runs each fuzz target of a build folder for a bounded
time, as many at once as there are CPUs; with --runs=N for N inputs each, one
target at a time. TARGET... behind that names the targets. What a target learns
stays in BUILD/corpus; an input that breaks one is left in BUILD/ and named. A
target that reaches less code than its seeds once did is blind, and fails. The
last line is "N passed, N failed"."""

import concurrent.futures
import os
import re
import subprocess
import sys

# Edges of code that the seeds alone reach, less a tenth, as libFuzzer counts
# them (clang 19, x86-64; `fuzz.py BUILD --runs=0`, which must pass, tells
# them). fuzz_bindings runs the whole library, whose paths vary with the machine.
FLOORS = {"fuzz_arguments": 1650, "fuzz_bindings": 2800, "fuzz_container": 800,
          "fuzz_metallib": 200, "fuzz_npy": 285, "fuzz_source": 685}
# Of an input: no seed is cut. What is longer than the longest seed by much is
# slow and repeats itself, but for files.
MOST_BYTES = {"fuzz_arguments": 320, "fuzz_bindings": 128, "fuzz_source": 512}
FILE_BYTES = 65536


def seed_folders(root, name):
    """Those that are written, and those that the plain build makes."""
    folders = (os.path.join(root, "tests", "fuzz", "seeds", name),
               os.path.join(root, "build", "fuzz", "seeds", name))
    return [folder for folder in folders if os.path.isdir(folder)]


def coverage(output):
    found = re.findall(r"\bcov: (\d+)", output)
    return int(found[-1]) if found else 0


def run(program, build, bound):
    name = os.path.basename(program)
    corpus = os.path.join(build, "corpus", name)
    os.makedirs(corpus, exist_ok=True)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    seeds = seed_folders(root, name)
    if not seeds:
        return name, 1, f"no seeds of {name}: is the plain build made?"
    command = [program, bound, "-timeout=10",
               f"-max_len={MOST_BYTES.get(name, FILE_BYTES)}",
               "-rss_limit_mb=2048", "-print_final_stats=1",
               # Leaks are looked for once, at the end: threads that end later
               # give libFuzzer reason to look after each input.
               "-detect_leaks=0",
               f"-artifact_prefix={build}/{name}-", corpus, *seeds]
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


def report(name, status, output):
    """Prints what became of a target; True if all is well."""
    runs = re.findall(r"stat::number_of_executed_units:\s*(\d+)", output)
    rates = re.findall(r"stat::average_exec_per_sec:\s*(\d+)", output)
    reached = coverage(output)
    print(f"{name:20} {runs[0] if runs else '?':>10} inputs, "
          f"{rates[0] if rates else '?':>6} a second, "
          f"{reached:6} edges reached", flush=True)
    if status == 0 and reached >= FLOORS.get(name, 1):
        return True
    print(f"FAILED {name}: " +
          (f"exit status {status}" if status else
           f"{FLOORS[name]} edges were reached once"))
    print("\n".join("    " + line for line in output.split("\n")[-40:]))
    return False


def main():
    build, words = os.path.abspath(sys.argv[1]), sys.argv[2:]
    is_counted = words[0].startswith("--runs=")
    bound = words[0][1:] if is_counted else f"-max_total_time={words[0]}"
    names = words[1:] or sorted(
        name for name in os.listdir(os.path.join(build, "fuzz"))
        if os.path.isfile(os.path.join(build, "fuzz", name))
        and os.access(os.path.join(build, "fuzz", name), os.X_OK))
    programs = [os.path.join(build, "fuzz", name) for name in names]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(
            1 if is_counted else len(os.sched_getaffinity(0))) as pool:
        for result in pool.map(lambda program: run(program, build, bound),
                               programs):
            if report(*result):
                passed += 1
            else:
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
