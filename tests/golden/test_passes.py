"""What each pass does to a small program: before it and after it, as one text with the changed lines marked."""
import difflib
import inspect

import pytest

from fad.backend.emission.emit import source
from fad.ir.graph import Func
from fad.ir.show import ShortNames, func_text
from fad.passes import pipeline, preparation

from .files import HERE, assert_is_as_in_file, values
from .passes import CASES


def passes() -> list:
    """The names of the passes: what the pipeline and the preparation run, of the other modules of their package."""
    package = pipeline.__name__.rpartition(".")[0]
    functions = {name: f.__module__ for name, f in (vars(pipeline) | vars(preparation)).items()
                 if inspect.isfunction(f)}
    those = (pipeline.__name__, preparation.__name__)
    return [name for name, module in functions.items() if module.startswith(package) and module not in those]


def test_every_pass_has_a_file():
    assert sorted(CASES) == sorted(passes()) == sorted(path.stem for path in (HERE / "passes").iterdir())


@pytest.mark.parametrize("name", CASES)
def test_the_change_is_what_it_was(name, monkeypatch):
    transform, f, *args = CASES[name]
    changes = _changes_by(name, transform(f), values(args), monkeypatch)
    assert changes, f"{name} finds nothing to do in {f.__name__}"
    title = f"{name} in fad.{transform.__name__}({f.__name__})"
    assert_is_as_in_file(f"passes/{name}", f"{title}\n\n{inspect.getsource(f)}\n{changes[0]}")


def _changes_by(name: str, function, args: list, monkeypatch) -> list:
    """What the pass of this name changes on the way of a function to its generated text."""
    through, changes = pipeline.through, []

    def seen(passes, func: Func) -> Func:
        for run in passes:
            before, func = func, through((run,), func)
            changes.extend([_difference(before, func)] if run.__name__ == name else [])
        return func
    monkeypatch.setattr(pipeline, "through", seen)
    source(function.program_for(*args)[0].runner.func, "text")
    return [text for text in changes if text]


def _difference(before: Func, after: Func) -> str:
    """Both programs as one text: - is a line before the pass, + one after it."""
    names = ShortNames()
    texts = [func_text(func, where=False, names=names).splitlines() for func in (before, after)]
    lines = [line for line in difflib.unified_diff(*texts, lineterm="", n=4) if not line.startswith(("---", "+++"))]
    shown = ["  ..." if line.startswith("@@") else line for line in lines if not line.startswith("@@ -1,")]
    return "\n".join(shown) + "\n" if lines else ""
