"""Run the Python blocks of a Markdown page, top to bottom, in one namespace.

A block marked ``python`` runs: as a doctest if it has prompts, as plain code otherwise. Blocks marked ``py`` (other
libraries' code, fragments) are only shown.
"""

import doctest
import re
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path) -> list[tuple[int, str]]:
    """Line number and text of each block that runs."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, match.start(1)), match.group(1)) for match in BLOCK.finditer(text)]


def run(page: Path) -> None:
    """Run every block of the page; raise at the first that fails."""
    names: dict = {"__name__": "__page__"}
    for line, text in blocks(page):
        if ">>> " in text:
            _run_prompts(page, line, text, names)
        else:
            # The line breaks put the block at its own line of the page, for tracebacks and for source look-ups.
            exec(compile("\n" * line + text, str(page), "exec"), names)


def _run_prompts(page: Path, line: int, text: str, names: dict) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), line)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    if result.failed:
        raise AssertionError("".join(report))
