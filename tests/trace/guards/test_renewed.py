"""What a program was made of and is changed afterwards: methods, attributes of classes, a function's own code, default
values and attributes."""
import functools
import importlib.util
import itertools
import random
import warnings

import numpy as np
import pytest

import fad

X = np.array([1.0, 2.0, 3.0])


def twice(x):
    return x * 2


def thrice(x):
    return x * 3


def shifted(x, shift=1.0, *, scale=1.0):
    return scale * x + shift


def counting(x):
    counting.calls += 1
    return x * counting.calls


class Base:
    rate, table = 2.0, {"a": 1.0}

    def __init__(self, x):
        self.x = x

    def scaled(self):
        return self.x * self.rate

    @property
    def squared(self):
        return self.x ** 2

    @classmethod
    def made(cls, x):
        return cls(x)


class Derived(Base):
    pass


OUTER = Derived(0.0)


def of_the_class(x):
    return Derived(x).rate * x


def of_a_method(x):
    return Derived(x).scaled()


def of_a_property(x):
    return Derived(x).squared


def of_a_table(x):
    return Derived(x).table["a"] * x


def of_a_class_method(x):
    return Derived.made(x).x * 2.0


def of_an_outer_object(x):
    return OUTER.rate * x


def changed(owner, name, value):
    return lambda patch: patch.setattr(owner, name, value)


CHANGES = {
    "an attribute of a class": (of_the_class, changed(Base, "rate", 5.0)),
    "an attribute of a class that hides another": (of_the_class,
                                                   lambda patch: patch.setattr(Derived, "rate", 7.0, raising=False)),
    "a method": (of_a_method, changed(Base, "scaled", lambda self: self.x + 1)),
    "what a method reads": (of_a_method, changed(Base, "rate", -1.0)),
    "a property": (of_a_property, changed(Base, "squared", property(lambda self: self.x ** 3))),
    "a dict of a class": (of_a_table, lambda patch: patch.setitem(Base.table, "a", 4.0)),
    "a class method": (of_a_class_method, changed(Base, "made", classmethod(lambda cls, x: cls(x * 3)))),
    "an attribute of an outer object's class": (of_an_outer_object, changed(Base, "rate", 5.0)),
    "a function's code": (lambda x: twice(x), changed(twice, "__code__", thrice.__code__)),
    "a function's defaults": (lambda x: shifted(x), changed(shifted, "__defaults__", (6.0,))),
    "a function's defaults by keyword": (lambda x: shifted(x), changed(shifted, "__kwdefaults__", {"scale": 6.0})),
    "the code of a partial": (functools.partial(shifted, shift=2.0),
                              changed(shifted, "__code__", (lambda x, shift, *, scale: x * shift * 7).__code__)),
    "a function's attribute": (lambda x: twice(x) * getattr(twice, "rate", 1.0),
                               lambda patch: patch.setattr(twice, "rate", 3.0, raising=False)),
    "an attribute that was missing": (lambda x: x * getattr(OUTER, "extra", 1.0),
                                      lambda patch: patch.setattr(OUTER, "extra", 3.0, raising=False)),
    "an attribute that is there now": (lambda x: x * 2 if hasattr(OUTER, "extra") else x,
                                       lambda patch: patch.setattr(OUTER, "extra", 3.0, raising=False)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_changed_is_seen(what, monkeypatch):
    f, change = CHANGES[what]
    jitted = fad.jit(f)
    before = f(X)
    np.testing.assert_allclose(jitted(X), before)
    change(monkeypatch)
    assert not np.allclose(f(X), before)
    np.testing.assert_allclose(jitted(X), f(X))
    monkeypatch.undo()
    np.testing.assert_allclose(jitted(X), before)


def test_a_function_counts_in_an_attribute(monkeypatch):
    monkeypatch.setattr(counting, "calls", 0, raising=False)
    jitted = fad.jit(counting)
    for calls in (1, 2, 3):
        np.testing.assert_allclose(jitted(X), calls * X)
    assert counting.calls == 3


def test_a_class_counts_its_objects(monkeypatch):
    class Counted:
        made = 0

        def __init__(self, x):
            self.x = x
            Counted.made += 1

    def f(x):
        return Counted(x).x * Counted(x).made
    jitted = fad.jit(f)
    for calls in (2, 4, 6):
        np.testing.assert_allclose(jitted(X), calls * X)


def test_a_closure_counts():
    def counter():
        n = 0.0

        def tick():
            nonlocal n
            n += 1
            return n
        return tick
    tick = counter()
    jitted = fad.jit(lambda x: x * tick())
    for calls in (1, 2, 3):
        np.testing.assert_allclose(jitted(X), calls * X)
    assert tick() == 4


def test_what_is_left_in_an_outer_variable_is_there():
    def pair():
        kept = 0.0

        def keep(x):
            nonlocal kept
            kept = kept * 0.5 + np.sum(x)
            return kept * x
        return keep, lambda: kept
    (keep, kept), (plain, plainly) = pair(), pair()
    jitted = fad.jit(keep)
    for _ in range(4):
        np.testing.assert_allclose(jitted(X), plain(X))
        assert kept() == plainly()
    assert jitted.traces <= 2


class Noted:
    """Its methods branch and loop on data, where Python calls them and where the user does."""

    def __init__(self, x):
        self.parts = []
        for v in x:
            self.parts.append(v * 2 if v > 1.5 else -v)
        self.sign = 1.0 if x[0] > 0 else -1.0

    @functools.cached_property
    def total(self):
        s = 0.0
        for v in self.parts:
            s += v
        return s if s > 0 else -s


def test_what_makes_an_object_is_captured():
    def f(x):
        made = Noted(x)
        return made.total * made.sign + made.total
    for x in (X, -X, X * 0.1):
        np.testing.assert_allclose(fad.jit(f)(x), f(x))
        np.testing.assert_allclose(fad.grad(f)(x), [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)], atol=1e-8)


def draws_from_an_outer_generator():
    rng = np.random.default_rng(3)
    return lambda x: x * rng.normal() + rng.uniform(size=3)


def draws_from_the_common_generator():
    np.random.seed(3)
    return lambda x: x * np.random.rand() + np.random.randn(3)


def draws_of_pythons():
    random.seed(3)
    return lambda x: x * random.random()


class Noisy:
    def __init__(self):
        self.rng = np.random.RandomState(3)

    def __call__(self, x):
        return x * self.rng.normal()


def goes_on_with_an_iterator():
    it = iter([1.0, 2.0, 3.0, 4.0])
    return lambda x: x * next(it)


def goes_on_counting():
    ids = itertools.count(1)
    return lambda x: x * next(ids)


def goes_on_with_a_generator():
    def numbers():
        k = 1.0
        while True:
            yield k
            k *= 2
    class Holder:
        pass
    holder = Holder()
    holder.numbers = numbers()
    return lambda x: x * next(holder.numbers)


@pytest.mark.parametrize("make",
                         [draws_from_an_outer_generator, draws_from_the_common_generator, draws_of_pythons, Noisy])
def test_draws_go_on_from_call_to_call(make):
    plain = make()
    expected = [plain(X) for _ in range(3)]
    jitted = fad.jit(make(), fallback=False)
    np.testing.assert_allclose([jitted(X) for _ in range(3)], expected)
    assert jitted.traces == 1


@pytest.mark.parametrize("make", [goes_on_with_an_iterator, goes_on_counting, goes_on_with_a_generator])
def test_what_goes_on_from_call_to_call(make):
    plain = make()
    expected = [plain(X) for _ in range(3)]
    jitted = fad.jit(make())
    with pytest.warns(fad.FallbackWarning, match="goes on in it"):
        results = [jitted(X) for _ in range(3)]
    np.testing.assert_allclose(results, expected)
    f = make()
    with pytest.warns(fad.FallbackWarning):
        slope = fad.grad(lambda x: np.sum(f(x)))(X)
    np.testing.assert_allclose(slope, np.full(3, slope[0]))
    assert slope[0] != 0


def test_a_generator_with_a_seed_is_part_of_the_function():
    def f(x):
        rng = np.random.default_rng(5)
        return x * rng.normal(size=3)
    jitted = fad.jit(f)
    for _ in range(2):
        np.testing.assert_allclose(jitted(X), f(X))


def a_long_index(x):
    try:
        return x[6] * 2
    except IndexError:
        return x[0]


def until_an_index_is_too_large(x):
    s = 0.0
    for i in range(10):
        try:
            v = x[i]
        except IndexError:
            break
        s += v
    return s


def shapes_that_fit(x):
    try:
        return np.sum(x + np.ones(5))
    except ValueError:
        return np.sum(x * 2)


def a_reshape(x):
    try:
        return np.sum(x.reshape(2, 4)[0])
    except ValueError:
        return np.sum(x)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("f", [a_long_index, until_an_index_is_too_large, shapes_that_fit, a_reshape])
def test_what_a_handler_catches_of_one_size_is_for_that_size(f):
    jitted, gradient = fad.jit(f), fad.grad(f)
    for n in (5, 8, 7, 5, 12, 4, 8):
        x = np.arange(1.0, n + 1)
        np.testing.assert_allclose(jitted(x), f(x))
        np.testing.assert_allclose(gradient(x), [(f(x + h) - f(x - h)) / 2 for h in np.eye(n)])


TEXT = """import math
import numpy as np


def scaled(x):
    s = 0.0
    for v in x:
        if v > 1.5:
            s += 2.0 * math.sqrt(v)
        else:
            s -= v
    return s


halved = lambda x: np.sum(x) if x[0] > 0.5 else 2.0
"""


@pytest.mark.parametrize("old, new",
                         [("2.0 * math", "3.0 * math"), ("s -= v", "s += v"), ("> 1.5", "> 2.5"),
                          ("s += 2.0", "t = s; s += 2.0"),
                                      ("np.sum(x) if", "np.max(x) if"), ("\n\ndef scaled", "\n\n\ndef scaled")])
def test_a_file_that_was_changed_since_it_was_imported(old, new, tmp_path, monkeypatch):
    path = tmp_path / "changing.py"
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("changing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.write_text(TEXT.replace(old, new))
    for f in (module.scaled, module.halved):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            np.testing.assert_allclose(fad.jit(f)(X), f(X))
    np.testing.assert_allclose(module.scaled(X), 2.0 * (np.sqrt(2) + np.sqrt(3)) - 1.0)


def test_a_file_as_it_was_imported_is_captured(tmp_path):
    path = tmp_path / "steady.py"
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("steady", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for f in (module.scaled, module.halved):
        np.testing.assert_allclose(fad.jit(f, fallback=False)(X), f(X))
