"""Texts whose trees are deep, as generated code has them: long sums and products, long chains of `elif`."""
import sys
import threading
import warnings

import numpy as np
import pytest

import fad

from ..texts import executed

TERMS = 1200
TEXTS = {
    "a sum": "    return " + " + ".join([f"{k % 7}.5 * x ** {k % 4}" for k in range(TERMS)]) + "\n",
    "a product": "    return " + " * ".join([f"(1 + x * {k % 5}e-4)" for k in range(TERMS)]) + "\n",
    "a chain": "".join([f"    {'elif' if k else 'if'} x < {k / 300}:\n        return x * {k}.5\n" for k in range(300)])
               + "    return x ** 2\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_deep_trees(name):
    f = executed(f"def f(x):\n{TEXTS[name]}", {"np": np})["f"]
    before = sys.getrecursionlimit()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)  # too many conditions in one another
        value, slope = fad.value_and_grad(f, compile="never")(0.4321)
    assert value == pytest.approx(f(0.4321), rel=1e-12)
    assert slope == pytest.approx((f(0.4321 + 1e-6) - f(0.4321 - 1e-6)) / 2e-6, rel=1e-6)
    assert sys.getrecursionlimit() == before


def test_threads_leave_the_limit_as_it_was():
    def work(k):
        f = executed(f"def f(x):\n    return {k}.0 + " + " + ".join(["x"] * 500) + "\n", {})["f"]
        slopes.append(float(fad.grad(f, compile="never")(0.5)))
    before, slopes = sys.getrecursionlimit(), []
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert slopes == [500.0] * 4 and sys.getrecursionlimit() == before
