# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# sources.py: finds the programs of others that the tests here run on. They
# are never part of this repository: a checkout named by the environment is
# used, otherwise the package is fetched from the Python package index into the
# build folder, once.
import glob
import importlib
import os
import re
import subprocess
import sys
import tarfile
import time
import types
import zipfile

from mettle import BUILD

DOWNLOADS = os.path.join(BUILD, "corpus")
KERNELS = os.path.join("mlx", "backend", "metal", "kernels")

# Fixed, so that a new release of theirs cannot fail a test of ours.
MLX_WHEEL = "mlx-metal==0.32.4"
TINYGRAD = "tinygrad==0.14.0"
IREE = "iree-base-runtime==3.13.0"
IREE_COMPILER = "iree-base-compiler==3.13.0"
GGML = "llama-cpp-python==0.3.36"
GGUF = "gguf==0.17.1"
MAX_SECONDS = 120
MISSED_SECONDS = 900  # what could not be had is not asked for again so soon


def _is_fresh(path):
    """A test that comes next does not wait for the same in vain."""
    try:
        return time.time() - os.path.getmtime(path) < MISSED_SECONDS
    except OSError:
        return False


def _download(package, *options, kind="-*.whl"):
    """Fetches a package's wheel, or what ends in kind; returns its path, or
    None without one."""
    pattern = os.path.join(DOWNLOADS, package.replace("-", "_").replace(
        "==", "-") + kind)
    missed = os.path.join(DOWNLOADS, f"{package}{kind[-4:]}.missed")
    if not glob.glob(pattern) and not _is_fresh(missed):
        os.makedirs(DOWNLOADS, exist_ok=True)
        # What a source package is built with may come as wheels.
        form = "--only-binary=:all:" if kind.endswith("whl") else \
            f"--no-binary={package.split('==', maxsplit=1)[0]}"
        try:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet",
                            "--no-deps", form, "--retries", "0",
                            "--timeout", "10", *options,
                            "--dest", DOWNLOADS, package],
                           capture_output=True, timeout=MAX_SECONDS)
        except subprocess.TimeoutExpired:
            pass
    found = glob.glob(pattern)
    if not found:
        with open(missed, "w", encoding="ascii"):
            pass
    return found[0] if found else None


def _unpacked(wheel, prefix, end=""):
    """Unpacks what starts with prefix next to the wheel, once, into a folder
    whose name has end."""
    folder = os.path.splitext(wheel)[0] + end
    if not os.path.isdir(folder):
        partial = f"{folder}.{os.getpid()}"
        with zipfile.ZipFile(wheel) as file:
            file.extractall(partial, [name for name in file.namelist()
                                      if name.startswith(prefix)])
        try:
            os.rename(partial, folder)
        except OSError:  # another run was first
            pass
    return folder


def _extract(archive, folder, is_wanted):
    """Unpacks files of an archive, none of them outside folder. (extractall's
    filter is newer than Debian 12's Python.)"""
    with tarfile.open(archive) as file:
        for member in file:
            parts = member.name.split("/")
            if not member.isfile() or ".." in parts or "" in parts or \
                    not is_wanted(member.name):
                continue
            path = os.path.join(folder, *parts)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as target:
                target.write(file.extractfile(member).read())


def mlx():
    """The folder to include mlx/backend/metal/kernels/... from, or None.

    METTLE_CORPUS_MLX names a checkout of MLX; the wheel has the headers, and
    so the templates, but not the .metal files."""
    checkout = os.environ.get("METTLE_CORPUS_MLX")
    if checkout:
        return checkout if os.path.isdir(os.path.join(checkout, KERNELS)) \
            else None
    wheel = _download(MLX_WHEEL, "--platform", "macosx_14_0_arm64")
    if wheel is None:
        return None
    return os.path.join(_unpacked(wheel, "mlx/include/mlx/backend/metal"),
                        "mlx", "include")


def metal_cpp():
    """The folder to include metal-cpp's headers from, or None."""
    wheel = _download(MLX_WHEEL, "--platform", "macosx_14_0_arm64")
    if wheel is None:
        return None
    return os.path.join(_unpacked(wheel, "mlx/include/metal_cpp/",
                                  "-metal-cpp"),
                        "mlx", "include", "metal_cpp")


def tinygrad():
    """Makes `import tinygrad` work; False if it cannot be had."""
    try:
        import tinygrad  # noqa: F401
        return True
    except ImportError:
        pass
    wheel = _download(TINYGRAD)
    if wheel is None:
        return False
    sys.path.insert(0, _unpacked(wheel, "tinygrad/"))
    return True


def tinygrad_tests():
    """The file of tests in tinygrad's source package, or None."""
    archive = _download(TINYGRAD, kind=".tar.gz")
    if archive is None:
        return None
    folder = archive[:-len(".tar.gz")] + "-tests"
    if not os.path.isdir(folder):
        partial = f"{folder}.{os.getpid()}"
        _extract(archive, partial,
                 lambda name: name.endswith("/test_tiny.py"))
        try:
            os.rename(partial, folder)
        except OSError:  # another run was first
            pass
    found = glob.glob(os.path.join(folder, "**", "test_tiny.py"),
                      recursive=True)
    return found[0] if found else None


def iree():
    """The texts of IREE's own Metal kernels, or [].

    Its runtime for the Mac carries them as strings. METTLE_CORPUS_IREE names
    a checkout."""
    checkout = os.environ.get("METTLE_CORPUS_IREE")
    if checkout:
        folder = os.path.join(checkout, "runtime", "src", "iree", "hal",
                              "drivers", "metal", "builtin")
        return [_text(path) for path in
                sorted(glob.glob(os.path.join(folder, "*.metal")))]
    wheel = _download(IREE, "--platform", "macosx_13_0_universal2",
                      "--python-version", "3.12")
    if wheel is None:
        return []
    with zipfile.ZipFile(wheel) as file:
        name = next(n for n in file.namelist()
                    if n.startswith("iree/_runtime_libs/_runtime."))
        found = re.findall(rb"[^\0]*kernel void [^\0]*", file.read(name))
    return [text.decode() for text in dict.fromkeys(found)]


def _text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def ggml():
    """The folder of ggml's Metal back end, kernels/ in it, or None."""
    checkout = os.environ.get("METTLE_CORPUS_GGML")
    if checkout:
        return os.path.join(checkout, "src", "ggml-metal")
    archive = _download(GGML, kind=".tar.gz")
    if archive is None:
        return None
    folder = archive[:-len(".tar.gz")]
    if not os.path.isdir(folder):
        partial = f"{folder}.{os.getpid()}"
        _extract(archive, partial,
                 lambda name: "/ggml/src/ggml-metal/" in name
                 or name.endswith("ggml-common.h"))
        try:
            os.rename(partial, folder)
        except OSError:  # another run was first
            pass
    return os.path.join(folder, os.listdir(folder)[0], "vendor", "llama.cpp",
                        "ggml", "src", "ggml-metal")


# What libllama is built from.
LLAMA_PARTS = re.compile(
    r".*/vendor/llama\.cpp/(CMakeLists\.txt|LICENSE|(app|cmake|include|licenses|src|"
    r"vendor)/.*|ggml/(CMakeLists\.txt|(cmake|include)/.*|src/[^/]*|"
    r"src/ggml-(cpu|metal)/.*)|scripts/.*\.(cmake|sh|py)|.*\.pc\.in)$")


def llama():
    """The folder of llama.cpp's sources, or None."""
    archive = _download(GGML, kind=".tar.gz")
    if archive is None:
        return None
    folder = archive[:-len(".tar.gz")] + "-llama"
    if not os.path.isdir(folder):
        partial = f"{folder}.{os.getpid()}"
        _extract(archive, partial, LLAMA_PARTS.match)
        try:
            os.rename(partial, folder)
        except OSError:  # another run was first
            pass
    return os.path.join(folder, os.listdir(folder)[0], "vendor", "llama.cpp")


def gguf_quants():
    """ggml's own NumPy reference of its quantised types, or None. What the
    rest of its package needs is not needed."""
    wheel = _download(GGUF)
    if wheel is None:
        return None
    if "gguf" not in sys.modules:
        package = types.ModuleType("gguf")
        package.__path__ = [os.path.join(_unpacked(wheel, "gguf/"), "gguf")]
        sys.modules["gguf"] = package
    return importlib.import_module("gguf.quants")


def iree_compiler():
    """iree-compile of IREE's wheel; None without it."""
    wheel = _download(IREE_COMPILER, "--only-binary=:all:")
    if not wheel:
        return None
    folder = os.path.join(_unpacked(wheel, "iree/compiler/_mlir_libs"),
                          "iree", "compiler", "_mlir_libs")
    program = os.path.join(folder, "iree-compile")
    if not os.path.exists(program):
        return None
    for name in ("iree-compile", "iree-lld"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            os.chmod(path, 0o755)  # a wheel's own mode is lost in unpacking
    return program
