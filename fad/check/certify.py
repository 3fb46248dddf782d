"""certify: the derivative of a function, held against every other way there is to compute it.

For each argument it compares reverse mode's gradient with products with directions: by forward mode, by the complex
step (Squire & Trapp, SIAM Review 40, 1998; only if the function takes complex arguments and is analytic there) and by
central differences extrapolated twice (Richardson). The last two run the function as plain NumPy.
"""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..api.calls.staged import check_callable
from ..api.derivatives.products import jvp, vjp
from ..trace.tracing import is_data
from ..util import tree
from ..util.array import AnyArray, ArrayOrNumber
from ..util.errors import ArgumentError
from ..util.html import table
from ..util.interrupts import reraise_interrupt
from ..util.keywords import named_as_here
from ..util.progress import progress

TOLERANCE = {"forward": 1e-10, "complex step": 1e-8, "differences": 1e-5}


class Comparison(NamedTuple):
    """One comparison: the argument, the method, the largest relative deviation from reverse mode, and whether that is
    small enough."""

    argument: str
    method: str
    error: "float | None"
    ok: bool
    note: str = ""


class Report:
    """The result of certify. `ok` is whether every comparison that could be made agrees; str(report) is a table."""

    def __init__(self, name: str, lines: list):
        self.name, self.lines = name, lines

    @property
    def ok(self) -> bool:
        return all(line.ok for line in self.lines) and any(line.error is not None for line in self.lines)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        rows = [f"  {argument:<12} {method:<14} {error:>9}  {word}" for argument, method, error, word in self._rows()]
        return "\n".join([self._head(), *rows])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table(self._head(), ["argument", "way", "deviation", ""], self._rows())

    def _head(self) -> str:
        verdict = "certified" if self.ok else "NOT certified"
        return f"derivative of {self.name}: {verdict} (deviations from reverse mode, relative)"

    def _rows(self) -> list:
        return [(line.argument, line.method, "-" if line.error is None else format(line.error, ".1e"),
                 "agrees" if line.ok and line.error is not None else line.note if line.ok else "DISAGREES")
                for line in self.lines]


@named_as_here
def certify(f: Callable, *args: object, directions: int = 3, tolerance: "dict | None" = None) -> Report:
    """Compare the derivative of `f` in reverse mode with three other ways to compute it.

    The other ways are forward mode, the complex step (if `f` allows it) and finite differences.

    Parameters
    ----------
    f : callable
        A function that returns real arrays or a structure of them. fad certifies random combinations of the elements.
    *args
        The point: the arguments of `f`.
    directions : int, optional
        The number of random directions for each argument.
    tolerance : dict, optional
        Other bounds than ``{"forward": 1e-10, "complex step": 1e-8, "differences": 1e-5}``.

    Returns
    -------
    Report
        Prints as a table. Its attribute `ok` says whether all ways agree.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> report = fad.certify(lambda x: np.sum(np.sin(x)), np.array([1.0, 2.0]))
    >>> report.ok
    True
    """
    check_callable(f, "certify")
    if not any(map(_moves, args)):
        raise ArgumentError("certify needs an argument of real or complex numbers to move",
                            do="call it as certify(f, x), with floats (x.astype(float))")
    bounds = {**TOLERANCE, **(tolerance or {})}
    lines: list = []
    moved = [(position, x, *leaf) for position, x in enumerate(args) if _moves(x) for leaf in _leaves(x)]
    for position, x, path, k in progress(moved, "certify"):
        lines += _certify_leaf(_at(f, args, position), x, k, f"argument {position}{path}", directions, bounds)
    return Report(getattr(f, "__name__", "f"), lines)


def _moves(x: object) -> bool:
    return any(is_data(leaf) and np.asarray(leaf).dtype.kind in "fc" for leaf in tree.flatten(x)[0])


def _leaves(x: object) -> list:
    """(name, position) of the real and complex leaves of an argument."""
    leaves, _ = tree.flatten(x)
    chosen = [k for k, leaf in enumerate(leaves) if is_data(leaf) and np.asarray(leaf).dtype.kind in "fc"]
    return [("" if len(leaves) == 1 else f"[{k}]", k) for k in chosen]


def _at(f: Callable, args: tuple, position: int) -> Callable:
    return lambda x: f(*args[:position], x, *args[position + 1:])


def _certify_leaf(at: Callable, x: ArrayOrNumber, k: int, name: str, directions: int, bounds: dict) -> list:
    leaves, structure = tree.flatten(x)
    point = np.array(leaves[k])

    def of_leaf(value: AnyArray) -> AnyArray:
        return at(structure.unflatten(leaves[:k] + [value] + leaves[k + 1:]))
    rng = np.random.default_rng(k)
    weights = _weights(of_leaf(point), rng)
    y, pullback = vjp(of_leaf, point)
    gradient = np.asarray(pullback(tree.map_leaves(lambda w, v: np.asarray(w, np.asarray(v).dtype), weights, y))[0])
    tried = [_unit(rng, point) for _ in range(directions)]
    exact = [float(np.real(np.vdot(gradient, d))) for d in tried]
    found = {"forward": [_forward(of_leaf, point, d, weights) for d in tried],
             "complex step": _complex_steps(of_leaf, point, tried, weights),
             "differences": [differences(lambda h, d=d: _dot(weights, of_leaf(point + h * d)), 0.0) for d in tried]}
    scale = max(1e-8, float(np.linalg.norm(gradient)))
    return [Comparison(name, "reverse", 0.0, bool(np.all(np.isfinite(gradient))))] + \
        [_line(name, method, values, exact, scale, bounds[method]) for method, values in found.items()]


def _line(name: str, method: str, values: Any, exact: list, scale: float, bound: float) -> Comparison:
    if values is None:
        return Comparison(name, method, None, True, "not possible here")
    error = max(abs(a - b) for a, b in zip(values, exact)) / scale
    return Comparison(name, method, error, bool(error <= bound))


def _unit(rng: np.random.Generator, point: np.ndarray) -> np.ndarray:
    d = rng.standard_normal(point.shape)
    if point.dtype.kind == "c":
        d = d + 1j * rng.standard_normal(point.shape)
    return d / max(float(np.linalg.norm(d)), 1e-300)


def _weights(y: AnyArray, rng: np.random.Generator) -> AnyArray:
    """A random cotangent; 1 for a scalar."""
    return tree.map_leaves(lambda v: np.ones(()) if np.ndim(v) == 0 else rng.standard_normal(np.shape(v)), y)


def _dot(weights: AnyArray, y: AnyArray) -> float:
    return sum(float(np.sum(w * np.real(v))) for w, v in zip(tree.flatten(weights)[0], tree.flatten(y)[0]))


def _forward(f: Callable, point: np.ndarray, d: np.ndarray, weights: AnyArray) -> float:
    return _dot(weights, jvp(f, (point,), (d.astype(point.dtype),))[1])


def _complex_steps(f: Callable, point: np.ndarray, directions: list, weights: AnyArray) -> "list | None":
    """Imaginary parts of f at point + i h d, over h; None if f takes no complex arguments or is not analytic."""
    if point.dtype.kind == "c":
        return None
    h = 1e-30
    try:
        with np.errstate(all="ignore"):
            ys = [f(point + 1j * h * d) for d in directions]
            values = [sum(float(np.sum(w * np.imag(v))) / h
                          for w, v in zip(tree.flatten(weights)[0], tree.flatten(y)[0])) for y in ys]
            unchanged = [abs(_dot(weights, y) - _dot(weights, f(point))) <= 1e-9 * max(1.0, abs(_dot(weights, y)))
                         for y in ys]
    except Exception as error:
        reraise_interrupt(error)  # any failure of the user's function on complex numbers means just that
        return None
    looks_real = all(np.asarray(v).dtype.kind != "c" for y in ys for v in tree.flatten(y)[0])
    if looks_real or not all(unchanged) or not np.all(np.isfinite(values)) or _kills_imaginary(f, point):
        return None
    return values


def _kills_imaginary(f: Callable, point: np.ndarray) -> bool:
    """Whether f loses imaginary parts on its way (abs, comparison of complex numbers, real). Then its complex step
    means nothing.

    An analytic f that is real on the real axis maps conjugates to conjugates, and its imaginary part is linear in a
    small step.
    """
    steps = [1e-20, 1e-30]
    found = [tree.flatten(f(point + 1j * h))[0] for h in steps]
    ratios = [float(np.sum(np.abs(np.imag(v)))) / h for h, vs in zip(steps, found) for v in vs]
    half = len(ratios) // 2
    return (any(not np.isclose(a, b, rtol=1e-6) for a, b in zip(ratios[:half], ratios[half:]))
            or all(r == 0 for r in ratios))


def differences(f: Callable, x: float, h: float = 1e-3) -> float:
    """f'(x) by central differences at h, h/2, h/4, extrapolated twice (Richardson).

    >>> bool(abs(differences(np.sin, 1.0) - np.cos(1.0)) < 1e-10)
    True
    """
    d = [(f(x + s) - f(x - s)) / (2 * s) for s in (h, h / 2, h / 4)]
    first = [(4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3]
    return (16 * first[1] - first[0]) / 15


__all__ = ["certify", "differences", "Report"]
