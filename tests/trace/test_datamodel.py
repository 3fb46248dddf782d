"""Special methods of users' classes are user code in every respect: traced, looped, compiled, guarded; by the rules of
Python's data model."""
import warnings

import numpy as np
import pytest

import fad

from ..turns import in_tiers

X = np.array([0.3, 0.7, 1.1])
SCALE = [2.0]


def by_element(a, b, f):
    """A new array, element by element: code that has to be rewritten to be traced."""
    y = np.zeros(3)
    for k in range(3):
        y[k] = f(a[k], b[k] if isinstance(b, np.ndarray) else b) * SCALE[0]
    return y


class Vector:
    """Three numbers; every special method loops, writes to elements, reads a global and counts in an attribute."""

    __array_ufunc__ = None                                    # NumPy leaves operators to it

    def __init__(self, data):
        self.data, self.count = data, 0

    def made(self, other, f):
        self.count += 1
        return Vector(by_element(self.data, other.data if isinstance(other, Vector) else other, f))

    def __add__(self, other):
        return self.made(other, lambda a, b: a + b)

    def __radd__(self, other):
        return self.made(other, lambda a, b: 3.0 * a + b)

    def __sub__(self, other):
        return self.made(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self.made(other, lambda a, b: b - 2.0 * a)

    def __mul__(self, other):
        return self.made(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self.made(other, lambda a, b: a / (b + 1.0))

    def __rtruediv__(self, other):
        return self.made(other, lambda a, b: b / (a + 1.0))

    def __pow__(self, other):
        return self.made(other, lambda a, b: a ** b)

    def __matmul__(self, other):
        s = 0.0
        for k in range(3):
            s += self.data[k] * other.data[k]
        return s

    def __mod__(self, other):
        return self.made(other, lambda a, b: a + 0.25 * b)

    def __floordiv__(self, other):
        return self.made(other, lambda a, b: a - 0.5 * b)

    def __and__(self, other):
        return self.made(other, lambda a, b: a * a + b)

    def __rshift__(self, other):
        return self.made(other, lambda a, b: a + b * b)

    def __iadd__(self, other):
        self.data = by_element(self.data, other.data if isinstance(other, Vector) else other, lambda a, b: a + 5.0 * b)
        return self

    def __neg__(self):
        return self.made(1.0, lambda a, b: -a)

    def __invert__(self):
        return self.made(1.0, lambda a, b: 1.0 / (1.0 + a))

    def __abs__(self):
        return self.made(1.0, lambda a, b: abs(a))

    def __getitem__(self, k):
        t = 0.0
        for j in range(k + 1):
            t += self.data[j]
        return t

    def __setitem__(self, k, value):
        y = np.zeros(3)
        for j in range(3):
            y[j] = self.data[j]
        y[k] = value
        self.data = y

    def __delitem__(self, k):
        self[k] = 0.0

    def __len__(self):
        self.count += 1
        return 3

    def __iter__(self):
        for k in range(3):
            yield self.data[k] * SCALE[0]

    def __contains__(self, value):
        return bool(np.sum(self.data) > value)

    def __bool__(self):
        return bool(self.data[0] > 0.2)

    def __lt__(self, other):
        return bool(self @ self < other @ other)

    def __ge__(self, other):
        return not self < other

    def __eq__(self, other):
        return bool(self.data[0] == other.data[0])

    __hash__ = None

    def __float__(self):
        return float(self @ self)

    def __enter__(self):
        self.data = by_element(self.data, 1.0, lambda a, b: a + b)
        return self.data

    def __exit__(self, *error):
        self.data = by_element(self.data, 2.0, lambda a, b: a * b)

    def __call__(self, k):
        return self.data[k]


class Longer(Vector):
    """A subclass whose reflected method goes before the method of its base."""

    def __radd__(self, other):
        return self.made(other, lambda a, b: a - 7.0 * b)


class Grid:
    """Attributes that methods compute."""

    def __init__(self, x):
        self.__dict__["x"] = x

    def __getattr__(self, name):
        if not name.startswith("row"):
            raise AttributeError(name)
        y = np.zeros(3)
        for k in range(3):
            y[k] = self.x[k] * int(name[3:])
        return y

    def __setattr__(self, name, value):
        y = np.zeros(3)
        for k in range(3):
            y[k] = value[k] * SCALE[0]
        self.__dict__[name] = y


class Scaled:
    """A descriptor."""

    def __get__(self, instance, owner):
        return by_element(instance.held, 2.0, lambda a, b: a * b)

    def __set__(self, instance, value):
        instance.held = by_element(value, 3.0, lambda a, b: a + b)


class Model:
    part = Scaled()

    @property
    def whole(self):
        return by_element(self.part, 1.0, lambda a, b: a * a)

    @whole.setter
    def whole(self, value):
        self.part = by_element(value, 1.0, lambda a, b: a + b)


class Steps:
    """An iterator of the user's own."""

    def __init__(self, x):
        self.x, self.k = x, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.k == 3:
            raise StopIteration
        self.k += 1
        return self.x[self.k - 1] ** 2


class Table(dict):
    def __missing__(self, key):
        return SCALE[0] * len(key)


def total(v):
    return np.sum(v.data) + v.count


def augmented(x):
    a, b = Vector(x), Vector(x * 2)
    same = a
    a += b
    same[1] += b[2]
    same.data[0] += x[1]
    a -= b                                                    # no __isub__: a new object
    return total(a) + total(same)


def through_targets(x):
    a, m, k = Vector(x), Model(), 0
    k, a[k], *m.rest = 1, x[2] * 2, 3.0, x[0]
    m.whole = x
    a[0], a[1] = a[1], a[0]
    for m.last in x:
        pass
    return total(a) + np.sum(m.whole) + m.last + m.rest[1] + k


def unpacked(x):
    a, *rest = Vector(x)
    (b, c), d = rest, [v * w for v in Steps(x) for w in Vector(x)]
    return a * b + c + d[4] + np.maximum(*[*Steps(x)][:2])


def managed(x):
    v = Vector(x)
    with v as data:
        s = np.sum(data)
    return s + total(v)


def attributes(x):
    g = Grid(x)
    g.second = x * 2
    return np.sum(g.row3) + np.sum(g.second) + (5.0 if hasattr(g, "other") else x[0])


def in_order(x):
    """Operands, subscripts and values are computed in Python's order."""
    seen, y = [], np.zeros(4)

    def at(k):
        seen.append(k)
        return k
    y[at(0)] = x[at(1)]
    y[at(1)] += x[at(2)] * at(3)
    y[at(2)], y[at(3)] = x[at(0)], at(1)
    for k, s in enumerate(seen):
        y[0] += k * s * x[0]
    return np.sum(y)


PROGRAMS = {
    "add": lambda x: total(Vector(x) + Vector(x * x)) + total(1.0 + Vector(x)) + total(Vector(x) + x[0]),
    "sub": lambda x: total(Vector(x) - 1.0) + total(x[1] - Vector(x)),
    "mul": lambda x: total(2 * Vector(x) * x[0]),
    "div": lambda x: total(Vector(x) / 2.0) + total(x[0] / Vector(x)),
    "pow": lambda x: total(Vector(x) ** 3),
    "matmul": lambda x: Vector(x) @ Vector(x * 2),
    "others": lambda x: total(Vector(x) % x[0]) + total(Vector(x) // 2.0) + total(Vector(x) & Vector(x))
                        + total(Vector(x) >> 2.0),
    "unary": lambda x: total(-Vector(x)) + total(~Vector(x)) + total(abs(Vector(x))),
    "subclass": lambda x: total(Vector(x) + Longer(x * 2)) + total(Longer(x) + Vector(x))
                          + total(Longer(x) + Longer(x)),
    "list_of": lambda x: total(sum([Vector(x), Vector(x * 2)], Vector(x))),
    "item": lambda x: Vector(x)[2] + Vector(x)[1],
    "length": lambda x: len(Vector(x)) * x[0],
    "iteration": lambda x: sum(v * v for v in Vector(x)) + sum([v * 1.0 for v in Steps(x)]),
    "displays": lambda x: sum([*Vector(x), *Steps(x)]) + sum({k: v * 2 for k, v in enumerate(Steps(x))}.values()),
    "builtins": lambda x: list(Steps(x))[1] * max(Vector(x)) + sum(a * b for a, b in zip(Vector(x), tuple(Steps(x))))
                          + sum(Steps(x)),
    "contains": lambda x: x[0] * (2.0 if 1.0 in Vector(x) else 3.0) * (2.0 if 100.0 not in Vector(x) else 3.0),
    "truth": lambda x: (x[0] if Vector(x) else x[1]) + (x[2] if not Vector(-x) else 0.0),
    "compare": lambda x: x[0] * (Vector(x) < Vector(x * 2)) + x[1] * (Vector(x) > Vector(x / 2))
                         + x[2] * (Vector(x) >= Vector(x)),
    "equal": lambda x: x[0] * (Vector(x) == Vector(x)) + x[1] * (Vector(x) != Vector(x + 1)),
    "conversion": lambda x: float(Vector(x)) * 2,
    "call": lambda x: Vector(x)(1) ** 2,
    "missing": lambda x: Table(a=x[0])["a"] * Table()["bcd"],
    "property": lambda x: np.sum(through(x).whole),
    "augmented": augmented, "targets": through_targets, "unpacked": unpacked, "managed": managed,
    "attributes": attributes, "in_order": in_order,
}


def through(x):
    m = Model()
    m.whole = x
    return m


def differences(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


@pytest.mark.parametrize("name, tier", in_tiers(PROGRAMS))
def test_special_methods_are_traced(name, tier):
    f = PROGRAMS[name]
    with warnings.catch_warnings(), fad.config.using(compile=tier):
        warnings.simplefilter("error", fad.FallbackWarning)
        np.testing.assert_allclose(fad.jit(f)(X), f(X), rtol=1e-12)
        np.testing.assert_allclose(fad.grad(f)(X), differences(f, X), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["add", "unary", "iteration", "missing", "property", "managed", "attributes"])
def test_what_special_methods_read_is_never_stale(name):
    f, before = PROGRAMS[name], SCALE[0]
    g = fad.jit(f)
    try:
        for SCALE[0] in (2.0, 3.0, 2.0, 5.0):
            np.testing.assert_allclose(g(X), f(X), rtol=1e-12)
    finally:
        SCALE[0] = before


def test_a_method_that_is_replaced_is_traced_anew():
    class Own:
        def __init__(self, x):
            self.x = x

        def __matmul__(self, other):
            return np.sum(self.x * other)
    f = lambda x: Own(x) @ x
    g = fad.grad(f)
    np.testing.assert_allclose(g(X), 2 * X)
    Own.__matmul__ = lambda self, other: np.sum(self.x * other) * 3.0
    np.testing.assert_allclose(g(X), 6 * X)


def test_a_class_by_its_dict():
    class Rates:
        rate = 2.0
    f = lambda x: np.sum(x) * vars(Rates)["rate"] + Rates.__dict__["rate"]
    g = fad.jit(f)
    for Rates.rate in (2.0, 3.0, 2.5):
        assert g(X) == pytest.approx(f(X))


def test_what_python_refuses_is_refused_alike():
    class Plain:
        pass
    with pytest.raises(TypeError, match="unsupported operand"):
        fad.jit(lambda x: Vector(x) << 2)(X)
    with pytest.raises(TypeError, match="not supported between"):
        fad.jit(lambda x: x[0] if Plain() < Plain() else x[1])(X)


class Sequence:
    """NumPy takes it for an array where a scalar of NumPy's stands left of it, and Python's numbers leave the operator
    to it."""

    def __init__(self, x):
        self.x = x

    def __len__(self):
        return 3

    def __getitem__(self, k):
        if k > 2:
            raise IndexError
        return self.x[k]

    def __rsub__(self, other):
        return np.sum(self.x) * other


def test_a_sequence_right_of_a_scalar():
    f = lambda x: 2.0 - Sequence(x)
    assert fad.jit(f)(X) == f(X)
    with pytest.raises(fad.FadError, match="sequence"):
        fad.jit(lambda x: x[0] - Sequence(x))(X)


def derived_from_numbers(x):
    class Length(float):
        def __add__(self, other):
            return np.sin(other) * float(self) * SCALE[0]
        __radd__ = __add__

        def __mul__(self, other):
            return Length(3.0) if SCALE[0] > 1 else other

    class Count(int):
        def __init__(self, n):
            self.scale = SCALE[0]

        def scaled(self):
            return self * self.scale
    total = (Length(2.0) + x[0]) + (x[1] + Length(3.0)) * (Length(2.0) * x[1])
    return total * Count(3).scaled() + x[2] * isinstance(Length(1.0), float) + x[0] * (type(Count(2)) is Count)


def derived_from_arrays_and_texts(x):
    class Name(str):
        def __add__(self, other):
            return len(self) * x[0]

    class Pair(tuple):
        def __getitem__(self, k):
            return super().__getitem__(k) * SCALE[0]
    return (Name("ab") + "c") * Pair((x[1], 2.0))[0]


@pytest.mark.parametrize("f", [derived_from_numbers, derived_from_arrays_and_texts])
def test_classes_that_a_function_derives_from_pythons_own(f):
    np.testing.assert_allclose(fad.jit(f, fallback=False)(X), f(X), rtol=1e-12)
    slope = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(fad.grad(f, fallback=False)(X), slope, rtol=1e-6)


def test_many_lists_may_be_written_to_in_a_branch():
    def f(w):
        rows = [[1.0] for _ in range(6000)]
        if w[0] > 0.5:
            rows[0][0] = 3.0
        else:
            rows[5999][0] = 5.0
        return (rows[0][0] + rows[5999][0]) * np.sum(w)
    for x in (X, X + 1):
        assert fad.jit(f)(x) == pytest.approx(f(x))
        np.testing.assert_allclose(fad.grad(f)(x), differences(f, x), rtol=1e-6)


def test_an_effect_before_a_line_that_cannot_be_staged_happens_once():
    big = [[0.0] for _ in range(2500)]

    def f(w):
        big[0][0] += 1.0
        table = {float(w[0]): 1.0}
        return np.sum(w) * big[0][0] * table[float(w[0])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        fad.jit(f)(X)
    assert big[0][0] == 1.0


def test_a_branch_among_many_containers_is_part_of_the_program():
    def f(w):
        rows = [[1.0] for _ in range(100_001)]
        if w[0] > 0.5:
            rows[0][0] = 3.0
        return rows[0][0] * np.sum(w)
    for x in (X + 1, X - 1, X + 1):
        np.testing.assert_allclose(fad.grad(f)(x), (3.0 if x[0] > 0.5 else 1.0) * np.ones(3))


class AskedLate:
    """A slot is empty until __getattr__ is asked for it."""

    __slots__ = ("x", "kept")
    asked: list = []

    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        AskedLate.asked.append(name)
        if name != "kept":
            raise AttributeError(name)
        self.kept = np.sum(self.x ** 2)
        return self.kept


def test_getattr_is_asked_as_python_asks_it():
    def f(x):
        made = AskedLate(x)
        made.x = made.x * 3
        return made.kept * made.kept
    x = np.array([1.0, 2.0])
    AskedLate.asked.clear()
    value, gradient = fad.value_and_grad(f)(x)
    assert AskedLate.asked == ["kept"]
    assert value == f(x) == 2025.0
    np.testing.assert_allclose(gradient, 2 * 45 * 18 * x)
