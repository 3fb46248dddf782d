"""Generators that wait, and objects that have a `__del__`, go where Python lets them go: what they write then comes in
Python's order."""
import itertools
import textwrap
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import UnstageableError

from .packages import of_file

HEAD = '''
import contextlib, itertools
import numpy as np
LOG = []

def lines(tag="g"):
    try:
        yield 1.0
        yield 2.0
        yield 3.0
    finally:
        LOG.append("closed " + tag)

class Box:
    pass

class Gone:
    v = 1.0

    def __init__(self, tag="o"):
        self.tag = tag

    def __del__(self):
        LOG.append("gone " + self.tag)

def outer():
    try:
        yield from lines("inner")
    finally:
        LOG.append("closed outer")

def first(items):
    for v in items:
        return v

@contextlib.contextmanager
def managed():
    try:
        yield 1.0
    finally:
        LOG.append("left")

'''
# how something has a generator: it takes a value v, and loses the generator
HOLDERS = {
    "a name": ("g = lines(); v = next(g)", "g = None"),
    "a deleted name": ("g = lines(); v = next(g)", "del g"),
    "a list": ("gs = [lines('a'), lines('b')]; v = next(gs[0]) + next(gs[1])", "gs.clear()"),
    "a popped list": ("gs = [lines('a'), lines('b')]; v = next(gs[0]) + next(gs[1])", "gs.pop()"),
    "a dict": ("gs = {'a': lines()}; v = next(gs['a'])", "del gs['a']"),
    "an attribute": ("c = Box(); c.g = lines(); v = next(c.g)", "del c.g"),
    "an object": ("c = Box(); c.g = lines(); v = next(c.g)", "c = None"),
    "a generator": ("g = outer(); v = next(g)", "g = None"),
    "a generator expression": ("g = (2.0 * u for u in lines()); v = next(g)", "g = None"),
    "zip": ("g = zip(lines('a'), lines('b')); v = next(g)[0]", "g = None"),
    "enumerate": ("g = enumerate(lines()); v = next(g)[1]", "g = None"),
    "map": ("g = map(abs, lines()); v = next(g)", "g = None"),
    "a slice": ("g = itertools.islice(lines(), 2); v = next(g)", "g = None"),
    "a manager": ("m = managed(); v = m.__enter__()", "m = None"),
    "a loop": ("v = 0.0\nfor u in lines():\n    v = v + u\n    if u > 1: break", "pass"),
    "a loop over two": ("v = 0.0\nfor u, w in zip(lines('a'), lines('b')):\n    v = v + u * w\n    if u > 1: break",
                        "pass"),
    "a function": ("v = first(lines())", "pass"),
    "any": ("v = 1.0 * any(u > 1 for u in lines())", "pass"),
    "a part of the items": ("v, w, *_ = lines()", "pass"),
    "an object that is told": ("c = Gone(); v = c.v", "c = None"),
    "an object in an attribute": ("b = Box(); b.c = Gone(); v = b.c.v", "b.c = None"),
    "an object that is rebound": ("c = Gone('p'); c = Gone('q'); v = c.v", "del c"),
    "an object in a list": ("c = [Gone('p'), Gone('q')]; v = c[0].v", "c.clear()"),
    "no name": ("v = Gone().v", "pass"),
}
# where that happens; {0} holds and {1} loses
PLACES = {
    "lost": "{0}\nLOG.append('held')\n{1}\nLOG.append('after')\nreturn np.sum(x) * v",
    "held to the end": "{0}\nLOG.append('after')\nreturn np.sum(x) * v",
    "a function within": ("def g():\n    {0}\n    LOG.append('held')\n    return v\nv = g()\nLOG.append('after')\n"
                          "return np.sum(x) * v"),
    "a loop's body": ("s = 0.0\nfor k in range(2):\n    {0}\n    s = s + x[k] * v\n    LOG.append('held')\n    {1}\n"
                      "return s"),
    "a branch": ("v = 0.0\nif x[0] > 0.1:\n    {0}\n    LOG.append('held')\n    {1}\nLOG.append('after')\n"
                 "return np.sum(x) * v"),
    "a branch that goes on": "v = 0.0\nif x[0] > 0.1:\n    {0}\nLOG.append('after')\nreturn np.sum(x) * v",
    "an error": ("v = 0.0\ntry:\n    {0}\n    {1}\n    raise KeyError\nexcept KeyError:\n    LOG.append('handler')\n"
                 "return np.sum(x) * v"),
    "an error in a loop": ("v = 0.0\ntry:\n    for v in lines():\n        if v > 1: raise KeyError\nexcept KeyError:\n"
                           "    LOG.append('handler')\n{0}\n{1}\nreturn np.sum(x) * v"),
    "a handler": ("v = 0.0\ntry:\n    raise KeyError\nexcept KeyError:\n    {0}\n    {1}\nLOG.append('after')\n"
                  "return np.sum(x) * v"),
}


def placed(template, hold, lose):
    """The text of f."""
    lines = []
    for line in template.split("\n"):
        indent = line[:len(line) - len(line.lstrip())]
        lines.append(textwrap.indent(line.strip().replace("{0}", hold).replace("{1}", lose), indent))
    return "def f(x):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


# on a tape the journal holds what a list had before, until the function ends
HELD = {("a popped list", "a loop's body"), ("a popped list", "a branch")}


@pytest.mark.parametrize("holder, place", [case for case in itertools.product(HOLDERS, PLACES) if case not in HELD])
def test_what_writes_as_it_goes_goes_where_pythons_does(holder, place, tmp_path):
    text = HEAD + placed(PLACES[place], *HOLDERS[holder])
    python, traced = of_file(tmp_path, text), of_file(tmp_path, text)
    g = fad.value_and_grad(traced.f, compile="never")
    for x in (np.array([0.3, 0.2, 0.5]), np.array([0.05, 0.2, 0.5]), np.array([0.7, 0.1, 0.4])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            try:
                value, slope = g(x)
            except UnstageableError:                          # the journal holds what a list had before
                assert holder == "an object in a list"
                return
        np.testing.assert_allclose(value, python.f(x))
        assert traced.LOG == python.LOG
        np.testing.assert_allclose(np.dot(slope, x), value, atol=1e-12)           # f is linear on each side of a branch
