"""Forward mode: tensors that carry a tangent. Every op's rule gives its results theirs, by steps that are recorded."""
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ...ir.op import Op
from ...util.array import ArrayOrNumber
from ...util.errors import NoDerivativeError
from ..graph.inplace import copy_
from ..graph.node import is_dense
from ..graph.record import forward_rule
from ..graph.view_kinds import alias_view, memory, offset_of
from ..graph.views import apart, keep_tangent, tangent_of
from ..tensors.errors import refuse_if
from ..tensors.grad_mode import ModeSetting, refuse_traced
from ..tensors.state import change, changed, now
from ..tensors.tensor import Tensor, alias, is_floating, over, raw, stored, way_of, weak, wrap

SIZES = ("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
         "supported. Tensor is of size {0} while the given forward gradient is of size {1}.")


class UnpackedDualTensor(NamedTuple):
    """A dual tensor's parts; tangent is None where there is none."""

    primal: Any
    tangent: Any



def __getattr__(name: str) -> int:
    """_current_level: the level that was entered last, -1 outside."""
    if name == "_current_level":
        return now().dual_level
    raise AttributeError(name)


def enter_dual_level() -> int:
    """Begin a level; there is one at a time."""
    refuse_if(now().dual_level >= 0, "Nested forward mode AD is not supported at the moment")
    change(dual_level=0, entered_level=0, duals=[])
    return 0


def exit_dual_level(*, level: "int | None" = None) -> None:
    """End the level: its tangents are forgotten."""
    refuse_if(now().dual_level < 0, "Trying to exit a forward AD level but no level was entered before.")
    refuse_if(level is not None and level != now().dual_level, "Trying to exit a forward AD level that was not the "
              f"last one that was created. This is not supported: {level}")
    for ref in now().duals:
        t = ref()
        if isinstance(t, Tensor):
            t.extra.tangent = None
        elif t is not None:
            t.__dict__.pop("tangents", None)
    change(dual_level=-1, entered_level=-1, duals=())


@contextmanager
def dual_level() -> Iterator[int]:
    """Within, tensors may have tangents.

    >>> import fad
    >>> with fad.autograd.forward_ad.dual_level():
    ...     x = fad.autograd.forward_ad.make_dual(fad.tensor([2.0]), fad.tensor([1.0]))
    ...     fad.autograd.forward_ad.unpack_dual(x ** 2).tangent
    tensor([4.])
    """
    level = enter_dual_level()
    try:
        yield level
    finally:
        exit_dual_level(level=level)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: "int | None" = None) -> Tensor:
    """A view of the tensor that carries the tangent."""
    refuse_if(level is None and now().dual_level < 0 or level is not None and level < 0, "Trying to create a dual "
              "Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    if not is_floating(tensor._a.dtype):
        raise ValueError(f"Expected primal to be floating point or complex, but got: torch.{tensor._a.dtype}")
    if not is_floating(tangent._a.dtype):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent._a.dtype}")
    refuse_if(tangent_of(tensor) is not None, "Making a dual Tensor based on a Tensor that already has a forward "
              "gradient at the same level 0 is not supported.")
    refuse_if(tangent_of(tangent) is not None, "Setting a forward grad that itself has a forward gradient at the same "
              "level 0 is not supported.")
    if tensor._a.shape != tangent._a.shape:
        raise RuntimeError(SIZES.format(list(tensor._a.shape), list(tangent._a.shape)))
    refuse_if(tensor._a.dtype != tangent._a.dtype, "Expected tangent to have the same dtype as the primal: got "
              f"{tangent._a.dtype} and {tensor._a.dtype}")
    if way_of(tensor) is not way_of(tangent) or not same_layout(stored(tensor), stored(tangent)):
        tangent = laid_out_like(tensor, tangent)
    dual = _without_tangent(tensor)
    give(dual, tangent)
    return dual


def _without_tangent(x: Tensor) -> Tensor:
    """A view of a tensor that is the same to reverse mode, and to forward mode another tensor."""
    with changed(dual_level=-1):
        y = alias_view(x)
    if y._view is not None:
        y._view.forward = False
    return y


def same_layout(x: np.ndarray, dx: np.ndarray) -> bool:
    """Whether what is a view of x is the same view of dx: the same steps in memory of the same size."""
    if not x.size:
        return True
    steps = [(a, b) for n, a, b in zip(x.shape, x.strides, dx.strides) if n > 1]
    return all(a == b for a, b in steps) and memory(x).size == memory(dx).size and offset_of(x) == offset_of(dx)


def laid_out_like(x: Tensor, tangent: Tensor) -> Tensor:
    """A copy of the tangent with the strides and the offset of x, and with its lazy conjugation."""
    a = stored(x)
    row = np.zeros(memory(a).size, a.dtype)
    new = over(np.lib.stride_tricks.as_strided(row[offset_of(a):], a.shape, a.strides), x, [0])
    return copy_(new, tangent)


def unpack_dual(tensor: Tensor, *, level: "int | None" = None) -> UnpackedDualTensor:
    """The primal and the tangent; outside a level, (tensor, None)."""
    if now().dual_level < 0 or level is not None and level < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(_without_tangent(tensor), tangent_of(tensor))


def give(t: Tensor, tangent: Tensor) -> None:
    """t carries this tangent until the level ends."""
    keep_tangent(t, tangent)
    if t._fn is not None:  # a result that its node saved has its tangent from the node
        t._fn.__dict__.setdefault("tangents", {})[t._nr] = tangent
        now().duals.append(weak(t._fn))


def push(op: Op, args: tuple, results: tuple, params: dict) -> None:
    """Tangents for an op's results, if one of its arguments has one."""
    dxs = [tangent_of(a) if isinstance(a, Tensor) else None for a in args]
    if all(dx is None for dx in dxs) or not now().forward_grad:
        return
    with changed(dual_level=-1):
        xs = tuple([_primal(a) for a in args])
        ys = tuple([_primal(y) for y in results])
        try:
            dys = [_own(dy, dxs) for dy in op.derivative.jvp(op, ys, xs, tuple(dxs), params)]
        except NoDerivativeError as error:
            raise NoDerivativeError(f"Trying to use forward AD with {op.name} that does not support it because it has "
                                    f"not been implemented yet: {error.what}", why=error.why, do=error.do) from None
    for y, dy in zip(results, dys):
        if is_floating(y._a.dtype):
            give(y, _as_tangent(dy, y))


def _own(dy: "Tensor | None", dxs: list) -> "Tensor | None":
    """A tangent in memory of its own: results may be changed in place, and their tangents with them."""
    if isinstance(dy, Tensor) and (dy._view is not None or any(dy is dx for dx in dxs)):
        return dy.clone()
    return apart(dy, dxs)


def _primal(x: ArrayOrNumber) -> ArrayOrNumber:
    """A tensor without its tangent, with its history."""
    if not isinstance(x, Tensor) or x._x is None or x._x.tangent is None:
        return x
    t = alias(x)
    t._fn, t._nr, t._rg, t._acc = x._fn, x._nr, x._rg, x._acc
    return t


def _as_tangent(dy: object, y: Tensor) -> Tensor:
    if dy is None:
        return wrap(np.zeros_like(y._a))
    if isinstance(dy, Tensor):
        return (laid_out_like(y, dy) if dy._a.strides != y._a.strides and dy._a.shape == y._a.shape and is_dense(y._a)
                else dy)
    return wrap(np.broadcast_to(np.asarray(raw(dy), y._a.dtype), y._a.shape).copy())


forward_rule.append(push)


def _is_fwd_grad_enabled() -> bool:
    """Whether forward mode is on."""
    return now().forward_grad


class _set_fwd_grad_enabled(ModeSetting):
    """Turn forward mode on or off for a while."""

    attribute = "forward_grad"

    def __init__(self, mode: bool):
        if not mode:
            refuse_traced("_set_fwd_grad_enabled(False)")
        super().__init__(mode)

