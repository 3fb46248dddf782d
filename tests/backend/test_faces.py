"""Every sample expression of every face, and its reverse mode: the generated text as Python agrees with the interpreter."""
import numpy as np
import pytest

from fad.backend.steps import BackendError
from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp
from tests.laws.test_faces import SAMPLES, function_of

from .support import check

COMPILED = SAMPLES[::80]


def agree(func, args, guards, jit):
    try:
        check(optimise(func), args, guards, jit)
    except BackendError as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("expression", SAMPLES)
def test_value(expression):
    f, xs = function_of(expression)
    traced = trace(f, list(xs))
    agree(traced.func, [*xs, *traced.captured], traced.guards, expression in COMPILED)


@pytest.mark.parametrize("expression", SAMPLES)
def test_reverse(expression):
    f, xs = function_of(expression)
    traced = trace(f, list(xs))
    args = [*xs, *traced.captured]
    with np.errstate(all="ignore"):
        ys = evaluate(traced.func, args)
    rng = np.random.default_rng(3)
    gs = [rng.standard_normal(np.shape(y)).astype(a.type.dtype)[()] for a, y in zip(traced.func.outputs, ys) if a.type.dtype.kind in "fc"]
    agree(vjp(traced.func, tuple(range(len(xs)))), args + gs, traced.guards, expression in COMPILED)
