"""Forward mode through a Function: its jvp gives the tangents of what it returned, which are checked to be what they
must be."""

import numpy as np

from ..util.array import ArrayOrNumber
from .forward_ad import SIZES
from .state import changed
from .tensor import Tensor, is_floating, wrap
from .views import keep_tangent, tangent_of

_VIEW = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
_OF_INPUT = "A custom Function is returning a view but the jvp is not returning a view of the given grad input."
_OF_BASE = ("A custom Function is returning a view but the jvp is not returning a view of the same base as the given "
            "grad input.")
_DIRTY = ("An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying "
          "an input inplace, then the jvp function must modify the corresponding gradient inplace.")


def push(cls: object, ctx: object, args: tuple, outputs: list, finished: list, dirty: tuple, fixed: tuple) -> None:
    """Tangents of what a Function returned (outputs; `finished` with their place in the graph) when it was called with
    args."""
    dxs: list = [tangent_of(a) if isinstance(a, Tensor) else None for a in args]
    if all(dx is None for dx in dxs):
        return
    given = list(dxs)
    if ctx.materialize_grads:
        given = [wrap(np.zeros_like(a._a)) if dx is None and isinstance(a, Tensor) and is_floating(a._a.dtype) else dx
                 for a, dx in zip(args, dxs)]
    versions = [None if dx is None else dx._vc[0] for dx in dxs]
    ctx.pushing = True
    try:
        with changed(dual_level=-1):
            dys = cls.jvp(ctx, *given)
    finally:
        ctx.pushing = False
    dys = list(dys) if isinstance(dys, (tuple, list)) else [dys]
    if len(dys) != len(finished):
        raise RuntimeError(f"Function's jvp returned an invalid number of forward gradients (expected {len(finished)} "
                           f"but got {len(dys)})")
    for k, (out, y, dy) in enumerate(zip(outputs, finished, dys)):
        if dy is not None:
            _check(k, y, dy, any(out is t for t in fixed))
            if any(out is t for t in dirty):
                _check_dirty(out, dy, args, dxs, versions)
            elif y._view is not None:
                _check_view(out, y, dy, args, given)
            keep_tangent(y, dy)


def _check(k: int, y: Tensor, dy: ArrayOrNumber, fixed: bool) -> None:
    if not isinstance(dy, Tensor):
        raise RuntimeError(f"expected Variable or None (got {type(dy).__name__}) for grad output {k}.")
    if fixed or not isinstance(y, Tensor) or not is_floating(y._a.dtype):
        raise RuntimeError(f"Function's jvp returned a gradient at position {k}, but  the corresponding forward output "
                           "is not a differentiable Tensor.You should return None at that position instead.")
    if dy._a.shape != y._a.shape:
        raise RuntimeError(SIZES.format(list(y._a.shape), list(dy._a.shape)))


def _check_dirty(y: Tensor, dy: Tensor, args: tuple, dxs: list, versions: list) -> None:
    if not any(a is y and dx is dy and dx._vc[0] != version for a, dx, version in zip(args, dxs, versions)):
        raise RuntimeError(_DIRTY)


def _check_view(out: Tensor, y: Tensor, dy: Tensor, args: tuple, dxs: list) -> None:
    """The tangent of a view of an input must be a view of that input's tangent."""
    if dy._view is None:
        raise RuntimeError(_VIEW)
    base = y._view.base
    for a, dx in zip(args, dxs):
        if isinstance(a, Tensor) and dx is not None and (a is base or a is out or a._view is not None
                                                         and a._view.base is base):
            if dx._view is not None and dy._view.base is not dx._view.base:
                raise RuntimeError(_OF_BASE)
            if dx._view is None and dy._view.base is not dx:
                raise RuntimeError(_OF_INPUT)
            return
