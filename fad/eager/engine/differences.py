"""Derivatives against differences, for gradcheck.

Complex numbers count as pairs of real ones: an output's real and imaginary parts are checked apart, by cotangents 1
and i.
"""
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...api.calls.staged import as_tuple
from ..graph.inplace import requires_grad
from ..graph.node import Node
from ..graph.record import edge
from ..tensors.errors import refuse_if
from ..tensors.state import changed
from ..tensors.tensor import Tensor, dense, is_continuous, wrap
from . import forward_ad
from .grad_api import grad


class GradcheckError(RuntimeError):
    """A derivative does not agree with differences."""


class Options(NamedTuple):
    """The settings of a check, and which checks are wanted."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    fast: bool
    undefined: bool
    dtypes: bool
    batched: bool
    forward: bool
    backward: bool
    batched_forward: bool


def differentiable(outputs: object) -> tuple:
    return tuple([y for y in as_tuple(outputs) if is_continuous(y) and requires_grad(y)])


# -- differences ------------------------------------------------------------


def _values(func: Callable, inputs: tuple) -> list:
    with changed(grad=True):                                  # func may ask whether its tensors require gradients
        ys = as_tuple(func(*inputs))
    return [np.array(y._a) for y in ys if is_continuous(y)]


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
        for direction in (1.0, 1j) if x._a.dtype.kind == "c" else (1.0,):
            step = np.zeros(x._a.size, x._a.dtype)
            step[j] = direction
            steps.append(step.reshape(x._a.shape))
    return steps


def units_like(a: np.ndarray) -> np.ndarray:
    """For each number of a, an array like it that is one there and zero elsewhere."""
    return np.eye(a.size, dtype=a.dtype).reshape(a.size, *a.shape)


def columns(func: Callable, inputs: tuple, i: int, eps: float) -> list:
    return [_difference(func, inputs, i, step, eps) for step in unit_steps(inputs[i])]


# -- products Re(conj(g) J step): (output, input) -> a row for each step along the input, a column for each g ----------


def _products(gs: list, dys: list) -> np.ndarray:
    found = [[np.sum(g.conj() * dy).real for g in gs] for dy in dys]
    return np.array(found).reshape(len(dys), len(gs))


def _by_columns(column: Callable, places: list, gs: dict, steps: dict) -> dict:
    """By the outputs' changes with each step: column(input, step) -> arrays."""
    rows = {i: [column(i, step) for step in steps[i]] for i in places}
    return {(k, i): _products(gs[k], [row[k] for row in rows[i]]) for k in gs for i in places}


def backward_products(func: Callable, inputs: tuple, places: list, ys: tuple, gs: dict, steps: dict) -> dict:
    found, xs = {}, [inputs[i] for i in places]
    for k, y in enumerate(ys):
        rows = [grad(y, xs, wrap(g), retain_graph=True, allow_unused=True) for g in gs[k]]
        for n, i in enumerate(places):
            found[k, i] = _products(steps[i], [dense(row[n], inputs[i])._a for row in rows]).T
    return found


def forward_products(func: Callable, inputs: tuple, places: list, ys: tuple, gs: dict, steps: dict) -> dict:
    return _by_columns(lambda i, step: tangents_of(func, inputs, {i: wrap(step.copy())}), places, gs, steps)


def _numerical(func: Callable, inputs: tuple, i: int, gs: dict, steps: dict, eps: float) -> dict:
    return _by_columns(lambda i, step: _difference(func, inputs, i, step, eps), [i], gs, steps)


def tangents_of(func: Callable, inputs: tuple, given: dict) -> list:
    """The outputs' tangents, as arrays, from the inputs' at these places (the others': zero), without gradients."""
    tangents = {j: wrap(np.zeros_like(x._a)) for j, x in enumerate(inputs) if isinstance(x, Tensor)
                and requires_grad(x)} | given
    plain = [x.detach() if isinstance(x, Tensor) else x for x in inputs]
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, tangents[j]) if j in tangents else x for j, x in enumerate(plain)]
        results = list(filter(is_continuous, as_tuple(func(*duals))))
        found = [forward_ad.unpack_dual(y).tangent for y in results]
        return [np.zeros_like(y._a) if d is None else d._a.copy() for y, d in zip(results, found)]


def check(products: Callable, func: Callable, inputs: tuple, places: list, ys: tuple, options: Options,
          mode: str) -> None:
    """Compare along every element of inputs and outputs, or (fast) along one random direction of each."""
    rng = np.random.default_rng(0)
    along = (lambda x: [random_direction(rng, x)]) if options.fast else unit_steps
    gs = {k: along(y) for k, y in enumerate(ys)}
    steps = {i: along(inputs[i]) for i in places}
    exact = products(func, inputs, places, ys, gs, steps)
    for i in places:
        numerical = _numerical(func, inputs, i, gs, steps, options.eps)
        for k, y in enumerate(ys):
            found, wanted = numerical[k, i], exact[k, i]
            if not np.allclose(wanted, found, options.rtol, options.atol, equal_nan=True):
                error = _mismatch(k, i, found, wanted, y, inputs[i], options.fast, mode)
                raise GradcheckError(error + (_in_slow_mode(products, func, inputs, k, i, ys, options)
                                              if options.fast else ""))


def _in_slow_mode(products: Callable, func: Callable, inputs: tuple, k: int, i: int, ys: tuple,
                  options: Options) -> str:
    """The Jacobian of output k by input i, element by element, for a message."""
    gs, steps = {j: unit_steps(y) if j == k else [] for j, y in enumerate(ys)}, {i: unit_steps(inputs[i])}
    both = _numerical(func, inputs, i, gs, steps, options.eps)[k, i], products(func, inputs, [i], ys, gs, steps)[k, i]
    return FAST.format(*[in_complex_rows(m, inputs[i]) for m in both], np.abs(both[0] - both[1]).max(initial=0))


FAST = """
The above quantities relating the numerical and analytical jacobians are computed
in fast mode. Below, we recompute numerical and analytical jacobians in slow mode:

Numerical:
 {}
Analytical:
{}

The max per-element difference (slow mode) is: {}.
"""


def in_complex_rows(m: np.ndarray, x: Tensor) -> Tensor:
    """Of complex x, the rows of steps along its parts in one."""
    return wrap(m[0::2] + 1j * m[1::2] if x._a.dtype.kind == "c" else m)


def _mismatch(k: int, i: int, numerical: np.ndarray, exact: np.ndarray, y: Tensor, x: Tensor, fast: bool,
              mode: str) -> str:
    part, columns = "", slice(None)
    if y._a.dtype.kind == "c" and not fast:
        imaginary = not np.allclose(exact[:, 1::2], numerical[:, 1::2], 1e-3, 1e-5)
        part, columns = (f"While considering the {'imaginary' if imaginary else 'real'} part of complex outputs only, ",
                         slice(int(imaginary), None, 2))
    how = " computed with forward mode" if mode == "forward" else ""
    found, wanted = (m.item() if fast else in_complex_rows(m[:, columns], x) for m in (numerical, exact))
    return (f"{part}Jacobian{how} mismatch for output {k} with respect to input "
            f"{i},\nnumerical:{found}\nanalytical:{wanted}\n")


def random_direction(rng: np.random.Generator, x: Tensor) -> np.ndarray:
    """A random direction of length one."""
    v = rng.random(x._a.shape) + (1j * rng.random(x._a.shape) if x._a.dtype.kind == "c" else 0)
    return np.asarray(v / max(np.sqrt(np.sum(np.abs(v) ** 2)), 1e-30)).astype(x._a.dtype)


def check_reentrant(ys: tuple, inputs: tuple, places: list, options: Options) -> None:
    xs = [inputs[i] for i in places]
    for y in ys:
        g = random_direction(np.random.default_rng(1), y)
        first, second = (grad(y, xs, wrap(g.copy()), retain_graph=True, allow_unused=True) for _ in range(2))
        for a, b in zip(first, second):
            if a is not None and b is not None and np.abs(a._a - b._a).max(initial=0) > options.nondet_tol:
                raise GradcheckError("Backward is not reentrant, i.e., running backward with same input and "
                                     "grad_output multiple times gives different values, "
                                     f"although analytical gradient matches numerical gradient.The tolerance for "
                                     f"nondeterminism was {options.nondet_tol}.")


def check_batched(ys: tuple, inputs: tuple, places: list) -> None:
    xs = [inputs[i] for i in places]
    for k, y in enumerate(ys):
        gs = wrap(np.stack([random_direction(np.random.default_rng(j), y) for j in range(2)]))
        together = grad(y, xs, gs, is_grads_batched=True, retain_graph=True, allow_unused=True)
        for j in range(2):
            for i, a, b in zip(places, together, grad(y, xs, gs[j], retain_graph=True, allow_unused=True)):
                refuse_if(b is not None and not np.allclose(a._a[j], b._a), f"For output {k} and input "
                          f"{i}:\n\ngradcheck or gradgradcheck failed while testing batched gradient computation: the "
                          "gradients differ from those one by one", GradcheckError)


def check_properties(ys: tuple, inputs: tuple, places: list, dtypes: bool) -> None:
    xs = [inputs[i] for i in places]
    zeros = [wrap(np.zeros_like(y._a)) for y in ys]
    for i, x, gx in zip(places, xs, grad(ys, xs, zeros, retain_graph=True, allow_unused=True)):
        if gx is None:
            continue
        refuse_if(np.abs(gx._a).max(initial=0) != 0, "backward not multiplied by grad_output", GradcheckError)
        if dtypes and gx._a.dtype != x._a.dtype:
            raise GradcheckError(f"grad is incorrect type: got {gx._a.dtype} for input {i} of {x._a.dtype}")
        refuse_if(gx._a.shape != x._a.shape, "grad is incorrect size", GradcheckError)


class Undefined(Node):
    """An identity that has no gradient to give."""

    label = "UndefinedGrad"

    def pull(self, g: object) -> tuple:
        return (None,)

    pull_graph = pull


def undefined(y: Tensor) -> Tensor:
    """y, through a step that hands no gradient on."""
    return wrap(y._a, Undefined((edge(y),), (y._nr,) if y._fn is not None and y._nr else None))


def check_undefined(func: Callable, inputs: tuple, places: list) -> None:
    """backward must bear that outputs have no gradient: all of them, and of several each one."""
    count = len(_outputs(func, inputs))
    chosen = [set(range(count)), *([{k} for k in range(count)] if count > 1 else [])]
    for missing in chosen:
        _check_without(func, inputs, places, missing)


def _outputs(func: Callable, inputs: tuple) -> tuple:
    with changed(grad=True):
        return differentiable(func(*inputs))


def _check_without(func: Callable, inputs: tuple, places: list, missing: set) -> None:
    ys = [undefined(y) if k in missing else y for k, y in enumerate(_outputs(func, inputs))]
    try:
        answers = grad(ys, [inputs[i] for i in places], [wrap(np.zeros_like(y._a)) for y in ys], allow_unused=True)
    except (RuntimeError, TypeError, AttributeError) as error:
        warnings.warn(UNDEFINED_CHECKED, UserWarning, stacklevel=5)
        raise GradcheckError("Expected backward function to handle undefined output grads. Please look at 'Notes about "
                             f"undefined output gradients' in 'tools/autograd/derivatives.yaml': {error}") from error
    if any(gx is not None and np.abs(gx._a).max(initial=0) != 0 for gx in answers):
        warnings.warn(UNDEFINED_CHECKED, UserWarning, stacklevel=5)
        raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are undefined or "
                             "zero. Please look at 'Notes about "
                             "undefined output gradients' in 'tools/autograd/derivatives.yaml'")


UNDEFINED_CHECKED = ("Backwards compatibility: New undefined gradient support checking feature is enabled by default, "
                     "but it may break existing callers of this function. If this is true for you, you can call this "
                     "function with \"check_undefined_grad=False\" to disable the feature")


# -- of forward mode ---------------------------------------------------------------------------------------------------


def check_undefined_tangents(func: Callable, inputs: tuple, places: list) -> None:
    """With tangents of zeros, whether in memory or the same zero expanded, outputs have tangents of zeros."""
    for i in places:
        for zero in ((np.zeros_like(inputs[i]._a),
                      np.broadcast_to(np.zeros((), inputs[i]._a.dtype), inputs[i]._a.shape)) if len(places) > 1
                     else (None,)):
            given = {j: wrap(np.zeros_like(inputs[j]._a)) for j in places}
            if zero is not None:
                given[i] = wrap(zero)
            if any(np.abs(dy).max(initial=0) != 0 for dy in tangents_of(func, inputs, given)):
                raise GradcheckError("Expected all tangents of outputs to be zero where all tangents of inputs are: "
                                     f"the forward mode derivative is not linear (input {i})")


def check_batched_tangents(func: Callable, inputs: tuple, places: list) -> None:
    """Tangents of a batch, which go one at a time: each is what it is alone, and the same again."""
    for i in places:
        rng = np.random.default_rng(3)
        batch = [random_direction(rng, inputs[i]) for _ in range(2)]
        rows = [tangents_of(func, inputs, {i: wrap(dx.copy())}) for dx in batch]
        for k, (one, again) in enumerate(zip(rows[0], tangents_of(func, inputs, {i: wrap(batch[0].copy())}))):
            refuse_if(not np.allclose(one, again), f"For output {k} and input {i}:\n\ngradcheck or gradgradcheck "
                      "failed while testing batched forward mode computation: the tangent of a batch's element is not "
                      "the one that it has alone", GradcheckError)
