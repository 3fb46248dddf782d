"""What Numba's users write in and around @njit functions: typed containers, generalised ufuncs, stencils, jitclasses,
records by attribute.
"""
import warnings

import numba
import numpy as np
import pytest
from numba import float64, guvectorize, int64, njit, stencil, vectorize
from numba.experimental import jitclass
from numba.typed import Dict, List

import fad

from ..turns import in_tiers

X = np.array([0.3, 0.7, 1.2, 2.0])


@njit
def typed_lists(x):
    rows, copied = List(), List.empty_list(numba.types.float64)
    for k in range(x.size):
        rows.append(x[k] ** 2)
    for v in rows:
        copied.append(v * x[0])
    copied[0] = copied.pop() + len(rows)
    return sum(copied) * rows[1]


@njit
def typed_dicts(x):
    sums = Dict.empty(key_type=numba.types.int64, value_type=numba.types.float64)
    for k in range(x.size):
        sums[k % 2] = sums.get(k % 2, 0.0) + x[k] ** 2
    names = Dict()
    names["a"] = x[0]
    total = 0.0
    for key, value in sums.items():
        total += (key + 1.0) * value
    return total * names["a"] if "a" in names else total


@guvectorize([(int64[:], int64[:]), (float64[:], float64[:])], "(n)->()")
def norm(a, out):
    out[0] = 0
    for k in range(a.shape[0]):
        out[0] += a[k] ** 2


@guvectorize([(float64[:], float64, float64[:], float64[:])], "(n),()->(n),()")
def scaled(a, by, out, total):
    total[0] = 0.0
    for k in range(a.shape[0]):
        out[k] = a[k] * by if a[k] > 0.5 else by
        total[0] += out[k]


@guvectorize("(n),(n,m)->(m)")
def into(a, b, out):
    for j in range(b.shape[1]):
        out[j] = 0.0
        for i in range(a.shape[0]):
            out[j] += a[i] * b[i, j]


@guvectorize([(float64, float64, float64[:])], "(),()->()")
def product(a, b, out):
    out[0] = a * b


@guvectorize([(float64[:], float64[:])], "(n)->(n)")
def reversed_sums(a, out):
    for k in range(a.size):
        out[k] = a[a.size - 1 - k] + (out[k - 1] if k else 0.0)


@guvectorize([(float64[:], float64[:], float64[:])], "(n),(n)->(n)", writable_args=(0,))
def add_to(a, b, out):
    for k in range(a.size):
        a[k] += b[k] ** 2
        out[k] = a[k] * b[0]


@stencil
def smoothed(a):
    return 0.25 * (a[-1] + 2 * a[0] + a[1])


@stencil(cval=1.0)
def curvature(a, b):
    return a[0, 1] + a[0, -1] + a[1, 0] + a[-1, 0] - 4 * a[0, 0] * b[0, 0]


@stencil(standard_indexing=("w",), neighborhood=((-2, 1),))
def weighted(a, w):
    s = 0.0
    for k in range(-2, 2):
        s += a[k] * w[k + 2]
    return s if s > 1.0 else s * s


@njit
def stencils(x):
    y = np.outer(x, x)
    return np.sum(smoothed(x) ** 2) + np.sum(curvature(y, y * 2) * y) + np.sum(weighted(x, x))


@jitclass([("weights", float64[:]), ("shift", float64), ("degree", int64)])
class Model:
    def __init__(self, weights, shift):
        self.weights, self.shift, self.degree = weights, shift, 2

    def value(self, x):
        return np.sum(self.weights * x ** self.degree) + self.doubled * self.twice(x[0])

    @property
    def doubled(self):
        return 2.0 * self.shift

    @staticmethod
    def twice(v):
        return 2.0 * v

    def add(self, v):
        self.shift += v


@njit
def makes_a_model(x):
    m = Model(x * 2.0, x[1])
    m.add(x[2])
    return m.value(x) + m.shift


@jitclass([("whole", int64), ("single", numba.float32), ("flag", numba.boolean), ("pair", numba.complex128)])
class Numbers:
    def __init__(self, v):
        self.whole, self.single, self.flag, self.pair = v, v, v > 0, v


@njit
def casts(x):
    m = Numbers(x[3] + 0.7)
    return m.whole * x[1] + m.single + m.pair.real * x[0] + (x[2] if m.flag else 0.0)


OUTER = Model(np.arange(1.0, 5.0), 2.0)


@njit
def uses_a_model(model, x):
    return model.value(x) + model.twice(x[3]) * model.shift


record = np.dtype([("mass", "f8"), ("at", "f8", (2,))])


@njit
def records_by_attribute(x):
    r = np.zeros(2, record)
    r[0].mass = x[0]
    r[1].mass = x[1]
    r.at[0] = x[2:]
    for one in r:
        one.mass *= 2.0
    return r[0].mass * r[1].mass + r.at[0, 1] ** 2


@njit
def types_as_casts(x):
    whole, single = int64(x[3] * 1.7), numba.types.float32(x[2])
    rows = np.zeros(2, dtype=float64)
    rows[0] = x[0]
    return whole * x[1] + single + rows.sum() * x.astype(numba.types.float64)[1]


@vectorize
def clipped(a):
    return a if a > 0.5 else 0


@vectorize([float64(float64, float64)])
def stepped(a, b):
    return a // 0.8 * b if b > 0 else a


def into_an_array(x):
    made = np.empty_like(x)
    stepped(x, x[::-1], made)
    return np.sum(made * x) + np.sum(stepped(3 * x, 2, out=made))


def along_an_axis(x):
    y, z = x.reshape(2, 2) * 1.0, np.zeros((2, 2))
    reversed_sums(y, z, axis=0)
    reversed_sums(y, out=(y,))                                            # the input's memory is the output's
    return np.sum(y * z) + np.sum(reversed_sums(y.T, y.T, axis=-2) * z)


def into_an_argument(x):
    y = np.zeros((2, 2))
    return np.sum(add_to(y, x.reshape(2, 2)) * y)


FUNCTIONS = {
    "typed lists": typed_lists,
    "typed dicts": typed_dicts,
    "guvectorize": lambda x: norm(x) + norm(x.reshape(2, 2)).sum() * norm(np.array([1, 2, 2])),
    "guvectorize with several results": lambda x: sum(np.sum(y * x[0]) for y in scaled(x.reshape(2, 2), x[:2])),
    "guvectorize of one point": lambda x: scaled(x, x[3])[1] + scaled(x, 2.0)[0][1],
    "guvectorize into an array": lambda x: into(x[:2], np.outer(x[:2], x), np.empty(4)).sum(),
    "guvectorize of numbers": lambda x: product(product(x, x[1]), x).sum() + product(x[0], 2.0),
    "guvectorize along an axis": along_an_axis,
    "guvectorize into an argument": into_an_argument,
    "stencils": stencils,
    "a jitclass inside": makes_a_model,
    "a jitclass from outside": lambda x: OUTER.value(x) * OUTER.doubled + uses_a_model(OUTER, x),
    "numbers of a jitclass": casts,
    "records by attribute": records_by_attribute,
    "types as casts and dtypes": types_as_casts,
    "vectorize with two types of results": lambda x: np.sum(clipped(x) * x[0]) + clipped(x[1]),
    "vectorize into an array": into_an_array,
}


def differences(f, x, h=1e-6):
    return np.array([(f(x + e) - f(x - e)) / (2 * h) for e in h * np.eye(x.size)])


@pytest.mark.parametrize("name, compile", in_tiers(FUNCTIONS))
def test_values_and_gradients(name, compile):
    f = FUNCTIONS[name]
    value, gradient = fad.value_and_grad(f, compile=compile, fallback=False)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-13)
    near = {"atol": 0.1} if f in (casts, types_as_casts) else {"rtol": 1e-6, "atol": 1e-6}  # it goes through a float32
    np.testing.assert_allclose(gradient, differences(f, X), **near)


@pytest.mark.parametrize("name", ["typed lists", "guvectorize", "stencils", "a jitclass inside"])
def test_second_derivatives(name):
    f = FUNCTIONS[name]
    np.testing.assert_allclose(fad.hessian(f)(X), differences(fad.grad(f), X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_a_stencil_has_numbas_borders(n):
    x = np.linspace(0.2, 1.0, n)
    np.testing.assert_allclose(fad.jit(lambda x: smoothed(x))(x), smoothed(x))
    y = np.outer(x, x)
    np.testing.assert_allclose(fad.jit(lambda y: curvature(y, y))(y), curvature(y, y))


def test_results_have_numbas_dtypes():
    whole = np.array([[1, 2], [3, 4]])
    assert fad.jit(lambda x: norm(x))(whole).dtype == norm(whole).dtype == np.int64
    assert fad.jit(lambda x: norm(x))(whole.astype(np.float32)).dtype == norm(whole.astype(np.float32)).dtype
    same = vectorize([float64(float64)])(lambda a: a)
    assert fad.jit(lambda x: same(x))(whole).dtype == same(whole).dtype == np.float64


def test_what_numba_refuses_is_refused():
    with pytest.raises(ValueError, match="dimension"):
        fad.jit(lambda x: into(x, np.ones((3, 2)), np.empty(2)))(X)
    with pytest.raises(TypeError, match="single shared core dimension"):
        fad.jit(lambda x: into(x[:3], np.ones((3, 2)), np.empty(2), axis=0))(X)
    with pytest.raises(TypeError, match="another dtype"):
        fad.jit(lambda x: add_to(np.zeros(4, int), x), fallback=False)(X)
    with pytest.raises((TypeError, fad.util.errors.FadError)):
        fad.jit(lambda x: norm(x))(X * 1j)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_what_a_jitclass_holds_is_as_it_is_now(compile):
    m = Model(np.arange(1.0, 5.0), 2.0)
    f = fad.value_and_grad(lambda x: m.value(x), compile=compile)

    def check():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            value, slope = f(X)
        np.testing.assert_allclose(value, m.value(X))
        np.testing.assert_allclose(slope, differences(lambda x: m.value(x), X), rtol=1e-6)
    check()
    m.shift = 5.0
    check()
    m.weights[1] = 9.0
    check()
    m.weights = np.full(4, 3.0)
    check()
    m.degree = 3
    check()


@jitclass([("weights", float64[:])])
class Filled:
    def __init__(self, n):
        self.weights = np.arange(n) * 1.0

    def refill(self, v):
        self.weights = np.full(self.weights.size, v)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_arrays_that_numba_made_are_as_they_are_now(compile):
    """Each read of such a field gives another view."""
    filled = Filled(4)
    assert filled.weights is not filled.weights

    def f(x):
        s = 0.0
        for k in range(x.size):
            s += filled.weights[k] * x[k]
        return s * np.sum(filled.weights)
    g = fad.value_and_grad(f, compile=compile, fallback=False)
    for change in (lambda: None, lambda: filled.weights.__setitem__(0, 5.0), lambda: filled.refill(9.0)):
        change()
        for _ in range(2):
            value, slope = g(X)
            assert value == pytest.approx(f(X)) and slope == pytest.approx(differences(f, X), rel=1e-6)


def test_an_outer_object_of_a_jitclass_cannot_be_given_traced_values():
    m = Model(np.arange(1.0, 5.0), 2.0)
    with pytest.raises(fad.util.errors.FadError, match="Model"):
        fad.grad(lambda x: (m.add(x[0]), m.value(x))[1], fallback=False)(X)
    assert m.shift == 2.0


def test_a_plain_function_reads_no_field_by_attribute():
    def f(x):
        r = np.zeros(2, record)
        r[0].mass = x[0]
        return r[0].mass
    with pytest.raises(AttributeError, match="mass"):
        f(X)
    with pytest.raises(AttributeError, match="mass"):
        fad.grad(f, fallback=False)(X)
