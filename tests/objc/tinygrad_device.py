#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tinygrad_device.py: runs tinygrad's own, unmodified METAL device under
`mettle env`: the tests that its source package has, and tinygrad_uses.py. Its
last line is the count; ends with 77 where tinygrad cannot be had."""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "corpus"))
import sources  # noqa: E402
from mettle import BUILD  # noqa: E402

SECONDS = 500
RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
SUM = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)


def run(path, folder):
    """Runs a file of tests; returns how many passed, failed, were skipped."""
    variables = dict(os.environ, DEV="METAL", PARALLEL="0",
                     XDG_CACHE_HOME=folder)
    # tinygrad's CPU device compiles with the clang on the path.
    variables["PATH"] += os.pathsep + "/usr/lib/llvm-19/bin"
    import tinygrad
    package = os.path.dirname(os.path.dirname(tinygrad.__file__))
    variables["PYTHONPATH"] = os.pathsep.join(
        [package, variables.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [os.path.join(BUILD, "mettle"), "env", "--", sys.executable, "-B",
         "-m", "unittest", "-v", path], cwd=os.path.dirname(path),
        env=variables, capture_output=True, text=True, timeout=SECONDS)
    total, result = RAN.search(ran.stderr), SUM.search(ran.stderr)
    if not total or not result:
        print(f"FAILED: {path}: status {ran.returncode}\n{ran.stderr[-3000:]}")
        return 0, 1, 0
    parts = dict(part.split("=") for part in (result[1] or "").split(", ")
                 if part)
    failed = int(parts.get("failures", 0)) + int(parts.get("errors", 0))
    skipped = int(parts.get("skipped", 0))
    if failed:
        print(ran.stderr[-3000:])
    return int(total[1]) - failed - skipped, failed, skipped


def main():
    own = sources.tinygrad_tests()
    if not own or not sources.tinygrad():
        print("skipped: no tinygrad: let pip reach its index")
        sys.exit(77)
    sums = [0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for path in (own, os.path.join(HERE, "tinygrad_uses.py")):
            sums = [a + b for a, b in zip(sums, run(path, folder))]
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    sys.exit(1 if sums[1] else 0)


if __name__ == "__main__":
    main()
