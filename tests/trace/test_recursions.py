"""Functions that call themselves where data decide whether they do: both ways of each condition are traced, and that
has an end after a few levels, whatever stands around the call."""
import numpy as np
import pytest

import fad
from fad.trace.regions.recursion import Branches
from fad.util.errors import UnstageableError

from ..transforms.support import differences

POINT = np.array([1.3, 2.2, 2.5])


def counted(monkeypatch):
    """A list of the conditions entered: the trace adds one entry for each."""
    met, entered = [], Branches.entered
    monkeypatch.setattr(Branches, "entered", lambda self, code: met.append(code) or entered(self, code))
    return met


def a_branch(x):
    return a_branch(x - 1.0) if x[0] > 1.0 else np.sum(x ** 2)


def two_functions(x):
    return other(x - 1.0) if x[0] > 0.5 else np.sum(x ** 2)


def other(x):
    return two_functions(x * 0.5) if x[1] > 0.5 else x[0] * x[2]


def a_handler(x):
    try:
        if x[0] > 1.0:
            raise ValueError("large")
        return np.sum(x ** 2)
    except ValueError:
        return a_handler(x * 0.5)


def a_handler_of_a_line(x):
    try:
        return np.sum(np.log(np.linalg.cholesky(np.array([[x[0], 2.0], [2.0, x[1]]]))[1, 1]))
    except np.linalg.LinAlgError:
        return a_handler_of_a_line(x + 1.0)


def a_handler_of_all_errors(x):
    try:
        assert x[0] < 1.0
        return x[1] / x[2]
    except Exception:
        return a_handler_of_all_errors(x * 0.5)


def handlers_of_two_functions(x):
    try:
        return quotient(x)
    except ZeroDivisionError:
        return handlers_of_two_functions(x + 1.0)


def quotient(x):
    try:
        if x[0] < 2.0:
            raise ZeroDivisionError
        return x[1] / x[0]
    except ArithmeticError:
        return handlers_of_two_functions(x + 0.5)


def a_handler_in_a_loop(x):
    for k in range(3):
        try:
            if x[k] > 2.0:
                raise ValueError
        except ValueError:
            return a_handler_in_a_loop(x * 0.5)
    return np.sum(x ** 2)


def a_loop_in_a_handler(x):
    total = 0.0
    for k in range(3):
        try:
            if x[k] > 2.0:
                raise ValueError
            total += x[k] ** 2
        except ValueError:
            total += a_loop_in_a_handler(x * 0.5)
    return total


def two_calls(x):
    return x[0] * x[1] if x[0] < 0.1 else two_calls(x * 0.5) + two_calls(x * 0.25)


FUNCTIONS = [a_branch, two_functions, a_handler, a_handler_of_a_line, a_handler_of_all_errors,
             handlers_of_two_functions, a_handler_in_a_loop, a_loop_in_a_handler, two_calls]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_a_recursion_that_data_end_is_traced_to_a_few_levels(f, monkeypatch):
    met = counted(monkeypatch)
    with pytest.raises(UnstageableError, match="calls itself under a condition"):
        fad.grad(f, fallback=False)(POINT)
    assert 8 <= len(met) <= 300


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("f", FUNCTIONS)
def test_its_derivative_is_pythons(f):
    np.testing.assert_allclose(fad.grad(f)(POINT), differences(f, POINT), rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("error::fad.FallbackWarning")
def test_a_recursion_of_a_known_number_of_levels_is_a_program():
    def power(x, n):
        try:
            if x[0] > 100.0 + n:
                raise ValueError
            return x[0] if n == 0 else x[1] * power(x, n - 1)
        except ValueError:
            return 0.0
    np.testing.assert_allclose(fad.grad(lambda x: power(x, 3))(POINT), [2.2 ** 3, 3 * 1.3 * 2.2 ** 2, 0.0])
