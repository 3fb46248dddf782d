"""The registry of faces: which of NumPy's, SciPy's and math's functions fad knows, and how each is written in ops.

Faces of libraries that few programs use are loaded when the first function of that library is met (LATER).
"""
import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ..ir.op import Op, registry
from ..ir.types import type_of
from ..util.interrupts import let_through
from ..util.lazy import imported
from ..util.where import module_name
from .kinds import shape_of
from .literals import as_array
from .precision import PRECISIONS


class Face(NamedTuple):
    """One public function: its dotted name, how it is written in ops, what the docs and the laws need to know.

    creation: whether it makes arrays from numbers alone (np.zeros), so that a call without traced arguments is traced
    too.
    samples:  expressions in x, v, S, P, i (see tests/laws) on which its derivatives are tested.
    note:     what the docs say of its differentiability ("" is: everywhere).
    routine:  whether it is plain NumPy, to be captured as the user's own functions are (see fad/routines).
    """

    name: str
    call: Callable
    creation: bool = False
    samples: tuple = ()
    note: str = ""
    routine: bool = False


NOT_FINITE = "array must not contain infs or NaNs"
# a library's module -> the modules of ops/numpy_api with its faces, until they are loaded
LATER: dict[str, tuple[str, ...]] = {}
LIBRARIES = {"numpy", "scipy", "math", "cmath", "statistics"}


class _Faces(dict):
    """The faces by name; whoever asks for one that is not loaded has it loaded."""

    def __missing__(self, name: str) -> Face:
        owner = name.rpartition(".")[0]
        while owner and owner not in LATER:
            owner = owner.rpartition(".")[0]
        _load(owner)
        if name not in self:
            raise KeyError(name)
        return self[name]


BY_NAME: dict[str, Face] = _Faces()        # "numpy.sum", "scipy.special.erf", "math.sin"
METHODS: dict[str, Callable] = {}          # methods and properties' functions of arrays: "sum", "reshape", ...
OF_NUMBERS: "dict[str, Callable]" = {}                        # methods that numbers have, and arrays have not
PROPERTIES: dict[str, Callable] = {}       # "T", "real", ...
OBJECTS: dict[int, Any] = {}               # id of an object that is subscripted (np.r_) -> what it means in ops
_by_object: dict[Any, Face] = {}
_looked_at = (0, 0)                                           # how many modules and faces there were
_unresolved: dict[str, dict[str, Face]] = {}  # a module (or class) -> the faces of its functions, until that is loaded


def face(*names: str, method: str = "", property: str = "", creation: bool = False, samples: tuple = (), note: str = "",
         routine: bool = False, precision: str = "") -> Callable:
    """Decorator: this function is what the named functions mean, and the array method (or property) of that name.
    precision: of its results, where its formulas do not see to that (see precision.py)."""
    def register(call: Callable) -> Callable:
        call = PRECISIONS[precision](finite_inputs(call), *names[:1])
        for name in names:
            add_face(name, call, creation=creation, samples=samples, note=note, routine=routine)
        if method:
            METHODS[method] = call
        if property:
            PROPERTIES[property] = call
        return call
    return register


def finite_inputs(call: Callable) -> Callable:
    """The face itself. If SciPy's function has `check_finite`, it is a face that raises as SciPy does for an infinity
    or a nan in an array."""
    code = getattr(inspect.unwrap(call), "__code__", None)
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount] if code else ()
    if "check_finite" not in names:
        return call
    place, default = names.index("check_finite"), inspect.signature(call).parameters["check_finite"].default

    @functools.wraps(call)
    def checked(*args: object, **options: object) -> Any:
        if options.get("check_finite", args[place] if place < len(args) else default):
            check_finite(*args, *options.values())
        return call(*args, **options)
    return checked


def check_finite(*xs: object) -> None:
    """A check, when the program runs, that arrays (in tuples, too) hold no infinity and no nan."""
    for x in xs:
        if isinstance(x, tuple):
            check_finite(*x)
            continue
        x = as_array(x) if isinstance(x, list) else x
        if shape_of(x) and type_of(x).dtype.kind in "fc":
            finite = registry["all"](registry["isfinite"](x), axes=tuple(range(len(shape_of(x)))))
            registry["check_that"](finite, True, what=NOT_FINITE, error="ValueError")


def add_face(name: str, call: Callable, **facts: Any) -> None:
    """Register one face under one dotted name."""
    if name in BY_NAME:
        raise ValueError(f"two faces for {name}")
    BY_NAME[name] = Face(name, call, **facts)
    owner, _, attribute = name.rpartition(".")
    _unresolved.setdefault(owner, {})[attribute] = BY_NAME[name]


def add_ufunc(op: Op, *names: str, samples: tuple = (), note: str = "") -> None:
    """An op that is a ufunc's face: the names it answers to."""
    for name in names:
        add_face(name, op, samples=samples, note=note)


def _load(owner: str) -> None:
    for name in LATER.get(owner, ()):
        imported(f"{__package__}.numpy_api.{name}")
    LATER.pop(owner, None)                  # not before: another thread may ask meanwhile


def load_all() -> None:
    """Load every face, and with them every op."""
    for owner in list(LATER):
        _load(owner)


registry.rest = load_all                    # type: ignore[attr-defined]


def _load_met() -> None:
    """Load the faces of libraries that are loaded themselves; no library is for their sake."""
    for owner in [owner for owner in LATER if owner in sys.modules]:
        _load(owner)


def _resolve_loaded() -> None:
    """Find the functions of the names whose modules are loaded by now."""
    global _looked_at
    there = len(sys.modules), len(BY_NAME)
    if there == _looked_at:
        return
    for place, faces in list(_unresolved.items()):
        owner = _loaded(place)
        if owner is not None:
            for attribute, found in list(faces.items()):
                target = getattr(owner, attribute, None)
                if target is not None:
                    _by_object.setdefault(target, found)
                faces.pop(attribute, None)
    _looked_at = there


def _loaded(name: str) -> Any:
    """The module of this name, or the class (whose methods have faces), if it is there without loading anything."""
    if name in sys.modules:
        return sys.modules[name]
    module, _, attribute = name.rpartition(".")
    return vars(sys.modules[module]).get(attribute) if module in sys.modules else None


def find(function: object) -> "Face | None":
    """The face of a function or ufunc, or None."""
    try:
        found = _by_object.get(function)
    except TypeError as error:              # not hashable, so no function of a library
        let_through(error)
        return None
    module = module_name(function) or "numpy"               # NumPy's and SciPy's ufuncs do not say
    if found is not None or module.partition(".")[0] not in LIBRARIES:
        return found
    for load in (lambda: None, lambda: _load(module), _load_met):
        load()
        _resolve_loaded()
        if function in _by_object:
            return _by_object[function]
    return None
