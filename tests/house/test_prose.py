"""Sentences that a reader takes in at first sight: they do not begin with a clause, are not long, and use no words of
our own."""

import ast
import json
import re

import pytest

from .source import ROOT, modules, name_of, tree

DOCS = ROOT / "docs"
FOR_USERS = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), DOCS / "tutorials" / "index.md"]
DESIGN = sorted((DOCS / "design").glob("*.md"))
OTHERS = [ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CODE = re.compile(r"^[ ]*(`{3,})[^\n]*\n.*?^[ ]*\1[ ]*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#.*$|^\|[-|]+$|^<!--.*-->$|^[:%].*$", re.MULTILINE)
SENTENCE = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z`*]|fad\b)|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s+|\s*\|\s*")
# A clause in the place of the subject: "What runs on the tape is slow.", "Whether it pays depends on ...", "Of a list,
# three are ..."
# Questions are fine, and so are titles, which have no full stop.
CLAUSE = re.compile(r"^(What|Whatever|Whoever|Whether|Of|How)\b(?![^.]*\?).{20,}[.:;]$")
OUR_OWN = re.compile(r"\b(its|their|and) kin\b|\bspeaks? (of|for)\b|\bis told from\b|\bin fad's words\b"
                     r"|\b(of|to|from) which\b[^?]*$|\bnone but\b", re.IGNORECASE)
OF_DOCSTRING = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*])|\n\s*\n")
CLAUSE_IN_DOCSTRING = re.compile(r"^(What|Whatever|Who|Whoever|Whether|How)\b(?![^.]*\?).{20,}[.:;]$")
CLAUSE_AS_TITLE = re.compile(r"^(What|Whatever|Who|Whoever|Whose|Where|When|Why|Which|How)\b(?!.*\?)")
MOST_WORDS = 45


def prose(path) -> str:
    """The text of a page without code blocks, headings and tables' rules; of a notebook, that of its cells."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n\n".join("".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "markdown")
    text = CODE.sub("\n\n", re.sub(r"\A---\n.*?^---$", "", text, flags=re.MULTILINE | re.DOTALL))
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return HEADING.sub("\n\n", text)


def sentences(path) -> list[str]:
    """The sentences of a page; cells of tables and items of lists count as such."""
    return [" ".join(part.split()) for part in SENTENCE.split(prose(path)) if part.strip()]


def plain(sentence: str) -> str:
    """A sentence without the marks of Markdown."""
    return sentence.replace("*", "").strip()


@pytest.mark.parametrize("page", [*FOR_USERS, *OTHERS, *NOTEBOOKS, *DESIGN], ids=name_of)
def test_sentences_begin_with_their_subject(page):
    assert not [sentence for sentence in sentences(page) if CLAUSE.match(plain(sentence))]


@pytest.mark.parametrize("page", [*FOR_USERS, *OTHERS, *NOTEBOOKS], ids=name_of)
def test_sentences_are_short(page):
    assert not [sentence for sentence in sentences(page) if len(sentence.split()) > MOST_WORDS]


@pytest.mark.parametrize("page", [*FOR_USERS, *OTHERS, *NOTEBOOKS, *DESIGN], ids=name_of)
def test_words_are_those_of_the_field(page):
    assert not [sentence for sentence in sentences(page) if OUR_OWN.search(sentence)]


def docstrings(path) -> list[list[str]]:
    """The sentences of each of a module's docstrings. The first one names the thing: it may be a title."""
    documented = [node for node in ast.walk(tree(path))
                  if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    texts = [ast.get_docstring(node) or "" for node in documented]
    return [[" ".join(part.split()) for part in OF_DOCSTRING.split(text)] for text in texts]


@pytest.mark.parametrize("module", modules(), ids=name_of)
def test_sentences_of_docstrings_begin_with_their_subject(module):
    found = docstrings(module)
    assert not [first for first, *_ in found if CLAUSE_AS_TITLE.match(first)]
    assert not [sentence for _, *others in found for sentence in others if CLAUSE_IN_DOCSTRING.match(sentence)]
