# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""machine.py: what the command says of trouble that is the machine's and not
the source's: exit status 1, and a text that tells what to do."""

import os
import shutil
import subprocess
import unittest

from installed import not_sanitized
from tool import case

RUN = ("run", "kernels.metal", "add", "--grid", "4", "0=iota:f32:4",
       "1=ones:f32:4", "2=zeros:f32:4", "--print", "2")
ANSWER = "2: 1 2 3 4\n"


def _script(tool, name, *lines):
    path = tool.file(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(("#!/bin/sh", *lines, "")))
    os.chmod(path, 0o755)
    return path


def _fails(tool, environment, *texts, words=RUN, code=1):
    result = tool(*words, environment={"METTLE_CACHE": "0", **environment})
    assert result.code == code, f"exit {result.code}: {result.err}"
    for text in texts:
        assert text in result.err, result.err


@case
def a_compiler_that_does_not_start_is_the_machines_trouble(tool):
    lost = _script(tool, "lost", "echo libLLVM.so.19: not found >&2",
                   "exit 127")
    _fails(tool, {"METTLE_COMPILER": lost}, lost, "exit status 127",
           "libLLVM.so.19: not found")
    crash = _script(tool, "crash", "kill -ABRT $$")
    _fails(tool, {"METTLE_COMPILER": crash}, crash, "SIGABRT")
    _fails(tool, {"METTLE_COMPILER": tool.file("gone")}, "METTLE_COMPILER",
           "gone")


@case
def every_verb_tells_the_machines_trouble_from_the_sources(tool):
    os.mkdir(tool.file("corpus"))
    shutil.copy(tool.file("kernels.metal"), tool.file("corpus"))
    lost = _script(tool, "lost", "echo gone >&2", "exit 9")
    for words in (("reflect", "kernels.metal"), ("compile", "kernels.metal"),
                  ("compile", "kernels.metal", "-o", "out.mtlcode"),
                  ("corpus", "corpus"), ("bench",)):
        result = tool(*words, environment={"METTLE_CACHE": "0",
                                           "METTLE_COMPILER": lost})
        said = result.out + result.err
        assert result.code == 1, f"{words}: exit {result.code}: {said}"
        assert "exit status 9" in said and "gone" in said, said
    wrong = tool("corpus", "corpus", "--pipelines",
                 environment={"METTLE_CPU_TARGET": "x86_64 nosuch"})
    assert wrong.code == 1 and "nosuch" in wrong.out, wrong.out + wrong.err


@case
def wrong_values_of_the_environment_name_the_variable(tool):
    for name, value in (("METTLE_CPU_THREADS", "few"),
                        ("METTLE_CACHE", "yes"),
                        ("METTLE_CACHE_MB", "512MB"),
                        ("METTLE_CACHE_DIR", tool.file("kernels.metal")),
                        ("METTLE_COMPILER_SECONDS", "0"),
                        ("METTLE_COMPILER_MEMORY_MB", "-5"),
                        ("METTLE_CALLS", "no"),
                        ("METTLE_CONSTANTS_MB", "1.5"),
                        ("METTLE_POOL_MB", "1 2"),
                        ("METTLE_HOST_LIBRARY", "blas"),
                        ("METTLE_CHECK_EXIT", "never"),
                        ("METTLE_CHECK_EXIT", "256"),
                        ("METTLE_CHECK_SCREEN", "yes"),
                        ("METTLE_CHECK_SUPPRESS", tool.file("gone"))):
        _fails(tool, {name: value}, name, value)
        _fails(tool, {name: value}, name, value, words=("devices",))


@case
def a_wrong_processor_is_an_error(tool):
    for target, text in (
            ("x86_64 nosuch", 'no x86_64 processor "nosuch"'),
            ("aarch64 skylake", 'no aarch64 processor "skylake"'),
            ("x86_64 i386", "64bit"),
            ("x86_64 -sse2", "sse2"),
            ("x86_64 x86-64-v3 +nosuch", 'no feature "+nosuch"'),
            ("aarch64 generic,+sve", 'no aarch64 processor "generic,+sve"'),
            ("riscv64", "x86_64 or aarch64"),
            ("x86-64-v3", "x86_64 or aarch64"),
            (" ", "x86_64 or aarch64")):
        for words in (RUN, ("compile", "kernels.metal", "--report")):
            _fails(tool, {"METTLE_CPU_TARGET": target}, "METTLE_CPU_TARGET",
                   text, words=words)


@case
def code_for_another_architecture_is_reported_and_not_run(tool):
    here = os.uname().machine
    other = "aarch64" if here == "x86_64" else "x86_64"
    environment = {"METTLE_CPU_TARGET": other}
    out = tool.done("compile", "kernels.metal", "--report", "--kernel", "add",
                    environment=environment).out
    assert "kernel add" in out and "vectorised" in out, out
    _fails(tool, environment, "METTLE_CPU_TARGET", "cannot run")


# --- kernels without /proc or memory files ------------------------------------

def _without(tool, *commands):
    """Runs the tool behind shell commands in a mount namespace of its own."""
    not_sanitized(tool)  # they read /proc
    if os.geteuid() != 0 or not shutil.which("unshare"):
        raise unittest.SkipTest("only root can unmount /proc")
    text = " && ".join((*commands, 'exec "$0" "$@"'))
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", text, tool.path, *RUN],
        cwd=tool.folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, "METTLE_CACHE": "0"}, check=False)
    if done.returncode and "unshare" in done.stderr:
        raise unittest.SkipTest(done.stderr.strip())
    return done


NO_MEMORY_FILES = """
#include <errno.h>
int memfd_create(const char *name, unsigned flags) {
  errno = ENOSYS;
  return -1;
}
"""


def _preloaded(tool):
    not_sanitized(tool)  # they want to be the first library
    if not shutil.which("cc"):
        raise unittest.SkipTest("cc is missing")
    tool.write("none.c", NO_MEMORY_FILES)
    library = tool.file("none.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library,
                    tool.file("none.c")], check=True)
    return library


@case
def kernels_run_without_proc(tool):
    done = _without(tool, "umount -l /proc")
    assert (done.returncode, done.stdout) == (0, ANSWER), done.stderr


@case
def kernels_run_without_memory_files(tool):
    out = tool.done(*RUN, environment={"METTLE_CACHE": "0",
                                       "LD_PRELOAD": _preloaded(tool)}).out
    assert out == ANSWER, out


@case
def kernels_run_without_proc_and_memory_files(tool):
    folder = tool.file("scratch")
    os.mkdir(folder)
    done = _without(tool, "umount -l /proc",
                    f"export LD_PRELOAD={_preloaded(tool)} TMPDIR={folder}")
    assert (done.returncode, done.stdout) == (0, ANSWER), done.stderr
    assert os.listdir(folder) == []


@case
def where_no_file_may_be_executed_it_is_said(tool):
    if tool.build.startswith(("/tmp/", "/var/tmp/", "/dev/shm/")):
        raise unittest.SkipTest("the build folder would be hidden")
    mounts = [f"{{ [ ! -d {folder} ] || mount -t tmpfs -o noexec none "
              f"{folder}; }}" for folder in ("/tmp", "/var/tmp", "/dev/shm")]
    # The source is read before its folder is hidden.
    done = _without(tool, "umount -l /proc", "exec 5<kernels.metal", *mounts,
                    "mkdir -p /tmp/here", "cd /tmp/here",
                    "cat <&5 >kernels.metal")
    assert done.returncode == 1, done.stdout
    assert "TMPDIR" in done.stderr, done.stderr
