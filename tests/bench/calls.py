"""Calls whose kernels do next to nothing, by kinds of arguments: `python -m tests.bench.report --section calls` makes
the table."""
from collections import namedtuple
from dataclasses import dataclass

import numpy as np


def squares(x):
    return np.sum(x * x)


def polynomial(x):
    return x * x * 3.0 + x


def line(p):
    return np.sum((p["a"] * 2.0 + p["b"]) ** 2)


def listed(p):
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


def nested(p):
    return sum(np.sum((layer["w"] + layer["b"]) ** 2) for layer in p["layers"])


def power(x, n=3):
    return np.sum(x ** n)


def layer(p):
    return np.sum(p.w * p.b)


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


Pair = namedtuple("Pair", "w b")
# microseconds on a quiet machine; each has a function of its own, as equal functions share programs
ROWS = {
    "float": (0.5, polynomial, (1.3,), {}),
    "np.float64": (0.6, lambda x: x * x * 2.0 + x, (np.float64(1.3),), {}),
    "array of no axes": (1.0, lambda x: x * x + x, (np.array(1.3),), {}),
    "array of 3": (1.0, squares, (np.ones(3),), {}),
    "strided array of 3": (1.4, lambda x: np.sum(x * x), (np.ones(6)[::2],), {}),
    "dict of 2": (1.4, line, ({"a": np.ones(3), "b": np.ones(3)},), {}),
    "dataclass": (2.5, layer, (Layer(np.ones(3), np.ones(3)),), {}),
    "named tuple": (2.0, lambda p: np.sum(p.w * p.b), (Pair(np.ones(3), np.ones(3)),), {}),
    "list of 20": (5.4, listed, ([np.ones(3) for _ in range(20)],), {}),
    "nested dict of 20": (8.2, nested, ({"layers": [{"w": np.ones(3), "b": np.ones(3)} for _ in range(10)]},), {}),
    "keyword int": (1.3, power, (np.ones(3),), {"n": 3}),
    "keyword array": (1.3, lambda x: np.sum(x ** 2), (), {"x": np.ones(3)}),
}
