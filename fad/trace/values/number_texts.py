"""Texts of numbers that a derivative is being taken through, on the tape.

    t = f"{x},{y}"                              a text that says x: it is noted
    a = t.split(",")[0]; file.write(t)          what is made of it, or has taken it, is noted, too
    float(a), Decimal(a), np.loadtxt(file)      a number is read from it. Its derivative would be lost: an error

Texts may be printed, logged, kept and compared. Once there is one, all calls of code that is not captured are looked
at. Texts are known by identity, so one from elsewhere that says the same is none of them.
"""
import io
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from types import FunctionType, ModuleType

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...util.defects import for_user
from ...util.errors import NoDerivativeError
from ...util.reach import reached, referents
from ...util.where import is_captured_class
from ..guards.escapes import HAND_ON
from ..guards.purity import is_effect, is_question
from ..objects.containers import CHANGING

TEXTUAL = (str, bytes, bytearray)
_NUMBERS = (float, complex, np.inexact, Decimal, Fraction)
_INERT = (int, np.generic, type(None), type, Value, ModuleType, FunctionType)
_HOLDING = (list, tuple, dict, set, frozenset)
_BUFFERS = (io.StringIO, io.BytesIO)
_RUNNING = (exec, eval, hash)                                 # what they read does not show in their result
_MOST = 10_000                                                # things in containers that are looked at


class NumberTexts:
    """The texts of one tape, and what was made of them."""

    def __init__(self) -> None:
        self.told = 0                                         # numbers whose texts were made
        self.known: dict[int, object] = {}
        self.has_left = False                                 # one is in a file, or with another process

    def are_in(self, things: Iterable) -> bool:
        return bool(self.known) and any(id(x) in self.known for x in _within(things))

    def note(self, result: object, given: Iterable, how: str) -> None:
        """Note what was made of a text among what was given. An error if that is a number."""
        own = {id(x) for x in _within(given)}
        for x in _within([result]):
            kind = x.dtype.kind if isinstance(x, np.ndarray) else "O"
            is_number = isinstance(x, _NUMBERS) or (isinstance(x, Value) and not current().moves(x)) or kind in "fc"
            if is_number and id(x) not in own:
                raise lost(how)
            is_short = isinstance(x, TEXTUAL) and len(x) < 2  # all have one and the same text of a character
            if not (is_number or isinstance(x, (*_INERT, *_HOLDING)) or kind in "biu" or is_short):
                self.known.update({} if is_captured_class(type(x)) else {id(x): x})


def tell(x: Value) -> None:
    """Note that the text of a traced value is made."""
    if stack.is_live() and current().moves(x):
        _texts().told += 1


@for_user
def followed(how: str, given: Iterable, make: Callable, *args: object, **kwargs: object) -> object:
    """make(*args, **kwargs), which looks at what is given."""
    if not stack.is_live():
        return make(*args, **kwargs)
    texts = _texts()
    before = texts.told
    result = make(*args, **kwargs)
    if texts.told != before or texts.are_in(given):
        texts.note(result, given, how)
    return result


def of_noted(x: object) -> bool:
    """Whether x is such a text, or was made of one."""
    return stack.is_live() and id(x) in _texts().known


@for_user
def called(f: object, make: Callable, *args: object, **kwargs: object) -> object:
    """make(*args, **kwargs), the call of f, which is not captured."""
    if not stack.is_live():
        return make(*args, **kwargs)
    texts, owner, name = _texts(), getattr(f, "__self__", None), getattr(f, "__name__", "a function")
    given = [*args, *kwargs.values()]
    if texts.known and any(f is x for x in _RUNNING) and texts.are_in(given):
        raise lost(name)
    before = texts.told
    result = make(*args, **kwargs)
    if texts.told == before and not texts.known and not texts.has_left:
        return result
    if isinstance(owner, CHANGING) or (isinstance(f, (type, *map(type, (len, iter)))) and f in HAND_ON):
        looked_at = [x for x in given if not isinstance(x, (*TEXTUAL, *_HOLDING))]
    else:
        looked_at = given if owner is None or isinstance(owner, ModuleType) else [owner, *given]
    if texts.told != before or texts.are_in(looked_at):
        texts.note(result, given, name)
        files = [x for x in (owner, *given) if isinstance(x, io.IOBase)]
        texts.known.update({id(x): x for x in files})
        texts.has_left |= is_effect(f) or any(not isinstance(x, _BUFFERS) for x in files)
    elif texts.has_left and (is_effect(f) or is_question(f)):
        texts.note(result, given, name)
    return result


def items_of(it: object) -> object:
    """An iterator (a file, say); its items are noted if it is."""
    return _noting(it) if isinstance(it, Iterable) and of_noted(it) and not isinstance(it, TEXTUAL) else it


def _noting(it: Iterable) -> Iterator:
    for x in it:
        _texts().note(x, (), "a loop")
        yield x


def _texts() -> NumberTexts:
    root = current().root
    root.texts = root.texts or NumberTexts()
    return root.texts                                         # type: ignore[no-any-return]


def _within(things: Iterable) -> Iterator:
    """These things, and those in containers of Python's."""
    def parts(x: object) -> Iterable:
        is_of_objects = isinstance(x, np.ndarray) and x.dtype.hasobject
        return referents(x) if is_of_objects or isinstance(x, _HOLDING) else ()
    return islice(reached(things, parts), _MOST)


def lost(how: str) -> NoDerivativeError:
    return NoDerivativeError(
        f"{how} reads a number from a text that was made of a number which is differentiated",
        why="a text has no derivative, so that of the number would be lost",
        do="use the number itself (np.round for fewer digits), or make the text of fad.stop_gradient(x)")
