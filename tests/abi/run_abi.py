#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_abi.py: the libraries in METTLE_BUILD_DIR against abi/, and what
tools/check_abi.py says of small libraries that change in each way. The last
line is "N passed, N failed[, N skipped]"."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import check_abi  # noqa: E402

BUILD = os.environ.get("METTLE_BUILD_DIR") or os.path.join(ROOT, "build")
OLD = """
struct options { int size; };
enum mode { MODE_FAST = 1 };
int take(const struct options *options, enum mode mode) { return !options; }
int leave(int x) { return x; }
"""
LOG = """# Changes
## 0.3.0, in the making
- `options` has more members; `leave` is gone.
## 0.2.0
- `mode` counts from 2.
"""


class Small(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.old = self.describe("old", OLD)

    def describe(self, name, source):
        path = os.path.join(self.place.name, name)
        with open(path + ".c", "w", encoding="ascii") as file:
            file.write(source)
        subprocess.run(["cc", "-g", "-shared", "-fPIC", "-o", path + ".so",
                        path + ".c"], check=True)
        subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path",
                        "--no-show-locs", "--type-id-style", "hash",
                        "--out-file", path + ".abi", path + ".so"], check=True)
        return path + ".abi"

    def problems(self, source, new_version, old_version=(0, 2, 0)):
        found = check_abi.problems(self.old, self.describe("new", source),
                                   old_version, new_version, LOG)
        return found[:-1]  # without the report

    def test_the_same_is_right_in_any_version(self):
        self.assertEqual(self.problems(OLD, (0, 2, 0)), [])
        self.assertEqual(self.problems(OLD, (0, 3, 0)), [])

    def test_what_is_added_needs_a_higher_version(self):
        more = OLD + "int more(void) { return 1; }\n"
        self.assertEqual(self.problems(more, (0, 2, 1)), [])
        found, = self.problems(more, (0, 2, 0))
        self.assertIn("not that of 0.2.0", found)

    def test_a_member_more_breaks(self):
        grown = OLD.replace("int size;", "int size; int more;")
        self.assertEqual(self.problems(grown, (0, 3, 0)), [])
        first, second = self.problems(grown, (0, 2, 1))
        self.assertIn("the minor version has to rise", first)
        self.assertIn("`options` changes", second)

    def test_a_function_less_breaks(self):
        less = OLD[:OLD.index("int leave")]
        self.assertEqual(self.problems(less, (0, 3, 0)), [])
        found = self.problems(less, (1, 1, 0), (1, 0, 0))
        self.assertIn("the major version has to rise", found[0])
        self.assertIn("under 1.1.0 that `leave` changes", found[1])

    def test_another_argument_breaks(self):
        other = OLD.replace("int leave(int x)", "int leave(long x)")
        self.assertEqual(self.problems(other, (0, 3, 0)), [])
        self.assertIn("`leave`", self.problems(other, (0, 2, 4))[-1])

    def test_another_value_breaks_and_is_to_be_told(self):
        other = OLD.replace("MODE_FAST = 1", "MODE_FAST = 2")
        found, = self.problems(other, (0, 3, 0))
        self.assertIn("under 0.3.0 that `mode` changes", found)


def main():
    if not shutil.which("abidw"):
        print("0 passed, 0 failed, 1 skipped")
        return 0
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Small)
    result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
    done = subprocess.run([sys.executable, "-B", os.path.join(
        ROOT, "tools", "check_abi.py"), BUILD], text=True, check=False,
        capture_output=True)
    print(done.stdout + done.stderr)
    bad = len(result.failures) + len(result.errors) + (done.returncode != 0)
    print(f"{result.testsRun + 1 - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
