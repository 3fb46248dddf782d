"""Subscripts: every kind NumPy has, mixed at random, read and written and differentiated; ranges; extents that are
provably one."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.ops.slices import read_slice
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp


class Traced:
    """Stands in a subscript for the k-th integer input of the traced function."""

    def __init__(self, k):
        self.k = k


def random_slice(rng, n, inputs):
    def bound():
        if rng.random() < 0.3:
            return None
        k = int(rng.integers(-n - 2, n + 3))
        return k if rng.random() < 0.7 else as_input(inputs, np.int64(k))
    step = None if rng.random() < 0.4 else int(rng.choice([1, 1, 2, 3, -1, -2, -3]))
    return slice(bound(), bound(), step)


def as_input(inputs, value):
    inputs.append(value)
    return Traced(len(inputs) - 1)


def random_item(rng, n, shape, inputs):
    kind = rng.random()
    if kind < 0.25:
        k = int(rng.integers(-n, n))
        return k if rng.random() < 0.7 else as_input(inputs, np.int64(k))
    if kind < 0.65:
        return random_slice(rng, n, inputs)
    if kind < 0.95:
        index = rng.integers(-n, n, size=tuple(1 if rng.random() < 0.3 else m for m in shape))
        return index.tolist() if rng.random() < 0.5 else as_input(inputs, index)
    return (rng.random(n) < 0.5).tolist()


def random_subscript(rng, x):
    """A subscript of x with Traced in some places, and the integer inputs these stand for."""
    inputs, items, axis = [], [], 0
    shape = tuple(int(n) for n in rng.integers(1, 4, size=rng.integers(1, 3)))
    while axis < x.ndim and rng.random() > 0.08:
        if rng.random() < 0.15:
            items.append(None)
        if rng.random() < 0.1 and not any(item is Ellipsis for item in items):
            items.append(Ellipsis)
            axis += int(rng.integers(0, x.ndim - axis + 1))
            continue
        items.append(random_item(rng, x.shape[axis], shape, inputs))
        axis += 1
    return tuple(items), inputs


def filled(item, inputs):
    """An item of a subscript with its inputs in place."""
    if isinstance(item, tuple):
        return tuple(filled(i, inputs) for i in item)
    if isinstance(item, slice):
        return slice(filled(item.start, inputs), filled(item.stop, inputs), item.step)
    return inputs[item.k] if isinstance(item, Traced) else item


def cases(count=150):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(tuple(int(n) for n in rng.integers(2, 6, size=rng.integers(1, 4))))
        subscript, inputs = random_subscript(rng, x)
        try:
            part = x[filled(subscript, inputs)]
        except IndexError:                                        # shapes that do not broadcast
            continue
        yield pytest.param(x, subscript, inputs, part, id=str(seed))


@pytest.mark.parametrize("x, subscript, inputs, part", list(cases()))
def test_random_reading(x, subscript, inputs, part):
    traced = trace(lambda x, *i: x[filled(subscript, i)], [x, *inputs])
    data = [x, *inputs, *traced.captured]
    got, = evaluate(check(traced.func), data)
    np.testing.assert_array_equal(got, part)
    g = np.cos(np.arange(np.size(part)) + 1.0).reshape(np.shape(part))[()]
    want = np.zeros_like(x)
    np.add.at(want, filled(subscript, inputs), g)
    np.testing.assert_allclose(evaluate(check(vjp(traced.func, [0])), [*data, g])[1], want, atol=1e-14)


@pytest.mark.parametrize("x, subscript, inputs, part", list(cases()))
def test_random_writing(x, subscript, inputs, part):
    v = np.sin(np.arange(np.size(part)) + 1.0).reshape(np.shape(part))
    v = v[0] if v.ndim > 1 and len(v) else v[()]

    def write(x, v, *i):
        y = x.copy()
        y[filled(subscript, i)] = v
        return y
    traced = trace(write, [x, v, *inputs])
    data = [x, v, *inputs, *traced.captured]
    np.testing.assert_array_equal(evaluate(check(traced.func), data)[0], write(x, v, *inputs))
    g = np.cos(np.arange(x.size) + 1.0).reshape(x.shape)
    _, gx, gv = evaluate(check(vjp(traced.func, [0, 1])), [*data, g])
    dx, dv = np.sin(np.arange(x.size) + 3.0).reshape(x.shape), np.cos(np.arange(np.size(v)) + 3.0).reshape(np.shape(v))
    np.testing.assert_allclose(np.sum(g * write(dx, dv, *inputs)), np.sum(gx * dx) + np.sum(gv * dv), atol=1e-12)


@pytest.mark.parametrize("n", range(6))
def test_slices_of_ints(n):
    bounds = [None, *range(-n - 2, n + 3)]
    for start in bounds:
        for stop in bounds:
            for step in (None, 1, 2, 3, -1, -2, -3):
                s = slice(start, stop, step)
                part, want = read_slice(s, n), range(n)[s]
                assert part.extent == len(want)
                assert [part.start + k * part.step for k in range(part.extent)] == list(want)


@pytest.mark.parametrize("subscript", [
    slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1), -1, (0, -1),
    (slice(1, -1), slice(None, None, 3)),
    [0, -1], (..., 1), (None, slice(2)), ([0, 1], slice(None)), (slice(3, None), 0)])
def test_one_trace_serves_sizes_alike(subscript):
    f = fad.jit(lambda x: x[subscript] * 2.0)
    for shape in [(4, 5), (5, 4), (7, 9), (2, 2), (4, 5)]:
        x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
        np.testing.assert_array_equal(f(x), x[subscript] * 2.0)


@pytest.mark.parametrize("build", [
    lambda x: x[1:] - x[:-1], lambda x: x[2:] - 2 * x[1:-1] + x[:-2], lambda x: x[::-1] + x,
    lambda x: x[:, 1:] @ x.T[:-1], lambda x: x[0:x.shape[0]] + x])
def test_extents_that_agree_are_proved_to(build):
    ops = [e.op.name for e in trace(build, [np.ones((5, 6))]).func.equations]
    assert "check_equal" not in ops and "maximum" not in ops and "minimum" not in ops


@pytest.mark.parametrize("subscript, message", [
    (7, "index 7 is out of bounds for axis 0 with size 3"), ((0, -6), "axis 1"), ([0, 3], "index 3"),
    ((0, 0, 0), "too many indices"), (1.5, "only integers"),
    ((..., ...), "single ellipsis"), ([True, False], "boolean index did not match"),
    ((slice(None), [0, 9]), "index 9")])
def test_constants_out_of_range(subscript, message):
    with pytest.raises(IndexError, match=message):
        trace(lambda x: x[subscript], [np.ones((3, 4))])


@pytest.mark.parametrize("k", [3, -4])
@pytest.mark.parametrize("build",
                         [lambda x, k: x[k], lambda x, k: x[np.array([0, 1]) + k], lambda x, k: x[1 * k, ::2],
                          lambda x, k: np.take(x, k, axis=0)])
def test_traced_indices_out_of_range(build, k):
    x = np.ones((3, 4))
    traced = trace(build, [x, np.int64(1)])
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 3"):
        evaluate(traced.func, [x, np.int64(k), *traced.captured])


def test_error_quotes_the_line():
    def f(x):
        return x[17]                                              # the line
    with pytest.raises(IndexError, match="the line"):
        trace(f, [np.ones(3)])


def test_positions_counted_need_no_check():
    ops = [e.op.name for e in trace(lambda x: x[np.arange(x.shape[0]), 0], [np.ones((3, 4))]).func.equations]
    assert "check_index" not in ops and "wrap_index" not in ops


def test_zero_step():
    with pytest.raises(ValueError, match="step cannot be zero"):
        trace(lambda x: x[::0], [np.ones(3)])


def test_row_after_row():
    """A loop over a concrete range reads rows as views."""
    f = fad.grad(lambda x: sum(np.sum(row ** 2) for row in x))
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(f(x), 2 * x)


def test_python_structure_from_a_computed_extent():
    """Where Python needs the number, the extents it was computed from become conditions of the trace."""
    f = fad.jit(lambda x: sum([row[0] for row in x.reshape(-1, 2)[:x.shape[0] // 2]]))
    for shape in [(4, 2), (3, 4), (6, 2), (4, 2)]:
        x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
        assert f(x) == sum(x.reshape(-1, 2)[:shape[0] // 2, 0])


@pytest.mark.parametrize("items", [[], (), range(0)], ids=repr)
def test_a_sequence_without_items_takes_nothing(items):
    assert fad.jit(lambda x: x[items] * 2.0, compile="never")(np.arange(3.0)).shape == np.arange(3.0)[items].shape
