"""The names of captured functions: their global names and the variables that they close over.

Functions of one module share their global names, and functions made together share variables. Captured functions do,
too: each module and each variable has one stand-in in a trace. The assignments of captured code are delivered when the
call ends.
"""

import builtins
import functools
from collections.abc import Callable, Iterable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ...util.errors import UnstageableError
from ...util.where import is_captured
from ..frontend.expressions import RUNTIME
from ..frontend.nodes import SEES_NAMES
from ..frontend.syntax import indexed_names
from ..guards import guard as of
from ..guards.bytecode import asks_identity, assigned_globals, global_names, names_of_tools, names_used
from ..guards.kinds import CONTAINERS, MISSING
from ..guards.reading import Reading
from ..heap.journal import note, standing_in
from ..objects.containers import EnclosingVariable, Globals, is_empty
from ..objects.originals import StandIn
from .builtin import BUILTIN_OVERRIDES, BY_BUILTIN


class Scopes(Reading):
    """The part of a trace's capture that sees to names."""

    runtime: Any
    is_called: Callable
    names_of_module: Callable
    _note_opened: Callable

    def __init__(self) -> None:
        # (id of a module's global names, is_rewritten) -> they, and what stands for them
        self._scopes: dict[tuple, tuple[dict, dict]] = {}
        # (id of what stands for global names, name) of those that functions assign
        self._assigned: set[tuple] = set()
        self._cell_copies: dict[tuple, tuple[CellType, CellType]] = {}
        super().__init__()

    def _scope(self, original: dict, is_rewritten: bool) -> dict:
        """The stand-in for a module's global names. All functions of the module share it, so one reads what another
        assigns.
        """
        key = id(original), is_rewritten
        if key not in self._scopes:
            dunders = {k: v for k, v in original.items() if k.startswith("__")}
            self._scopes[key] = original, {"__builtins__": builtins, **dunders, RUNTIME: self.runtime}
        return self._scopes[key][1]

    def _known_scopes(self, original: dict) -> list:
        """The stand-ins that there are for global names: one for rewritten code, and one for other code."""
        keys = [(id(original), True), (id(original), False)]
        return [self._scopes[key][1] for key in keys if key in self._scopes]

    def original_names(self, scope: dict) -> dict:
        """The global names of a module, given what stands for them."""
        return next((original for original, made in self._scopes.values() if made is scope), scope)

    def global_name(self, names: dict, name: object) -> object:
        """The value of a global name that the code has computed; MISSING where it has none."""
        value = self.assigned_name(names, name)
        if value is not MISSING:
            return value
        if name not in names:
            self.sources += of.of_names(names, [name])
            return MISSING
        return self.element(names, name, False)

    def note_global_names(self, names: dict) -> None:
        """Captured code asks which global names there are."""
        self.refuse_assigned(names, lambda n: n not in names and self.assigned_name(names, n) is not MISSING)
        self.sources.append(of.of_length(names))

    def assigned_name(self, names: dict, name: object) -> Any:
        """The value that captured code has given a global name, or may have, in this call or the one before (then it is
        an input); MISSING where no code has.
        """
        for scope in self._known_scopes(names):
            if (id(scope), name) in self._assigned:
                return scope.get(name, MISSING)
        return self.builder.trace.lifted.get((id(names), name), MISSING)

    def _fill(self, scope: dict, f: FunctionType, code: CodeType, see: Callable) -> None:
        missing = sorted(global_names(f.__code__) - f.__globals__.keys())
        named = {n for n in global_names(f.__code__) & f.__globals__.keys() if n.startswith("__")}
        self.sources += of.of_names(f.__globals__, missing)
        self.sources += of.of_names(vars(builtins), missing)
        self.sources += of.of_names(f.__globals__, named)
        scope.update({name: f.__globals__[name] for name in names_of_tools(code) if name in f.__globals__})
        indexed = indexed_names(f)
        used = names_used(code)
        for name in (used if used.isdisjoint(SEES_NAMES) else used | f.__globals__.keys()) - scope.keys():
            if name in f.__globals__:
                self._fill_name(scope, f.__globals__, name, self.index if name in indexed else see)
            elif name in BUILTIN_OVERRIDES and BY_BUILTIN.get(getattr(builtins, name, None)) is BUILTIN_OVERRIDES[name]:
                self._fill_builtin(scope, name, f, see)
            elif name == "globals" and code in self.runtime.plain:
                scope[name] = functools.partial(self.names_of_module, f.__globals__)
            elif isinstance(getattr(builtins, name, None), (np.ndarray, *CONTAINERS)):
                scope[name] = self.swap(getattr(builtins, name))
        for name in names_used(code) & scope.keys() - indexed:
            if id(scope[name]) in self.indexed:               # another function of the module reads elements alone
                scope[name] = self.swap(scope[name])
        is_rewritten = code not in self.runtime.plain
        self._refuse_divided(f.__name__, f.__globals__, is_rewritten, assigned_globals(code), names_used(code))
        self._note_assigned(scope, f.__globals__, assigned_globals(code))

    def _fill_name(self, scope: dict, original: dict, name: str, see: Callable) -> None:
        """Give a scope what stands for a global name of the original's."""
        lifted = self.builder.trace.lifted.get((id(original), name), MISSING)
        scope[name] = None                                    # while it is being captured: it may name itself
        scope[name] = see(original[name]) if lifted is MISSING else lifted
        if lifted is MISSING:
            self.sources.append(of.ItemGuard(original, name, original[name]))

    def _note_assigned(self, scope: dict, original: dict, names: Iterable) -> None:
        """Note global names that captured code assigns."""
        assigned = tuple([n for n in names if (id(scope), n) not in self._assigned])
        self._assigned |= {(id(scope), n) for n in assigned}
        if assigned:
            owner = standing_in(Globals(scope, original, assigned))
            self._note_opened(owner, owner)
            self.runtime.globals.setdefault(id(scope), []).append(owner)

    def _refuse_divided(
        self, name: str, original: dict, is_rewritten: bool, assigned: Iterable, used: Iterable
    ) -> None:
        """An error if one function assigns a global name that another reads, and only one of them is rewritten."""
        other = self._scopes.get((id(original), not is_rewritten), (original, {}))[1]
        shared = [n for n in assigned if n in other] + [n for n in used if (id(other), n) in self._assigned]
        if shared:
            raise UnstageableError(
                f"{name} shares the global name {shared[0]} with a function whose text is not at hand",
                why="one of them assigns it", do="define both in a file")

    def refuse_aliased_names(self) -> None:
        """An error if captured code has asked a dict of global names, `d = globals()` outside, and one of the two does
        not see what is assigned to the other.
        """
        for (_, is_rewritten), (original, scope) in self._scopes.items():
            see = self.seen if is_rewritten else self.swap
            stale = [
                n for n, x in self._asked_as(original).items()
                if (id(scope), n) in self._assigned or (n in scope and scope[n] is not x and scope[n] is not see(x))
            ]
            if stale:
                raise UnstageableError(
                    f"the global name {stale[0]} is assigned, and a dict of all global names is asked for it, too",
                    why="the program has a copy of the names", do="assign the name, or module.name, everywhere")

    def _asked_as(self, original: dict) -> dict:
        """A dict of global names as captured code sees it; empty if the code has not asked it."""
        if id(original) in self.indexed:
            return original
        return self._copies.get(id(original), ({}, {}))[1]

    # -- attributes of modules: the global names of their functions --------------------------------

    def has_functions(self, module: ModuleType) -> bool:
        """Whether functions of the module are captured. Those of others (warnings, sys) read its names as they stand.
        """
        names = vars(module)
        is_users = module.__name__ == "__main__" or is_captured(names.get("__file__") or "<frozen builtin>")
        return is_users or any((id(names), kind) in self._scopes for kind in (True, False))

    def assign(self, names: dict, name: str, value: object) -> None:
        """module.name = value: the functions of the module see it as a global name."""
        scope = self._scope(names, True)
        self._refuse_divided(names.get("__name__", ""), names, True, (name,), ())
        if name in names and name not in scope:
            self._fill_name(scope, names, name, self.seen)
        self._note_assigned(scope, names, (name,))
        note(*self.runtime.globals[id(scope)])
        scope[name] = value

    def refuse_assigned(self, names: dict, matters: Callable = lambda name: True) -> None:
        """An error if the names of a module are asked for as a whole, or deleted, and captured code assigns some that
        matter.
        """
        scopes = {id(scope) for scope in self._known_scopes(names)}
        if any(scope in scopes and matters(name) for scope, name in self._assigned):
            raise UnstageableError(
                f"the names of the module {names.get('__name__', '')} are asked for",
                why="the function assigns some, and a program assigns them when the call ends",
                do="read or write one name at a time")

    def _fill_builtin(self, scope: dict, name: str, f: FunctionType, see: Callable) -> None:
        """The stand-in for one of Python's own functions. Code that is not rewritten gets the class itself for `type(x)
        is int`.
        """
        override = BUILTIN_OVERRIDES[name]
        is_original = see == self.swap and isinstance(override, StandIn) and asks_identity(f.__code__)
        if not is_original and (see == self.swap or isinstance(override, StandIn)):
            scope[name] = override

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
