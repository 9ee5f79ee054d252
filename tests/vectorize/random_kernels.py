#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_kernels.py: makes MSL kernels at random and has tier 1 checked against
tier 0, bit for bit, over many grids (run_random.c). A kernel that fails is made
smaller, statement by statement and expression by expression, and printed.

  random_kernels.py [--seed N] [--count N] [--target TARGET]... [--jobs N]
                    [--prefix COMMAND] [--keep FOLDER] [--grids N] [--integers]
                    [--calls] [--steps] [--small]

  --seed     another seed, other kernels; the same seed, the same kernels
  --count    kernels; 96 take about half a minute on two cores
  --target   as METTLE_CPU_TARGET: run for this machine instead of this one.
             "cuda" is the GPU, as a device.
             Several may be given, "" for this machine: then every target must
             leave the same bits, too, but for x86-64-v2, which has no fused
             multiply-add to contract to
  --jobs     processes; as many as processors without it
  --prefix   a command that runs the program, such as an emulator
  --keep     writes failing kernels, made small, into this folder
  --grids    as METTLE_RANDOM_GRIDS: each kernel on so many of the grids
  --integers kernels that are C++ as well, of integers alone: both tiers must
             leave what the host's compiler (CXX, or c++) says
  --calls    kernels whose functions are called for all threads at once, as in
             long ones
  --steps    trees, scans and exchanges between barriers
  --small    kernels of a few statements: on one grid each takes half a second
             of a processor, nearly all of it in LLVM

A long run: tests/vectorize/random_kernels.py --count 20000 --seed 7. It finds
the programs in METTLE_BUILD_DIR, or build/. Last line: N passed, N failed."""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from random_calls import CallsMaker  # noqa: E402
from random_features import Block  # noqa: E402
from random_integers import FUNCTIONS, IntegerMaker, host_source  # noqa: E402
from random_source import (Maker, Program, SmallMaker,  # noqa: E402
                           math_mode, source_of)
from random_steps import StepsMaker  # noqa: E402

BATCH = 12  # kernels in a source: one library, then one by one
SECONDS = 900  # for a batch, under load; what hangs is seen by run_random
ONE_SECONDS = 300
SMALL_SECONDS = 4  # of a processor, for a tier of a kernel that is made smaller


def host_verdicts(folder, name, programs):
    """{kernel: hash}, by the host's compiler; None if it refuses."""
    source = os.path.join(folder, name + ".cpp")
    with open(source, "w", encoding="ascii") as file:
        file.write(host_source(programs))
    built = subprocess.run(
        [os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-fwrapv", "-w",
         "-fno-strict-aliasing", "-o", source + ".run", source],
        capture_output=True, text=True, check=False)
    if built.returncode != 0:
        print(built.stderr[:2000], flush=True)
        return None
    # It ends itself after a few seconds of a processor.
    ran = subprocess.run([source + ".run"], capture_output=True, text=True,
                         check=False)
    os.remove(source)
    os.remove(source + ".run")
    return dict(line.split() for line in ran.stdout.splitlines())


class Runner:
    """Runs sources through run_random."""

    def __init__(self, build, target, prefix=()):
        self.program = [*prefix, os.path.join(build, "run_random")]
        self.environment = dict(os.environ)
        if target == "cuda":
            self.environment.update(METTLE_DEVICE=target, METTLE_EXACT="1")
        elif target:
            self.environment["METTLE_CPU_TARGET"] = target
        self.environment["METTLE_CACHE"] = "0"

    def run(self, path, seconds, tier_seconds=None):
        """Returns {kernel: (verdict, text)}; "-" stands for the source."""
        environment = dict(self.environment)
        if tier_seconds:
            environment["METTLE_RANDOM_SECONDS"] = str(tier_seconds)
        try:
            result = subprocess.run(
                self.program + [path], env=environment, timeout=seconds,
                capture_output=True, text=True, errors="replace", check=False)
            output, ended = result.stdout, result.returncode
            last = result.stderr.strip().split("\n")[-1]
        except subprocess.TimeoutExpired as error:
            output, ended = (error.stdout or b"").decode(errors="replace"), -1
            last = f"not done after {seconds} s"
        verdicts = {}
        for line in output.splitlines():
            fields = line.split(" ", 3)
            if len(fields) == 4:
                verdicts[fields[1]] = fields[2], fields[3].strip()
        if ended != 0:
            verdicts["-"] = "ends", f"status {ended}: {last}"
        return verdicts


def write(path, programs, mode):
    with open(path, "w", encoding="ascii") as file:
        file.write(source_of(programs, mode, FUNCTIONS))


def is_good(verdict):
    return verdict[0] in ("same", "serial")


# --- making failures small -----------------------------------------------------


def groups_of(line):
    """Yields (start, end) of each parenthesised part, outermost first."""
    for start, letter in enumerate(line):
        if letter != "(":
            continue
        depth = 0
        for end in range(start, len(line)):
            depth += {"(": 1, ")": -1}.get(line[end], 0)
            if depth == 0:
                yield start, end + 1
                break


def smaller_lines(line):
    for start, end in groups_of(line):
        inner = line[start + 1:end - 1]
        if len(inner) < 3:
            continue
        for text in ("(1)", "(in.lane)"):
            yield line[:start] + text + line[end:]
        name = re.search(r"\w+$", line[:start])
        for a, b in groups_of(inner):
            word = re.search(r"\w*$", inner[:a])
            if b - a < end - start - 2 - len(word[0]):
                kept = inner[word.start():b]
                yield line[:start] + "(" + kept + ")" + line[end:]
        if name:
            for operand in re.split(r" [-+*/%&|^<>=!]+ |, ", inner)[:6]:
                if operand.count("(") == operand.count(")") and operand != inner:
                    yield line[:start] + "(" + operand + ")" + line[end:]


def smaller_block(block):
    """Yields blocks with less: halves first, then single statements."""
    size = len(block)
    step = size
    while step >= 1:
        for i in range(0, size, step):
            yield Block(block[:i] + block[i + step:])
        step //= 2
    for i, statement in enumerate(block):
        for part in statement if not isinstance(statement, Block) else [statement]:
            if isinstance(part, Block):
                yield Block(block[:i] + list(part) + block[i + 1:])
        for less in smaller_part(statement):
            yield Block(block[:i] + [less] + block[i + 1:])


def smaller_part(part):
    if isinstance(part, str):
        yield from smaller_lines(part)
    elif isinstance(part, Block):
        yield from smaller_block(part)
    else:
        for i, inner in enumerate(part):
            if inner == "else":
                yield part[:i] + part[i + 2:]
            for less in smaller_part(inner):
                yield part[:i] + [less] + part[i + 1:]


def smaller_programs(program):
    functions = program.functions
    for i in range(len(functions) - 1):
        yield Program(program.record, functions[:i] + functions[i + 1:], program.name)
    for i in reversed(range(len(functions))):
        head, body = functions[i]
        for less in smaller_block(body):
            changed = functions[:i] + [[head, less]] + functions[i + 1:]
            yield Program(program.record, changed, program.name)


def reduced(program, failing):
    """The smallest program that still fails in the same way; a walk that does
    not start anew after each step."""
    progress = True
    while progress:
        progress = False
        skip = 0
        while True:
            for number, candidate in enumerate(smaller_programs(program)):
                if number >= skip and failing(candidate):
                    program, progress, skip = candidate, True, max(0, number - 1)
                    break
            else:
                break
    return program


# --- the run -------------------------------------------------------------------------


class Campaign:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.runners = [Runner(options.build, target, options.prefix)
                        for target in options.targets]

    def verdicts(self, programs, mode, name, seconds, tier_seconds=None):
        """Each program's verdict: the worst over the targets."""
        path = os.path.join(self.folder, name + ".metal")
        write(path, programs, mode)
        merged = {}
        for target, runner in zip(self.options.targets, self.runners):
            for kernel, verdict in runner.run(path, seconds,
                                              tier_seconds).items():
                first = merged.setdefault(kernel, verdict)
                if is_good(first) and not is_good(verdict):
                    merged[kernel] = verdict[0], f"{target}: {verdict[1]}"
                elif is_good(first) and "x86-64-v2" not in target and (
                        first[1].split()[0] != verdict[1].split()[0]):
                    merged[kernel] = "targets", f"{target}: other bits"
        os.remove(path)
        if self.options.integers:
            self.ask_host(programs, name, merged)
        return merged

    def ask_host(self, programs, name, merged):
        """Turns a good verdict into "host" where the host has other bits."""
        wanted = host_verdicts(self.folder, name, programs)
        for program in programs:
            verdict = merged.get(program.name)
            if not verdict or not is_good(verdict):
                continue
            if wanted is None:
                merged[program.name] = "refused", "by the host's compiler"
            elif program.name not in wanted:
                merged[program.name] = "silent", "the host's code did not end"
            elif wanted[program.name] != verdict[1].split()[0]:
                merged[program.name] = "host", "other bits than both tiers"

    def failing(self, mode, verdict):
        def test(program):
            got = self.verdicts([program], mode, f"small{os.getpid()}_{id(test)}",
                                ONE_SECONDS, SMALL_SECONDS)
            # A smaller text that is no longer MSL fails as a source, only.
            got = got.get(program.name) or got.get("-")
            return bool(got) and got[0] == verdict[0] and alike(got, verdict)
        return test

    def judge(self, program, mode, verdict):
        """Prints and keeps a kernel that fails; one by one."""
        print(f"{program.name}: {verdict[0]} {verdict[1]}", flush=True)
        if not self.options.no_reduction:
            program = reduced(program, self.failing(mode, verdict))
        text = source_of([program], mode, FUNCTIONS)
        if self.options.keep:
            write(os.path.join(self.options.keep, program.name + ".metal"),
                  [program], mode)
        print(text[text.index("\nstruct parts_"):], flush=True)

    def batch(self, first, size):
        """Returns (passed, failed, serial) of a batch."""
        seed = self.options.seed * 1000003 + first
        mode = math_mode(seed // BATCH)
        maker = (IntegerMaker if self.options.integers else
                 CallsMaker if self.options.calls else
                 StepsMaker if self.options.steps else
                 SmallMaker if self.options.small else Maker)
        programs = [Program.random(seed + i, f"{self.options.seed}_{first + i}", maker)
                    for i in range(size)]
        verdicts = self.verdicts(programs, mode, f"random{first}", SECONDS)
        passed = failed = serial = 0
        for program in programs:
            verdict = verdicts.get(program.name)
            if verdict is None:  # the source, or a neighbour, took it along
                alone = self.verdicts([program], mode, f"alone{first}", ONE_SECONDS)
                verdict = alone.get(program.name) or alone.get("-", ("ends", "?"))
            if is_good(verdict):
                passed += 1
                if verdict[0] == "serial":
                    serial += 1
                    print(f"{program.name}: {verdict[1]}", flush=True)
            else:
                failed += 1
                self.judge(program, mode, verdict)
        return passed, failed, serial


def alike(got, verdict):
    """Whether two errors are the same but for numbers and names."""
    if verdict[0] not in ("fails", "ends"):
        return True
    plain = [re.sub(r"[0-9a-f]*\d[0-9a-f]*|kernel_\S+|whole_\S+", "", v[1])[:60]
             for v in (got, verdict)]
    return plain[0] == plain[1]


def parse_options():
    parser = argparse.ArgumentParser(description="Tier 1 against tier 0.")
    parser.add_argument("--build", default=os.environ.get("METTLE_BUILD_DIR",
                                                          "build"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=96)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target", action="append", dest="targets")
    parser.add_argument("--jobs", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--grids", type=int)
    parser.add_argument("--integers", action="store_true")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--no-reduction", action="store_true")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.targets = options.targets or [""]
    options.prefix = options.prefix.split()
    if options.calls:
        os.environ["METTLE_CALLS"] = "all"
    if options.grids:
        os.environ["METTLE_RANDOM_GRIDS"] = str(options.grids)
    return options


def main():
    options = parse_options()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        campaign = Campaign(options, folder)
        end = options.first + options.count
        batches = [pool.submit(campaign.batch, first, min(BATCH, end - first))
                   for first in range(options.first, end, BATCH)]
        sums = [sum(counts) for counts in zip(*(b.result() for b in batches))]
    if sums[2]:
        print(f"{sums[2]} kernels were not vectorised")
    print(f"{sums[0]} passed, {sums[1]} failed")
    return 1 if sums[1] else 0


if __name__ == "__main__":
    sys.exit(main())
