#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same_code.py: compares the code that two builds make of the same kernels.

  tools/same_code.py BEFORE AFTER       two builds, or saved hashes
  tools/same_code.py BUILD --save FILE  hashes of one, for later

Every kernel of tests/regression, src/stream, examples, tests/library and bench
is compiled for each target, and the whole container is hashed: the object with
its debug lines, the flags and the report. With --ir the IR behind the last
pass is hashed as well, which takes twice as long. A change of structure leaves
every hash as it was; a change of code shows which kernels it reaches.

  --targets  texts as METTLE_CPU_TARGET takes, apart by ";"; "" is this machine
  --only     a part of the names of sources, to compare a few
  --small    a fixed tenth of the sources
  --jobs     processes for each build

What cannot be compiled counts by the text of its error. The last line is
"N passed, N failed", in kernels times targets."""

import argparse
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# With mask registers, without, and one that is no x86. The features that passes
# ask about are spelled out, for builds that know none of a CPU's name.
TARGETS = ("x86_64 znver4 +avx2,+fma,+f16c,+bmi2,+avx512f,+avx512bw,+avx512vl,"
           "+avx512dq,+avx512cd,+avx512bf16,+avx512vpopcntdq,+evex512",
           "x86_64 x86-64-v3", "aarch64")
DEBUG = "debug"  # beside the targets: tier T0, for this machine
LAST_PASS = "hoist_constants"
# In front of every kernel of bench/kernels (bench/kernels.c).
PROLOGUE = "#include <metal_stdlib>\nusing namespace metal;\n"
FOLDERS = ("tests/regression", "examples", "tests/library",
           "tests/compiler/language")
LITERALS = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*')


def bench_sources():
    """MSL in the string literals of bench/kernels, macros expanded."""
    for path in sorted(glob.glob(os.path.join(ROOT, "bench/kernels/*.c"))):
        text = subprocess.run(
            ["cc", "-E", "-P", f"-I{ROOT}/include", f"-I{ROOT}/src",
             f"-I{ROOT}/bench", "-D_GNU_SOURCE", path],
            capture_output=True, text=True, check=True).stdout
        name = os.path.relpath(path, ROOT)
        for number, match in enumerate(LITERALS.finditer(text)):
            pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', match[0])
            source = "".join(pieces).encode().decode("unicode_escape")
            if "kernel void" in source and "[[" in source:
                yield f"{name}:{number}", PROLOGUE + source


def sources():
    """{name: text} of everything to compile."""
    found = {}
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(ROOT, folder, "**/*.metal"),
                              recursive=True):
            with open(path, encoding="utf-8") as file:
                found[os.path.relpath(path, ROOT)] = file.read()
    kernels = os.path.join(ROOT, "src/stream/kernels")
    with open(os.path.join(kernels, "common.metal"), encoding="utf-8") as file:
        common = file.read()
    for path in glob.glob(os.path.join(kernels, "*.metal")):
        with open(path, encoding="utf-8") as file:
            found[os.path.relpath(path, ROOT)] = common + file.read()
    found.update(bench_sources())
    return found


# --- one build, in a process of its own --------------------------------------

class Hashes:
    """What the compiler puts into an empty cache, one thing at a time."""

    def __init__(self, folder):
        self.folder = folder

    def take(self):
        """The hash of the containers that are new."""
        total = hashlib.sha256()
        for base, _, names in sorted(os.walk(self.folder)):
            for name in sorted(names):
                path = os.path.join(base, name)
                with open(path, "rb") as file:
                    contents = file.read()
                start = contents.rfind(b"MTLCODE\0")
                if start >= 0:
                    total.update(contents[start:-16])  # then a checksum
                    os.unlink(path)
        return total.hexdigest()[:16]


def of_kernel(library, name, target, hashes, with_ir):
    import mettle
    from mettle.library import Pipeline
    result = []
    try:
        pipeline = Pipeline(library[name], debug=target == DEBUG)
        result.append(hashes.take())
        if with_ir:
            pipeline = Pipeline(library[name], debug=target == DEBUG,
                                dump_after=LAST_PASS)
            dump = pipeline.dump.encode()
            result.append(hashlib.sha256(dump).hexdigest()[:16])
    except mettle.MettleError as error:
        text = re.sub(r"0x[0-9a-f]+", "", str(error))
        result.append(hashlib.sha256(text.encode()).hexdigest()[:16] +
                      " " + text[:80])
    return " ".join(result)


def work(options):
    """Prints {"SOURCE KERNEL TARGET": HASH} of a share of the sources."""
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import mettle
    from mettle.library import Library
    request = json.load(sys.stdin)
    device = mettle.Device("cpu")
    hashes = Hashes(os.environ["METTLE_CACHE_DIR"])
    found = {}
    for name, text in request["sources"].items():
        try:
            library = Library.compile(device, text, file_name=name)
        except mettle.MettleError as error:
            found[f"{name} library"] = str(error)[:200]
            continue
        found[f"{name} library"] = hashes.take()
        for target in request["targets"]:
            os.environ["METTLE_CPU_TARGET"] = "" if target == DEBUG else target
            for kernel in library.kernel_names:
                found[f"{name} {kernel} {target or 'host'}"] = of_kernel(
                    library, kernel, target, hashes, options.ir)
    json.dump(found, sys.stdout)


# --- both builds -------------------------------------------------------------

def start(build, texts, options, folder):
    environment = dict(os.environ, METTLE_BUILD_DIR=os.path.abspath(build),
                       METTLE_CACHE="1", METTLE_CACHE_DIR=folder,
                       METTLE_COMPILER=os.path.abspath(
                           os.path.join(build, "mettlec")))
    command = [sys.executable, "-B", os.path.abspath(__file__), "--work"]
    process = subprocess.Popen(
        command + (["--ir"] if options.ir else []), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env=environment, text=True)
    json.dump({"sources": texts, "targets": options.targets}, process.stdin)
    process.stdin.close()
    return process


def hashes_of(build, texts, options):
    """{"SOURCE KERNEL TARGET": HASH} of a build, or of a file that has it."""
    if os.path.isfile(build):
        with open(build, encoding="utf-8") as file:
            return json.load(file)
    found = {}
    names = sorted(texts)
    with tempfile.TemporaryDirectory() as scratch:
        processes = []
        for job in range(options.jobs):
            folder = os.path.join(scratch, str(job))
            os.mkdir(folder, 0o700)
            share = {name: texts[name] for name in names[job::options.jobs]}
            processes.append(start(build, share, options, folder))
        for process in processes:
            found.update(json.load(process.stdout))
            if process.wait() != 0:
                raise SystemExit(f"{build}: the compiling process failed")
    return found


def compare(before, after):
    different = sorted(name for name in before.keys() & after.keys()
                       if before[name] != after[name])
    for name in different:
        print(f"{name}: {before[name]} became {after[name]}")
    for name in sorted(before.keys() ^ after.keys()):
        print(f"{name}: only {'before' if name in before else 'after'}")
        different.append(name)
    print(f"{len(before.keys() | after.keys()) - len(different)} passed, "
          f"{len(different)} failed")
    return 1 if different else 0


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("builds", nargs="*", metavar="BUILD")
    parser.add_argument("--save")
    parser.add_argument("--targets", type=lambda text: text.split(";"),
                        default=list(TARGETS) + [DEBUG])
    parser.add_argument("--only", default="")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--ir", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.work and len(options.builds) != (1 if options.save else 2):
        parser.error("two builds to compare, or one and --save")
    return options


def main():
    options = read_options()
    if options.work:
        work(options)
        return 0
    texts = {name: text for name, text in sorted(sources().items())
             if options.only in name}
    if options.small:
        texts = {name: texts[name] for name in sorted(texts)[::10]}
    found = [hashes_of(build, texts, options) for build in options.builds]
    if options.save:
        with open(options.save, "w", encoding="utf-8") as file:
            json.dump(found[0], file, indent=0)
        return 0
    return compare(*found)


if __name__ == "__main__":
    sys.exit(main())
