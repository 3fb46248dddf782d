"""What the tracked files must not say: names of one machine or workplace, and notes to do something later."""

import re

import pytest

from .source import ROOT, tracked

# Spelt in pieces, so that this file does not find itself.
PLACES = re.compile("|".join(["/" + "work/", "/" + "root/", "/opt/" + "fad", "farm" + "-", r"\.\./" + "shared"]))
LATER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")
TEXT = {".py", ".md", ".cfg", ".toml", ".txt", ".csv", ".ipynb", ".yml", ".yaml", ".sh", ""}


def found(pattern: re.Pattern) -> list[str]:
    """Where a pattern stands in the tracked text files, as ``path:line``."""
    texts = (path for path in tracked() if path.suffix in TEXT)
    return [
        f"{path.relative_to(ROOT).as_posix()}:{number}"
        for path in texts
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="ignore").splitlines(), 1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize("pattern", [PLACES, LATER], ids=["places", "later"])
def test_is_said_nowhere(pattern):
    assert not found(pattern)
