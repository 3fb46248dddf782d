"""autograd.functional on tensors: structures, create_graph, strict; on arrays it is the functional API of programs."""
import numpy as np
import pytest

import fad

from .support import close, leaf

functional = fad.autograd.functional
X, Y = fad.tensor([1.0, 2.0]), fad.tensor([3.0, 4.0])


def cubes(x):
    return (x ** 3).sum()


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_hessian_of_one_input(strategy):
    close(functional.hessian(cubes, X, vectorize=True, outer_jacobian_strategy=strategy), [[6, 0], [0, 12]])


def test_structures():
    blocks = functional.jacobian(lambda a, b: (a * b, (a ** 2).sum()), (X, Y))
    close(blocks[0][0], np.diag([3, 4])), close(blocks[1][0], [2, 4]), close(blocks[1][1], [0, 0])
    h = functional.hessian(lambda a, b: (a * b * b).sum(), (X, Y))
    close(h[0][1], np.diag([6, 8])), close(h[1][1], np.diag([2, 4]))
    y, g = functional.vjp(lambda a: a ** 2, X, fad.ones(2))
    close(y, [1, 4]), close(g, [2, 4])
    y, d = functional.jvp(lambda a: a ** 2, X, fad.ones(2))
    close(d, [2, 4])
    close(functional.vhp(cubes, X, X)[1], [6, 24]), close(functional.hvp(cubes, X, X)[1], [6, 24])


def test_create_graph():
    x = leaf(1, 2)
    functional.jacobian(lambda a: a ** 3, x, create_graph=True).sum().backward()
    close(x.grad, [6, 12])


def test_strict():
    with pytest.raises(RuntimeError, match="does not require gradients"):
        functional.jacobian(lambda a: fad.ones(2), X, strict=True)
    with pytest.raises(RuntimeError, match="is independent of the input"):
        functional.hessian(lambda a: a.sum(), X, strict=True)
    with pytest.raises(RuntimeError, match="single Tensor with a single element"):
        functional.vjp(lambda a: a, X)
    with pytest.raises(RuntimeError, match="should contain a single element"):
        functional.hessian(lambda a: a, X)


def test_arrays_give_arrays():
    h = functional.hessian(lambda x: np.sum(x ** 3), np.array([1.0, 2.0]))
    assert isinstance(h, np.ndarray)
    close(h, [[6, 0], [0, 12]])


@pytest.mark.parametrize("name", ["hvp", "vhp"])
def test_the_value_beside_a_product_has_the_shape_that_the_function_gave_it(name):
    y, g = getattr(functional, name)(lambda x: (x ** 3).sum(0, keepdim=True), X, Y)
    assert y.shape == (1,)
    close(g, [18, 48])


def test_a_vectorized_jacobian_is_of_complex_outputs_too():
    z = fad.tensor([1 + 2j, 0.5 - 1j])
    close(functional.jacobian(lambda z: z * z, z, vectorize=True), np.diag(2 * z.numpy().conj()))
    with pytest.raises(RuntimeError, match="real scalar outputs"):
        functional.jacobian(lambda z: z * z, z)


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_inputs_and_outputs_without_elements(strategy):
    nothing = fad.tensor([])
    for f, x, shape in ((lambda x: x.sum(), nothing, (0,)), (lambda x: x[:0], X, (0, 2)),
                        (lambda x: x.sum() + X, nothing, (2, 0))):
        assert functional.jacobian(f, x, vectorize=True, strategy=strategy).shape == shape
    assert functional.hessian(lambda x: x.sum(), nothing, outer_jacobian_strategy=strategy).shape == (0, 0)


REFUSED = {
    "a constant output": (lambda x: functional.vjp(lambda x: fad.ones(2), x, fad.ones(2), strict=True),
                          RuntimeError, "Output 0 of the user-provided function does not require gradients"),
    "an output of other tensors": (lambda x: functional.vjp(lambda x: leaf(1.0) * 2, x, strict=True),
                                   RuntimeError, "output of the user-provided function is independent of input 0"),
    "a slope that is constant": (lambda x: functional.hessian(lambda x: x.sum(), x, strict=True),
                                 RuntimeError, "jacobian of the user-provided function with respect to input 0 is"),
    "a vector of another shape": (lambda x: functional.vjp(lambda x: x, x, fad.ones(3)), RuntimeError,
                                  "v has invalid size"),
    "too many vectors": (lambda x: functional.jvp(lambda x: x, x, (fad.ones(2), fad.ones(2))), RuntimeError,
                         "v should contain a single Tensor"),
    "no vector": (lambda x: functional.jvp(lambda x: x, x), RuntimeError, "v can only be None if the input"),
    "several outputs": (lambda x: functional.hessian(lambda x: (cubes(x), cubes(x)), x), RuntimeError,
                        "should return a single Tensor"),
    "an output that is no tensor": (lambda x: functional.vjp(lambda x: 1.0, x), TypeError, "has type <class 'float'>"),
    "a strategy": (lambda x: functional.jacobian(cubes, x, strategy="x"), AssertionError, "Expected strategy"),
    "forward and strict": (lambda x: functional.jacobian(cubes, x, strict=True, strategy="forward-mode"), RuntimeError,
                           "not supported together"),
    "vectorized and strict": (lambda x: functional.jacobian(cubes, x, strict=True, vectorize=True), RuntimeError,
                              "not supported together")}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words):
        call(leaf(1.0, 2.0))
