#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_types.py: types.metal compiles, every header can be included by itself
# and as often as one likes, and what is wrong is an error.
import os
import subprocess
import sys
import tempfile

from harness import HEADERS, ROOT, check, finish

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("METTLE_BUILD_DIR", os.path.join(ROOT, "build"))

# A statement that must not compile: the expected message.
WRONG = {
    "v.xx = float2(1);": "names a component twice",
    "v.q = 1;": "no member named 'q'",
    "v = half4(1);": "half",
    "float3 w = v;": "no viable conversion",
    "float w = v + half4(1).x * v.xyz;": "invalid operands",
    "c.x = 1;": "",
    "m = float4x4(v, v);": "as many columns",
    "uint w = as_type<uint>(v);": "same size",
    "bfloat w = 1.0f;": "no viable conversion",
    "simdgroup_matrix<int, 8, 8> w;": "takes half, bfloat or float",
}


def compile_text(text, folder):
    path = os.path.join(folder, "source.metal")
    with open(path, "w") as file:
        file.write(text)
    return subprocess.run([os.path.join(BUILD, "mettle"), "compile", path,
                           "-o", os.path.join(folder, "out")],
                          capture_output=True, text=True)


def main():
    if not os.path.exists(os.path.join(BUILD, "mettle")):
        sys.exit(f"no mettle in {BUILD}: set METTLE_BUILD_DIR")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(HERE, "types.metal")) as file:
            done = compile_text(file.read(), folder)
        check(done.returncode == 0, done.stderr)
        for name in sorted(os.listdir(HEADERS)):
            if not name.startswith("metal_"):
                continue
            done = compile_text(f"#include <{name}>\n#include <{name}>\n"
                                "kernel void k(device float *x) "
                                "{ x[0] = 1; }\n", folder)
            check(done.returncode == 0, f"#include <{name}>: {done.stderr}")
        for statement, message in WRONG.items():
            done = compile_text(
                "#include <metal_stdlib>\nusing namespace metal;\n"
                "kernel void k(device float4 *p, constant float4 &c) {\n"
                f"  float4 v = p[0]; float4x4 m;\n  {statement}\n"
                "  p[0] = v; p[1] = m[0];\n}\n", folder)
            check(done.returncode == 3 and message in done.stderr,
                  f"{statement} exit {done.returncode}, {done.stderr}")
    finish()


if __name__ == "__main__":
    main()
