"""The names of captured functions: their global names and the variables that they close over.

Functions of one module share their global names, and functions made together share variables. Captured functions do,
too: each module and each variable has one stand-in in a trace. The assignments of captured code are delivered when the
call ends.
"""

import builtins
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from ...ir.build import Builder
from ...util.errors import UnstageableError
from ..frontend.expressions import RUNTIME
from ..frontend.nodes import SEES_NAMES
from ..frontend.syntax import indexed_names
from ..guards import guard as of
from ..guards import met
from ..guards.bytecode import asks_identity, assigned_globals, global_names, names_of_tools, names_used
from ..guards.kinds import CONTAINERS, MISSING
from ..heap.journal import standing_in
from ..objects.containers import EnclosingVariable, Globals, is_empty
from ..objects.originals import StandIn
from .builtin import BUILTIN_FACES, BY_BUILTIN


class Scopes:
    """The part of a trace's capture that sees to names."""

    builder: Builder
    sources: list
    indexed: dict[int, Any]
    runtime: Any
    swap: Callable
    is_called: Callable
    index: Callable
    _note_opened: Callable

    def __init__(self) -> None:
        # (id of a module's global names, is_rewritten) -> they, and what stands for them
        self._scopes: dict[tuple, tuple[dict, dict]] = {}
        # (id of what stands for global names, name) of those that functions assign
        self._assigned: set[tuple] = set()
        self._cell_copies: dict[tuple, tuple[CellType, CellType]] = {}

    def _scope(self, original: dict, is_rewritten: bool) -> dict:
        """The stand-in for a module's global names. All functions of the module share it, so one reads what another
        assigns.
        """
        key = id(original), is_rewritten
        if key not in self._scopes:
            dunders = {k: v for k, v in original.items() if k.startswith("__")}
            self._scopes[key] = original, {"__builtins__": builtins, **dunders, RUNTIME: self.runtime}
        return self._scopes[key][1]

    def _fill(self, scope: dict, f: FunctionType, code: CodeType, see: Callable) -> None:
        missing = sorted(global_names(f.__code__) - f.__globals__.keys())
        named = {n for n in global_names(f.__code__) & f.__globals__.keys() if n.startswith("__")}
        self.sources += of.of_names(f.__globals__, missing)
        self.sources += met.of_builtins(missing)
        self.sources += of.of_names(f.__globals__, named)
        scope.update({name: f.__globals__[name] for name in names_of_tools(code) if name in f.__globals__})
        indexed = indexed_names(f)
        used = names_used(code)
        for name in (used if used.isdisjoint(SEES_NAMES) else used | f.__globals__.keys()) - scope.keys():
            value = f.__globals__.get(name, MISSING)
            if (id(f.__globals__), name) in self.builder.trace.lifted:
                scope[name] = self.builder.trace.lifted[id(f.__globals__), name]
            elif name in indexed and value is not MISSING:
                scope[name] = self.index(value)
                self.sources.append(of.ItemGuard(f.__globals__, name, value))
            elif value is not MISSING:
                scope[name] = None                            # while it is being captured: it may name itself
                scope[name] = see(value)
                self.sources.append(of.ItemGuard(f.__globals__, name, value))
            elif name in BUILTIN_FACES and BY_BUILTIN.get(getattr(builtins, name, None)) is BUILTIN_FACES[name]:
                self._fill_builtin(scope, name, f, see)
            elif isinstance(getattr(builtins, name, None), (np.ndarray, *CONTAINERS)):
                scope[name] = self.swap(getattr(builtins, name))
        for name in names_used(code) & scope.keys() - indexed:
            if id(scope[name]) in self.indexed:               # another function of the module reads elements alone
                scope[name] = self.swap(scope[name])
        self._refuse_divided(f, code, scope)
        assigned = tuple([n for n in assigned_globals(code) if (id(scope), n) not in self._assigned])
        self._assigned |= {(id(scope), n) for n in assigned}
        if assigned:
            owner = standing_in(Globals(scope, f.__globals__, assigned))
            self._note_opened(owner, owner)
            self.runtime.globals.setdefault(id(scope), []).append(owner)

    def _refuse_divided(self, f: FunctionType, code: CodeType, scope: dict) -> None:
        """An error if one function assigns a global name that another reads, and only one of them is rewritten."""
        other = self._scopes.get((id(f.__globals__), code in self.runtime.plain), (None, {}))[1]
        shared = [n for n in assigned_globals(code) if n in other]
        shared += [n for n in names_used(code) if (id(other), n) in self._assigned]
        if shared:
            raise UnstageableError(
                f"{f.__name__} shares the global name {shared[0]} with a function whose text is not at hand",
                why="one of them assigns it", do="define both in a file")

    def _fill_builtin(self, scope: dict, name: str, f: FunctionType, see: Callable) -> None:
        """The stand-in for one of Python's own functions. Code that is not rewritten gets the class itself for `type(x)
        is int`.
        """
        face = BUILTIN_FACES[name]
        is_original = see == self.swap and isinstance(face, StandIn) and asks_identity(f.__code__)
        if not is_original and (see == self.swap or isinstance(face, StandIn)):
            scope[name] = face

    def _cells(self, f: FunctionType, code: CodeType) -> tuple:
        """Cells that are still empty; for a name that is bound later, the cell itself."""
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or ()))
        given = [cells[name] for name in code.co_freevars]
        return tuple([cell if is_empty(cell) else self._cell(cell, code) for cell in given])

    def _cell(self, cell: CellType, code: CodeType) -> CellType:
        """The stand-in for a variable of an enclosing function; all functions that close over it share it. A variable
        that holds a function has two stand-ins, one for rewritten code.
        """
        key = id(cell), code in self.runtime.plain and self.is_called(cell.cell_contents)
        if key not in self._cell_copies:
            self._cell_copies[key] = cell, standing_in(CellType())
        return self._cell_copies[key][1]

    def _fill_cells(self, f: FunctionType, copy: FunctionType, see: Callable) -> None:
        cells, indexed = dict(zip(f.__code__.co_freevars, f.__closure__ or ())), indexed_names(f)
        for name, new in zip(copy.__code__.co_freevars, copy.__closure__ or ()):
            cell = cells[name]
            if new is cell:
                continue
            if is_empty(new):
                value, lifted = cell.cell_contents, self.builder.trace.lifted.get((id(cell), ""))
                if lifted is None:
                    self.sources.append(of.VariableGuard(cell, value))
                    lifted = self.index(value) if name in indexed else see(value)
                new.cell_contents = lifted
                self._note_opened(new, EnclosingVariable(name, new, cell))
            elif name not in indexed and id(new.cell_contents) in self.indexed:
                new.cell_contents = self.swap(new.cell_contents)
