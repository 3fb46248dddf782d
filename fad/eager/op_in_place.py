"""An op of the table written over its first argument, at once where no derivative is wanted."""

import numpy as np

from ..ir.op import Op
from ..util.array import ArrayOrNumber
from ..util.interrupts import let_through
from . import errors, promotion, record
from .inplace import check_in_place, check_overlap, in_place, requires_grad
from .state import now
from .tensor import Tensor, raw


def _refused(op: Op, x: Tensor, args: list) -> str:
    """The reason for which an op's result cannot be written over x."""
    shapes = [x._a.shape, *[np.shape(a) for a in args]]
    if not errors.broadcasts(shapes):
        return errors.mismatch(*shapes[:2])
    shape = np.broadcast_shapes(*shapes)
    if shape != x._a.shape:
        return f"output with shape {list(x._a.shape)} doesn't match the broadcast shape {list(shape)}"
    dtype = promotion.result_type([x._a, *args])
    if dtype.kind in "biu" and op.name in record.FLOAT_FUNCTIONS:
        dtype = promotion.default.dtype
    return errors.not_castable(dtype, x._a.dtype)


def _run_into(ufunc: np.ufunc, a: np.ndarray, rest: list) -> None:
    """a = ufunc(a, *rest), in a's memory; among integers it counts modulo the range of a's dtype."""
    unlike = a.dtype.kind in "iu" and any(isinstance(b, np.ndarray) and b.dtype.kind in "iub" and b.dtype != a.dtype
                                          for b in rest)
    casting = "unsafe" if unlike else "same_kind"
    try:
        ufunc(a, *rest, out=a, casting=casting)
    except OverflowError as error:
        let_through(error)
        ufunc(*errors.wrapped([a, *rest]), out=a, casting=casting)


def op_in_place(op: Op, x: Tensor, *args: ArrayOrNumber, name: str = "") -> Tensor:
    """x = op(x, *args), in place. name: of the function; PyTorch refuses some kinds of numbers for some functions."""
    if name and (x._a.dtype.kind != "f" or any(isinstance(a, Tensor) and a._a.dtype.kind != "f" for a in args)):
        promotion.refuse_in_place(name, x, args)
    if x._a.dtype.kind in "biu" and op.name in record.FLOAT_FUNCTIONS:                 # NumPy would round the result
        raise RuntimeError(_refused(op, x, [raw(a) for a in args]))
    ufunc = op.facts.get("ufunc")
    if ufunc is not None and now().dual_level < 0 and not (now().grad
                                                           and (requires_grad(x)
                                                                or any(requires_grad(a) for a in args))):
        check_in_place(x, False)
        check_overlap(x, args)
        if now().mutation is not None:
            now().mutation.before_change(x)
        try:
            _run_into(ufunc, x._a, [raw(a) for a in args])
        except (TypeError, ValueError):
            if name:
                promotion.refuse(name, (x, *args))
            raise RuntimeError(_refused(op, x, [raw(a) for a in args])) from None
        x._vc[0] += 1
        return x
    check_overlap(x, args)
    return in_place(x, op, *args, single=True)
