"""Objects that captured code makes: by their metaclass's __call__, their __new__ and their __init__, as Python makes
them (language reference, section 3.3.3). Those of the user's are captured, in a trace and on a tape.
"""
import functools
from collections.abc import Callable
from types import FunctionType, GeneratorType, MethodType, MethodWrapperType
from typing import Any

from ...ir import stack
from ...ir.build import current
from ...util import tree
from ...util.errors import UnstageableError
from ...util.own import own_attribute, own_dict
from ..frontend.functions import is_user_function
from ..guards.guard import in_class
from ..guards.implicit_calls import GENERATED
from ..guards.python_objects import of_making
from ..heap.deaths import is_told_to_go
from ..heap.journal import journal, made, note
from ..heap.opaque import noted
from ..heap.percall import watched_call
from ..lists.export import as_captured
from ..objects.containers import CHANGING, attributes, is_users
from ..objects.draws import note_generator
from ..regions import optional
from ..values.tracer import serials
from .calls import is_alone, is_tracing
from .parts import RuntimePart

_CALL = type.__dict__["__call__"]


class Instances(RuntimePart):
    """The part of the runtime (see control.py) that makes objects of classes."""

    def making(self, f: object) -> "Callable | None":
        """The function that is called for a class, or for what a metaclass calls to make an instance; None of anything
        else.
        """
        if f is _CALL:
            return self._instance
        if isinstance(f, MethodWrapperType) and f.__name__ == "__call__" and isinstance(f.__self__, type):
            return functools.partial(self._instance, f.__self__)
        return functools.partial(self.made_of, f) if isinstance(f, type) else None

    def made_of(self, cls: Any, *args: Any, **kwargs: Any) -> Any:
        """cls(...): an object that the traced code makes. Its attributes do not escape."""
        if not stack.builders():
            return cls(*args, **kwargs)
        if is_told_to_go(cls) and not stack.is_live():
            raise UnstageableError(
                f"{cls.__name__} has a __del__",
                why="objects that the function makes stay until its trace has ended",
                do="make the object outside the function",
            )
        since = next(serials)
        make = self.special(cls, "__call__")                  # of the metaclass
        if make is None:
            make = self._instance if in_class(type(cls), "__call__") is _CALL else self._by_python
        x = make(cls, *args, **kwargs)
        if is_tracing():
            current().trace.classes[cls] = None
            self._see_to_attributes(x, since)
        return x

    def _instance(self, cls: Any, *args: Any, **kwargs: Any) -> Any:
        """type.__call__(cls, ...)"""
        new, init = cls.__new__, cls.__init__
        is_own = is_user_function(new, self.capture.packages) and new.__code__.co_filename != GENERATED
        if not is_users(cls) or not (is_own or (type(init) is FunctionType and type(new) is not FunctionType)):
            return self._by_python(cls, *args, **kwargs)
        if is_own:
            x = self.call(new)(cls, *args, **kwargs)
        else:
            x = made(new(cls) if new is object.__new__ else new(cls, *args, **kwargs))
        if is_tracing():
            current().trace.sources += of_making(cls)
            if id(x) in journal().made:
                current().trace.inside[id(x)] = x
        if isinstance(x, cls) and type(type(x).__init__) is FunctionType:
            init = type(x).__init__
            captured = self.capture.swap(init)
            (self.call(init) if captured is init else captured)(self.acted_on(init, x), *args, **kwargs)
        return x

    def _by_python(self, cls: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_tracing():
            return made(cls(*args, **kwargs))
        optional.need(*tree.flatten((args, kwargs))[0])
        note_new = noted(cls, args, kwargs)
        x = watched_call(cls, args, kwargs)
        note_new(x)
        current().trace.sources += of_making(cls)
        current().trace.inside[id(x)] = x
        return x

    def _see_to_attributes(self, x: object, since: int) -> None:
        """Let the attributes of a new object be as if captured code had made them."""
        if not (is_tracing() and is_users(x) and id(x) in current().trace.inside):
            return
        known: dict[int, Any] = {}
        held = _Attributes(x)
        for name in list(attributes(x)):
            note_generator(held[name])                        # no name for the part: it would not be alone
            is_new = type(held[name]) in CHANGING and is_alone(held, name)   # a dataclass's default_factory
            is_new |= type(held[name]) is GeneratorType and id(held[name]) not in journal().made
            part = as_captured(made(held[name]) if is_new else held[name], known, since)
            if part is not held[name]:
                held[name] = part

    # -- the __init__ that a dataclass has got without a text --------------------------------------------------

    def initialise(self, f: Any, *args: object, **kwargs: object) -> None:
        """Call a dataclass's __init__ for an object of a class that is derived from it: Base.__init__(x), or
        super().__init__().
        """
        init, (owner, *rest) = (f.__func__, (f.__self__, *args)) if type(f) is MethodType else (f, args)
        since = next(serials)
        self.capture.swap(init)(self.acted_on(init, owner), *rest, **kwargs)
        self._see_to_attributes(owner, since)

    def acted_on(self, f: Callable, owner: Any) -> Any:
        """The `self` of a method of the owner's. Python's own text of a dataclass's __init__ calls the user's
        __post_init__ when all fields are there: it gets an object in the owner's place, which has the runtime read and
        write for it.
        """
        if not (is_init_of_dataclass(f) and "__post_init__" in f.__code__.co_names):
            return owner
        since = next(serials)

        def ask(_: object, name: str) -> object:
            self._see_to_attributes(owner, since)
            return self.call(self.attribute(owner, name))
        fields = {name: self._field(owner, name) for name in type(owner).__dataclass_fields__}
        return type(type(owner).__name__, (), {"__getattr__": ask, **fields})()

    def _field(self, owner: Any, name: str) -> property:
        """An attribute of what stands in the owner's place. A frozen owner is made past its own __setattr__."""
        def write(_: Any, value: Any) -> None:
            if type(owner).__dataclass_params__.frozen:
                note(owner)
                object.__setattr__(owner, name, value)
            else:
                self.set_attribute(value, owner, name)
        return property(lambda _: self.attribute(owner, name), write)


def is_init_of_dataclass(f: object) -> bool:
    """Whether f is the __init__ that Python has written for a dataclass; nobody has its text."""
    return type(f) is FunctionType and f.__code__.co_filename == GENERATED and f.__name__ == "__init__"


class _Attributes:
    """An object's own attributes, by their names, past the methods that its class may have for this."""

    def __init__(self, owner: object):
        self.owner = owner

    def __getitem__(self, name: str) -> object:
        own = own_dict(self.owner) or {}
        return own[name] if name in own else own_attribute(self.owner, name)

    def __setitem__(self, name: str, x: object) -> None:
        own = own_dict(self.owner) or {}
        if name in own:
            own[name] = x
        else:
            object.__setattr__(self.owner, name, x)
