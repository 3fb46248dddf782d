"""What users get wrong: the message says what, in which line of theirs, and what to do."""
import fractions
import json

import numpy as np
import pytest

import fad
from fad.util.errors import (
    ArgumentError,
    ConcreteValueError,
    IntegerArgumentError,
    NotScalarError,
    UnsupportedFunctionError,
)

X = np.array([1.0, 2.0, 3.0])
RECORDS = np.rec.array([(1.0,)], dtype=[("mass", float)])


def says_nothing(x):
    np.sum(x)


def says_something_at_times(x):
    for v in x:
        if len(x) > 100:
            return v


def returns_a_text(x):
    return "a text"


def writes_json(x):
    return np.sum(x) + len(json.dumps({"a": x[0]}))


def takes_fractions(x):
    return float(fractions.Fraction(x[0]))


def makes_a_number_of_an_array(x):
    return float(x) * 2.0


def writes_to_an_outer_record(x):
    RECORDS[0].mass = x[0]
    return RECORDS.mass[0]


@pytest.mark.parametrize("f, error, parts", [
    (says_nothing, NotScalarError, ["returned None", "return value"]),
    (says_something_at_times, NotScalarError, ["returned None", "on every way"]),
    (returns_a_text, NotScalarError, ["returned str, which is no number"]),
    (writes_json, ConcreteValueError, ["not JSON serializable", 'len(json.dumps({"a": x[0]}))', "custom_vjp"]),
    (takes_fractions, ConcreteValueError, ["Rational instance", "fractions.Fraction(x[0])", "NumPy's functions"]),
    (writes_to_an_outer_record, ConcreteValueError,
     ["float() was taken", "RECORDS[0].mass = x[0]", "custom_vjp"]),
    (makes_a_number_of_an_array, ConcreteValueError,
     ["float() was taken", "return float(x) * 2.0", "take an element"])])
def test_a_function_that_cannot_be_differentiated(f, error, parts):
    with pytest.raises(error) as caught:
        fad.grad(f)(X)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


@pytest.mark.parametrize("call, error, part", [
    (lambda: fad.grad(np.sum, argnums="x")(X), ArgumentError, "not 'x'"),
    (lambda: fad.grad(np.sum, argnums=5)(X), ArgumentError, "argnums names argument 5"),
    (lambda: fad.grad(np.sum)(np.array(["a"])), IntegerArgumentError, "dtype <U1"),
    (lambda: fad.grad(np.sum)(np.array([1.0, None])), IntegerArgumentError, "dtype object"),
    (lambda: fad.grad(np.sum(X)), ArgumentError, "fad.grad(f)(x), not fad.grad(f(x))"),
    (lambda: fad.jit(np.sum, compile="yes"), ArgumentError, "not 'yes'")])
def test_a_call_that_cannot_be_right(call, error, part):
    with pytest.raises(error) as caught:
        call()
    assert part in str(caught.value), str(caught.value)


def test_the_tape_knows_the_numbers_in_a_message():
    def f(x):
        {int(x[0] * 2): 1.0}                                  # a key by data: the tape
        raise ValueError(f"{x[0]:.2f} is wrong")
    with pytest.raises(ValueError, match="1.00 is wrong"):
        fad.grad(f)(X)


class Doubled(np.ndarray):
    """Arrays with arithmetic of their own: every result is twice what NumPy says."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return 2.0 * getattr(ufunc, method)(*[np.asarray(x) for x in inputs], **kwargs)


class Halved(np.ndarray):
    """Arrays that differ from NumPy's in a division alone."""

    def __truediv__(self, other):
        return np.asarray(self) / np.asarray(other) / 2.0


class Summed(np.ndarray):
    """Arrays with a reduction of their own."""

    def sum(self, *args, **kwargs):
        return 7.0 * np.asarray(self).sum()


class Tagged(np.ndarray):
    """Arrays that carry something, and compute as NumPy's do."""

    def __array_finalize__(self, of):
        self.tag = getattr(of, "tag", None)


MASKED = np.ma.array([0.3, 0.5], mask=[False, True])
OF_THEIR_OWN = [MASKED, np.ones((2, 2)).view(np.matrix), np.ones(2).view(Doubled), np.ones(2).view(Halved),
                np.ones(2).view(Summed)]


@pytest.mark.parametrize("array", OF_THEIR_OWN, ids=lambda a: type(a).__name__)
@pytest.mark.parametrize("compile", ["now", "never"])
def test_arrays_with_arithmetic_of_their_own_are_refused_as_arguments(array, compile):
    f = fad.jit(lambda x: np.sum(x * x), compile=compile)
    plain = np.asarray(array)
    # the third call of a compiled function takes the shortest way
    for _ in range(3):
        f(plain)
    for call in (f, fad.grad(f), fad.vmap(f), lambda x: fad.jvp(f, (plain,), (x,))):
        with pytest.raises(UnsupportedFunctionError, match=type(array).__name__):
            call(array)


@pytest.mark.parametrize("array", OF_THEIR_OWN, ids=lambda a: type(a).__name__)
@pytest.mark.parametrize("f",
                         [lambda x, a: np.sum(x * a), lambda x, a: np.sum(np.multiply(x, a)),
                          lambda x, a: np.sum(x @ a)])
def test_arrays_with_arithmetic_of_their_own_are_refused_where_a_function_uses_them(f, array):
    with pytest.raises(UnsupportedFunctionError, match=type(array).__name__):
        fad.grad(lambda x: f(x, array))(X[:2])


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_what_a_masked_array_says_of_itself_is_its_own():
    assert fad.grad(lambda x: np.sum(x) * MASKED.sum())(np.ones(2)).tolist() == [0.3, 0.3]


@pytest.mark.parametrize("cls", [np.recarray, Tagged])
def test_arrays_that_compute_as_numpys_do_are_plain(cls):
    a = np.array([3.0, 5.0]).view(cls)
    assert fad.grad(lambda x: np.sum(a * x / 2.0), fallback=False)(np.ones(2)).tolist() == [1.5, 2.5]


OBJECTS = np.array([1.0, 2.0], dtype=object)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("f", [
    lambda x: np.sum(x * np.array([1.0, 2.0], dtype=object)),
    lambda x: np.sum(x.astype(object)),
    lambda x: np.sum(x * OBJECTS),
    lambda x: x @ OBJECTS,
    lambda x: np.sum(x - OBJECTS) if float(x[0]) > 0 else 0.0,                    # on the tape
], ids=["made", "cast", "from outside", "product", "on the tape"])
def test_numbers_among_objects_lose_no_derivative(f):
    for call in (lambda: fad.jvp(f, (np.ones(2),), (np.ones(2),)), lambda: fad.grad(f)(np.ones(2))):
        with pytest.raises(UnsupportedFunctionError, match="object"):
            call()


def test_numbers_of_objects_are_pythons():
    def f(x):
        a = np.array([1.0, None], dtype=object)
        if x[0] > 0.5:
            a[0] = 2.0
        return x[0] * x[1] * a[0]
    with pytest.warns(fad.FallbackWarning):
        gradient = fad.grad(f)
        np.testing.assert_allclose(gradient(np.array([0.3, 0.7])), [0.7, 0.3])
        np.testing.assert_allclose(gradient(np.array([0.6, 0.2])), [0.4, 1.2])
