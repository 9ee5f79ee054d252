# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""terminal.py: what people see and type: the progress bar and completion."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
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


def _script(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                        "completions", name)


def _run_shell(tool, *words):
    if shutil.which(words[0]) is None:
        raise unittest.SkipTest(f"{words[0]} is missing")
    done = subprocess.run(
        words, cwd=tool.folder, check=True, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=60,
        env={**os.environ, "HOME": tool.folder,
             "PATH": tool.build + ":" + os.environ["PATH"]})
    assert done.stderr == "", done.stderr
    return done.stdout


def _complete(tool, *words):
    """What bash offers for the last of words."""
    return _run_shell(
        tool, "bash", "-c", 'compopt() { :; }; source "$0"; COMP_WORDS=("$@"); '
        'COMP_CWORD=$(($# - 1)); last=${COMP_WORDS[-1]#=}; '
        '[[ ${COMP_WORDS[-2]} == =@ ]] && last=@$last; '
        '_mettle "$1" "$last" '
        '"${COMP_WORDS[-2]}"; printf "%s\\n" "${COMPREPLY[@]}"',
        _script("mettle.bash"), "mettle", *words).split()


@case
def completion_offers_verbs_options_files_and_kernels(tool):
    assert _complete(tool, "re") == ["reflect"]
    assert _complete(tool, "run", "ker") == ["kernels.metal"]
    assert _complete(tool, "run", "kernels.metal", "p") == ["positions"]
    assert _complete(tool, "run", "kernels.metal", "add", "--gr") == [
        "--grid", "--group"]
    assert _complete(tool, "run", "k.metal", "add", "--math", "s") == ["safe"]
    assert _complete(tool, "compile", "k.metal", "--r") == ["--report"]
    assert "cpu" in _complete(tool, "run", "k.metal", "--device", "c")
    assert _complete(tool, "devices", "--j") == ["--json"]
    # Arguments, of all kernels; bash takes "=" and "=@" for words of their own,
    # which is not what it says the word in hand is.
    assert _complete(tool, "run", "kernels.metal", "scale", "fac") == [
        "factor="]
    assert _complete(tool, "run", "kernels.metal", "scale", "--print",
                     "s") == ["sum"]
    assert _complete(tool, "run", "kernels.metal", "scale", "--save",
                     "s") == ["sum="]
    assert _complete(tool, "run", "kernels.metal", "scale", "x", "=", "i") == [
        "iota:"]
    assert _complete(tool, "run", "kernels.metal", "scale", "x", "=") == [
        "zeros:", "ones:", "iota:", "rand:", "@"]
    tool.write("ramp.npy", b"")
    for words in (("=@",), ("=@", "ra")):
        assert _complete(tool, "run", "kernels.metal", "scale", "x",
                         *words) == ["@ramp.npy"]
    assert "sum=" in _complete(tool, "run", "kernels.metal", "--json", "")
    assert _complete(tool, "run", "k.metal", "--check", "=", "races,b") == [
        "races,bounds"]
    assert "races" in _complete(tool, "run", "k.metal", "--check", "=")
    assert _complete(tool, "compile", "k.metal", "--dump-after", "=", "v") == [
        "vectorize"]
    assert _complete(tool, "run", "k.metal", "--save", "sum", "=") == [
        "sum.npy", "sum.png"]


def _complete_fish(tool, line):
    out = _run_shell(tool, "fish", "--no-config", "-c",
                     'source $argv[1]; complete -C $argv[2]',
                     _script("mettle.fish"), line)
    return [word.split("\t")[0] for word in out.splitlines()]


@case
def fish_completes(tool):
    for line, words in (
            ("mettle re", ["reflect"]), ("mettle run ker", ["kernels.metal"]),
            ("mettle run kernels.metal sc", ["scale"]),
            ("mettle run kernels.metal scale fac", ["factor="]),
            ("mettle run kernels.metal x=io", ["x=iota:"]),
            ("mettle run kernels.metal --gr", ["--grid", "--group"]),
            ("mettle run kernels.metal --math s", ["safe"]),
            ("mettle run kernels.metal --print fac", ["factor"]),
            ("mettle run kernels.metal --grid fac", ["factor"]),
            ("mettle run kernels.metal --check=races,b",
             ["--check=races,bounds"]),
            ("mettle compile kernels.metal --dump-after=v",
             ["--dump-after=vectorize"]),
            ("mettle compile kernels.metal --kernel sc", ["scale"]),
            ("mettle corpus --pip", ["--pipelines"]),
            ("mettle model in", ["info"]), ("mettle devices --js", ["--json"])):
        assert _complete_fish(tool, line) == words, (
            line, _complete_fish(tool, line))
    assert "cpu" in _complete_fish(tool, "mettle run --device c")


# zsh completes only at a terminal: TAB, then a key that shows the line and
# empties it.
ZSH = """
fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D
show() {{ zle -I; print -r -- "<$BUFFER>"; BUFFER= }}; zle -N show; bindkey '^X' show
setopt no_beep; print rea''dy
"""


class Zsh:
    def __init__(self, tool):
        if shutil.which("zsh") is None:
            raise unittest.SkipTest("zsh is missing")
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            ["zsh", "-f", "-i"], cwd=tool.folder, stdin=theirs, stdout=theirs,
            stderr=theirs, start_new_session=True,
            env={**os.environ, "TERM": "dumb", "HOME": tool.folder,
                 "PATH": tool.build + ":" + os.environ["PATH"]})
        os.close(theirs)
        self.shown = ""
        folder = os.path.dirname(_script("_mettle"))
        os.write(self.ours, ZSH.format(folder=folder).encode())
        self.until(r"ready\r")

    def until(self, pattern):
        deadline = time.monotonic() + 60
        while not (found := re.search(pattern, self.shown)):
            left = deadline - time.monotonic()
            ready = select.select([self.ours], [], [], max(left, 0))[0]
            assert ready, self.shown[-500:]
            self.shown += os.read(self.ours, 65536).decode(errors="replace")
        self.shown = self.shown[found.end():]
        return found[1] if found.re.groups else None

    def complete(self, line):
        os.write(self.ours, (line + "\t\x18").encode())
        return self.until(r"<(mettle[^\r\n]*)>\r")

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)


@case
def zsh_completes(tool):
    zsh = Zsh(tool)
    try:
        for line, completed in (
                ("mettle ref", "mettle reflect "),
                ("mettle run ker", "mettle run kernels.metal "),
                ("mettle run kernels.metal pos",
                 "mettle run kernels.metal positions "),
                ("mettle run kernels.metal scale fac",
                 "mettle run kernels.metal scale factor="),
                ("mettle run kernels.metal scale x=io",
                 "mettle run kernels.metal scale x=iota:"),
                ("mettle run kernels.metal --math sa",
                 "mettle run kernels.metal --math safe "),
                ("mettle run kernels.metal --print fac",
                 "mettle run kernels.metal --print factor"),
                ("mettle compile --rep", "mettle compile --report "),
                ("mettle compile --dump-after=vec",
                 "mettle compile --dump-after=vectorize "),
                ("mettle model inf", "mettle model info "),
                ("mettle devices --js", "mettle devices --json ")):
            found = zsh.complete(line)
            assert found.rstrip() == completed.rstrip(), (line, found)
    finally:
        zsh.end()


@case
def completions_know_every_option_and_verb(tool):
    scripts = {}
    for name in ("mettle.bash", "_mettle", "mettle.fish"):
        with open(_script(name), encoding="utf-8") as file:
            scripts[name] = file.read()
    help_text = tool.done("--help").out
    verbs = re.findall(r"^  (\w+) +\S", help_text, re.M)
    assert "reflect" in verbs and len(verbs) >= 7, verbs
    for verb in verbs:
        assert all(verb in text for text in scripts.values()), verb
        options = re.findall(r"^  --([\w-]+)", tool.done(verb, "--help").out,
                             re.M)
        for option in options:
            for name, text in scripts.items():
                mark = f"-l {option}" if name == "mettle.fish" else (
                    f"--{option}")
                assert re.search(re.escape(mark) + r"\b", text), (name, mark)
