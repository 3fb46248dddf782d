"""Derivatives by differences, and whether they can be trusted: what a program is judged by that shares nothing with
fad."""
import warnings
from types import FunctionType

import numpy as np

from .extended import in_extended_precision

STEP = 1e-4
PARTS, MULTIPLES = (0.19, 0.37, 0.71, 1.0), (6.0, 23.0)       # of the step, with which differences are taken again
NODES = np.arange(-2, 3)                                      # where a function is looked at, in steps
# where the polynomial through the nodes is held against it
BETWEEN = np.array([-1.618, 0.377])
WEIGHTS = np.linalg.solve(np.vander(NODES).T, np.vander(BETWEEN, NODES.size).T)
ROUNDING = 1e-14
LARGEST = 1e4                                                 # beyond such slopes rounding alone changes many digits


def quietly(f, x):
    """f(x), without NumPy's warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(f(x), dtype=float)


def slope(f, x, d, h=STEP):
    """The derivative of f at x along d by differences of fourth order, and how far it may be off; None where f is not
    smooth at this point.

    Differences with steps h and 2h see a branch that changes between them. What they do not see is a kink at x itself,
    where both are the mean of the slopes to the right and to the left. The difference of these two is f'' h for a
    smooth f, and so twice as large for steps of 2h; of a kink it is the same for all steps, so that `kink` is its size,
    and zero for what is smooth. Rounding (of a sum with a large number, say) shows between the nodes.

    >>> slope(lambda x: x[0] ** 3, np.array([2.0]), np.array([1.0]))[0].round(9)
    np.float64(12.0)
    >>> slope(lambda x: np.abs(x[0] - 2.0), np.array([2.0]), np.array([1.0])) is None
    True
    >>> slope(lambda x: (x[0] + 1e9) - 1e9, np.array([0.3]), np.array([1.0])) is None
    True
    """
    values = np.array([quietly(f, x + k * h * d) for k in NODES])
    left2, left, here, right, right2 = values
    near, far = (right - left) / (2 * h), (right2 - left2) / (4 * h)
    kink = (2 * (right - 2 * here + left) - (right2 - 2 * here + left2) / 2) / h
    noise = (np.array([quietly(f, x + k * h * d) for k in BETWEEN]) - WEIGHTS.T @ values) / h
    off = np.abs(near - far) + np.abs(kink) + np.max(np.abs(noise), axis=0)
    if not np.all(off <= 1e-4 * np.abs(near) + 1e-6) or np.max(np.abs(near)) > LARGEST:
        return None
    return near + (near - far) / 3, off


def gradient(f, x):
    """The gradient of f, and how far each element may be off; None where f is not smooth."""
    found = []
    for e in np.eye(x.size):
        found.append(slope(f, x, e))
        if found[-1] is None:
            return None
    return tuple(np.array(part) for part in zip(*found))


def spread(f, x):
    """How far f changes where x changes by about a rounding: large where a comparison or a cancellation iterations
    rounding errors into digits."""
    here, iterations = quietly(f, x), np.random.default_rng(7).choice([-1.0, 1.0], (6, x.size))
    return np.max([np.max(np.abs(quietly(f, x * (1 + ROUNDING * iteration)) - here)) for iteration in iterations])


def contradict(f, x, claimed, expected, tolerance):
    """Whether a gradient is further from the differences than this in an element where these are steady, computed with
    more digits, too."""
    f = in_extended_precision(f)
    apart = np.abs(claimed - expected) > tolerance
    return any(is_steady(f, x, e, c) for e, c, is_apart in zip(np.eye(x.size), claimed, apart) if is_apart)


def is_steady(f, x, d, claimed):
    """Whether differences with other steps say as well, by more than they differ among themselves, that this is not the
    derivative of f at x along d.

    What cancellation leaves of a sum may look smooth through one set of nodes: with each step it has another slope. Or
    it hides all that changes in short steps, but not in long ones, if f is as smooth there.

    >>> is_steady(lambda x: 2.0 * x[0], np.array([0.3]), np.array([1.0]), 2.1)
    True
    >>> is_steady(lambda x: ((x[0] + 1e6) - 1e6 - x[0]) * 1e3, np.array([0.3]), np.array([1.0]), 0.0)
    False
    >>> is_steady(lambda x: (1e-7 * x[0] + 1e6) - 1e6, np.array([0.3]), np.array([1.0]), 1e-7)
    False
    """
    found = [slope(f, x, d, STEP * part) for part in PARTS]
    if None in found:
        return False
    far = [slope(f, x, d, STEP * many) for many in MULTIPLES]
    values = np.array([value for value, _ in found] + [value for value, off in filter(None, far) if np.max(off) < 1e-5])
    return bool(np.max(np.abs(np.mean(values, axis=0) - claimed)) > 10.0 * np.max(np.ptp(values, axis=0)))


class _Watching:
    """NumPy or math, which notes whether a function of infinite slope at zero was called there."""

    ROOTS = {"sqrt", "cbrt", "hypot", "power", "float_power", "abs", "absolute", "norm", "std", "angle", "arctan2"}

    def __init__(self, module):
        self.module, self.met = module, False

    def __getattr__(self, name):
        found = getattr(self.module, name)
        if name == "linalg":
            self.inner = _Watching(found)
            return self.inner
        return self._watched(found) if name in self.ROOTS else found

    def _watched(self, function):
        def call(*args, **kwargs):
            self.met = self.met or any(np.any(np.asarray(x) == 0.0) for x in args)
            return function(*args, **kwargs)
        return call


def meets_root_of_zero(f, x):
    """Whether f, run on plain numbers, takes a root (or a modulus or a norm) of something that is exactly zero.

    >>> def f(x): return np.sqrt(x[0] - 2.0 + 0j).imag
    >>> meets_root_of_zero(f, np.array([2.0])), meets_root_of_zero(f, np.array([2.5]))
    (True, False)
    """
    numpy = _Watching(np)
    quietly(FunctionType(f.__code__, {**f.__globals__, "np": numpy}, f.__name__, f.__defaults__, f.__closure__), x)
    return numpy.met or getattr(getattr(numpy, "inner", None), "met", False)
