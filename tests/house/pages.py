"""Run the Python blocks of a Markdown page, top to bottom, in one namespace.

A block marked ``python`` runs: as a doctest if it has prompts, as plain code otherwise. What plain code prints must be
the block marked ``text`` that follows at once, if there is one. Blocks marked ``py`` (other libraries' code, fragments)
are only shown. A line ``<!-- needs: lmfit -->`` above a block says which libraries it needs; where these are not
installed, the block is left out. FAD_GOLDEN=write puts what is printed into the page.
"""

import contextlib
import doctest
import importlib.util
import io
import linecache
import os
import re
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"(?:^<!-- needs: ([\w. ]+) -->\n)?^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?",
                   re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A block that runs: the line where it stands, the libraries that it needs, its code, and what the page says that
    it prints."""

    line: int
    needs: tuple[str, ...]
    code: str
    output: "str | None"


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that run."""
    text = page.read_text(encoding="utf-8")
    return [Block(text.count("\n", 0, m.start(2)), tuple((m[1] or "").split()), m[2], m[3])
            for m in BLOCK.finditer(text)]


def is_there(library: str) -> bool:
    """Whether a library is installed."""
    return importlib.util.find_spec(library) is not None


def run(page: Path) -> None:
    """Run every block of the page; raise at the first that fails."""
    names: dict = {"__name__": "__page__"}
    written = page.read_text(encoding="utf-8")
    for block in blocks(page):
        if not all(map(is_there, block.needs)):
            continue
        if ">>> " in block.code:
            _run_prompts(page, block, names)
            continue
        # The line breaks put the block at its own line of the page, for tracebacks and for source look-ups.
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * block.line + block.code, str(page), "exec"), names)
        if block.output is not None and printed.getvalue() != block.output:
            if os.environ.get("FAD_GOLDEN") != "write":
                raise AssertionError(f"{page.name}:{block.line} prints\n{printed.getvalue()}")
            written = written.replace(f"{block.code}```\n\n```text\n{block.output}```",
                                      f"{block.code}```\n\n```text\n{printed.getvalue()}```")
    if os.environ.get("FAD_GOLDEN") == "write" and written != page.read_text(encoding="utf-8"):
        page.write_text(written, encoding="utf-8")


def _run_prompts(page: Path, block: Block, names: dict) -> None:
    name = f"{page.name}:{block.line}"
    test = doctest.DocTestParser().get_doctest(block.code, names, name, str(page), block.line)
    # later blocks call the functions of this one, whose text is then asked for
    for k, example in enumerate(test.examples):
        lines = example.source.splitlines(keepends=True)
        linecache.cache[f"<doctest {name}[{k}]>"] = len(example.source), None, lines, name
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    if result.failed:
        raise AssertionError("".join(report))
