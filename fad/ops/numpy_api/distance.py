"""scipy.spatial.distance: distances between the rows of two arrays, or of one."""
import math
from collections.abc import Callable

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike
from ..kinds import shape_of
from ..literals import constant
from ..override import BY_NAME, override
from .arguments import as_array, check_all, fixed, in_dtype, rank, refuse, taken
from .fft import signal


def _last(x: AnyArray, reduce: str = "sum") -> AnyArray:
    return registry[reduce](x, axes=(rank(x) - 1,))


def _length(d: AnyArray) -> AnyArray:
    return BY_NAME["numpy.linalg.norm"].call(d, axis=-1)


def _cosine(a: AnyArray, b: AnyArray) -> AnyArray:
    return 1.0 - _last(a * b) / (_length(a) * _length(b))


def _centred(x: AnyArray) -> AnyArray:
    return x - registry["reshape"](_last(x) / shape_of(x)[-1], *shape_of(x)[:-1], 1)


METRICS: dict[str, Callable] = {
    "euclidean": lambda a, b: _length(a - b), "sqeuclidean": lambda a, b: _last((a - b) * (a - b)),
    "cityblock": lambda a, b: _last(abs(a - b)), "chebyshev": lambda a, b: _last(abs(a - b), "max"), "cosine": _cosine,
    "correlation": lambda a, b: _cosine(_centred(a), _centred(b)),
    "braycurtis": lambda a, b: _last(abs(a - b)) / _last(abs(a + b)),
    "canberra": lambda a, b: _last(_canberra(abs(a - b), abs(a) + abs(b)))}
IN_DOUBLE = {"euclidean", "braycurtis", "canberra"}           # between two vectors
SHORT = {"cityblock": "cityblock", "manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean",
         "chebychev": "chebyshev"}


def _canberra(difference: AnyArray, size: AnyArray) -> AnyArray:
    return registry["where"](size == 0, 0.0, difference / registry["where"](size == 0, 1.0, size))


def _minkowski(p: object) -> Callable:
    return lambda a, b: BY_NAME["numpy.linalg.norm"].call(a - b, p, -1)


def _metric(name: str, metric: str, options: dict) -> Callable:
    known = METRICS.get(SHORT.get(metric, metric)) if isinstance(metric, str) else None
    if metric == "minkowski":
        return _minkowski(options.pop("p", 2))
    if known is None or options:
        raise refuse(f"scipy.spatial.distance.{name}", f"metric={metric!r}{' with options' if options else ''}",
                     do=f"use one of {', '.join(sorted(METRICS))}")
    return known


@override("scipy.spatial.distance.cdist",
          samples=("distance.cdist(x, x[:2] + 0.3)", "distance.cdist(x, v[None], 'sqeuclidean')",
                   "distance.cdist(x, v[None], 'cosine')"), precision="double")
def cdist(XA: ArrayLike, XB: ArrayLike, metric: str = "euclidean", *, out: object = None,
          **options: object) -> AnyArray:
    if out is not None:
        raise refuse("scipy.spatial.distance.cdist", "out", do="assign the result")
    a, b = signal(XA), signal(XB)
    if rank(a) != 2 or rank(b) != 2:
        raise ValueError("XA and XB must be 2-dimensional arrays.")
    of_pair = _metric("cdist", metric, options)
    return of_pair(registry["reshape"](a, shape_of(a)[0], 1, shape_of(a)[1]), registry["reshape"](b, 1, *shape_of(b)))


@override("scipy.spatial.distance.pdist", samples=("distance.pdist(x)", "distance.pdist(x, 'cityblock')"),
          precision="double")
def pdist(X: ArrayLike, metric: str = "euclidean", *, out: object = None, **options: object) -> AnyArray:
    if out is not None:
        raise refuse("scipy.spatial.distance.pdist", "out", do="assign the result")
    x = signal(X)
    if rank(x) != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    rows, columns = BY_NAME["numpy.triu_indices"].call(shape_of(x)[0], 1)
    return _metric("pdist", metric, options)(taken(x, rows), taken(x, columns))


def _between_vectors(name: str, of_pair: Callable) -> Callable:
    def distance(u: AnyArray, v: AnyArray, w: object = None) -> AnyArray:
        if w is not None:
            raise refuse(f"scipy.spatial.distance.{name}", "w")
        return of_pair(_vector(u), _vector(v))
    return distance


def _vector(u: object) -> AnyArray:
    x = as_array(u)
    if rank(x) != 1:
        raise ValueError("Input vector should be 1-D.")
    return signal(x)


for _name, _of_pair in METRICS.items():
    override(f"scipy.spatial.distance.{_name}", samples=(f"distance.{_name}(v, x[0])",),
             precision="double" if _name in IN_DOUBLE else "")(_between_vectors(_name, _of_pair))


@override("scipy.spatial.distance.minkowski", precision="double")
def minkowski(u: ArrayLike, v: ArrayLike, p: object = 2, w: object = None) -> AnyArray:
    return _between_vectors("minkowski", _minkowski(p))(u, v, w)


@override("scipy.spatial.distance.seuclidean", samples=("distance.seuclidean(v, x[0], x[1])",), precision="double")
def seuclidean(u: ArrayLike, v: ArrayLike, V: ArrayLike) -> AnyArray:
    return _length((_vector(u) - _vector(v)) / registry["sqrt"](_vector(V)))


@override("scipy.spatial.distance.mahalanobis", samples=("distance.mahalanobis(v, x[0], P)",))
def mahalanobis(u: ArrayLike, v: ArrayLike, VI: ArrayLike) -> AnyArray:
    d, dot = _vector(u) - _vector(v), BY_NAME["numpy.dot"].call
    return registry["sqrt"](dot(dot(d, BY_NAME["numpy.atleast_2d"].call(VI)), d))


@override("scipy.spatial.distance.jensenshannon",
          samples=("distance.jensenshannon(v, x[0])", "distance.jensenshannon(x, x ** 2, 2.0, axis=1, keepdims=True)"),
          precision="given")
def jensenshannon(p: AnyArray, q: AnyArray, base: object = None, *, axis: int = 0, keepdims: bool = False) -> AnyArray:
    """The root of the mean divergence from what lies between two distributions (J. Lin, IEEE Transactions on
    Information Theory 37 (1991) 145)."""
    total, divergence = BY_NAME["numpy.sum"].call, BY_NAME["scipy.special.rel_entr"].call
    p, q = (x / total(x, axis=axis, keepdims=True) for x in (signal(as_array(p)), signal(as_array(q))))
    middle = (p + q) / 2.0
    both = (total(divergence(p, middle), axis=axis, keepdims=keepdims)
            + total(divergence(q, middle), axis=axis, keepdims=keepdims))
    return registry["sqrt"]((both if base is None else both / registry["log"](as_array(base))) / 2.0)


@override("scipy.spatial.distance.squareform",
          samples=("distance.squareform(distance.pdist(x))", "distance.squareform(S + S.T - np.diag(2 * np.diag(S)))"))
def squareform(X: ArrayLike, force: str = "no", checks: bool = True) -> AnyArray:
    """The matrix of the distances between all pairs, or these of the matrix."""
    x = as_array(X)
    if (force.lower(), rank(x)) in (("tomatrix", 2), ("tovector", 1)) or rank(x) not in (1, 2):
        raise ValueError("squareform takes a vector of distances or their square matrix, as force says")
    if rank(x) == 2:
        if checks:
            check_all((x == x.T) & (registry["abs"](BY_NAME["numpy.diag"].call(x)) == 0),
                      "Distance matrix 'X' must be symmetric, and zero on its diagonal.")
        return taken(x, *BY_NAME["numpy.triu_indices"].call(shape_of(x)[0], 1))
    pairs = fixed(shape_of(x)[0], "the number of distances")
    n = math.isqrt(2 * pairs) + 1
    if n * (n - 1) != 2 * pairs:
        raise ValueError(
            "Incompatible vector size. It must be a binomial coefficient n choose 2 for some integer n >= 2.")
    places = np.zeros((n, n), int)
    places[np.triu_indices(n, 1)] = np.arange(pairs)
    spread = taken(x, constant(places + places.T))
    return registry["where"](constant(np.eye(n, dtype=bool)), in_dtype(as_array(0), type_of(x).dtype), spread)
