"""A global name, an attribute of the module and an item of the module's dict are one variable."""
import importlib.abc
import sys
import types

import numpy as np
import pytest

import fad
from fad.trace.outcome import leaks
from fad.util.reach import referents

from ..transforms.support import differences
from ..turns import in_tiers

TEXT = '''
rate, count = 2.0, 0

def total(x):
    return rate * (x ** 2).sum()

def computed(name):
    return globals()[name]

def bump():
    global count
    count += 1
'''
POINTS = [np.array([0.7, 0.4]), np.array([0.3, 0.9])]


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """A module with global names, fresh for each test."""
    (tmp_path / "settings_of_test.py").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    import settings_of_test
    yield settings_of_test
    del sys.modules["settings_of_test"]


def set_once(m, x):
    m.rate = 3 * x[0]
    return m.total(x)


def set_between(m, x):
    first = m.total(x)
    m.rate = 3 * x[0]
    return first + m.total(x) * m.rate


def set_in_a_branch(m, x):
    before = m.total(x)
    if x[0] > 0.5:
        m.rate = 5.0
    else:
        m.rate = x[1]
    return m.total(x) * m.rate + before


def set_on_one_path(m, x):
    before = m.total(x)
    if x[0] > 0.5:
        m.rate = x[1]
    return m.total(x) + before


def set_in_a_loop(m, x):
    s = 0.0
    for _ in range(4):
        m.rate = m.rate * 0.5 + x[0]
        s = s + m.total(x)
    return s


def counted_by_its_function(m, x):
    m.bump()
    m.bump()
    return (m.count + 1) * (x ** 2).sum()


def read_in_globals(m, x):
    before = m.computed("rate")
    m.rate = x[0]
    m.bump()
    return m.computed("rate") * before * (1 + m.computed("count"))


def a_new_name(m, x):
    m.late = x[0]
    return m.late * x[1] if hasattr(m, "late") else 0.0 * x[0]


def by_setattr(m, x):
    setattr(m, "rate", x[0])  # noqa: B010 - the name may be computed
    r = getattr(m, "rate")  # noqa: B009
    m.rate += 1
    return r * m.total(x)


CASES = [read_in_globals, set_once, set_between, set_in_a_branch, set_on_one_path, set_in_a_loop,
         counted_by_its_function, a_new_name, by_setattr]


def names_of(m):
    return {n: float(x) for n, x in vars(m).items() if isinstance(x, (int, float)) and not n.startswith("__")}


def reset(m, names=None):
    for n in names_of(m):
        delattr(m, n)
    vars(m).update({"rate": 2.0, "count": 0} if names is None else names)


@pytest.mark.parametrize("f, policy", in_tiers(CASES))
def test_all_names_of_a_variable_see_what_is_assigned(f, policy, settings):
    def at(x, names):
        reset(settings, names)
        return f(settings, x)
    with fad.config.using(compile=policy):
        gradient = fad.grad(lambda x: f(settings, x), fallback=False)
        reset(settings)
        for x in POINTS * 2:
            names = {n: v for n, v in vars(settings).items() if n in ("rate", "count", "late")}
            expected = differences(lambda z: at(z, names), x)                                    # noqa: B023
            at(x, names)
            left = names_of(settings)
            reset(settings, names)
            np.testing.assert_allclose(gradient(x), expected, rtol=1e-6, atol=1e-8)
            assert names_of(settings) == pytest.approx(left)


def read_in_the_dict(m, names, x):
    m.bump()
    return (names["count"] + 1) * x.sum()


def set_in_the_dict(m, names, x):
    before = m.total(x)
    names["rate"] = 4.0
    return m.total(x) + before


def set_in_the_module(m, names, x):
    m.rate = 4.0 * x[0]
    return names["rate"] * x.sum()


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("f", [read_in_the_dict, set_in_the_dict, set_in_the_module])
def test_a_dict_of_global_names_beside_them_is_refused(f, settings):
    names = vars(settings)
    with pytest.raises(fad.FadError, match="a dict of all global names"):
        fad.grad(lambda x: f(settings, names, x))(POINTS[0])


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_the_loader_of_a_module_is_not_searched(settings, monkeypatch):
    """That of pytest leads to all tests, and this search took half a minute."""
    class Library(importlib.abc.Loader):
        def __init__(self):
            self.books = [[1.0]]
    settings.__loader__, searched, names = Library(), [], vars(settings)
    monkeypatch.setattr(leaks, "referents", lambda x: searched.extend(found := referents(x)) or found)
    with pytest.raises(fad.FadError, match="a dict of all global names"):
        fad.grad(lambda x: set_in_the_dict(settings, names, x))(POINTS[0])
    assert not any(x is settings.__loader__.books for x in searched)


def test_a_dict_of_global_names_that_is_only_read_is_as_good_as_the_names(settings):
    names = vars(settings)
    gradient = fad.grad(lambda x: names["rate"] * settings.total(x), fallback=False)
    np.testing.assert_allclose(gradient(POINTS[0]), 8 * POINTS[0])
    settings.rate = 3.0
    np.testing.assert_allclose(gradient(POINTS[0]), 18 * POINTS[0])


def test_a_module_class_of_its_own_sets_its_attributes_itself():
    class Loud(types.ModuleType):
        def __setattr__(self, name, value):
            super().__setattr__(name, value * 2)
    m = Loud("loud")

    def f(x):
        m.rate = 1.5
        return m.rate * x
    assert fad.grad(f)(1.0) == 3.0


# functions whose text is not at hand: their globals() is the dict of the same variables
UNSEEN = {
    "read": "globals()['w'] * x",
    "read beside the name": "globals()['w'] * x * w",
    "an element": "globals()['table']['a'] * x",
    "a missing name": "x * (2.0 if 'other' in globals() else 3.0)",
    "a function": "globals()['h'](x)",
    "assigned": "globals().__setitem__('w', x * 2) or globals()['w'] * x",
    "counted": "count(x) * globals()['n']",
}
HELPER = "def count(x):\n    global n\n    n += 1\n    return x\n"
CHANGES = [lambda m: m["w"].__setitem__(0, 7.0), lambda m: m["table"].update(a=5.0),
           lambda m: m.update(other=1, h=np.sin)]


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("use, policy", in_tiers(UNSEEN))
def test_globals_of_functions_without_a_text(use, policy):
    def made():
        names = {"np": np, "w": np.array([1.0, 2.0]), "table": {"a": 2.0}, "h": np.exp, "n": 1}
        exec(HELPER + f"def f(x): return np.sum({UNSEEN[use]})", names)
        return names
    ours, plain = made(), made()
    g = fad.value_and_grad(ours["f"], compile=policy)
    for change in [lambda m: None, *CHANGES]:
        change(ours)
        change(plain)
        for x in POINTS:
            n = plain["n"]
            value, slope = g(x)
            found = differences(lambda y, n=n: plain.update(n=n) or plain["f"](y), x)
            np.testing.assert_allclose(slope, found, rtol=1e-6)
            plain.update(n=n)
            assert np.isclose(value, plain["f"](x))
            assert ours["n"] == plain["n"]
            np.testing.assert_allclose(ours["w"], plain["w"])


def test_a_module_sees_what_a_function_without_a_text_assigns(settings):
    exec("def bumped():\n    global rate\n    rate = rate + 1.0", vars(settings))

    def f(x):
        settings.bumped()
        return settings.rate * x[0]
    for k in range(2):
        assert fad.grad(f)(POINTS[0])[0] == 3.0 + k
        assert settings.rate == 3.0 + k
