"""Every example on every page runs and prints what the page says; the design pages name modules that exist."""

import re

import pytest

from . import pages
from .source import PACKAGE, ROOT, name_of

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DESIGN = sorted((ROOT / "docs" / "design").glob("*.md"))
PATH = re.compile(r"`(?:fad/)?([a-z_]+(?:/[a-z_]+)+)(?:\.py)?(?:\.[a-z_]+)?`")


@pytest.mark.parametrize("page", [page for page in PAGES if pages.blocks(page)], ids=name_of)
def test_examples_of_the_page_run(page, capsys):
    pages.run(page)


def missing(page) -> list[str]:
    """The modules and folders that a page names (`passes/cse`, `tests/bench`) and that are not there."""
    named = PATH.findall(page.read_text(encoding="utf-8"))
    return [path for path in named if not any((root / path).is_dir() or (root / f"{path}.py").is_file() for root in (PACKAGE, ROOT))]


def test_design_pages_name_modules_that_exist():
    assert not {page.name: names for page in DESIGN if (names := missing(page))}
