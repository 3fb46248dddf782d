"""How captured code makes objects. Python calls `__call__` of the metaclass, and this calls `__new__` and `__init__` of
the class. Those that are the user's functions are captured.
"""
import functools
from collections.abc import Callable
from dataclasses import _FIELD_INITVAR, _HAS_DEFAULT_FACTORY, MISSING  # type: ignore[attr-defined]
from inspect import signature
from types import FunctionType
from typing import Any

from ...ir.build import current
from ...util import tree
from ...util.defects import door
from ...util.errors import UnstageableError
from ..guards.by_python import GENERATED
from ..guards.guard import in_class, of_class
from ..guards.met import of_making
from ..heap.journal import made
from ..heap.opaque import noted
from ..heap.percall import watched_call
from ..lists.export import as_captured
from ..objects.containers import is_users
from ..objects.draws import note_generator
from ..regions import optional
from ..values.tracer import births
from .calls import is_tracing

_TYPES_CALL = type(type.__call__.__get__(int))                # bound: what super().__call__ of a metaclass is


_FACTORY, _INITVAR = type(_HAS_DEFAULT_FACTORY), _FIELD_INITVAR


def _is_followed(cls: Any, init: FunctionType) -> bool:
    """Whether dataclasses has written this `__init__`, and a method of the user's follows it."""
    is_written = hasattr(cls, "__dataclass_fields__") and init.__code__.co_filename == GENERATED
    return is_written and hasattr(cls, "__post_init__")


class Making:
    """Objects of classes, in the runtime of rewritten functions."""

    capture: Any
    call: Callable
    attribute: Callable
    set_attribute: Callable

    def maker(self, f: Any) -> "Callable | None":
        """Captured code's call of f where f makes objects: a class, or `super().__call__` in a metaclass."""
        if isinstance(f, type):
            return functools.partial(self._made, f)
        if type(f) is _TYPES_CALL and f.__name__ == "__call__" and isinstance(f.__self__, type):
            return functools.partial(self._instance, f.__self__)
        return None

    def _made(self, cls: Any, *args: Any, **kwargs: Any) -> Any:
        """cls(*args, **kwargs)"""
        call = in_class(type(cls), "__call__")
        if is_users(type(cls)) and isinstance(call, FunctionType):
            if is_tracing():
                current().trace.sources.append(of_class(type(cls), "__call__"))
            return self.call(call)(cls, *args, **kwargs)
        if is_users(cls) and call is type.__call__:
            return self._instance(cls, *args, **kwargs)
        return self._made_by_library(cls, args, kwargs) if is_tracing() else cls(*args, **kwargs)

    def _instance(self, cls: Any, *args: Any, **kwargs: Any) -> Any:
        """An object that the traced code makes: what its attributes are is nobody else's."""
        if not is_tracing():
            return self._initialized(cls, self._new(cls, args, kwargs), args, kwargs)
        if hasattr(cls, "__del__"):
            raise UnstageableError(
                f"{cls.__name__} has a __del__",
                why="a program does not know when objects go",
                do="make the object outside the function",
            )
        since = next(births)
        x = self._initialized(cls, self._new(cls, args, kwargs), args, kwargs)
        current().trace.sources += of_making(cls)
        current().trace.classes[cls] = None
        _note_attributes(x, since)
        return x

    @door
    def _new(self, cls: Any, args: tuple, kwargs: dict) -> Any:
        """What `__new__` gives: perhaps an object that has been there before, or one of another class."""
        new = cls.__new__
        if isinstance(new, FunctionType):
            return self._captured(new)(cls, *args, **kwargs)
        if new is object.__new__:                             # which refuses arguments that no __init__ takes
            takes_none = cls.__init__ is object.__init__
            return _own(new(cls, *args, **kwargs) if takes_none else new(cls))
        if not is_tracing():
            return new(cls, *args, **kwargs)
        note_new = noted(cls, args, kwargs)
        x = new(cls, *args, **kwargs)
        note_new(x)
        return _own(x)

    @door
    def _initialized(self, cls: Any, x: Any, args: tuple, kwargs: dict) -> Any:
        init = type(x).__init__ if isinstance(x, cls) else object.__init__
        if isinstance(init, FunctionType) and _is_followed(cls, init):
            self._filled(x, init, args, kwargs)
        elif isinstance(init, FunctionType):
            self._captured(init)(x, *args, **kwargs)
        elif init is not object.__init__:
            init(x, *args, **kwargs)
        return x

    def _filled(self, x: Any, init: FunctionType, args: tuple, kwargs: dict) -> None:
        """What the `__init__` does that dataclasses has written, which has no text: its fields in order, then
        __post_init__.
        """
        given = signature(init).bind(x, *args, **kwargs)
        given.apply_defaults()
        passed_on: list = []
        owner: Any = next(c for c in type(x).__mro__ if vars(c).get("__init__") is init)
        for field in owner.__dataclass_fields__.values():
            value = given.arguments.get(field.name, field.default)
            if field.init and type(value) is _FACTORY or not field.init and field.default_factory is not MISSING:
                value = self.call(field.default_factory)()
            elif not field.init:
                continue
            if field._field_type is _INITVAR:
                passed_on.append(value)
            elif owner.__dataclass_params__.frozen:
                object.__setattr__(x, field.name, value)
            else:
                self.set_attribute(value, x, field.name)
        self.call(self.attribute(x, "__post_init__"))(*passed_on)

    def _captured(self, f: FunctionType) -> Callable:
        """What is called for a `__new__` or an `__init__`, which may be a library's."""
        new = self.capture.swap(f)
        return self.call(f) if new is f else new

    @door
    def _made_by_library(self, cls: Any, args: tuple, kwargs: dict) -> Any:
        since = next(births)
        optional.need(*tree.flatten((args, kwargs))[0])
        note_new = noted(cls, args, kwargs)
        x = watched_call(cls, args, kwargs)
        note_new(x)
        current().trace.sources += of_making(cls)
        current().trace.inside[id(x)] = x
        current().trace.classes[cls] = None
        _note_attributes(x, since)
        return x


def _own(x: Any) -> Any:
    """x, which the trace has made."""
    if is_tracing():
        made(x)
        current().trace.inside[id(x)] = x
    return x


def _note_attributes(x: Any, since: int) -> None:
    """Take what an object holds as if all that made it were captured code."""
    attributes = getattr(x, "__dict__", {}) if is_users(x) else {}
    for part in attributes.values():
        note_generator(part)
    known: dict[int, Any] = {}
    for name, part in attributes.items():
        attributes[name] = as_captured(part, known, since)
