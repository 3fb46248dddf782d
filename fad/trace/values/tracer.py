"""The tracer: what a user's function sees in place of an array while it is traced.

It answers NumPy's protocols, has an ndarray's methods, and is mutable as an ndarray is: `y[i] = v` gives the tracer a
new value of the (purely functional) program, and a view taken by basic indexing reads and writes through to its base.
"""
import itertools
import operator
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import current
from ...ir.graph import Var
from ...ir.op import Op, registry
from ...ir.value import Value, counted
from ...ops.literals import as_array, require_fitting, see_that_python_takes
from ...ops.override import METHODS, OF_NUMBERS, PROPERTIES
from ...util.array import AnyArray, ArrayOrNumber
from ...util.defects import for_user
from ...util.errors import ConcreteValueError, SideEffectError
from ...util.refusals import ASKED
from ...util.where import is_users_operator, library_call
from ..objects.containers import keeps_record
from . import sparse
from .absent import pickled, refuse_attribute_of_subclass, times_sequence
from .constants import at_sizes, constant_of, of_sizes
from .hashed import hash_of
from .memory_attributes import Flags, set_flags, set_shape
from .mutation import assign, call_override
from .of_tensors import of_tensors, refuse_ambiguous
from .operators import OPERATORS
from .outside_views import base_of, lent, lie_in_owner
from .protocol import call_function, call_ufunc, is_overridden
from .text import asked
from .zero_dim import not_an_array

serials = itertools.count(1)  # tells what was there before a branch or a loop from what was made in it
SAME: Mapping = MappingProxyType({})                          # of an array that nothing is ever put behind


def never() -> bool:
    """No exemption: an array that a list was given is not read once the list's element is written to."""
    return False


def lies_here() -> bool:
    """The mark of a list's row: it may be read after a write to an array that the list was given."""
    return False


class TracerView:
    """A view: how it reads from its base and writes back into it."""

    __slots__ = ("base", "read", "write", "seen", "chain")

    def __init__(self, base: Any, read: Callable, write: Callable):
        self.base, self.read, self.write, self.seen = base, read, write, base.version
        self.chain: Any = None  # how it came from its base, where that is known (see mutation.py)


def _part(name: str, doc: str) -> property:
    """A view that an array has as an attribute, which may be assigned to."""
    def write(x: Any, value: object) -> None:
        getattr(x, name)[...] = value
    return property(lambda x: call_override(name, PROPERTIES[name], (x,), {}), write, doc=doc)


def _asking(convert: Callable, what: str, constant: bool = False) -> Callable:
    """A method by which Python asks a value for its number; an array of several has none."""
    return for_user(lambda x: convert(x._concrete(what, constant=constant)))


class Tracer(Value):
    """A traced array or scalar.

    `view_of` says what it is a view of; `origin` is the variable it was made with, which tells how it lies in memory;
    `serial` numbers the tracers.

    `aliases` are arrays that may be this very array: (array, what it held, a test that exempts it). A loop may leave
    that open. Once one of them is written to, nobody knows what this one holds.

    `zero_dim` is whether a value without axes is an array, which can be written to, and no number: np.where and
    np.asarray hand out such arrays, np.sum does not. None: one or the other, as the program runs.
    """

    __slots__ = ("_version", "view_of", "origin", "serial", "aliases", "bound", "optional", "longer", "zero_dim")

    def __init__(self, builder: object, var: Var):
        super().__init__(builder, var)
        self._version, self.origin, self.serial = 0, var, next(serials)
        self.view_of: TracerView | None = None
        self.aliases: Any = ()
        self.bound: Any = None                              # under which condition it has a value (ops/conditional.py)
        self.optional: Any = None                           # whether it is a value, and not None (see optional.py)
        # of a list's rows: variable -> the first that had its entries, before more were appended
        self.longer: Mapping[Var, Var] = SAME
        self.zero_dim: bool | None = False

    @property
    def atom(self) -> Var:
        if self.bound is None and self.optional is None and self.view_of is None and not self.aliases:
            return self._var
        if self.bound is not None and stack.builders():
            self.bound.check()
        if self.optional is not None and stack.builders():
            self.optional.check()
        return self.held

    @property
    def is_array(self) -> bool:
        """Whether this is, or may be, an array, an object with an identity, and not a number."""
        return bool(self._var.type.shape) or self.zero_dim is not False

    def standing_for(self, x: object) -> "Tracer":
        """This value, which stands for x from around the program."""
        self.zero_dim = x.zero_dim if isinstance(x, Tracer) else isinstance(x, np.ndarray)
        if isinstance(x, np.ndarray) and type(x) is not np.ndarray:
            self.builder.root.trace.subclass_arrays[id(x)] = x
        return self

    @property
    def held(self) -> Var:
        """The variable that this value is, read to be handed on and not to be used."""
        if self.aliases:
            self._check_aliases()
        view = self.view_of
        if view is not None and view.base.version != view.seen:
            if stack.builders():
                current().note_mutation(self)
            self._var = view.read(view.base).atom
            view.seen = view.base.version
            self._version += 1
        return self._var

    @property
    def is_clobbered(self) -> bool:
        """Whether a loop has written to it under changing names (see aliases.py)."""
        return any(var is None for _, var, _ in self.aliases)

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows what it holds: it is lost, or an array that may be this one was written to."""
        self.aliases = [k for k in self.aliases if k[0].is_still(k[1]) or not (k[2] is not None and k[2]())]
        return not all(
            other.is_still(var) and (exempt is not lies_here or other._is_sure(self))
            for other, var, exempt in self.aliases
        )

    def _is_sure(self, row: "Tracer") -> bool:
        """Whether nothing that may be this array was written to, but for the row of a list that it lies in."""
        return all(
            other.is_still(var) or other is row or exempt is never or (exempt is not None and exempt())
            for other, var, exempt in self.aliases
        )

    def is_still(self, var: Var) -> bool:
        """Whether no element was written to since it was this variable. An element that is appended to a list is in no
        array that was there.
        """
        return self._var is var or self.longer.get(self._var, self._var) is self.longer.get(var, var)

    def live_aliases(self, unchanged: bool = False) -> list:
        """Arrays that may be this one, or were before one of the two was written to. unchanged: those that may be this
        very one, as far as is known.
        """
        return [other for other, var, exempt in self.aliases
                if (not unchanged or other.is_still(var)) and not (exempt is not None and exempt())]

    def _check_aliases(self) -> None:
        if self.is_clobbered:
            raise SideEffectError("an array is read after a loop that wrote to it under changing names",
                                  why="which of the arrays it is then depends on the number of iterations",
                                  do="read it under the name the loop left it with")
        if self.is_unknown:
            raise SideEffectError(
                "an array is read, and another one was written to that may be the same",
                why="which array a name stands for after a loop depends on its iterations",
                do="copy where the arrays are to be different ones (x = y.copy()), or use the name that was written to",
            )
        if stack.builders():
            current().trace.read.append(self)

    @property
    def version(self) -> int:
        """Counts the changes of this array, through it or through its base."""
        _ = self.held                                       # a view looks at its base first
        return self._version

    def set(self, new: Value) -> "Tracer":
        """Give this array a new value in place; what it is a view of changes with it."""
        view, builder = self.view_of, current()
        if id(self) in builder.root.trace.read_only:
            raise ValueError("assignment destination is read-only")
        base: Any = None
        if self.is_clobbered:
            self._check_aliases()
        # as it is now: it may be a view of this array, as in z[:] = z[::-1]
        new = builder.value_of(builder.lift(new).atom)
        if view is not None:
            base = view.write(view.base, new)
        builder.note_mutation(self)
        self._var = new.atom
        self._version += 1
        if view is not None:
            view.base.set(base)
            view.seen = view.base.version
        return self

    def put_back(self, var: Var) -> None:
        """Hold again what it held before a region was traced; a view reads its base again when it is looked at."""
        self._var = var
        self._version += 1
        if self.view_of is not None:
            self.view_of.seen = -1

    def as_view(self, base: "Tracer", read: Callable, write: Callable) -> "Tracer":
        """Make this tracer a view of base: read(base) is its value, write(base, value) the base after a change."""
        self.view_of = TracerView(base, read, write)
        self.zero_dim = True
        return self

    # -- NumPy's protocols -------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: ArrayOrNumber, **kwargs: object) -> ArrayOrNumber:
        return NotImplemented if is_overridden("__array_ufunc__", map(type, inputs)) else call_ufunc(
            ufunc, method, inputs, kwargs)

    def __array_function__(self, function: object, types: tuple, args: tuple, kwargs: dict) -> Any:
        return NotImplemented if is_overridden("__array_function__", types) else call_function(function, args, kwargs)

    def __array__(self, *args: object, **kwargs: object) -> AnyArray:
        if sparse.is_asked_by_sparse():
            return np.array(None)                            # no array: so that __rmatmul__ is asked
        return lent(self, np.array(self._concrete("an ndarray was made of a traced array")), kwargs.get("copy") is True)

    def __getattr__(self, name: str) -> Any:
        found = PROPERTIES.get(name)
        if found is not None:
            return call_override(name, found, (self,), {})
        call = METHODS.get(name)
        if call is None and name in OF_NUMBERS and not self.ndim:
            call = OF_NUMBERS[name]
        if call is None:
            refuse_attribute_of_subclass(name)
            return of_tensors(self, name)

        def method(*args: object, **kwargs: object) -> Any:
            refuse_ambiguous(name, len(args) + len(kwargs))
            return call_override(name, call, (self, *args), kwargs)
        return method

    def __getitem__(self, subscript: object) -> AnyArray:
        return call_override("__getitem__", METHODS["__getitem__"], (self, subscript), {})

    def __setitem__(self, subscript: object, value: ArrayOrNumber) -> None:
        if self.optional is not None:
            self.optional.check()
        if not self.ndim and self.zero_dim is not True:
            raise not_an_array(self)
        assign(self, subscript, value)

    setflags, lie_in_owner, owner, at_sizes = set_flags, lie_in_owner, property(base_of), at_sizes
    shape, flags = property(Value.shape.fget, set_shape), property(Flags)  # type: ignore[attr-defined, assignment]

    def __delitem__(self, subscript: object) -> None:
        raise ValueError("cannot delete array elements")

    real, imag = _part("real", "The real part, a view."), _part("imag", "The imaginary part, a view.")

    @property
    def flat(self) -> Any:
        """The elements in C order."""
        return PROPERTIES["flat"](self)

    @flat.setter
    def flat(self, value: object) -> None:
        self.flat[...] = value

    def beside(self, other: object) -> Any:
        """A list, tuple or deque, of traced values too, is the array that NumPy makes of it."""
        if not isinstance(other, (list, tuple, deque)):
            return other
        if keeps_record(other) and other.rows is not None:    # type: ignore[union-attr]
            return other.array()                              # type: ignore[union-attr]
        return as_array(other)

    def meets(self, name: str, a: ArrayOrNumber, b: ArrayOrNumber) -> None:
        op = registry[name]
        require_fitting(op, a, b)
        if stack.is_live() and isinstance(op, Op) and op.traits.raises and is_users_operator():
            see_that_python_takes(op.traits.on_ints, a, b)  # type: ignore[arg-type]

    def __matmul__(self, other: AnyArray) -> AnyArray:
        if not sparse.is_sparse(other):
            return super().__matmul__(other)                 # type: ignore[misc]
        product = sparse.times(other, self if self.ndim < 2 else self.T, transposed=True)
        return product if self.ndim < 2 else product.T

    def __rmatmul__(self, other: object) -> AnyArray:
        return sparse.times(other, self) if sparse.is_sparse(other) else super().__rmatmul__(other)  # type: ignore[misc]

    def __mul__(self, other: ArrayOrNumber) -> Any:
        return other * self.__index__() if self._repeats(other) else super().__mul__(other)  # type: ignore[misc]

    def __rmul__(self, other: Any) -> Any:
        if self._repeats(other):
            return other * self.__index__()
        return sparse.times(other, self) if sparse.is_sparse(other) else super().__rmul__(other)  # type: ignore[misc]

    def _repeats(self, other: object) -> bool:
        """Whether a product with this is a sequence so many times over: [0.0] * len(x). An array makes an array of a
        list; a number that is no int has no such product.
        """
        if not isinstance(other, (str, bytes)) and (self.is_array or not isinstance(other, (list, tuple))):
            return False
        if self.ndim or not (self.dtype.kind in "iu" or self.dtype.kind == "b" and self.type.weak):
            raise times_sequence(other)
        return True

    def __pos__(self) -> "Tracer":
        if self.dtype.kind == "b" and not self.type.weak:
            raise TypeError(
                "ufunc 'positive' did not contain a loop with signature matching types <class 'numpy.dtypes.BoolDType'>"
            )
        return Tracer(self.builder, counted(self).atom)

    # -- where Python needs a value ----------------------------------------------------------------

    def _needs(self, what: str) -> ConcreteValueError:
        library = library_call()
        if library:
            return ConcreteValueError(
                f"{what}, by {library}: {self.describe()}",
                why="a library's code computes with numbers, and fad has no record of it",
                do="call it in a function with a rule of its own (fad.custom_jvp, fad.custom_vjp; fad.implicit for "
                   "solvers), or "
                "keep it off the derivative's path (fad.stop_gradient)",
            )
        to_do = ("take an element of it (x[0]), or reduce it (np.sum)" if self.ndim
                 else "compute with arrays (np.where, slices)")
        return ConcreteValueError(f"{what}, which has no value while the function is traced: {self.describe()}",
                                  do=f"{to_do}, use fad.cond / fad.while_loop, or mark the argument static")

    def _concrete(self, what: str, constant: bool = False) -> Any:
        """The value, where it is known now; constant: what is done with it has no derivative."""
        builder = current()
        if builder.live and (constant or not builder.moves(self)):
            return builder.value(self)
        known = constant_of(self.atom)
        known = of_sizes(self) if known is None else known
        if known is None:
            raise self._needs(what)
        return known

    __index__ = _asking(operator.index, "Python needed an integer")
    __int__ = _asking(int, "int() was taken of a traced value", constant=True)
    __float__ = _asking(float, "float() was taken of a traced value")
    __complex__ = _asking(complex, "complex() was taken of a traced value")
    __bool__ = _asking(bool, "Python branched on a traced value", constant=True)

    __format__, __str__, __repr__ = asked(format), asked(str), asked(repr)

    def __hash__(self) -> int:
        return hash_of(self, self._concrete("Python needed the hash", constant=True))

    def __sizeof__(self) -> int:
        raise self._needs("Python asked for the size in memory")

    def __reduce_ex__(self, protocol: object) -> Any:
        raise pickled(self)

    def __dir__(self) -> list:
        number = self.dtype.type(0)
        return dir(np.ndarray if self.ndim else number.item() if self.type.weak else number)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a scalar")
        return operator.index(self.shape[0])

    def __iter__(self) -> Iterator:
        if not self.shape:
            raise TypeError("iteration over a scalar")
        for k in range(len(self)):
            yield self[k]


def was_there(array: Tracer, since: int) -> bool:
    """Whether an array was there before this birth; arrays from outside the program always were."""
    return array.serial < since or any(array is x for _, x in current().trace.captured.values())


for _name, _method in OPERATORS.items():
    setattr(Tracer, _name, _method)
ASKED.update([f.__code__ for f in vars(Tracer).values() if type(f) is FunctionType])
