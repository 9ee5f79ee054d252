# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `mettle`, as the package has it: `python -m mettle run ...`."""

import os
import shutil
import sys
from typing import NoReturn

from . import _loading


def main() -> NoReturn:
    """Becomes the command."""
    folder = _loading.folder()
    path = os.path.join(folder, "mettle") if folder else \
        shutil.which("mettle") or "mettle"
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there")
    os.execv(path, ["mettle", *sys.argv[1:]])


if __name__ == "__main__":
    main()
