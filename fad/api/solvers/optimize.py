"""SciPy's optimisers with exact derivatives, of functions of structures: fad.scipy.optimize."""
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...util import tree
from ...util.array import AnyArray
from ...util.errors import ArgumentError
from ...util.keywords import check_options, named_as_here
from ...util.lazy import LazyModule
from ..calls.ravel import ravel
from ..calls.staged import check_callable
from ..derivatives.derivative import value_and_grad
from ..derivatives.jacobian import hessian, jacobian
from ..derivatives.products import hvp

optimize: Any = LazyModule("scipy.optimize")
WITHOUT_GRADIENT = {"nelder-mead", "powell", "cobyla", "cobyqa"}
WITH_HESSIAN = {"newton-cg", "dogleg", "trust-ncg", "trust-exact", "trust-krylov", "trust-constr"}
WITH_PRODUCTS = {"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"}
MANY = 100      # parameters above which a method that takes products with the Hessian gets these, and not the matrix


@named_as_here
def minimize(fun: Callable, x0: Any, args: tuple = (), method: "str | Callable | None" = None, *, errors: bool = False,
             **options: object) -> Any:
    """
    Minimise a function with SciPy and exact derivatives.

    Parameters
    ----------
    fun : callable
        A function ``fun(x, *args)`` that returns one real number.
    x0 : array_like or structure of arrays
        The start: an array, or floats and arrays in lists, tuples, dictionaries, dataclasses and registered classes.
    args : tuple, optional
        Further arguments of `fun`.
    method : str or callable, optional
        A method of `scipy.optimize.minimize`. fad passes the derivatives that the method takes: the gradient, the
        Hessian, or for more than 100 parameters its products with vectors.
    errors : bool, optional
        Whether to compute standard errors. They are right if `fun` is a negative log likelihood.
    **options
        Further arguments of `scipy.optimize.minimize`, such as `bounds`, `constraints`, `tol` and `options`. `jac`,
        `hess` and `hessp` replace those of fad. Bounds and the caller's own derivatives refer to the vector
        ``fad.ravel(x0)[0]``. Constraints are functions of a structure like `x0`; fad adds missing Jacobians.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's result. `x` has the structure of `x0`; `vector` holds its elements. With `errors`, `covariance` is the
        inverse Hessian and `standard_errors` has the structure of `x0`.

    Raises
    ------
    NotScalarError
        If `fun` does not return one real number. It is a `TypeError`.
    ArgumentError
        If `x0` is not real, or if the Hessian is not positive definite and standard errors are wanted. It is a
        `TypeError` and a `ValueError`.

    See Also
    --------
    least_squares : Minimise a sum of squares.

    Notes
    -----
    The covariance is that of maximum likelihood, the inverse of the observed information [1]_.

    References
    ----------
    .. [1] B. Efron and D. V. Hinkley, "Assessing the accuracy of the maximum likelihood estimator", Biometrika 65,
       1978.

    Examples
    --------
    >>> import numpy as np
    >>> import fad.scipy.optimize
    >>> data = np.array([1.2, 0.7, 1.9, 1.1, 0.6])
    >>> def loss(p):
    ...     return np.sum(0.5 * ((data - p["mean"]) / np.exp(p["log_sd"])) ** 2 + p["log_sd"])
    >>> fit = fad.scipy.optimize.minimize(loss, {"mean": 0.0, "log_sd": 0.0}, errors=True)
    >>> round(float(fit.x["mean"]), 4), round(float(fit.standard_errors["mean"]), 4)
    (1.1, 0.2059)
    """
    start, unravel = _vector(x0)
    of_vector = _of_vector(check_callable(fun, "scipy.optimize.minimize"), unravel)
    name = method.lower() if isinstance(method, str) else ""
    check_options(minimize, optimize.minimize, options)
    options = {key: value for key, value in options.items() if value is not None}
    if "constraints" in options:
        options["constraints"] = _constraints(options["constraints"], unravel)
    options = _curvature(of_vector, name, len(start), options) | options
    if name in WITHOUT_GRADIENT or "jac" in options:
        result = optimize.minimize(of_vector, start, args, method, **options)
    else:
        result = optimize.minimize(value_and_grad(of_vector), start, args, method, jac=True, **options)
    result.vector, result.x = result.x, unravel(result.x)
    if errors:
        _add_errors(result, _inverse(hessian(of_vector)(result.vector, *args)), unravel)
    return result


@named_as_here
def least_squares(fun: Callable, x0: object, args: tuple = (), **options: object) -> Any:
    """
    Minimise a sum of squares with SciPy and the exact Jacobian.

    Parameters
    ----------
    fun : callable
        A function ``fun(x, *args)`` that returns the residuals: an array, or a structure of arrays.
    x0 : array_like or structure of arrays
        The start.
    args : tuple, optional
        Further arguments of `fun`.
    **options
        Further arguments of `scipy.optimize.least_squares`, such as `bounds`, `method` and `loss`. A `jac` replaces
        that of fad. Bounds are those of the vector ``fad.ravel(x0)[0]``.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's result. `x` has the structure of `x0`; `vector` holds its elements. If there are more residuals than
        parameters, `covariance` and `standard_errors` are those of least squares, with the variance of the noise
        estimated from the residuals. They are infinite if the Jacobian does not have full rank.

    Raises
    ------
    ArgumentError
        If `x0` is not real. It is a `TypeError` and a `ValueError`.

    See Also
    --------
    curve_fit : Fit a curve to points.

    Notes
    -----
    The covariance is ``2 cost / (m - n) inv(J.T @ J)`` for `m` residuals and `n` parameters (D. M. Bates and D. G.
    Watts, *Nonlinear Regression Analysis and Its Applications*, Wiley, 1988, chapter 2). It is that of the plain sum
    of squares, also with another `loss`.

    Examples
    --------
    >>> import numpy as np
    >>> import fad.scipy.optimize
    >>> t = np.linspace(0.0, 4.0, 30)
    >>> y = 2.5 * np.exp(-0.7 * t) + 0.01 * np.cos(40 * t)
    >>> residuals = lambda p: p["height"] * np.exp(-p["rate"] * t) - y
    >>> fit = fad.scipy.optimize.least_squares(residuals, {"height": 1.0, "rate": 1.0})
    >>> round(float(fit.x["rate"]), 2), round(float(fit.standard_errors["rate"]), 3)
    (0.7, 0.002)
    """
    start, unravel = _vector(x0)
    residuals = _residuals(check_callable(fun, "scipy.optimize.least_squares"), unravel)
    check_options(least_squares, optimize.least_squares, options)
    options.setdefault("jac", jacobian(residuals))
    result = optimize.least_squares(residuals, start, args=args, **options)
    result.vector, result.x = result.x, unravel(result.x)
    free = len(result.fun) - len(start)
    if free > 0:
        J = result.jac.toarray() if hasattr(result.jac, "toarray") else np.asarray(result.jac)
        _add_errors(result, np.sum(np.square(result.fun)) / free * _inverse_of_square(J), unravel)
    return result


@named_as_here
def curve_fit(f: Callable, xdata: object, ydata: object, p0: object = None, **options: object) -> tuple:
    """
    Fit a curve to points with SciPy and the exact Jacobian.

    Parameters
    ----------
    f : callable
        A function ``f(x, *parameters)`` that returns an array like `ydata`. The parameters are numbers.
    xdata, ydata : array_like
        The points.
    p0 : sequence of float, optional
        The start. The default is 1 for each parameter.
    **options
        Further arguments of `scipy.optimize.curve_fit`, such as `sigma`, `absolute_sigma` and `bounds`. A `jac`
        replaces that of fad.

    Returns
    -------
    tuple
        SciPy's result: the parameters and their covariance.

    Raises
    ------
    ArgumentError
        If `p0` is missing and `f` does not say how many parameters it has. It is a `TypeError` and a `ValueError`.

    Examples
    --------
    >>> import numpy as np
    >>> import fad.scipy.optimize
    >>> t = np.linspace(0.0, 4.0, 30)
    >>> y = 2.5 * np.exp(-0.7 * t) + 0.01 * np.cos(40 * t)
    >>> p, covariance = fad.scipy.optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), t, y)
    >>> p.round(2)
    array([2.5, 0.7])
    """
    start = (np.ones(_parameters(check_callable(f, "scipy.optimize.curve_fit"))) if p0 is None
             else np.atleast_1d(np.asarray(p0, dtype=float)))
    slopes = jacobian(f, argnums=tuple(range(1, len(start) + 1)))

    def jac(x: object, *p: object) -> Any:
        return np.stack(slopes(x, *p), axis=-1)
    options.setdefault("jac", jac)
    return optimize.curve_fit(f, xdata, ydata, p0=start, **options)


@named_as_here
def root(fun: Callable, x0: object, args: tuple = (), **options: object) -> Any:
    """
    Solve a system of equations with SciPy and the exact Jacobian.

    Parameters
    ----------
    fun : callable
        A function ``fun(x, *args)`` that is zero at the solution. Its result has as many elements as `x0`.
    x0 : array_like or structure of arrays
        The start.
    args : tuple, optional
        Further arguments of `fun`.
    **options
        Further arguments of `scipy.optimize.root`, such as `method` and `tol`. A `jac` replaces that of fad.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's result. `x` has the structure of `x0`; `vector` holds its elements.

    Raises
    ------
    ArgumentError
        If `x0` is not real. It is a `TypeError` and a `ValueError`.

    Examples
    --------
    >>> import numpy as np
    >>> import fad.scipy.optimize
    >>> equations = lambda x: np.array([x[0] + x[1] - 3.0, x[0] * x[1] - 2.0])
    >>> solution = fad.scipy.optimize.root(equations, np.array([0.5, 3.0]))
    >>> solution.x.round(6)
    array([1., 2.])
    """
    start, unravel = _vector(x0)
    residuals = _residuals(check_callable(fun, "scipy.optimize.root"), unravel)
    check_options(root, optimize.root, options)
    if options.get("method", "hybr") in ("hybr", "lm"):
        options.setdefault("jac", jacobian(residuals))
    result = optimize.root(residuals, start, args=args, **options)
    result.vector, result.x = result.x, unravel(result.x)
    return result


# -- structures ------------------------------------------------------------------------------------

def _vector(x0: object) -> "tuple[np.ndarray, Callable]":
    """The start as one vector of float64, and the function from vectors to its structure."""
    real = tree.map_leaves(_real, x0)
    return ravel(real)


def _real(leaf: object) -> np.ndarray:
    array = np.asarray(leaf)
    if array.dtype.kind not in "fiu":
        raise ArgumentError(f"x0 holds {array.dtype}", why="SciPy optimises over real numbers",
                            do="pass floats; pass a complex number as its real and imaginary part")
    return array.astype(float)


def _of_vector(fun: Callable, unravel: Callable) -> Callable:
    def of_vector(v: object, *args: object) -> AnyArray:
        return fun(unravel(v), *args)
    return of_vector


def _residuals(fun: Callable, unravel: Callable) -> Callable:
    """The same, with the elements of its result as a vector."""
    def residuals(v: object, *args: object) -> AnyArray:
        return ravel(fun(unravel(v), *args))[0]
    return residuals


def _parameters(f: Callable) -> int:
    kinds = [p.kind for p in inspect.signature(f).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds or len(kinds) < 2:
        raise ArgumentError("curve_fit does not know how many parameters there are", do="pass p0")
    return len(kinds) - 1


# -- derivatives for SciPy -------------------------------------------------------------------------

def _curvature(of_vector: Callable, method: str, n: int, given: dict) -> dict:
    """The second derivatives that a method takes, where the caller gives none."""
    if method not in WITH_HESSIAN or "hess" in given or "hessp" in given:
        return {}
    if n > MANY and method in WITH_PRODUCTS:
        return {"hessp": functools.partial(hvp, of_vector)}
    return {"hess": hessian(of_vector)}


def _constraints(constraints: Any, unravel: Callable) -> Any:
    """Constraints of structures as constraints of vectors, with the Jacobians that are missing."""
    several = isinstance(constraints, Sequence)
    done = [_constraint(c, unravel) for c in (constraints if several else [constraints])]
    return done if several else done[0]


def _constraint(constraint: object, unravel: Callable) -> Any:
    if isinstance(constraint, dict):
        of_vector = _of_vector(constraint["fun"], unravel)
        return {"jac": jacobian(of_vector), **constraint, "fun": of_vector}
    if isinstance(constraint, optimize.NonlinearConstraint):
        of_vector = _of_vector(constraint.fun, unravel)
        jac = constraint.jac if callable(constraint.jac) else jacobian(of_vector)

        def weighed(x: object, v: object) -> Any:
            return np.sum(np.atleast_1d(of_vector(x)) * v)
        hess = constraint.hess if callable(constraint.hess) else hessian(weighed)
        return optimize.NonlinearConstraint(of_vector, constraint.lb, constraint.ub, jac=jac, hess=hess,
                                            keep_feasible=constraint.keep_feasible)
    return constraint


# -- standard errors -------------------------------------------------------------------------------

def _add_errors(result: Any, covariance: np.ndarray, unravel: Callable) -> None:
    result.covariance = covariance
    result.standard_errors = unravel(np.sqrt(np.diag(covariance)))


def _inverse(H: np.ndarray) -> np.ndarray:
    """The inverse of a Hessian at a minimum."""
    values = np.linalg.eigvalsh(H)
    if not values[0] > np.finfo(float).eps * len(H) * values[-1]:
        raise ArgumentError("there are no standard errors: the Hessian is not positive definite at the result",
                            why="the method has not found a minimum, or the data do not determine all parameters",
                            do="look at result.success without errors=True, start elsewhere, or fix a parameter")
    return np.linalg.inv(H)


def _inverse_of_square(J: np.ndarray) -> np.ndarray:
    """The inverse of J.T @ J by singular values; infinite if J does not have full rank, as in
    scipy.optimize.curve_fit."""
    _, s, vt = np.linalg.svd(J, full_matrices=False)
    if s[-1] <= np.finfo(float).eps * max(J.shape) * s[0]:
        return np.full((J.shape[1],) * 2, np.inf)
    return (vt.T / s ** 2) @ vt
