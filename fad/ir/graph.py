"""The graph of the IR: variables, literals, equations, functions.

A Func is SSA and purely functional: the inputs or one equation bind each Var, once. An equation may hold regions.
Regions are Funcs that run where the equation stands; they may use the variables around it. An input binds the Vars
among its type's extents; the same Var in two inputs' types says that the two extents are equal.
"""
import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from .op import Op
from .types import Type

_ids = count()


class Var:
    """A value of the program, bound once. `hint` is the value an integer had when the function was traced, if known."""

    __slots__ = ("type", "name", "id", "hint")

    def __init__(self, type: Type, name: str = "", hint: "int | None" = None):
        self.type, self.id, self.hint = type, next(_ids), hint
        self.name = name or f"v{self.id}"

    @property
    def order(self) -> tuple:
        """The place among the symbols of an affine form."""
        return 1, self.id

    def __repr__(self) -> str:
        return self.name


class Literal:
    """A number written into the program."""

    __slots__ = ("value", "type")

    def __init__(self, value: Any, type: Type):
        self.value, self.type = value, type

    def __repr__(self) -> str:
        return repr(self.value)


Atom = Var | Literal


def _are_same(new: "Sequence | None", own: Sequence) -> bool:
    """Whether these parts are the same objects as its own; None stands for them."""
    return new is None or new is own or len(new) == len(own) and all(map(operator.is_, new, own))


class Equation:
    """outputs = op(*inputs, **params), with the user's line it came from."""

    __slots__ = ("op", "inputs", "outputs", "params", "regions", "where")

    def __init__(self, op: Any, inputs: tuple, outputs: tuple, params: dict, regions: tuple = (), where: Any = None):
        self.op, self.inputs, self.outputs = op, inputs, outputs
        self.params, self.regions, self.where = params, regions, where

    @property
    def reads_part(self) -> bool:
        """Whether the result is a selected part of the first operand."""
        return bool(self.op.traits.selects) and not self.op.traits.in_place

    @property
    def writes_part(self) -> bool:
        """Whether the result is the first operand with a selected part replaced, or added to."""
        return bool(self.op.traits.selects) and bool(self.op.traits.in_place)

    @property
    def replaces_part(self) -> bool:
        """Whether the result is the first operand with a selected part replaced."""
        return self.writes_part and not self.op.traits.adds

    @property
    def adds_part(self) -> bool:
        """Whether the result is the first operand with something added to a selected part."""
        return bool(self.op.traits.adds)

    def replace(self, *, op: "Op | None" = None, inputs: "tuple | None" = None, outputs: "tuple | None" = None,
                params: "dict | None" = None, regions: "tuple | None" = None) -> "Equation":
        """The equation with these parts in place of its own; the equation itself, if they are its own."""
        if (op in (None, self.op) and (params is None or params is self.params) and _are_same(inputs, self.inputs)
                and _are_same(outputs, self.outputs) and _are_same(regions, self.regions)):
            return self
        return Equation(self.op if op is None else op, self.inputs if inputs is None else inputs,
                        self.outputs if outputs is None else outputs, self.params if params is None else params,
                        self.regions if regions is None else regions, self.where)

    def __repr__(self) -> str:
        return f"{', '.join(map(repr, self.outputs))} = {self.op.name}({', '.join(map(repr, self.inputs))})"


class Func:
    """A function of the IR: inputs, equations in order, outputs."""

    __slots__ = ("name", "inputs", "equations", "outputs", "free")

    def __init__(self, name: str, inputs: tuple, equations: list, outputs: tuple):
        self.name, self.inputs, self.equations, self.outputs = name, tuple(inputs), equations, tuple(outputs)
        self.free: tuple | None = None                        # the parts that free_vars has looked at, and its answer

    def replace(self, *, inputs: "tuple | None" = None, equations: "list | None" = None,
                outputs: "tuple | None" = None) -> "Func":
        """The function with these parts in place of its own; the function itself, if they are its own."""
        if _are_same(inputs, self.inputs) and _are_same(equations, self.equations) and _are_same(outputs, self.outputs):
            return self
        return Func(self.name, self.inputs if inputs is None else inputs,
                    self.equations if equations is None else equations, self.outputs if outputs is None else outputs)

    def __repr__(self) -> str:
        return f"<Func {self.name}: {len(self.inputs)} -> {len(self.outputs)}, {len(self.equations)} equations>"


def traced_value(a: "Atom | int") -> "int | None":
    """The value of an integer atom or an extent; of a variable the one seen at tracing, None if unknown."""
    return a.hint if isinstance(a, Var) else a.value if isinstance(a, Literal) else a


def is_loop(eqn: Equation) -> bool:
    """Whether an equation is a loop itself."""
    return eqn.op.traits.control in ("for", "while")


def is_counted(eqn: Equation) -> bool:
    """Whether an equation is a loop with an index."""
    return bool(eqn.op.traits.control == "for")


def is_branch(eqn: Equation) -> bool:
    """Whether an equation takes one of several regions."""
    return bool(eqn.op.traits.control == "cond")


def all_equations(func: Func) -> Iterator[Equation]:
    """The equations of a Func and of its regions, each before those in it."""
    for eqn in func.equations:
        yield eqn
        for region in eqn.regions:
            yield from all_equations(region)


def has_loop(eqn: Equation) -> bool:
    """Whether a loop is in this equation, at any depth."""
    return is_loop(eqn) or any(has_loop(e) for r in eqn.regions for e in r.equations)


def silent(func: Func) -> Func:
    """The Func without the lines that it prints or logs, for who computes it a second time."""
    kept = [
        eqn.replace(regions=tuple(map(silent, eqn.regions))) if eqn.regions else eqn
        for eqn in func.equations
        if not eqn.op.traits.tells
    ]
    return func.replace(equations=kept)


def has_effect(eqn: Equation) -> bool:
    """Whether this equation, or one in it at any depth, must run even if its results are not used (a check)."""
    return bool(eqn.op.effect) or any(has_effect(e) for r in eqn.regions for e in r.equations)


def extents_of(vars: Iterable) -> Iterator[Var]:
    """The Vars among the extents of these variables' types, in order, each once."""
    seen = set()
    for v in vars:
        for n in v.type.shape:
            if isinstance(n, Var) and n not in seen:
                seen.add(n)
                yield n


def free_vars(func: Func) -> list:
    """Variables that a region uses and does not bind, in the order of first use (extents of types included).

    A variable that a nested region uses and the region itself does not bind is free in both. The answer is kept: passes
    ask for it at each equation around the region.
    """
    looked_at = func.inputs, func.outputs, func.equations, len(func.equations)
    if func.free is None or not all(map(operator.is_, func.free[0][:3], looked_at)) or func.free[0][3] != looked_at[3]:
        func.free = looked_at, _free_vars(func)
    return list(func.free[1])


def _free_vars(func: Func) -> list:
    bound = set(func.inputs) | set(_input_extents(func))
    free: dict[Var, None] = {}

    def use(atom: Atom) -> None:
        if isinstance(atom, Var):
            if atom not in bound:
                free.setdefault(atom)

    for eqn in func.equations:
        for atom in eqn.inputs:
            use(atom)
        for region in eqn.regions:
            for var in free_vars(region):
                use(var)
        bound.update(eqn.outputs)
        for n in extents_of(eqn.outputs):
            use(n)
    for atom in func.outputs:
        use(atom)
    return list(free)


def _input_extents(func: Func) -> list:
    """A Func that stands alone binds its inputs' extents; a region's are bound around it, or by its own inputs."""
    return [n for n in extents_of(func.inputs) if n in func.inputs]
