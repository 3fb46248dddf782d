"""scipy.stats through fad: every method of every distribution it knows gives SciPy's numbers, and derivatives that
differences confirm."""
import numpy as np
import pytest
from scipy import stats

import fad
from fad.ops.numpy_api.distributions.continuous import CONTINUOUS
from fad.ops.numpy_api.distributions.discrete import DISCRETE
from fad.util.errors import UnsupportedFunctionError

SHAPES = {"gamma": (2.3,), "chi2": (3.4,), "chi": (2.7,), "invgamma": (2.2,), "beta": (1.7, 2.4), "t": (3.6,),
          "f": (4.0, 5.5), "lognorm": (0.8,), "weibull_min": (1.6,), "pareto": (2.1,), "lomax": (1.8,),
          "powerlaw": (1.9,), "loguniform": (0.4, 2.5), "reciprocal": (0.4, 2.5), "invgauss": (1.3,),
          "truncnorm": (-0.7, 1.9), "vonmises": (1.4,), "skewnorm": (2.1,), "gennorm": (1.6,), "fisk": (2.2,),
          "weibull_max": (1.7,), "dweibull": (1.4,), "dgamma": (1.6,), "gengamma": (1.4, 1.8), "loggamma": (1.3,),
          "nakagami": (1.2,), "genextreme": (0.2,), "genpareto": (0.15,), "burr": (2.1, 1.4), "burr12": (2.1, 1.4),
          "genlogistic": (1.5,), "gompertz": (0.9,), "exponnorm": (1.5,), "foldnorm": (0.8,), "rice": (0.9,),
          "norminvgauss": (1.6, 0.5), "johnsonsu": (0.4, 1.5), "johnsonsb": (0.4, 1.5), "laplace_asymmetric": (1.5,),
          "skewcauchy": (0.3,), "wrapcauchy": (0.4,), "triang": (0.4,), "truncexpon": (2.2,), "bradford": (1.2,),
          "poisson": (2.6,), "binom": (5, 0.3), "bernoulli": (0.4,), "geom": (0.35,), "nbinom": (3.2, 0.45),
          "betabinom": (6, 1.4, 2.2)}
POINTS = np.array([-7.3, -0.2, 0.0, 0.31, 0.77, 1.0, 1.35, 2.4, 9.6, np.nan])
COUNTS = np.array([-1.0, 0.0, 1.0, 2.0, 2.5, 5.0, 6.0, 7.0, 30.0])
PROBABILITIES = np.array([-0.1, 0.03, 0.4, 0.5, 0.85, 0.99, 1.2])
OF_POINTS = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
OF_COUNTS = ("pmf", "logpmf", "cdf", "sf", "logcdf", "logsf")
CALLS = [(name, method, POINTS) for name in CONTINUOUS for method in OF_POINTS]
CALLS += [(name, method, PROBABILITIES) for name in CONTINUOUS for method in ("ppf", "isf")]
CALLS += [(name, method, COUNTS) for name in DISCRETE for method in OF_COUNTS]


def known(name: str, method: str) -> bool:
    record = {**CONTINUOUS, **DISCRETE}[name]
    if method in ("ppf", "isf"):
        return record.ppf is not None
    return (record.cdf if method.endswith(("cdf", "sf")) else record.log_density) is not None


def both(name: str, method: str, *parameters):
    """The method with these parameters as SciPy computes it, and as a traced function."""
    call = getattr(getattr(stats, name), method)
    return (lambda x: call(x, *parameters)), fad.jit(lambda x: call(x, *parameters))


@pytest.mark.parametrize("name", [name for name in (*CONTINUOUS, *DISCRETE) if name in SHAPES])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_shapes_are_allowed_as_in_scipy(name):
    method = getattr(getattr(stats, name), "pmf" if name in DISCRETE else "pdf")
    for k in range(len(SHAPES[name])):
        for given in (-1.0, 0.0, 1.0, 2.5, np.nan):
            shapes = [given if j == k else float(s) for j, s in enumerate(SHAPES[name])]
            for at in (0.6, 1.0, 2.0):
                np.testing.assert_allclose(fad.jit(lambda x, s: method(x, *s))(at, shapes),
                                           method(at, *shapes), rtol=1e-6, atol=1e-300)


@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value|overflow):RuntimeWarning")
@pytest.mark.parametrize(("name", "method", "points"),
                         [call for call in CALLS if known(*call[:2]) and call[0] != "erlang"])
def test_values(name, method, points):
    for place in ((), (0.3,)) if name in DISCRETE else ((), (0.3, 1.7), (0.3, -1.0)):
        shifted = points + 0.3 if name in DISCRETE and place else points
        of_scipy, traced = both(name, method, *SHAPES.get(name, ()), *place)
        found, expected = traced(shifted), of_scipy(shifted)
        # SciPy's logarithm of a density that underflows
        expected = np.where((expected < -700) & (found < -700), found, expected)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if n not in ("uniform", "erlang")])
def test_derivatives_with_respect_to_everything(name):
    shapes = SHAPES.get(name, ())
    x = getattr(stats, name).ppf(np.array([0.2, 0.45, 0.8]), *shapes, 0.3, 1.7)
    parameters = np.array([*shapes, 0.3, 1.7])

    def log_likelihood(x, parameters):
        return np.sum(getattr(stats, name).logpdf(x, *[parameters[k] for k in range(len(shapes) + 2)]))
    for k, at in enumerate((x, parameters)):
        numeric = []
        for j in range(len(at)):
            step = 1e-6 * np.eye(len(at))[j]
            low, high = [(x - s, parameters) if k == 0 else (x, parameters - s) for s in (step, -step)]
            numeric.append((log_likelihood(*high) - log_likelihood(*low)) / 2e-6)
        np.testing.assert_allclose(fad.grad(log_likelihood, argnums=k)(x, parameters), numeric, rtol=2e-5, atol=1e-6)


def test_extremes_and_excesses_are_smooth_in_their_shape():
    """At shape zero (an exponential, a Gumbel) and around it."""
    y = 1.3
    np.testing.assert_allclose(fad.grad(lambda c: stats.genpareto.logpdf(y, c))(0.0), y * y / 2 - y)
    np.testing.assert_allclose(fad.grad(lambda c: stats.genextreme.logpdf(y, c))(0.0), y - (1 - np.exp(-y)) * y * y / 2)
    for name in ("genpareto", "genextreme"):
        slope = fad.grad(lambda c: getattr(stats, name).logpdf(y, c))  # noqa: B023 - called at once
        np.testing.assert_allclose(fad.grad(slope)(0.0), (slope(0.01) - slope(-0.01)) / 0.02, rtol=1e-3)
        np.testing.assert_allclose(slope(0.0005), slope(0.001), rtol=2e-2)


def test_outside_the_support_the_gradient_is_zero():
    g = fad.grad(lambda x: np.sum(stats.gamma.pdf(x, 2.0)))(np.array([-1.0, 1.5]))
    assert g[0] == 0
    assert g[1] == pytest.approx(np.exp(-1.5) * (1 - 1.5))


def test_frozen_distributions_and_keywords():
    x = np.array([0.3, 1.2])
    g = fad.grad(lambda m, s: np.sum(stats.norm(loc=m, scale=s).logpdf(x)), argnums=(0, 1))(0.5, 1.3)
    np.testing.assert_allclose(g[0], np.sum((x - 0.5) / 1.3 ** 2))
    np.testing.assert_allclose(g[1], np.sum((x - 0.5) ** 2 / 1.3 ** 3 - 1 / 1.3))
    prior = stats.gamma(2.0, scale=3.0)
    np.testing.assert_allclose(fad.grad(lambda v: prior.logpdf(v))(1.7), 1 / 1.7 - 1 / 3.0)


def test_a_method_is_itself_differentiable():
    np.testing.assert_allclose(fad.grad(stats.norm.logpdf)(0.7), -0.7)


def test_the_multivariate_normal():
    rng = np.random.default_rng(3)
    a = rng.normal(size=(3, 3))
    x, mean, cov = rng.normal(size=(5, 3)), rng.normal(size=3), a @ a.T + np.eye(3)
    for parameters in ((mean, cov), (mean, np.diag(cov)), (mean, 1.7), (None, cov)):
        np.testing.assert_allclose(fad.jit(lambda x: stats.multivariate_normal.logpdf(x, *parameters))(x),  # noqa: B023
                                   stats.multivariate_normal.logpdf(x, *parameters))
    np.testing.assert_allclose(fad.jit(lambda x: stats.multivariate_normal.pdf(x, mean, cov))(x[0]),
                               stats.multivariate_normal.pdf(x[0], mean, cov))
    np.testing.assert_allclose(fad.jit(lambda c: stats.multivariate_normal.entropy(mean, c))(cov),
                               stats.multivariate_normal.entropy(mean, cov))
    g = fad.grad(lambda m: np.sum(stats.multivariate_normal(m, cov).logpdf(x)))(mean)
    np.testing.assert_allclose(g, np.linalg.solve(cov, (x - mean).sum(axis=0)))
    np.testing.assert_allclose(fad.jit(lambda x: stats.multivariate_normal.logpdf(x))(np.array([0.2, 1.4])),
                               stats.multivariate_normal.logpdf(np.array([0.2, 1.4])))


LOW_RANK = np.array([[1.0, 0.2, 0.0], [0.3, 1.1, -0.4]])


@pytest.mark.parametrize("cov",
                         [LOW_RANK.T @ LOW_RANK, LOW_RANK.T @ LOW_RANK + np.eye(3), np.eye(3),
                          np.array([1.0, 0.0, 2.0]), np.array(0.7)],
                         ids=["low rank", "full rank", "equal eigenvalues", "a zero on the diagonal", "a number"])
def test_the_multivariate_normal_of_a_covariance_that_may_be_singular(cov):
    """The derivatives within the support; beside it the density is zero."""
    rng = np.random.default_rng(3)
    if cov.ndim == 1:
        basis = np.diag([1.0, 0.0, 1.0])
    else:
        basis = LOW_RANK if np.linalg.matrix_rank(cov) == 2 else np.eye(3)
    t, mean = rng.normal(size=(4, len(basis))), np.zeros(3)

    def f(t, c):
        return np.sum(stats.multivariate_normal.logpdf(t @ basis, mean, c * cov, allow_singular=True))
    np.testing.assert_allclose(fad.jit(f)(t, 1.3), f(t, 1.3))
    np.testing.assert_allclose(fad.grad(f, 1)(t, 1.3), (f(t, 1.3 + 1e-6) - f(t, 1.3 - 1e-6)) / 2e-6, rtol=1e-7)
    ways = rng.normal(size=t.shape)
    np.testing.assert_allclose(np.sum(fad.grad(f)(t, 1.3) * ways),
                               (f(t + 1e-6 * ways, 1.3) - f(t - 1e-6 * ways, 1.3)) / 2e-6, rtol=1e-7)
    frozen = fad.jit(lambda c: stats.multivariate_normal(mean, c * cov, allow_singular=True).entropy())
    np.testing.assert_allclose(frozen(1.3), stats.multivariate_normal(mean, 1.3 * cov, allow_singular=True).entropy())
    off = rng.normal(size=(5, 3))
    np.testing.assert_allclose(fad.jit(lambda x: stats.multivariate_normal.logpdf(x, mean, cov, True))(off),
                               stats.multivariate_normal.logpdf(off, mean, cov, True))


def test_a_covariance_of_a_negative_eigenvalue_is_refused():
    with pytest.raises(ValueError, match="positive semidefinite"):
        fad.grad(lambda x: stats.multivariate_normal.logpdf(x, np.zeros(2), np.diag([1.0, -1.0]), True))(np.ones(2))


@pytest.mark.parametrize(("x", "n", "p"), [
    ([1, 2, 1], 4, [0.2, 0.3, 0.6]), ([1, 2, 1], 4, [0.7, 0.8, -0.5]), ([1, 2, 1], -4, [0.2, 0.3, 0.5]),
    ([1.5, 1.5, 1], 4, [0.2, 0.3, 0.5]), ([-1, 4, 1], 4, [0.2, 0.3, 0.5]),
    ([[1, 2, 1], [0, 0, 4]], 4, [[0.2, 0.3, 0.5], [0.1, 0.1, 0.1]])])
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::RuntimeWarning")
def test_what_multinomial_makes_of_what_is_none(x, n, p):
    f = lambda p: stats.multinomial.logpmf(x, n, p)
    np.testing.assert_allclose(fad.jit(f)(np.array(p)), f(np.array(p)))


def test_dirichlet_and_multinomial():
    x, alpha = np.array([0.2, 0.3, 0.5]), np.array([1.5, 2.0, 0.7])
    for points in (x, x[:2], np.stack([x, x[::-1]], axis=1)):
        np.testing.assert_allclose(fad.jit(lambda a: stats.dirichlet.logpdf(points, a))(alpha),  # noqa: B023
                                   stats.dirichlet.logpdf(points, alpha))
    counts = np.array([[2, 1, 3], [1, 1, 1]])
    np.testing.assert_allclose(fad.jit(lambda p: stats.multinomial.logpmf(counts, 6, p))(x),
                               stats.multinomial.logpmf(counts, 6, x))


def test_what_is_not_known_says_so():
    with pytest.raises(UnsupportedFunctionError, match="kappa4"):
        fad.grad(lambda x: stats.kappa4.logpdf(x, 0.1, 0.2), fallback=False)(0.5)
    with pytest.raises(UnsupportedFunctionError, match=r"vonmises\.cdf"):
        fad.grad(lambda x: stats.vonmises.cdf(x, 1.2), fallback=False)(0.5)
    with pytest.raises(TypeError, match="scales"):
        fad.grad(lambda x: stats.norm.logpdf(x, scales=2.0), fallback=False)(0.5)


@pytest.mark.parametrize("points", [np.linspace(-1.0, 1.0, 10).reshape(2, 5), np.array([0.3, -0.2])],
                         ids=["several", "one"])
@pytest.mark.parametrize("method", ["evaluate", "logpdf"])
def test_kernel_density_of_known_and_of_traced_samples_is_one_formula(method, points):
    samples = np.random.default_rng(0).standard_normal((2, 20))
    known = stats.gaussian_kde(samples)
    expected = getattr(known, method)(points)
    np.testing.assert_allclose(fad.jit(lambda p: getattr(known, method)(p))(points), expected)
    np.testing.assert_allclose(fad.jit(lambda x: getattr(stats.gaussian_kde(x), method)(points))(samples), expected)


@pytest.mark.parametrize("name, shapes", [
    ("f", (5.0, 12.0)), ("t", (6.0,)), ("pareto", (6.0,)), ("invgamma", (6.0,)), ("bradford", (2.0,)),
    ("loguniform", (0.5, 3.0)), ("fisk", (6.0,)), ("skewnorm", (2.0,)), ("nbinom", (5.0, 0.4)), ("lomax", (6.0,))])
def test_moments_move_with_the_shapes(name, shapes):
    dist, x = getattr(stats, name), np.array(shapes)

    def f(p):
        given = [p[k] for k in range(len(shapes))]
        return dist.mean(*given) + 2.0 * dist.var(*given) + 3.0 * dist.std(*given)
    np.testing.assert_allclose(fad.jit(f, fallback=False)(x), f(x), rtol=1e-10)
    slope = [(f(x + h) - f(x - h)) / 2e-5 for h in 1e-5 * np.eye(len(x))]
    np.testing.assert_allclose(fad.grad(f, fallback=False)(x), slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f, x", [
    (lambda p: stats.betabinom.mean(10, p[0], p[1]) + stats.betabinom.var(10, p[0], p[1]), (2.0, 3.0)),
    (lambda p: stats.dirichlet.pdf(np.array([0.2, 0.3, 0.5]), p), (1.5, 2.0, 3.0)),
    (lambda p: stats.dirichlet(p).logpdf(np.array([0.2, 0.3, 0.5])), (1.5, 2.0, 3.0)),
    (lambda p: stats.multinomial.pmf([1, 2, 3], 6, p / np.sum(p)), (0.2, 0.3, 0.5)),
    (lambda p: stats.multinomial(6, p / np.sum(p)).logpmf([1, 2, 3]), (0.2, 0.3, 0.5)),
    (lambda p: sum(stats.norm(p[0], p[1]).stats()), (0.2, 0.3))],
    ids=["betabinom", "dirichlet", "frozen dirichlet", "multinomial", "frozen multinomial", "frozen norm"])
def test_rarer_methods(f, x):
    x = np.array(x)
    np.testing.assert_allclose(fad.jit(f, fallback=False)(x), f(x), rtol=1e-10)
    slope = [(f(x + h) - f(x - h)) / 2e-5 for h in 1e-5 * np.eye(len(x))]
    np.testing.assert_allclose(fad.grad(f, fallback=False)(x), slope, rtol=1e-5, atol=1e-7)


MOMENTS = {
    "kde, box": lambda x: stats.gaussian_kde(x, "silverman").integrate_box_1d(0.2, 2 * x[0]),
    "kde, gaussian": lambda x: stats.gaussian_kde(x).integrate_gaussian(x[:1], [[0.3]]),
    "kde, matrices": lambda x: (lambda k: k.inv_cov * k.cho_cov + k.log_det * k.scotts_factor() + k.factor)(
        stats.gaussian_kde(np.stack([x, x * x]))),
    "dirichlet": lambda x: (lambda d: d.mean() * d.var() + d.cov()[0] + d.entropy())(stats.dirichlet(1 + x)),
    "multinomial": lambda x: stats.multinomial(3, x / np.sum(x)).cov(),
    "normal": lambda x: stats.multivariate_normal(x).mean + stats.multivariate_normal(x, x * x).cov,
}


@pytest.mark.parametrize("name", MOMENTS)
def test_methods_of_objects_with_traced_parameters(name):
    f, x = MOMENTS[name], np.array([0.3, 0.9, 1.7, 0.5])
    np.testing.assert_allclose(fad.jit(f, fallback=False)(x), f(x), rtol=1e-10)
    found = fad.jacrev(f, fallback=False)(x)
    np.testing.assert_allclose(found, np.stack([(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(4)], -1), atol=1e-6)
