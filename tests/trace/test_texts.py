"""Texts of users' objects are what their methods say, in a program and on the tape, by themselves and in containers."""
import math
import warnings
from collections import deque

import numpy as np
import pytest

import fad

from .scaled import assert_as_python_says

X = np.array([0.8, 0.55, 1.1])
SCALE = [2.0]
WEIGHTS = {"large": 2.0, "small": 3.0, "L": 5.0, "s": 7.0}


class Size:
    """Its texts need math's functions of a traced number, and a global of the user's."""

    def __init__(self, a):
        self.a = a

    def __str__(self):
        return "large" if math.exp(self.a) > 1.1 * SCALE[0] else "small"

    def __repr__(self):
        return "L" if math.sqrt(self.a) * SCALE[0] > 1.5 else "s"

    def __format__(self, spec):
        return (str(self) if spec == "" else repr(self)) + spec.replace("r", "")


class Named:
    """Its text is known; it has no __str__."""

    def __init__(self, a, name):
        self.a, self.name = a, name

    def __repr__(self):
        return f"<{self.name} {SCALE[0]}>"


class Numbered(Named):
    """A traced number stands in its text."""

    def __repr__(self):
        return f"{self.name}{math.sin(self.a):.3f}"


def weight(text):
    return sum(WEIGHTS[name] for name in WEIGHTS if name in text)


PROGRAMS = {
    "str": lambda x: x[0] * WEIGHTS[str(Size(x[0]))] + x[1] * WEIGHTS[repr(Size(x[1]))],
    "f-string": lambda x: x[0] * WEIGHTS[f"{Size(x[0])}"] + x[1] * WEIGHTS[f"{Size(x[1]):r}"]
                          + x[2] * weight(f"{Size(x[2])!r:>4}{Size(x[0])!s}"),
    "format": lambda x: x[0] * WEIGHTS[format(Size(x[0]))]
                        + x[1] * weight("{0}, {1:r}, {2!r}, {k.a}".format(*map(Size, x), k=Size(2))),
    "percent": lambda x: x[0] * WEIGHTS["%s" % Size(x[0])]  # noqa: UP031
                         + x[1] * weight("%r and %s" % (Size(x[1]), [Size(x[2])])),  # noqa: UP031
    "joined": lambda x: x[0] * weight(", ".join(map(str, map(Size, x))))
                        + x[1] * weight("".join([repr(Size(v)) for v in x])),
    "containers": lambda x: x[0] * weight(str([Size(x[0])])) + x[1] * weight(f"{(Size(x[1]), 1)}")
                            + x[2] * weight(repr({"k": deque([Size(x[2])])})),
}
KNOWN = {
    "known": lambda x: x[0] * ("2.0>" in str(Named(x[1], "k"))) + x[1] * len(f"{[Named(x[0], 'k')]}")
                       + x[2] * {"<k 2.0>": 2.0}.get(repr(Named(x[0], "k")), 3.0),
    "dropped": lambda x: (f"{Numbered(x[0], 'k')} {[Numbered(x[0], 'k')]}", x[0] ** 2)[1],
}


@pytest.mark.parametrize("name", [*PROGRAMS, *KNOWN])
def test_texts_are_what_the_methods_say(name):
    f = (PROGRAMS | KNOWN)[name]
    value, gradient = fad.jit(f), fad.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        assert_as_python_says(value, gradient, f, SCALE, (2.0, 1.2, 2.0), X)


@pytest.mark.parametrize("name", KNOWN)
def test_texts_that_are_known_are_part_of_the_program(name):
    np.testing.assert_allclose(fad.jit(KNOWN[name], fallback=False)(X), KNOWN[name](X), rtol=1e-12)


def test_a_traced_number_in_a_text_is_said_at_each_call(capsys):
    def f(x):
        print(f"at {Numbered(x[0], 'k')}", [Numbered(x[1], "m")])
        return x.sum()
    g = fad.jit(f, fallback=False)
    for x in (X, X[::-1].copy(), X * 0.5):
        f(x)
        said = capsys.readouterr().out
        g(x)
        assert capsys.readouterr().out == said
