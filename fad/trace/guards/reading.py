"""Reads of captured code outside, beside the attributes of the user's objects: elements, one by one, attributes of
libraries' modules and objects, imports.
"""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ...ir.build import Builder, Value
from ...util.defects import for_user
from ...util.interrupts import reraise_interrupt
from ..frontend.numba_forms import is_of_jitclass
from . import guard as of
from . import python_objects
from .kinds import CONTAINERS


class Reading:
    """The part of a trace's capture that sees to these."""

    builder: Builder
    sources: list
    indexed: dict[int, Any]  # containers from outside of which captured code reads elements alone
    swap: Callable  # an outside value -> what captured code sees in its place
    seen: Callable  # the same of rewritten code
    runtime: Any
    _copies: dict[int, tuple]

    def __init__(self) -> None:
        self._read: dict[tuple, Any] = {}                     # (id of a jitclass's object, name) -> its array

    def index(self, value: object) -> Any:
        """The stand-in for an outside value of which captured code reads nothing but elements: a list, tuple or dict is
        itself, and its elements are looked at one by one.
        """
        if type(value) not in (list, tuple, dict) or self.builder.live or id(value) in self._copies:
            return self.seen(value)
        self.indexed[id(value)] = value
        return value

    @for_user
    def element(self, container: Any, key: Any, is_indexed: bool) -> Any:
        """An element of a container that is itself. If the element alone has no guard, the whole container gets one."""
        if id(container) not in self._copies and type(key) in (int, str):
            try:
                value = container[key]
            except (IndexError, KeyError) as error:
                reraise_interrupt(error)
            else:
                if isinstance(value, Value):  # the traced code has put it there
                    return value
                self.sources.append(of.of_element(container, key, value))
                return self.index(value) if is_indexed else self.seen(value)
        return self.swap(container)[key]

    @for_user
    def of_library(self, owner: object, name: str) -> Any:
        """An attribute of a library's module, class or object, or of super()."""
        if isinstance(owner, super):
            found, guards = python_objects.along(owner, name)
            self.sources += guards
            if isinstance(found, property) and type(found.fget) is FunctionType:
                return self.runtime.call(found.fget)(owner.__self__)  # type: ignore[attr-defined]
        lifted = self.builder.trace.lifted.get((id(owner), name))
        if lifted is not None:                                # a field of a jitclass
            return lifted
        if type(owner) is functools.partial and name in ("args", "keywords"):
            return getattr(self.swap(owner), name)            # its stand-in has those of what it was given
        value = getattr(owner, name)
        guards = python_objects.of_library(owner, name, value)
        self.sources += guards
        if is_of_jitclass(owner) and isinstance(value, np.ndarray):
            known = self._read.setdefault((id(owner), name), value)        # it may be another view at each read
            return self.swap(known if python_objects.is_same_thing(known, value) else value)
        return self.swap(value) if guards and isinstance(value, CONTAINERS) and not isinstance(owner, type) else value

    def imported(self, value: object, module: str, name: str) -> Any:
        """The value that an import in captured code has bound: a module, or what a module has under a name."""
        self.sources += python_objects.of_import(module, name, value)
        return self.seen(value)
