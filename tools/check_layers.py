#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_layers.py: checks who includes what.

A file's room follows from its folder; each room may include the public
headers, the rooms listed for it here and, of a room in parentheses, one
header. LLVM and clang headers belong to the compiler alone, every file starts
with the licence's SPDX line, and a METTLE_ variable that the product reads is
in settings.c's table or among those that are checked where they are used: none
is taken for its default when its value is wrong. CPU features are asked for in
one room. No more than three files of the vectoriser call each other in a
circle. No folder of src has more than 25 files, no room more than 8,000 lines.
The last line is "N passed, N failed":
one test if all is well, or a failure for every file that breaks a rule."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# The vectoriser's rooms from the ground up: each may include those below it.
FLOORS = ("base", "target", "analysis", "prepare", "prepare/tiles", "plan",
          "plan/access", "emit/values", "emit/address", "emit/lanes",
          "emit/memory", "emit/tiles", "emit/calls", "emit/flow", "finish")


def stacked(folder, below, own=(), **rooms):
    """A folder whose subfolders are rooms: each sees what is below the folder,
    and of its siblings what is listed; "*" are the folder's own headers."""
    inside = folder.removeprefix("src/") + "/"
    found = {folder: below + [inside + name for name in own]}
    for room, siblings in rooms.items():
        found[f"{folder}/{room}"] = below + [inside + name
                                             for name in siblings]
    return found


def compiler_floors():
    """Rooms of the back end, each with what is below it."""
    below = ["base/", "code/", "compiler/compiler.h", "compiler/ir/"]
    rooms = {}
    for floor in FLOORS:
        rooms["src/compiler/vectorize/" + floor] = list(below)
        below.append(f"compiler/vectorize/{floor}/")
    rooms["src/compiler/vectorize"] = list(below)
    # From here on, only the functions of the vectoriser that passes.c and
    # emit_cpu.c call.
    entrances = below[:4] + ["compiler/vectorize/vectorize.h",
                             "compiler/vectorize/finish/",
                             "compiler/vectorize/target/machine.h",
                             "compiler/vectorize/base/tables.h"]
    rooms["src/compiler/emit"] = entrances
    rooms["src/compiler/passes"] = entrances + [
        "compiler/frontend/frontend.h", "compiler/ptx/", "compiler/check/"]
    return rooms


# room: the folders and headers under src/ that its files may include, besides
# the room itself and include/mettle. "x/" is all of a folder, "x/*" what lies
# in it and not below.
ROOMS = {
    "include/mettle": [],
    "src/base": [],
    "src/code": ["base/"],
    # The checker's run-time part knows addresses, and no object.
    "src/check": ["base/", "code/", "check/"],
    "src/compiler": ["base/", "code/"],
    # In libmettle; of the compiler's process it knows the messages.
    "src/compiler/client": ["base/", "code/", "compiler/compiler.h",
                            "compiler/process/protocol.h"],
    "src/compiler/process": ["base/", "code/", "compiler/"],
    "src/compiler/air": ["base/", "code/", "compiler/compiler.h",
                         "compiler/frontend/*", "compiler/process/compile.h"],
    **stacked("src/compiler/frontend",
              ["base/", "code/", "compiler/compiler.h"],
              own=["source/"], source=["reflect.h"], clang=["parts.h"],
              refusals=["parts.h", "reflect.h"]),
    **stacked("src/compiler/ir", ["base/", "code/", "compiler/compiler.h"],
              llvm=["kernel/kernel.h"], kernel=["llvm/"],
              analysis=["kernel/", "llvm/"],
              transform=["kernel/", "llvm/", "analysis/"]),
    **compiler_floors(),
    "src/compiler/ptx": ["base/", "code/", "compiler/compiler.h",
                         "compiler/ir/", "compiler/vectorize/analysis/",
                         # What memory an address is of.
                         "compiler/check/check.h"],
    "src/compiler/check": ["base/", "code/", "compiler/compiler.h",
                           "compiler/ir/", "compiler/passes/passes.h"],
    **stacked("src/runtime",
              ["base/", "code/", "check/check.h", "compiler/compiler.h"],
              library=["*"], record=["*", "library/"],
              texture=["*", "record/"], queue=["*", "record/"],
              memory=["*", "record/", "texture/"], device=["*", "record/"]),
    **{f"src/drivers/{name}": ["base/", "code/", "check/check.h",
                               "runtime/driver.h"]
       for name in ("cpu", "cuda", "metal", "null")},
    "src/stream": [],
    **stacked("src/aoti", ["base/scratch_file.h", "stream/stream.h",
                           "stream/own_scope.h"],
              own=["model/"], model=["tensor.h"],
              operators=["tensor.h", "element.h"]),
    "src/objc": ["objc/runtime/"],
    "src/objc/runtime": [],
    "src/objc/dispatch": ["objc/runtime/"],
    **stacked("src/objc/foundation", ["objc/runtime/"],
              collections=["*"], core=["*"], strings=["*"], messages=["*"],
              formats=["*", "regex/"], regex=[]),
    **{f"src/objc/{name}": ["objc/runtime/", "objc/dispatch/",
                            "objc/foundation/*"]
       for name in ("operations", "loops")},
    **stacked("src/objc/metal", ["objc/runtime/", "objc/dispatch/",
                                 "objc/foundation/*"],
              metal4=["*"], mps=["*"], io=["*"], commands=["*"],
              resources=["*", "metal4/"],
              library=["*", "commands/", "metal4/"]),
    "src/iree": [],
    "src/cli/base": [],
    "src/cli/values": ["cli/base/"],
    "src/cli/bind": ["cli/base/", "cli/values/"],
    "src/cli/program": ["cli/base/", "cli/bind/"],
    "src/cli/run": ["cli/base/", "cli/bind/", "cli/program/"],
    "src/cli/corpus": ["cli/base/", "cli/program/"],
    "src/cli/model": ["cli/base/", "cli/values/"],
    "src/cli/trace": ["cli/base/", "cli/program/"],
    "src/cli": ["cli/base/", "cli/program/"],
    "examples": [],
    "bench": [],
    "tests/conformance": ["harness/"],
}
# The devices are told of the drivers in one file.
DRIVER_TABLES = re.compile(r"^drivers/[a-z0-9_]+/[a-z0-9_]+\.h$")
COMPILER_ONLY = re.compile(r"^(llvm|llvm-c|clang|clang-c|lld)/")
# MSL that the compiler serves to kernels, not C of ours.
NOT_OURS = ("src/compiler/metal/",)
DATA = ("tests/fuzz/seeds/",)  # inputs, not sources
SOURCES = (".c", ".h", ".cpp", ".S")
LICENSED = SOURCES + (".py", ".sh", ".cmake", ".metal", "CMakeLists.txt",
                      "Makefile")


SETTINGS = "src/base/settings.c"
# A device, a program, a processor: checked where they are used.
# What libMetal reads is checked by failure.c, which knows no status.
CHECKED_IN_USE = ("METTLE_CHECK", "METTLE_CHECK_EXIT", "METTLE_CHECK_REPORT",
                  "METTLE_CHECK_SCHEDULE", "METTLE_CHECK_SCREEN",
                  "METTLE_CHECK_SUPPRESS",
                  "METTLE_DEVICE", "METTLE_TRACE", "METTLE_COMPILER",
                  "METTLE_CPU_TARGET", "METTLE_METAL_LIBRARY",
                  "METTLE_OBJC_DEBUG", "METTLE_OBJC_EXCEPTIONS",
                  "METTLE_OBJC_MACOS", "METTLE_OBJC_NAME",
                  "METTLE_OBJC_ARCHITECTURE", "METTLE_OBJC_LIBRARY",
                  "METTLE_OBJC_SYSTEM_VERSION")
READS = re.compile(r'\b(?:secure_)?getenv\(\s*"(METTLE_\w+)"\)'
                   r'|\b(?:mtli_setting_number|stream_bound_bytes)\(\s*'
                   r'"(METTLE_\w+)"')


def room_of(path):
    matches = [room for room in ROOMS if path.startswith(room + "/")]
    return max(matches, key=len) if matches else None


def allowed(path, room, name):
    if name.startswith("mettle/"):
        return room not in ("src/base",) or name == "mettle/status.h"
    if room == "include/mettle":
        return "/" not in name
    # Shelves of one room see each other; a deeper room is entered by its list.
    if room_of("src/" + name) == room:
        return True
    if room == "src/runtime/device" and DRIVER_TABLES.match(name):
        return os.path.basename(path) == "drivers.c"
    for entry in ROOMS[room]:
        if name == entry or (entry.endswith("/") and name.startswith(entry)):
            return True
        if entry == os.path.dirname(name) + "/*":
            return True
    # A header beside the file.
    beside = os.path.join(ROOT, os.path.dirname(path), name)
    return os.path.exists(beside)


def is_ours(path, name):
    """Whether name, as included from path, is a header of this repository."""
    places = ("include", "src", "tests", os.path.dirname(path))
    return any(os.path.exists(os.path.join(ROOT, place, name))
               for place in places)


def problems_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8",
              errors="replace") as file:
        text = file.read()
    problems = []
    if path.endswith(LICENSED) and LICENCE not in "".join(
            text.splitlines(True)[:3]):
        problems.append("no SPDX line at the top")
    room = room_of(path)
    if room is None or not path.endswith(SOURCES) or path.startswith(NOT_OURS):
        return problems
    if path.startswith("src/"):
        problems += unchecked_variables(path, text)
        problems += asked_features(path, text)
    for match in INCLUDE.finditer(text):
        name = match[2]
        line = text.count("\n", 0, match.start()) + 1
        if COMPILER_ONLY.match(name):
            if not room.startswith("src/compiler"):
                problems.append(f"{line}: only the compiler sees <{name}>")
        elif is_ours(path, name) and not allowed(path, room, name):
            problems.append(f"{line}: {room} may not include \"{name}\"")
    return problems


# One room asks for a CPU's features; the others ask what it can do.
FEATURES = re.compile(r"\bmtlc_target_has\(|\bmtlc_target_is_cpu\(|\bhas_avx\w*|"
                      r"\bis_zen\b")
ASKS_FEATURES = ("src/compiler/vectorize/target/", "src/compiler/ir/kernel/target.")


def asked_features(path, text):
    if not path.startswith("src/") or path.startswith(ASKS_FEATURES):
        return
    for match in FEATURES.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{line}: {match[0]} is for vectorize/target"


def unchecked_variables(path, text):
    with open(os.path.join(ROOT, SETTINGS), encoding="utf-8") as file:
        table = set(re.findall(r'"(METTLE_\w+)"', file.read()))
    for match in READS.finditer(text):
        name = match[1] or match[2]
        if name not in table and name not in CHECKED_IN_USE:
            line = text.count("\n", 0, match.start()) + 1
            yield f"{line}: {name} is not in {SETTINGS}"


CIRCLES = "src/compiler/vectorize"  # where files call each other in none
LARGEST_CIRCLE = 3  # but of so few, that are one subject
DEFINED = re.compile(r"^(?!static)[A-Za-z_][\w *]*?\b(lanes_\w+)\([^;{}]*\)\s*\{",
                     re.MULTILINE)


def calls_of(paths):
    """{file: files whose functions it names}."""
    texts = {}
    for path in paths:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            texts[path] = re.sub(r"//.*", "", file.read())
    owners = {name: path for path, text in texts.items()
              for name in DEFINED.findall(text)}
    return {path: {owners[name] for name in re.findall(r"\blanes_\w+", text)
                   if owners.get(name, path) != path}
            for path, text in texts.items()}


def reached_from(calls, path):
    """What a file leads to, itself if it leads back."""
    seen, ahead = set(), [path]
    while ahead:
        for other in calls[ahead.pop()]:
            if other not in seen:
                seen.add(other)
                ahead.append(other)
    return seen


def large_circles(paths):
    calls = calls_of([path for path in paths if path.startswith(CIRCLES)
                      and path.endswith(".c")])
    reached = {path: reached_from(calls, path) for path in calls}
    circles = {frozenset(other for other in reached[path]
                         if path in reached[other])
               for path in calls if path in reached[path]}
    return [sorted(circle) for circle in circles
            if len(circle) > LARGEST_CIRCLE]


# The limits for a folder and a room, so that a reader can survey each.
MOST_FILES = 25  # in a folder
MOST_LINES = 8000  # in a room
FIGURED = "src/"
# Kernels include these by their names, which the specification gives.
PUBLIC_LAYOUT = ("src/compiler/metal",)
NO_SOURCES = ("README.md", "CMakeLists.txt")


def too_large(paths):
    """What is wrong with the sizes of folders and of rooms."""
    files_in, lines_in = {}, {}
    for path in paths:
        folder, name = os.path.split(path)
        if not path.startswith(FIGURED) or name in NO_SOURCES:
            continue
        files_in[folder] = files_in.get(folder, 0) + 1
        if path.endswith(SOURCES) and not path.startswith(NOT_OURS):
            with open(os.path.join(ROOT, path), "rb") as file:
                lines = file.read().count(b"\n")
            room = room_of(path) or folder
            lines_in[room] = lines_in.get(room, 0) + lines
    for folder, count in sorted(files_in.items()):
        if count > MOST_FILES and folder not in PUBLIC_LAYOUT:
            yield f"{folder}: {count} files, the most is {MOST_FILES}"
    for room, count in sorted(lines_in.items()):
        if count > MOST_LINES:
            yield f"{room}: {count} lines, the most is {MOST_LINES}"


PASSES = "src/compiler/passes/passes.c"
TRAVEL = "docs/travel.md"


def untold_passes():
    """Whether the document that lists the passes has each, in their order."""
    with open(os.path.join(ROOT, PASSES), encoding="utf-8") as file:
        passes = re.findall(r'^    \{"(\w+)", ', file.read(), re.MULTILINE)
    with open(os.path.join(ROOT, TRAVEL), encoding="utf-8") as file:
        told = re.findall(r"^\| `(\w+)` \|", file.read(), re.MULTILINE)
    if passes != told:
        yield f"{TRAVEL}: its passes are not those of {PASSES}, in their order"


def files():
    """What is in the repository, and what is about to be."""
    result = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "--cached", "--others",
         "--exclude-standard"], capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return [path for path in result.stdout.split("\n")
                if os.path.isfile(os.path.join(ROOT, path))]
    found = []  # an unpacked archive
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders
                      if not name.startswith((".", "build"))]
        found += [os.path.relpath(os.path.join(folder, name), ROOT)
                  for name in names]
    return found


def main():
    failed = 0
    paths = files()
    for circle in large_circles(paths):
        failed += 1
        print(f"files that call each other in a circle: {', '.join(circle)}")
    for problem in [*too_large(paths), *untold_passes()]:
        failed += 1
        print(problem)
    for path in sorted(paths):
        if not path.endswith(LICENSED) or path.startswith(DATA):
            continue
        problems = problems_of(path)
        for problem in problems:
            print(f"{path}:{problem}")
        failed += bool(problems)
    print(f"{0 if failed else 1} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
