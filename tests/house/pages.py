"""Run the Python blocks of a Markdown page, top to bottom, in one namespace.

A block marked ``python`` runs: as a doctest if it has prompts, as plain code otherwise. What plain code prints must be the block marked ``text``
that follows at once, if there is one. Blocks marked ``py`` (other libraries' code, fragments) are only shown.
FAD_GOLDEN=write puts what is printed into the page.
"""

import contextlib
import doctest
import io
import linecache
import os
import re
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path) -> list[tuple[int, str, str | None]]:
    """Line number and text of each block that runs, and what the page says that it prints."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, match.start(1)), match.group(1), match.group(2)) for match in BLOCK.finditer(text)]


def run(page: Path) -> None:
    """Run every block of the page; raise at the first that fails."""
    names: dict = {"__name__": "__page__"}
    written = page.read_text(encoding="utf-8")
    for line, text, output in blocks(page):
        if ">>> " in text:
            _run_prompts(page, line, text, names)
        else:
            # The line breaks put the block at its own line of the page, for tracebacks and for source look-ups.
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * line + text, str(page), "exec"), names)
            if output is not None and printed.getvalue() != output:
                if os.environ.get("FAD_GOLDEN") != "write":
                    raise AssertionError(f"{page.name}:{line} prints\n{printed.getvalue()}")
                written = written.replace(f"{text}```\n\n```text\n{output}```", f"{text}```\n\n```text\n{printed.getvalue()}```")
    if os.environ.get("FAD_GOLDEN") == "write" and written != page.read_text(encoding="utf-8"):
        page.write_text(written, encoding="utf-8")


def _run_prompts(page: Path, line: int, text: str, names: dict) -> None:
    name = f"{page.name}:{line}"
    test = doctest.DocTestParser().get_doctest(text, names, name, str(page), line)
    for k, example in enumerate(test.examples):  # later blocks call the functions of this one, whose text is then asked for
        linecache.cache[f"<doctest {name}[{k}]>"] = len(example.source), None, example.source.splitlines(keepends=True), name
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    if result.failed:
        raise AssertionError("".join(report))
