"""Programs as strangers write them mean under fad what they mean in Python: classes, registries, caches, counters,
draws, views, graphs, errors.

Each program in meanings/*.txt is a module with a function `f`. It is called five times, in Python and in transforms.
Before the calls, `change` gives what it reads another value. Values, gradients (those of Python's own calls, made
anew), errors and all that is left outside have to agree after each call. A program is compiled; or its header says that
it runs on the tape, or that a transform refuses it, which changes nothing. `python -m tests.trace.test_meanings` prints
what becomes of each, to be compared with the headers.
"""
import pathlib
import random
import re
import sys
import tempfile
import types
import warnings
from collections import deque

import numpy as np
import pytest

import fad
from fad.util.errors import FadError

from .packages import installed, of_file

HEAD = """
import collections, copy, bisect, contextlib, dataclasses, enum, functools, heapq, itertools, json, logging, math
import operator, os, random, re, string, time, types
import numpy as np
from collections import *
from dataclasses import dataclass, field
from functools import *
"""
POINT, CALLS = np.array([0.3, 0.7, 1.1, -0.4]), 5
DIRECTION = np.array([0.91, -1.37, 0.59, 1.13])               # no sum of some elements is zero
UNSEEN = {"P", "seen"}                                        # of modules: they differ from module to module


def programs():
    """name -> (text, words of its header)"""
    found = {}
    for path in sorted((pathlib.Path(__file__).parent / "meanings").glob("*.txt")):
        parts = re.split(r"^=== (.*)\n", path.read_text(), flags=re.M)[1:]
        for head, text in zip(parts[::2], parts[1::2]):
            name, *words = head.split()
            found[f"{path.stem}: {name}"] = text, words
    return found


PROGRAMS = programs()


class Raised:
    """What a call has raised."""

    def __init__(self, error):
        self.error = error


class World:
    """A module of a program, and its function in a transform."""

    def __init__(self, name, folder, transform=lambda f: f):
        text, words = PROGRAMS[name]
        self.module = (installed if "installed" in words else of_file)(folder, HEAD + text)
        self.call = transform(self.module.f)

    def at(self, number, x):
        """The result of the call of this number at x, or what it raises."""
        if number >= 2 and hasattr(self.module, "change"):
            self.module.change(number)
        if hasattr(self.module, "before"):
            self.module.before(number)
        np.random.seed(1000 + number)
        random.seed(1000 + number)
        try:
            return self.call(x)
        except Exception as error:
            return Raised(error)

    def state(self):
        """What is left outside: what the module's names and classes hold."""
        own = {n: x for n, x in vars(self.module).items() if not n.startswith("__") and n not in UNSEEN}
        classes = [x for x in own.values() if isinstance(x, type) and x.__module__ == self.module.__name__]
        of_classes = {f"{c.__name__}.{n}": x for c in classes for n, x in vars(c).items()
                      if isinstance(x, (int, float, list, dict, np.ndarray, deque))}
        closed = (types.ModuleType, type, types.FunctionType)
        return {n: said(x, self.module) for n, x in {**own, **of_classes}.items()
                if not n.startswith("__") and not isinstance(x, closed)}


def said(x, module, within=()):
    """What a value holds, so that it can be compared with that of another module."""
    if id(x) in within:
        return "a cycle"
    within = (*within, id(x))
    if isinstance(x, (bool, str, bytes, type(None))):
        return repr(x)
    if isinstance(x, (int, float, complex, np.number)):
        return type(x).__name__, complex(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "biufc":
        return x.dtype.name, np.array(x)
    if isinstance(x, dict):
        return type(x).__name__, *[(said(k, module, within), said(v, module, within)) for k, v in x.items()]
    if isinstance(x, (list, tuple, deque)):
        return type(x).__name__, *[said(v, module, within) for v in x]
    if isinstance(x, (set, frozenset)):
        return type(x).__name__, *sorted(map(repr, x))
    if isinstance(x, np.random.Generator):
        return str(x.bit_generator.state)
    if isinstance(x, np.random.RandomState):
        return str(x.get_state())
    if type(x).__module__ == module.__name__ or isinstance(x, types.SimpleNamespace):
        return type(x).__name__, *[(n, said(v, module, within)) for n, v in getattr(x, "__dict__", {}).items()]
    return type(x).__name__


def alike(a, b):
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, (np.ndarray, complex)) and type(a) is type(b):
        return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-9, atol=1e-11, equal_nan=True)
    return type(a) is type(b) and a == b


def differing(left, found):
    """The names under which two states hold something else."""
    return {n: (left.get(n), found.get(n)) for n in {**left, **found} if not alike(left.get(n), found.get(n))}


def point(number):
    return POINT * (1 + 0.02 * number) + 0.00713 * (number + 1)


def slope(name, folder, number, h=1e-6):
    """The slope of one call along DIRECTION, all calls before it made anew."""
    def value(x):
        world = World(name, folder)
        for k in range(number):
            world.at(k, point(k))
        return world.at(number, x)
    return (value(point(number) + h * DIRECTION) - value(point(number) - h * DIRECTION)) / (2 * h)


def assert_as_python(name, folder, transform, differentiated=(1, CALLS - 1)):
    """What becomes of the program: "right", "tape" or "refused"."""
    words = PROGRAMS[name][1]
    plain, staged, became = World(name, folder), World(name, folder, transform), "right"
    for number in range(CALLS):
        want, before = plain.at(number, point(number)), staged.state()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            got = staged.at(number, point(number))
        assert not any(issubclass(w.category, fad.InternalErrorWarning) for w in told), told[-1].message
        if any(issubclass(w.category, fad.FallbackWarning) for w in told):
            became = "tape"
        if isinstance(want, Raised) or isinstance(got, Raised):
            error = getattr(got, "error", None)
            if isinstance(error, FadError) and not isinstance(want, Raised):
                changes = hasattr(staged.module, "change") or hasattr(staged.module, "before")
                assert changes or not differing(before, staged.state()), "a refused call has changed something"
                return "refused"
            raised, bases = type(getattr(want, "error", None)).__name__, [c.__name__ for c in type(error).__mro__]
            assert raised in bases, f"call {number + 1}: {error!r}, and Python raises {raised}"
            continue
        value = got if transform is fad.jit else got[0]
        assert np.isclose(value, want, rtol=1e-9, atol=1e-11), f"call {number + 1}: {value}, and Python says {want}"
        left, found = plain.state(), staged.state()
        other = differing(left, found)
        assert not other or "nostate" in words, f"call {number + 1}: left outside is {other}"
        if transform is not fad.jit and number in differentiated:
            np.testing.assert_allclose(got[1] @ DIRECTION, slope(name, folder, number), rtol=1e-4, atol=1e-5,
                                       err_msg=f"call {number + 1}")
    return became


def expected(name):
    return next((word for word in PROGRAMS[name][1] if word in ("tape", "refused")), "right")


@pytest.fixture(autouse=True)
def without_warnings():
    """Some programs use transforms themselves, which warn; those of the transform that is tested are looked at one by
    one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_mean_what_they_mean_in_python(name, tmp_path):
    """The gradient, and of a third of the programs the value alone: gradients have values, too."""
    is_whole = list(PROGRAMS).index(name) % 3 == 0 or expected(name) != "right"
    with fad.config.using(compile="never"):
        became = [assert_as_python(name, tmp_path,
                                   transform)
                  for transform in ((fad.jit, fad.value_and_grad) if is_whole else (fad.value_and_grad,))]
    assert max(became, key=["right", "tape", "refused"].index) == expected(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for k, name in enumerate(PROGRAMS) if k % 3 and expected(name) == "right"])
def test_programs_that_are_not_differentiated_mean_what_they_mean_in_python(name, tmp_path):
    with fad.config.using(compile="never"):
        assert assert_as_python(name, tmp_path, fad.jit) == "right"


@pytest.mark.parametrize("name",
                         [pytest.param(name, marks=[pytest.mark.slow] if k % 9 else [])
                          for k, name in enumerate(PROGRAMS) if expected(name) == "right"])
def test_compiled_programs_mean_what_they_mean_in_python(name, tmp_path):
    with fad.config.using(compile="now"):
        assert assert_as_python(name, tmp_path, fad.value_and_grad, differentiated=()) == "right"


if __name__ == "__main__":
    for name in [name for name in PROGRAMS if not sys.argv[1:] or any(part in name for part in sys.argv[1:])]:
        try:
            with tempfile.TemporaryDirectory() as place, fad.config.using(compile="never"):
                became = [assert_as_python(name, pathlib.Path(place), transform)
                          for transform in (fad.jit, fad.value_and_grad)]
            print(max(became, key=["right", "tape", "refused"].index), name, flush=True)
        except Exception as error:
            print("WRONG", name, f"{error}"[:300].replace("\n", " "), flush=True)
