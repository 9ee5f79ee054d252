#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llama.py: builds llama.cpp with its unmodified Metal back end under
`mettle env`, from llama-cpp-python's source package, and compares what models
of random weights say on Metal and on ggml's CPU back end. Its last line is the
count; ends with 77 where it cannot be had or built.

The CPU back end rounds activations to 8 bits where weights are quantised, so
it gets the same weights as float32."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "corpus"))
import sources  # noqa: E402
from mettle import BUILD  # noqa: E402

try:
    import numpy as np
    import gguf_writer
except ImportError:
    np = None

# Types of weights, and by how much one position's logits may differ: Metal's
# kernels multiply matrices in half precision.
KINDS = {"f16": 1e-3, "q8_0": 1e-3, "q4_0": 1e-3, "q4_K": 2e-3}
PROMPT, STEPS, VOCABULARY, SEED = 32, 64, 256, 7
RELATIVE = 1e-3  # of the logits of all positions together
BUILD_SECONDS, SECONDS = 1500, 300


def under_env(*words, seconds=SECONDS, cwd=None):
    done = subprocess.run(
        [os.path.join(BUILD, "mettle"), "env", "--", *words], cwd=cwd,
        capture_output=True, text=True, timeout=seconds)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: status {done.returncode}\n"
                           f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def build_library(source, made):
    under_env("cmake", "-G", "Ninja", "-S", source, "-B", made,
              "-DGGML_METAL=ON", "-DGGML_OPENMP=OFF", "-DLLAMA_CURL=OFF",
              "-DLLAMA_BUILD_COMMON=OFF", "-DLLAMA_BUILD_TESTS=OFF",
              "-DLLAMA_BUILD_TOOLS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF",
              "-DLLAMA_BUILD_SERVER=OFF", "-DCMAKE_BUILD_TYPE=Release",
              # quickly built rather than fast
              "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG -w",
              "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG -w")
    under_env("cmake", "--build", made, "-j", "2", "--target", "llama",
              seconds=BUILD_SECONDS)


def build():
    """Builds libllama and the program; returns its path.
    METTLE_CORPUS_LLAMA_BUILD names a folder where libllama is built."""
    source = sources.llama()
    made = os.environ.get("METTLE_CORPUS_LLAMA_BUILD")
    if not made:
        made = source + "-build"
        build_library(source, made)
    program = os.path.join(made, "llama_uses")
    under_env("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1",
              *(f"-I{os.path.join(source, part)}"
                for part in ("include", "ggml/include")),
              os.path.join(HERE, "llama_uses.c"), "-o", program,
              f"-L{made}/bin", f"-Wl,-rpath,{made}/bin", "-lllama", "-lggml",
              "-lggml-base")
    return program


def decode(program, model, layers):
    """(what it printed, tokens, logits of each position)"""
    out = model + ".logits"
    words = under_env(program, model, str(layers), str(PROMPT), str(STEPS),
                      out).splitlines()
    logits = np.fromfile(out, np.float32).reshape(-1, VOCABULARY)
    return words, words[-2].split(), logits


def relative(values, expected, axis=None):
    return float(np.max(np.linalg.norm(values - expected, axis=axis)
                        / np.linalg.norm(expected, axis=axis)))


def compare(program, kind, folder):
    """What is wrong with a model of this kind, a text each."""
    model = os.path.join(folder, kind)
    gguf_writer.write_llama(model, model + ".f32", kind, SEED,
                            vocabulary=VOCABULARY)
    _, expected_tokens, expected = decode(program, model + ".f32", 0)
    words, tokens, logits = decode(program, model, 99)
    wrong = []
    if "offloaded 3/3 layers to GPU" not in words:
        wrong.append(f"it is not on Metal: {words}")
    if tokens != expected_tokens or len(tokens) != STEPS:
        wrong.append(f"tokens {tokens} instead of {expected_tokens}")
        return wrong
    whole, each = relative(logits, expected), relative(logits, expected, 1)
    print(f"{kind}: logits differ by {whole:.1e}, one position's by "
          f"{each:.1e}")
    if not whole < RELATIVE or not each < KINDS[kind]:
        wrong.append(f"logits differ by {whole}, one position's by {each}")
    return wrong


def main():
    missing = [name for name in ("clang-19", "cmake", "ninja")
               if not shutil.which(name)]
    if missing or np is None or not sources.llama():
        print(f"skipped: no {' '.join(missing) or 'NumPy or llama.cpp'}")
        sys.exit(77)
    os.environ["METTLE_CPU_THREADS"] = "2"
    passed = failed = 0
    try:
        program = build()
        with tempfile.TemporaryDirectory() as folder:
            for kind in KINDS:
                wrong = compare(program, kind, folder)
                passed += not wrong
                failed += bool(wrong)
                for text in wrong:
                    print(f"FAILED: {kind}: {text}")
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        failed += 1
        print(f"FAILED: {error}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
