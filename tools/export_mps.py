# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""export_mps.py: mettle.export_mps of the Python package, for those who import
it from this folder."""

import importlib.util
import os
import sys

_spec = importlib.util.spec_from_file_location(
    __name__, os.path.join(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))), "python", "mettle", "export_mps.py"))
_module = importlib.util.module_from_spec(_spec)
sys.modules[__name__] = _module
_spec.loader.exec_module(_module)
