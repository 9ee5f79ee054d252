#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_iree_programs.py [--all]: has iree-compile make Metal of the programs in
# programs.py and wider.py, compiles, reflects and runs each dispatch with
# Mettle, and checks the results against NumPy. Ends with 77 where the compiler
# cannot be had.
import os
import subprocess
import sys
import tempfile

import numpy as np

import executable
import listing
import programs
import wider

import device as runner  # finds tests/corpus too
import check
import mettle
import sources

FLAGS = ["--iree-hal-target-device=metal", "--compile-to=hal",
         "--iree-metal-compile-to-metallib=false", "--mlir-print-local-scope"]
LEAST_DISPATCHES = 150


def compile_all(compiler, folder):
    """One module of all programs; returns the listing, or what failed."""
    source = os.path.join(folder, "programs.mlir")
    target = os.path.join(folder, "programs.hal.mlir")
    with open(source, "w", encoding="ascii") as file:
        file.write("\n".join(p.mlir for p in programs.ALL))
    done = subprocess.run([compiler, *FLAGS, source, "-o", target],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        check.failed("iree-compile: " + done.stderr[:2000])
        return None
    with open(target, encoding="utf-8") as file:
        return file.read()


def load(device, text):
    """Every kernel, by executable and name."""
    kernels = {}
    for name, data in listing.executables(text).items():
        texts, functions = executable.read(data)
        libraries = [device.library(text) for text in texts]
        for function in functions:
            library = libraries[function.library]
            if function.entry_point not in library.names():
                check.failed(f"{name}: no kernel {function.entry_point}")
                continue
            kernel = runner.Kernel(device, library, function)
            if function.bindings and not kernel.offsets:
                check.failed(f"{name}: none of {function.bindings} bindings "
                             "is found")
            kernels[name, function.name] = kernel
    return kernels


def verify(device, kernels, program, commands):
    random = np.random.default_rng(38)
    inputs = [make(random) for make in program.inputs]
    for attempt in ("first", "second"):
        results = runner.run(device, kernels, commands, inputs)
        wanted = program.expect(*inputs)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        if len(results) != len(wanted):
            check.failed(f"{program.name}: {len(results)} results")
            return
        for i, (got, want) in enumerate(zip(results, wanted)):
            want = np.asarray(want)
            got = np.frombuffer(got, want.dtype)[:want.size].reshape(
                want.shape)
            check.equal(f"{program.name}, result {i}, {attempt} run", got,
                        want, program.relative, program.absolute)


def main():
    wider.add_all(is_thin="--all" not in sys.argv)
    compiler = sources.iree_compiler()
    if not compiler:
        check.skipped("no iree-base-compiler: let pip reach its index",
                      len(programs.ALL))
        check.finish()
    with tempfile.TemporaryDirectory() as folder:
        text = compile_all(compiler, folder)
    if text is None:
        check.finish()
    device = mettle.Device()
    kernels = load(device, text)
    listed = listing.programs(text)
    dispatches = 0
    for program in programs.ALL:
        commands = listed.get(program.name)
        if commands is None:
            check.failed(f"{program.name}: not in the listing")
            continue
        dispatches += sum(hasattr(c, "groups") for c in commands.commands)
        try:
            verify(device, kernels, program, commands)
        except mettle.Error as error:
            check.failed(f"{program.name}: {error}")
    if dispatches < LEAST_DISPATCHES:
        check.failed(f"{dispatches} dispatches, fewer than {LEAST_DISPATCHES}")
    print(f"{len(kernels)} kernels, {dispatches} dispatches", file=sys.stderr)
    check.finish()


if __name__ == "__main__":
    main()
