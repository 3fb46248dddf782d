"""The precision of overrides: for arguments in single precision, all or some of them, results have NumPy's dtypes,
their tangents have those of the results, and gradients those of the arguments."""
import itertools

import numpy as np
import pytest

from fad.trace.tracing import trace

from ..turns import in_turn
from .programs import Program, floating
from .test_overrides import SAMPLES, function_of, listed


def some_in_single(xs):
    """The arguments, with some or all of them in single precision."""
    for narrow in itertools.product((False, True), repeat=len(xs)):
        if any(narrow):
            yield tuple([x.astype(np.float32) if k else x for x, k in zip(xs, narrow)])


@pytest.mark.parametrize("expression", in_turn(SAMPLES, count=4))
def test_dtypes_are_numpys(expression):
    f, given = function_of(expression)
    for xs in some_in_single(given):
        try:
            want = listed(f(*[x.copy() for x in xs]))
        except (TypeError, ValueError):
            continue                                          # NumPy's function does not take them either
        found = trace(f, list(xs))
        program = Program(found.func, len(xs), list(found.captured), tuple(range(len(xs))))
        got = [np.asarray(y) for y in program.value(*xs)]
        assert [y.dtype for y in got] == [y.dtype for y in want]
        for y, wanted in zip(got, want):
            np.testing.assert_allclose(y, wanted, rtol=1e-3, atol=1e-4)
        tangents = program.forward(xs, tuple([np.ones_like(x) for x in xs]))
        assert [np.asarray(t).dtype for t in tangents] == [y.dtype for y in floating(got)]
        cotangents = program.reverse(xs, tuple([np.ones_like(y) for y in floating(got)]))
        assert [np.asarray(g).dtype for g in cotangents] == [x.dtype for x in xs]
