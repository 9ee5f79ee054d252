# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""conf.py: Sphinx's settings for the site that tools/site.py builds."""

import os

project = "Mettle"
author = copyright = "the Mettle authors"
release = version = os.environ["METTLE_VERSION"]
extensions = ["myst_parser", "sphinx_copybutton"]
html_theme = "furo"
html_title = f"Mettle {version}"
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
primary_domain = "c"
highlight_language = "none"
maximum_signature_line_length = 78
copybutton_prompt_text = "$ "
# Of C, of programs' systems, and macros in front of declarations.
c_id_attributes = ["MTL_API", "MTL_MUST_USE"]
