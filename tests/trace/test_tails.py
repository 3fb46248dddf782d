"""Lists from outside that grow in branches and in loops that data end: each call appends what Python appends."""
import copy
import dataclasses
import enum
import functools
import json
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning

from ..transforms.support import differences
from ..turns import in_tiers

POINTS = [np.array(x) for x in ([0.4, 1.2, -0.3], [1.4, 0.2, 0.6], [-0.4, -0.2, -0.6], [0.4, 1.2, -0.3])]


class Event(enum.Enum):
    UP = 1
    DOWN = 2


@dataclasses.dataclass
class Row:
    k: int
    v: float


class Model:
    def __init__(self):
        self.log, self.limit, self.calls, self.parts = [], 0.3, 0, {"up": [], "down": [0.5]}

    def straight(self, x):
        s = np.sum(x ** 2)
        if s > 1.5:
            self.log.append(s)
        return s

    def in_a_loop(self, x):
        for k in range(len(x)):
            if x[k] > self.limit:
                self.log.append((k, x[k] * 2))
                self.calls += 1
        return x @ x

    def of_events(self, x):
        y = x[0]
        for k in range(6):
            y = 0.7 * y + x[1]
            if y > self.limit:
                self.log.append(("above", k, Event.UP, None))
        return y * x[2]

    def until(self, x):
        t, dt = 0.0, 0.3 + 0.1 * x[0] ** 2
        while t < 1.0:
            if t + dt > 1.0:
                dt = 1.0 - t
                self.log.append(dt)
            t += dt
            self.log.append({"t": t, "y": t * x[1]})
        return t * x[1] + dt

    def in_a_while_loop(self, x):
        y, k = abs(x[0]) + 1.0, 0
        while y > 0.2:
            y, k = 0.5 * y, k + 1
            self.log.append(y)
        return y * x[1] + k

    def two_lists(self, x):
        for v in x:
            if v > self.limit:
                self.parts["up"].append(v)
            else:
                self.parts["down"].extend([v * v, v])
        return np.sum(x) ** 2

    def arrays(self, x):
        y = x * 1.0
        for _ in range(4):
            y = np.sin(y) + x[0]
            if y[0] > 0.8:
                self.log.append(y)
        return np.sum(y)

    def last_steps(self, x):
        """The first step is Python's number, the others are NumPy's."""
        t, dt = 0.0, 0.3 + 0.1 * x[0] ** 2
        while t < 1.0:
            if t + dt > 1.0:
                dt = 1.0 - t
                self.log.append(dt)
            t += dt
        return t * x[1] + dt

    def copies(self, x):
        y = x * 1.0
        for k in range(4):
            y[k % 3] += x[0]
            if y[0] > 0.8:
                self.log.append(y.copy())
        return np.sum(y)

    def returned_early(self, x):
        y = 1.0
        for k in range(30):
            step = (y * y - abs(x[0]) - 1.0) / (2 * y)
            y = y - step
            if abs(step) < 1e-9:
                self.log.append(k)
                return y * x[1]
        self.log.append("none")
        return y

    def in_a_nest(self, x):
        total = 0.0
        for j in range(3):
            for k in range(4):
                total += x[j] * k
                if total > 1.0:
                    self.log.append((j, k, total))
                    break
        return total

    def helper(self, v, found):
        if v > self.limit:
            found.append(v)
        return v * v

    def by_a_helper(self, x):
        return sum([self.helper(v, self.log) for v in x])

    def both_ways(self, x):
        self.log.append(x[0])
        for v in x:
            if v > self.limit:
                self.log.append(v)
        self.log.append(7 * x[1])
        return x @ x

    def asked_for_its_class(self, x):
        if isinstance(self.log, list) and x[0] > self.limit:
            self.log.append(x[0])
        return x @ x

    def an_attribute_is_set(self, x):
        if x[0] > self.limit:
            self.log += [x[1]]
        return x @ x

    # -- on the tape --

    def two_kinds(self, x):
        for v in x:
            if v > self.limit:
                self.log.append(v)
        self.log.append(7)
        return x @ x

    def an_item_is_set(self, x):
        if x[0] > self.limit:
            self.parts["up"] += [x[1]]
        return x @ x

    def read(self, x):
        if x[0] > self.limit:
            self.log.append(x[1])
        return x[2] * len(self.log)

    def read_by_json(self, x):
        if x[0] > self.limit:
            self.parts["up"].append(3)
        return x[2] * len(json.dumps(self.parts))

    def read_by_a_copy(self, x):
        if x[0] > self.limit:
            self.log.append(3)
        return x[2] * len(copy.copy(self).log)

    def last(self, x):
        for v in x:
            if v > self.limit:
                self.log.append(v)
        return x[2] * self.log[-1] if self.log else x[0]

    def returned(self, x):
        if x[0] > self.limit:
            self.log.append(1.5)
        return x @ x + len([*self.log])

    def changed_behind(self, x):
        y = x * 1.0
        if x[0] > self.limit:
            self.log.append(y)
        y[0] = 5.0
        return y @ y

    def an_argument(self, x):
        if x[1] > self.limit:
            self.log.append(x)
        return x @ x


COMPILED = ["straight", "in_a_loop", "of_events", "in_a_while_loop", "last_steps", "two_lists", "arrays", "copies",
            "in_a_nest", "by_a_helper", "both_ways", "asked_for_its_class", "an_attribute_is_set"]
ON_THE_TAPE = ["two_kinds", "an_item_is_set", "until", "returned_early", "read", "read_by_json", "read_by_a_copy",
               "last", "returned", "changed_behind", "an_argument"]


def said(model):
    """What a model holds, with the classes of all."""
    def each(x):
        if isinstance(x, np.ndarray):
            return "array", x.dtype.name, np.round(x, 9).tolist()
        if isinstance(x, (list, tuple)):
            return type(x).__name__, *map(each, x)
        if isinstance(x, dict):
            return type(x).__name__, *[(k, each(v)) for k, v in x.items()]
        return type(x).__name__, round(float(x), 9) if isinstance(x, (float, np.floating)) else x
    return each(vars(model))


def change(model, number):
    """What changes between the calls."""
    if number == 1:
        model.limit = 0.1
    if number == 2:
        model.log.clear()
    if number == 3:
        model.log, model.parts = ["new"], {"up": [2.0], "down": []}


def alone(model, name, x):
    """A call that leaves the model as it is."""
    return getattr(copy.deepcopy(model), name)(x)


def check(name, make):
    expected, model = Model(), Model()
    run = make(getattr(model, name))
    for number, x in enumerate(POINTS):
        change(expected, number)
        change(model, number)
        wanted = differences(functools.partial(alone, copy.deepcopy(expected), name), x)
        value = getattr(expected, name)(x.copy())
        y, g = run(x.copy())
        assert y == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(g, wanted, rtol=1e-5, atol=1e-6)
        assert said(model) == said(expected)


@pytest.mark.parametrize("name, policy", in_tiers(COMPILED))
def test_programs(name, policy):
    check(name, lambda f: fad.value_and_grad(f, compile=policy, fallback=False))


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("name", ON_THE_TAPE)
def test_what_is_read_belongs_to_the_tape(name):
    check(name, fad.value_and_grad)
    with pytest.raises(fad.FadError):                         # some have a program for each way
        fad.value_and_grad(getattr(Model(), name), fallback=False)(POINTS[0].copy())


@pytest.mark.parametrize("name", COMPILED)
def test_further_transforms(name):
    expected = Model()
    getattr(expected, name)(POINTS[0].copy())
    for transform in (fad.jit, fad.jacfwd, fad.hessian):
        model = Model()
        transform(getattr(model, name), fallback=False)(POINTS[0].copy())
        assert said(model) == said(expected)


def test_examples_append_in_turn():
    expected, model = Model(), Model()
    values = [expected.in_a_loop(x) for x in POINTS]
    np.testing.assert_allclose(fad.vmap(model.in_a_loop)(np.stack(POINTS)), values)
    assert said(model) == said(expected)


def test_a_gradient_within_a_function():
    def of(model, slope_of):
        def step(x):
            for _ in range(3):
                g = slope_of(model.in_a_loop)(x)
                if g[0] > model.limit:
                    model.log.append(g[0])
                x = x - 0.1 * g
            return x @ x
        return step

    def by_hand(f):
        def at(x):
            f(x)
            return 2 * x
        return at
    expected, model = Model(), Model()
    value = of(expected, by_hand)(POINTS[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        assert fad.jit(of(model, fad.grad))(POINTS[0]) == pytest.approx(value, rel=1e-12)
    assert said(model) == said(expected)
