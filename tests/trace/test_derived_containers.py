"""Classes that users derive from Python's containers: fad reads and puts back past their methods.

Their methods may count, check or refuse (pandas has a list that nobody may change). A function under fad calls those
that it calls in Python, and no others.
"""
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import pytest

import fad

CALLED: Counter = Counter()
QUIET = {"__init__", "__new__", "__class__", "__getattribute__", "__init_subclass__", "__subclasshook__", "__dir__",
         "__class_getitem__", "__doc__", "__hash__", "__reduce__", "__reduce_ex__", "__sizeof__", "__getstate__"}


def counting(base: type) -> type:
    """A class derived from a container. Its methods count their calls."""
    def counted(name):
        method = getattr(base, name)

        def call(self, *args, **kwargs):
            CALLED[name] += 1
            return method(self, *args, **kwargs)
        return call
    names = [n for n in dir(base) if callable(getattr(base, n)) and n not in QUIET]
    return type(f"Counting{base.__name__}", (base,), {"__slots__": ("mark",)} | {n: counted(n) for n in names})


CONTENTS = [(list, [1.0, 2.0]), (dict, {"a": 1.0, "b": 2.0}), (OrderedDict, {"b": 2.0, "a": 1.0}),
            (set, {1.0, 2.0}), (deque, [1.0, 2.0]), (defaultdict, {"a": 1.0})]


class Model:
    def __init__(self, kept):
        self.kept, self.calls, self.scale = kept, 0, 2.0

    def opaque(self, x):
        return eval("self.scale * x", {"self": self, "x": x})

    def __call__(self, x):
        self.calls += 1
        return np.sum(self.opaque(x) ** 2)


def made(base, inside):
    thing = counting(base)()
    if isinstance(thing, dict):
        dict.update(thing, inside)
    elif isinstance(thing, set):
        set.update(thing, inside)
    else:
        base.extend(thing, inside)
    return thing


@pytest.mark.parametrize("base, inside", CONTENTS, ids=[base.__name__ for base, _ in CONTENTS])
@pytest.mark.parametrize("fallback", [True, False])
def test_no_method_is_called_that_the_function_does_not_call(base, inside, fallback):
    model = Model(made(base, inside))
    gradient = fad.grad(lambda x: model(x) + np.sum(x), fallback=fallback)
    CALLED.clear()
    for k in range(3):
        x = np.arange(3.0) + k
        assert np.allclose(gradient(x), 8.0 * x + 1.0) and model.calls == k + 1
    assert not CALLED


class Frozen(list):
    """A list that nobody may change, as pandas has one."""

    def _refuse(self, *args, **kwargs):
        raise TypeError("a frozen list")

    __setitem__ = __delitem__ = __iadd__ = append = extend = pop = remove = sort = clear = insert = _refuse

    def __add__(self, other):
        return Frozen([*self, *other])

    __radd__ = __add__


def test_a_frozen_list_is_read():
    model = Model(Frozen([1.0, 2.0, 3.0]))

    def f(x):
        return model(x) * model.kept[1] + sum(model.kept)

    gradient = fad.grad(f, fallback=False)
    assert np.allclose(gradient(np.ones(2)), [16.0, 16.0]) and model.calls == 1
    model.kept = Frozen([1.0, 3.0, 3.0])
    assert np.allclose(gradient(np.ones(2)), [24.0, 24.0]) and model.calls == 2
