#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_checks.py: random kernels, which are free of races, under the checker:
nothing may be found, and the results are tier 0's to the bit; then the same
kind of kernels with a bug each (random_plants.py), which must be found at its
line.

  random_checks.py [--clean N] [--planted N] [--seed N] [--first N] [--jobs N]
                   [--keep FOLDER]

A long run: random_checks.py --clean 500 --planted 500. It finds the programs in
METTLE_BUILD_DIR, or build/. Last line: N passed, N failed."""

import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "vectorize"))
from random_features import Block  # noqa: E402
from random_integers import FUNCTIONS  # noqa: E402
from random_plants import MARK, PLANTS  # noqa: E402
from random_source import (Maker, Program, SmallMaker,  # noqa: E402
                           math_mode, source_of)
from random_steps import StepsMaker  # noqa: E402

BATCH = 10
SECONDS = 900
SCHEDULES = ("forward", "reverse", "random:3")


def text_has(part, word):
    if isinstance(part, str):
        return word in part
    return any(text_has(inner, word) for inner in part)


def plant(program, r, name):
    """Puts a bug into the kernel, where all threads come by; its kind."""
    body = program.functions[-1][1]
    kind, lines = PLANTS[name](r)
    last = next((i for i, statement in enumerate(body)
                 if text_has(statement, "return")), len(body))
    first = 0
    for i, statement in enumerate(body[:last]):  # behind what others rely on
        if text_has(statement, "held") or text_has(statement, "threadgroup "):
            first = i + 1
    at = r.randrange(min(first, last), last + 1)
    fence = ["threadgroup_barrier(mem_flags::mem_threadgroup);"]
    body[at:at] = [fence, ["{", Block([[line] for line in lines if line]), "}"],
                   fence]
    return kind


class Campaign:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.program = os.path.join(options.build, "run_random")

    def run(self, name, programs, mode, how):
        """Returns {kernel: (verdict, text)} and the source's lines."""
        path = os.path.join(self.folder, name + ".metal")
        text = source_of(programs, mode, FUNCTIONS)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        environment = dict(os.environ, METTLE_RANDOM_CHECK=how,
                           METTLE_RANDOM_GRIDS="1", METTLE_CACHE="0",
                           METTLE_CHECK_SCHEDULE=SCHEDULES[len(name) % 3])
        result = subprocess.run([self.program, path], env=environment,
                                timeout=SECONDS, capture_output=True, text=True,
                                errors="replace", check=False)
        verdicts = {}
        for line in result.stdout.splitlines():
            fields = line.split(" ", 3)
            if len(fields) == 4:
                verdicts[fields[1]] = fields[2], fields[3].strip()
        if result.returncode:
            print(f"status {result.returncode}: {result.stderr[-300:]}")
        return verdicts, text.split("\n")

    def tell(self, program, mode, what):
        print(f"FAILED {program.name}: {what}", flush=True)
        if self.options.keep:
            path = os.path.join(self.options.keep, program.name + ".metal")
            with open(path, "w", encoding="ascii") as file:
                file.write(source_of([program], mode, FUNCTIONS))

    def clean(self, first, size):
        seed = self.options.seed * 1000003 + first
        mode = math_mode(seed // BATCH)
        makers = (SmallMaker, StepsMaker, Maker)
        programs = [Program.random(seed + i, f"{self.options.seed}_{first + i}",
                                   makers[(first + i) % 3]) for i in range(size)]
        verdicts, _ = self.run(f"clean{first}", programs, mode, "compare")
        good = 0
        for program in programs:
            verdict = verdicts.get(program.name, ("ends", ""))
            good += verdict[0] == "same"
            if verdict[0] != "same":
                self.tell(program, mode, f"{verdict[0]} {verdict[1]}")
        return good, size - good

    def planted(self, first, size):
        seed = self.options.seed * 1000003 + first + 7
        mode = math_mode(seed // BATCH)
        programs, kinds = [], []
        for i in range(size):
            r = random.Random(seed + i)
            name = list(PLANTS)[(first + i) % len(PLANTS)]
            program = Program.random(
                seed + i, f"{name}_{self.options.seed}_{first + i}",
                (SmallMaker, StepsMaker, SmallMaker)[i % 3])
            kinds.append(plant(program, r, name))
            programs.append(program)
        verdicts, lines = self.run(f"planted{first}", programs, mode, "find")
        good = 0
        for program, kind in zip(programs, kinds):
            verdict = verdicts.get(program.name, ("ends", ""))
            found = verdict[0] == "finds" and self.is_found(
                kind, verdict[1], lines)
            good += found
            if not found:
                self.tell(program, mode, f"no {kind}: {verdict[0]} {verdict[1]}")
        return good, size - good

    @staticmethod
    def is_found(kind, text, lines):
        for entry in text.split(";"):
            fields = entry.split()
            if fields and fields[0] == kind and any(
                    MARK in lines[int(number) - 1]
                    for number in fields[1:] if int(number)):
                return True
        return False


def batches(count, first):
    return [(at, min(BATCH, first + count - at))
            for at in range(first, first + count, BATCH)]


def main():
    parser = argparse.ArgumentParser(description="The checker, at random.")
    parser.add_argument("--build", default=os.environ.get("METTLE_BUILD_DIR",
                                                          "build"))
    parser.add_argument("--clean", type=int, default=0)
    parser.add_argument("--planted", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        campaign = Campaign(options, folder)
        runs = [pool.submit(campaign.clean, *batch)
                for batch in batches(options.clean, options.first)]
        runs += [pool.submit(campaign.planted, *batch)
                 for batch in batches(options.planted, options.first)]
        sums = [sum(counts) for counts in zip(*(run.result() for run in runs))]
    print(f"{sums[0]} passed, {sums[1]} failed")
    return 1 if sums[1] else 0


if __name__ == "__main__":
    sys.exit(main())
