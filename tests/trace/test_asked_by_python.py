"""Methods that Python calls by itself and that ask `is None`, wherever the object with the method comes from: the
program sees the question, or the function runs on the tape."""
import enum
import operator
import types

import numpy as np
import pytest

import fad


class Asks:
    """An object whose every method asks for None."""

    def __init__(self, held=1.0):
        self.held = held

    def __eq__(self, other):
        return other is None

    def __contains__(self, k):
        return isinstance(k, type(None))

    def __str__(self):
        return "1" if self.held is None else "22"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.left = 2.0 if self.held is None else 3.0

    def __class_getitem__(cls, k):
        return 2.0 if k is None else 3.0


class Descriptor:
    def __get__(self, instance, owner):
        return instance.taken

    def __set__(self, instance, value):
        instance.taken = 2.0 if value is None else 3.0


class Reads:
    def __get__(self, instance, owner):
        return self if instance is None else 2.0 if instance.value is None else 3.0


class Described:
    value = None
    part, read = Descriptor(), Reads()


class Meta(type):
    def __getitem__(cls, k):
        return 2.0 if k is None else 3.0


class OfMeta(metaclass=Meta):
    pass


class Calls:
    def __call__(self, v):
        return 2.0 if v is None else 3.0


PAIR, TABLE, CALLS = (Asks(), 1.0), {"asks": Asks()}, Calls()


def perhaps(x):
    best = None
    if x[0] > 0.5:
        best = x[1]
    return best


def in_a_tuple(x):
    return x[0] if PAIR[0] == perhaps(x) else x[1] ** 2


def in_a_dict(x):
    return x[0] if perhaps(x) in TABLE["asks"] else x[1] ** 2


def a_descriptor_that_sets(x):
    d = Described()
    d.part = perhaps(x)
    return d.part * x[1] ** 2


def a_descriptor_that_reads(x):
    d = Described()
    d.value = perhaps(x)
    return d.read * x[1] ** 2


def a_text(x):
    a = Asks()
    a.held = perhaps(x)
    return len(str(a)) * x[1] ** 2


def a_manager(x):
    with Asks() as a:
        a.held = perhaps(x)
    return a.left * x[1] ** 2


def a_class(x):
    return Asks[perhaps(x)] * x[1] ** 2


def a_class_of_a_class(x):
    return OfMeta[perhaps(x)] * x[1] ** 2


def called_by_map(x):
    return next(map(CALLS, [perhaps(x)])) * x[1] ** 2


POINTS = [np.array([0.3, 0.7]), np.array([0.6, 0.2])]


def slopes(f, x):
    return [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]


@pytest.mark.parametrize("f",
                         [in_a_tuple, in_a_dict, a_descriptor_that_sets, a_descriptor_that_reads, a_text, a_manager,
                          a_class, a_class_of_a_class],
                         ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_what_is_asked_of_an_object_of_a_class(f):
    gradient = fad.grad(f)
    for x in (*POINTS, POINTS[0]):
        np.testing.assert_allclose(gradient(x), slopes(f, x), atol=1e-6)


def test_an_object_that_map_calls_is_traced():
    for x in POINTS:
        np.testing.assert_allclose(fad.grad(called_by_map, fallback=False)(x), slopes(called_by_map, x), atol=1e-6)


def test_what_is_asked_of_an_argument():
    def f(a, x):
        return x[0] if a == perhaps(x) else x[1] ** 2
    gradient = fad.grad(f, argnums=1, fallback=False)
    for x in POINTS:
        np.testing.assert_allclose(gradient((Asks(), 1.0)[0], x), slopes(lambda x: f(Asks(), x), x), atol=1e-6)


class Quiet:
    """Questions that are about what the methods are given, which is None or not whatever the data."""

    def __enter__(self):
        return 2.0

    def __exit__(self, kind, error, traceback):
        return kind is not None and False


def test_questions_that_data_do_not_decide_are_no_reason():
    def f(x):
        with Quiet() as k:
            best = perhaps(x)
        return k * x[0] if best is None else x[1] ** 2
    for x in POINTS:
        np.testing.assert_allclose(fad.grad(f, fallback=False)(x), slopes(f, x), atol=1e-6)


def test_length_hints_of_objects_that_count():
    class Counted:
        n = 0

        def __len__(self):
            return 2 + self.n

    counted = Counted()

    def f(x):
        counted.n += 1
        return np.sum(x ** 2) * operator.length_hint(counted)
    g, x = fad.value_and_grad(f), np.array([1.0, 2.0])
    for k in range(5):
        value, slope = g(x)
        assert value == 5.0 * (3 + k) and np.allclose(slope, 2.0 * x * (3 + k))


class Point:
    """A key of dicts that is told by an element of its array."""

    def __init__(self):
        self.at = np.array([1.0, 2.0])

    def __hash__(self):
        return 3

    def __eq__(self, other):
        return self.at[0] == other.at[0]


@pytest.mark.parametrize("find", [
    lambda table, p, q: table.get(q, 1.0), lambda table, p, q: 2.0 if q in table else 1.0,
    lambda table, p, q: {p: 2.0}.get(q, 1.0), lambda table, p, q: 2.0 if q in {p} else 1.0,
    lambda table, p, q: table[q], lambda table, p, q: table.setdefault(q, 1.0)])
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_keys_that_are_told_by_elements_written_before_are_refused(find):
    def made():
        p = Point()
        table = {p: 2.0}

        def f(x):
            p.at[0] = 5.0
            return np.sum(x ** 2) * find(table, p, Point())
        return f
    try:
        want = made()(np.ones(2))
    except KeyError:
        want = None
    try:
        value = fad.value_and_grad(made())(np.ones(2))[0]
    except fad.FadError:
        return
    except KeyError:
        value = None
    assert value == want


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


def test_an_enum_asks_nothing():
    """Enum.__dir__ does, and nobody calls it."""
    o = types.SimpleNamespace(mode=Mode.FAST)

    def f(x):
        best = None
        if x[0] > 1.0:
            best = x[1] ** 2
        return np.sum(x) * (2.0 if o.mode is Mode.FAST else 3.0) + (0.0 if best is None else best)
    g = fad.grad(f, fallback=False)
    for x in (np.array([0.5, 1.5]), np.array([2.0, 3.0])):
        np.testing.assert_allclose(g(x), slopes(f, x), atol=1e-6)


class Audited:
    """It counts what is read of it."""

    def __init__(self):
        self.reads, self.rate = 0, 0.5

    def __getattribute__(self, name):
        if name != "reads" and not name.startswith("__"):
            self.reads += 1
        return object.__getattribute__(self, name)


def test_getattribute_is_called_as_python_calls_it():
    owner, plain = Audited(), Audited()

    def f(owner, x):
        return owner.rate * x ** 2 + owner.reads
    g = fad.value_and_grad(lambda x: f(owner, x))
    with pytest.warns(fad.FallbackWarning, match="Audited has a __getattribute__"):
        for _ in range(4):
            value, gradient = g(1.5)
            assert value == f(plain, 1.5)
            assert gradient == 1.5
            assert owner.reads == plain.reads
