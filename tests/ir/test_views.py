"""Views name the operands of loops and branches, and build the equations again."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.graph import is_branch, is_counted, is_loop
from fad.ir.views import BranchView, LoopView, with_results
from fad.passes.dce import dce
from fad.trace.tracing import trace

x = np.array([0.3, 1.2, 2.0])


def counted(x):
    return fad.fori_loop(1, 7, lambda i, c: (c[0] * x, c[1] + i), (x, 0.0))


def uncounted(x):
    return fad.while_loop(lambda c: c[1] < 3.0, lambda c: (c[0] * x, c[1] + 1.0), (x, 0.0))


def chosen(x):
    return fad.cond(x[0] > 0.0, lambda: (x * 2.0, x[0]), lambda: (x, x[1]))


def only(f, kind):
    func = trace(f, [x]).func
    (eqn,) = [e for e in func.equations if kind(e)]
    return func, eqn


@pytest.mark.parametrize("f", [counted, uncounted])
def test_loop(f):
    func, eqn = only(f, is_loop)
    loop = LoopView(eqn)
    assert (*loop.bounds, *loop.init) == eqn.inputs and loop.results == eqn.outputs and loop.next == loop.body.outputs
    assert len(loop.init) == len(loop.carries) == len(loop.next) == len(loop.results) == 2
    assert [a.type.rank for a in loop.carries] == [a.type.rank for a in loop.init] == [1, 0]
    assert loop.start_of(loop.results[1]) is loop.init[1]
    again = loop.replace()
    assert (again.op, again.inputs, again.outputs, again.regions) == (eqn.op, eqn.inputs, eqn.outputs, eqn.regions)


def test_bounds():
    loop = LoopView(only(counted, is_counted)[1])
    assert loop.body.inputs == (loop.index, *loop.carries) and loop.test is None
    assert loop.step == 1 and loop.iterations == range(1, 7) and loop.ends == loop.bounds[:2]
    loop = LoopView(only(uncounted, is_loop)[1])
    assert loop.bounds == () and loop.index is None and loop.step is None and loop.iterations is None
    assert loop.carries == loop.body.inputs and loop.carries_of(loop.test) == loop.test.inputs


def test_ends_of_a_loop_that_counts_down():
    loop = LoopView(only(lambda x: sum_down(x), is_counted)[1])
    assert loop.step == -1 and [a.value for a in loop.ends] == [0, 5] and list(loop.iterations) == [5, 4, 3, 2, 1]


def sum_down(x):
    s = x[0]
    for i in range(5, 0, -1):
        s = s * i
    return s


def test_branch():
    branch = BranchView(only(chosen, is_branch)[1])
    assert branch.eqn.inputs == (branch.selector,) and branch.branches == branch.eqn.regions
    rows = [list(row) for row in zip(*[region.outputs for region in branch.branches])]
    assert [branch.yielded(v) for v in branch.results] == rows


@pytest.mark.parametrize("f, kind", [(counted, is_loop), (uncounted, is_loop), (chosen, is_branch)])
def test_with_results(f, kind):
    """A loop without the carry that nothing reads, or a branch without a result, is well formed."""
    func, eqn = only(f, kind)
    kept = with_results(eqn, [1])
    assert kept.outputs == eqn.outputs[1:] and len(kept.params["names"]) in (0, 1)
    (swept,) = [e for e in check(dce(func.replace(outputs=kept.outputs))).equations if kind(e)]
    assert (swept.inputs, swept.outputs) == (kept.inputs, kept.outputs)
