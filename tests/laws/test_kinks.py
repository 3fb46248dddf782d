"""The table of kinks says what happens, in both modes; and a branch not taken has no part in a derivative."""
import numpy as np
import pytest
import scipy.special as sp

from fad.ops import table
from fad.ops.kinks import KINKS
from fad.trace.tracing import trace

from ..texts import executed
from .programs import Program

assert table


def traced(call: str, names: str, at: tuple) -> Program:
    scope = {"np": np, "sp": sp}
    executed(f"def f({', '.join(names)}):\n    return {call}\n", scope)
    found = trace(scope["f"], list(at))
    return Program(found.func, len(at), list(found.captured), tuple(range(len(at))))


def arrays(kink) -> list:
    return [np.asarray(x) for x in kink.at]


@pytest.mark.parametrize("kink", KINKS, ids=lambda kink: f"{kink.call} at {kink.at}")
def test_kink(kink):
    xs = arrays(kink)
    program = traced(kink.call, "xy"[:len(xs)], xs)
    np.testing.assert_array_equal(program.reverse(tuple(xs), (np.asarray(1.0),)), kink.gradient)
    for k, slope in enumerate(kink.gradient):
        dxs = tuple([np.asarray(float(j == k), x.dtype) for j, x in enumerate(xs)])
        np.testing.assert_array_equal(np.real(program.forward(tuple(xs), dxs)[0]), np.real(slope))


BRANCHES = {
    "np.where(x > 0, x * np.log(x), 0.0)": (0.0, -1.0),
    "np.where(x < 100, np.log(1 + np.exp(x)), x)": (1000.0, 800.0),
    "np.where(x > 0, np.sqrt(x), 0.0)": (0.0, -4.0),
    "np.where(x == 0, 1.0, np.sin(x) / x)": (0.0,),
    "np.maximum(np.log(x), -10.0)": (0.0,),
    "np.clip(1 / x, -5.0, 5.0)": (0.0,),
    "np.where(x > 0, np.where(x > 0, x, 1.0) ** -1.5, 0.0)": (0.0, -1.0),
    "np.where(np.abs(x) < 1, np.arctanh(x), 0.0)": (1.0, 2.0),
    "np.select([x > 1, x > 0], [np.log(x - 1), np.log(x)], 0.0)": (0.0, -1.0),
}


@pytest.mark.parametrize("call", BRANCHES)
@pytest.mark.parametrize("wide", [False, True])
def test_a_branch_not_taken_cannot_poison(call, wide):
    """To second order, in both modes, for scalars and in arrays."""
    for point in BRANCHES[call]:
        x = np.array([point, point, point]) if wide else np.asarray(point)
        with np.errstate(all="ignore"):
            program = traced(call, "x", (x,))
            one = np.ones_like(x)
            first = program.pullback()
            found = [*program.reverse((x,), (one,)), *program.forward((x,), (one,)),
                     *first.forward((x, one), (one, 0 * one)),
                     *first.reverse((x, one), (one,))[:1]]
            for g in found:
                assert np.isfinite(g).all(), (call, point, found)
