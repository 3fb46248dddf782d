"""What is left outside at each call is what Python leaves, aliases included: after each of many calls, in each
transform."""
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import fad

from . import stateful

TRANSFORMS = [fad.jit, fad.grad, fad.value_and_grad]


def points(count=10):
    return [np.array([1.0, 2.0, 3.0]) * np.cos(0.3 * k) + 0.1 for k in range(count)]


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("make", [*stateful.COMPILED, *stateful.OTHERS])
def test_state_is_what_python_leaves(make, transform, traces):
    (f, seen), (g, found) = make(), make()
    is_compiled = make in stateful.COMPILED
    g = transform(g, fallback=False if is_compiled else None)
    for k, x in enumerate(points()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            plain, given = x.copy(), x.copy()
            value, got = f(plain), g(given)
        assert found() == seen(), f"after call {k + 1}"
        np.testing.assert_array_equal(given, plain)
        if transform is not fad.grad:
            np.testing.assert_allclose(got if transform is fad.jit else got[0], value, rtol=1e-10)
    assert not is_compiled or len(traces) <= 2


def with_error(after):
    """A function that raises once it has changed much, and its state."""
    o = SimpleNamespace(k=0, log=[], w=np.zeros(2), d={})

    def f(x):
        o.k += 1
        o.log.append(float(x[0]))
        o.w = o.w + x
        o.d["last"] = x * 2.0
        if after == "known" and o.k == 3:
            raise ValueError("three")
        if x[0] < 0.5:
            raise ValueError("small")
        return np.sum(x) * o.k
    return f, lambda: (o.k, stateful.numbers(o.log, o.w, *o.d.values()))


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("after", ["known", "traced"])
def test_a_call_that_raises_delivers_all_or_nothing(after, transform):
    f, seen = with_error(after)
    g = transform(f, fallback=False)
    done = 0
    for x in [np.array([v, 2.0]) for v in (1.0, 2.0, 3.0, 0.2, 4.0, 0.1, 5.0)]:
        before = seen()
        try:
            g(x)
            done += 1
            assert seen()[0] == before[0] + 1
        except ValueError:
            assert seen() == before
    assert done >= 2


@pytest.mark.parametrize("transform", [fad.grad, fad.value_and_grad])
def test_no_traced_value_stays_where_the_tape_meets_an_error(transform):
    log, names = [], {}

    def f(x):
        log.append(x * 2.0)
        names[float(x[0])] = x[1]                             # a key that only the tape knows
        raise ValueError("no")
    with pytest.raises(ValueError, match="no"), warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        transform(f)(np.ones(2))
    assert [type(x) for x in log] == [np.ndarray]
    assert [(k, type(v)) for k, v in names.items()] == [(1.0, np.float64)]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_user_may_change_state_between_calls(transform):
    def make():
        o = SimpleNamespace(k=0, h=[], v=np.zeros(2))

        def f(x):
            o.k += 1
            o.h.append(float(x[0]) * o.k)
            o.v = o.v * 0.5 + x
            return np.sum(x * o.v) * o.k
        return f, o
    (f, plain), (g, staged) = make(), make()
    changes = [{}, {"k": 100}, {"k": 1.5}, {"h": []}, {"k": np.float64(2)}, {}, {"v": np.ones(2, np.float32)},
               {"k": True},
               {"v": np.array([[1.0], [2.0]])[:, 0]}, {"v": 3.0}, {}]
    g = transform(g, fallback=False)
    for change in changes:
        for o in (plain, staged):
            vars(o).update({k: list(x) if k == "h" else x for k, x in change.items()})
        x = np.array([1.0, 2.0]) + len(plain.h)
        f(x), g(x)
        assert type(plain.k) is type(staged.k) and plain.k == staged.k and plain.h == staged.h
        np.testing.assert_allclose(staged.v, plain.v)


def test_two_functions_share_state(traces):
    def make():
        o = SimpleNamespace(k=0, best=1e9, at=None)

        def loss(x):
            o.k += 1
            return np.sum(x ** 2) * o.k

        def record(x):
            value = loss(x)
            if value < o.best:
                o.best, o.at = value, x.copy()
            return value
        return loss, record, o
    (loss, record, plain), (traced_loss, traced_record, staged) = make(), make()
    g, h = fad.grad(traced_loss, fallback=False), fad.jit(traced_record, fallback=False)
    for k, x in enumerate(points(12)):
        if k % 3 == 1:
            loss(x), g(x)
        else:
            assert np.isclose(record(x), h(x))
        assert (staged.k, staged.best) == (plain.k, pytest.approx(plain.best))
        np.testing.assert_allclose(staged.at, plain.at)
    assert len(traces) <= 6


def test_transforms_of_one_function_share_what_is_known_of_its_state(traces):
    calls = [0]

    def f(x):
        calls[0] += 1
        return np.sum(x) * calls[0]
    for k in range(1, 8):
        np.testing.assert_allclose(fad.grad(f)(np.ones(2)), float(k))
    assert calls == [7] and len(traces) <= 2


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_arrays_that_the_function_changes_in_place_are_state_too(transform):
    o = SimpleNamespace(w=np.ones(3), k=0)
    w = o.w

    def f(x):
        o.w += x
        o.k += 1
        return np.sum(o.w * x)
    g = transform(f)
    for k in range(1, 5):
        got = g(np.ones(3))
        np.testing.assert_allclose(got[1] if isinstance(got, tuple) else got,
                                   3.0 + 3.0 * k if transform is fad.jit else k + 2.0)
        assert o.w is w and w.tolist() == [k + 1.0] * 3
    assert o.k == 4


def test_lists_made_by_code_without_text():
    def run(transform):
        o = SimpleNamespace()
        scope = {"o": o, "np": np}
        exec("def f(x):\n    o.h, o.g, o.d = [x[0]], [1.0], {'a': [x[1]]}\n    return np.sum(x)\n", scope)
        f = transform(scope["f"])
        seen = []
        for k in range(3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fad.FallbackWarning)
                f(np.array([1.0, 2.0]) + k)
            seen.append((o.h.copy(), o.g.copy(), o.d))
            o.g.append(5.0)
        return repr(seen)
    assert run(fad.jit) == run(fad.grad) == run(lambda f: f)


def test_a_list_in_an_object_that_a_branch_replaces_is_not_changed_under_its_other_name():
    def f(x):
        old = [0.5]
        o = SimpleNamespace(h=old)
        if x[0] > 0.5:
            o.h = [x[0]]
        o.h[0] = 7.0
        return old[0] * x[0]

    def g(x):
        old = [0.5]
        d = {"h": old}
        for k in range(len(x)):
            if x[k] > 0.5:
                d["h"] = [x[0]]
        d["h"][0] = 7.0
        return old[0] * x[0]
    for h in (f, g):
        for v in (0.1, 0.9):
            x = np.array([v, v])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fad.FallbackWarning)
                assert np.isclose(fad.jit(h)(x), h(x))
