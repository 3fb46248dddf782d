"""The laws, over the whole table of ops: no formula is written here, only what every derivative has to satisfy."""
import copy

import numpy as np
import pytest

from fad.ops.kinds import NotDifferentiable
from fad.util.errors import NoDerivativeError

from ..turns import in_turn
from .cases import OPS, calls, differentiable, direction, directions, disagreement, results, rng_for
from .programs import called, differentiated, floating, inner

DIFFERENTIABLE = [name for name, op in OPS.items() if differentiable(op)]


def complex_or_real(name) -> list:
    """Cases of an op in float64, and in complex128 where it has them, with their programs."""
    return differentiated(name) + ([] if OPS[name].samples else differentiated(name, complex))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_forward_agrees_with_differences(name):
    for case, traced in complex_or_real(name):
        rng = rng_for(name)
        xs, dxs = case.point, directions(case, rng)
        said = disagreement(traced.forward(xs, dxs), case.at, xs, dxs)
        assert not said, said


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_reverse_is_the_adjoint_of_forward(name):
    for case, traced in complex_or_real(name):
        rng = rng_for(name)
        xs, dxs = case.point, directions(case, rng)
        dys = traced.forward(xs, dxs)
        gs = tuple([direction(dy, rng) for dy in dys])
        gxs = traced.reverse(xs, gs)
        assert [np.shape(g) for g in gxs] == [np.shape(x) for x in xs]
        np.testing.assert_allclose(inner(gs, dys), inner(gxs, dxs), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", in_turn(DIFFERENTIABLE))
def test_second_order(name):
    """Forward over reverse against differences of reverse, and reverse over reverse as its adjoint."""
    for case, outer in complex_or_real(name):
        rng = rng_for(name)
        gs = tuple([direction(y, rng) for y in floating(outer.value(*case.point))])
        first, xs, count = outer.pullback(), (*case.point, *gs), len(gs)
        dxs = (*directions(case, rng), *[np.zeros_like(g) for g in gs])
        try:
            got = first.forward(xs, dxs)
        except NoDerivativeError:                        # a first derivative that is itself a function without a rule
            continue
        said = disagreement(got, first.value, xs, dxs)
        assert not said, said
        ggs = tuple([direction(dy, rng) for dy in got])
        back = first.reverse(xs, ggs)
        np.testing.assert_allclose(inner(ggs, got), inner(back[:-count], dxs[:-count]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if calls(op)])
def test_the_program_is_the_op(name):
    """Types that were inferred are those of the results, the interpreted program gives the same, and no input was
    changed."""
    op = OPS[name]
    for case, traced in called(name):
        before = copy.deepcopy(case.args)
        with np.errstate(all="ignore"):
            want = results(op.run(*case.args, **case.params))
        got = traced.value(*case.point)
        for y, w, atom in zip(got, want, traced.func.outputs, strict=True):
            # BLAS's last bits hang on addresses
            noise = 64 * np.finfo(w.dtype).eps if op.kind == "opaque" and np.asarray(w).dtype.kind in "fc" else 0
            np.testing.assert_allclose(y, w, rtol=noise, atol=noise * np.abs(w).max(initial=0.0) if noise else 0)
            assert np.asarray(w).dtype == atom.type.dtype, (name, atom.type, np.asarray(w).dtype)
            assert np.ndim(w) == atom.type.rank
        for a, b in zip(case.args, before):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if not OPS[name].samples])
def test_single_precision_stays_single(name):
    for case, traced in differentiated(name, np.float32):
        rng = rng_for(name)
        xs, dxs = case.point, directions(case, rng)
        ys, dys = floating(traced.value(*xs)), traced.forward(xs, dxs)
        gs = tuple([direction(dy, rng) for dy in dys])
        assert [dy.dtype for dy in dys] == [y.dtype for y in ys]
        assert [g.dtype for g in traced.reverse(xs, gs)] == [np.asarray(x).dtype for x in xs]


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if isinstance(op.derivative, NotDifferentiable)])
def test_no_derivative_raises(name):
    """To ask for a derivative that is not there raises, and says why; it is never zero."""
    op = OPS[name]
    xs = (1.0,) * op.facts.get("arity", 1)
    for ask in (op.derivative.jvp, op.derivative.pullback):
        with pytest.raises(NoDerivativeError):
            ask(op, (1.0,), xs, xs, {}, *([(True,) * len(xs)] if ask == op.derivative.pullback else []))
