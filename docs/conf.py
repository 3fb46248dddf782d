"""Sphinx settings: Markdown pages, one generated page (the ops), the reference from the docstrings."""

import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

project = "fad"
author = "the fad authors"
copyright = "the fad authors"
release = metadata.version("fad-jit")
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "fad"
# A ``python`` block may hold plain code or a session with prompts; ``py`` blocks are other libraries' code.
highlight_language = "python"
suppress_warnings = ["misc.highlighting_failure"]  # sessions and tracebacks are not always Python


def setup(app):
    """Write the generated pages before Sphinx reads the sources."""
    import build_ops
    import build_reference

    app.connect("builder-inited", lambda _: (build_ops.main(), build_reference.main()))
