"""Subscripts of tensors: what is read and written by them."""
from typing import Any

import numpy as np

from ..ops.subscript import read_subscript
from ..ops.table import TABLE as op
from .inplace import copy_, in_place
from .registry import named, run
from .shapes import reshape
from .tensor import Tensor, raw, wrap
from .views import index_view, reshape_view


def _key(subscript: Any) -> tuple:
    """A subscript as NumPy takes it: tensors and lists as arrays."""
    items = subscript if isinstance(subscript, tuple) else (subscript,)
    return tuple([_item(s) for s in items])


def _item(s: Any) -> Any:
    if isinstance(s, Tensor):
        return int(s._a) if s._a.ndim == 0 and s._a.dtype.kind in "iu" else s._a
    if isinstance(s, (list, range)):
        return np.asarray([raw(k) for k in s], np.int64 if not len(s) else None)
    if isinstance(s, slice):
        return slice(*[None if k is None else int(k) for k in (s.start, s.stop, s.step)])
    return s


def _is_basic(key: tuple) -> bool:
    return not any(isinstance(s, (np.ndarray, bool, np.bool_)) for s in key)


def _check_key(key: tuple) -> None:
    for s in key:
        if isinstance(s, slice) and s.step is not None and s.step <= 0:
            raise ValueError("step must be greater than zero")


TOO_MANY = "too many indices for tensor of dimension {0}"
OF_NO_AXES = "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"


def getitem(self: Tensor, subscript: Any) -> Tensor:
    """self[subscript]: a view where only integers, slices, None and ... are asked for."""
    key = _key(subscript)
    try:
        if _is_basic(key):
            _check_key(key)
            return index_view(self, key, label=_label(key))
        return _gathered(*_integers_first(self, key))
    except IndexError as error:
        if "too many indices" in str(error):
            raise IndexError(TOO_MANY.format(self._a.ndim) if self._a.ndim else OF_NO_AXES) from None
        raise IndexError(str(error).split("\n")[0].replace("for axis", "for dimension")) from None


def _label(key: tuple) -> str:
    """The name of a view's node: that of the last step of the subscript which is more than all of a dimension."""
    for s in reversed(key):
        if s.__class__ is slice:
            if s.start is not None or s.stop is not None or s.step is not None:
                break
        elif s is not Ellipsis:
            return "UnsqueezeBackward0" if s is None else "SelectBackward0"
    return ""


def _integers_first(x: Tensor, key: tuple) -> tuple:
    """The view that a key's integers select, and the rest of the key: an integer beside index arrays is no index array here."""
    integers = [isinstance(s, (int, np.integer)) and not isinstance(s, bool) for s in key]
    if not any(integers) or any(isinstance(s, (bool, np.bool_)) for s in key):
        return x, key
    axes: list = []
    for s, single in zip(key, integers):
        if s is not None:
            axes += [s] if single or s is Ellipsis else [slice(None)] * (s.ndim if isinstance(s, np.ndarray) and s.dtype.kind == "b" else 1)
    return index_view(x, tuple(axes)), tuple([s for s, single in zip(key, integers) if not single])


def _gathered(x: Tensor, key: tuple) -> Tensor:
    flags = [s for s in key if isinstance(s, (bool, np.bool_))]
    if flags:
        y = getitem(reshape_view(x, (1, *x.shape)), (np.array([0] if all(flags) else [], np.int64), *[s for s in key if not isinstance(s, (bool, np.bool_))]))
        return y
    selection = read_subscript(x, key)
    y = run(op["index"], x, *selection.operands, label="IndexBackward0", **selection.params())
    if selection.new_axes:
        shape = list(y.shape)
        for place in selection.new_axes:
            shape.insert(place, 1)
        y = reshape(y, *shape)
    return y


def setitem(self: Tensor, subscript: Any, value: Any) -> None:
    """self[subscript] = value, in place."""
    key = _key(subscript)
    if _is_basic(key):
        _check_key(key)
        part = index_view(self, key) if key != (Ellipsis,) else self
        copy_(part, _broadcast_value(value, part))
        return
    if any(isinstance(s, (bool, np.bool_)) for s in key):
        if all(s for s in key if isinstance(s, (bool, np.bool_))):
            setitem(self, tuple([s for s in key if not isinstance(s, (bool, np.bool_))]) or Ellipsis, value)
        return
    self, key = _integers_first(self, key)
    in_place(self, lambda old, v: _put(old, key, v), value if isinstance(value, Tensor) else np.asarray(value), single=True)


def _broadcast_value(value: Any, part: Tensor) -> Any:
    if isinstance(value, (list, tuple)):
        value = wrap(np.asarray([raw(v) for v in value]))
    if isinstance(value, Tensor) and value._a.ndim > part._a.ndim:
        return reshape(value, *value._a.shape[value._a.ndim - part._a.ndim:])
    return value


def _put(x: Tensor, key: tuple, value: Any) -> Tensor:
    if isinstance(value, Tensor) and value._a.dtype != x._a.dtype:
        value = run(op["cast"], value, dtype=x._a.dtype)
    elif isinstance(value, np.ndarray):
        value = value.astype(x._a.dtype)
    selection = read_subscript(x, key)
    return named(selection.write(x, value), "IndexPutBackward0")


Tensor.copy_ = copy_                                                                           # type: ignore[attr-defined]
Tensor.__getitem__, Tensor.__setitem__ = getitem, setitem                                      # type: ignore[attr-defined]
