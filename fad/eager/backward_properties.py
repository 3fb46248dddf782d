"""Checks of gradcheck besides the numbers: that backward can be run again, in batches, without gradients, and gives
what fits.
"""
import warnings
from collections.abc import Callable

import numpy as np

from .differences import GradcheckError, Options, differentiable, random_direction, tangents_of
from .grad_api import grad
from .node import Node
from .record import edge
from .state import changed
from .tensor import Tensor, wrap, wrap_result


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
                if b is not None and not np.allclose(a._a[j], b._a):
                    raise GradcheckError(f"For output {k} and input {i}:\n\ngradcheck or gradgradcheck failed while "
                                         "testing batched gradient computation: "
                                         "the gradients differ from those one by one")


def check_properties(ys: tuple, inputs: tuple, places: list, dtypes: bool) -> None:
    xs = [inputs[i] for i in places]
    zeros = [wrap(np.zeros_like(y._a)) for y in ys]
    for i, x, gx in zip(places, xs, grad(ys, xs, zeros, retain_graph=True, allow_unused=True)):
        if gx is None:
            continue
        if np.abs(gx._a).max(initial=0) != 0:
            raise GradcheckError("backward not multiplied by grad_output")
        if dtypes and gx._a.dtype != x._a.dtype:
            raise GradcheckError(f"grad is incorrect type: got {gx._a.dtype} for input {i} of {x._a.dtype}")
        if gx._a.shape != x._a.shape:
            raise GradcheckError("grad is incorrect size")


class Undefined(Node):
    """An identity that has no gradient to give."""

    label = "UndefinedGrad"

    def pull(self, g: object) -> tuple:
        return (None,)

    pull_graph = pull


def undefined(y: Tensor) -> Tensor:
    """y, through a step that hands no gradient on."""
    return wrap_result(y._a, Undefined((edge(y),), (y._nr,) if y._fn is not None and y._nr else None))


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
        for zero in (
            (np.zeros_like(inputs[i]._a), np.broadcast_to(np.zeros((), inputs[i]._a.dtype), inputs[i]._a.shape))
            if len(places) > 1
            else (None,)
        ):
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
            if not np.allclose(one, again):
                raise GradcheckError(f"For output {k} and input {i}:\n\ngradcheck or gradgradcheck failed while "
                                     "testing batched forward mode computation: the "
                                     "tangent of a batch's element is not the one that it has alone")
