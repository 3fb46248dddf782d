"""The keywords of the functions that overrides stand for: what an override does not take is refused, unless it changes
nothing.

An override's signature says what it does. So a keyword of the original that the override does not have may be given its
default, or a value that leaves the result as it is (CHANGE_NOTHING); every other one is refused here, once for all
functions.
"""
import inspect
import math
import types
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..util.errors import UnsupportedFunctionError
from ..util.keywords import signature_of as plain_signature_of


def _any(value: object) -> bool:
    return True


# what the keyword of this name may be without a change of any result (by more than rounding)
CHANGE_NOTHING: dict[str, Callable] = {
    "subok": _any, "workers": _any, "lwork": _any, "blocksize": _any, "symbol": _any, "variable": _any, "solver": _any,
    "solver_args": _any, "stable": _any, "check_finite": _any,
    "driver": lambda x: x in (None, "ev", "evd", "evr", "evx", "gv", "gvd", "gvx"),
    "lapack_driver": lambda x: x in ("gesdd", "gesvd", "gelsd", "gelss", "auto", "stemr", "stebz", "sterf", "stev"),
    "device": lambda x: x in (None, "cpu"), "xp": lambda x: x in (None, np),
    "kind": lambda x: x in (None, "quicksort", "mergesort", "heapsort", "stable", "sort", "table", "introselect"),
}


class _Taken(NamedTuple):
    """The signature of an override: names of parameters, how many by their place, whether any keyword; how many
    arguments the original takes by their place.
    """

    names: frozenset
    places: int
    any_keyword: bool
    most: float


@lru_cache(None)
def _taken(original: object, call: Callable) -> _Taken:
    found = inspect.signature(call).parameters.values()
    names = frozenset(p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    by_place = [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind == p.VAR_POSITIONAL for p in found):
        places = 10**9
    else:
        own = _names_of_places(original)
        skipped = [k for k, (a, b) in enumerate(zip(by_place, own)) if a != b and b not in names and a in own]
        places = min(skipped, default=len(by_place))           # a parameter that the override does without stands there
    most = _most_places(original)
    if isinstance(original, types.BuiltinFunctionType):
        most = max(most, places)                # its signature is a text beside the C code: np.arange's hides a place
    return _Taken(names, places, any(p.kind == p.VAR_KEYWORD for p in found), most)


def _most_places(original: object) -> float:
    signature = None if isinstance(original, np.ufunc) else signature_of(original)
    if signature is None or any(p.kind == p.VAR_POSITIONAL for p in signature.parameters.values()):
        return math.inf
    return len(_names_of_places(original))


signature_of = lru_cache(None)(plain_signature_of)         # of NumPy's functions and methods


_COPY = {np._CopyMode.ALWAYS: True, np._CopyMode.NEVER: False, np._CopyMode.IF_NEEDED: None}


def fitted(name: str, original: object, call: Callable, args: tuple, kwargs: dict) -> "tuple[tuple, dict]":
    """The arguments of a call of the original as its override takes them.

    A keyword that the override does not take, and that would change the result, is an error.
    """
    taken = _taken(original, call)
    if isinstance(kwargs.get("copy"), np._CopyMode):
        kwargs = {**kwargs, "copy": _COPY[kwargs["copy"]]}
    if len(args) > taken.most:
        raise TypeError(f"{name}() takes {int(taken.most)} positional arguments but {len(args)} were given")
    if not kwargs and len(args) <= taken.places:
        return args, kwargs
    given = dict(kwargs)
    if len(args) > taken.places:
        further = _names_of_places(original)[taken.places:len(args)]
        if len(further) < len(args) - taken.places:
            return args, kwargs  # the original has an unknown signature: the override says so
        args, given = args[:taken.places], {**dict(zip(further, args[taken.places:])), **given}
    return args, {k: x for k, x in given.items() if _is_needed(name, original, taken, k, x)}


def _names_of_places(original: object) -> list:
    signature = signature_of(original)
    parameters = [] if signature is None else signature.parameters.values()
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _is_needed(name: str, original: object, taken: _Taken, key: str, value: object) -> bool:
    """Whether a keyword goes to the override. One that does not is a default, or changes nothing."""
    if key in taken.names or taken.any_keyword:
        return True
    signature = signature_of(original)
    parameters = {} if signature is None else signature.parameters
    is_open = signature is None or any(p.kind == p.VAR_KEYWORD for p in parameters.values())
    if key not in parameters and not is_open:
        raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
    if value is None:
        return False
    if key in parameters:
        default = parameters[key].default
        if value is default or (type(value) is type(default) and value == default):
            return False
    if key.startswith("overwrite_") or key in CHANGE_NOTHING and CHANGE_NOTHING[key](value):
        return False
    raise UnsupportedFunctionError(f"{name} does not take {key}={value!r} on traced arrays",
                                   why="fad has no record of what this keyword does",
                                   do="leave it out, or give the function a rule with fad.custom_vjp")


@lru_cache(None)
def _overwrites(original: object) -> tuple:
    """(a keyword, its place, the place and the name of the parameter whose memory it gives away) of the original."""
    signature = signature_of(original)
    names = [] if signature is None else list(signature.parameters)

    def given_away(key: str) -> int:
        own = key.removeprefix("overwrite_")
        return names.index(own) if own in names else 0
    keys = [(at, key) for at, key in enumerate(names) if key.startswith("overwrite_")]
    return tuple([(key, at, given_away(key), names[given_away(key)]) for at, key in keys])


def overwritten(original: object, args: tuple, kwargs: dict) -> list:
    """(the keyword, the argument) of those arguments whose memory a call gives away (overwrite_a=True)."""
    return [(key, args[place] if place < len(args) else kwargs.get(name))
            for key, at, place, name in _overwrites(original)
            if (args[at] if at < len(args) else kwargs.get(key, False))]
