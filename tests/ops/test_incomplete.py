"""The incomplete gamma and beta functions' derivatives with respect to their shapes: digits, edges, and what
statisticians make of them."""
import numba
import numpy as np
import pytest
import scipy.special as sp
from scipy import optimize, stats

import fad
from fad.kernels import incomplete
from fad.util.errors import NoDerivativeError

# mpmath at 90 digits, by central differences of steps of 1e-22.
# a, x, the first and the second derivative of P(a, x) with respect to a
GAMMA = np.array([
    (0.001, 1e-08, -17.529499859061197, 311.20234928205355),
    (0.001, 0.301, -0.9035379807295437, -0.32367008104661754),
    (0.02, 1e-08, -12.506616603385444, 222.44881976864704),
    (0.02, 0.32, -0.8652972429502742, -0.3162745491114962),
    (0.3, 1e-08, -0.08096140631762946, 1.4726348752303846),
    (0.3, 0.6, -0.5708643927200859, -0.19395230469803207),
    (1.0, 1e-08, -1.8843464987333507e-07, 3.544312404431211e-06),
    (1.0, 1.3, -0.3642631813954389, -0.07493881167511278),
    (1.5, 1e-08, -1.4385959714689363e-11, 2.7474588124701376e-10),
    (1.5, 1.8674234614174767, -0.2961565543716213, -0.05762454115418768),
    (4.0, 1e-08, -8.302832605570742e-33, 1.653566536888803e-31),
    (4.0, 4.6, -0.18217159189990656, -0.02503168626389578),
    (9.7, 1e-08, -2.8949861076985492e-83, 6.003838093815132e-82),
    (9.7, 10.634344690143845, -0.11824170933072116, -0.010862201951098157),
    (30.0, 1e-08, -8.233069386736951e-272, 1.797851328355292e-270),
    (30.0, 31.6431676725155, -0.0680876721890372, -0.003634557866485467),
    (120.5, 54.63650479969955, -8.57231924183489e-15, 6.784947493131278e-15),
    (120.5, 153.43174760015023, -0.0007062622308161142, -0.0001707512222527828),
    (1000.0, 936.7544467966325, -0.0016144115851689552, 0.00010548504343935617),
    (1000.0, 1252.9822128134704, -1.3402335698156177e-14, -3.0228321842647547e-15),
    (10000.0, 9950.0, -0.003528037903489445, 1.7684587858581833e-05),
    (10000.0, 12000.0, -6.0844086003347594e-80, -1.1093280824535603e-80),
]).T
# a, b, x, the derivatives of I_x(a, b) with respect to a, b, a a, a b, b b
BETA = np.array([
    (0.001, 0.001, 0.15034947587347153, -250.43160282774045, 249.5684690010366, 250432.92808671534, -431.56868890493325,
     -249567.0008834114),
    (0.001, 2.5, 0.999999, -4.010248745684769e-16, 5.693293743015698e-18, -1.0248796009375045e-15,
     5.7003804075724325e-15, -8.099427319894733e-17),
    (0.05, 0.001, 0.001, -0.36808357778412115, 13.61193464913218, 15.096588126826326, -355.53659454360474,
     -531.6034610272256),
    (0.05, 8.0, 0.006211180124223602, -2.28724889516045, 0.005580437042956104, 4.780842912820129, 0.0969471682470107,
     -0.0007371282980313542),
    (0.5, 0.001, 0.5, -0.004231182261334282, 1.757024710784557, 0.01649597036832315, -4.216163357345788,
     -5.706725334957778),
    (0.5, 8.0, 0.09699327556017942, -0.4696912714492348, 0.029313317112262958, -0.08722807929146757,
     0.04832618792938866, -0.004873994690788451),
    (1.0, 0.001, 0.9833680677419119, -0.0016203966805144326, 4.079684379807182, 0.002388280687187867,
     -1.6125804129474015, -16.712144753519265),
    (1.0, 8.0, 0.5, -0.008306017838263976, 0.0027076061740622863, -0.011723116973370211, 0.005339147405460361,
     -0.0018767695856179744),
    (2.5, 0.05, 1e-08, -4.002220341420623e-21, 4.5193654486743964e-21, 7.52591600794604e-20, -8.484609002169762e-20,
     1.0530551580764843e-20),
    (2.5, 8.0, 0.9, -2.7709764675205117e-07, 3.939397123668522e-07, -3.4577512018672465e-07, 5.754968379439203e-07,
     -8.407714000948913e-07),
    (8.0, 0.001, 0.5, -7.168656290967013e-07, 0.0008888103989147536, 5.913857409613124e-07, -0.0007181844863172071,
     0.0035378858969070245),
    (8.0, 2.5, 0.7619047619047619, -0.07002239313170237, 0.23444663956055506, 0.0070459246657292, -0.008042324455770276,
     -0.026946012030790955),
    (8.0, 10000.0, 0.001, -0.1023556680421267, 8.989442388476333e-05, -0.02301816439057227, 2.5857535344093484e-05,
     -2.7035318488348987e-08),
    (40.0, 2.5, 0.8698260664866915, -0.004844523171320854, 0.0520213551255597, 0.0004973361216811857,
     -0.004766562463627492, 0.040673074443833834),
    (40.0, 10000.0, 0.001, -1.1089142948499994e-12, 2.390559425091602e-15, 1.53610923719533e-12, -3.274707564315063e-15,
     6.9132933902360056e-18),
    (300.0, 1.0, 0.999999, -9.997005447246392e-07, 0.0025594937652329464, 9.99701044603992e-13, 7.532255242963569e-06,
     -0.02164752850617263),
    (300.0, 300.0, 0.9, -9.312150718122841e-136, 2.5489879322281513e-135, -5.458771156032149e-136,
     1.4988085798795102e-135, -4.1072374834262755e-135),
    (2000.0, 2.5, 0.9, -6.85255691178491e-90, 3.013576948425804e-88, 7.16851461029434e-91, -3.149376786783964e-89,
     1.3543607975651042e-87),
    (2000.0, 10000.0, 0.14625510260759167, -3.606774175323785e-11, 6.680287342354905e-12, 4.715183837683463e-12,
     -8.716233004474752e-13, 1.6109785747749934e-13),
    (10000.0, 8.0, 0.9935508489387871, -4.7538525149601955e-22, 1.7829569536761806e-19, 2.7431067701968226e-24,
     -1.0228350673206845e-21, 3.7572840297668215e-19),
]).T
ARGUMENTS = {"gammainc": GAMMA[:2], "betainc": BETA[:3]}
WANTED = {"gammainc_da": GAMMA[2], "gammainc_daa": GAMMA[3], "betainc_da": BETA[3], "betainc_db": BETA[4],
          "betainc_daa": BETA[5],
          "betainc_dab": BETA[6], "betainc_dbb": BETA[7]}


def derivative(name):
    """Compiled for numbers, as generated code calls it."""
    f = getattr(incomplete, name)
    if name.startswith("gamma"):
        return numba.njit(lambda a, x: f(a, x))
    return numba.njit(lambda a, b, x: f(a, b, x))


@pytest.mark.parametrize("name", WANTED)
def test_digits(name):
    """Relative, however small the value: over arrays, and compiled."""
    args, digits = ARGUMENTS[name.partition("_")[0]], 1e-12 if len(name.partition("_")[2]) == 2 else 1e-9
    np.testing.assert_allclose(getattr(incomplete, name)(*args), WANTED[name], rtol=digits)
    compiled = derivative(name)
    np.testing.assert_allclose([compiled(*row) for row in args.T], WANTED[name], rtol=digits)


@pytest.mark.parametrize("name", WANTED)
def test_edges(name):
    """Zero where the function is constant in its shapes, nan outside the domain and beyond the shapes that leave
    digits."""
    f, compiled = getattr(incomplete, name), derivative(name)
    shapes = (2.5,) if name.startswith("gamma") else (2.5, 0.7)
    end = np.inf if name.startswith("gamma") else 1.0
    wrong = [(*shapes, -0.5), (*shapes, np.nan), (-1.0, *shapes[1:], 0.5), (0.0, *shapes[1:], 0.5),
             (1e9, *shapes[1:], 0.5),
             (np.inf, *shapes[1:], 0.5)]
    for g in (f, compiled):
        assert g(*shapes, 0.0) == 0.0 == g(*shapes, end)
        assert np.isnan([g(*args) for args in wrong]).all()
    assert f(*np.float32(shapes), np.float32(0.5)).dtype == np.float64
    assert fad.ops.table.TABLE[name](*np.float32(shapes), np.float32(0.5)).dtype == np.float32


def test_deep_tails():
    """Where the function itself is hardly above the least number."""
    np.testing.assert_allclose(fad.grad(lambda a: np.log(sp.gammainc(a, 1e-200)))(1.0), np.log(1e-200) - sp.psi(2.0),
                               rtol=1e-12)
    np.testing.assert_allclose(fad.grad(lambda a: np.log(sp.betainc(a, 1.0, 1e-200)))(1.0), np.log(1e-200), rtol=1e-12)
    np.testing.assert_allclose(fad.grad(lambda x: np.log(sp.fdtrc(3.0, 5.0, x)))(1e12), -2.5e-12, rtol=1e-9)
    assert np.isnan(fad.grad(lambda a: sp.betainc(a, 1.0, 5e-324))(1.0))


def test_many_degrees_of_freedom():
    """nan where few digits are left, to second order, too; the derivative with respect to the argument stays."""
    first = fad.grad(lambda v: sp.stdtr(v, -1.5))
    large = stats.norm.pdf(1.5) * -1.5 * (1.5 ** 2 + 1.0) / 4.0          # of the normal limit, times 1 / v^2
    np.testing.assert_allclose(first(1e5), large / 1e10, rtol=1e-5)
    assert np.isnan([first(1e7), fad.grad(first)(1e7), fad.grad(lambda m: sp.fdtr(m, 3.0, 1.5))(1e7)]).all()
    np.testing.assert_allclose(fad.grad(lambda t: sp.stdtr(1e7, t))(-1.5), stats.norm.pdf(1.5), rtol=1e-6)


def test_third_derivatives_raise():
    third = fad.grad(fad.grad(fad.grad(lambda a: sp.gammainc(a, 2.0))))
    with pytest.raises(NoDerivativeError, match="no third"):
        third(1.5)


# -- the functions that lead to them ---------------------------------------------------------------

FUNCTIONS = {
    "gammaincc": (lambda a: sp.gammaincc(a, 2.5), 1.7), "gammaincinv": (lambda a: sp.gammaincinv(a, 0.3), 1.7),
    "gammainccinv": (lambda a: sp.gammainccinv(a, 1e-9), 1.7), "betaincc": (lambda a: sp.betaincc(2.0, a, 0.3), 1.7),
    "betaincinv": (lambda a: sp.betaincinv(2.0, a, 0.3), 1.7), "stdtr": (lambda v: sp.stdtr(v, 1.3), 2.5),
    "stdtr at 0": (lambda v: sp.stdtr(v, 0.0 * v), 2.5), "stdtrit": (lambda v: sp.stdtrit(v, 0.01), 2.5),
    "fdtr": (lambda m: sp.fdtr(m, 2.0 * m, 0.8), 3.0), "fdtri": (lambda m: sp.fdtri(m, 2.0 * m, 0.8), 3.0),
    "gdtr": (lambda b: sp.gdtr(0.4, b, 3.0), 1.7), "chdtrc": (lambda v: sp.chdtrc(v, 9.0), 3.0),
    "gamma.logsf": (lambda a: stats.gamma.logsf(60.0, a, scale=0.7), 1.7),
    "gamma.ppf": (lambda a: stats.gamma.ppf(0.1, a), 1.7),
    "beta.logcdf": (lambda a: stats.beta.logcdf(0.01, 3.0 * a, a), 1.7),
    "beta.isf": (lambda a: stats.beta.isf(0.01, 3.0 * a, a), 1.7),
    "chi2.sf": (lambda v: stats.chi2.sf(30.0, v), 3.0), "t.logcdf": (lambda v: stats.t.logcdf(-9.0, v), 3.0),
    "t.ppf": (lambda v: stats.t.ppf(0.99, v), 3.0), "f.logsf": (lambda n: stats.f.logsf(9.0, 3.0, n), 4.0),
    "f.isf": (lambda n: stats.f.isf(0.05, 3.0, n), 4.0), "nbinom.cdf": (lambda n: stats.nbinom.cdf(3, n, 0.4), 2.5),
    "binom.cdf": (lambda p: stats.binom.cdf(3, 7, p), 0.4), "poisson.cdf": (lambda m: stats.poisson.cdf(3, m), 2.5),
    "gengamma.cdf": (lambda a: stats.gengamma.cdf(1.3, a, 1.5), 1.7),
    "nakagami.logsf": (lambda n: stats.nakagami.logsf(2.0, n), 1.7),
    "loggamma.cdf": (lambda c: stats.loggamma.cdf(0.3, c), 1.7),
    "erlang.cdf": (lambda a: stats.erlang.cdf(2.0, a), 3.0),
}


def differences(f, x, h=2e-3):
    """A central difference of sixth order."""
    return sum(c * (f(x + k * h) - f(x - k * h)) for k, c in ((1, 45.0), (2, -9.0), (3, 1.0))) / (60.0 * h)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:.*shape parameter:RuntimeWarning")
def test_first_and_second_derivatives(name):
    f, x = FUNCTIONS[name]
    first = fad.grad(f)
    np.testing.assert_allclose(first(x), differences(f, x), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(fad.grad(first)(x), differences(first, x), rtol=1e-7, atol=1e-11)


# -- a censored likelihood -------------------------------------------------------------------------


def censored_sample():
    times = stats.gamma.rvs(2.2, scale=1.6, size=300, random_state=np.random.default_rng(5))
    return np.minimum(times, 4.0), times < 4.0


def test_censored_gamma_is_fitted_with_gradient_and_hessian():
    times, seen = censored_sample()

    def loss(theta):
        a, scale = np.exp(theta)
        density, survival = stats.gamma.logpdf(times, a, scale=scale), stats.gamma.logsf(times, a, scale=scale)
        return -np.mean(np.where(seen, density, survival))

    start = np.zeros(2)
    exact = optimize.minimize(loss, start, jac=fad.grad(loss), hess=lambda theta: fad.functional.hessian(loss, theta),
                              method="trust-exact",
                              options={"gtol": 1e-10})
    rough = optimize.minimize(loss, start, method="BFGS")
    assert exact.success and exact.nit < 15
    np.testing.assert_allclose(exact.x, rough.x, atol=2e-5)
    assert exact.fun <= rough.fun + 1e-14
    step = [differences(lambda t, k=k: fad.grad(loss)(np.where(np.arange(2) == k, t, exact.x)), exact.x[k])
            for k in range(2)]
    np.testing.assert_allclose(fad.functional.hessian(loss, exact.x), step, rtol=1e-8)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_tiers_agree(compile):
    times, _ = censored_sample()

    def loss(a, b, v):
        scaled = times / 4.1
        return (np.sum(stats.gamma.logsf(times, a)) + np.sum(stats.beta.logcdf(scaled, a, b))
                + np.sum(stats.t.logcdf(-times, v)))

    with fad.config.using(compile=compile):
        got = fad.grad(loss, argnums=(0, 1, 2))(1.5, 2.5, 3.5)
    want = [differences(lambda t, k=k: loss(*[t if j == k else x for j, x in enumerate((1.5, 2.5, 3.5))]),
                        (1.5, 2.5, 3.5)[k]) for k in range(3)]
    np.testing.assert_allclose(got, want, rtol=1e-8)
