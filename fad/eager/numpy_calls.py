"""NumPy functions on tensors: by the same faces that they have on traced arrays."""
from typing import Any

import numpy as np

from ..ops.face import METHODS, find
from ..trace.protocol import qualified_name
from ..util.errors import UnsupportedFunctionError
from .inplace import in_place
from .tensor import Tensor, raw, wrap


def _any_gradient(args: tuple) -> bool:
    return any(isinstance(a, Tensor) and a.requires_grad for a in args)                    # type: ignore[attr-defined]


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    found = find(ufunc)
    if found is None:
        return _constant(lambda *arrays, **options: getattr(ufunc, method)(*arrays, **options), inputs, kwargs, ufunc)
    if method != "__call__":
        return METHODS[f"ufunc.{method}"](ufunc, *inputs, **kwargs)
    out = kwargs.pop("out", None)
    result = found.call(*inputs) if not kwargs else METHODS["ufunc.call"](found.call, inputs, **kwargs)
    return result if out is None else _into(out[0] if isinstance(out, tuple) else out, result)


def _into(out: Any, result: Any) -> Any:
    """What ufunc(..., out=out) does for a tensor: it is changed in place; an ndarray takes the values."""
    if isinstance(out, Tensor):
        return in_place(out, lambda old: result)
    out[...] = raw(result.detach() if isinstance(result, Tensor) else result)
    return out


def array_function(self: Tensor, function: Any, types: Any, args: tuple, kwargs: dict) -> Any:
    found = find(function)
    if found is not None:
        return found.call(*args, **kwargs)
    return _constant(function, args, kwargs, function)


def _constant(call: Any, args: tuple, kwargs: dict, function: Any) -> Any:
    """A function without a face: on tensors without a history it is NumPy's; on others it is an error."""
    if _any_gradient(args) or _any_gradient(tuple(kwargs.values())):
        raise UnsupportedFunctionError(f"{qualified_name(function)} is not supported on tensors that require gradients",
                                       why="fad has no record of it", do="see docs/ops for what there is, or give it a rule with autograd.Function")
    result = call(*[_bare(a) for a in args], **{key: _bare(a) for key, a in kwargs.items()})
    return _wrapped(result)


def _bare(a: Any) -> Any:
    if isinstance(a, (list, tuple)):
        return type(a)([_bare(x) for x in a])
    return raw(a)


def _wrapped(result: Any) -> Any:
    if isinstance(result, (np.ndarray, np.generic)):
        return wrap(np.asarray(result))
    return tuple([_wrapped(r) for r in result]) if isinstance(result, (tuple, list)) else result


Tensor.__array_ufunc__ = array_ufunc                                                       # type: ignore[attr-defined]
Tensor.__array_function__ = array_function                                                 # type: ignore[attr-defined]
