#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_ptx.py: compiles kernels to PTX and looks at what has become of them.

  kernels.metal   each kernel with comment lines in front of it:
                    // target: sm_90    another GPU than that of TARGET; behind
                                        it what else the target says
                    // group: X,Y,Z     as `mettle compile --group`
                    // debug:           as `mettle compile --debug`
                    // has: TEXT        a line of the PTX has this, blanks and
                                        registers' numbers left out
                    // has not: TEXT    none has
                    // has in order: TEXT | TEXT...  one behind another
  ../regression   every so many files: NVIDIA's assembler takes their kernels

The assembler is ptxas of the wheel nvidia-cuda-nvcc-cu12, installed into the
build folder, or METTLE_PTXAS; without it those checks are skipped and counted.
The last line is "N passed, N failed, N skipped"."""

import glob
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("METTLE_BUILD_DIR", "build")
METTLE = os.path.join(BUILD, "mettle")
TARGET = "nvptx64 sm_90 +ptx78"
WHEEL = "nvidia-cuda-nvcc-cu12==12.9.86"
EVERY = 12  # files of ../regression


def find_ptxas():
    """Returns the assembler's path, or None."""
    given = os.environ.get("METTLE_PTXAS")
    if given:
        return given
    folder = os.path.join(BUILD, "tests", "ptxas")
    path = os.path.join(folder, "nvidia", "cuda_nvcc", "bin", "ptxas")
    if not os.path.exists(path):
        subprocess.run([sys.executable, "-m", "pip", "install", "-q",
                        "--no-deps", "--no-compile", "--target", folder, WHEEL],
                       capture_output=True, check=False)
    return path if os.path.exists(path) else None


def compile_ptx(path, options, target=TARGET):
    """Returns {kernel: PTX} of a file, or a text that says what failed."""
    result = subprocess.run(
        [METTLE, "compile", path, "--dump-after=asm"] + options,
        env=dict(os.environ, METTLE_CPU_TARGET=target), capture_output=True,
        text=True, check=False)
    if result.returncode != 0:
        return result.stderr
    parts = re.split(r"^; kernel (.*)\n", result.stdout, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def constants_of(path):
    """The options that give function constants values, as the first run has."""
    with open(path, encoding="utf-8") as lines:
        run = next(line for line in lines if line.startswith("// run: "))
    words = shlex.split(run)
    return [word for i, word in enumerate(words) if i > 0 and
            "--constant" in (word, words[i - 1])]


def read_cases(path):
    """Returns [(kernel, target, options, wanted, unwanted)]; a text that is
    wanted is a list of those that follow each other."""
    cases = []
    target, options, wanted, unwanted = TARGET, [], [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("// target: "):
                machine, *more = line.split()[2:]
                target = " ".join(["nvptx64", machine, "+ptx78", *more])
            elif line.startswith("// group: "):
                options = options + ["--group", line.split()[2]]
            elif line.startswith("// debug:"):
                options = options + ["--debug"]
            elif line.startswith("// has: "):
                wanted.append([line[len("// has: "):].strip()])
            elif line.startswith("// has in order: "):
                texts = line[len("// has in order: "):].split("|")
                wanted.append([text.strip() for text in texts])
            elif line.startswith("// has not: "):
                unwanted.append(line[len("// has not: "):].strip())
            elif line.startswith("kernel void "):
                name = re.match(r"kernel void (\w+)", line)[1]
                cases.append((name, target, options, wanted, unwanted))
                target, options, wanted, unwanted = TARGET, [], [], []
    return cases


def plain(ptx):
    """Returns PTX with one blank between words and no registers' numbers."""
    ptx = re.sub(r"(%[a-z]+)\d+", r"\1", ptx)
    return re.sub(r"[ \t]+", " ", ptx)


class Checks:
    """Counts."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, what, error):
        """Counts one: error is what is wrong, or ""."""
        if error:
            self.failed += 1
            print(f"FAILED {what}: {error}")
        else:
            self.passed += 1

    def assemble(self, what, ptxas, ptx, machine):
        """Has the assembler look at it."""
        if not ptxas:
            self.skipped += 1
            return
        result = subprocess.run([ptxas, f"-arch={machine}", "-o", "/dev/null",
                                 "/dev/stdin"], input=ptx, text=True,
                                capture_output=True, check=False)
        self.check(f"{what}: ptxas",
                   result.stderr if result.returncode else "")


def check_case(checks, path, case, ptxas):
    """One kernel of kernels.metal."""
    name, target, options, wanted, unwanted = case
    made = compile_ptx(path, ["--kernel", name] + options, target)
    if not isinstance(made, dict) or name not in made:
        checks.check(name, f"does not compile: {made}")
        return
    text = plain(made[name])
    for lines in wanted:
        pattern = ".*".join(re.escape(line) for line in lines)
        checks.check(name, "" if re.search(pattern, text, re.S) else
                     f"has no '{' | '.join(lines)}':\n{text}")
    for line in unwanted:
        checks.check(name, f"has '{line}':\n{text}" if line in text else "")
    checks.assemble(name, ptxas, made[name], target.split()[1])


def main():
    """Runs all."""
    checks = Checks()
    ptxas = find_ptxas()
    if not ptxas:
        print("skipped: no ptxas: let pip reach its index")
    path = os.path.join(HERE, "kernels.metal")
    for case in read_cases(path):
        check_case(checks, path, case, ptxas)
    for wrong in ("nvptx64 sm_60 +ptx78", "nvptx64 sm_90", "nvptx64 fast"):
        error = compile_ptx(path, ["--kernel", "copies"], wrong)
        checks.check(wrong, "" if "is known" in error else f"says {error}")
    files = sorted(glob.glob(os.path.join(HERE, "..", "regression",
                                          "*.metal")))[::EVERY]
    for file in files if ptxas else []:
        made = compile_ptx(file, constants_of(file))
        if not isinstance(made, dict):
            checks.check(os.path.basename(file), made)
            continue
        for name, ptx in made.items():
            checks.assemble(f"{os.path.basename(file)} {name}", ptxas, ptx,
                            TARGET.split()[1])
    if not ptxas:
        checks.skipped += len(files)
    print(f"{checks.passed} passed, {checks.failed} failed, "
          f"{checks.skipped} skipped")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
