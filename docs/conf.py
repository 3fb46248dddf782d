"""Sphinx settings: Markdown pages, notebooks with their outputs, and a reference from the docstrings.

Build the site with one command: ``python -m sphinx docs docs/_build``.
"""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import fad  # noqa: E402

project = "fad"
author = "the fad authors"
copyright = "the fad authors"
release = version = fad.__version__
extensions = [
    "myst_nb", "sphinx_design", "sphinx_copybutton", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax",
]
# a build leaves jupyter_execute beside its output
exclude_patterns = ["_build", "jupyter_execute", "**/.ipynb_checkpoints"]

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_block"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks/run.py executes them; the site shows the outputs that are committed
nb_merge_streams = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_typehints = "none"  # the Parameters section says it, in words
autodoc_member_order = "bysource"
toc_object_entries = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_use_ivar = True

html_theme = "pydata_sphinx_theme"
html_title = "fad"
html_static_path = ["_static"]
html_css_files = ["fad.css"]
html_js_files = ["functions.js"]
html_logo = html_favicon = "_static/logo.svg"
html_sidebars = {"index": [], "changelog": []}
html_show_sourcelink = False
# no sidebar beside a tutorial: its code needs the width
WIDE = {f"tutorials/{notebook.stem}": [] for notebook in (HERE.parent / "notebooks").glob("*.ipynb")}
html_theme_options = {
    "logo": {"text": "fad", "alt_text": "fad: derivatives of plain NumPy programs"},
    "show_nav_level": 1,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "reference/functions": [], **WIDE},
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version", "theme-version"],
}
# A ``python`` block may hold plain code or a session with prompts; ``py`` blocks are other libraries' code.
highlight_language = "python"
suppress_warnings = ["misc.highlighting_failure"]  # sessions and tracebacks are not always Python


def copy_notebooks():
    """The notebooks stand beside ``docs``; Sphinx reads what is in it."""
    folder = HERE / "tutorials"
    folder.mkdir(exist_ok=True)
    for notebook in (HERE.parent / "notebooks").glob("*.ipynb"):
        target = folder / notebook.name
        if not target.exists() or target.read_bytes() != notebook.read_bytes():
            shutil.copyfile(notebook, target)


def setup(app):
    """Write the generated pages before Sphinx reads the sources."""
    import build_functions
    import build_reference
    import whole_messages

    app.connect("source-read", whole_messages.on_source_read)
    app.connect("builder-inited", lambda _: (copy_notebooks(), build_functions.main(), build_reference.main()))
