"""The error index shows each message as a whole.

The page has ``...`` where the tests allow any text; the site has the text that fad prints.
"""

import contextlib
import doctest
import io
import linecache
import re
import traceback
import warnings

BLOCK = re.compile(r"^```python\n(>>>.*?)^```$", re.MULTILINE | re.DOTALL)
SHORT = "    ...\nfad.util.errors."


def message_of(source: str, names: dict, file: str) -> str | None:
    """What an example raises, as Python prints it; None if it raises nothing."""
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, file, "single"), names)
    except (Exception, Warning) as error:
        return "".join(traceback.format_exception_only(error)).rstrip()
    return None


def with_message(example: doctest.Example, names: dict, number: int) -> tuple[str, str] | None:
    """The expected text of an example that raises one of fad's errors, and the same text with the whole message."""
    said = message_of(example.source, names, f"example_{number}.py")
    if said is None or SHORT not in example.want:
        return None
    head, _, short = example.want.rstrip("\n").partition("fad.util.errors.")
    return f"{head}fad.util.errors.{short}", head + said


def whole(text: str) -> str:
    """The page, with the whole message of each example."""
    names: dict = {}
    with warnings.catch_warnings():
        for match in BLOCK.finditer(text):
            block = match.group(1)
            for number, example in enumerate(doctest.DocTestParser().get_examples(block), 1):
                found = with_message(example, names, number)
                if found:
                    block = block.replace(*found, 1)
            text = text.replace(match.group(1), block, 1)
    return text


def on_source_read(app, page: str, source: list[str]) -> None:
    """What Sphinx calls for each page that it reads."""
    if page == "errors":
        source[0] = whole(source[0])
