# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""terminal.py: what people see and type: the progress bar and completion."""

import os
import pty
import shutil
import subprocess
import unittest

from tool import case


def _on_terminal(tool, *words, term="xterm"):
    """Runs with standard error on a terminal; returns what it showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [tool.path, *words], cwd=tool.folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=theirs,
        env={**os.environ, "TERM": term})
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # EIO: the other side is closed
        pass
    os.close(ours)
    assert process.wait(timeout=120) == 0, shown
    return shown.decode()


# Steps that cannot be run at once or computed ahead: a second or so.
LONG = """
kernel void count(device uint *out [[buffer(0)]]) {
  uint x = out[0];
  for (uint i = 0; i < 400000000; ++i) {
    x = x * 1664525 + 1013904223 + (x >> 16);
  }
  out[0] = x;
}
"""


@case
def long_work_shows_a_bar_on_a_terminal(tool):
    tool.write("long.metal", LONG)
    words = ("run", "long.metal", "count", "--grid", "1", "0=zeros:u32:1",
             "--repeat", "3")
    shown = _on_terminal(tool, *words)
    assert "running [" in shown and "/3" in shown, shown
    assert shown.rfind("\r\x1b[K") > shown.rfind("]"), "it is wiped away"
    assert "[" not in _on_terminal(tool, *words, term="dumb")


@case
def short_work_shows_none(tool):
    shown = _on_terminal(tool, "devices")
    assert shown == "", shown


def _complete(tool, *words):
    """What bash offers for the last of words."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                          "..", "completions", "mettle.bash")
    if shutil.which("bash") is None:
        raise unittest.SkipTest("bash is missing")
    done = subprocess.run(
        ["bash", "-c", 'compopt() { :; }; source "$0"; COMP_WORDS=("$@"); '
         'COMP_CWORD=$(($# - 1)); _mettle "$1" "${COMP_WORDS[-1]}" '
         '"${COMP_WORDS[-2]}"; printf "%s\\n" "${COMPREPLY[@]}"',
         script, "mettle", *words],
        cwd=tool.folder, check=True, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=300,
        env={**os.environ, "PATH": tool.build + ":" + os.environ["PATH"]})
    assert done.stderr == "", done.stderr
    return done.stdout.split()


@case
def completion_offers_verbs_options_files_and_kernels(tool):
    assert _complete(tool, "re") == ["reflect"]
    assert _complete(tool, "run", "ker") == ["kernels.metal"]
    assert _complete(tool, "run", "kernels.metal", "p") == ["positions"]
    assert _complete(tool, "run", "kernels.metal", "add", "--gr") == [
        "--grid", "--group"]
    assert _complete(tool, "run", "k.metal", "add", "--math", "s") == ["safe"]
    assert _complete(tool, "compile", "k.metal", "--r") == ["--report"]
    assert "cpu-discrete" in _complete(tool, "run", "k.metal", "--device", "c")
    assert _complete(tool, "devices", "--j") == ["--json"]
