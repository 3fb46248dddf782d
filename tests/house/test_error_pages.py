"""Every class of error has its entry on the page of errors, with an example that fails and one that is repaired."""

import ast
import inspect

import pytest

from fad.api.derivatives import functional
from fad.util import errors

from .source import ROOT

PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
MADE = {name: thing for module in (errors, functional) for name, thing in vars(module).items()
        if inspect.isclass(thing) and issubclass(thing, errors.FadError)}
CLASSES = [name for name, thing in vars(errors).items() if inspect.isclass(thing) and issubclass(thing, Exception)]


def builtin_bases(name: str) -> list[str]:
    """The builtin classes an error of fad can be caught as."""
    return [base.__name__ for base in getattr(errors, name).__bases__ if base.__module__ == "builtins"]


@pytest.mark.parametrize("name", CLASSES)
def test_error_has_its_entry(name):
    assert f"\n## {name}\n" in PAGE


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in ("FadError", "CheckError")])
def test_entry_fails_and_is_repaired(name):
    entry = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
    failing, _, repaired = entry.partition(f"fad.util.errors.{name}")
    assert ">>> " in failing and ">>> " in repaired


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "FadError"])
def test_error_is_one_of_fads_and_a_builtin_one(name):
    assert issubclass(getattr(errors, name), errors.FadError) and builtin_bases(name)


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "FadError"])
def test_entry_names_the_builtin_classes(name):
    first = PAGE.split(f"\n## {name}\n")[1].strip().splitlines()[0]
    assert all(f"`{base}`" in first for base in builtin_bases(name))


def made_errors():
    """The places in fad where an error of its own is made: (place, class, whether it says what to do)."""
    for path in sorted((ROOT / "fad").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MADE:
                says = any(k.arg in ("do", None) for k in node.keywords)
                yield f"{path.relative_to(ROOT)}:{node.lineno}", MADE[node.func.id], says


def test_each_error_says_what_to_do():
    made = list(made_errors())
    assert len(made) > 300
    assert not [place for place, cls, says in made if not says and not cls.way_out]
