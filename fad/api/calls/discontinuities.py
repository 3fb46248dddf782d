"""Jumps of an integrand, whose places depend on parameters: Leibniz' rule does not know them.

    d/dc int_0^1 [t < c] dt = 1,   and the integral of the derivative is 0

Only code that compares, or rounds, what depends on both t and a parameter can jump so. It may be continuous all the
same, so a difference of integrals decides when the program runs.
"""
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from ...ir.graph import Equation, Func, Var, free_vars
from ...ir.op import registry
from ...ir.types import type_of
from ...ops.kinds import Zero
from ...util.array import AnyArray
from ...util.errors import NoDerivativeError

STEP = 1e-3
SHARE = 0.01               # of the derivative, which a difference may miss
PLACE, PARAMETER = 1, 2


def may_jump(func: Func, places: Sequence[Var], parameters: Sequence[Var], both: Sequence[Var] = ()) -> bool:
    """Whether a choice in a program depends on both a place and a parameter, or on one that is both."""
    return _chooses(func, {**dict.fromkeys(places, PLACE), **dict.fromkeys(parameters, PARAMETER),
                           **dict.fromkeys(both, PLACE | PARAMETER)})


def _chooses(func: Func, depends: dict) -> bool:
    for eqn in func.equations:
        free = [v for region in eqn.regions for v in free_vars(region)]
        of = 0
        for v in (*eqn.inputs, *free):
            of |= depends.get(v, 0) if isinstance(v, Var) else 0
        if of == PLACE | PARAMETER and _is_choice(eqn):
            return True
        for region in eqn.regions:
            if _chooses(region, {**depends, **dict.fromkeys(region.inputs, of)}):
                return True
        depends.update(dict.fromkeys(eqn.outputs, of))
    return False


def _is_choice(eqn: Equation) -> bool:
    if not any(v.type.dtype.kind in "fc" for v in eqn.inputs):
        return False
    return isinstance(eqn.op.derivative, Zero) or eqn.op.traits.jumps


def moving_places(name: str, theta: Sequence, moved: Sequence, remedy: str) -> list:
    """The places of the parameters that move: those with a tangent. They have to be real."""
    moving = [k for k, d in enumerate(moved) if d is not None]
    if any(type_of(theta[k]).dtype.kind == "c" for k in moving):
        raise NoDerivativeError(f"{name} has no derivative with respect to complex numbers", do=remedy)
    return moving


def check_when_run(name: str, find: Callable, matrix: AnyArray, values: Sequence, moving: Sequence[int],
                   remedy: str) -> None:
    """check_no_jumps when the program runs. find: (number of integrals, *values) -> (integrals, errors). matrix: of
    derivatives, in rows.
    """
    def on_numbers(_: object, matrix: np.ndarray, *values: object) -> float:
        rows = matrix.reshape(-1, matrix.shape[-1])
        check_no_jumps(name, lambda values: find(len(rows), *values), values, moving, rows, remedy)
        return 1.0
    still = [registry["stop_gradient"](x) for x in (matrix, *values)]
    passed = registry["host"](1.0, *still, function=on_numbers, like=0)
    registry["check_that"](passed == 1.0, True, what="a jump", error="RuntimeError")


def check_no_jumps(name: str, find: Callable, values: Sequence, moving: Sequence[int], matrix: np.ndarray,
                   remedy: str) -> None:
    """Raise if a difference of find(values) -> (integrals, errors) along the values that move is not what the matrix
    of derivatives says."""
    rng = np.random.default_rng(0)
    directions = [rng.uniform(0.5, 1.5, np.shape(values[k])) * (1 + np.abs(values[k])) for k in moving]

    def at(sign: float) -> np.ndarray:
        moved = dict(zip(moving, directions))
        return np.asarray(find([x + sign * STEP * moved[k] if k in moved else x for k, x in enumerate(values)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (above, error), (below, _) = at(1.0), at(-1.0)
    flat = np.concatenate([np.ravel(d) for d in directions])
    miss = np.abs((above - below) / (2 * STEP) - matrix @ flat)
    allowed = SHARE * (np.abs(matrix) @ np.abs(flat)) + 10 * error / STEP + 1e-6
    if np.any(miss > allowed):                                # nan: beyond where the integral is known
        raise RuntimeError(f"{name} has no derivative here: the function jumps, at a place that depends on what is "
                           f"differentiated. {remedy}")
