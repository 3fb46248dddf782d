"""The checker finds each kind of malformed program, and passes are checked while tests run."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
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
NUMBER = Literal(1.0, Type(FLOAT))


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
    equations = [new if e is old else e.replace(regions=tuple([with_change(r, old, new) for r in e.regions])) for e in func.equations]
    return func.replace(equations=equations)


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


MALFORMED = {
    "bound twice": (twice, "bound twice"),
    "bound in both branches": (in_both_branches, "bound twice"),
    "used before it is bound": (too_early, "before it is bound"),
    "an extent that is a float": (strange_extent, "no integer"),
    "bounds of floats": (loop_change(bounds=lambda v: (v.bounds[0], v.bounds[1], NUMBER)), "three integers"),
    "a missing bound": (loop_change(bounds=lambda v: v.bounds[1:]), "three integers"),
    "a missing initial value": (loop_change(init=lambda v: v.init[1:]), "three integers"),
    "initial values in another order": (loop_change(init=lambda v: v.init[::-1]), "no value of the carry"),
    "a body that yields too little": (loop_change(body=lambda v: v.body.replace(outputs=v.next[1:])), "as many"),
    "a body that yields another dtype": (loop_change(body=lambda v: v.body.replace(outputs=(v.index, *v.next[1:]))), "no value of the carry"),
    "a test that yields a number": (loop_change(test=lambda v: v.test.replace(outputs=(NUMBER,))), "one truth value"),
    "names of some": (loop_change(params=lambda v: v.eqn.params | {"names": ("s",)}), "to all carries"),
    "a link to an array": (loop_change(params=lambda v: v.eqn.params | {"extents": ((1, 0, 1),)}), "no extent is linked"),
    "a selector that is a float": (change_of(is_branch, inputs=lambda e: (NUMBER,)), "selector"),
    "a branch that yields too little": (change_of(is_branch, regions=lambda e: (e.regions[0], e.regions[1].replace(outputs=()))), "yields all"),
    "a branch that yields another dtype": (change_of(is_branch, regions=lambda e: (e.regions[0].replace(outputs=(Literal(True, Type(BOOL)),)),
                                                                                     e.regions[1])), "no value of the result"),
    "a call without its argument": (change_of(named("checkpoint"), inputs=lambda e: ()), "takes what its region takes"),
    "a spec of too many axes": (change_of(named("index"), params=lambda e: e.params | {"spec": ("i", "i")}), "no spec"),
    "a spec of another language": (change_of(named("index"), params=lambda e: e.params | {"spec": ("k",)}), "no spec"),
    "an index without an operand": (change_of(named("index"), inputs=lambda e: e.inputs[:1]), "number of operands"),
    "an index that is a float": (change_of(named("index"), inputs=lambda e: (e.inputs[0], NUMBER)), "are integers"),
    "an index that leaves the axis": (change_of(named("update"), params=lambda e: e.params | {"at": 1}), "among the axes"),
    "an update that changes the dtype": (change_of(named("update"), outputs=lambda e: (Var(Type(INT, e.outputs[0].type.shape)),)), "of the same type"),
    "regions of an op that has none": (change_of(named("mul"), regions=lambda e: (Func("r", (), [], ()),)), "has no regions"),
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


def test_passes_are_checked():
    def lose_the_first(func):
        return func.replace(equations=func.equations[1:])

    with pytest.raises(CheckError, match="after the pass lose_the_first"):
        pipeline.through((lose_the_first,), FUNC)
    with fad.config.using(check_trace=False):
        pipeline.through((lose_the_first,), FUNC)
