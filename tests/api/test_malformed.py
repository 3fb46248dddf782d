"""Malformed calls: each is refused by an error of fad's own, whose words say what, why and what to do."""
import inspect
import json
import pickle
import struct
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import numba
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse.linalg
from numba.experimental import jitclass

import fad
from fad.util.errors import (
    ArgumentError,
    CallError,
    ConcreteValueError,
    FadError,
    IntegerArgumentError,
    MissingAttributeError,
    NotScalarError,
    OperandError,
    RecursionDepthError,
    UnsupportedFunctionError,
)

from .malformed import CASES, TAKERS, X

pytestmark = pytest.mark.filterwarnings("ignore::fad.FallbackWarning")


def refused(call, error=FadError):
    """The message of a call that is refused."""
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, FadError)
    return str(caught.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_cannot_be_right_is_an_argument_error(case):
    message = refused(case.call, case.error)
    assert all(words in message for words in case.words), message
    assert "\n  where: " in message and "\n  do: " in message, message
    assert "<locals>" not in message and "Tracer" not in message, message


def test_the_table_is_long():
    assert len(CASES) > 600


def test_the_table_has_every_public_function_that_takes_one():
    takes = {name for name in fad.__all__ if callable(thing := getattr(fad, name))
             and not (isinstance(thing, type) and issubclass(thing, Exception))
             and next(iter(_parameters(thing)), "") in ("f", "solver", "func")}
    assert takes <= TAKERS.keys(), takes - TAKERS.keys()


def _parameters(thing):
    try:
        return list(inspect.signature(thing).parameters)
    except ValueError:
        return []


def doubling(x):
    return doubling(x * 2.0)


def removing(x):
    del x[0]
    return np.sum(x)


def storing(thing):
    def f(x):
        x[0] = thing
        return np.sum(x)
    return f


@jitclass([("a", numba.float64)])
class Scaled:
    def __init__(self, a):
        self.a = a

    def put(self, v):
        self.a = v


SCALED = Scaled(2.0)
INSIDE = {                                                    # a function, the class of the error, words of it
    "None + x": (lambda x: np.sum(None + x), OperandError, ["'NoneType' and an array", "where: ", "holds None"]),
    "x + None": (lambda x: np.sum(x + None), OperandError, ["an array and 'NoneType'"]),
    "text + x": (lambda x: np.sum("a" + x), OperandError, ["can only concatenate str (not an array)"]),
    "x * text": (lambda x: np.sum(x * "a"), OperandError, ["multiplied by 'a'", "only an int"]),
    "x[0] * text": (lambda x: x[0] * "a", OperandError, ["multiplied by 'a'"]),
    "x + dict": (lambda x: np.sum(x + {}), OperandError, ["an array and 'dict'"]),
    "x.summ": (lambda x: x.summ(), MissingAttributeError,
               ["a traced array or number has no attribute 'summ'", "did you mean 'sum'?"]),
    "x.nosuch": (lambda x: x.qqqqqq, MissingAttributeError, ["NumPy's arrays have none of this name either"]),
    "x.hex": (lambda x: x[0] * len(x[0].hex()), MissingAttributeError,
              ["has no attribute 'hex'", "not known while the function is traced"]),
    "pickle": (lambda x: np.sum(x) * len(pickle.dumps(x)), ConcreteValueError, ["pickle them outside the function"]),
    "recursion": (doubling, RecursionDepthError, ["return doubling(x * 2.0)", "calls itself"]),
    "roots of a series": (lambda x: np.polynomial.Polynomial(x).roots()[0], UnsupportedFunctionError,
                          ["Polynomial.roots is not supported on traced numbers", "with coef, degree"]),
    "del x[0]": (removing, CallError, ["cannot delete array elements", "del x[0]"]),
    "np.where of two": (lambda x: np.sum(np.where(x > 0, x)), CallError, ["either both or neither of x and y"]),
    "np.interp": (lambda x: np.interp(1.0, x, np.ones(2)), FadError, ["lengths of xp and fp"]),
    "Fraction": (lambda x: Fraction(x[0]) * x[0], ConcreteValueError,
                 ["should be a string or a Rational instance", "NumPy's functions"]),
    "Decimal": (lambda x: Decimal(x[0]) * x[0], ConcreteValueError,
                ["conversion from array to Decimal", "NumPy's functions"]),
    "timedelta": (lambda x: timedelta(seconds=x[0]).days * x[0], ConcreteValueError,
                  ["unsupported type for timedelta", "NumPy's functions"]),
    "struct": (lambda x: len(struct.pack("d", x[0])) * x[0], ConcreteValueError,
               ["required argument is not a float", "NumPy's functions"]),
    "root(foo=)": (lambda x: scipy.optimize.root(lambda y: y - x, x, foo=1).x[0], CallError,
                   ["unexpected keyword argument 'foo'", "root(function, float64[3], foo=1) was called"]),
    "y[0] = text": (storing("a"), CallError, ["could not convert string to float", "x[0] = thing"]),
    "y[0] = dict": (storing({}), CallError, ["not 'dict'", "x[0] = thing"]),
    "y[0] = array": (storing(X), FadError, ["could not broadcast an array of 1 axes", "x[0] = thing"]),
    "polyfit": (lambda x: np.polyfit(x, x, -1)[0], CallError, ["expected deg >= 0"]),
    "sparse product": (lambda x: np.sum(scipy.sparse.csr_array(np.eye(2)) @ x), CallError,
                       ["dimension mismatch", "(2, 2)"]),
    "sparse system": (lambda x: np.sum(scipy.sparse.linalg.spsolve(scipy.sparse.csc_array(np.eye(2)), x)), CallError,
                      ["rhs dimension mismatch"]),
    "sparse sum": (lambda x: (scipy.sparse.csr_array(np.outer(x, x))
                              + scipy.sparse.csr_array(np.eye(2))).toarray()[0, 0], CallError, ["inconsistent shapes"]),
    "sparse vector": (lambda x: np.sum(scipy.sparse.csr_matrix(x) @ np.ones(2)), FadError,
                      ["made of traced data with 1 axes", "reshape"]),
    "jitclass": (lambda x: (SCALED.put(x[0]), np.sum(x))[1], ConcreteValueError,
                 ["code that Numba has compiled", "self.a = v", "custom_vjp"]),
}


@pytest.mark.parametrize("name", INSIDE)
def test_what_a_function_does_wrong(name):
    f, error, words = INSIDE[name]
    message = refused(lambda: fad.grad(f)(X), error)
    assert all(each in message for each in words), message
    assert "Tracer" not in message and "a library's code" not in message


def test_what_a_library_says_of_a_traced_value_has_no_name_of_fads():
    message = refused(lambda: fad.grad(lambda x: np.sum(x) * len(json.dumps(x)))(X), ConcreteValueError)
    assert "Object of type array is not JSON serializable" in message and "Tracer" not in message


def test_solvers_inside_say_what_to_do_and_print_nothing(capfd):
    optimize = pytest.importorskip("scipy.optimize")
    message = refused(lambda: fad.grad(lambda x: optimize.fmin_slsqp(lambda z: np.sum((z - x) ** 2), X).sum())(X),
                      ConcreteValueError)
    assert "fad.implicit" in message
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("call, words", [
    (lambda: fad.vjp(np.sin, X)[1](None), ["is None, the value that it belongs to *"]),
    (lambda: fad.vjp(lambda x: (x, x), X)[1](X), ["is *, the value that it belongs to (*, *)"]),
    (lambda: fad.jvp(np.sin, (X,), (None,)), ["is (None,), its value (*,)"]),
    (lambda: fad.scan(lambda c, v: c, 0.0, X), ["a pair (carry, result)"]),
    (lambda: fad.grad(lambda x: fad.scan(lambda c, v: c + v, 0.0, x)[0])(X), ["a pair (carry, result)"]),
    (lambda: fad.jvp(np.sum, (X,), (X,), has_aux=True), ["a pair (value, aux)"])])
def test_structures_are_told_as_they_are_written(call, words):
    message = refused(call)
    assert all(each in message for each in [*words, "do: "]) and "Structure" not in message.split("\n")[0], message


@pytest.mark.parametrize("axes", ["in_axes", "out_axes"])
@pytest.mark.parametrize("given", [3, -4, "a", 1.5, ["a"]])
def test_axes_of_vmap(axes, given):
    message = refused(lambda: fad.vmap(lambda x: x, **{axes: given})(X), ArgumentError)
    assert "axis" in message or axes in message


class Foreign:
    """An array of another library's, as far as fad looks at one."""

    dtype, shape, ndim = X.dtype, X.shape, 1

    def __array__(self, *args, **kwargs):
        return X.copy()


@pytest.mark.parametrize("package, remedy",
                         [("torch", "detach().numpy()"), ("pandas", ".to_numpy()"), ("xarray", ".to_numpy()"),
                          ("polars", ".to_numpy()"),
                                             ("jax", "np.asarray(x)"), ("tensorflow", ".numpy()")])
def test_arrays_of_other_libraries(package, remedy):
    other = type("Array", (Foreign,), {"__module__": f"{package}.core"})()
    for call in (lambda: fad.grad(np.sum)(other), lambda: fad.jvp(np.sum, (other,), (other,)),
                 lambda: fad.grad(lambda p: np.sum(p["w"] * p["d"]))({"w": X, "d": other})):
        assert remedy in refused(call, IntegerArgumentError)
    assert remedy in refused(lambda: fad.grad(lambda w: np.sum(w * other))(X), ConcreteValueError)
    assert remedy in refused(lambda: fad.vmap(np.sum)(other), ArgumentError)


@pytest.mark.parametrize("make",
                         ["pandas.Series", "pandas.DataFrame", "xarray.DataArray", "torch.tensor", "polars.Series"])
def test_such_libraries_themselves(make):
    package, _, name = make.partition(".")
    library = pytest.importorskip(package, reason="the law above has a stand-in for it")
    other = getattr(library, name)([[1.0], [2.0], [3.0]] if name == "DataFrame" else [1.0, 2.0, 3.0])
    assert "numpy()" in refused(lambda: fad.grad(np.sum)(other), IntegerArgumentError)
    assert "numpy()" in refused(lambda: fad.grad(lambda w: np.sum(w * other))(X))


NAMESPACES = {"gradd": (fad, "grad"), "sinn": (fad.numpy, "sin"), "invv": (fad.linalg, "inv"), "fftt": (fad.fft, "fft"),
              "gammma": (fad.special, "gamma"),
              "jacobain": (fad.functional, "jacobian"), "Linearr": (fad.nn, "Linear"),
              "sofmax": (fad.nn.functional, "softmax"), "SDG": (fad.optim, "SGD"),
              "bakward": (fad.autograd, "backward"), "requires_grd": (fad.ones(2), "requires_grad")}


@pytest.mark.parametrize("wrong", NAMESPACES)
def test_misspelt_names(wrong):
    home, right = NAMESPACES[wrong]
    with pytest.raises(AttributeError, match=f"no attribute '{wrong}'. Did you mean: '{right}'"):
        getattr(home, wrong)
    assert not hasattr(home, wrong)


def test_a_suggestion_stands_once_in_a_traceback():
    import traceback
    try:
        fad.gradd                                             # noqa: B018
    except AttributeError as error:
        assert "".join(traceback.format_exception(error)).count("Did you mean") == 1


def test_settings_are_listed():
    with pytest.raises(AttributeError, match="no setting 'compil'; there are compile,"):
        fad.config.compil                                     # noqa: B018


def test_calls_are_told_by_the_functions_own_name():
    assert "<lambda>(x) was called as (_, _)" in refused(lambda: fad.grad(lambda x: np.sum(x))(X, X), ArgumentError)


# -- values of one element -------------------------------------------------------------------------


@pytest.mark.parametrize("f",
                         [lambda x: np.sum(x ** 3, keepdims=True), lambda x: np.sum(x ** 3).reshape(1, 1),
                          lambda x: (x ** 3).reshape(1, -1) @ np.ones((3, 1)),
                               lambda x: (np.cumsum(x ** 3))[-1:], lambda x: np.array([np.sum(x ** 3)])], ids=range(5))
@pytest.mark.parametrize("compile", ["now", "never"])
def test_a_value_of_one_element_is_a_scalar(f, compile):
    with fad.config.using(compile=compile):
        np.testing.assert_allclose(fad.grad(f)(X), 3 * X ** 2)
        value, g = fad.value_and_grad(f)(X)
        assert value.shape == f(X).shape and value.size == 1
        np.testing.assert_allclose(g, 3 * X ** 2)
        np.testing.assert_allclose(fad.hessian(f)(X), np.diag(6 * X))
        np.testing.assert_allclose(fad.hvp(f, X, X), 6 * X ** 2)


def test_a_size_of_one_by_chance_is_guarded():
    def tail(x):
        return x[2:] * 2.0
    gradient = fad.grad(tail)
    np.testing.assert_allclose(gradient(X), [0.0, 0.0, 2.0])
    with pytest.raises(NotScalarError):
        gradient(np.ones(4))


def test_is_integer():
    def f(v):
        return v * 2.0 if v.is_integer() else v
    assert [float(fad.grad(f)(x)) for x in (1.5, 2.0, np.inf)] == [1.0, 2.0, 1.0]


# -- float16 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("compile", ["now", "never"])
@pytest.mark.filterwarnings("ignore:.*interpreted, not compiled.*float16")
def test_half_precision_is_interpreted(compile):
    x = X.astype(np.float16)
    with fad.config.using(compile=compile):
        for f in (lambda x: np.sum(np.sin(x) * x), lambda x: x @ x, lambda x: np.sum(np.exp(x)[1:]),
                  lambda x: np.mean(x ** 2)):
            assert fad.jit(f)(x).dtype == np.float16
            g = fad.grad(f)(x)
            assert g.dtype == np.float16
            np.testing.assert_allclose(g, fad.grad(f)(X), rtol=1e-2)


