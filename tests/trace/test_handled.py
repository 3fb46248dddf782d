"""Errors of arithmetic that the user's code handles: Python's floats and functions raise where NumPy's numbers are
infinite or nan."""
import contextlib
import math
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning

X, ZERO = np.array([2.0, 0.5, 3.0]), np.array([0.0, 0.5, 3.0])


def root(x):
    try:
        return math.sqrt(x[0] - 1.0) * x[1]
    except ValueError:
        return -x[2] * x[2]


def logarithm_in_a_loop(x):
    s = 0.0
    for v in x:
        try:
            s += math.log(v)
        except ValueError:
            s -= 2.0 * x[1]
        else:
            s *= 1.1
    return s


def exponential(x):
    try:
        return math.exp(500.0 * (2.0 - x[0])) + x[1]
    except OverflowError:
        return x[1] * x[2]


def quotient(x):
    a = float(x[0])
    try:
        return float(x[1]) / a
    except ZeroDivisionError:
        return 3.0 * x[1]


def remainder_suppressed(x):
    s = x[1]
    with contextlib.suppress(ArithmeticError):
        s = x[2] * (float(x[1]) % float(x[0]))
    return s


def power_in_a_helper(x):
    def inverse(v):
        return float(v) ** -2

    try:
        return inverse(x[0])
    except Exception:
        return x[2] ** 2


def asked_of_numpy(x):
    with np.errstate(divide="raise"):
        try:
            return x[1] / x[0]
        except FloatingPointError:
            return 5.0 * x[2]


def asked_of_numpy_inside(x):
    try:
        with np.errstate(divide="raise"):
            return x[1] / x[0]
    except Exception:
        return 5.0 * x[2]


def warnings_are_errors(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return x[1] / x[0]
        except RuntimeWarning:
            return 5.0 * x[2]


@pytest.mark.parametrize("f",
                         [root, logarithm_in_a_loop, exponential, quotient, remainder_suppressed, power_in_a_helper,
                          asked_of_numpy,
                               asked_of_numpy_inside, warnings_are_errors],
                         ids=lambda f: f.__name__)
def test_handlers_see_what_pythons_arithmetic_raises(f):
    jitted, gradient = fad.jit(f), fad.grad(f)
    for x in (X, np.array([0.0, 0.5, 3.0]), X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            assert np.isclose(jitted(x), f(x))
            found = gradient(x)
            tangents = [fad.jvp(f, (x,), (d,))[1] for d in np.eye(3)]
        differences = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)[1:]]
        np.testing.assert_allclose(found[1:], differences, atol=1e-8)
        np.testing.assert_allclose(tangents, found)


@pytest.mark.parametrize("kind", [" ValueError", " Exception as error", ""])
def test_handlers_of_functions_without_text_are_seen(kind):
    names = {"math": math}
    # a function as the prompt makes it
    exec(f"def f(x):\n try:\n  return math.log(x[0]) * x[1]\n except{kind}:\n  return 5.0 * x[2]", names)
    f = names["f"]
    with pytest.warns(FallbackWarning, match="handles errors"):
        jitted = fad.jit(f)
        assert [jitted(X), jitted(-X)] == [f(X), f(-X)]
    with pytest.warns(FallbackWarning, match="handles errors"):
        np.testing.assert_array_equal(fad.grad(f)(-X), [0.0, 0.0, 5.0])


def only_of_an_index(x):
    try:
        return math.sqrt(x[0]) / float(x[1])
    except IndexError:
        return x[2]


def halves(x):
    try:
        return float(x[0]) / 2.0
    except ZeroDivisionError:
        return x[2]


@pytest.mark.parametrize("f", [only_of_an_index, halves])
def test_what_handlers_cannot_see_is_staged(f):
    assert np.isclose(fad.jit(f, fallback=False)(X), f(X))


def keyed_by_data(x):
    return {True: 1.0, False: 2.0}[bool(x[1] > 0.2)] * math.sqrt(x[0] - 1.0)


def test_the_tape_raises_as_python_does():
    with pytest.warns(FallbackWarning):
        assert fad.grad(keyed_by_data)(X)[0] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="math domain error"):
        fad.grad(keyed_by_data)(np.zeros(3))
    with pytest.warns(FallbackWarning):                       # NumPy's numbers are infinite
        assert fad.grad(lambda x: {True: 1.0}[bool(x[1] > 0.2)] / x[0])(np.array([0.0, 1.0]))[0] == -np.inf


def integral(x):
    try:
        y = np.trapz(x)
    except AttributeError:                                    # from NumPy 2.0 on
        y = np.trapezoid(x)
    try:
        norm = np.linalg.no_such_function
    except AttributeError:
        norm = np.linalg.norm
    return y + norm(x)


def test_functions_that_a_library_may_lack():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)   # of trapz, where NumPy still has it
        assert fad.jit(integral, fallback=False)(X) == pytest.approx(integral(X))
        np.testing.assert_allclose(fad.grad(integral, fallback=False)(X), [0.5, 1.0, 0.5] + X / np.linalg.norm(X))


def whole_number(x):
    try:
        return int(x[1] / x[0]) * x[2]
    except OverflowError:
        return 2.0 * x[2]


def test_int_of_what_is_infinite_is_handled():
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        np.testing.assert_allclose(fad.grad(whole_number)(np.array([0.0, 0.5, 3.0])), [0.0, 0.0, 2.0])


def recorded(x):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        y = np.log(x[0])
    return 5.0 * x[2] if told else y * x[1]


def recorded_in_a_loop(x):
    s = 0.0
    for k in range(12):
        with contextlib.ExitStack() as managers:
            told = managers.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always")
            y = x[1] / (x[0] + k)
        s += x[2] if len(told) else y
    return s


def recorded_by_hand(x):
    manager = warnings.catch_warnings(record=True)
    told = manager.__enter__()
    warnings.simplefilter("always")
    y = np.log(x[0])
    manager.__exit__(None, None, None)
    return 5.0 * x[2] if told else y * x[1]


def shown_otherwise(x):
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *_, **__: told.append(1)
        y = np.log(x[0])
    return 5.0 * x[2] if told else y * x[1]


def warned_by_the_function(x):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if x[0] > 0:
            warnings.warn("positive", stacklevel=1)
    return 5.0 * x[2] if told else x[1] ** 2


def set_and_put_back(x):
    try:
        before = np.seterr(divide="raise", invalid="raise")
        try:
            y = 1 / np.sqrt(x[0]) * x[1]
        finally:
            np.seterr(**before)
    except ArithmeticError:
        y = 5.0 * x[2]
    return y


def handed_to_a_function(x):
    told = []
    with np.errstate(all="call", call=lambda *_: told.append(1)):
        y = np.log(x[0])
    return 5.0 * x[2] if told else y * x[1]


@pytest.mark.parametrize("f",
                         [recorded, recorded_in_a_loop, recorded_by_hand, shown_otherwise, warned_by_the_function,
                          set_and_put_back, handed_to_a_function],
                         ids=lambda f: f.__name__)
def test_functions_that_ask_to_be_told_are_told(f):
    for xs in ([X, ZERO], [ZERO, X]):
        jitted, gradient = fad.jit(f), fad.grad(f)
        for x in [*xs, *xs]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FallbackWarning)
                assert np.isclose(jitted(x), f(x))
                found = gradient(x)
            differences = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)[1:]]
            np.testing.assert_allclose(found[1:], differences, atol=1e-8)


def raised_by_numpy(x):
    with np.errstate(divide="raise"):
        return np.log(x[0])


def test_what_nobody_handles_is_raised():
    with pytest.warns(FallbackWarning, match="asks to be told"):
        assert fad.jit(raised_by_numpy)(X) == np.log(X[0])
    with pytest.raises(FloatingPointError, match="divide by zero"):
        fad.jit(raised_by_numpy)(ZERO)


@pytest.mark.parametrize("kind", [FloatingPointError, ArithmeticError, Exception, RuntimeWarning])
@pytest.mark.parametrize("tier", ["never", "now"])
def test_handlers_hear_of_arithmetic_where_the_caller_asks_for_it(kind, tier):
    def f(x):
        try:
            return np.sum(x ** 2 / x[0])
        except kind:
            return 5.0 * x[2]

    gradient = fad.grad(f, compile=tier)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)       # nobody asks: a program
        found = gradient(X)
    assert not np.isfinite(gradient(ZERO)).all()
    with warnings.catch_warnings(), np.errstate(all="warn" if kind is RuntimeWarning else "raise"):
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", FallbackWarning)
        np.testing.assert_allclose(gradient(ZERO), [0.0, 0.0, 5.0])
        np.testing.assert_allclose(gradient(X), found)
    assert not np.isfinite(gradient(ZERO)).all()


class Small(ValueError):
    """An error with more than a text."""

    def __init__(self, number):
        super().__init__(f"{number:.2f} is too small")
        self.number = number


@pytest.mark.parametrize("transform", [fad.jit, fad.grad, fad.value_and_grad])
@pytest.mark.parametrize("tier", ["never", "now"])
def test_an_error_of_the_users_class_is_as_python_makes_it(transform, tier):
    def f(x):
        for k in range(len(x)):
            if x[k] < 0.2:
                raise Small(x[k])
        return np.sum(x)
    with warnings.catch_warnings(), fad.config.using(compile=tier):
        warnings.simplefilter("ignore", fad.FallbackWarning)
        g = transform(f)
        for _ in range(2):
            g(np.array([0.5, 0.3]))
            with pytest.raises(Small, match="0.10 is too small") as told:
                g(np.array([0.5, 0.1]))
            assert type(told.value) is Small and float(told.value.number) == 0.1


def bound_by_a_loop(x):
    s = 0.0
    try:
        for v in x:
            s = v * 2.0
        s = {}["absent"]
    except KeyError:
        return s + x[0]


def bound_by_a_branch(x):
    s = 0.0
    try:
        if x[0] > 0.0:
            s = x[1] * 2.0
        s = [][1]
    except IndexError:
        pass
    return s + x[0]


def bound_before_a_manager_takes_the_error(x):
    s = 0.0
    with contextlib.suppress(KeyError):
        for v in x:
            s = s * 0.5 + v
        s = {}["absent"]
    return s


def bound_before_a_finally(x):
    found = [0.0]

    def inner():
        s = x[0]
        try:
            for v in x:
                s = s * v
            s = {}["absent"]
        finally:
            found[0] = s
    try:
        inner()
    except KeyError:
        return found[0]


@pytest.mark.parametrize("f",
                         [bound_by_a_loop, bound_by_a_branch, bound_before_a_manager_takes_the_error,
                          bound_before_a_finally])
def test_a_name_keeps_its_value_where_the_next_binding_fails(f):
    x = np.array([0.8, 0.55, 1.1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        assert fad.jit(f)(x) == pytest.approx(f(x))
        slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(fad.grad(f)(x), slope, rtol=1e-6)


@pytest.mark.parametrize("thing", [1, int])
def test_what_is_raised_is_an_error(thing):
    def f(x):
        if x > 1.0:
            raise thing
        return x * x
    assert fad.jit(f)(0.5) == 0.25
    with pytest.raises(TypeError, match="must derive from BaseException"):
        fad.jit(f)(2.0)


TOLD = []


def _kind(name):
    TOLD.append(name)
    return KeyError


def test_the_classes_of_handlers_are_asked_for_where_python_asks():
    def f(x):
        try:
            if x > 0.5:
                raise KeyError(1)
        except _kind("first"):
            x = x * 3.0
        except _kind("second"):
            x = x * 5.0
        return x
    g = fad.value_and_grad(f, compile="never", fallback=True)
    for x, value, told in [(0.2, 0.2, []), (0.6, 1.8, ["first"]), (0.3, 0.3, [])]:
        TOLD.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            np.testing.assert_allclose(g(x)[0], value)
        assert told == TOLD
