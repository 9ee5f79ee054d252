# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel, if `make wheel` has linked what is in it: installed into a folder
of its own, it runs a kernel with its own compiler and nothing of this
system's LLVM."""

import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.environ["METTLE_BUILD_DIR"]
PROGRAM = """
import mettle, numpy as np
lib = mettle.compile_shader("kernel void twice(device float *x, "
                            "uint i [[thread_position_in_grid]])"
                            "{ x[i] *= 2; }")
x = np.arange(5, dtype=np.float32)
lib.twice(x)
print(x, mettle._loading.folder())
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(os.path.join(BUILD, "wheel", "mettlec.pch")):
            raise unittest.SkipTest("`make wheel` has not linked it")
        if sys.version_info < (3, 11):
            raise unittest.SkipTest("packing wants Python 3.11")
        cls.folder = tempfile.TemporaryDirectory()
        # An old compiler may lie in build/wheel: only the libraries count.
        subprocess.run([sys.executable, "-B",
                        os.path.join(ROOT, "python", "build_backend.py"),
                        BUILD, cls.folder.name], check=True,
                       capture_output=True)
        cls.wheel, = glob.glob(cls.folder.name + "/*.whl")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_its_name_and_contents(self):
        self.assertRegex(os.path.basename(self.wheel),
                         r"^mettle_metal-[\d.]+-py3-none-manylinux_2_\d+_"
                         r"x86_64\.whl$")
        with zipfile.ZipFile(self.wheel) as wheel:
            names = wheel.namelist()
            record = next(n for n in names if n.endswith("/RECORD"))
            listed = [line.split(",")[0] for line in
                      wheel.read(record).decode().splitlines()]
        self.assertEqual(sorted(names), sorted(listed))
        self.assertIn("mettle/py.typed", names)
        self.assertIn("mettle/_lib/mettlec", names)
        self.assertLess(os.path.getsize(self.wheel), 45e6)

    def test_installed_it_needs_nothing(self):
        target = os.path.join(self.folder.name, "site")
        subprocess.run([sys.executable, "-m", "pip", "install", "-q",
                        "--no-deps", "--no-index", "--target", target,
                        self.wheel], check=True, capture_output=True)
        environment = {"PYTHONPATH": target, "PATH": "/usr/bin:/bin",
                       "METTLE_CACHE_DIR": self.folder.name + "/cache",
                       "HOME": self.folder.name}
        result = subprocess.run([sys.executable, "-c", PROGRAM], text=True,
                                cwd=self.folder.name, env=environment,
                                capture_output=True, check=False)
        self.assertEqual(result.stdout,
                         f"[0. 2. 4. 6. 8.] {target}/mettle/_lib\n",
                         result.stderr)
        for name in ("mettlec", "libmettle.so.0", "mettle"):
            found = subprocess.run(
                ["ldd", os.path.join(target, "mettle/_lib", name)], text=True,
                capture_output=True, check=True).stdout
            self.assertFalse(re.search("LLVM|clang|not found", found), found)
        help_text = subprocess.run(
            [sys.executable, "-m", "mettle", "--version"], text=True,
            cwd=self.folder.name, env=environment, capture_output=True,
            check=True).stdout
        self.assertIn("mettle", help_text)


if __name__ == "__main__":
    unittest.main()
