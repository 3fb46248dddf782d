"""Def-use chains agree with a count by hand, in every block of a program."""
import numpy as np

from fad.ir.graph import Var, all_equations, free_vars
from fad.ir.uses import DefUse, defined_in, operands, reads, use_counts
from fad.trace.tracing import trace


def f(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.0:
            y[i] = x[i] * x[i]
    return y[1:] + y[1:] * 2.0


FUNC = trace(f, [np.ones(5)]).func


def blocks(func):
    yield func
    for eqn in func.equations:
        for region in eqn.regions:
            yield from blocks(region)


def test_chains():
    for block in blocks(FUNC):
        chains = DefUse.of(block)
        for k, eqn in enumerate(block.equations):
            assert all(chains.definition(v) is eqn and chains.position(v) == k for v in eqn.outputs)
        for v in [*block.inputs, *free_vars(block)]:
            assert chains.definition(v) is None and chains.position(v) is None
        for v in defined_in(block):
            users = [e for e in block.equations for a in operands(e) if a is v]
            assert chains.users(v) == users and chains.use_count(v) == len(users) + sum(a is v for a in block.outputs)


def test_regions_read_what_is_free_in_them():
    (loop,) = [e for e in FUNC.equations if e.regions]
    assert FUNC.inputs[0] in operands(loop) and not set(operands(loop)) & defined_in(loop.regions[0])


def test_extents_are_read_but_are_no_operands():
    part = next(e for e in FUNC.equations if e.op.name == "mul")
    (extent,) = [n for n in part.outputs[0].type.shape if isinstance(n, Var)]
    assert extent in reads(part) and extent not in operands(part)


def test_counts_at_any_depth():
    everywhere = [a for e in all_equations(FUNC) for a in e.inputs] + [a for b in blocks(FUNC) for a in b.outputs]
    counts = use_counts(FUNC)
    assert counts and all(counts[v] == sum(a is v for a in everywhere) for v in counts)
