"""Views: operations that only say where an element comes from. They cost nothing; few are ever stored."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.affine import combined
from ...ir.graph import Atom, Equation, Literal, Var
from ...ir.spec import walk_spec
from ...ir.types import INT, Type
from .indexmap import Elem, Index, Position, at
from .loop_ir import BackendError


def is_one(n: object) -> bool:
    return isinstance(n, int) and n == 1


class Views:
    """The places of all variables.

    read     view variable -> function from a place in it to the operand that is there
    bases    view variable -> the variables that it reads
    forms    integer scalar -> the Index it is, in terms of others
    """

    def __init__(self) -> None:
        self.read: dict[Var, Callable] = {}
        self.bases: dict[Var, tuple] = {}
        self.forms: dict[Var, Index] = {}

    def number(self, n: Any) -> Index:
        """An integer atom as an Index."""
        if isinstance(n, Literal):
            return at(n.value)
        if n in self.read:
            return as_index(self.read[n](()))
        return self.forms.get(n) or at(n)

    def locate(self, atom: Atom, place: tuple = ()) -> Any:
        """The element at a place of an atom: an Elem of a computed variable, a Position or a Literal."""
        if isinstance(atom, Literal):
            return atom
        read = self.read.get(atom)
        if read:
            return read(place)
        return Position(self.forms[atom], INT) if atom in self.forms else Elem(atom, place)

    def broadcast(self, atom: Atom, place: tuple) -> Any:
        """The element at this place of the atom, stretched to the place's rank."""
        if isinstance(atom, Literal):
            return atom
        shape = atom.type.shape
        lead = len(place) - len(shape)
        return self.locate(atom, tuple([Index() if is_one(n) else i for n, i in zip(shape, place[lead:])]))

    def behind(self, var: Var) -> list:
        """The variables that a view reads, through other views too."""
        return [b for a in self.bases.get(var, ()) for b in (self.behind(a) if a in self.read else [a])]

    def define(self, eqn: Equation) -> bool:
        """Record eqn's output as a view, if it is one."""
        make = _VIEWS.get(eqn.op.name)
        read = make(self, eqn) if make else None
        if read is None:
            return False
        out = eqn.outputs[0]
        self.read[out] = read
        self.bases[out] = tuple([a for a in eqn.inputs if isinstance(a, Var)])
        return True

    def define_integer(self, eqn: Equation) -> None:
        """Record the affine form of an integer scalar."""
        out = eqn.outputs[0] if len(eqn.outputs) == 1 else None
        if out is None or out.type.shape or out.type.dtype != np.int64:
            return
        if any(a.type.shape or a.type.dtype != np.int64 for a in eqn.inputs):
            return
        form = combined(eqn.op.name, [self.number(a) for a in eqn.inputs])
        if form is not None:
            self.forms[out] = form


def _transpose(views: Views, eqn: Equation) -> Callable:
    (x,), axes = eqn.inputs, eqn.params["axes"]
    return lambda place: views.locate(x, tuple([place[axes.index(k)] for k in range(len(axes))]))


def _broadcast(views: Views, eqn: Equation) -> "Callable | None":
    x = eqn.inputs[0]
    return lambda place: typed(views.broadcast(x, place), eqn.outputs[0].type)


def _full(views: Views, eqn: Equation) -> "Callable | None":
    value, t = eqn.inputs[0], eqn.outputs[0].type
    if not isinstance(value, Literal) and value.type.dtype != t.dtype:
        return None
    return lambda place: typed(views.locate(value), t)


class Blank(Literal):
    """Stands for the elements of an array that are yet to be written; one that is handed on before (to a loop that
    carries it) is a zero.
    """


def _unwritten(views: Views, eqn: Equation) -> Callable:
    dtype = eqn.outputs[0].type.dtype
    blank = Blank(dtype.type(0), Type(dtype))
    return lambda place: blank


def typed(operand: object, t: Type) -> Any:
    """A literal in the dtype of the array that holds it."""
    if isinstance(operand, Literal):
        return Literal(operand.value, Type(t.dtype))
    return operand


def _reshape(views: Views, eqn: Equation) -> "Callable | None":
    """Axes of extent 1 may come and go. (The only element of an array has become an `index`, see passes/simplify.)"""
    x, old, new = eqn.inputs[0], eqn.inputs[0].type.shape, eqn.outputs[0].type.shape
    if old and not new:
        raise BackendError("a reshape of an array to a number is left in the program")
    kept = [k for k, n in enumerate(new) if not is_one(n)]
    if [views.number(n) for n in old if not is_one(n)] != [views.number(new[k]) for k in kept] or not old:
        return None if old else (lambda place: views.locate(x))

    def read(place: tuple) -> Elem:
        moving = iter([place[k] for k in kept])
        return views.locate(x, tuple([Index() if is_one(n) else next(moving) for n in old]))
    return read


def selected(views: Views, place: tuple, operands: tuple, spec: tuple, position: int) -> tuple:
    """The place in the array of a place in the selection."""
    rank = next((len(given[0].type.shape) for _, entry, given in walk_spec(spec, operands) if entry == "a"), 0)
    gathered, rest = place[position:position + rank], iter(place[:position] + place[position + rank:])
    out = []
    for _, entry, given in walk_spec(spec, operands):
        if entry == ":":
            out.append(next(rest))
        elif entry[0] == "s":
            out.append(views.number(given[0]) + next(rest).scaled(entry[1]))
        elif entry == "i":
            out.append(views.number(given[0]))
        else:
            out.append(as_index(views.broadcast(given[0], gathered)))
    return tuple(out)


def as_index(operand: Any) -> Index:
    """An integer operand as an Index."""
    if isinstance(operand, Literal):
        return at(operand.value)
    return operand.index if isinstance(operand, Position) else at(operand.var) if not operand.at else Index.of(operand)


def _index(views: Views, eqn: Equation) -> "Callable | None":
    if not eqn.outputs[0].type.shape:
        return None                                          # a scalar is read where the program stands
    x, operands, params = eqn.inputs[0], eqn.inputs[1:], eqn.params
    return lambda place: views.locate(x, selected(views, place, operands, params["spec"], params["at"]))


def _iota(views: Views, eqn: Equation) -> Callable:
    return lambda place: Position(place[0], eqn.params["dtype"])


def _identity(views: Views, eqn: Equation) -> "Callable | None":
    x = eqn.inputs[0]
    if isinstance(x, Literal) or x.type.dtype != eqn.outputs[0].type.dtype:
        return None
    return lambda place: views.locate(x, place)


def _conj(views: Views, eqn: Equation) -> "Callable | None":
    return None if eqn.outputs[0].type.dtype.kind == "c" else _identity(views, eqn)


_VIEWS: dict[str, Callable] = {
    "transpose": _transpose,
    "broadcast_to": _broadcast,
    "full": _full,
    "reshape": _reshape,
    "index": _index,
    "iota": _iota,
    "stop_gradient": _identity,
    "conj": _conj,
    "real": _conj,
    "positive": _identity,
    "cast": _identity,
    "unwritten": _unwritten,
}
