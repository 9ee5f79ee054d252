# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tool.py: runs build/mettle in a scratch folder and checks what it answers.

Hands on the class Tool and the decorator `case`, which registers a test.
"""

import json
import os
import subprocess

import numpy as np

CASES = []  # (name, function)

KERNELS = """\
#include <metal_stdlib>
using namespace metal;

kernel void add(device const float *a [[buffer(0)]],
                device const float *b [[buffer(1)]],
                device float *sum [[buffer(2)]],
                uint i [[thread_position_in_grid]]) {
  sum[i] = a[i] + b[i];
}

kernel void scale(device float *x [[buffer(0)]],
                  constant float &factor [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  x[i] *= factor;
}

kernel void positions(device uint *out [[buffer(0)]],
                      uint3 p [[thread_position_in_grid]],
                      uint3 n [[threads_per_grid]]) {
  out[(p.z * n.y + p.y) * n.x + p.x] = p.x + 100 * p.y + 10000 * p.z;
}

kernel void group_size(device uint *out [[buffer(0)]],
                       uint3 size [[dispatch_threads_per_threadgroup]]) {
  out[0] = size.x;
  out[1] = size.y;
  out[2] = size.z;
}

kernel void reverse_groups(device const float *x [[buffer(0)]],
                           device float *out [[buffer(1)]],
                           threadgroup float *room [[threadgroup(0)]],
                           uint i [[thread_position_in_grid]],
                           uint local [[thread_position_in_threadgroup]],
                           uint size [[threads_per_threadgroup]]) {
  room[local] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = room[size - 1 - local];
}
"""


def case(function):
    CASES.append((function.__name__, function))
    return function


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()

    def json(self):
        return json.loads(self.out)


class Tool:
    """The command in a folder of its own, with kernels.metal in it."""

    def __init__(self, build, folder):
        self.build = build
        self.folder = folder
        self.path = os.path.join(build, "mettle")
        self.write("kernels.metal", KERNELS)

    def write(self, name, text):
        mode = "wb" if isinstance(text, bytes) else "w"
        with open(self.file(name), mode) as file:
            file.write(text)

    def file(self, name):
        return os.path.join(self.folder, name)

    def save(self, name, array):
        np.save(self.file(name), array)

    def load(self, name):
        return np.load(self.file(name))

    def __call__(self, *words, stdin=None, environment=None, seconds=120):
        done = subprocess.run(
            [self.path, *map(str, words)], cwd=self.folder, timeout=seconds,
            input=stdin, capture_output=True, check=False,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            env={**os.environ, **(environment or {})})
        return Result(done)

    def done(self, *words, **options):
        """Runs and expects success with nothing on standard error."""
        result = self(*words, **options)
        assert result.code == 0, f"exit {result.code}: {result.err}"
        assert result.err == "", result.err
        return result

    def fails(self, code, *texts_and_words):
        """Runs words and expects code and, on standard error, every text.

        texts_and_words: (text, ...), word, ..."""
        texts, *words = texts_and_words
        result = self(*words)
        assert result.code == code, \
            f"exit {result.code}, not {code}: {result.err}"
        for text in texts:
            assert text in result.err, f"{text!r} is not in {result.err!r}"
        assert result.out == "", result.out
        return result
