#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py: builds libmettle and tests for AArch64 and runs them with qemu's user
mode: parts of the conformance suite, and kernels at random, tier 1 against tier
0. Kernels are compiled for AArch64 by the mettlec of METTLE_BUILD_DIR.

Without a cross compiler or qemu (the Debian packages gcc-aarch64-linux-gnu,
libc6-dev-arm64-cross and qemu-user) everything is skipped. The last line is
"N passed, N failed[, N skipped]".
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TRIPLE = "aarch64-linux-gnu"
TEST_SECONDS = 300  # of qemu's, on a busy machine
RANDOM_KERNELS = 6

# Tests that depend on the machine: code, signals, atomics, memory order.
TESTS = """
grids.three_dimensions_with_uneven_edges
grids.places_in_two_dimensions
threadgroups.*
simdgroups.*
atomics.*
containment.*
hazards.fences_order_encoders_over_untracked_buffers
hazards.serial_dispatch_sees_all_threadgroups_before
events.ping_pong_between_two_queues
faults.write_past_a_guarded_buffer_is_caught_and_named
faults.line_*
faults.integer_division_by_zero_is_defined
shapes.*
""".split()
NOT_HERE = (
    # An emulator's time is no device's: what it translates for the first time
    # takes as long as the compiler.
    "shapes.time_of_compilation_is_not_the_devices",
    # It tells a handler neither a write from a read nor an address that no
    # pointer can have, and lays out memory in a way of its own.
    "containment.what_is_only_read_is_not_blamed_for_a_write",
    "containment.impossible_addresses_are_told",
    "containment.bytes_of_an_encoder_end_at_their_end",
    "threadgroups.use_of_an_argument_without_memory_faults",
)


def build(folder):
    """Builds cross/ in folder. Returns what went wrong, or None."""
    configure = ["cmake", "-S", os.path.join(HERE, "cross"), "-B", folder,
                 "-G", "Ninja", f"-DCMAKE_C_COMPILER={TRIPLE}-gcc",
                 "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
    for command in configure, ["cmake", "--build", folder]:
        result = subprocess.run(command, capture_output=True, text=True,
                                check=False)
        if result.returncode != 0:
            return result.stdout[-4000:] + result.stderr[-4000:]
    return None


def wanted(names):
    patterns = [re.compile(pattern.replace(".", r"\.").replace("*", ".*") + "$")
                for pattern in TESTS]
    return [name for name in names if name not in NOT_HERE and
            any(p.match(name) for p in patterns)]


def run_test(program, name):
    """Returns "passed", "skipped" or what the test wrote."""
    try:
        result = subprocess.run([*program, name], capture_output=True, text=True,
                                errors="replace", timeout=TEST_SECONDS,
                                check=False)
    except subprocess.TimeoutExpired:
        return f"still running after {TEST_SECONDS} s"
    if result.returncode == 77:  # tests/harness/test.h
        return "skipped"
    return "passed" if result.returncode == 0 else \
        f"exit status {result.returncode}\n{result.stdout}{result.stderr}"


def run_random(qemu, folder, environment):
    """Returns (passed, failed) of random kernels."""
    command = [sys.executable, "-B",
               os.path.join(ROOT, "tests", "vectorize", "random_kernels.py"),
               "--build", folder, "--target", "aarch64", "--seed", "3",
               "--count", str(RANDOM_KERNELS), "--grids", "5", "--no-reduction",
               "--prefix", " ".join(qemu)]
    result = subprocess.run(command, capture_output=True, text=True,
                            env=environment, check=False)
    counts = re.search(r"(\d+) passed, (\d+) failed\s*$", result.stdout)
    if not counts or result.returncode != 0:
        print(result.stdout, result.stderr)
    return (int(counts[1]), int(counts[2])) if counts else (0, 1)


def main():
    qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if not qemu or not shutil.which(TRIPLE + "-gcc"):
        print(f"skipped: {TRIPLE}-gcc or qemu-aarch64 is missing")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    main_build = os.path.abspath(os.environ.get("METTLE_BUILD_DIR")
                                 or os.path.join(ROOT, "build"))
    folder = os.path.join(main_build, "neon")
    trouble = build(folder)
    if trouble:
        print(trouble)
        print("0 passed, 1 failed")
        return 1
    os.environ.update(METTLE_COMPILER=os.path.join(main_build, "mettlec"),
                      METTLE_CPU_TARGET="aarch64", METTLE_TEST_DEVICE="cpu",
                      # The emulator accepts the newer advice and does nothing.
                      METTLE_GUARDS="mappings")
    prefix = [qemu, "-L", f"/usr/{TRIPLE}"]
    program = [*prefix, os.path.join(folder, "conformance")]
    names = wanted(subprocess.run([*program, "--list"], capture_output=True,
                                  text=True, check=True).stdout.split())
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with concurrent.futures.ThreadPoolExecutor(
            len(os.sched_getaffinity(0))) as pool:
        for name, verdict in zip(names, pool.map(
                lambda name: run_test(program, name), names)):
            if verdict not in counts:
                print(f"FAILED {name}: {verdict}")
                verdict = "failed"
            counts[verdict] += 1
    passed, failed = run_random(prefix, folder, os.environ)
    counts["passed"] += passed
    counts["failed"] += failed
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
