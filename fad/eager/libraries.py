"""NumPy's functions on tensors."""
from typing import Any

import numpy as np

from ..ir.op import registry
from ..ops.face import METHODS, find
from ..trace.values.protocol import qualified_name
from ..util.array import AnyArray, ArrayOrNumber
from ..util.errors import UnsupportedFunctionError
from .inplace import in_place
from .tensor import Tensor, raw, wrap


def _any_gradient(args: tuple) -> bool:
    return any(isinstance(a, Tensor) and a.requires_grad for a in args)


def array_ufunc(self: Tensor, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> Any:
    found = find(ufunc)
    if found is None:
        return _constant(lambda *arrays, **options: getattr(ufunc, method)(*arrays, **options), inputs, kwargs, ufunc)
    if method != "__call__":
        return METHODS[f"ufunc.{method}"](ufunc, *inputs, **kwargs)
    out, where = kwargs.pop("out", None), kwargs.pop("where", True)
    result = found.call(*inputs) if not kwargs else METHODS["ufunc.call"](ufunc, found.call, inputs, **kwargs)
    outs = out if isinstance(out, tuple) else (out,) * ufunc.nout
    results = result if isinstance(result, tuple) else (result,)
    given = tuple([_masked(y, where, 0) if o is None else _into(o, y, where) for o, y in zip(outs, results)])
    return given if isinstance(result, tuple) else given[0]


def _masked(y: Tensor, where: object, old: ArrayOrNumber) -> Tensor:
    """y where the mask holds, what there was elsewhere."""
    return y if where is True else registry["where"](np.asarray(raw(where)), y, old)


def _into(out: Any, result: AnyArray, where: object) -> Tensor:
    """The call ufunc(..., out=out, where=where) of a tensor: it is changed in place; an ndarray takes the values."""
    if isinstance(out, Tensor):
        return in_place(out, lambda old, new: _masked(new, where, old), result)
    np.copyto(out, raw(result.detach() if isinstance(result, Tensor) else result), where=np.asarray(raw(where)))
    return out


def array_function(self: Tensor, function: object, types: tuple, args: tuple, kwargs: dict) -> Tensor:
    found = find(function)
    if found is not None:
        return found.call(*args, **kwargs)
    return _constant(function, args, kwargs, function)


def _constant(call: object, args: tuple, kwargs: dict, function: object) -> Any:
    """A function without a face: on tensors without a history it is NumPy's; on others it is an error."""
    if _any_gradient(args) or _any_gradient(tuple(kwargs.values())):
        raise UnsupportedFunctionError(f"{qualified_name(function)} is not supported on tensors that require gradients",
                                       why="fad has no record of it",
                                       do="see the table of functions in the documentation, or give it a rule with "
                                          "autograd.Function")
    result = call(*[_bare(a) for a in args], **{key: _bare(a) for key, a in kwargs.items()})
    return _wrapped(result)


def _bare(a: object) -> Any:
    if isinstance(a, (list, tuple)):
        return type(a)([_bare(x) for x in a])
    return raw(a)


def _wrapped(result: object) -> Any:
    if isinstance(result, (np.ndarray, np.generic)):
        return wrap(np.asarray(result))
    return tuple([_wrapped(r) for r in result]) if isinstance(result, (tuple, list)) else result


Tensor.__array_ufunc__ = array_ufunc
Tensor.__array_function__ = array_function
