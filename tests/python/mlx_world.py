# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mlx_world.py: packages of MLX's world, unmodified, whose kernels run here.

MLX itself is the one for the CPU; its fast.metal_kernel is Mettle's, and it
says that Metal is there. Packages are fetched from the Python package index
and unpacked, never installed: their own `__init__`s want more than their
kernels do."""

import contextlib
import glob
import importlib
import os
import subprocess
import sys
import tempfile
import types
import zipfile

import mettle

CACHE = os.path.join(os.environ.get("METTLE_PYTHON_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
    "mettle-tests", "python"), "sources")
# Fixed, so that a new release of theirs cannot fail a test of ours.
PACKAGES = {"mlx_lm": "mlx-lm==0.32.2", "mlx_vlm": "mlx-vlm==0.7.10"}
# They write threadgroup memory that other simdgroups may still have to read,
# without a barrier in between: as vectorised code runs a simdgroup after the
# other, only the tier for debugging, where threads take turns, gives what a
# GPU's lockstep happens to give.
RACY = {"kl_forward", "kl_backward", "js_forward", "js_backward"}
made = []  # the kernels that were made: (name, calls)
try:
    import mlx.core as mx
except ImportError:
    mx = None


def source(package):
    """The folder that has package, or None where it cannot be had."""
    folder = os.path.join(CACHE, PACKAGES[package])
    if not os.path.isdir(folder):
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as work:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q",
                            "--no-deps", "--only-binary=:all:", "--retries",
                            "0", "--timeout", "10", "-d", work,
                            PACKAGES[package]], capture_output=True,
                           timeout=60, check=False)
            for wheel in glob.glob(work + "/*.whl"):
                with zipfile.ZipFile(wheel) as file:
                    file.extractall(work + "/all")
                os.rename(work + "/all", folder)
    return folder if os.path.isdir(folder) else None


def to_mlx(array):
    if array.dtype.name == "bfloat16":
        return mx.array(array.numpy().view("uint16")).view(mx.bfloat16)
    return mx.array(array.numpy())


class Kernel:
    def __init__(self, *args, **options):
        racy = options.get("name") in RACY
        self.kernel = mettle.fast.metal_kernel(*args, **options, debug=racy)
        self.name, self.calls = self.kernel.name, 0
        made.append(self)

    def __call__(self, *, output_dtypes, **options):
        self.calls += 1
        template = [(name, value if isinstance(value, (bool, int))
                     else str(value))
                    for name, value in options.pop("template", None) or []]
        outputs = self.kernel(
            template=template,
            output_dtypes=[str(dtype) for dtype in output_dtypes], **options)
        return [to_mlx(output) for output in outputs]


def enter(package):
    """Makes `import package.module` work without its `__init__`; returns why
    not, or None."""
    if mx is None:
        return "no mlx"
    folder = source(package)
    if folder is None:
        return f"{package} cannot be had"
    mx.fast.metal_kernel = Kernel
    mx.metal.is_available = lambda: True
    for path, _, names in os.walk(os.path.join(folder, package)):
        if "__init__.py" in names:
            name = os.path.relpath(path, folder).replace(os.sep, ".")
            module = types.ModuleType(name)
            module.__path__ = [path]
            sys.modules.setdefault(name, module)
    utilities = types.ModuleType(package + ".utils")
    utilities.can_run_metal = lambda: True
    sys.modules.setdefault(package + ".utils", utilities)
    return None


def load(package, name):
    return importlib.import_module(f"{package}.{name}")


@contextlib.contextmanager
def on_the_gpu():
    """What asks for the default device is told that it is the GPU; arrays
    stay where they are."""
    real = mx.default_device
    mx.default_device = lambda: mx.gpu
    try:
        yield
    finally:
        mx.default_device = real


def calls():
    """{name: calls} of all kernels."""
    found = {}
    for kernel in made:
        found[kernel.name] = found.get(kernel.name, 0) + kernel.calls
    return found
