"""The generated function that asks all guards of a program."""
import numpy as np
import pytest

import fad
from fad.trace.guards.checks import PATIENCE, Checks
from fad.trace.guards.guard import (
    AbsenceGuard,
    AnswerGuard,
    AttributeGuard,
    CodeGuard,
    ItemGuard,
    NamesGuard,
    VariableGuard,
    of_all_in,
    of_contents,
    of_names,
)


class Thing:
    rate = 0.5


def closed(x):
    return lambda: x


def changes():
    """Guards, and what changes each of them."""
    thing, scope, row, inner = Thing(), {"a": 1.0, "b": [1.0]}, [1.0, 2.0], closed(1.0)
    many = {f"n{k}": k for k in range(20)}
    return [
        (ItemGuard(scope, "a", scope["a"]), lambda: scope.update(a=2.0)),
        (ItemGuard(row, -1, row[-1]), lambda: row.append(5.0)),
        (AbsenceGuard(scope, "c"), lambda: scope.update(c=1)),
        (AttributeGuard(thing, "rate", 0.5), lambda: setattr(thing, "rate", 0.7)),
        (AttributeGuard(thing, "rate", 0.5), lambda: setattr(Thing, "rate", 0.7)),
        (VariableGuard(inner.__closure__[0], 1.0), lambda: setattr(inner.__closure__[0], "cell_contents", 2.0)),
        (CodeGuard(inner), lambda: setattr(inner, "__defaults__", ())),
        (of_contents(scope), lambda: scope["b"].append(2.0)),
        (of_all_in(thing), lambda: setattr(thing, "more", 1)),
        (AnswerGuard(lambda: len(row), 2), lambda: row.pop()),
        (*of_names(many, many), lambda: many.update(n3=-1)),
    ]


@pytest.mark.parametrize("asked", [0, PATIENCE + 1], ids=["one by one", "generated"])
@pytest.mark.parametrize("k", range(len(changes())))
def test_a_change_is_seen(k, asked, monkeypatch):
    monkeypatch.setattr(Thing, "rate", 0.5)
    guard, change = changes()[k]
    checks = Checks([guard])
    assert all(checks.holds() for _ in range(asked))
    assert (checks.test is not None) == (asked > PATIENCE)
    assert checks.holds()
    change()
    assert not checks.holds()


def test_many_names_of_a_dict_are_one_guard():
    assert isinstance(of_names({}, map(str, range(20)))[0], NamesGuard)


def test_what_is_gone_is_a_change():
    scope = {"a": 1.0}
    checks = Checks([ItemGuard(scope, "a", scope["a"])])
    checks.function()
    del scope["a"]
    assert not checks.holds()


@pytest.mark.parametrize("now", [1, True, np.float64(1.0), -1.0])
def test_an_equal_number_of_the_same_class_is_no_change(now):
    row = [float("1.0")]
    checks = Checks([ItemGuard(row, 0, row[0])])
    test = checks.function()
    row[0] = float("1.0")
    assert not test() and checks.holds() and test()           # it goes on with the new one
    row[0] = now
    assert not checks.holds()


def test_a_zero_of_another_sign_is_a_change():
    row = [0.0, complex(1.0, 0.0)]
    checks = Checks([of_contents(row)])
    row[1] = complex(1.0, -0.0)
    assert not checks.holds()


def test_equal_guards_are_one():
    scope = {"a": 1.0}
    assert len(Checks([ItemGuard(scope, "a", scope["a"]) for _ in range(3)]).guards) == 1


# -- what functions come to --------------------------------------------------------------------------------------------

TABLE = [0.37 * k for k in range(64_000)]
NESTED = {"a": {"b": [1.0, 2.0]}}


class Model:
    def __init__(self):
        self.table = TABLE

    def three(self, x):
        return x[0] * self.table[3] + x[1] * self.table[-7] + self.table[100]


def three(x):
    return x[0] * TABLE[3] + x[1] * TABLE[-7] + TABLE[100]


def guards_of(f, x):
    [programs] = f.programs.values()
    return programs[-1].traced.sources.guards


@pytest.mark.parametrize("f", [three, Model().three], ids=["a name", "an attribute"])
def test_elements_read_by_an_index_are_guarded_one_by_one(f):
    kept, x = fad.jit(f), np.ones(3)
    kept(x)
    guards = guards_of(kept, x)
    assert {(type(guard), guard.at) for guard in guards if guard.owner is TABLE} == {
        (ItemGuard, k) for k in (3, -7, 100)}
    TABLE[5] += 1.0
    assert all(guard.unchanged for guard in guards)


def test_a_list_that_is_read_by_an_index_and_as_a_whole(tmp_path):
    def by_index(x):
        return x[0] * NESTED["a"]["b"][0]

    def both(x):
        return by_index(x) + sum(NESTED["a"]["b"]) * x[1]

    kept, x = fad.jit(both), np.array([1.0, 10.0])
    for k in range(3):
        NESTED["a"]["b"][k % 2] = 3.0 + k
        assert kept(x) == both(x)
    NESTED["a"]["b"] = [5.0]
    assert kept(x) == both(x)


def test_a_list_that_is_written_to_and_read_by_an_index():
    held = [1.0, 2.0]

    def f(x):
        first = held[0]
        held.append(3.0)
        return x * (first + held[-1] + len(held))
    want = f(2.0)
    del held[2:]
    assert fad.jit(f)(2.0) == want and held == [1.0, 2.0, 3.0]


def test_a_number_that_changes_is_an_input_from_its_second_value_on():
    rate = 0.1

    def f(x):
        return np.sum(x) * rate
    kept, x = fad.jit(f), np.ones(3)
    for rate in (0.1, 0.2, 0.3, 0.4):  # noqa: B007
        assert kept(x) == f(x)
    assert kept.traces == 2


@pytest.mark.parametrize("cls", [int, float, bool])
def test_the_class_of_a_number_is_told_by_is(cls):
    value = cls(1)
    assert fad.jit(lambda x: x * (2.0 if type(value) is cls else 3.0))(1.0) == 2.0
    assert fad.jit(lambda x: x * (2.0 if type(value) is not cls else 3.0))(1.0) == 3.0


def kind_by_name(x):
    return x * (2.0 if type(len("a")) is int else 3.0)


def test_the_class_of_a_number_is_told_by_its_name():
    assert fad.jit(kind_by_name)(1.0) == 2.0


def test_attributes_that_a_function_has_not_are_asked_of_all_at_once():
    """A function has no attributes, as a rule. A dict that holds nothing holds none of many names."""
    def f(x):
        return x
    [guard] = of_names(vars(f), map(str, range(50)))
    checks = Checks([guard])
    holds = checks.function()
    assert checks.guards[0].test("c0", "v0").startswith("(not c0.space or ") and holds()
    f.other = 1
    assert holds()
    setattr(f, "7", 2)
    assert not holds() and not checks.holds()
