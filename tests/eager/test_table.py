"""Every op of the table on tensors: gradcheck (reverse and forward mode) and gradgradcheck, real and complex."""
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import NoDerivativeError

from ..laws.cases import OPS, Case, cases, differentiable
from ..turns import in_turn

# BLAS adds up in an order that depends on where in memory its arrays lie
NOISE = 1e-12
NAMES = [name for name, op in OPS.items()
         if differentiable(op) and op.kind != "control" and not op.facts.get("hermitian")]


def as_function(case: Case):
    def f(*xs):
        return tuple([y for y in case.at(*xs) if isinstance(y, fad.Tensor) and y.dtype.kind in "fc"])
    return f


def leaves(case: Case) -> tuple:
    return tuple([fad.tensor(np.array(x), requires_grad=True) for x in case.point])


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_gradcheck(name):
    for case in cases(OPS[name])[:2] + cases(OPS[name], complex)[:2]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            assert fad.autograd.gradcheck(as_function(case), leaves(case), rtol=1e-4, atol=1e-5, nondet_tol=NOISE,
                                          fast_mode=True)
            try:
                assert fad.autograd.gradgradcheck(as_function(case), leaves(case), rtol=1e-3, atol=1e-4,
                                                  nondet_tol=NOISE, fast_mode=True)
            # a first derivative that is itself a function without a rule
            except NoDerivativeError:
                continue


@pytest.mark.parametrize("name", in_turn(NAMES, 1))
def test_forward_mode(name):
    for case in cases(OPS[name])[:2]:
        assert fad.autograd.gradcheck(as_function(case), leaves(case), rtol=1e-4, atol=1e-5, nondet_tol=NOISE,
                                      fast_mode=True, check_forward_ad=True,
                                      check_backward_ad=False)


@pytest.mark.parametrize("name", NAMES)
def test_saved_tensors_are_shared(name):
    """What a node saves is the memory of its arguments and results (and the factors it works with), never a copy."""
    factors = len(OPS[name].facts.get("means", ()))
    for case in cases(OPS[name])[:1] + cases(OPS[name], complex)[:1]:
        xs = leaves(case)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            ys = case.at(*xs)
        known = {t.data_ptr() for t in (*xs, *ys)} | {a.ctypes.data for a in case.args if isinstance(a, np.ndarray)}
        nodes = {y.grad_fn for y in ys if y.grad_fn is not None}
        for node in nodes:
            if not any(after is not None and not after.name().endswith("AccumulateGrad")
                       for after, _ in node.next_functions):
                assert len({t.data_ptr() for t in saved(node)} - known) <= factors


def saved(node) -> list:
    """The tensors that a node has saved."""
    found = [getattr(node, attribute, None) for attribute in dir(node) if attribute.startswith("_saved_")]
    return [t for t in found if isinstance(t, fad.Tensor)]


HERMITIAN = [name for name, op in OPS.items() if differentiable(op) and op.facts.get("hermitian")]


@pytest.mark.parametrize("name", HERMITIAN)
def test_gradcheck_of_hermitian_matrices(name):
    """Ops that read one triangle, as functions of a matrix that is made Hermitian first; of eigenvectors, what their
    phase leaves alone."""
    for case in cases(OPS[name])[:2] + cases(OPS[name], complex)[:2]:
        def f(x, case=case):
            ys = [y for y in case.at((x + x.mH) / 2) if y.dtype.kind in "fc"]
            return tuple([y.abs() if name == "eigh" else y for y in ys])
        x, = leaves(case)
        assert fad.autograd.gradcheck(f, (x,), rtol=1e-4, atol=1e-5, check_forward_ad=True)
        assert fad.autograd.gradgradcheck(f, (x,), rtol=1e-3, atol=1e-4)


def test_ufuncs_take_where_and_out():
    x = fad.tensor([0.2, 0.7, 0.9], requires_grad=True)
    np.log(x, where=np.array([False, True, True]), out=fad.ones(3)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.0, 1 / 0.7, 1 / 0.9])
    y = np.add(x, 1.0, where=fad.tensor([True, False, True]), dtype=float)
    np.testing.assert_allclose(y.detach().numpy(), [1.2, 0.0, 1.9])
