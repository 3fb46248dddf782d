"""Write reference.md: every public name of fad, in the order of the roof, from its docstring."""

import inspect
from pathlib import Path

import fad

PAGE = Path(__file__).parent / "reference.md"


def entry(name: str, thing: object) -> str:
    """The directive that documents one name."""
    kind = "autoclass" if inspect.isclass(thing) else "autofunction" if callable(thing) else "autodata"
    return f"```{{eval-rst}}\n.. {kind}:: fad.{name}\n```\n"


def public() -> list[str]:
    """The names of ``fad.__all__`` that are not modules."""
    names = getattr(fad, "__all__", None) or [name for name in vars(fad) if not name.startswith("_")]
    return [name for name in names if not inspect.ismodule(getattr(fad, name))]


def main() -> None:
    """Write the page."""
    entries = [entry(name, getattr(fad, name)) for name in public()]
    PAGE.write_text("# Reference\n\n" + "\n".join(entries), encoding="utf-8")


if __name__ == "__main__":
    main()
