"""The checker finds each kind of malformed program, and passes are checked while tests run."""
import numpy as np
import pytest

import fad
from fad.ir.check import check, check_order
from fad.ir.graph import Equation, Func, Literal, Var, is_branch, is_loop
from fad.ir.op import registry
from fad.ir.types import BOOL, FLOAT, INT, Type
from fad.ir.views import BranchView, LoopView
from fad.passes import pipeline
from fad.trace.tracing import trace
from fad.util.errors import CheckError


def program(x, k):
    y, s = np.zeros(len(x)), 0.0
    for i in range(1, len(x)):
        if x[i] > s:
            s = s + x[i]
        y[i] = s * k
    n = 0
    while n * s < 10.0:
        n = n + 1
    return fad.checkpoint(lambda t: np.sin(t) * n)(y[1:] * 2.0)


FUNC = trace(program, [np.ones(5), 2.0]).func
NUMBER, EMPTY = Literal(1.0, Type(FLOAT)), Func("region", (), [], ())


def find(func, kind):
    """The first equation of a kind, at any depth."""
    for eqn in func.equations:
        if kind(eqn):
            return eqn
        for region in eqn.regions:
            found = find(region, kind)
            if found is not None:
                return found
    return None


def with_change(func, old, new):
    """The program with an equation in place of another one, at any depth."""
    def changed(eqn):
        return new if eqn is old else eqn.replace(regions=tuple([with_change(r, old, new) for r in eqn.regions]))
    return func.replace(equations=list(map(changed, func.equations)))


def named(name):
    return lambda eqn: eqn.op.name == name


def twice(func):
    return func.replace(equations=[func.equations[0], *func.equations])


def in_both_branches(func):
    old = find(func, is_branch)
    region = BranchView(old).branches[1]
    return with_change(func, old, old.replace(regions=(region, region)))


def too_early(func):
    return func.replace(equations=func.equations[::-1])


def strange_extent(func):
    wrong = Var(Type(FLOAT, (func.inputs[1],)))
    return func.replace(inputs=(*func.inputs, wrong))


def loop_change(**changes):
    def change(func):
        old = find(func, lambda e: is_loop(e) and ("test" in changes) == (LoopView(e).test is not None))
        loop = LoopView(old)
        return with_change(func, old, loop.replace(**{name: make(loop) for name, make in changes.items()}))
    return change


def change_of(kind, **changes):
    def change(func):
        old = find(func, kind)
        return with_change(func, old, old.replace(**{name: make(old) for name, make in changes.items()}))
    return change


def body_of(*atoms):
    """A change of the body's outputs; each is the place of an output, or "index"."""
    def change(loop):
        return loop.body.replace(outputs=tuple([loop.index if k == "index" else loop.next[k] for k in atoms]))
    return loop_change(body=change)


def params_of(kind, **params):
    return change_of(kind, params=lambda eqn: eqn.params | params)


def integers_in(kind):
    """The result as an array of integers."""
    return change_of(kind, outputs=lambda eqn: (Var(Type(INT, eqn.outputs[0].type.shape)),))


def second_branch(*outputs):
    return change_of(is_branch, regions=lambda eqn: (eqn.regions[0], eqn.regions[1].replace(outputs=outputs)))


MALFORMED = {
    "bound twice": (twice, "bound twice"),
    "bound in both branches": (in_both_branches, "bound twice"),
    "used before it is bound": (too_early, "before it is bound"),
    "an extent that is a float": (strange_extent, "no integer"),
    "bounds of floats": (loop_change(bounds=lambda v: (v.bounds[0], v.bounds[1], NUMBER)), "three integers"),
    "a missing bound": (loop_change(bounds=lambda v: v.bounds[1:]), "three integers"),
    "a missing initial value": (loop_change(init=lambda v: v.init[1:]), "three integers"),
    "initial values in another order": (loop_change(init=lambda v: v.init[::-1]), "no value of the carry"),
    "a body that yields too little": (body_of(1), "as many"),
    "a body that yields another dtype": (body_of("index", 1), "no value of the carry"),
    "a test that yields a number": (loop_change(test=lambda v: v.test.replace(outputs=(NUMBER,))), "one truth value"),
    "names of some": (params_of(is_loop, names=("s",)), "to all carries"),
    "a link to an array": (params_of(is_loop, extents=((1, 0, 1),)), "no extent is linked"),
    "a selector that is a float": (change_of(is_branch, inputs=lambda e: (NUMBER,)), "selector"),
    "a branch that yields too little": (second_branch(), "yields all"),
    "a branch that yields another dtype": (second_branch(Literal(True, Type(BOOL))), "no value of the result"),
    "a call without its argument": (change_of(named("checkpoint"), inputs=lambda e: ()), "takes what its region takes"),
    "a spec of too many axes": (params_of(named("index"), spec=("i", "i")), "no spec"),
    "a spec of another language": (params_of(named("index"), spec=("k",)), "no spec"),
    "an index without an operand": (change_of(named("index"), inputs=lambda e: e.inputs[:1]), "number of operands"),
    "an index that is a float": (change_of(named("index"), inputs=lambda e: (e.inputs[0], NUMBER)), "are integers"),
    "an index that leaves the axis": (params_of(named("update"), at=1), "among the axes"),
    "an update that changes the dtype": (integers_in(named("update")), "of the same type"),
    "regions of an op that has none": (change_of(named("mul"), regions=lambda e: (EMPTY,)), "has no regions"),
}


def test_a_trace_is_well_formed():
    assert check(FUNC) is FUNC


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name):
    change, message = MALFORMED[name]
    with pytest.raises(CheckError, match=message):
        check(change(FUNC))


def test_an_extent_that_the_program_computes():
    """The input comes in a second step: the program, and not the input, binds the extent."""
    n, m = Var(Type(INT, (), True), "n"), Var(Type(INT, (), True), "m")
    later = Var(Type(FLOAT, (m,)), "later")
    double = Equation(registry["add"], (n, n), (m,), {})
    check(Func("f", (n, later), [double], (later,)))
    with pytest.raises(CheckError, match="before it is bound"):
        check(Func("f", (later,), [double], (later,)))


def test_a_check_behind_what_it_guards():
    func = trace(lambda x, i: x[i], [np.ones(5), np.arange(3)]).func
    checks = [e for e in func.equations if e.op.name == "check_index"]
    others = [e for e in func.equations if e.op.name != "check_index"]
    check_order(func.replace(equations=[*checks, *others]), func)
    with pytest.raises(CheckError, match="a check comes too late for"):
        check_order(func.replace(equations=[*others, *checks]), func)


def test_passes_are_checked():
    def lose_the_first(func):
        return func.replace(equations=func.equations[1:])

    with pytest.raises(CheckError, match="after the pass lose_the_first"):
        pipeline.through((lose_the_first,), FUNC)
    with fad.config.using(check_trace=False):
        pipeline.through((lose_the_first,), FUNC)
