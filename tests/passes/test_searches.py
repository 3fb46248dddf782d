"""Searches in two passes find the first place of the best element, and that of a nan."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.passes.pipeline import optimise
from fad.passes.searches import split_searches
from fad.trace.tracing import trace

ROWS = np.array([[3.0, 1.0, 3.0, 2.0] * 3, [0.0, -0.0, -1.0, 0.0] * 3, [1.0, np.nan, 2.0, np.nan] * 3,
                 [np.inf, -np.inf, np.inf, 1.0] * 3, [-np.inf] * 12])


@pytest.mark.parametrize("search", [np.argmax, np.argmin])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_places(search, dtype):
    is_float = np.dtype(dtype).kind == "f"
    rows = (ROWS if is_float else np.nan_to_num(ROWS, posinf=9, neginf=0).clip(0, 9)).astype(dtype)
    found = fad.jit(lambda x: search(x, axis=-1), compile="now")
    np.testing.assert_array_equal(found(rows), search(rows, axis=-1))
    for row in rows:
        assert found(row) == search(row)


def _searches(func):
    return [e.op.name for e in func.equations if e.op.name.startswith("arg")] + [
        name for e in func.equations for r in e.regions for name in _searches(r)]


def _split(f, *args):
    return check(split_searches(optimise(trace(f, list(args)).func)))


def test_rows_are_searched_in_two_passes():
    assert not _searches(_split(lambda x: np.argmax(x * 2.0, axis=1), ROWS))


def test_columns_and_short_rows_are_not():
    def pivots(A):
        p = 0
        for k in range(A.shape[0]):
            p = p + np.argmax(np.abs(A[k:, k]))
        return p
    assert _searches(_split(pivots, np.eye(9)))
    assert _searches(_split(lambda x: np.argmax(x, axis=0), ROWS))
    assert _searches(_split(lambda x: np.argmax(np.array([x[0], x[1], x[2]])), ROWS[0]))


def test_complex_numbers_are_not():
    assert _searches(_split(lambda x: np.argmax(x), ROWS[0] + 0j))
