"""Every name a user can reach from ``fad`` says what it is for; every module begins with a sentence."""

import ast
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


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_module_begins_with_a_sentence(path):
    assert ast.get_docstring(tree(path))
