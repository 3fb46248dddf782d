"""Users' objects may have attributes of any name, those among them that fad's own values and lists have."""
import collections
import warnings

import numpy as np
import pytest

import fad
from fad.trace.lists.items import Items
from fad.trace.values.tracer import Tracer

X = np.array([0.8, 0.55, 1.1])
NAMES = sorted({name for cls in (Tracer, Items) for name in dir(cls)
                if not name.startswith("_") and not hasattr(list, name)}
               | {"original", "run", "tracer", "owner", "stands_for", "registry", "flag", "cell", "called", "item"})


class Answering:
    """It has an attribute of each name that it is asked for."""

    def __init__(self, a):
        self.__dict__["a"] = a

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return 3.0

    def __setattr__(self, name, value):
        assert name in ("a", "b"), f"fad has set {name}"
        self.__dict__[name] = value


class Named:
    """It has such attributes."""

    def __init__(self, a):
        self.__dict__.update(dict.fromkeys(NAMES, 3.0), a=a)

    def __eq__(self, other):
        return self.__dict__ == other.__dict__

    __hash__ = None


class NamedList(list):
    def __init__(self, items):
        super().__init__(items)
        self.__dict__.update(dict.fromkeys(NAMES, 3.0))


NamedPair = collections.namedtuple("NamedPair", "rows array")
KEPT = {cls: cls(2.0) for cls in (Answering, Named)}


def in_branches(make, x):
    kept = KEPT[make]
    if x[0] > 0.5:
        o, y = kept, x[1]
    else:
        o, y = kept, x[2]
    if x[1] > 0.0:
        later = kept
    return y * o.a + o.rows * later.bound


def in_loops(make, x):
    o, s, found = make(x[0]), 0.0, []
    for k in range(3):
        o.a = o.a * x[k]
        s = s + o.a * KEPT[make].a
        found.append(o.a)
        if x[k] > 5.0:
            break
    return s + found[1] + o.aliases


def in_containers(make, x):
    held = {"one": make(x[0]), "all": [make(v) for v in x], "pair": (make(1.0), x[1])}
    held["all"][1].a += held["one"].a
    return held["all"][1].a * held["pair"][0].a + held["pair"][1] + len(f"{held['one'].a is None}") * x[2]


def handed_on(make, x):
    def double(o, *rest, **named):
        return o.a * 2.0 + sum(p.a for p in rest) + named["k"].a
    return double(make(x[0]), make(x[1]), k=make(x[2])) + (make(1.0) is None) + isinstance(make(1.0), make) * x[0]


def of_lists(make, x):
    found = NamedList([x[0], 2.0])
    for k in range(3):
        found[0] = found[0] + x[k]
    return found[0] * found.rows + len(found) + sum(found) + (x[:2] + NamedPair(x[0], 2.0)).sum()


@pytest.mark.parametrize("make", [Answering, Named])
@pytest.mark.parametrize("f", [in_branches, in_loops, in_containers, handed_on, of_lists])
def test_attributes_of_any_name(make, f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        warnings.simplefilter("error", fad.InternalErrorWarning)
        for g in (lambda x: f(make, x), lambda x: {0: 1.5}[int(x[0] > 5.0)] * f(make, x)):
            for x in (X, X[::-1].copy()):
                np.testing.assert_allclose(fad.jit(g)(x), g(x), rtol=1e-12)
                slope = [(g(x + h) - g(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
                np.testing.assert_allclose(fad.grad(g)(x), slope, rtol=1e-5, atol=1e-7)
