"""Keywords of fad's own functions: one that is not known is refused with the one that was meant."""
import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import ArgumentError
from .interrupts import interrupt_behind, reraise_interrupt
from .nearest import nearest

F = TypeVar("F", bound=Callable)
ELSEWHERE = {  # name in other libraries -> name here, where it is a keyword
    "argnum": "argnums", "wrt": "argnums", "argnames": "argnums", "in_dims": "in_axes", "out_dims": "out_axes",
    "aux": "has_aux", "inputs": "primals", "args": "primals", "vectors": "tangents", "filename": "path", "file": "path"}


def named_as_here(f: F) -> F:
    """Decorate a public function. For an unknown keyword it raises ArgumentError with the name that is used here, and
    likewise for a missing argument.

    >>> @named_as_here
    ... def grad(f, argnums=0):
    ...     return argnums
    >>> grad(None, argnum=1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fad.util.errors.ArgumentError: grad takes no argument 'argnum'
      ...
      do: it is called argnums here
    """
    parameters = inspect.signature(f).parameters.values()
    known = frozenset(p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD))
    takes_any = any(p.kind == p.VAR_KEYWORD for p in parameters)             # keywords of the user's function

    @functools.wraps(f)
    def call(*args: object, **kwargs: object) -> Any:
        if kwargs and not takes_any and not known.issuperset(kwargs):
            raise _unknown(f, next(k for k in kwargs if k not in known), known)
        try:
            return f(*args, **kwargs)
        except TypeError as error:
            reraise_interrupt(error)
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise                                         # not of the call itself, but of what f does
            raise ArgumentError(str(error).replace("()", "", 1), do=f"call it as {f.__name__}{_plain(f)}") from None
    return call                                               # type: ignore[return-value]


def signature_of(f: Any) -> "inspect.Signature | None":
    """A callable's signature; None if it has none, as some functions of C.

    >>> signature_of(signature_of), signature_of(max)
    (<Signature (f: Any) -> 'inspect.Signature | None'>, None)
    """
    handled = sys.exc_info()[1]
    try:
        return inspect.signature(f)
    except (TypeError, ValueError) as error:
        interrupt = interrupt_behind(error, handled)  # the standard library turns errors of these classes into its own
        if interrupt is not None:
            raise interrupt from None
        return None


def check_options(f: Callable, target: Callable, options: dict) -> None:
    """Raise ArgumentError for an option of f, a public function, that it hands on to a function which does not take it.

    >>> check_options(sorted, sorted, {"key": None})
    """
    known = inspect.signature(target).parameters
    if any(p.kind == p.VAR_KEYWORD for p in known.values()):
        return
    for name in options:
        if name not in known:
            raise _unknown(f, name, frozenset(known) - {"kwargs"}, target)


def _plain(f: Callable) -> inspect.Signature:
    """A function's signature without annotations."""
    signature = inspect.signature(f)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return signature.replace(parameters=bare, return_annotation=signature.empty)


def _unknown(f: Callable, name: str, known: frozenset, target: "Callable | None" = None) -> ArgumentError:
    meant = ELSEWHERE.get(name, "")
    meant = meant if meant in known else nearest(name, known)
    listed = ", ".join(p for p in inspect.signature(target or f).parameters if p in known)
    return ArgumentError(f"{f.__name__} takes no argument {name!r}",
                         do=f"it is called {meant} here" if meant else f"its arguments are {listed}")
