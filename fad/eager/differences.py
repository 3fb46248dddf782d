"""Derivatives against differences, for gradcheck.

Complex numbers count as pairs of real ones: an output's real and imaginary parts are checked apart, by cotangents 1
and i.
"""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from . import forward_ad
from .grad_api import grad
from .inplace import requires_grad
from .state import changed
from .tensor import Tensor, is_floating, wrap


class GradcheckError(RuntimeError):
    """A derivative does not agree with differences."""


class Options(NamedTuple):
    """The settings of a check."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    fast: bool


def as_tuple(x: object) -> tuple:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def differentiable(outputs: object) -> tuple:
    return tuple([y for y in as_tuple(outputs) if isinstance(y, Tensor) and is_floating(y._a.dtype)
                  and requires_grad(y)])


def _directions(dtype: np.dtype) -> tuple:
    return (1.0, 1j) if dtype.kind == "c" else (1.0,)


# -- differences ------------------------------------------------------------


def _values(func: Callable, inputs: tuple) -> list:
    with changed(grad=True):                                  # func may ask whether its tensors require gradients
        ys = as_tuple(func(*inputs))
    return [np.array(y._a) for y in ys if isinstance(y, Tensor) and is_floating(y._a.dtype)]


def _difference(func: Callable, inputs: tuple, i: int, step: np.ndarray, eps: float) -> list:
    """(f(x + eps step) - f(x - eps step)) / 2 eps for input i, whose memory is changed for the while."""
    a = inputs[i]._a
    before = a.copy()
    try:
        a[...] = before + eps * step
        up = _values(func, inputs)
        a[...] = before - eps * step
        down = _values(func, inputs)
    finally:
        a[...] = before
    for u, d in zip(up, down):
        for what in ("shape", "dtype"):
            if getattr(u, what) != getattr(d, what):
                raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are "
                                     f"perturbed by {eps}, but got: {what}s {getattr(d, what)} and {getattr(u, what)}.")
    return [(u - d) / (2 * eps) for u, d in zip(up, down)]


def unit_steps(x: Tensor) -> list:
    """Unit steps along every element (and, of a complex one, along i)."""
    steps = []
    for j in range(x._a.size):
        for direction in _directions(x._a.dtype):
            step = np.zeros(x._a.size, x._a.dtype)
            step[j] = direction
            steps.append(step.reshape(x._a.shape))
    return steps


def columns(func: Callable, inputs: tuple, i: int, eps: float) -> list:
    return [_difference(func, inputs, i, step, eps) for step in unit_steps(inputs[i])]


# -- derivatives -------------------------------------------------------------------------------------------------------


def backward_products(func: Callable, inputs: tuple, places: list, ys: tuple, gs: dict, steps: dict) -> dict:
    """(output, cotangent number, input, step number) -> Re(conj(g) J step), by reverse mode."""
    found = {}
    for k, y in enumerate(ys):
        for a, g in enumerate(gs[k]):
            gxs = grad(y, [inputs[i] for i in places], wrap(g), retain_graph=True, allow_unused=True)
            for i, gx in zip(places, gxs):
                array = np.zeros_like(inputs[i]._a) if gx is None else gx._a
                for b, step in enumerate(steps[i]):
                    found[k, a, i, b] = np.sum(array.conj() * step).real
    return found


def forward_products(func: Callable, inputs: tuple, places: list, ys: tuple, gs: dict, steps: dict) -> dict:
    """The same by forward mode."""
    found = {}
    for i in places:
        for b, step in enumerate(steps[i]):
            for k, dy in enumerate(tangents_of(func, inputs, {i: wrap(step.copy())})[:len(ys)]):
                for a, g in enumerate(gs[k]):
                    found[k, a, i, b] = np.sum(g.conj() * dy).real
    return found


def tangents_of(func: Callable, inputs: tuple, given: dict) -> list:
    """The outputs' tangents, as arrays, from tangents of the inputs at these places (the others': zero); no input
    requires a gradient meanwhile."""
    tangents = {
        j: wrap(np.zeros_like(x._a)) for j, x in enumerate(inputs) if isinstance(x, Tensor) and requires_grad(x)
    } | given
    plain = [x.detach() if isinstance(x, Tensor) else x for x in inputs]  # type: ignore[attr-defined]
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, tangents[j]) if j in tangents else x for j, x in enumerate(plain)]
        results = [y for y in as_tuple(func(*duals)) if isinstance(y, Tensor) and is_floating(y._a.dtype)]
        found = [forward_ad.unpack_dual(y).tangent for y in results]
        return [np.zeros_like(y._a) if d is None else d._a.copy() for y, d in zip(results, found)]


def _compare(products: Callable, func: Callable, inputs: tuple, places: list, ys: tuple, gs: dict, steps: dict,
             options: Options, mode: str) -> None:
    analytical = products(func, inputs, places, ys, gs, steps)
    for i in places:
        columns = [_difference(func, inputs, i, step, options.eps) for step in steps[i]]
        for k in range(len(ys)):
            numerical = np.array([[np.sum(g.conj() * dy[k]).real for g in gs[k]]
                                  for dy in columns]).reshape(len(steps[i]), len(gs[k]))
            exact = np.array([[analytical[k, a, i, b] for a in range(len(gs[k]))]
                              for b in range(len(steps[i]))]).reshape(numerical.shape)
            if np.allclose(exact, numerical, options.rtol, options.atol, equal_nan=True):
                continue
            error = _mismatch(k, i, numerical, exact, ys[k], inputs[i], options.fast, mode)
            if options.fast:
                error += _in_slow_mode(products, func, inputs, k, i, ys, options)
            raise GradcheckError(error)


def _in_slow_mode(products: Callable, func: Callable, inputs: tuple, k: int, i: int, ys: tuple,
                  options: Options) -> str:
    """The Jacobian of output k by input i, element by element, for a message."""
    gs = {j: unit_steps(y) if j == k else [] for j, y in enumerate(ys)}
    steps = {i: unit_steps(inputs[i])}
    exact = products(func, inputs, [i], ys, gs, steps)
    columns = [_difference(func, inputs, i, step, options.eps) for step in steps[i]]
    numerical = np.array([[np.sum(g.conj() * dy[k]).real for g in gs[k]] for dy in columns])
    analytical = np.array([[exact[k, a, i, b] for a in range(len(gs[k]))] for b in range(len(steps[i]))])
    found, wanted = (_jacobian(m, ys[k], inputs[i], slice(None)) for m in (numerical, analytical))
    return FAST.format(found, wanted, np.abs(numerical - analytical).max(initial=0))


FAST = """
The above quantities relating the numerical and analytical jacobians are computed
in fast mode. Below, we recompute numerical and analytical jacobians in slow mode:

Numerical:
 {}
Analytical:
{}

The max per-element difference (slow mode) is: {}.
"""


def _jacobian(m: np.ndarray, y: Tensor, x: Tensor, part: object) -> Tensor:
    """Products with steps along the elements of x (rows) and of y (columns) as the Jacobian; of complex x each number
    is for both its parts."""
    m = m[:, part]
    return wrap(m[0::2] + 1j * m[1::2] if x._a.dtype.kind == "c" else m)


def _mismatch(k: int, i: int, numerical: np.ndarray, exact: np.ndarray, y: Tensor, x: Tensor, fast: bool,
              mode: str) -> str:
    part, columns = "", slice(None)
    if y._a.dtype.kind == "c" and not fast:
        imaginary = not np.allclose(exact[:, 1::2], numerical[:, 1::2], 1e-3, 1e-5)
        part, columns = (f"While considering the {'imaginary' if imaginary else 'real'} part of complex outputs only, ",
                         slice(int(imaginary), None, 2))
    how = " computed with forward mode" if mode == "forward" else ""
    found, wanted = (m.item() if fast else _jacobian(m, y, x, columns) for m in (numerical, exact))
    return (f"{part}Jacobian{how} mismatch for output {k} with respect to input "
            f"{i},\nnumerical:{found}\nanalytical:{wanted}\n")


def check_slowly(products: Callable, func: Callable, inputs: tuple, places: list, ys: tuple, options: Options,
                 mode: str) -> None:
    gs = {k: unit_steps(y) for k, y in enumerate(ys)}
    steps = {i: unit_steps(inputs[i]) for i in places}
    _compare(products, func, inputs, places, ys, gs, steps, options, mode)


def check_fast(products: Callable, func: Callable, inputs: tuple, places: list, ys: tuple, options: Options,
               mode: str) -> None:
    rng = np.random.default_rng(0)
    gs = {k: [random_direction(rng, y)] for k, y in enumerate(ys)}
    steps = {i: [random_direction(rng, inputs[i])] for i in places}
    _compare(products, func, inputs, places, ys, gs, steps, options, mode)


def random_direction(rng: np.random.Generator, x: Tensor) -> np.ndarray:
    """A random direction of length one."""
    v = rng.random(x._a.shape) + (1j * rng.random(x._a.shape) if x._a.dtype.kind == "c" else 0)
    return np.asarray(v / max(np.sqrt(np.sum(np.abs(v) ** 2)), 1e-30)).astype(x._a.dtype)
