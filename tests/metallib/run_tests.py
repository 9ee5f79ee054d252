#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_tests.py LLVM_PREFIX [NAME...]: compiled Metal libraries, packed here,
through the library's Python package and the command. The last line is "N
passed, N failed"."""

import os
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))

import cases  # noqa: E402
import container_cases  # noqa: E402
import program_cases  # noqa: E402
import resource_cases  # noqa: E402
import spirv_cases  # noqa: E402
import texture_cases  # noqa: E402
from air import Assembler  # noqa: E402


def main():
    if not os.path.exists(f"{sys.argv[1]}/bin/llvm-as"):
        print("skipped: no llvm-as")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    assembler = Assembler(sys.argv[1])
    passed = failed = 0
    all_cases = {**cases.CASES, **texture_cases.CASES,
                 **resource_cases.CASES, **program_cases.CASES,
                 **container_cases.CASES, **spirv_cases.CASES}
    for name, function in all_cases.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        try:
            function(assembler)
            passed += 1
        except Exception:  # the others go on
            failed += 1
            print(f"--- {name}")
            traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
