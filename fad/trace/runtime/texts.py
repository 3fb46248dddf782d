"""Texts of users' objects, as captured code makes them: their __str__, __repr__ and __format__ are captured.

    f"{model}", str(model), "%s" % model        ->   the captured method
    str([model]), "%r" % (model,)               ->   Python's own, of a Speaker in the place of the object
"""
import functools
from collections import deque
from collections.abc import Callable
from types import BuiltinMethodType
from typing import Any

from ...ir import stack
from ...ir.build import current
from ...util.defects import for_user
from ..guards.escapes import hand_over
from ..guards.guard import in_class
from ..lists.items import Items
from ..values import templates, text
from ..values.number_texts import followed
from .calls import is_tracing
from .library import has_traced
from .parts import RuntimePart

_METHODS = {str: "__str__", repr: "__repr__", format: "__format__"}
_NEXT = {str: repr, format: str}                              # what the methods of `object` ask
_CONTAINERS = (list, tuple, dict, deque)
_DEEPEST = 20                                                 # of lists in lists; they may hold themselves


class Speaker:
    """An object's place where Python makes a text: it says what the captured methods say."""

    __slots__ = ("said", "x")

    def __init__(self, said: Callable, x: Any):
        self.said, self.x = said, x

    def _text(self, make: Callable, *spec: str) -> str:
        found = self.said(make, self.x, *spec)
        return make(self.x, *spec) if found is None else text.resolved(found)

    def __str__(self) -> str:
        return self._text(str)

    def __repr__(self) -> str:
        return self._text(repr)

    def __format__(self, spec: str) -> str:
        return self._text(format, spec)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.x, name)

    def __getitem__(self, key: Any) -> Any:
        return self.x[key]


class Texts(RuntimePart):
    """The part of the runtime (see control.py) that makes texts."""

    joined = staticmethod(text.joined)

    @for_user
    def text(self, make: Any, *args: Any, **kwargs: Any) -> Any:
        """str(x), repr(x), ascii(x) and format(x, spec)"""
        found = self._said(make, *args) if args and not kwargs else None
        return self.known_builtin(make)(*map(self._speaking, args), **kwargs) if found is None else found

    def printed(self, *args: object, **kwargs: object) -> None:
        """print(*args)"""
        self.known_builtin(print)(*map(self._speaking, args), **kwargs)

    def formatted(self, x: Any, conversion: int = -1, spec: object = "") -> Any:
        """{x!r:spec} in an f-string"""
        make = text.CONVERSIONS[conversion]
        found = self._said(format, x, text.resolved(spec)) if conversion == -1 else self._said(make, x)
        if found is None:
            self.show(x)
            return text.formatted(self._speaking(x), conversion, spec)
        return found if conversion == -1 else text.formatted(found, -1, spec)

    def percent(self, template: str, given: object) -> Any:
        """template % given"""
        self.show(given)
        return followed("a text", [template, given], templates.percent, template, self._speaking(given))

    def fills(self, f: Any) -> "Callable | None":
        """The function that is called for the method `format` of a text; None of any other function."""
        is_it = type(f) is BuiltinMethodType and f.__name__ == "format" and type(f.__self__) is str
        return functools.partial(self._filled, f.__self__) if is_it else None

    @for_user
    def _filled(self, template: str, *args: object, **kwargs: object) -> Any:
        """template.format(*args, **kwargs)"""
        args, kwargs = tuple(map(self._speaking, args)), {k: self._speaking(x) for k, x in kwargs.items()}
        fill = templates.format_method if is_tracing() else str.format
        return followed("a text", [template, *args, *kwargs.values()], fill, template, *args, **kwargs)

    def show(self, x: object) -> None:
        """Note that x is read by code that is not captured: a text is made of it, a pattern asks for its attributes."""
        if is_tracing():
            hand_over(current().root, (x,), has_traced)

    def _said(self, make: object, x: object = "", *spec: str) -> "str | None":
        """The text of a user's object by its captured method; None where there is none."""
        method = self._text_method(make, x)
        if method is None or (spec and method[0] is not format and spec != ("",)):
            return None
        return method[1](x, *(spec or ("",)) if method[0] is format else ())

    def _text_method(self, make: object, x: object) -> "tuple | None":
        """The function among str, repr and format that this comes to, and the captured method."""
        name = _METHODS.get(make)
        if name is None or not stack.builders():
            return None
        if make in _NEXT and in_class(type(x), name) is getattr(object, name):
            return self._text_method(_NEXT[make], x)
        method = self.special(x, name)
        return None if method is None else (make, method)

    def _speaking(self, x: Any, depth: int = 0) -> Any:
        """x with Speakers in the place of the users' objects in it."""
        if type(x) in (*_CONTAINERS, Items) and len(x) and depth < _DEEPEST:
            items = list(x.values()) if isinstance(x, dict) else list(x)
            new = [self._speaking(y, depth + 1) for y in items]
            if all(y is before for y, before in zip(new, items)):
                return x
            return dict(zip(x, new)) if isinstance(x, dict) else list(new) if type(x) is Items else type(x)(new)
        is_asked = any(self._text_method(make, x) is not None for make in (str, repr, format))
        return Speaker(self._said, x) if is_asked else x
