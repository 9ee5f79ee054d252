#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""conformance.py [--check]: writes docs/conformance.md, what of Metal is there
and which test shows it, from tests/features.txt and the lists of tests.

A line of tests/features.txt is  FEATURE | PATTERN, PATTERN...  where a pattern
(as fnmatch) names tests, or  FEATURE | - REASON  for what is not there; "= TITLE"
starts a section. A pattern that names no test is an error: the page may not
promise what nothing tests. --check writes nothing and fails if the page is not
what would be written, counts apart, which every new test changes; its last line
is "N passed, N failed"."""

import ast
import fnmatch
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "conformance.md")
HEAD = """# What of Metal is there

One row a feature, with the tests that show it and how many they are; `-` where
it is not there. Made by `tools/conformance.py` from `tests/features.txt` and the
tests themselves; change those. A test is called by its folder below `tests/`,
then its suite or file, then its name.
"""


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def files(pattern):
    return sorted(glob.glob(os.path.join(ROOT, "tests", pattern)))


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def string_keys(path, names=None):
    """The string keys of the dictionaries of a Python file; of those assigned
    to names only, if given."""
    for node in ast.walk(ast.parse(read(path))):
        if names is not None:
            if not isinstance(node, ast.Assign) or not any(
                    isinstance(t, ast.Name) and t.id in names
                    for t in node.targets):
                continue
            node = node.value
        if isinstance(node, ast.Dict):
            for key in node.keys:
                # Other texts are sources, not names.
                if (isinstance(key, ast.Constant)
                        and isinstance(key.value, str)
                        and key.value.isidentifier()):
                    yield key.value


def all_tests():
    """The names of all tests that say by their name what they show."""
    for path in files("conformance/*.c"):
        for suite, name in re.findall(r"^TEST\((\w+), (\w+)\)", read(path),
                                      re.M):
            yield f"conformance/{suite}.{name}"
    for room in ("stream", "aoti"):
        for path in files(f"{room}/*.c"):
            for name in re.findall(r"^TEST\(\w+, (\w+)\)", read(path), re.M):
                yield f"{room}/{stem(path)}.{name}"
    for path in files("stream/op*.py"):  # operations.py and its subjects
        for name in re.findall(r"^def (\w+)\(\):", read(path), re.M):
            if name != "main":
                yield f"stream/operations.{name}"
    for path in files("aoti/*.py") + files("cli/*.py"):
        room = os.path.basename(os.path.dirname(path))
        for name in re.findall(r"^@case.*\ndef (\w+)", read(path), re.M):
            yield f"{room}/{stem(path)}.{name}"
    for path in files("compiler/language/*.metal"):
        for name in re.findall(r"^//--- (\S+)", read(path), re.M):
            yield f"compiler/{stem(path)}.{name}"
    for path in files("library/test_*.py"):
        subject = stem(path)[len("test_"):]
        for name in (*string_keys(path), *re.findall(
                r"^def test_(\w+)", read(path), re.M)):
            yield f"library/{subject}.{name}"
    for path in files("check/*.metal"):
        for name in re.findall(r"^// run: (\w+)", read(path), re.M):
            yield f"check/{stem(path)}.{name}"
    for room in ("tensors", "metallib"):  # their cases are made in loops
        for path in files(f"{room}/test_*.py") + files(f"{room}/*cases.py"):
            yield f"{room}/{stem(path).removeprefix('test_')}"
    for path in files("regression/*.metal"):
        yield f"regression/{stem(path)}"
    for path in files("corpus/mlx_*.py"):
        for name in string_keys(path, ("FAMILIES",)):
            yield f"corpus/mlx.{name}"
    for name in string_keys("tests/corpus/test_tinygrad.py", ("GROUPS",)):
        yield f"corpus/tinygrad.{name}"
    for path in files("corpus/test_*_own.py"):
        yield f"corpus/{stem(path)[len('test_'):]}"
    for name in string_keys("tests/objc/llama.py", ("KINDS",)):
        yield f"objc/llama.{name}"
    for name in re.findall(r"^static void (\w+)\([^)]*\) {",
                           read("tests", "objc", "metal_cpp_uses.cpp"), re.M):
        yield f"objc/metal_cpp.{name}"
    for path in files("objc/*.m") + files("objc/*.mm"):
        for name in re.findall(r"^static void (\w+)\((?:void)?\) {",
                               read(path), re.M):
            yield f"objc/{stem(path)}.{name}"
    for name in re.findall(r"^    def test_(\w+)",
                           read("tests/objc/tinygrad_uses.py"), re.M):
        yield f"objc/tinygrad.{name}"
    for name in string_keys("tests/corpus/test_ggml.py", ("FAMILIES",)):
        yield f"corpus/ggml.{name}"
    for name in string_keys("tests/corpus/test_iree.py", ("FILLS",
                                                          "KERNELS")):
        yield f"corpus/iree.{name}"


def cannot(device):
    """What a device's list says that it cannot do: [(pattern, reason)]."""
    for line in read("tests", "conformance", device + ".txt").split("\n"):
        fields = line.split("#", 1)[0].split(None, 2)
        if len(fields) == 3:
            yield fields[0], fields[2]


def row(feature, patterns, tests, wrong):
    if patterns[0].startswith("-"):
        return f"| {feature} | {', '.join(patterns)} | |"
    found = set()
    for pattern in patterns:
        matches = fnmatch.filter(tests, pattern)
        if not matches:
            wrong.append(f"{feature}: no test is called {pattern}")
        found.update(matches)
    names = ", ".join(f"`{pattern}`" for pattern in patterns)
    return f"| {feature} | {names} | {len(found)} |"


def page(wrong):
    tests = sorted(set(all_tests()))
    lines = [HEAD]
    for line in read("tests", "features.txt").split("\n"):
        if line.startswith("= "):
            lines += [*[""] * (len(lines) > 1), f"## {line[2:]}", "", "| feature | tests | count |",
                      "|---|---|---|"]
        elif line.strip() and not line.startswith("#"):
            feature, patterns = line.split("|", 1)
            lines.append(row(feature.strip(),
                             [p.strip() for p in patterns.split(",")], tests,
                             wrong))
    lines += ["", "## What devices cannot do", "",
              "| device | tests | reason |", "|---|---|---|"]
    for device in ("cpu", "cpu-discrete", "null"):
        lines += [f"| {device} | `{pattern}` | {reason} |"
                  for pattern, reason in cannot(device)]
    return "\n".join(lines) + "\n"


def without_counts(text):
    return re.sub(r"\| \d+ \|$", "|", text, flags=re.M)


def main():
    wrong = []
    text = page(wrong)
    if sys.argv[1:] == ["--check"]:
        current = read(PAGE) if os.path.exists(PAGE) else ""
        if without_counts(text) != without_counts(current):
            wrong.append("docs/conformance.md is not what tools/conformance.py "
                         "writes: run it")
        print("\n".join(wrong + [f"{0 if wrong else 1} passed, {len(wrong)} "
                                 "failed"]))
    elif wrong:
        print("\n".join(wrong), file=sys.stderr)
    else:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
