"""Every feature is found from the landing page in two clicks: by a link to its page, which names it, at its place."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from .features import FEATURES
from .source import ROOT

DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(([^)#\s]+\.(?:md|ipynb|rst))?(?:#([\w.-]+))?\)")
CARD = re.compile(r"^:link: (\S+)$|\{button-ref\} (\S+)$", re.MULTILINE)
TREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
CLICKS = 2


def source(page: str) -> Path:
    """The file of a page: notebooks stand in a folder of their own."""
    return ROOT / "notebooks" / Path(page).name if page.endswith(".ipynb") else DOCS / page


@cache
def text_of(page: str) -> str:
    """The text of a page; of a notebook, that of its cells."""
    path = source(page)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return ("\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
            if page.endswith(".ipynb") and text else text)


@cache
def links(page: str) -> frozenset[str]:
    """The pages that a page leads to: links, cards, and its part of the sidebar."""
    folder, text = Path(page).parent, text_of(page)
    named = [match[0] for match in LINK.findall(text) if match[0]]
    bare = [a or b for a, b in CARD.findall(text)]
    bare += [line.strip() for block in TREE.findall(text) for line in block.splitlines() if line.strip()
             and not line.startswith(":")]
    named += [name
              + next(end for end in (".md", ".ipynb", ".rst")
                     if end == ".rst" or source(str(folder / (name + end))).exists()) for name in bare]
    return frozenset(_normal(folder / name) for name in named)


def _normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in (".", ".."):
            parts.append(part)
    return "/".join(parts)


@cache
def within(clicks: int) -> frozenset[str]:
    """The pages that so many clicks lead to from the landing page."""
    if clicks == 0:
        return frozenset({"index.md"})
    before = within(clicks - 1)
    return before.union(*map(links, before))


def places(page: str) -> dict[str, str]:
    """The sections of a page by their anchor, as Sphinx names it."""
    parts = re.split(r"^#+ (.+)$",
                     re.sub(r"^```.*?^```", _without_headings, text_of(page), flags=re.MULTILINE | re.DOTALL),
                     flags=re.MULTILINE)
    return {_slug(title): body for title, body in zip(parts[1::2], parts[2::2])}


def _without_headings(block: re.Match) -> str:
    return block[0].replace("\n#", "\n #")


def _slug(title: str) -> str:
    return re.sub(r"[^\w\s-]", "", title.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("words, place", FEATURES.items(), ids=FEATURES)
def test_is_found_in_two_clicks(words, place):
    page, _, anchor = place.partition("#")
    assert page in within(CLICKS)
    shown = places(page)[anchor] if anchor else text_of(page)
    assert not [word for word in words.split(", ") if word.lower() not in shown.lower()]


PAGES = sorted(path.relative_to(DOCS).as_posix() for path in [*DOCS.glob("*.md"), *DOCS.glob("design/*.md")])
NOTEBOOKS = sorted(f"tutorials/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS, "tutorials/index.md"])
def test_links_lead_somewhere(page):
    """Links to pages of the reference are left to Sphinx, which writes these pages."""
    text, missing = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL), []
    for target, anchor in LINK.findall(text):
        to = _normal(Path(page).parent / target) if target else page
        if to.startswith("reference/"):
            continue
        if not source(to).exists() or (anchor and anchor not in places(to)):
            missing.append(f"{to}#{anchor}")
    assert not missing


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS])
def test_no_page_is_out_of_reach(page):
    assert page in within(3)
