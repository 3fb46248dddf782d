"""Functions, members of an Enum, keys and places that depend on the path: what uses them is one program."""
import enum
import math
import types

import numpy as np
import pytest

import fad

from ..turns import in_tiers
from .one_program import check_one_program

POINTS = [np.array(x) for x in ([0.4, 1.3, -0.6], [1.4, 0.2, 0.7], [-0.45, -0.2, 1.1])]
RATES = {"slow": 0.5, "fast": 2.0, "none": np.zeros(3)[0]}
ROWS = {0: np.array([1.0, 2.0, 3.0]), 1: np.array([0.5, 0.1, 0.2]), 7: np.array([2.0, 2.0, 2.0])}


def square(v):
    return v * v


def linear(v, slope=3.0):
    return slope * v


class Mode(enum.Enum):
    OFF = 0.0
    LOW = 1.5
    HIGH = 2.5

    def gain(self, v):
        return self.value * v


class Controller:
    def __init__(self):
        self.count = 0

    def up(self, v):
        self.count += 1
        return 2 * v

    def down(self, v):
        return v / 2


RULES = {"square": square, "linear": linear, "sin": np.sin}
BY_MODE = {Mode.OFF: square, Mode.LOW: linear, Mode.HIGH: math.cos}
TABLE = [square, linear, np.tanh]
ARRAYS = [np.array([1.0, 2.0]), np.array([0.5]), np.array([1.0, 3.0, 2.0])]
PAIR = (np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.1, 0.2]))
NAMES = ["slow", "none", "fast"]


def one_of_two(x):
    g = square if x[0] > 0 else linear
    return g(x[1]) + g(x[2])


def by_a_loop(x):
    g, total = square, 0.0
    for v in x:
        total += g(v)
        if v > 1:
            g = linear
        elif v < 0:
            g = np.sin
    return total * (2.0 if g is linear else 1.0)


def by_a_place(x):
    return sum([TABLE[int(abs(v) * 2) % 3](v) for v in x])


def arrays_by_a_place(x):
    total = 0.0
    for v in x:
        k = int(abs(v) * 2) % 3
        total += np.sum(ARRAYS[k] * v) + PAIR[k % 2] @ x
    return total


def texts_by_a_place(x):
    total = 0.0
    for v in x:
        name = NAMES[int(abs(v) * 2) % 3]
        total += RATES[name] * v if name != "none" else v ** 2
    return total


def from_behind(x):
    k = -1 if x[0] > 0 else -3
    return TABLE[k](x[1])


def by_a_key(x):
    total = 0.0
    for v in x:
        name = "square" if v > 1 else "linear" if v > 0 else "sin"
        total += RULES[name](v)
    return total


def numbers_by_a_key(x):
    name, total = "slow", 0.0
    for v in x:
        if v > 0.6:
            name = "fast"
        elif v < 0:
            name = "none"
        total += RATES[name] * v
    return total


def arrays_by_a_number(x):
    total = 0.0
    for v in x:
        k = 0 if v < 0 else 1 if v < 1 else 7
        total += ROWS[k] @ x * v
    return total


def modes(x):
    mode, total = Mode.OFF, 0.0
    for v in x:
        if mode is Mode.OFF:
            mode = Mode.LOW if v > 0 else Mode.HIGH
        elif mode == Mode.LOW and v > 0.1:
            mode = Mode.HIGH
        total += mode.value * v + mode.gain(v) ** 2 + BY_MODE[mode](v)
    return total + (1.0 if mode in (Mode.LOW, Mode.HIGH) else 0.0)


def matched(x):
    mode = Mode.LOW if x[0] > 0 else Mode.HIGH
    match mode:
        case Mode.LOW:
            return x[1] ** 2
        case Mode.HIGH:
            return x[2] ** 3
    return x[0]


def with_keywords(x):
    g = linear if x[0] > 0 else lambda v, slope: v ** 2 * slope
    return g(x[1], slope=x[2])


def truth_of_a_function(x):
    g = square if x[0] > 0 else linear
    return g(x[1]) if g else x[2]


def of_a_helper(x):
    def pick(v):
        if v > 0.5:
            return square
        return linear
    return sum([pick(v)(v) for v in x])


def in_a_while_loop(x):
    y, rule, n = abs(x[1]) + 1.0, square, 0
    while y > 0.1 and n < 20:
        y = rule(y) * 0.3
        rule = linear if y < 0.5 else square
        n += 1
    return y * x[0] + n


@pytest.mark.parametrize("f, policy", in_tiers(
    [one_of_two, by_a_loop, by_a_place, arrays_by_a_place, texts_by_a_place, from_behind, by_a_key,
    numbers_by_a_key, arrays_by_a_number, modes, matched, with_keywords, truth_of_a_function, of_a_helper,
    in_a_while_loop]))
def test_one_program(f, policy):
    check_one_program(f, POINTS, policy)


def test_what_changes_between_calls():
    rules, c = dict(RULES), Controller()

    def f(x):
        g = c.up if x[0] > 0 else c.down
        return rules["square" if x[1] > 1 else "sin"](x[1]) + g(x[2])
    gradient, calls = fad.value_and_grad(f, fallback=False), 0
    for number, x in enumerate(POINTS * 2):
        if number == 2:
            rules["sin"] = np.cos
        if number == 4:
            rules["square"] = linear
        calls += x[0] > 0
        y, _ = gradient(x)
        assert c.count == calls
        c.count = calls - (x[0] > 0)
        assert y == f(x)
        c.count = calls


def test_a_choice_is_delivered():
    class Machine:
        def __init__(self):
            self.mode, self.rule = Mode.OFF, square

        def step(self, x):
            if x[0] > 0:
                self.mode, self.rule = Mode.LOW, linear
            else:
                self.mode = Mode.HIGH
            return x @ x
    for policy in ("now", "never"):
        machine = Machine()
        step = fad.grad(machine.step, compile=policy, fallback=False)
        for x in POINTS:
            expected = Machine()
            expected.rule = machine.rule
            expected.step(x)
            step(x)
            assert machine.mode is expected.mode
            assert machine.rule is expected.rule


def test_errors_are_pythons():
    def f(x):
        return ROWS[int(x[0] * 10)] @ x

    def g(x):
        return RULES["square" if x[0] > 1 else "cube"](x[1])

    def h(x):
        return TABLE[int(x[0] * 10)](x[1])
    for k, error in ((f, KeyError), (g, KeyError), (h, IndexError)):
        with pytest.raises(error):
            fad.grad(k)(POINTS[0])


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_other_questions_belong_to_the_tape():
    def text(x):
        mode = Mode.LOW if x[0] > 0 else Mode.HIGH
        return x[1] * len(f"{mode} {mode.name}")

    def class_of(x):
        g = square if x[0] > 0 else math.sin
        return x[1] if isinstance(g, type(square)) else x[2]

    def in_a_set(x):
        mode = Mode.LOW if x[0] > 0 else Mode.HIGH
        return x[1] * len({mode, Mode.LOW})

    def given_away(x):
        g = square if x[0] > 0 else linear
        return sum(map(g, [x[1], x[2]]))

    def returned(x):
        return x @ x, Mode.LOW if x[0] > 0 else Mode.HIGH

    for f in (text, class_of, in_a_set, given_away, returned):
        for x in POINTS:
            found, expected = fad.jit(f)(x), f(x)
            assert found == expected


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_a_thing_is_chosen_by_each_example_beside_what_a_program_cannot_write():
    o = types.SimpleNamespace(act=square, table=None)

    def f(x):
        o.act = linear if o.act is square else square
        o.table = {"p": 0.5, "first": o.act}
        return np.sum(np.tanh(x))
    x = np.ones((3, 2))
    assert np.allclose(fad.grad(lambda x: np.sum(fad.vmap(f)(x)))(x), 1.0 - np.tanh(1.0) ** 2)
    assert o.act is linear and o.table["first"] is linear
