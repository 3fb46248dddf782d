"""Record arrays (a dtype with named fields) while a program is traced: one array for each field.

    p = np.zeros(n, [("at", float, 2), ("mass", float)])         p: at -> f64[n, 2], mass -> f64[n]
    p["at"][:, 0] = x[0]                                          a write to the array of a field
    q = p[1:]                                                     q: views of both
    p[i]["mass"] += 1                                             one record: p and i
"""
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..ir import stack
from ..ir.build import current
from ..util import tree
from ..util.errors import UnsupportedFunctionError
from .override import find


def _refusal(what: str) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(
        f"{what} of a record array is not supported on traced arrays",
        why="fad keeps each field of a record array as an array of its own",
        do="use its fields (p['mass'])",
    )


class Records:
    """A record array.

    dtype: NumPy's; rank: the number of axes; fields: name -> array (or Records), whose first axes these are. outer: the
    array from outside that this one stands for; use_outer(): that array, or None if it was written to.
    """

    __slots__ = ("dtype", "rank", "fields", "outer", "use_outer")
    stands_for = np.ndarray

    def __init__(self, dtype: np.dtype, rank: int, fields: dict, outer: "np.ndarray | None" = None,
                 use_outer: "Callable | None" = None):
        self.dtype, self.rank, self.fields, self.outer, self.use_outer = dtype, rank, fields, outer, use_outer

    # -- what an array says of itself --------------------------------------------------------------

    @property
    def shape(self) -> tuple:
        return tuple(next(iter(self.fields.values())).shape[:self.rank])

    @property
    def ndim(self) -> int:
        return self.rank

    @property
    def size(self) -> Any:
        size: Any = 1
        for n in self.shape:
            size = size * n
        return size

    def __len__(self) -> int:
        if not self.rank:
            raise TypeError("len() of unsized object")
        return len(next(iter(self.fields.values())))

    # -- items -------------------------------------------------------------------------------------

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, str):
            return self._field(at)
        if _are_names(at):
            return Records(self.dtype[at], self.rank, {name: self._field(name) for name in at})
        if _is_element(at, self.rank):
            return Record(self, at)
        fields = {name: x[self._leading(at)] for name, x in self.fields.items()}
        name, x = next(iter(fields.items()))
        return Records(self.dtype, x.ndim - _inner_rank(self.dtype[name]), fields)

    def __setitem__(self, at: Any, value: Any) -> None:
        if isinstance(at, str):
            held = self._field(at)
            if value is not held:
                held[...] = value
            return
        names: Sequence = at if _are_names(at) else list(self.fields)
        for name, part in zip(names, _parts(value, len(names))):
            self.fields[name][... if _are_names(at) else self._leading(at)] = part

    def _field(self, name: str) -> Any:
        if name not in self.fields:
            raise ValueError(f"no field of name {name}")
        return self.fields[name]

    def _leading(self, at: object) -> object:
        """A subscript of the records, as one of a field, which may have further axes."""
        if at is Ellipsis or not any(map(_inner_rank, map(self.dtype.__getitem__, self.dtype.names or ()))):
            return at
        if isinstance(at, tuple) and any(part is Ellipsis for part in at):
            raise _refusal("a subscript with an ellipsis")
        return at

    def __iter__(self) -> Iterator:
        return (self[k] for k in range(len(self)))

    def copy(self, order: str = "C") -> "Records":
        """New records that hold the same."""
        return Records(self.dtype, self.rank, {name: x.copy() for name, x in self.fields.items()})

    __copy__ = copy

    def __deepcopy__(self, known: dict) -> "Records":
        return self.copy()

    def tolist(self) -> list:
        """The records as tuples."""
        return [record.item() for record in self]

    # -- NumPy's functions -------------------------------------------------------------------------

    def original(self, what: str) -> np.ndarray:
        """The array from outside, for what only NumPy can do."""
        found = None if self.use_outer is None else self.use_outer()
        if found is None:
            raise _refusal(what)
        return found

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        return self.original("an array made")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> Any:
        return getattr(ufunc, method)(*[_original(x, ufunc.__name__) for x in inputs], **kwargs)

    def __array_function__(self, function: Any, types: object, args: tuple, kwargs: dict) -> Any:
        if function in _FUNCTIONS and not kwargs:
            return _FUNCTIONS[function](*args)
        if function in _LIKE:
            return find(function).call(*args, **kwargs)       # type: ignore[union-attr]
        return function(*[_original(x, function.__name__) for x in args], **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if _is_field(self.dtype, name):
            return self._field(name)
        return getattr(self.original(f"the attribute {name}"), name)

    def __eq__(self, other: object) -> Any:
        return _original(self, "==") == _original(other, "==")

    def __ne__(self, other: object) -> Any:
        return _original(self, "!=") != _original(other, "!=")

    __hash__ = None                                           # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.original("the truth"))

    def __str__(self) -> str:
        return str(self.original("the text"))

    def __repr__(self) -> str:
        return repr(self.original("the text"))


class Record:
    """One record of a record array: a view of it."""

    __slots__ = ("records", "at")

    def __init__(self, records: Records, at: "int | tuple"):
        self.records, self.at = records, at

    @property
    def stands_for(self) -> type:
        """The class of NumPy's that it is of to those who ask."""
        return self.dtype.type

    @property
    def dtype(self) -> np.dtype:
        return self.records.dtype

    def __getitem__(self, name: object) -> Any:
        if _are_names(name):
            return Record(self.records[name], self.at)
        if not isinstance(name, (str, int)):
            raise _refusal("this subscript of one record")
        return self.records._field(_name(self.dtype, name))[self.at]

    def __setitem__(self, name: Any, value: Any) -> None:
        self.records._field(_name(self.dtype, name))[self.at] = value

    def __getattr__(self, name: str) -> Any:
        if name in self.__slots__ or name.startswith("__"):
            raise AttributeError(name)
        if _is_field(self.dtype, name):
            return self[name]
        if name in _TOLD:
            return getattr(self.original(f"the attribute {name}"), name)
        raise _refusal(f"the attribute {name}") if hasattr(np.void, name) else self._missing(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__slots__:
            object.__setattr__(self, name, value)
        elif _is_field(self.dtype, name):
            self[name] = value
        else:
            raise self._missing(name)

    def _missing(self, name: str) -> AttributeError:
        return AttributeError(f"'numpy.{self.stands_for.__name__}' object has no attribute '{name}'")

    def original(self, what: str) -> np.void:
        """The record from outside, for what only NumPy can do."""
        return self.records.original(what)[self.at]

    def array(self) -> Records:
        """The array without axes that NumPy makes of it: a view."""
        at = (*(self.at if isinstance(self.at, tuple) else (self.at,)), ...)
        return Records(self.dtype, 0, {name: x[at] for name, x in self.records.fields.items()})

    def copy(self) -> "Record":
        """A new record that holds the same."""
        return Record(self.array().copy(), ())

    __copy__ = copy

    def __deepcopy__(self, known: dict) -> "Record":
        return self.copy()

    def __len__(self) -> int:
        return len(self.dtype.names or ())

    def __iter__(self) -> Iterator:
        return (self[name] for name in self.dtype.names or ())

    def item(self) -> tuple:
        """The fields, in order."""
        return tuple([x.item() if isinstance(x, Record) else x for x in self])

    tolist = item

    def __eq__(self, other: object) -> np.bool_:  # type: ignore[override]
        return _original(self, "==") == _original(other, "==")

    def __ne__(self, other: object) -> np.bool_:  # type: ignore[override]
        return _original(self, "!=") != _original(other, "!=")

    __hash__ = None                                           # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.original("the truth"))

    def __str__(self) -> str:
        return str(self.original("the text"))

    def __repr__(self) -> str:
        return repr(self.original("the text"))


_TOLD = {"size", "shape", "ndim", "nbytes", "itemsize", "strides", "astype", "tobytes", "pprint"}  # they write nothing


def _is_field(dtype: np.dtype, name: str) -> bool:
    """Whether an attribute is a field: it is of a `numpy.record`, and in functions that Numba compiled."""
    is_one = dtype.type is np.record or (bool(stack.builders()) and current().trace.is_of_numba)
    return is_one and name in (dtype.names or ())


def records_of(dtype: np.dtype, shape: Sequence, make: Callable) -> Records:
    """New records; make(shape, dtype) gives the array of a field."""
    fields = {}
    for name in dtype.names or ():
        inner, extents = dtype[name].base, (*shape, *dtype[name].shape)
        fields[name] = records_of(inner, extents, make) if inner.names else make(extents, inner)
    return Records(dtype, len(shape), fields)


def array_of_records(x: "Record | Records", copy: bool) -> Records:
    """The array that NumPy makes of a record array: itself, or a copy; of one record a view, even where a copy is
    asked for."""
    return x.array() if isinstance(x, Record) else x.copy() if copy else x


def record_rows(rows: Any, dtype: np.dtype, stack_up: Callable) -> Records:
    """The records that np.array(rows, dtype) makes of a list of tuples, or of one. stack_up makes an array of a list.
    """
    if isinstance(rows, tuple):
        parts = [(row, dtype[name]) for name, row in zip(dtype.names or (), rows)]
    else:
        parts = [([row[k] for row in rows], dtype[name]) for k, name in enumerate(dtype.names or ())]
    if any(t.base.names for _, t in parts):
        raise _refusal("a list of records within")
    fields = {name: stack_up(part, t.base) for name, (part, t) in zip(dtype.names or (), parts)}
    return Records(dtype, 0 if isinstance(rows, tuple) else 1, fields)


def _are_names(at: object) -> bool:
    return isinstance(at, list) and bool(at) and all(isinstance(name, str) for name in at)


def _is_element(at: object, rank: int) -> bool:
    """Whether a subscript names one record: an integer for each axis."""
    parts = at if isinstance(at, tuple) else (at,)
    return len(parts) == rank and all(_is_integer(part) for part in parts)


def _is_integer(part: object) -> bool:
    if isinstance(part, (bool, np.bool_)):
        return False
    is_number = isinstance(part, (int, np.integer))
    return is_number or (getattr(part, "ndim", None) == 0 and getattr(part, "dtype", np.dtype("?")).kind in "iu")


def _inner_rank(dtype: np.dtype) -> int:
    return len(dtype.shape)


def _name(dtype: np.dtype, name: "str | int") -> str:
    return name if isinstance(name, str) else (dtype.names or ())[name]


def _parts(value: object, count: int) -> list:
    """The values for the fields, in order."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return [value[name] for name in value.dtype.names]
    if isinstance(value, Records):
        return list(value.fields.values())
    if isinstance(value, (Record, tuple, np.void)):          # NumPy refuses fewer values than fields
        return [value[k] for k in range(count)]
    if isinstance(value, list):
        return [[row[k] for row in value] for k in range(count)]
    return [value] * count


def _original(x: object, what: str) -> Any:
    return x.original(f"np.{what}") if isinstance(x, (Records, Record)) else x


def _joined(parts: Sequence, axis: int = 0) -> Records:
    first = parts[0]
    if axis or not all(isinstance(p, Records) and p.dtype == first.dtype and p.rank == 1 for p in parts):
        raise _refusal("np.concatenate")
    return Records(first.dtype, 1, {name: np.concatenate([p.fields[name] for p in parts]) for name in first.fields})


_LIKE = (np.zeros_like, np.ones_like, np.empty_like, np.full_like)
_FUNCTIONS: dict[Any, Callable] = {
    np.copy: lambda p: p.copy(),
    np.concatenate: _joined,
    np.shape: lambda p: p.shape,
    np.ndim: lambda p: p.rank,
    np.size: lambda p: p.size,
}


def _built(static: tuple, fields: tuple) -> Any:
    """Records of these fields; NumPy's array of them where no program is traced."""
    dtype, rank = static
    if stack.builders():
        return Records(dtype, rank, dict(zip(dtype.names, fields)))
    made = np.empty(np.shape(fields[0])[:rank], dtype)
    for name, x in zip(dtype.names, fields):
        made[name] = x
    return made


def _built_record(records: Any, at: Any) -> Any:
    return Record(records, at) if stack.builders() else records[at]


tree.register(Records, lambda p: (tuple(p.fields.values()), (p.dtype, p.rank)), _built)
tree.register(Record, lambda p: ((p.records, p.at), None), lambda _, parts: _built_record(*parts))
