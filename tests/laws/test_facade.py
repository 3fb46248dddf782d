"""The law of the facade: of every function of tensors every floating argument has its derivative, or is refused; none
is silently constant."""
import warnings

import numpy as np
import pytest

import fad
from fad.eager.tensors.tensor import Tensor

from ..turns import in_turn
from .cases import rng_for
from .facade import CONSTANT, REFUSED, TABLES, WITHOUT_NUMBERS, samples_of

REFUSALS = (RuntimeError, TypeError, ValueError, BufferError, fad.FadError)
CALLS = {section: samples_of(section) for section in TABLES}
# memory and nothing else, as NumPy or PyTorch do
SHARING = frozenset("from_dlpack unsafe_split unsafe_split_with_sizes unsafe_chunk matrix_transpose".split())
CASES = [(call, k) for calls in CALLS.values() for call in calls if call.name not in CONSTANT
         for k in range(len(call.point))]
ARRAYS = [(call, k) for call, k in CASES if isinstance(call.point[k], np.ndarray)]


def floating(y) -> list:
    """The floating tensors of a result."""
    if isinstance(y, (tuple, list)):
        return [t for part in y for t in floating(part)]
    return [y] if isinstance(y, Tensor) and y.dtype.kind in "fc" else []


def weighted(ys: list) -> Tensor:
    """A real number that every element of the results has a part in."""
    total = fad.zeros(())
    for y in ys:
        weights = rng_for(str(y.shape)).uniform(0.5, 1.5, (2, *y.shape))
        parts = (y.real, y.imag) if y.dtype.kind == "c" else (y,)
        total = total + sum([(part * fad.tensor(w)).sum() for part, w in zip(parts, weights)])
    return total


def given(value):
    return fad.tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


def number(call, k, value) -> float:
    """The weighted results where argument k is this value."""
    fad.manual_seed(0)
    return weighted(floating(call.at(*[given(value if n == k else x) for n, x in enumerate(call.point)]))).item()


def slopes(call, k, direction) -> list:
    """Central differences along a direction, at three steps."""
    x = call.point[k]
    return [(number(call, k, x + h * direction) - number(call, k, x - h * direction)) / (2 * h)
            for h in (1e-4, 1e-5, 1e-6)]


def reverse(call, k, direction) -> float:
    """The derivative along a direction that the graph gives."""
    moved = fad.tensor(call.point[k], requires_grad=True)
    total = weighted(floating(call.at(*[moved if n == k else given(x) for n, x in enumerate(call.point)])))
    g, = fad.autograd.grad(total, moved, allow_unused=True) if total.requires_grad else (None,)
    return 0.0 if g is None else np.sum(np.real(np.conj(g.numpy()) * direction)).item()


def forward(call, k, direction) -> float:
    """The derivative along a direction that tangents give."""
    with fad.autograd.forward_ad.dual_level():
        x = fad.tensor(call.point[k])
        moved = fad.autograd.forward_ad.make_dual(x, fad.tensor(direction).to(x.dtype))
        total = weighted(floating(call.at(*[moved if n == k else given(x) for n, x in enumerate(call.point)])))
        tangent = fad.autograd.forward_ad.unpack_dual(total).tangent
    return 0.0 if tangent is None else tangent.item()


@pytest.mark.parametrize("call, k", CASES, ids=lambda x: getattr(x, "name", str(x)))
def test_a_floating_argument_has_its_derivative_or_is_refused(call, k):
    x = call.point[k]
    direction = rng_for(call.name).standard_normal(np.shape(x))
    if np.iscomplexobj(x):
        direction = direction * (1 + 0.5j)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {mode: derivative for mode in (reverse, forward)
                 if (derivative := tried(mode, call, k, direction)) is not None}
        want = slopes(call, k, direction) if found else []
    for mode, got in found.items():
        assert any(abs(got - slope) <= 1e-5 * max(1.0,
                                                  abs(slope))
                   for slope in want), f"{call.name}, argument {k}, {mode.__name__}: {got}, differences {want}"


@pytest.mark.parametrize("call, k", in_turn(ARRAYS), ids=lambda x: getattr(x, "name", str(x)))
def test_the_graph_of_a_tangent_is_that_of_the_gradient(call, k):
    """The square of a result: its tangent has the result and the result's tangent as factors. What the two share in
    the graph is met on two ways."""
    x = call.point[k]
    direction = fad.tensor(rng_for(call.name).standard_normal(np.shape(x))).to(fad.tensor(x).dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if tried(reverse, call, k, np.zeros_like(x)) is None or tried(forward, call, k, np.zeros_like(x)) is None:
            return

        def squared(moved):
            fad.manual_seed(0)
            return weighted(floating(call.at(*[moved if n == k else given(v) for n, v in enumerate(call.point)]))) ** 2
        moved = fad.tensor(x, requires_grad=True)
        total = squared(moved)
        try:
            if not total.requires_grad:
                return
            g, = fad.autograd.grad(total, moved, create_graph=True, allow_unused=True)
            if g is None or not g.requires_grad:
                return
            expected, = fad.autograd.grad((g * direction.conj()).real.sum(), moved, allow_unused=True)
        except (NotImplementedError, fad.FadError, RuntimeError):                # no second derivative
            return
        with fad.autograd.forward_ad.dual_level():
            total = squared(fad.autograd.forward_ad.make_dual(moved, direction))
            tangent = fad.autograd.forward_ad.unpack_dual(total).tangent
        found, = fad.autograd.grad(tangent, moved)
    np.testing.assert_allclose(found.numpy(), 0 if expected is None else expected.numpy(), rtol=1e-6,
                               atol=1e-6 * max(1.0, np.abs(found.numpy()).max(initial=0)))


def tried(mode, call, k, direction) -> "float | None":
    """The derivative in a mode; None: the argument is refused, which tensors are only where REFUSED says so."""
    fad.manual_seed(0)
    try:
        return mode(call, k, direction)
    except REFUSALS:
        if isinstance(call.point[k], float) or (call.name, k) in REFUSED:
            return None
        raise


@pytest.mark.parametrize("call", [call for calls in CALLS.values() for call in calls], ids=lambda call: call.name)
def test_a_result_is_a_view_or_in_memory_of_its_own(call):
    """What shares memory with an argument and is no view of it shares its count of changes, so that stale values are
    found."""
    args = [given(x) for x in call.point]
    fad.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ys = floating(call.at(*args))
    for y in ys:
        for x in args:
            if not isinstance(x, Tensor) or y is x or y._is_view() or call.name in SHARING:
                continue
            if np.shares_memory(x.numpy(), y.numpy()):
                before = x._version
                y += 1
                assert x._version == before + 1


def lazily(value: np.ndarray) -> tuple:
    """A tensor with these elements that conjugates or negates what another one holds, and the other one."""
    if np.iscomplexobj(value):
        base = fad.tensor(value.conj())
        return base.conj(), base
    base = fad.tensor(0.5 - 1j * value)
    return base.conj().imag, base


@pytest.mark.parametrize("call, k", in_turn(ARRAYS, 1), ids=lambda x: getattr(x, "name", str(x)))
def test_a_result_of_a_lazy_view_is_a_view_or_in_memory_of_its_own(call, k):
    x, base = lazily(call.point[k])
    fad.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ys = floating(call.at(*[x if n == k else given(v) for n, v in enumerate(call.point)]))
        except REFUSALS:
            return
        apart = [y for y in ys if y is not x and not y._is_view() and call.name not in SHARING]
        before = [y.clone() for y in apart]
        if apart:
            x.mul_(2)
            base.add_(1)
    for y, old in zip(apart, before):
        np.testing.assert_array_equal(y.numpy(), old.numpy())


@pytest.mark.parametrize("section", TABLES)
def test_every_function_has_a_case(section):
    assert not sorted(set(TABLES[section]) - {call.name for call in CALLS[section]} - WITHOUT_NUMBERS)
