"""A new op is one record: the laws, the transforms, the printed text and compiled code know it from then on."""
import numpy as np
import pytest

import fad
from fad.ir.op import registry
from fad.ops.kinds import Partials
from fad.ops.pointwise import composed, infer_elementwise
from fad.ops.transcendental import expm1
from tests.laws import test_ops as laws
from tests.laws.cases import OPS


@pytest.fixture
def log1mexp(monkeypatch):
    """log(1 - exp(-x)) for positive x: a record such as one would add to fad/ops."""
    made = composed("log1mexp", lambda x: np.log(-np.expm1(-x)), infer_elementwise(np.exp), "log(-expm1(-{0}))",
                    Partials(lambda y, x: 1.0 / expm1(x)), (0.2, 2.0), arity=1, doc="log(1 - exp(-x))")
    monkeypatch.setitem(OPS, made.name, made)
    yield made
    del registry[made.name]


@pytest.mark.parametrize("law", [laws.test_forward_agrees_with_differences, laws.test_reverse_is_the_adjoint_of_forward,
                                 laws.test_second_order, laws.test_the_program_is_the_op])
def test_the_laws_take_it(log1mexp, law):
    law(log1mexp.name)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_transforms_and_compiled_code_take_it(log1mexp, compile):
    x = np.linspace(0.3, 2.0, 5)
    g = fad.grad(lambda x: np.sum(log1mexp(x) * x))
    want = np.log(-np.expm1(-x)) + x / np.expm1(x)
    np.testing.assert_allclose(g(x), want, rtol=1e-12)
    np.testing.assert_allclose(fad.jit(g, compile=compile)(x), want, rtol=1e-12)
    np.testing.assert_allclose(fad.vmap(fad.grad(log1mexp))(x), 1.0 / np.expm1(x), rtol=1e-12)
    hessian = fad.hessian(lambda x: np.sum(log1mexp(x)))(x)
    np.testing.assert_allclose(hessian, np.diag(-np.exp(x) / np.expm1(x) ** 2), rtol=1e-12, atol=1e-15)
