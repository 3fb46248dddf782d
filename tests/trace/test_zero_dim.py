"""Values without axes are numbers or arrays: what is changed in place changes under all its names, or under one
only."""

import warnings

import numpy as np
import pytest

import fad
from tests.fuzz.differences import gradient
from tests.texts import executed

from ..turns import in_tiers

X = np.array([0.31, 0.52, 0.73, 0.94])


def chosen(x):
    a = np.where(x > 0, x, 2 * x).sum() if False else np.where(x[0] > 0, x[0], 2 * x[0])
    b = a
    a += 1
    return b * 3 + a


def of_a_number(x):
    a = np.asarray(x[0])
    b = a
    a += 1
    return b * 3 + a


def reshaped_view(x):
    a = x[:1].reshape(())
    b = a
    a += 1
    return b * 3 + a + x[0]


def written_constant(x):
    a = np.array(1.0)
    b = a
    a += x[0]
    return b * 3 + a


def zeros_written_through(x):
    a = np.zeros(())
    b = a
    a += x[0]
    b[...] *= 2
    return b * 3 + a


def result_of_a_ufunc(x):
    a = np.maximum(x[0], x[1])
    b = a  # np.float64: not an array
    a += 1
    return b * 3 + a


def squeezed_view(x):
    a = np.squeeze(x[:1])
    b = a
    a += 1
    return b * 3 + a + x[0]


def changed_in_a_branch(x):
    a = np.array(x[0])
    b = a
    if x[1] > 0:
        a += 1
    return b * 3 + a


def element_by_ellipsis(x):
    y = x.copy()
    v = y[0, ...]
    v += 1
    return y[0] * 2 + v


def named_in_a_list(x):
    a = np.where(x[0] > 0, x[0], 0.0)
    L = [a, a]
    L[0] += 1
    return L[1] * 2


def changed_by_a_helper(x):
    a = np.asarray(x[0])

    def g(z):
        z += 1
        return z

    g(a)
    return a


def summed_in_a_loop(x):
    a = np.asarray(x[0])
    b = a
    for i in range(4):
        a += x[i]
    return a * b


def one_or_another(x):
    a = np.asarray(x[0])
    b = a if x[1] > 100 else np.asarray(x[1])
    b += 1
    return a * b


def view_in_a_list(x):
    a = x[:1].copy().reshape(())
    L = [a, a]
    L[0] += 1
    return L[1] * 2


def view_summed_in_a_loop(x):
    a = x[:1].copy().reshape(())
    b = a
    for i in range(4):
        a += x[i]
    return a * b


def names_exchanged(x):
    a = x[:1].copy().reshape(())
    for i in range(3):
        b = a
        b += x[i]
        a = x[i : i + 1].copy().reshape(())
        a *= 2
        b += a
    return a * b


def changed_until(x):
    a = x[:1].copy().reshape(())
    while a < 5:
        b = a
        b += 1
    return a * b


def made_of_numbers_alone(x):
    y = np.where(True, 1.0, 2.0)
    b = y
    y += x[0]
    return np.sum(b * y * x[:3])


def written_whole(x):
    y = np.where(x[0] > 0, x[1], 2.0)
    b = y
    y[...] = 3.0
    return np.sum(b * y * x[:3])


def element_without_axes(x):
    y = np.where(x[0] > 0, x[1], 2.0)
    b = y
    y[()] += 3.0
    return np.sum(b * y * x[:3])


def number_is_not_written(x):
    y = x[0]
    try:
        y[...] = 3.0
    except TypeError:
        return x[1]
    return np.sum(y * x[:3])


def number_has_no_items(x):
    y = x[0]
    try:
        y[()] += 3.0
    except TypeError:
        return x[1]
    return np.sum(y * x[:3])


def written_by_out(x):
    y = np.where(x[0] > 0, x[1], 2.0)
    b = y
    np.add(y, 2.0, out=y)
    return b + y


def copied_into(x):
    y = np.where(x[0] > 0, x[1], 2.0)
    b = y
    np.copyto(y, 2.0 * x[0])
    return b + y


def list_and_its_copy(x):
    L = [np.where(x[i] > 0, x[i], 2.0) for i in range(3)]
    M = L[:]
    for i in range(3):
        L[i] += x[0]
    return sum(M)


def appended_then_changed(x):
    L = []
    for i in range(len(x)):
        v = np.where(x[i] > 0, x[i], 2.0)
        L.append(v)
        v += 1
    return np.sum(np.array(L))


def appended_and_changed_later(x):
    L = []
    for i in range(len(x)):
        v = np.asarray(x[i])
        L.append(v)
    for v in L:
        v *= 2
    return np.sum(np.array(L))


def in_a_dict(x):
    d = {"a": np.asarray(x[0])}
    e = d["a"]
    for i in range(len(x)):
        d["a"] += x[i]
    return e


def number_or_array_changed(x):
    best = 0.0
    for i in range(len(x)):
        best = np.where(x[i] > 0.5, x[i], best)
    c = best
    best += 1
    return c


def number_or_array(x):
    best = 0.0
    for i in range(len(x)):
        best = np.where(x[i] > 0.5, x[i], best)
    return best


def of_a_branch(x):
    if x[0] > 0:
        b = np.where(x[0] > 0.1, x[0], x[1])
    else:
        b = 0.3
    c = b
    b = b + 1
    return c * b


def one_branch_is_another_array(x):
    a = np.asarray(x[0])
    if x[0] > 0:
        b = a
    else:
        b = 0.3
    a += 1
    return b


def copies(x):
    y = np.array(x[0]).copy()
    z = y.astype(float)
    w = y.T
    v = +y
    u = y.real
    y += 1
    return z + 10 * w + 100 * v + 1000 * u


def numbers_have_no_views(x):
    y = x[0]
    z = np.squeeze(y)
    w = y.T
    u = y.real
    t = np.transpose(y)
    s = y.reshape(())
    y += 1
    z += 1
    s += 1
    return z + 2 * w + 3 * u + 5 * t + 7 * s + x[0]


def reduced_with_axes(x):
    y = np.max(x, keepdims=True).reshape(())
    b = y
    y -= 1
    return b


def no_float(x):
    y = np.asarray(x[0])
    return x[0] if isinstance(y, float) else x[1]


def draw_without_axes(x):
    y = np.random.default_rng(0).normal(size=()) + np.zeros(())
    b = y
    y += x[0]
    return b * y


def sum_of_squares(x):
    s = np.zeros(())
    for i in range(len(x)):
        s += x[i] ** 2
    return s


def list_and_loop(x):
    s = np.zeros(())
    t = [s]
    while s < 2:
        s += x[0]
    return t[0] * s


def counted(x):
    s = np.zeros((), dtype=int)
    for i in range(len(x)):
        if x[i] > 0.4:
            s += 1
    return s * x[0]


def squeezed_list(x):
    parts = [x[0]]
    a = np.squeeze(parts)
    b = a
    b += 1.0
    return a * x[1]


def reshaped_list(x):
    parts = [2 * x[0]]
    a = np.reshape(parts, ())
    b = a
    b *= x[1]
    return a + b


PROGRAMS = [f for f in list(globals().values()) if getattr(f, "__module__", "") == __name__ and callable(f)]
REFUSED = {number_or_array_changed, one_branch_is_another_array}  # run on the tape, which knows which of the two it is


@pytest.mark.parametrize("f, tier", in_tiers(PROGRAMS))
def test_values_and_gradients_are_pythons(f, tier):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if f in REFUSED else "error", fad.FallbackWarning)
        assert np.allclose(fad.jit(f, compile=tier)(X.copy()), f(X.copy()), rtol=1e-12)
        assert np.allclose(fad.grad(f, compile=tier)(X.copy()), gradient(f, X)[0], rtol=1e-6, atol=1e-8)


def test_an_argument_is_changed_as_in_python():
    def f(a):
        a += 1.0
        return a * 2

    x = np.array(0.5)
    assert fad.jit(f)(x) == 3.0 and x == 1.5
    assert fad.jit(f)(0.5) == 3.0 and fad.jit(f)(np.float64(0.5)) == 3.0


STATE = np.zeros(())


def test_state_outside_is_changed_as_in_python():
    def f(x):
        STATE[...] += x
        return STATE * 2

    g = fad.jit(f)
    assert [float(g(v)) for v in (1.0, 2.0)] == [2.0, 6.0] and STATE == 3.0


class Store:
    """What a function leaves its results in."""


def test_one_array_stays_one_array_outside():
    store = Store()

    def begin(x):
        store.first = np.zeros(())
        store.second = store.first
        store.first += x[0]
        return store.second * 1.0

    def go_on(x):
        store.first += x[0]
        return store.second * 1.0
    g, h = fad.jit(begin), fad.jit(go_on)
    assert [float(v) for v in (g(X), h(X), h(X))] == pytest.approx([X[0], 2 * X[0], 3 * X[0]])
    assert store.first is store.second and isinstance(store.first, np.ndarray)


def test_a_function_within_changes_what_it_is_given():
    def f(x):
        a = np.asarray(x[0])
        return fad.jit(add_one)(a) + a

    def add_one(a):
        a += 1.0
        return a * 2.0
    assert fad.jit(f)(X) == f(X) and fad.grad(f)(X)[0] == 3.0


def test_a_copy_is_read_before_its_array_is_overwritten():
    """In the kernel the only element of an array is a number from where it is read."""
    def f(x):
        p = np.asarray(x[0])
        q = p
        r = x[1:2].copy().reshape(())
        held = [p, r, np.asarray(x[3])]
        for _ in range(3):
            h = np.array(r)
            held[0] += np.tanh(p)
            q, r = r, q
        for _ in range(2):
            q -= 0.3
        return p + q + r + h + 1.3 * held[0] + held[1] * held[-1]
    assert fad.jit(f, compile="now")(X) == pytest.approx(f(X.copy()), rel=1e-12)


@pytest.mark.parametrize("made",
                         ["np.array([2, 0])", "np.zeros((), int)", "np.asarray(3)", "np.full(2, True)",
                          "np.where(np.array([True, False]), 1, 2)", "np.where(True, 1, 2)", "np.arange(3).copy()",
                          "np.array(2).reshape(())", "np.ones_like(np.arange(2)[0])", "np.arange(3).max()",
                          "np.full((), True)", "np.eye(2, dtype=int).sum(axis=0)"])
def test_integers_and_truth_values_on_the_tape(made):
    text = f"""def f(x):
    y = {{0: 2.0, 1: 3.0}}.get(int(x[0] * 0.1)) * x
    held = k = {made}
    k ^= k == k
    return np.sum(y) * np.sum(k) * (np.sum(held) + 2)
"""
    f = executed(text, {"np": np, "__name__": "program"})["f"]
    with pytest.warns(fad.FallbackWarning):
        value, slope = fad.value_and_grad(f)(X)
    assert value == pytest.approx(f(X)) and slope == pytest.approx(gradient(f, X)[0], rel=1e-6)


READS = """p[()]; p[...]; p.item(); float(p); +p; p.copy(); p.__copy__(); p.reshape(()); p.T; p.real; p.sum(); np.sum(p)
p.astype(float); p.astype(float, copy=False); p.squeeze(); np.squeeze(p); p.ravel(); p.flatten(); p.flat[0]; np.max(p)
np.real(p); np.asarray(p); np.array(p); np.atleast_1d(p); np.broadcast_to(p, (2,)); np.float64(p); p.transpose()
p[None]
np.positive(p); p.view(); p.round(); np.conj(p); np.where(True, p, 0.0); np.copy(p); np.ascontiguousarray(p); sum([p])
np.asanyarray(p); np.require(p); np.stack([p, p])[0]; p * 1; abs(p); np.real_if_close(p); p.sum(keepdims=True); p.conj()
p.__getitem__(()); copy.copy(p); copy.deepcopy(p)""".replace("\n", "; ").split("; ")
USES = {"read": "y = {read}\n    p[...] = v\n    return np.sum(y) * 1.0",
        "written": "y = {read}\n    try:\n        y[...] = v\n    except TypeError:\n        return v * 1.0\n"
                   "    return p[()] * v",
        "left": "K.last = {read}\n    return v * 1.0"}
MAKES = {"own": "p = np.zeros(())\n    p[...] = 3.0 * v", "outside": "p = P"}


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning", "error::fad.InternalErrorWarning")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("transform", [fad.jit, fad.value_and_grad])
def test_a_number_read_is_no_name_of_the_array(use, make, transform):
    """`p[()]` was p itself, and so was float(p) where Python's number had been written to p."""
    for read in READS:
        if (use, read) == ("written", "np.broadcast_to(p, (2,))"):
            continue                                          # NumPy refuses it
        text = f"import copy, types\nimport numpy as np\nP, K = np.array(2.0), types.SimpleNamespace(last=None)\n" \
               f"def f(v):\n    {MAKES[make]}\n    {USES[use].format(read=read)}\n"
        python, under_fad = executed(text, {}), executed(text, {})
        g = transform(under_fad["f"], compile="never")
        for v in (0.5, 0.7):
            want, found = python["f"](v), g(v)
            assert want == pytest.approx(found if transform is fad.jit else found[0]), (text, v)
            assert python["P"] == under_fad["P"], text
            last, wanted = under_fad["K"].last, python["K"].last
            assert isinstance(last, np.ndarray) is isinstance(wanted, np.ndarray), text
            np.testing.assert_array_equal(last, wanted)
