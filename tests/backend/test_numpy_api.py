"""Every sample expression of every override, and its reverse mode: the generated text as Python agrees with the
interpreter."""
import cmath
import math

import numpy as np
import pytest

import fad
from fad.backend.schedule.loop_ir import BackendError
from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp
from tests.laws.test_overrides import SAMPLES, function_of
from tests.ops.numpy_api.overrides_at import function_of as function_at
from tests.ops.numpy_api.overrides_at import listed
from tests.turns import in_turn

from .support import check

COMPILED = SAMPLES[::80] + SAMPLES[1::80]                       # of each of the two turns


def leaves(y):
    return [leaf for part in y for leaf in leaves(part)] if isinstance(y, tuple) else [y]


def agree(func, args, guards, jit):
    try:
        check(optimise(func), args, guards, jit)
    except BackendError as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("expression", in_turn(SAMPLES, count=3))
def test_value(expression):
    f, xs = function_of(expression)
    traced = trace(f, list(xs))
    agree(traced.func, [*xs, *traced.captured], traced.guards, expression in COMPILED)


@pytest.mark.parametrize("expression", in_turn(SAMPLES, 1, count=3))
def test_reverse(expression):
    f, xs = function_of(expression)
    traced = trace(f, list(xs))
    args = [*xs, *traced.captured]
    with np.errstate(all="ignore"):
        ys = evaluate(traced.func, args)
    rng = np.random.default_rng(3)
    gs = [rng.standard_normal(np.shape(y)).astype(a.type.dtype)[()]
          for a, y in zip(traced.func.outputs, ys) if a.type.dtype.kind in "fc"]
    agree(vjp(traced.func, tuple(range(len(xs)))), args + gs, traced.guards, expression in COMPILED)


# What NumPy computes in another dtype than that of its operands, and in whole numbers: one program, compiled.
NUMBERS = """
f.astype(float) ** 3; np.exp(f, dtype=float); np.exp(f[0].astype(float)); np.float_power(f, 2); np.float_power(f[0], 2)
np.full(2, f[0], dtype=float); np.full(2, k[0], dtype=float); np.full(2, k.sum(), dtype=np.float32)
np.sum(f, dtype=float); np.mean(f, dtype=float); np.sum(k, dtype=np.int8); np.prod(k, dtype=np.int16)
np.cumsum(k, dtype=np.int8); k.sum(dtype=bool); np.add.reduce(k, dtype=np.int8); np.add.accumulate(k, dtype=np.int8)
np.cumulative_sum(k, dtype=np.int32); np.trace(np.outer(k, u), dtype=np.int16); np.sum(k, dtype=np.int32, initial=2)
np.interp(f, k * 0 + [0, 1, 1], u); np.interp([1.0, 0.5, 2.0], [0, 1, 1], u); np.interp(f, [0, 1.0], [1j, 2])
np.average(k, weights=f); np.average(z, weights=k); np.isclose(u, u + 1, atol=1.5); math.sin(f[0]) * f; math.exp(f[0])
math.hypot(f[0], f[1]) * f; float(f[0]) * f; complex(f[0]) * f; f[0].item() * f; f.tolist()[1] * f
cmath.rect(f[0], f[1]) * f; cmath.exp(1j * f[0]); complex(f[0], 2.0); np.logaddexp.accumulate(k.astype(int))
np.median(k > 0); np.median(k[:1] < 2); math.frexp(f[2]); math.modf(f[1]); np.arange(stop=k[2]); int('12', base=8)
np.max(k > 0); np.min(k > 0); np.max(k < 0, axis=0); np.argwhere(k[0]); np.argwhere(k[0] - 1); np.isclose(k > 0, u > 1)
np.bitwise_count(37 * k); np.bitwise_count(u); np.bitwise_count(12345678901 * k.astype(np.int64))
np.bitwise_count(k > 0)
"""
KINDS = {"f": np.array([0.3, 1.7, -0.2], np.float32), "k": np.array([1, -2, 3], np.int8),
         "u": np.array([2, 1, 3], np.uint8),
         "z": np.array([1j, 2.0, 0.5 - 1j], np.complex64)}


def test_numbers_of_other_dtypes():
    f, xs = function_at(f"({', '.join(listed(NUMBERS))})", scope={"math": math, "cmath": cmath}, values=KINDS)
    for got, want in zip(leaves(fad.jit(f, compile="now")(*xs)), leaves(f(*xs)), strict=True):
        assert type(got) is type(want) and np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want,
                                   rtol=1e-6 if np.asarray(want).dtype in (np.float32, np.complex64) else 1e-12)


ONE = """
np.cumsum(f); np.cumsum(k); np.cumprod(u); np.cumsum(f[None], axis=0); np.maximum.accumulate(f)
np.logaddexp.accumulate(f); np.argmax(f); np.argmin(k); np.argmax(f[None], axis=1); np.nanargmax(f)
np.nancumsum(f[::-1]); np.cumsum(z)
"""


@pytest.mark.parametrize("compile", ["never", "now"])
def test_arrays_of_one_element(compile):
    f, xs = function_at(f"({', '.join(listed(ONE))})", values={name: x[:1] for name, x in KINDS.items()})
    for got, want in zip(fad.jit(f, compile=compile)(*xs), f(*xs), strict=True):
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_array_equal(got, want)


def test_complex_numbers_divided_by_zero():
    z = np.array([1 + 2j, 0, -1j, 3 - 1j, np.inf])
    w = np.array([0, 0, 0, 1 - 2j, 1j])
    def f(z, w):
        return z / w, z[0] / w[0], 1.0 / w, np.reciprocal(w), np.reciprocal(z)
    with np.errstate(all="ignore"):
        for got, want in zip(fad.jit(f, compile="now")(z, w), f(z, w), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-14)
