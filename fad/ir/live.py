"""The tape: a builder that knows the values, for functions whose structure depends on data.

Such a function runs anew at each call. The tape records its computations on real and complex arrays as in any program,
so that the same transforms differentiate it, and also computes them at once, so that Python may ask for values.
Integers and booleans have no derivative: they are not recorded but handed out as they are. Comparisons, masks, indices
and counts are plain NumPy.
"""
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..util.array import AnyArray, ArrayOrNumber
from ..util.array_views import along, lies_in, owner_of, steps_to
from ..util.errors import ConcreteValueError, SideEffectError
from ..util.listening import TOLD, listening, settings
from ..util.memory import overlap, shared_memory
from . import stack
from .build import Builder, Value, building
from .graph import Literal, Var
from .op import Op
from .types import Type, refuse_objects, require_plain, type_of

UNKNOWN: Any = object()  # the value of a later step's result, or of one example of many


class LiveBuilder(Builder):
    """A Builder that knows its values: the root's `values` maps variables to them, `moving` holds those being
    differentiated."""

    live = True
    root: "LiveBuilder"

    def __init__(self, name: str = "f", parent: "Builder | None" = None, value_class: "type | None" = None):
        super().__init__(name, parent, value_class)
        self.values: dict[Var, Any] = getattr(self.root, "values", {})
        self.moving: set[Var] = getattr(self.root, "moving", set())
        self.arrays: dict[Var, Any] = {}                     # the arrays that inputs stand for; on the root
        self.outside: dict[int, tuple] = {}  # id(outside array) -> (it, what is seen instead, a copy); on the root
        # what NumPy is to do of floating point errors, and the settings that decide it; on the root
        self.unwarned: dict = {}
        self.written: dict[Var, object] = {}  # how numbers that are keys were computed; on the root
        self.lent: dict[int, tuple] = {}  # id(array) -> (it, what libraries were given of it); on the root
        self.texts: object = None  # of numbers that are differentiated (trace/values/number_texts); on the root
        self.settings: Any = None
        self.thread = threading.get_ident()                  # that runs it; on the root

    # -- values ------------------------------------------------------------------------------------

    def known(self, x: object) -> Any:
        """The value of x now, or UNKNOWN."""
        if not isinstance(x, Value):
            return x
        tape = self if x.atom in self.values else self._tape_of(x)
        return tape.values.get(x.atom, UNKNOWN)

    def _tape_of(self, x: Value) -> "LiveBuilder":
        """The tape of another thread, if x is a value of it that the user's code has left where this thread sees it: a
        constant here, as it will be when that tape ends. Else this tape.
        """
        tape = x.builder.root
        return tape if tape.live and tape.thread != self.root.thread else self

    def is_known(self, x: object) -> bool:
        """Whether x has a value now."""
        return self.known(x) is not UNKNOWN

    def moves(self, x: ArrayOrNumber) -> bool:
        """Whether a derivative is being taken through x."""
        return isinstance(x, Value) and x.atom in self.moving

    def follow(self, new: Value, x: ArrayOrNumber, moving: bool = False) -> None:
        """The input `new` stands for x."""
        value = self.known(x)
        if value is not UNKNOWN:
            self.values[new.atom] = value
        if moving or self.moves(x):
            self.moving.add(new.atom)

    def take(self, x: AnyArray, name: str = "") -> Any:
        """The argument as the function sees it: real and complex values are inputs, others are copies, so that no array
        of the caller's is touched.
        """
        if isinstance(x, np.ndarray) and x.dtype.kind in "biu":
            return _twin(x)
        if (not (isinstance(x, (np.ndarray, np.generic)) or type(x) in (float, complex))
                or type_of(x).dtype.kind not in "fc"):
            return x
        return self.root.known_input(x, name)

    def known_input(self, x: AnyArray, name: str = "") -> Value:
        """An input of this value, of constant extents."""
        t = type_of(x)
        new = self.input(Type(t.dtype, t.shape, t.weak), name)
        if isinstance(x, np.ndarray):
            self.arrays[new.atom] = x
            self.trace.subclass_arrays.update({} if type(x) is np.ndarray else {id(x): x})
        self.values[new.atom] = _twin(x) if isinstance(x, np.ndarray) else x
        self.trace.dense[new.atom] = not isinstance(x, np.ndarray) or x.flags.c_contiguous
        return new

    def capture(self, array: np.ndarray) -> Any:
        """The stand-in of an array from outside: always the same, and a copy. A later change of the array gives another
        one.
        """
        require_plain(array)
        known = self.root.outside
        found = known.get(id(array))
        if found is None or not same(array, found[2]):
            found = known[id(array)] = (array, self._seen(array), _twin(array))
        return found[1]

    def _seen(self, array: np.ndarray) -> Any:
        """A copy of an array from outside. Of a view, the same view of a copy of its owner, if that is not much larger.
        """
        owner = owner_of(array)
        is_view = array is not owner and owner.nbytes <= max(8 * array.nbytes, 2 ** 20)
        if array.dtype.kind not in "fc":
            steps = steps_to(array, owner) if is_view else None
            return _twin(array) if steps is None else along(steps, self.capture(owner))
        seen = self.root.known_input(array).standing_for(array)
        if is_view:
            self.trace.owners[id(owner)] = owner
            seen.lie_in_owner(array)
        return seen

    def lend(self, array: Value, given: np.ndarray) -> np.ndarray:
        """The numbers of an array that a library is given. It may keep them, as a table of pandas does."""
        self.root.lent.setdefault(id(array), (array, []))[1].append(weakref.ref(given))
        return given

    def note_mutation(self, tracer: Value) -> None:
        if any(ref() is not None for ref in self.root.lent.get(id(tracer), ((), ()))[1]):
            raise SideEffectError("an array is written to that an object of a library holds",
                                  why="on the tape the object has a copy of it",
                                  do="give the object a copy (x.copy()), or make it after the last change")
        super().note_mutation(tracer)

    def written_outside(self) -> Iterator[tuple]:
        """The arrays from outside that the function has written to, each with what it is to hold."""
        for array, seen, before in self.outside.values():
            value = self.value(seen) if isinstance(seen, Value) else seen
            if not same(value, before):
                if any(_lie_apart(seen, other) and overlap(x, array) for x, other, _ in self.outside.values()) or any(
                    lies_in(array, x) for x in self.trace.read_as_is.values()
                ):
                    raise shared_memory(are_outside=True)
                yield array, value

    def constant(self, array: np.ndarray) -> Any:
        """An array made from numbers alone, as an input of its own if it is real or complex."""
        return self.root.known_input(array) if array.dtype.kind in "fc" else array

    def lift(self, x: object) -> Any:
        """x as an operand: plain arrays are copied, since they may be changed afterwards."""
        if isinstance(x, Value) and self._tape_of(x) is not self:
            x = self.known(x)
        if isinstance(x, (list, tuple)):
            x = np.asarray(x)
        if isinstance(x, np.ndarray):
            require_plain(x)
            return self.root.known_input(x)
        return super().lift(x)

    # -- equations ---------------------------------------------------------------------------------

    def bind(self, op: Op, args: tuple, params: dict) -> Any:
        """Compute op(*args); where the result is real or complex, record it too."""
        args = tuple([np.asarray(a) if isinstance(a, (list, tuple)) else a for a in args])
        for a in args:
            refuse_objects(a)
        known = [self.known(a) for a in args]
        if any(x is UNKNOWN for x in known):
            return super().bind(op, args, params)
        try:
            types = op.infer(*args, **params)
        except AttributeError:
            for a in args:                                   # an object that is no number is refused by name
                self.lift(a)
            raise
        single = isinstance(types, Type)
        types = (types,) if single else types
        recorded = any(t.dtype.kind in "fc" for t in types)
        lifted = tuple([self.lift(a) for a in args]) if recorded else args
        with stack.concrete(), np.errstate(**unwarned(self.root)):
            results = _run(op, known, params)
        if op.name in ("equal", "not_equal") and self._is_of_earlier(*args):
            results = np.full(np.shape(results), op.name == "not_equal")
        values = [_of_type(y, t) for y, t in zip((results,) if single else results, types)]
        outputs = self._recorded(op, lifted, types, params, values) if recorded else tuple(values)
        return outputs[0] if single else outputs

    def _is_of_earlier(self, a: ArrayOrNumber, b: ArrayOrNumber) -> bool:
        """Whether one of two arrays is differentiated and the other is from outside, and both are equal: an earlier
        call has left it. Around this point they differ (see transforms/kept_points.py).
        """
        x, other = (a, b) if self.moves(a) else (b, a)
        if not self.moves(x) or not isinstance(other, Value) or all(
                getattr(seen, "atom", None) is not other.atom for _, seen, _ in self.root.outside.values()):
            return False
        left, right = self.known(x), self.known(other)
        return np.array_equal(left, right) and is_point(right)

    def _recorded(self, op: Op, lifted: tuple, types: tuple, params: dict, values: list) -> tuple:
        """The results, real and complex ones as recorded values."""
        outputs = self.emit(op, lifted, types, params)
        moving = not getattr(op.derivative, "is_zero", False) and any(self.moves(a) for a in lifted)
        for new, y in zip(outputs, values):
            self.values[new.atom] = y
            if moving and new.dtype.kind in "fc":
                self.moving.add(new.atom)
        return tuple([new if new.dtype.kind in "fc" else y for new, y in zip(outputs, values)])

    def delivered(self, results: tuple, atoms: tuple) -> tuple:
        """The results of a call, which are variables in its region. Results that are neither real nor complex stay as
        they are."""
        out = []
        for new, atom in zip(results, atoms):
            y = atom.value if isinstance(atom, Literal) else self.values.get(atom, UNKNOWN)
            if y is not UNKNOWN:
                self.values[new.atom] = y
            if atom in self.moving:
                self.moving.add(new.atom)
            out.append(new if y is UNKNOWN or new.dtype.kind in "fc" else y)
        return tuple(out)

    def value(self, x: object) -> Any:
        """The present value of x, if x is a value of this tape."""
        y = self.known(x)
        if y is UNKNOWN:
            raise ConcreteValueError("a value that is given in a later step was needed before",
                                 do="let the steps run in order, or compute the value in the first of them")
        return y


def _of_type(y: AnyArray, t: Type) -> AnyArray:
    """A result as a value of its type: a Python number, a NumPy scalar or an array."""
    a = np.asarray(y)
    if a.dtype != t.dtype:
        a = a.astype(t.dtype)
    if a.ndim:
        return a
    return a.item() if t.weak else a[()]


def _run(op: Op, args: list, params: dict) -> AnyArray:
    try:
        return op.run(*args, **params)
    except (FloatingPointError, RuntimeWarning, np.linalg.LinAlgError) as error:
        # NumPy's errors about these values are not defects of fad
        raise type(error)(*error.args) from None


def unwarned(root: "LiveBuilder") -> dict:
    """NumPy's handling of floating point errors without warnings; what the user's code wants to be told is told.

    Warnings are errors only under the user's own handlers: fad's rules compute with infinities, and NumPy warns of
    those.
    """
    now = settings()
    if root.settings != now:
        hears = listening()
        hears_warnings = (root.trace.strict and hears.is_error) or hears.records(root.trace.listening)
        heard = {"warn", *TOLD} if hears_warnings else TOLD
        root.unwarned = {kind: how if how in heard else "ignore" for kind, how in now[0].items()}
        root.settings = now
    return root.unwarned


def _lie_apart(x: "Value | np.ndarray", y: "Value | np.ndarray") -> bool:
    """Whether what is seen of two arrays from outside lies in two memories."""
    if isinstance(x, Value) and isinstance(y, Value):
        return x.owner is not y.owner
    return isinstance(x, Value) or isinstance(y, Value) or owner_of(x) is not owner_of(y)


def _twin(x: np.ndarray) -> np.ndarray:
    """A copy that lies in memory as x does."""
    return x.copy(order="K")


def is_point(x: ArrayOrNumber) -> bool:
    """Whether x may be where a function was called, kept to know the point again (see transforms/kept_points.py).

    A whole number, several times the same one, and infinities are what programs write themselves: where a search
    starts, what no value reaches yet.
    """
    finite = np.ravel(x)[np.ravel(np.isfinite(x))]
    return bool(np.any(np.rint(finite) != finite) or np.any(finite != finite[:1]))


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays hold the same, bit by bit."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@contextmanager
def taping(name: str, value_class: type) -> Iterator[LiveBuilder]:
    """A tape as the current builder of this thread."""
    with building(name, value_class, make=LiveBuilder) as builder:
        try:
            yield builder                                    # type: ignore[misc]
        finally:
            builder.trace.let_go()
