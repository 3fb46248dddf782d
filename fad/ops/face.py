"""The registry of faces: which of NumPy's, SciPy's and math's functions fad knows, and how each is written in ops."""
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ..ir.op import Op


class Face(NamedTuple):
    """One public function: its dotted name, how it is written in ops, what the docs and the laws need to know.

    creation: whether it makes arrays from numbers alone (np.zeros), so that a call without traced arguments is traced too.
    samples:  expressions in x, v, S, P, i (see tests/laws) on which its derivatives are tested.
    note:     what the docs say of its differentiability ("" is: everywhere).
    """

    name: str
    call: Callable
    creation: bool = False
    samples: tuple = ()
    note: str = ""


BY_NAME: dict[str, Face] = {}              # "numpy.sum", "scipy.special.erf", "math.sin"
METHODS: dict[str, Callable] = {}          # methods and properties' functions of arrays: "sum", "reshape", ...
PROPERTIES: dict[str, Callable] = {}       # "T", "real", ...
OBJECTS: dict[int, Any] = {}               # id of an object that is subscripted (np.r_) -> what it means in ops
_by_object: dict[Any, Face] = {}
_unresolved: set[str] = set()


def face(*names: str, method: str = "", property: str = "", creation: bool = False, samples: tuple = (), note: str = "") -> Callable:
    """Decorator: this function is what the named functions mean, and the array method (or property) of that name."""
    def register(call: Callable) -> Callable:
        for name in names:
            add_face(name, call, creation=creation, samples=samples, note=note)
        if method:
            METHODS[method] = call
        if property:
            PROPERTIES[property] = call
        return call
    return register


def add_face(name: str, call: Callable, **facts: Any) -> None:
    """Register one face under one dotted name."""
    if name in BY_NAME:
        raise ValueError(f"two faces for {name}")
    BY_NAME[name] = Face(name, call, **facts)
    _unresolved.add(name)


def add_ufunc(op: Op, *names: str, samples: tuple = (), note: str = "") -> None:
    """An op that is a ufunc's face: the names it answers to."""
    for name in names:
        add_face(name, op, samples=samples, note=note)


def _resolve_loaded() -> None:
    """Find the functions of names whose modules are loaded by now; SciPy's are never loaded for their sake."""
    for name in list(_unresolved):
        owner = _loaded(name.rpartition(".")[0])
        if owner is not None:
            _unresolved.discard(name)
            target = getattr(owner, name.rpartition(".")[2], None)
            if target is not None:
                _by_object.setdefault(target, BY_NAME[name])


def _loaded(name: str) -> Any:
    """The module of this name, or the class (whose methods have faces), if it is there without loading anything."""
    if name in sys.modules:
        return sys.modules[name]
    module, _, attribute = name.rpartition(".")
    return vars(sys.modules[module]).get(attribute) if module in sys.modules else None


def find(function: Any) -> "Face | None":
    """The face of a function or ufunc, or None."""
    try:
        found = _by_object.get(function)
    except TypeError:                       # not hashable, so no function of a library
        return None
    if found is None and _unresolved:
        _resolve_loaded()
        found = _by_object.get(function)
    return found
