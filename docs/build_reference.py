"""Write reference.md: every public name of fad, in the order of the roof, from its docstring."""

import inspect
import re
import textwrap
from pathlib import Path

import fad

PAGE = Path(__file__).parent / "reference.md"


def public() -> list[str]:
    """The names of the roof that are not modules."""
    names = getattr(fad, "__all__", None) or [name for name in vars(fad) if not name.startswith("_")]
    return [name for name in names if not inspect.ismodule(getattr(fad, name))]


def signature(name: str, thing: object) -> str:
    """How the name is called, as a block of code; nothing for what is not called."""
    try:
        return f"```py\nfad.{name}{inspect.signature(thing)}\n```\n" if callable(thing) else ""
    except ValueError:
        return ""


def paragraph(text: str) -> str:
    """One paragraph of a docstring as Markdown: examples and indented tables as code, the rest as prose."""
    if text.lstrip().startswith(">>>"):
        return f"```pycon\n{textwrap.dedent(text)}\n```"
    aligned = any(re.search(r"\S {2,}\S", line) or line.startswith("  ") for line in text.splitlines())
    if aligned:
        return f"```text\n{text}\n```"
    return re.sub(r"([*<_])", r"\\\1", text) if "`" not in text else text.replace("*", "\\*")


def entry(name: str) -> str:
    """The section of one name."""
    thing = getattr(fad, name)
    documented = thing if callable(thing) else type(thing)
    paragraphs = re.split(r"\n\s*\n", inspect.getdoc(documented) or "")
    return "\n\n".join([f"## {name}", signature(name, thing), *map(paragraph, paragraphs)]) + "\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text("# Reference\n\n" + "\n".join(map(entry, public())), encoding="utf-8")


if __name__ == "__main__":
    main()
