"""NumPy's and SciPy's own tests, shadowed: each call of a function that fad knows is repeated under fad.jit, and its
result compared; where it raises, fad must raise.

`python -m tests.fuzz.shadow numpy.lib.tests.test_twodim_base [MODULE ...]` prints the differences and what was refused.
The results of the tests themselves are ignored. Arrays are traced, as arguments and as keywords; all else stays.
"""
import copy
import functools
import importlib
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pytest

import fad
from fad.ops.override import BY_NAME

LARGEST = 400                                                 # elements of an array that is traced
MOST = 60                                                     # calls of one function
DIFFERENT = {                                                 # functions whose results differ, and why
    "numpy.empty": "has no value", "numpy.empty_like": "has no value",
    "numpy.linalg.eig": "complex always", "numpy.linalg.eigvals": "complex always",
    "numpy.argsort": "the order of ties is not specified", "numpy.argpartition": "the order within a part is not",
    "numpy.partition": "the order within a part is not",
}


class Patch(NamedTuple):
    module: object
    name: str
    theirs: Callable
    shadowed: Callable


class Shadow:
    """Wraps the functions; counts what was compared, and keeps what was different."""

    def __init__(self) -> None:
        self.patches: list[Patch] = []
        self.compared, self.refused = Counter[str](), Counter[str]()
        self.differences: list[str] = []
        self.seen: set[tuple] = set()

    def start(self) -> None:
        for name in [name for name in BY_NAME if name not in DIFFERENT]:
            module_name, _, attribute = name.rpartition(".")
            module = importlib.import_module(module_name)
            theirs = getattr(module, attribute, None)
            if callable(theirs) and not isinstance(theirs, (type, np.ufunc)):
                self.patches.append(Patch(module, attribute, theirs, self.shadowed(name, theirs)))
        self.set(True)

    def set(self, shadowed: bool) -> None:
        for module, name, theirs, ours in self.patches:
            setattr(module, name, ours if shadowed else theirs)

    @contextmanager
    def out_of_the_way(self) -> Iterator[None]:
        self.set(False)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield
        finally:
            self.set(True)

    def shadowed(self, name: str, theirs: Callable) -> Callable:
        @functools.wraps(theirs)
        def call(*args: object, **kwargs: object) -> object:
            if "out" in kwargs or not any(map(_is_traced, (*args, *kwargs.values()))):
                return theirs(*args, **kwargs)
            with self.out_of_the_way():
                is_new = self.is_new(name, repr((name, [_described(a) for a in args],
                                               {k: _described(a) for k, a in kwargs.items()})))
                given = copy.deepcopy((args, kwargs)) if is_new else None
            wanted = error = None
            try:
                wanted = theirs(*args, **kwargs)
            except Exception as raised:
                error = raised
            if given is not None and not isinstance(error, Warning):
                with self.out_of_the_way():
                    self.compare(name, theirs, *given, wanted, error)
            if error is not None:
                raise error
            return wanted
        return call

    def is_new(self, name: str, key: str) -> bool:
        is_new = key not in self.seen and self.compared[name] < MOST
        self.seen.add(key)
        return is_new

    def compare(self, name: str, theirs: Callable, args: tuple, kwargs: dict, wanted: object,
                error: "Exception | None") -> None:
        given = {**dict(enumerate(args)), **kwargs}
        traced = [k for k, a in given.items() if _is_traced(a)]

        def again(*arrays: np.ndarray) -> object:
            now = given | dict(zip(traced, arrays))
            return theirs(*[now[k] for k in range(len(args))], **{k: now[k] for k in kwargs})
        called = f"{name}({', '.join(_described(a) for a in args)}, {kwargs})"
        try:
            found = fad.jit(again, fallback=False, compile="never")(*[given[k] for k in traced])
        except fad.FadError as refusal:
            if error is None:
                self.refused[f"{name}: {str(refusal).splitlines()[0]}"] += 1
        except Exception as raised:
            if error is None:
                self.differences.append(f"{called}: {type(raised).__name__}: {raised}")
        else:
            self.compared[name] += 1
            if reason := f"raises {error!r}" if error is not None else difference(wanted, found):
                self.differences.append(f"{called}: {reason}")


def _is_traced(a: object) -> bool:
    return type(a) is np.ndarray and a.dtype.kind in "fcib" and a.dtype.char not in "egG" and a.size < LARGEST


def _described(a: object) -> str:
    return f"{a.dtype}{a.shape}" if _is_traced(a) else repr(a)[:60]


def difference(wanted: object, found: object) -> str:
    """What is different in structure, shape, dtype or value; "" is nothing."""
    if isinstance(wanted, (tuple, list)):
        if not isinstance(found, (tuple, list)) or len(found) != len(wanted):
            return f"{type(wanted).__name__} and {type(found).__name__}"
        return next(filter(None, map(difference, wanted, found)), "")
    x, y = np.asarray(wanted), np.asarray(found)
    if x.dtype.kind not in "fciub" or x.dtype.char in "egG":
        return ""
    if (x.shape, x.dtype) != (y.shape, y.dtype):
        return f"{x.dtype}{x.shape} and {y.dtype}{y.shape}"
    tolerance = 1e-3 if x.dtype.char in "fF" else 1e-7
    size = np.max(np.abs(x), initial=0.0, where=np.isfinite(x))
    is_same = np.allclose(x, y, rtol=tolerance, atol=tolerance * size, equal_nan=True)
    return "" if is_same else f"{x.ravel()[:6]} and {y.ravel()[:6]}"


def run(modules: list[str]) -> Shadow:
    shadow = Shadow()
    shadow.start()
    try:
        pytest.main(["-q", "-p", "no:cacheprovider", "-k", "not slow and not thread", "--pyargs", *modules])
    finally:
        shadow.set(False)
    return shadow


if __name__ == "__main__":
    ended = run(sys.argv[1:])
    print(*ended.differences, sep="\n")
    print(*(f"refused {count}: {what}" for what, count in ended.refused.most_common(20)), sep="\n")
    print(f"{ended.compared.total()} calls compared, {len(ended.differences)} different")
