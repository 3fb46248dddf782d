"""The compiled vector mathematics against NumPy and SciPy: values, special values, types, vectorisation, the disk
cache."""
import os
import subprocess
import sys
import textwrap

import numba
import numpy as np
import pytest
import scipy.special as sp

from fad.kernels import arithmetic, elementary, vecmath

from .support import jit, looped, run, vectorised

NUMPY = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atan2": np.arctan2, "atanh": np.arctanh, "pow": np.power, "quotient": np.true_divide, "erf": sp.erf,
    "erfc": sp.erfc,
}  # fmt: skip
SPECIALS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, 1e300, -1e300, 0.5, -0.5, 2.0, -3.0, 710.0, -746.0,
            3.0]
BINARY = {"atan2", "hypot", "pow", "copysign", "floor_divide", "fmax", "fmin", "fmod", "heaviside", "logaddexp",
          "logaddexp2",
          "maximum", "minimum", "power", "quotient", "remainder", "xlog1py", "xlogy"}  # fmt: skip
FLOAT_ARITHMETIC = sorted(set(arithmetic.__all__) - {"where", "like", "bitwise_count", "left_shift",
                                                     "right_shift"})


def reference(name):
    return NUMPY.get(name) or getattr(np, name, None) or getattr(sp, name)


def samples(name, dtype):
    """Every special value, or every pair of them, and ordinary numbers: enough of them to fill the vector lanes."""
    ordinary = np.random.default_rng(0).normal(0, 2, 100)
    if name not in BINARY:
        return (np.concatenate([SPECIALS, ordinary]).astype(dtype),)
    a, b = np.meshgrid(SPECIALS, SPECIALS)
    return (np.concatenate([a.ravel(), ordinary]).astype(dtype),
            np.concatenate([b.ravel(), ordinary[::-1]]).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*elementary.__all__, *FLOAT_ARITHMETIC])
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_values(name, dtype):
    kernel = getattr(vecmath, name)
    args = samples(name, dtype)
    with np.errstate(all="ignore"):
        expected = reference(name)(*args)
    loop = looped(kernel, len(args))
    actual = np.empty_like(expected)
    loop(actual, *args)
    tolerance = 16 * np.finfo(dtype).eps
    least = tolerance if "logaddexp" in name else np.finfo(dtype).tiny  # a sum can cancel
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=least)
    np.testing.assert_allclose(kernel(*args), expected, rtol=tolerance, atol=least)
    assert kernel(*args).dtype == dtype
    if name in elementary.__all__ and vecmath.have_libmvec():
        assert vectorised(loop)


@pytest.mark.parametrize("name", sorted(set(vecmath.__all__) - {"FLAVOUR", "have_libmvec"}))
def test_plain_python_makes_scalars_of_scalars(name):
    """An array of no axes is changed in place by a `+=`, and every other name of it with it."""
    x = np.float64(0.5)
    arguments = {"where": (True, x, x), "like": (0.5, x), "bitwise_count": (7,),
                 "left_shift": (5, 1), "right_shift": (5, 1)}
    y = getattr(vecmath, name)(*arguments.get(name, (x, x) if name in BINARY else (x,)))
    assert isinstance(y, (np.generic, float)) and not isinstance(y, np.ndarray)


@pytest.mark.skipif(not vecmath.have_libmvec(), reason="no libmvec")
@pytest.mark.parametrize("name", ["logaddexp", "expit", "log_expit", "xlogy", "sinc", "logit"])
def test_formulas_are_vectorised(name):
    loop = looped(getattr(vecmath, name), len(samples(name, float)))
    loop(np.empty_like(samples(name, float)[0]), *samples(name, float))
    assert vectorised(loop)


@pytest.mark.skipif(not vecmath.have_libmvec(), reason="no libmvec")
def test_branches_are_vectorised():
    def loop(y, x):
        for i in range(x.size):
            if x[i] > 0:
                r = vecmath.log(x[i])
            else:
                r = vecmath.exp(x[i])
            y[i] = r

    x = samples("exp", float)[0]
    y, loop = np.empty_like(x), jit(loop)
    loop(y, x)
    assert vectorised(loop)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(y, np.where(x > 0, np.log(x), np.exp(x)), rtol=1e-15)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "atan", "sqrt", "sign", "pow", "power"])
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_complex(name, dtype):
    rng = np.random.default_rng(1)
    args = [(rng.normal(size=9) + 1j * rng.normal(size=9)).astype(dtype) for _ in range(1 + (name in BINARY))]
    actual = run(getattr(vecmath, name), dtype, *args)
    np.testing.assert_allclose(actual, reference(name)(*args), rtol=50 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_without_libmvec(monkeypatch, dtype):
    monkeypatch.setattr("fad.kernels.widen.LOADED", False)
    names = [name for name in elementary.__all__ if name not in BINARY]
    text = f"def f(x): return ({', '.join(f'{name}(x)' for name in names)})"
    space = {name: getattr(vecmath, name) for name in names}
    exec(text, space)
    f = jit(space["f"])
    for x in (dtype(0.3), dtype(-np.inf), dtype(np.nan), dtype(7)):
        with np.errstate(all="ignore"):
            expected = [reference(name)(x) for name in names]
        np.testing.assert_allclose(f(x), expected, rtol=16 * np.finfo(dtype).eps)
    assert "_ZGV" not in next(iter(f.inspect_llvm().values()))


def test_complex_sign():
    parts = [0.0, -2.0, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a in parts for b in parts])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run(vecmath.sign, complex, z), np.sign(z))


def test_where_of_complex():
    f = jit(lambda c, x, y: vecmath.where(c, x, y))
    assert f(True, 1j, 2.0) == 1j and f(False, 1j, 2.0) == 2.0
    assert numba.typeof(f(True, np.float32(1), np.float32(2))) == numba.float64  # a scalar returned is a Python float
    assert f(False, 1, 2) == 2 and isinstance(f(False, 1, 2), int)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint64, np.uint8])
@pytest.mark.parametrize("name",
                         ["floor_divide", "remainder", "fmod", "maximum", "minimum", "power", "sign"])
def test_integers(name, dtype):
    info = np.iinfo(dtype)
    values = np.array(sorted({0, 1, 2, 5, 7, info.max, info.min} | ({-1, -2, -7} if info.min else set())), dtype)
    args = [a.ravel() for a in np.meshgrid(values, values)] if name != "sign" else [values]
    if name == "power":
        args = [a[args[1] >= 0] for a in args]
        args = [a[args[1] < 8] for a in args]
    ufunc = reference(name)
    with np.errstate(all="ignore"):
        expected = ufunc(*args)
    np.testing.assert_array_equal(run(getattr(vecmath, name), expected.dtype, *args), expected)


def test_negative_integer_power_raises_as_in_numpy():
    with pytest.raises(ValueError, match="negative integer powers"):
        jit(lambda x, n: vecmath.power(x, n))(2, -1)
    with pytest.raises(ValueError, match="negative integer powers"):
        vecmath.power(2, -1)


def test_integer_arguments_become_floats():
    for name in ("exp", "sin", "log", "cbrt", "erf", "expit"):
        kernel = getattr(vecmath, name)
        x = np.arange(5)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(run(kernel, float, x), reference(name)(x), rtol=1e-15)


def test_mixed_precision_promotes():
    x, y = np.float32([0.1, 0.2]), np.array([0.3, 0.4])
    np.testing.assert_allclose(run(vecmath.logaddexp, float, x, y), np.logaddexp(x, y), rtol=1e-15)


CACHED = """
    import numba, numpy as np
    from fad.kernels.vecmath import exp, sin, logaddexp
    from fad.kernels.special import gammaln, zeta
    from fad.kernels.linalg import matmul, solve

    @numba.njit(cache=True, error_model="numpy")
    def f(x, y):
        for i in range(x.size):
            y[i] = exp(-x[i]) * sin(x[i]) + logaddexp(x[i], 0.0) + gammaln(x[i]) + zeta(2.0, x[i])
        a = np.eye(50) * 2.0
        return solve(matmul(a, a), np.ones(50))

    x = np.linspace(0.1, 3, 101)
    y = np.empty_like(x)
    np.testing.assert_allclose(f(x, y), 0.25)
    import scipy.special as sp
    want = np.exp(-x) * np.sin(x) + np.logaddexp(x, 0) + sp.gammaln(x) + sp.zeta(2.0, x)
    np.testing.assert_allclose(y, want, rtol=1e-14)
    print(len(f.stats.cache_hits), len(f.stats.cache_misses))
"""


def test_the_package_imports_nothing_heavy():
    program = "import sys, fad.kernels; print([m for m in ('numba', 'llvmlite', 'scipy') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                            cwd=os.getcwd())
    assert result.stdout.strip() == "[]"


def test_cached_code_runs_in_another_process(tmp_path):
    script = tmp_path / "cached.py"
    script.write_text(textwrap.dedent(CACHED))
    # another address space each time: an address kept in the cached code would crash the second run
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.getcwd()}
    runs = [
        subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True,
                       check=True).stdout.split()
        for _ in range(2)
    ]
    assert runs == [["0", "1"], ["1", "0"]]


def test_tanh_is_near_its_value_everywhere():
    """To two units in the last place: small numbers, those where its two formulas meet, and large ones."""
    x = np.concatenate([np.linspace(-22, 22, 20_001), np.linspace(-0.7, 0.7, 20_001),
                        10.0 ** np.linspace(-320, 300, 5_001), np.nextafter(0.625, [0, 1])])
    y = np.empty_like(x)
    looped(vecmath.tanh, 1)(y, x)
    want = np.tanh(x.astype(np.longdouble))
    has_more_digits = np.finfo(np.longdouble).eps < np.finfo(float).eps
    assert np.max(np.abs(y - want) / np.spacing(np.abs(want).astype(float))) < (2 if has_more_digits else 3)
