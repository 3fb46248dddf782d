"""The generated text of every op gives what the op gives: run as plain Python, and compiled."""
import numpy as np
import pytest

from fad.backend.emission.emit import source
from fad.backend.running.compile import kernel_of
from fad.backend.schedule.loop_ir import BackendError

from .cases import OPS, Case, calls, results
from .programs import called, program

# LAPACK's drivers choose signs of eigenvectors each in their way
UP_TO_SIGN = ("eigh",)


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
    for case, traced in called(name):
        try:
            text = source(traced.func)
        except BackendError as error:
            pytest.skip(str(error).splitlines()[0])
        with np.errstate(all="ignore"):
            wanted = results(op.run(*case.args, **case.params))
        for got, want in zip(run_text(text, case.point, traced.outside), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=tolerance(case), atol=tolerance(case))
            assert np.asarray(got).dtype == np.asarray(want).dtype or not np.ndim(want)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, op in OPS.items() if calls(op)])
def test_compiled_text_is_the_op(name):
    op = OPS[name]
    args, params = calls(op)[0]
    case = Case(op, args, params, tuple(k for k, a in enumerate(args) if isinstance(a, (np.ndarray, np.generic))))
    traced = program(case)
    try:
        kernel = kernel_of(source(traced.func), "kernel")
    except BackendError as error:
        pytest.skip(str(error).splitlines()[0])
    got = results(kernel.call(*[x[()] if np.ndim(x) == 0 else x for x in case.point], *traced.outside))
    for y, want in zip(got, results(op.run(*args, **params)), strict=True):
        y, want = (np.abs(y), np.abs(want)) if name in UP_TO_SIGN else (y, want)
        np.testing.assert_allclose(y, want, rtol=1e-10, atol=1e-12)
