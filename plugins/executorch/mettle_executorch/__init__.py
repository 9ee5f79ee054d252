# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ExecuTorch programs for Apple's Metal backend, on any machine.

    import mettle_executorch
    mettle_executorch.load()                      # registers "MetalBackend"
    from executorch.runtime import Runtime
    method = Runtime.get().load_program("net.pte").load_method("forward")
    outputs = method.execute([x])

`mettle_executorch.export` makes such programs on Linux. The backend is a small
library over the installed ExecuTorch, whose C++ interface changes between
releases: load() builds it for that release, with the system's C++ compiler, and
keeps it."""

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile

__all__ = ["build", "build_runner", "load", "statistics"]

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "libmettle-executorch.so"
COUNTS = ("dispatches", "copies", "host_operations", "commits", "waits")
loaded = None


def _mettle_flags():
    """Flags of the C++ compiler: of this source tree, or of what is installed."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
    build_folder = os.path.abspath(
        os.environ.get("METTLE_BUILD_DIR") or os.path.join(root, "build"))
    if (os.path.exists(os.path.join(root, "include", "mettle", "model.h"))
            and os.path.exists(os.path.join(build_folder,
                                            "libmettle-aoti.so"))):
        return ["-I" + os.path.join(root, "include"), "-L" + build_folder,
                "-Wl,-rpath," + build_folder, "-lmettle-aoti", "-lmettle"]
    found = subprocess.run(["pkg-config", "--cflags", "--libs", "mettle-aoti"],
                           capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise RuntimeError("Mettle is not found: neither a built source tree "
                           "around this package, nor pkg-config's mettle-aoti: "
                           + found.stderr.strip())
    flags = shlex.split(found.stdout)
    return flags + ["-Wl,-rpath," + flag[2:] for flag in flags
                    if flag.startswith("-L")]


def _source(name):
    for folder in (HERE, os.path.dirname(HERE)):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise RuntimeError(f"{name} is not beside mettle_executorch")


def _executorch():
    """The folder of the installed ExecuTorch, and its version."""
    import executorch
    from executorch.version import __version__
    # A package of several folders has no file.
    folder = list(executorch.__path__)[0]
    if not os.path.exists(os.path.join(folder, "lib", "libexecutorch.so")):
        raise RuntimeError(
            f"ExecuTorch {__version__} has no lib/libexecutorch.so: the wheels "
            "for Linux have it from 1.5 on")
    return folder, __version__


def _compiler():
    """The C++ compiler, with what every file of ExecuTorch's clients wants."""
    folder, version = _executorch()
    include = os.path.join(folder, "include")
    library = os.path.join(folder, "lib")
    return [
        os.environ.get("CXX") or shutil.which("c++") or "g++", "-std=c++17",
        "-O2", "-DC10_USING_CUSTOM_GENERATED_MACROS",
        "-DET_EVENT_TRACER_ENABLED", "-DET_USE_THREADPOOL",
        f'-DMETTLE_EXECUTORCH_VERSION="{version}"', "-isystem", include,
        "-isystem", include + "/executorch/runtime/core/portable_type/c10",
        "-L" + library, "-Wl,-rpath," + library]


def _backend_command(target):
    return [*_compiler(), "-fPIC", "-shared", "-fvisibility=hidden",
            _source("metal_backend.cpp"), "-o", target, "-lexecutorch",
            *_mettle_flags()]


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)} failed:\n{done.stderr}")


def build(target):
    """Builds the backend for the installed ExecuTorch into the file target."""
    _run(_backend_command(target))


def build_runner(target):
    """Builds run_program.cpp, with the backend that load() would take."""
    backend = _built()
    _run([*_compiler(), _source("run_program.cpp"), "-o", target,
          "-Wl,--no-as-needed", backend, "-Wl,-rpath," +
          os.path.dirname(backend), "-lexecutorch",
          "-lexecutorch_kernels_optimized", "-lexecutorch_backend_xnnpack",
          "-lexecutorch_threadpool", "-pthread"])


def _built():
    """The kept library, made where it is missing."""
    with open(_source("metal_backend.cpp"), "rb") as file:
        key = hashlib.sha256(file.read())
    key.update(shlex.join(_backend_command("")).encode())
    cache = os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
        "mettle", "executorch")
    path = os.path.join(cache, key.hexdigest()[:16], NAME)
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            made = os.path.join(folder, NAME)
            build(made)
            os.replace(made, path)  # whole, or not at all
    return path


def load(path=None):
    """Registers MetalBackend with ExecuTorch, before or after its first import.

    path: a library that build() made; None for one that is kept. Raises
    RuntimeError where it was built for another release, or where another
    MetalBackend is there already."""
    global loaded
    if loaded:
        return
    _, version = _executorch()
    library = ctypes.CDLL(path or _built())
    built_for = ctypes.c_char_p.in_dll(
        library, "mettle_executorch_version").value.decode()
    if built_for != version:
        raise RuntimeError(f"{path} was built for ExecuTorch {built_for}; "
                           f"{version} is installed: build() it again")
    if not library.mettle_executorch_is_registered():
        raise RuntimeError("ExecuTorch has another MetalBackend already")
    loaded = library


def statistics():
    """What all delegates have done so far: a dictionary of COUNTS."""
    load()
    values = (ctypes.c_uint64 * len(COUNTS))()
    loaded.mettle_executorch_statistics(values)
    return dict(zip(COUNTS, values))
