"""fad.functional: torch.autograd.functional's structures and errors, on ndarrays."""
import numpy as np
import pytest

import fad
from fad import functional as F

close = np.testing.assert_allclose
a, b = np.arange(1.0, 4.0), np.ones(2)


def two(a, b):
    return np.sum(a) * b, a ** 2


def test_structures_follow_inputs_and_outputs():
    (ya, yb), (za, zb) = F.jacobian(two, (a, b))
    assert [m.shape for m in (ya, yb, za, zb)] == [(2, 3), (2, 2), (3, 3), (3, 2)]
    assert F.jacobian(lambda a: a ** 2, a).shape == (3, 3)
    (row,) = F.jacobian(lambda a: a ** 2, (a,))
    assert row.shape == (3, 3)
    assert isinstance(F.jacobian(lambda a: (a,), a), tuple)
    close(F.jacobian(two, (a, b), strategy="forward-mode", vectorize=True)[1][0], za)


def test_strict_and_other_errors():
    with pytest.raises(RuntimeError, match="independent of input 1"):
        F.jacobian(two, (a, b), strict=True)
    with pytest.raises(RuntimeError):
        F.jacobian(two, (a, b), strict=True, strategy="forward-mode")
    with pytest.raises(ValueError):
        F.jacobian(two, (a, b), strategy="sideways")
    with pytest.raises(RuntimeError, match="single element"):
        F.hessian(lambda a: a * 2, a)
    with pytest.raises(RuntimeError):
        F.hessian(lambda a: np.sum(a), a, strict=True)          # the gradient does not depend on a
    with pytest.raises(RuntimeError, match="can only be None"):
        F.vjp(lambda a: a ** 2, a)
    with pytest.raises(RuntimeError, match="invalid size"):
        F.vjp(lambda a: a ** 2, a, np.ones(7))
    with pytest.raises(RuntimeError, match="invalid length"):
        F.jvp(two, (a, b), (a,))
    with pytest.raises(TypeError):
        F.jacobian(lambda a: "text", a)


def test_products():
    value, g = F.vjp(two, (a, b), (np.ones(2), np.zeros(3)))
    close(value[0], 6 * b), close(g[0], 2), close(g[1], 6)
    value, h = F.hvp(lambda a: np.sum(a ** 3), a, np.ones(3))
    close(value, np.sum(a ** 3)), close(h, 6 * a)
    value, h = F.vhp(lambda a, b: np.sum(a) ** 2 * np.sum(b ** 2), (a, b), (a, b))
    close(h[0], 2 * 2 * 14 ** 0 * np.sum(a) * np.ones(3) + 2 * 6 * 4 * np.ones(3))
    value, t = F.jvp(lambda a: a[:1], np.array([2.0]))
    close(t, 1)


def test_single_element_arrays_count_as_scalars():
    close(F.hessian(lambda a: np.sum(a ** 2, keepdims=True), a), 2 * np.eye(3))
    close(F.vjp(lambda a: np.sum(a ** 2, keepdims=True), a)[1], 2 * a)


def on_the_tape(x):
    """A function that no program can be made of: a number becomes text on its way."""
    return float(str(float(fad.stop_gradient(x)[0]))) * x * x


def scalar_on_the_tape(x):
    return np.sum(on_the_tape(x) ** 2)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_functions_that_run_on_the_tape(strategy):
    x, v = np.array([2.0, 3.0]), np.array([1.0, -1.0])
    close(F.jacobian(on_the_tape, x, strategy=strategy), np.diag(4 * x))
    assert [type(part) for part in F.jacobian(lambda x: (on_the_tape(x),), x, strategy=strategy)] == [np.ndarray]
    matrix = np.diag(48 * x ** 2)                                 # the sum of (2 x²)²
    close(F.hessian(scalar_on_the_tape, x), matrix)
    for product in (F.vhp, F.hvp):
        close(product(scalar_on_the_tape, x, v)[1], matrix @ v)
    for product in (F.vjp, F.jvp):
        close(product(on_the_tape, x, v)[1], 4 * x * v)
    with pytest.raises(RuntimeError, match="single element"):
        F.hessian(on_the_tape, x)
    with pytest.raises(RuntimeError, match="single array"):
        F.hessian(lambda x: (scalar_on_the_tape(x), x), x)


def test_functions_that_may_not_run_on_the_tape_say_so():
    with fad.config.using(fallback=False), pytest.raises(fad.FadError, match="a text was made"):
        F.jacobian(on_the_tape, np.array([2.0, 3.0]))
