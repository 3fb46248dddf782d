"""The free variables of a region are found once, and again where the region has changed."""
from fad.ir import graph
from fad.ir.graph import Equation, Func, Var, free_vars
from fad.ir.op import registry
from fad.ir.types import FLOAT, Type


def test_nested_regions_are_looked_at_once(monkeypatch):
    x, y, z = [Var(Type(FLOAT), name) for name in "xyz"]
    looked, real = [], graph._free_vars
    monkeypatch.setattr(graph, "_free_vars", lambda func: (looked.append(func), real(func))[1])
    inner = Func("inner", (), [Equation(registry["sin"], (x,), (y,), {})], (y,))
    out = Var(Type(FLOAT), "out")
    outer = Func("outer", (), [Equation(registry["cond"], (z,), (out,), {}, (inner, inner))], (out,))
    for _ in range(3):
        assert free_vars(outer) == [z, x] and free_vars(inner) == [x]
    assert len(looked) == 2
    outer.outputs = (out, y)                                  # ops/custom.py puts outputs in front
    assert free_vars(outer) == [z, x, y]
    inner.equations.append(Equation(registry["sin"], (z,), (Var(Type(FLOAT)),), {}))
    assert free_vars(inner) == [x, z]
    free_vars(inner).clear()
    assert free_vars(inner) == [x, z]
