"""Python's own library: what is a function of its arguments is part of the program, and all else is asked at each call,
or left to the tape."""
import collections
import copy
import datetime
import decimal
import fractions
import functools
import heapq
import itertools
import logging
import operator
import os
import pathlib
import queue
import re
import statistics
import string
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest

import fad

X = np.ones(3)
LOG, LOCK, QUEUE, EVENT = logging.getLogger(__name__), threading.Lock(), queue.Queue(), threading.Event()


def guarded_by_a_lock():
    with LOCK:
        return 2.0


PURE = {
    "re": lambda: len(re.sub("a+", "b", "caat")), "product": lambda: len(list(itertools.product([1, 2], [3]))),
    "reduce": lambda: functools.reduce(operator.mul, [1.0, 2.0, 3.0]),
    "counter": lambda: collections.Counter("abca")["a"],
    "heap": lambda: heapq.nsmallest(1, [3.0, 2.0])[0], "decimal": lambda: float(decimal.Decimal("1.5")),
    "copy": lambda: copy.copy([2.0])[0],
    "fraction": lambda: float(fractions.Fraction(1, 4)), "mean": lambda: statistics.mean([1.0, 2.0]),
    "path": lambda: len((pathlib.Path("a") / "b").name),
    "join": lambda: len(os.path.basename("a/bc")), "date": lambda: datetime.date(2020, 1, 1).toordinal(),
    "text": lambda: len(textwrap.dedent("  a")),
    "letters": lambda: len(string.ascii_letters), "log": lambda: LOG.info("here") or 1.0, "lock": guarded_by_a_lock,
    "size": lambda: sys.maxsize * 0 + 2.0,
}


def put_and_got():
    QUEUE.put(time.perf_counter())
    return QUEUE.get()


def written():
    with tempfile.TemporaryDirectory() as folder:
        return float(len(os.listdir(folder))) + time.perf_counter()


EFFECTS = {
    "queue": put_and_got, "folder": written,
    "process": lambda: float(subprocess.run([sys.executable, "-c", ""]).returncode) + time.perf_counter(),
    "event": lambda: EVENT.wait(1e-4) + time.perf_counter(), "clock": lambda: time.perf_counter(),
    "number": lambda: float(os.urandom(6)[0]) + time.time(),
}


@pytest.mark.parametrize("name", PURE)
def test_functions_of_their_arguments_are_compiled(name):
    value = PURE[name]

    def f(x):
        return np.sum(x) * value()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = fad.jit(f)
        assert g(X) == f(X) and g(X) == f(X)


@pytest.mark.parametrize("name", EFFECTS)
def test_all_else_is_done_at_each_call(name):
    value = EFFECTS[name]

    def f(x):
        return np.sum(x) * value()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        g = fad.value_and_grad(f)
        seen = {float(g(X)[0]) for _ in range(4)}
    assert len(seen) == 4
