"""Python's data model, as captured code uses it: operators, items, attributes, truth, iteration, `with`.

    a + b        ->  __fad__.binary("Add", a, b)          c[k] = v   ->  __fad__.set_item(v, c, k)
    c[k]         ->  __fad__.item(c, k)
    o.x += v     ->  __fad__.augment_attribute("Add", o, "x", lambda: v)

On plain values and traced ones these are Python's own operations. Where the class of an operand is a user's, Python
would call a special method (`__add__`, `__getitem__`, the setter of a property). That method is captured and called
instead, by the rules of the language reference (section 3.3, "Special method names"): it is traced, rewritten and
guarded as every other function of the user's is.
"""
import functools
import operator
from collections import defaultdict, deque
from collections.abc import Callable
from io import IOBase
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ...ir.build import Value, current
from ...ir.types import is_number
from ...ops.records import Record, Records
from ...util.array import AnyArray, ArrayOrNumber
from ...util.defects import for_user
from ...util.errors import UnstageableError
from ...util.own import owner_of
from ..guards.escapes import refuse_hidden
from ..guards.guard import in_class
from ..guards.kinds import MISSING
from ..heap.effects import as_stored
from ..heap.journal import journal, made, note
from ..heap.opaque import note_reads, note_write
from ..lists.items import Items
from ..lists.tails import note_growth
from ..regions import optional
from ..values import number_texts
from ..values.number_texts import TEXTUAL, followed
from ..values.tracer import Tracer
from .builtin import length
from .calls import is_tracing, noting, refuse_from_outside
from .computed import ComputedAttributes
from .conversions import Conversions, beside_numbers
from .name_dicts import NameDict
from .named_methods import NamedMethods
from .protocols import Protocols, new, steps
from .sequences import are_apart, are_compared_by_items, are_sequences, compared_by_items, number_at
from .special_methods import (
    ARRAYS,
    BINARY,
    BUILTINS,
    COMPARE,
    COMPARED,
    CONVERSIONS,
    IN_PLACE,
    ORIGINALS,
    PLAIN,
    SEQUENCES,
    UNARY,
    UNCHANGING,
)

# no other code gives their items
READ_BY_FAD = (Value, dict, list, tuple, np.ndarray, Records, Record, NameDict)
INDEXED = (list, tuple, str, bytes, bytearray, range, deque, np.ndarray, Value)
READ_AT_ONCE = PLAIN | ARRAYS


class DataModel(Protocols, Conversions, ComputedAttributes, NamedMethods):
    """The part of the runtime (see control.py) that does what Python's data model says."""

    def __init__(self) -> None:
        # (class, name of a special method) -> the captured method; None: Python's own will do
        self._specials: dict[tuple, Any] = {}

    def special(self, x: object, name: str) -> Any:
        """The captured special method that the class of x has under this name, unbound. None where it has none, or one
        that is not a user's function.
        """
        if type(x) in PLAIN:
            return None
        key = type(x), name
        if key not in self._specials:
            found = self.capture.special(*key)
            self._specials[key] = (
                found if found is None or self.is_rewritten(found) else functools.partial(noting, found, found)
            )
        found = self._specials[key]
        if found is not None and is_tracing():
            self.capture.note_class(x)
        if found is None and not issubclass(type(x), READ_BY_FAD) and is_tracing():
            shown = current().trace.shown
            if journal().is_outer(x) and id(x) not in shown:
                refuse_hidden(x, name)
                shown[id(x)] = x
        return found

    # -- operators ---------------------------------------------------------------------------------

    @for_user
    def binary(self, op: str, a: object, b: object) -> Any:
        """a + b and its kin"""
        operation, _, name, sign = BINARY[op]
        if type(a) in PLAIN and type(b) in PLAIN:
            if type(a) in TEXTUAL or type(b) in TEXTUAL:
                return followed("an operator", [a, b], operation, a, b)
            return new(operation(*((a, b) if op == "Mult" else beside_numbers(a, b))))
        method, reflected = f"__{name}__", f"__r{name}__"
        if self.special(a, method) is None and self.special(b, reflected) is None:
            if type(a) not in READ_AT_ONCE or type(b) not in READ_AT_ONCE:
                note_reads(a, b)
            return new(operation(*self._beside(a, b)))
        found = self._first_of(self._attempts(operation, a, b, method, reflected))
        if found is NotImplemented:
            raise TypeError(f"unsupported operand type(s) for {sign}: {type(a).__name__!r} and {type(b).__name__!r}")
        return found

    def _attempts(self, operation: Callable, a: object, b: object, method: str, reflected: str) -> list:
        """The methods that Python tries, in its order: a subclass's reflected method goes first."""
        def left() -> Any:
            is_array = type(a) in ARRAYS and getattr(type(b), "__array_priority__", 0) <= 0
            return self._method_of(a, method, self.arrayed(b) if is_array else b)

        def right() -> Any:
            return self._method_of(b, reflected, a)
        if type(a) is type(b):
            return [left]
        if isinstance(a, SEQUENCES) and self.special(a, method) is None:
            return [right, lambda: operation(a, b)]
        overrides = issubclass(type(b), type(a)) and in_class(type(b), reflected) is not in_class(type(a), reflected)
        return [right, left] if overrides else [left, right]

    def _method_of(self, x: object, name: str, *args: object) -> Any:
        """The result of a special method of x, captured if it is the user's. NotImplemented if there is none."""
        method = self.special(x, name) or getattr(type(x), name, None)
        return NotImplemented if method is None else method(x, *args)

    @staticmethod
    def _first_of(attempts: list) -> Any:
        return next((found for attempt in attempts if (found := attempt()) is not NotImplemented), NotImplemented)

    @for_user
    def inplace(self, op: str, a: ArrayOrNumber, b: ArrayOrNumber) -> AnyArray:
        """The new binding of the target of a += b."""
        _, operation, name, _ = BINARY[op]
        if isinstance(a, Items) and not isinstance(b, SEQUENCES) and not _is_pythons_number(b) and hasattr(
                type(b), f"__r{name}__"):
            return self.binary(op, a, b)                      # a list asks the operand first: += of an array adds
        if type(a) in PLAIN and type(b) in PLAIN:
            if type(a) not in UNCHANGING:
                note_growth(a)
                note(a)
            return operation(a, b)
        method = self.special(a, f"__i{name}__")
        if method is not None:
            found = method(a, b)
            return self.binary(op, a, b) if found is NotImplemented else found
        note_growth(a)
        note_write(a, f"__i{name}__")
        b = self.listed(b) if op == "Add" and isinstance(a, list) else b
        a, b = self._beside(a, b)
        return operation(a, b) if hasattr(type(a), f"__i{name}__") else self.binary(op, a, b)

    @for_user
    def unary(self, op: str, x: AnyArray) -> AnyArray:
        """-x, +x, ~x"""
        operation, name = UNARY[op]
        method = self.special(x, name)
        return operation(x) if method is None else method(x)

    @for_user
    def compare(self, op: str, a: object, b: object) -> ArrayOrNumber:
        """a < b and its kin"""
        operation, method, reflected, sign = COMPARE[op]
        if type(a) in PLAIN and type(b) in PLAIN:
            if are_sequences(a, b):
                if self.is_asked((a, b)):
                    return self.compared_items(op, a, b)
                if are_compared_by_items(a, b):
                    return compared_by_items(operation, a, b)
                if op in ("Eq", "NotEq") and are_apart(a, b):
                    return op == "NotEq"
            if type(a) in COMPARED and type(b) in COMPARED:
                self.compared(a, b)
            return operation(a, b)
        if op == "NotEq" and any(
            in_class(type(x), "__ne__") is object.__ne__ and self.special(x, "__eq__") for x in (a, b)
        ):
            return self.not_(self.compare("Eq", a, b))        # object's __ne__ asks __eq__
        if op in ("Eq", "NotEq") and type(a).__eq__ is type(b).__eq__ is object.__eq__:
            return self.is_(a, b) if op == "Eq" else self.is_not(a, b)
        if self.special(a, method) is None and self.special(b, reflected) is None:
            self.compared(a, b)
            return operation(*self._beside(a, b))
        attempts = [lambda: self._method_of(a, method, b), lambda: self._method_of(b, reflected, a)]
        found = self._first_of(attempts[::-1] if type(a) is not type(b) and issubclass(type(b), type(a)) else attempts)
        if found is NotImplemented and op not in ("Eq", "NotEq"):
            raise TypeError(
                f"{sign!r} not supported between instances of {type(a).__name__!r} and {type(b).__name__!r}"
            )
        return (a is b) is (op == "Eq") if found is NotImplemented else found

    # -- items -------------------------------------------------------------------------------------

    slice = slice

    @for_user
    def item(self, c: Any, k: Any, is_indexed: bool = False) -> Any:
        """c[k]. is_indexed: the code reads only an element of the result."""
        self.hashed(k, c)
        if number_texts.of_noted(k) or number_texts.of_noted(c):
            return followed("an item", [c if number_texts.of_noted(c) else None, k], operator.getitem, c, k)
        if id(c) in self.capture.indexed:
            if type(k) is not Tracer:
                return self.capture.element(c, k, is_indexed)
            c = self.capture.swap(c)                          # any element may be meant
        if type(c) is defaultdict and c.default_factory is not None and k not in c:
            self.set_item(self.call(c.default_factory)(), c, k)
        if isinstance(c, INDEXED):
            k = self.as_index(k)
        if type(c) in PLAIN:
            return number_at(c, k) if type(k) is Tracer else c[k] if type(k) is not slice else new(c[k])
        method = self.special(c, "__getitem__")
        if method is not None:
            return method(c, k)
        missing = self.special(c, "__missing__") if isinstance(c, dict) else None
        if not isinstance(c, READ_BY_FAD):
            note_reads(c)
        return c[k] if missing is None or k in c else missing(c, k)

    @for_user
    def set_item(self, value: Any, c: Any, k: Any) -> None:
        """c[k] = value"""
        self.hashed(k, c)
        method = self.special(c, "__setitem__")
        if method is None:
            if not isinstance(c, (Tracer, NameDict, Records, Record)):
                note_write(c, "__setitem__")
            if type(k) is slice and isinstance(c, list):
                value = self.listed(value)
            c[self.as_index(k) if isinstance(c, INDEXED) else k] = self.arrayed(value) if type(c) in ARRAYS else value
        else:
            method(c, k, value)

    @for_user
    def delete_item(self, c: Any, k: Any) -> None:
        """del c[k]"""
        self.hashed(k, c)
        method = self.special(c, "__delitem__")
        if method is None:
            if not isinstance(c, NameDict):
                note_write(c, "__delitem__")
            del c[self.as_index(k) if isinstance(c, INDEXED) else k]
        else:
            method(c, k)

    def augment_item(self, op: str, c: AnyArray, k: object, value: Callable) -> None:
        """c[k] += value()"""
        before = self.item(c, k)
        self.set_item(self.inplace(op, before, value()), c, k)

    # -- attributes --------------------------------------------------------------------------------

    @for_user
    def attribute(self, owner: object, name: str, is_indexed: bool = False) -> Any:
        """owner.name. is_indexed: the code reads only an element of the result."""
        optional.need(owner)
        ask = self.computing(owner, name)
        if number_texts.of_noted(owner) and not callable(getattr(owner, name, None)):
            return followed("an attribute", [owner], getattr, owner, name)
        return self.capture.attribute(owner, name, is_indexed) if ask is None else ask()

    @for_user
    def set_attribute(self, value: object, owner: object, name: str) -> None:
        """owner.name = value"""
        owner = self.capture.copy_of(owner)
        self.capture.refuse_state(owner, name)
        if isinstance(value, NameDict) and name == "__dict__":
            raise UnstageableError("two objects have one dict of attributes", why="fad keeps those of each object",
                                   do="copy them: a.__dict__.update(vars(b))")
        method = self.special(owner, "__setattr__")
        if method is not None:
            method(owner, name, value)
            return
        put = self._changing(owner, name, "fset", "__set__")
        if put is not None:
            put(owner, value)
        elif type(owner) is ModuleType and self.capture.has_functions(owner):
            self.capture.assign(vars(owner), name, value)
        else:
            note_write(owner, "__setattr__")
            if is_tracing():
                value = as_stored(owner, name, value)
            setattr(owner, name, value)

    @for_user
    def delete_attribute(self, owner: object, name: str) -> None:
        """del owner.name"""
        owner = self.capture.copy_of(owner)
        if isinstance(owner, ModuleType):
            self.capture.refuse_assigned(vars(owner))
        method = self.special(owner, "__delattr__")
        if method is not None:
            method(owner, name)
            return
        drop = self._changing(owner, name, "fdel", "__delete__")
        if drop is not None:
            drop(owner)
        else:
            note_write(owner, "__delattr__")
            delattr(owner, name)

    def _changing(self, owner: object, name: str, of_property: str, name_of_method: str) -> "Callable | None":
        """The user's function that is called when an attribute is set or deleted: of a property or a descriptor."""
        found = MISSING if type(owner) in PLAIN or isinstance(owner, (type, Value)) else in_class(type(owner), name)
        own = getattr(found, of_property) if isinstance(found, property) else None
        if type(own) is FunctionType:
            return self.call(own)
        method = None if found is MISSING else self.special(found, name_of_method)
        return None if method is None else functools.partial(method, found)

    def augment_attribute(self, op: str, owner: object, name: str, value: Callable) -> None:
        """owner.name += value()"""
        before = self.attribute(owner, name)
        self.set_attribute(self.inplace(op, before, value()), owner, name)

    # -- what builtin functions and statements ask -------------------------------------------------

    @for_user
    def asked_truth(self, x: object) -> Any:
        """The value whose truth decides for x: the answer of a user's __bool__ or __len__, else x itself."""
        if type(x) in PLAIN:
            return x
        method = self.special(x, "__bool__") or self.special(x, "__len__")
        return x if method is None else method(x)

    def builtin(self, f: object) -> Any:
        """A builtin function (or what captured code sees in its place) that asks a special method of its argument; None
        of any other.
        """
        f = ORIGINALS.get(f, f)
        if f in IN_PLACE:
            name, *given = IN_PLACE[f]
            return functools.partial(getattr(self, name), *given)
        if isinstance(owner_of(f), (dict, set, frozenset)):
            return functools.partial(self._by_identity, f)
        return self.searches(f) or self.fills(f)

    def _vars(self, owner: object) -> dict:
        return self.attribute(owner, "__dict__")

    @for_user
    def _asking(self, f: object, *args: object, **kwargs: object) -> Any:
        if args and type(args[0]) not in PLAIN:
            if f is bool:
                return self.known_builtin(f)(self.asked_truth(args[0]))
            name, convert = CONVERSIONS.get(f) or (BUILTINS[f], None)
            method = self.special(args[0], name)
            found = self.iterated(args[0]) if f is iter else self.backwards(args[0]) if f is reversed else None
            if found is not None and found is not args[0]:
                return found
            if f is next and method is not None and len(args) > 1:
                return self.known_builtin(next)(made(steps(args[0], method)), args[1])
            if f is next and isinstance(args[0], IOBase) and is_tracing():
                refuse_from_outside(args[0].__next__)
            if method is not None:
                found = method(*args, **kwargs)
                return convert(found) if convert is not None and isinstance(found, Value) else found
        return self.known_builtin(f)(*args, **kwargs)

    @for_user
    def _length(self, x: object) -> ArrayOrNumber:
        method = self.special(x, "__len__")
        return length(x) if method is None else method(x)

    @for_user
    def _length_hint(self, x: object, default: int = 0) -> ArrayOrNumber:
        method = self.special(x, "__len__") or self.special(x, "__length_hint__")
        found = operator.length_hint(x, default) if method is None else method(x)  # type: ignore[call-overload]
        return default if found is NotImplemented else found


def _is_pythons_number(x: ArrayOrNumber) -> bool:
    return is_number(x) or (isinstance(x, Value) and x.type.weak)
