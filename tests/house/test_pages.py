"""Every example on every page runs and prints what the page says."""

import pytest

from . import pages
from .source import ROOT, name_of

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", [page for page in PAGES if pages.blocks(page)], ids=name_of)
def test_examples_of_the_page_run(page, capsys):
    pages.run(page)
