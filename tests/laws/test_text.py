"""The generated text of every op, run as plain Python without compilation, gives what the op gives."""
import numpy as np
import pytest

from fad.backend.emit import source
from fad.backend.steps import BackendError

from .cases import OPS, Case, calls, results
from .programs import program



def tolerance(case: Case) -> float:
    return 2e-6 if any(np.asarray(x).dtype == np.float32 for x in case.point) else 1e-12


def run_text(text: str, xs: tuple, outside: list) -> tuple:
    scope: dict = {}
    exec(text, scope)
    with np.errstate(all="ignore"):
        return results(scope["kernel"](*[x[()] if np.ndim(x) == 0 else x for x in xs], *outside))


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if calls(op)])
def test_text_is_the_op(name):
    op = OPS[name]
    for args, params in calls(op) + calls(op, np.float32) + calls(op, complex):
        moving = tuple(k for k, a in enumerate(args) if isinstance(a, (np.ndarray, np.generic)))
        case = Case(op, args, params, moving)
        traced = program(case)
        try:
            text = source(traced.func)
        except BackendError as error:
            pytest.skip(str(error).splitlines()[0])
        with np.errstate(all="ignore"):
            wanted = results(op.run(*args, **params))
        for got, want in zip(run_text(text, case.point, traced.outside), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=tolerance(case), atol=tolerance(case))
            assert np.asarray(got).dtype == np.asarray(want).dtype or not np.ndim(want)
