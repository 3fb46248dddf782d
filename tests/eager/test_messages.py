"""What is said when something is asked for that cannot be: the classes and the words users match on."""
from types import FunctionType

import numpy as np
import pytest

import fad
from fad.autograd import Function, grad

from .support import leaf


def hooked(hook, on="tensor"):
    """Backward through a step that has this hook."""
    y = leaf(1, 2) * 1
    {"tensor": y.register_hook, "node": y.grad_fn.register_hook, "pre": y.grad_fn.register_prehook}[on](hook)
    y.sum().backward()


def through(backward, forward=lambda ctx, x: x * 2):
    """Backward through a Function."""
    cls = type("Own", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})
    cls.apply(leaf(1, 2)).sum().backward()


CASES = {
    "hook gives a number": (lambda: hooked(lambda g: 1), TypeError, "expected Variable, but hook returned 'int'"),
    "hook gives another dtype": (lambda: hooked(lambda g: g.float()), RuntimeError,
                                 r"changed the type of value \(was torch.DoubleTensor got torch.FloatTensor\)"),
    "node's hook gives no tuple": (lambda: hooked(lambda gx, g: 1, "node"), TypeError,
                                   "expected tuple, but hook returned 'int'"),
    "node's hook gives too few": (lambda: hooked(lambda gx, g: (), "node"), RuntimeError,
                                  "returned an incorrect number of values .got 0, but expected"),
    "node's hook makes a gradient of none": (lambda: hooked(lambda gx, g: (gx[0], gx[0]), "node"), RuntimeError,
                                             "can't replace a None gradient"),
    "prehook gives a tensor": (lambda: hooked(lambda g: g[0], "pre"), TypeError,
                               "expected tuple, but hook returned 'Tensor'"),
    "prehook gives too many": (lambda: hooked(lambda g: (g[0], g[0]), "pre"), RuntimeError,
                               r"incorrect number of values \(got 2, but expected 1\)"),
    "an input is no tensor": (lambda: grad(leaf(1).sum(), "x"), RuntimeError,
                              "all inputs have to be Tensors or GradientEdges, but got str"),
    "an input is unused": (lambda: grad((x := leaf(1)).sum(), (x, leaf(2))), RuntimeError,
                           "The differentiated Tensor at index 1 appears to not have been used"),
    "backward into what needs no gradient": (lambda: leaf(1).sum().backward(inputs=[fad.ones(2)]), RuntimeError,
                                             "can't retain_grad on Tensor"),
    "requires_grad of a result": (lambda: setattr(leaf(1) * 1, "requires_grad", True), RuntimeError,
                                  "only change requires_grad flags of leaf variables"),
    "a mode that is no bool": (lambda: fad.set_grad_enabled("no"), TypeError,
                               "argument 'enabled' .position 1. must be bool, not str"),
    "hooks that cannot be called": (lambda: fad.autograd.graph.saved_tensors_hooks(1, 2), TypeError,
                                    "incompatible function arguments"),
    "backward of a Function gives a number": (lambda: through(lambda ctx, g: 1), RuntimeError,
                                              "expected Variable or None .got int"),
    "what is not differentiable is no tensor": (
        lambda: through(lambda ctx, g: g, lambda ctx, x: ctx.mark_non_differentiable(1)), RuntimeError,
        "mark_non_differentiable only accepts variable arguments"),
    "vectors of two lengths": (lambda: fad.ones(2).dot(fad.ones(3)), RuntimeError,
                               "shapes cannot be multiplied .2 and 3."),
    "copying what does not fit": (lambda: fad.ones(2).copy_(fad.ones(3)), RuntimeError,
                                  "The size of tensor a .2. must match the size of tensor b .3."),
    "too many indices": (lambda: fad.ones(2)[0, 0], IndexError, "too many indices for tensor of dimension 1"),
    "an index of a number": (lambda: fad.tensor(1.0)[0], IndexError, "invalid index of a 0-dim tensor"),
}


@pytest.mark.parametrize("case", CASES)
def test_message(case):
    ask, kind, words = CASES[case]
    with pytest.raises(kind, match=words):
        ask()


def test_a_list_is_no_tuple_of_results():
    class Listed(Function):
        @staticmethod
        def forward(ctx, x):
            return [x * 2, x * 3]
    first, second = Listed.apply(leaf(1))
    assert not first.requires_grad and not second.requires_grad


def test_results_need_not_be_tensors():
    class Sized(Function):
        @staticmethod
        def forward(ctx, x):
            return x.numel()
    assert Sized.apply(leaf(1, 2)) == 2


def test_requires_grad_again_is_allowed_as_a_method():
    y = leaf(1) * 1
    assert y.requires_grad_() is y


def test_what_a_step_did_along_which_dimension():
    x = leaf(1, 2)
    assert fad.cat([x, x]).grad_fn._saved_dim == 0 and x.exp().sum(0).grad_fn.name() == "SumBackward1"
    assert x[None].grad_fn.name() == "UnsqueezeBackward0" and x[0].grad_fn.name() == "SelectBackward0"


def test_views_are_told_by_the_step_that_made_them():
    class Turned(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(2, 1)

        @staticmethod
        def backward(ctx, g):
            return g.view(2)
    with pytest.raises(RuntimeError, match="Output 0 of Turned is a view and is being modified inplace"):
        Turned.apply(leaf(1, 2)).add_(1)
    with pytest.raises(RuntimeError, match="Output 1 of Unbind is a view and is being modified inplace"):
        leaf(1, 2).clone().unbind()[1].add_(1)


MATRICES = "det slogdet logdet inverse cholesky matrix_exp".split()


@pytest.mark.parametrize("name", MATRICES)
def test_what_is_no_matrix_is_refused_in_pytorchs_words(name):
    for f in (getattr(fad, name), getattr(fad.Tensor, name)):
        with pytest.raises(RuntimeError, match="must have at least 2 dimensions"):
            f(fad.ones(3))
        with pytest.raises(RuntimeError, match="A must be batches of square matrices, but they are 3 by 2 matrices"):
            f(fad.ones(3, 2))


def test_least_squares_of_tensors():
    a, b = fad.arange(6.0).reshape(3, 2), fad.eye(3)
    found = fad.linalg.lstsq(a, b)
    np.testing.assert_allclose(found.residuals.numpy(), np.linalg.lstsq(a.numpy(), b.numpy())[1])
    assert found.rank.item() == 2 and found.rank.dtype == fad.int64
    assert not fad.linalg.lstsq(fad.ones(3, 2), b).residuals.numel()


def functions():
    """Every function of tensors and every method, by its name."""
    import fad.eager.api as api
    yield from ((f"fad.{name}", f) for name, f in api.FUNCTIONS.items())
    for home in (fad.nn.functional, fad.linalg, fad.special, fad.fft, fad.autograd, fad.functional):
        yield from ((f"{home.__name__}.{name}", getattr(home, name)) for name in dir(home) if not name.startswith("_"))
    for cls in fad.Tensor.__mro__[:-1]:
        yield from ((f"Tensor.{name}", f) for name, f in vars(cls).items())


def test_python_names_a_function_by_its_public_name():
    found = [(name, f.__qualname__) for name, f in functions() if isinstance(f, FunctionType)]
    assert len(found) > 1500
    assert not [(name, told) for name, told in found
                if "<" in told or told.startswith("_") and not name.rpartition(".")[2].startswith("_")]


@pytest.mark.parametrize("call, words", [
    (lambda: fad.sin(), "sin.. missing 1 required positional argument"),
    (lambda: leaf(1).add(), "add.. missing 1 required"),
    (lambda: fad.sin(leaf(1), leaf(1)), "sin.. takes 1 positional argument"),
    (lambda: fad.sin("a"), "expected Tensor, number or array of numbers, but got str"),
    (lambda: fad.exp(None), "expected Tensor, number or array of numbers, but got NoneType"),
    (lambda: fad.matmul(leaf(1), "a"), "but got str"),
    (lambda: leaf(1).sum("a"), "argument 'dim' must be int or tuple of ints, not str"),
    (lambda: leaf(1).sum(foo=1), "sum.. got an unexpected keyword argument"),
    (lambda: fad.no_grad(3), "__init__.. takes 1 positional argument")])
def test_what_no_function_of_tensors_takes(call, words):
    with pytest.raises(TypeError, match=words):
        call()
