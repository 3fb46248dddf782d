"""What arrays have: every attribute of NumPy's arrays and numbers is there, or is refused by its name; writes may be
forbidden."""
import contextlib
import functools
import warnings

import numpy as np
import pytest

import fad

from ..texts import executed

X = np.array([0.6, -0.4, 1.2])
OF_ARRAYS = [name for name in dir(np.ndarray) if name not in ("__dict__", "mT")]
OF_NUMBERS = dir(np.float64)


def failures(y, names):
    found = {}
    for name in names:
        try:
            getattr(y, name, None)
        except Exception as error:
            found[name] = error
    return found


@pytest.mark.parametrize("kind", ["array", "number", "array of no axes", "bool", "int"])
def test_what_is_said_to_be_there_is_there(kind):
    found = {}

    def f(x):
        y = {"array": x, "number": x[0], "array of no axes": np.asarray(x[0]), "bool": x > 0.0,
             "int": x.astype(int)}[kind]
        found.update(failures(y, OF_NUMBERS if kind == "number" else OF_ARRAYS))
        return np.sum(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fad.jit(f)(X)
    assert not {name: error for name, error in found.items()
                if not isinstance(error, fad.FadError) or isinstance(error, AttributeError)}


def test_the_namespace_of_an_array_is_numpy():
    f = fad.value_and_grad(lambda x: x.__array_namespace__().sum(x.__array_namespace__(api_version="2023.12").sin(x)),
                           fallback=False)
    np.testing.assert_allclose(f(X)[1], np.cos(X))


@functools.lru_cache
def is_numpys(cls):
    return issubclass(cls, np.ndarray)


@functools.lru_cache
def name_of(cls):
    return cls.__name__


@pytest.mark.parametrize("way", ["compiled", "tape"])
def test_functions_that_keep_answers_are_asked_about_numpys_classes(way):
    def f(x):
        return np.sum(x) * (2.0 if is_numpys(type(x)) else 3.0) * len(name_of(type(x)))
    g = fad.value_and_grad(f, fallback=False)
    assert (g(X) if way == "compiled" else g.on_tape((X,), {}))[0] == f(X)


def read_only(x):
    y = x * 2.0
    y.setflags(write=False)
    z = y[1:]
    try:
        y[0] = 3.0
    except ValueError:
        y = y * 2.0
    return np.sum(y) + np.sum(z)


def view_of_read_only(x):
    y = x * 2.0
    y.setflags(write=False)
    z = y[1:]
    try:
        z[0] = 3.0
        k = 1.0
    except ValueError:
        k = 2.0
    return np.sum(y) * k


def allowed_again(x):
    y = x * 2.0
    y.setflags(write=False)
    y.setflags(write=True)
    y[0] *= x[1]
    return np.sum(y)


@pytest.mark.parametrize("way", ["compiled", "tape"])
@pytest.mark.parametrize("f", [read_only, view_of_read_only, allowed_again])
def test_writes_that_are_forbidden(f, way):
    g = fad.value_and_grad(f, fallback=False)
    value, slope = g(X) if way == "compiled" else g.on_tape((X,), {})
    assert np.isclose(value, f(X))
    np.testing.assert_allclose(slope, [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)], rtol=1e-6)


def test_a_shape_that_is_set_says_what_to_do():
    def f(x):
        x.shape = (3, 1)
        return np.sum(x)
    with pytest.raises(fad.FadError, match=r"np\.reshape"):
        fad.grad(f)(X)


ANNOTATED = """
from __future__ import annotations
import numpy as np

def f(x):
    def inner(a: Nothing) -> Nothing:
        b: Nothing = a * 2
        return b
    class A:
        c: Nothing = 3
        def m(self, q: Nothing) -> Nothing:
            return q * self.c
    return np.sum((lambda a: inner(a))(x)) * A().m(x[0])
"""


def test_annotations_that_python_does_not_evaluate(tmp_path):
    path = tmp_path / "annotated.py"
    path.write_text(ANNOTATED)
    scope: dict = {}
    exec(compile(ANNOTATED, str(path), "exec", dont_inherit=True), scope)
    assert np.isclose(fad.jit(scope["f"], fallback=False)(X), scope["f"](X))


# -- arrays of subclasses: a program takes them for plain ones ---------------------------------------------------------


class Field(np.ndarray):
    """Values on a grid."""

    unit = 3.0


def field():
    values = np.ones(3).view(Field)
    values.dx = 0.5
    return values


def guessed(x):
    try:
        return x.dx
    except AttributeError:
        return 1.0


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("argument", [False, True])
@pytest.mark.parametrize("ask", [
    lambda x: x.dx, lambda x: 2.0 if hasattr(x, "dx") else 1.0, lambda x: getattr(x, "dx", 1.0), guessed,
    lambda x: getattr(2.0 * x, "unit", 1.0), lambda x: 2.0 if isinstance(x, Field) else 1.0,
    lambda x: 2.0 if type(x) is Field else 1.0])
def test_what_a_subclass_adds_is_never_answered_for_a_plain_array(ask, argument):
    """The answer of a plain array was given for it, and the numbers were wrong."""
    own = field()
    f = (lambda x: np.sum(x * x) * ask(x)) if argument else lambda x: np.sum(own * x) * ask(own)
    g, x = fad.grad(f), field() if argument else np.ones(3)
    if argument:
        with contextlib.suppress(fad.FadError):               # a plain array has no dx
            g(np.ones(3))                                     # this program is of plain arrays
    with pytest.raises(fad.FadError, match="class Field may be asked"):
        g(x)


def test_subclasses_of_which_nothing_is_asked_are_arrays():
    own = field()
    np.testing.assert_array_equal(fad.grad(lambda x: np.sum(own * x ** 2) * own.size)(field()), np.full(3, 6.0))
    assert fad.jit(lambda x: isinstance(x, np.ndarray) and hasattr(x, "shape"))(own)


FLAGS = {
    "made here": ("(x * 2).flags.c_contiguous", True), "an argument": ("x.flags['C_CONTIGUOUS']", True),
    "transposed": ("x.T.flags.c_contiguous", False), "Fortran's order": ("x.T.flags.f_contiguous", True),
    "fnc": ("np.zeros((3, 4)).T.flags.fnc", True), "forc": ("x.flags.forc", True), "a row": ("x[0].flags['F']", True),
    "rows": ("x[1:].flags.contiguous", True), "product": ("(x @ x.T).flags.f_contiguous", False),
    "a column": ("x[:, :1].copy().flags.f_contiguous", True), "a copy": ("np.ascontiguousarray(x.T).flags['C']", True),
}


@pytest.mark.parametrize("name", FLAGS)
def test_flags_that_are_known(name):
    expression, expected = FLAGS[name]
    f = executed(f"def f(x):\n    return (x * 2 if {expression} else x * 3).sum()\n", {"np": np})["f"]
    for x in (np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)):
        assert f(x) == x.sum() * (2 if expected else 3)
        value, slope = fad.value_and_grad(f, fallback=False)(x)
        assert value == f(x) and np.all(slope == (2 if expected else 3))


def test_flags_that_are_not_known_are_refused():
    with pytest.raises(fad.FadError, match="flags.contiguous is not known"):
        fad.grad(lambda x: x.sum() if x[:, 1:].flags.c_contiguous else x[0, 0])(np.ones((2, 3)))
    with pytest.raises(fad.FadError, match="flags.owndata"):
        fad.grad(lambda x: x.sum() if x.flags.owndata else x[0, 0])(np.ones((2, 3)))
