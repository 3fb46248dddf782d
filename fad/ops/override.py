"""The registry of overrides: which of NumPy's, SciPy's and math's functions fad knows, and how each is written in ops.

Overrides of libraries that few programs use are loaded when the first function of that library is met (LATER).
"""
import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ..ir.op import Op, registry
from ..ir.types import type_of
from ..util.interrupts import reraise_interrupt
from ..util.lazy import imported
from ..util.where import module_name
from .kinds import shape_of
from .literals import as_array
from .precision import PRECISIONS


class Override(NamedTuple):
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
# a library's module -> the modules of ops/numpy_api with its overrides, until they are loaded
LATER: dict[str, tuple[str, ...]] = {}
LIBRARIES = {"numpy", "scipy", "math", "cmath", "statistics"}


class _Overrides(dict):
    """The overrides by name; whoever asks for one that is not loaded has it loaded."""

    def __missing__(self, name: str) -> Override:
        owner = name.rpartition(".")[0]
        while owner and owner not in LATER:
            owner = owner.rpartition(".")[0]
        _load(owner)
        if name not in self:
            raise KeyError(name)
        return self[name]


BY_NAME: dict[str, Override] = _Overrides()        # "numpy.sum", "scipy.special.erf", "math.sin"
METHODS: dict[str, Callable] = {}          # methods and properties' functions of arrays: "sum", "reshape", ...
OF_NUMBERS: "dict[str, Callable]" = {}                        # methods that numbers have, and arrays have not
PROPERTIES: dict[str, Callable] = {}       # "T", "real", ...
OBJECTS: dict[int, Any] = {}               # id of an object that is subscripted (np.r_) -> what it means in ops
_by_object: dict[Any, Override] = {}
_looked_at = (0, 0)                                           # how many modules and overrides there were
# a module (or class) -> the overrides of its functions, until that is loaded
_unresolved: dict[str, dict[str, Override]] = {}


def override(*names: str, method: str = "", property: str = "", creation: bool = False, samples: tuple = (),
             note: str = "",
             routine: bool = False, precision: str = "") -> Callable:
    """Decorator: this function is what the named functions mean, and the array method (or property) of that name.
    precision: of its results, where its formulas do not see to that (see precision.py)."""
    def register(call: Callable) -> Callable:
        call = PRECISIONS[precision](finite_inputs(call), *names[:1])
        for name in names:
            add_override(name, call, creation=creation, samples=samples, note=note, routine=routine)
        if method:
            METHODS[method] = call
        if property:
            PROPERTIES[property] = call
        return call
    return register


def finite_inputs(call: Callable) -> Callable:
    """The override itself. If SciPy's function has `check_finite`, it is an override that raises as SciPy does for an
    infinity or a nan in an array."""
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


def add_override(name: str, call: Callable, **facts: Any) -> None:
    """Register one override under one dotted name."""
    if name in BY_NAME:
        raise ValueError(f"two overrides for {name}")
    BY_NAME[name] = Override(name, call, **facts)
    owner, _, attribute = name.rpartition(".")
    _unresolved.setdefault(owner, {})[attribute] = BY_NAME[name]


def add_ufunc(op: Op, *names: str, samples: tuple = (), note: str = "") -> None:
    """An op that is a ufunc's override: the names it answers to."""
    for name in names:
        add_override(name, op, samples=samples, note=note)


def _load(owner: str) -> None:
    for name in LATER.get(owner, ()):
        imported(f"{__package__}.numpy_api.{name}")
    LATER.pop(owner, None)                  # not before: another thread may ask meanwhile


def load_all() -> None:
    """Load every override, and with them every op."""
    for owner in list(LATER):
        _load(owner)


registry.rest = load_all                    # type: ignore[attr-defined]


def _load_met() -> None:
    """Load the overrides of libraries that are loaded themselves; no library is for their sake."""
    for owner in [owner for owner in LATER if owner in sys.modules]:
        _load(owner)


def _resolve_loaded() -> None:
    """Find the functions of the names whose modules are loaded by now."""
    global _looked_at
    there = len(sys.modules), len(BY_NAME)
    if there == _looked_at:
        return
    for place, overrides in list(_unresolved.items()):
        owner = _loaded(place)
        if owner is not None:
            for attribute, found in list(overrides.items()):
                target = getattr(owner, attribute, None)
                if target is not None:
                    _by_object.setdefault(target, found)
                overrides.pop(attribute, None)
    _looked_at = there


def _loaded(name: str) -> Any:
    """The module of this name, or the class (whose methods have overrides), if it is there without loading anything."""
    if name in sys.modules:
        return sys.modules[name]
    module, _, attribute = name.rpartition(".")
    return vars(sys.modules[module]).get(attribute) if module in sys.modules else None


def find(function: object) -> "Override | None":
    """The override of a function or ufunc, or None."""
    try:
        found = _by_object.get(function)
    except TypeError as error:              # not hashable, so no function of a library
        reraise_interrupt(error)
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
