# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `mettle`, as the package has it: `python -m mettle run ...`."""

import os
import sys
from typing import NoReturn

from . import _native


def main() -> NoReturn:
    """Becomes the command."""
    path = os.path.join(_native.folder(), "mettle")
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there")
    os.execv(path, ["mettle", *sys.argv[1:]])


if __name__ == "__main__":
    main()
