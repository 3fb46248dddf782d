"""Every name a user can reach from ``fad`` says what it is for; every module begins with a sentence."""

import ast
import doctest
import inspect

import pytest

import fad

from .source import modules, name_of, tree


def public_names() -> list[str]:
    """The names of the roof: ``fad.__all__`` if it is there, else what does not begin with an underscore."""
    return sorted(getattr(fad, "__all__", None) or (name for name in vars(fad) if not name.startswith("_")))


@pytest.mark.parametrize("name", public_names())
def test_public_name_is_documented(name):
    thing = getattr(fad, name)
    if callable(thing) or inspect.ismodule(thing):
        assert (inspect.getdoc(thing) or "").strip()


def examples(thing) -> str:
    """The Examples section of a docstring, the last of its sections."""
    return (inspect.getdoc(thing) or "").partition("\nExamples\n--------\n")[2]


FUNCTIONS = [name for name in public_names() if not inspect.ismodule(getattr(fad, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_run_when_pasted(name):
    thing = getattr(fad, name)
    documented = thing if callable(thing) else type(thing)
    test = doctest.DocTestParser().get_doctest(examples(documented), {}, name, None, None)
    assert test.examples
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=report.append).failed == 0, "".join(report)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if inspect.isfunction(getattr(fad, name))])
def test_parameters_are_documented(name):
    function = getattr(fad, name)
    section = (inspect.getdoc(function) or "").partition("\nParameters\n----------\n")[2].partition("\n\n")[0]
    heads = [line.partition(" :")[0] for line in section.splitlines() if line and not line.startswith(" ")]
    written = [part.strip().lstrip("*") for head in heads for part in head.split(",")]
    assert sorted(written) == sorted(inspect.signature(function).parameters)


def test_modules_begin_with_a_sentence():
    assert not [name_of(path) for path in modules() if not ast.get_docstring(tree(path))]
