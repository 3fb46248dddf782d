"""Loops of a large function are compiled as they stand, but for short nests of constant ranges and sums; the numbers
are the same."""
import warnings

import numba
import numpy as np
import pytest
from numba.core import config
from numba.core.compiler import run_frontend

import fad
import fad.kernels.loops
from fad.backend.text.sums import with_free_sums
from fad.kernels.libraries import Releasable
from fad.kernels.loops import MANY, NumbaLoops, _node
from fad.kernels.numba_pipeline import LeanCompiler
from fad.kernels.variables import definitions

from ..texts import executed

KINDS = """
    for i in range(n):
        y[i] = x[i] * 2.0
    for i in range(n):
        for j in range(3):
            for k in range(2):
                y[i] = y[i] - 0.5 * x[j]
    for i in range(n):
        total += x[i]
    for i in range(n):
        for j in range(n):
            total += y[j]
    while total > 100.0:
        total = total - x[n // 2] * 7.0
    for i in range(n):
        if x[i] < 0.2:
            continue
        if y[i] > 1e3:
            break
        y[i] = y[i] + 1.0
"""
STAND = [True, True, False, False, False, True, False, True, True]


def function(times):
    """A function with so many loops of each kind, as fad prints them: in text."""
    text = with_free_sums(f"""def f(x):
    n, y, total = x.size, np.zeros(x.size), 0.0
{KINDS * times}
    return y, total
""")
    return executed(text, {"np": np})["f"]


@pytest.mark.parametrize("times, stand", [(12, 12 * STAND), (1, [False] * len(STAND))])
def test_loops_of_a_large_function_stand_unless_they_are_short_or_sums(times, stand):
    blocks = run_frontend(function(times)).blocks
    loops = NumbaLoops(blocks, definitions(blocks))
    assert (len(loops.found) > MANY) == (times == 12)
    assert [loops.stands(header) for header in sorted(loops.found)] == stand


def test_a_large_function_gives_the_same_numbers_and_says_nothing(capfd, monkeypatch):
    nodes = []
    monkeypatch.setattr(fad.kernels.loops, "_node", lambda *args: nodes.append(_node(*args)) or nodes[-1])
    x = np.random.default_rng(0).uniform(0.0, 1.0, 37)
    for ours, numpys in zip(numba.njit(function(12), pipeline_class=LeanCompiler)(x), function(12)(x)):
        np.testing.assert_allclose(ours, numpys, rtol=1e-10)
    assert len(nodes) == 12 * sum(STAND)
    assert capfd.readouterr() == ("", "")                    # LLVM warns where it cannot do what it is asked for


@pytest.mark.parametrize("times, level", [(1, config.OPT), (2, min(2, config.OPT))])
def test_llvm_copies_no_loops_of_a_large_function_for_the_tests_in_them(times, level, monkeypatch):
    levels, manager = [], Releasable._module_pass_manager
    monkeypatch.setattr(Releasable, "_module_pass_manager", lambda self, opt: levels.append(opt) or manager(self, opt))
    numba.njit(function(times), pipeline_class=LeanCompiler)(np.ones(3))
    assert levels == [level]


def hidden(text):
    """Whether the first loop of a function moves in a way that is hidden from LLVM."""
    blocks = run_frontend(executed(text, {"np": np})["f"]).blocks
    turns = [label for label, block in blocks.items()
             if any(getattr(getattr(s, "value", None), "op", "") == "iternext" for s in block.body)]
    return NumbaLoops(blocks, definitions(blocks)).is_hidden(min(turns))


@pytest.mark.parametrize("order, statement, is_hidden", [
    ("n - 1, -1, -1", "g[j] = g[j] * t[i, j]", True), ("n", "g[j] = g[j] * t[i, j]", False),
    ("0, n, 2", "g[j] = g[j] * t[i, j]", False),
    ("n", "t[i, j] = t[i, j] * g[j]", False), ("n - 1", "t[i + 1, j] = t[i, j] * g[j]", True),
    ("n - 1", "t[i + 1, j] = t[i + 1, j] * g[j]", False)])
def test_outer_loops_that_llvm_would_misread_are_hidden_from_it(order, statement, is_hidden):
    nest = f"def f(t, g):\n    n, m = t.shape\n    for i in range({order}):\n        for j in range(m):\n            "
    alone = f"def f(t, g):\n    n, m = t.shape\n    j = 0\n    for i in range({order}):\n        "
    assert hidden(f"{nest}{statement}\n") == is_hidden and not hidden(f"{alone}{statement}\n")


@pytest.mark.parametrize("number",
                         [True, np.bool_(True), 3, np.int32(3), 0.5, np.float32(0.5), 1 + 2j, np.complex64(1 + 2j)],
                         ids=repr)
def test_numbers_of_every_kind_stand_beside_loops(number):
    """A truth value is unpacked by a branch in the entry block, where a loop's record of its arrays is made, too."""
    def f(x, k):
        s = 0.0
        for v in x:
            s += v * v
        return s * (2.0 if k else 3.0) * abs(k)
    x = np.ones(5)
    with warnings.catch_warnings(), fad.config.using(compile="now"):
        warnings.simplefilter("error")
        assert np.isclose(fad.jit(f)(x, number), f(x, number))
        assert np.allclose(fad.grad(f)(x, number), 4.0 * x * abs(number))
