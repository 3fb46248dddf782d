"""Subscripts of tensors: what is read and written by them."""
import operator
import warnings
from typing import Any

import numpy as np

from ...ops.subscript import read_subscript
from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ...util.interrupts import reraise_interrupt
from ..graph.inplace import copy_, in_place
from ..graph.view_kinds import index_view
from ..graph.views import view_of
from ..tensors.dtypes import fitting
from ..tensors.errors import broadcasts, expands, not_expandable, refuse_if
from ..tensors.promotion import agree
from ..tensors.state import now
from ..tensors.tensor import Tensor, raw, wrap
from .registry import function, named, run
from .selections import all_below, indexed
from .shapes import reshape


def _key(subscript: object) -> tuple:
    """A subscript as NumPy takes it: tensors and lists as arrays."""
    items = subscript if isinstance(subscript, tuple) or _is_tuple(subscript) else (subscript,)
    return tuple([_item(s) for s in items])


def _is_tuple(subscript: object) -> bool:
    """Whether a list stands for a tuple of subscripts: one of tensors, lists, slices (an old way; PyTorch warns)."""
    if not isinstance(subscript, list) or len(subscript) >= 32:
        return False
    if not any(s is None or s is Ellipsis or isinstance(s, (Tensor, np.ndarray, list, tuple, slice))
               for s in subscript):
        return False
    warnings.warn(NO_TUPLE, UserWarning, stacklevel=4)
    return True


def _item(s: object) -> Any:
    if isinstance(s, Tensor):
        s = s._a
        if s.ndim == 0 and s.dtype.kind in "iu" and s.dtype != np.uint8:
            return int(s)
    if isinstance(s, (list, tuple, range)):
        s = np.asarray(_numbers(s), np.int64 if not len(s) else None)
    if isinstance(s, (np.ndarray, np.bool_)):
        return _index_array(s)
    if isinstance(s, slice):
        return slice(*[None if k is None else _end(k) for k in (s.start, s.stop, s.step)])
    refuse_if(isinstance(s, (float, str, complex)), "only integers, slices (`:`), ellipsis (`...`), None and long or "
              f"byte Variables are valid indices (got {type(s).__name__})", IndexError)
    return s


def _numbers(s: object) -> Any:
    return [_numbers(k) for k in s] if isinstance(s, (list, tuple, range)) else raw(s)


def _index_array(a: AnyArray) -> AnyArray:
    """An array that selects: of integers, or a mask (a mask without axes: True or False)."""
    if a.dtype == np.uint8:
        warnings.warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
                      UserWarning, stacklevel=5)
        a = a.astype(bool)
    refuse_if(a.dtype.kind not in "ib", "tensors used as indices must be long, int, byte or bool tensors", IndexError)
    return a if a.ndim else a.item()


def _end(k: object) -> int:
    """The start or the end of a slice, or its step."""
    try:
        return operator.index(raw(k).item() if isinstance(k, Tensor) and k._a.size == 1 else k)
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


def _is_basic(key: tuple) -> bool:
    return not any(isinstance(s, (np.ndarray, bool)) for s in key)


def _check_key(key: tuple) -> None:
    for s in key:
        if isinstance(s, slice) and s.step is not None and s.step <= 0:
            raise ValueError("step must be greater than zero")


NO_TUPLE = ("Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
            "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
            "x[torch.tensor(seq)], which will result either in an error or a different result")
TOO_MANY = "too many indices for tensor of dimension {0}"
OF_NO_AXES = ("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert "
              "a 0-dim tensor to a number")


def getitem(self: Tensor, subscript: object) -> Any:
    """self[subscript]: a view where only integers, slices, None and ... are asked for."""
    if subscript.__class__ is Tensor and _are_rows(self, subscript._a):
        return indexed(self, subscript, dim=0)
    label = _one(subscript)
    key = (subscript,) if label is not None else _key(subscript)
    try:
        if label is not None:
            return view_of(self, index_view, (key,), label)
        if _is_basic(key):
            _check_key(key)
            y = _viewed(self, key)
            ranges = all(s is Ellipsis or s.__class__ is slice for s in key)
            if y._fn is not None and y._a.shape == self._a.shape and ranges:
                y._fn.label = "AliasBackward0"                       # all of it
            return y
        return _gathered(*_arrays_only(self, key))
    except IndexError as error:
        raise _index_error(self, key, error) from None


def _are_rows(self: Tensor, i: np.ndarray) -> bool:
    """Whether these are indices, none of them negative, of parts along the first dimension."""
    a = self._a
    return (i.dtype.kind == "i" and i.ndim > 0 < a.ndim and i.size > 0 and a.size > 0 and a.dtype.kind == "f"
            and all_below(i, a.shape[0]))


def _one(subscript: object) -> "str | None":
    """The name of the step of an index or of a slice forwards, of Python's integers; None for other subscripts."""
    if subscript.__class__ is int:
        return "SelectBackward0"
    if subscript.__class__ is slice:
        start, stop, step = subscript.start, subscript.stop, subscript.step
        if ((start is None or start.__class__ is int) and (stop is None or stop.__class__ is int)
                and (step is None or step.__class__ is int and step > 0)):
            return "SliceBackward0"
    return None


def _index_error(x: Tensor, key: tuple, error: IndexError) -> IndexError:
    """The error of a subscript in PyTorch's words."""
    said = str(error).split("\n")[0]
    if "too many indices" in said:
        return IndexError(TOO_MANY.format(x._a.ndim) if x._a.ndim or len(key) > 1 else OF_NO_AXES)
    if said.endswith("with size 0"):
        return IndexError("index is out of bounds for dimension with size 0")
    return IndexError(said.replace("for axis", "for dimension"))


def _check_arrays(x: Tensor, key: tuple) -> None:
    """Raise unless masks have the extents of the dimensions they select from, and arrays of indices broadcast."""
    at, shapes = 0, []
    for k, s in enumerate(key):
        if s is Ellipsis:
            at = x._a.ndim - sum(_axes_of(later) for later in key[k + 1:])
        elif isinstance(s, np.ndarray):
            if s.dtype.kind == "b" and s.shape != x._a.shape[at:at + s.ndim] and at + s.ndim <= x._a.ndim:
                raise IndexError(f"The shape of the mask {list(s.shape)} at index {k} does not match the shape of the "
                                 f"indexed tensor {list(x._a.shape)} at index {at}")
            shapes.append(s.shape if s.dtype.kind != "b" else (int(s.sum()),))
        if s is not Ellipsis:
            at += _axes_of(s)
    if not broadcasts(shapes):
        raise IndexError("shape mismatch: indexing tensors could not be broadcast together with shapes "
                         + ", ".join([str(list(shape)) for shape in shapes]))


def _axes_of(s: AnyArray) -> int:
    """The number of dimensions that an item of a subscript selects from."""
    return 0 if s is Ellipsis else s.ndim if isinstance(s, np.ndarray) and s.dtype.kind == "b" else 1


def _viewed(x: Tensor, key: tuple) -> Tensor:
    """The view that integers, slices, None and ... select, by one step for each of them that is more than all of a
    dimension, as PyTorch records it. Where nothing is recorded it is one step."""
    steps = _steps(x._a.shape, key)
    if len(steps) > 1 and (x._fn is not None or x._rg) and now().grad:
        try:
            y = x
            for item, label in steps:
                y = view_of(y, index_view, (item,), label)
            return y
        except IndexError as error:
            reraise_interrupt(error)                                # the whole subscript says which dimension it is
    return index_view(x, key, label=steps[-1][1] if steps else "")


def _steps(shape: tuple, key: tuple) -> list:
    """The single subscripts that one of several items consists of, from left to right, with their nodes' names.

    >>> _steps((3, 4, 5), (slice(1, None), None, Ellipsis, 2))
    [((slice(1, None, None),), 'SliceBackward0'), ((slice(None, None, None), None), 'UnsqueezeBackward0'), \
((slice(None, None, None), slice(None, None, None), slice(None, None, None), 2), 'SelectBackward0')]
    """
    found: list = []
    spare = len(shape) - sum(s is not None and s is not Ellipsis for s in key)
    extents, at = list(shape), 0                              # those that are not reached yet; a dimension of the view
    for s in key:
        if s is Ellipsis:
            at, extents = at + spare, extents[max(spare, 0):]
        elif s is None:
            found.append(((*[slice(None)] * at, None), "UnsqueezeBackward0"))
            at += 1
        elif not extents:                                     # too many: refused by NumPy
            return []
        elif isinstance(s, slice):
            n = extents.pop(0)
            if s.indices(n) != (0, n, 1):
                found.append(((*[slice(None)] * at, s), "SliceBackward0"))
            at += 1
        else:
            extents.pop(0)
            found.append(((*[slice(None)] * at, s), "SelectBackward0"))
    return found


def _arrays_only(x: Tensor, key: tuple) -> tuple:
    """The view that a key's integers, slices and None select, and what is left of the key: index arrays. True and
    False are arrays of new dimensions."""
    basic: list = []
    rest: list = []
    for s in key:
        if isinstance(s, np.ndarray):
            basic += [slice(None)] * _axes_of(s)
            rest.append(s)
        elif isinstance(s, bool):
            basic.append(None)
            rest.append(np.zeros(int(s), np.int64))
        else:
            basic.append(s)
            if not isinstance(s, (int, np.integer)):
                rest.append(s if s is Ellipsis else slice(None))
    whole = all(s is Ellipsis or isinstance(s, slice) and s == slice(None) for s in basic)
    if not whole:
        _check_key(tuple(basic))
        x = _viewed(x, tuple(basic))
    _check_arrays(x, tuple(rest))
    return x, tuple(rest)


def _gathered(x: Tensor, key: tuple) -> Tensor:
    selection = read_subscript(x, key)
    return run(op["index"], x, *selection.operands, label="IndexBackward0", **selection.params())


def setitem(self: Tensor, subscript: object, value: object) -> None:
    """self[subscript] = value, in place."""
    key = _key(subscript)
    try:
        if _is_basic(key):
            _check_key(key)
            label = "SelectBackward0" if key and key[-1].__class__ is int else ""
            part = index_view(self, key, label=label) if key != (Ellipsis,) else self
            copy_(part, _broadcast_value(value, part))
            return
        self, key = _arrays_only(self, key)
        in_place(self, lambda old, v: _put(old, key, v), value if isinstance(value, Tensor) else np.asarray(value),
                 single=True)
    except IndexError as error:
        raise _index_error(self, key, error) from None


def _broadcast_value(value: ArrayOrNumber, part: Tensor) -> ArrayOrNumber:
    if isinstance(value, (list, tuple)):
        value = wrap(np.asarray([raw(v) for v in value]))
    if (isinstance(value, Tensor) and value._a.ndim > part._a.ndim
            and all(n == 1 for n in value._a.shape[:value._a.ndim - part._a.ndim])):
        value = reshape(value, *value._a.shape[value._a.ndim - part._a.ndim:])
    value = fitting(value, part._a.dtype)
    shape = np.shape(raw(value))
    if not fits(shape, part._a.shape):
        raise RuntimeError(not_expandable(shape, part._a.shape))
    return value


@function(changing=True)
def index_put(self: Tensor, indices: object, values: object, accumulate: bool = False) -> Tensor:
    """self with the elements at these indices replaced by (or, accumulating, increased by) values."""
    key = tuple([_index_array(raw(i)) for i in indices])
    _check_arrays(self, key)
    return _put(self, key, values, accumulate)


def _put(x: Tensor, key: tuple, value: AnyArray, accumulate: bool = False) -> Tensor:
    given = value
    if isinstance(value, Tensor) and value._a.dtype != x._a.dtype:
        value = run(op["cast"], value, dtype=x._a.dtype)
    elif isinstance(value, np.ndarray):
        value = wrap(np.asarray(fitting(value, x._a.dtype)))
    selection = read_subscript(x, key)
    part = selection.shape(x)
    if not fits(np.shape(raw(value)), part):
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(np.shape(raw(value)))} cannot be broadcast to "
                           f"indexing result of shape {list(part)}")
    if len(np.shape(raw(given))) or raw(given).dtype.kind == "c":
        agree("Index put requires the source and destination dtypes match, got {} for the destination and {} for the "
              "source.", x, given)
    return named(selection.add(x, value) if accumulate else selection.write(x, value), "IndexPutBackward0")


def fits(shape: tuple, part: tuple) -> bool:
    """Whether what has this shape can be written to a part of a tensor (leading extents of 1 are left out)."""
    shape = (shape[max(0, len(shape) - len(part)):] if all(n == 1 for n in shape[:max(0, len(shape) - len(part))])
             else shape)
    return expands(shape, part)


Tensor.__reversed__ = lambda self: self.flip(0) if self._a.ndim else self
Tensor.copy_ = copy_
getitem.__name__, setitem.__name__ = "__getitem__", "__setitem__"
Tensor.__getitem__, Tensor.__setitem__ = getitem, setitem
