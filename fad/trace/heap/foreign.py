"""Objects from outside of packages with arrays of their own (tables of pandas, arrays of xarray), as captured code sees
them.

A program does not see what such a package computes. Python can make the calls anew before each run of the kernel: what
captured code asks of such an object is a step of the prelude (see ir/prelude.py), as long as nothing traced is in it.

    df.loc[df.g == "a", "y"].values       ->      r0 = df.loc; r1 = df.g; r2 = r1 == "a"; r3 = r0[r2, "y"]; r3.values

    a step returns                        captured code sees
    an array, a float, NumPy's number     an input of the program
    a text, an int, None, a dtype         it: a program is for one; each call compares
    a tuple, a list, a dict               the same of what is in it
    another object                        a Foreign, of which it may ask

The trace makes the steps on copies. At its end the copies must be what they were, and the steps must give the same once
more: then they change nothing, and draw nothing. A call that finds another kind of
thing is traced anew.
"""
import copy
import operator
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import numpy as np

from ...ir.build import Builder, Value, current
from ...ir.prelude import Attribute, Made, PreludeCall, class_of_part, is_part
from ...ir.records import ONCE
from ...ir.types import is_too_large, type_of
from ...ops.conditional import around
from ...util import tree
from ...util.defects import call_library, for_user
from ...util.errors import UnstageableError
from ...util.interrupts import reraise_interrupt
from ...util.reach import reached, referents
from ...util.where import here, is_of_c, opaque_package_of
from ..guards.snapshot import is_same
from ..objects.draws import common_generators, same_state, state_of
from ..objects.opaque_state import bytes_of
from ..objects.originals import original_of
from .operands import mapped, new_step, put_back

MOST = 64                                                     # parts of one result: rows of a loop that is unrolled
_KNOWN = (str, bytes, bool, int, type(None), np.bool_)
_NUMBERS = (float, complex, np.number)
_CHANGED = "an object of a package with arrays of its own is changed in a loop or branch on traced values"
_ASKING_FRAMES = ("query", "eval")                            # of pandas: "y > @limit"
_WRITING = re.compile(                                        # names of what writes to files, screens and databases
    r"(write|sink|save|dump|print|show|plot|hist|boxplot|info$)|to_(csv|excel|json|sql|parquet|pickle|feather|hdf|stata"
    r"|html|latex|markdown|clipboard|xml|orc|gbq|netcdf|zarr)$")
_GIVEN = (*_KNOWN, float, complex, np.generic, np.dtype, type, type(Ellipsis), range)


class Foreign:
    """The stand-in for such an object: an operand of the prelude, and a copy that is asked while tracing."""

    __slots__ = ("_fad_operand", "_fad_present")

    def __init__(self, operand: object, present: object):
        object.__setattr__(self, "_fad_operand", operand)
        object.__setattr__(self, "_fad_present", present)

    @property  # type: ignore[misc]
    def __class__(self) -> type:                              # isinstance is to say what the object is
        return type(self._fad_present)

    @for_user
    def __getattr__(self, name: str) -> object:
        if name[:2] == "__" or name in Foreign.__slots__:
            raise AttributeError(name)
        found = _asked(self, name)
        if found is _ABSENT:
            _step(hasattr, (self, name))
            raise AttributeError(f"{type(self._fad_present).__name__!r} object has no attribute {name!r}")
        if isinstance(found, (MethodType, BuiltinFunctionType)):
            return ForeignMethod(Attribute(self._fad_operand, name), found)
        return _step(getattr, (self, name))

    @for_user
    def __setattr__(self, name: str, value: object) -> None:
        raise _refused(f"{name} of {type(self._fad_present).__name__} is set", "it is from outside, or made of such")

    @for_user
    def __iter__(self) -> Iterator:
        return iter(_call(list, (self,)))                     # type: ignore[call-overload, no-any-return]

    @for_user
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: object, **kwargs: object) -> object:
        return _call(getattr(ufunc, method), args, kwargs)

    @for_user
    def __array_function__(self, function: Callable, types: object, args: tuple, kwargs: dict) -> object:
        return _call(function, args, kwargs)


class ForeignMethod(Foreign):
    """A method of such an object."""

    __slots__ = ()

    @for_user
    def __call__(self, *args: object, **kwargs: object) -> object:
        return _call(self, args, kwargs)


def _by(function: Callable, is_swapped: bool = False) -> Callable:
    @for_user
    def ask(self: Foreign, *others: object) -> object:
        return _step(function, (*others, self) if is_swapped else (self, *others))
    return ask


def _refusing(name: str) -> Callable:
    @for_user
    def refuse(self: Foreign, *others: object) -> object:
        raise _refused(f"{name} of {type(self._fad_present).__name__} is asked for",
                       "a program sees what its calls return")
    return refuse


_ARITHMETIC: tuple[Callable, ...] = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.matmul, operator.and_, operator.or_, operator.xor)
_QUESTIONS: tuple[Callable, ...] = (
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.neg, operator.pos,
    operator.invert, operator.getitem, operator.contains, len, bool, abs, repr, str, round, format)
for _function in _ARITHMETIC:
    _name = _function.__name__.strip("_")
    setattr(Foreign, f"__{_name}__", _by(_function))
    setattr(Foreign, f"__r{_name}__", _by(_function, is_swapped=True))
    setattr(Foreign, f"__i{_name}__", _refusing(f"i{_name}"))
for _function in _QUESTIONS:
    setattr(Foreign, f"__{_function.__name__}__", _by(_function))
for _name in ("setitem", "delitem", "delattr", "array", "float", "int", "index", "complex", "hash", "enter", "exit",
              "reduce_ex"):
    setattr(Foreign, f"__{_name}__", _refusing(_name))
_ABSENT = object()


def is_foreign(x: object) -> bool:
    """Whether an object from outside is asked by steps of the prelude: one of a package with arrays of its own."""
    is_other = isinstance(x, (type, ModuleType, FunctionType, MethodType, Value, Foreign)) or callable(x)
    return not is_other and bool(opaque_package_of(x)) and not is_of_c(x)


def foreign(root: Builder, x: object) -> Foreign:
    """The stand-in for x."""
    return Foreign(x, _copied(root, x))


def holds_foreign(args: tuple, kwargs: dict) -> bool:
    """Whether such an object is among the arguments of a call, or in a list among them."""
    return any(type(x) in _CLASSES for x in tree.flatten((args, kwargs), lambda x: type(x) in _CLASSES)[0])


_CLASSES = (Foreign, ForeignMethod)


@for_user
def called_on_foreign(f: Callable, args: tuple, kwargs: dict) -> object:
    """f(*args, **kwargs) of a library's function, as a step."""
    return _call(f, args, kwargs)


def _copied(root: Builder, x: object) -> object:
    """The copy of a thing from outside that the steps of a trace are made on."""
    known = root.trace.foreign.get(id(x))
    if known is None:
        try:
            made = call_library(copy.deepcopy, x)
        except Exception as error:
            reraise_interrupt(error)
            raise _refused(f"{type(x).__name__} of {opaque_package_of(x)} is used", "it cannot be copied") from error
        known = x, made, _bytes_of(made)
        root.trace.foreign[id(x)] = known
        root.trace.read_as_is.update({id(a): a for a in _arrays_of(x)})
    return known[1]


def _arrays_of(x: object) -> Iterator[np.ndarray]:
    """The arrays in whose memory an object of C's or Python's lies."""
    def parts(y: object) -> Iterable:
        return [y.base] if isinstance(y, np.ndarray) else () if isinstance(y, _KNOWN) else referents(y)
    return (y for y in reached([x], parts) if isinstance(y, np.ndarray))


# -- steps -----------------------------------------------------------------------------------------------------------


def _refused(what: str, why: str) -> UnstageableError:
    return UnstageableError(what, why=why, do="take the numbers out of it (x.to_numpy()), and compute with these")


def _asked(x: Foreign, name: str) -> object:
    """An attribute of the copy: the package's own code may give it, and fail."""
    try:
        return call_library(getattr, x._fad_present, name, _ABSENT)
    except Exception as error:
        reraise_interrupt(error)
        raise _refused(f"{name} of {type(x._fad_present).__name__} is asked for", str(error)) from error


def _operand(x: object) -> object:
    """An argument as an operand of the prelude."""
    if type(x) in _CLASSES:
        return x._fad_operand                                 # type: ignore[attr-defined]
    if isinstance(x, Value):
        return _of_value(x)[0]
    return original_of(x)


def _present(x: object) -> object:
    """An argument as it is while tracing."""
    if type(x) in _CLASSES:
        return x._fad_present                                 # type: ignore[attr-defined]
    if isinstance(x, Value):
        return _of_value(x)[1]
    x = original_of(x)
    parts = (x.start, x.stop, x.step) if isinstance(x, slice) else (x,)
    if not all(isinstance(part, _GIVEN) for part in parts):
        raise _refused(f"{type(x).__name__} is given to a package with arrays of its own",
                       "a program does not see what that does with it")
    return x


def _of_value(x: Value) -> tuple:
    """The operand for a value of the program, and what it is while tracing: a step has given it, or it is an array from
    outside.
    """
    root = current().root
    known = root.trace.foreign_values.get(id(x))
    if known is not None and x.atom is known[0]:
        return known[1:]
    array = next((a for a, value in root.trace.captured.values() if value.atom is x.atom), None)
    if array is not None and type(array) is np.ndarray:
        return array, _copied(root, array)
    raise _refused("a traced value meets an object of a package with arrays of its own",
                   "a program does not see what that computes")


def _call(f: Callable, args: tuple, kwargs: "dict | None" = None) -> object:
    """The same of a call, which may change an object that a step has made. A region is traced several times, and run
    once, many times or never: there it may change none.
    """
    root = current().root
    leaves = tree.flatten((f, args, kwargs), lambda x: type(x) in _CLASSES)[0]
    asked = [getattr(_present(x), "__self__", _present(x)) for x in leaves if type(x) in _CLASSES]
    is_in_region = any(builder.region.runs != ONCE for builder in around(current()))
    before = list(map(_bytes_of, asked)) if is_in_region else []
    root.trace.foreign_results.clear()
    result = _step(f, args, kwargs)
    if result is None:
        raise _refused("a call returns nothing", "what it does is done for its effect")
    if before and before != list(map(_bytes_of, asked)):
        next(reversed(root.trace.foreign_steps.values()))[0].is_pure = False              # for another attempt, too
        raise _refused(_CHANGED, "a program asks it once, before its kernel runs")
    return result


def _bytes_of(x: object) -> bytes:
    """All that an object holds."""
    try:
        return call_library(pickle.dumps, x)                     # type: ignore[no-any-return]
    except Exception as error:
        reraise_interrupt(error)
        raise _refused(f"{type(x).__name__} is asked in a loop or branch on traced values",
                       "fad cannot see whether that changes it") from error


@for_user
def _step(f: Callable, args: tuple, kwargs: "dict | None" = None) -> object:
    """f(*args, **kwargs) at each call, as captured code sees the result."""
    root, kwargs = current().root, kwargs or {}
    given, named = mapped(args, _present), mapped(kwargs, _present)
    function = f._fad_operand if type(f) is ForeignMethod else f        # type: ignore[attr-defined]
    step = new_step(function, mapped(args, _operand), mapped(kwargs, _operand))
    key = _key(step)
    if key in root.trace.foreign_results:
        return root.trace.foreign_results[key]
    result = _made(f, given, named)
    leaves, step.structure = tree.flatten(result, is_leaf=is_part)
    if len(leaves) > MOST:
        raise _refused(f"{len(leaves)} parts of {type(args[0]).__name__ if args else 'a table'} are taken one by one",
                       "each would be an input of the program")
    step.is_pure, step.where, root.trace.foreign_steps[step.number] = True, here(), (step, leaves)
    found = step.structure.unflatten([_leaf(step, k, x) for k, x in enumerate(leaves)])
    root.trace.foreign_results[key] = found
    return found


def _key(step: PreludeCall) -> tuple:
    """A key that equal reads of an attribute or an item have in common. Another step is one by itself."""
    is_read = step.function in (getattr, hasattr, len, operator.getitem) and not isinstance(step.args[0], Attribute)
    if not is_read or any(type(x) not in (str, int, Made) for x in step.args[1:]):
        return (step.number,)
    owner = step.args[0]
    return (step.function, owner if isinstance(owner, Made) else id(owner), repr(step.args[1:]))


def _made(f: Callable, given: tuple, named: dict) -> object:
    """The result of a step while tracing; nothing is drawn by it."""
    call = f._fad_present if type(f) in _CLASSES else f       # type: ignore[attr-defined]
    if _WRITING.match(getattr(call, "__name__", "")):
        raise _refused(f"{call.__name__} is called", "it writes, which the trace would do once more")
    if getattr(call, "__name__", "") in _ASKING_FRAMES and any("@" in str(x) for x in (*given, *named.values())):
        raise _refused(f"{call.__name__} reads the names of the function that calls it", "Python calls it elsewhere")
    before = [(g, state_of(g)) for g in common_generators()]
    with put_back([]):
        try:
            result = call_library(call, *given, **named)
        except Exception as error:
            reraise_interrupt(error)
            raise _refused(f"{getattr(call, '__name__', 'a call')} of a package with arrays of its own fails",
                           f"{type(error).__name__}: {error}") from error
        if not all(same_state(state_of(g), state) for g, state in before):
            raise _refused(f"{getattr(call, '__name__', 'a call')} draws random numbers", "a program does not see it")
    return result


def _leaf(step: PreludeCall, k: int, x: object) -> object:
    """A part of a step's result, as captured code sees it."""
    root, operand = current().root, Made(step.number, (k,))
    if type(x) in _KNOWN or isinstance(x, (np.dtype, type)):
        step.known[k] = x
        step.leaves.append(((k,), None, None))
        return x
    is_array = type(x) is np.ndarray and x.dtype.kind in "biufc"
    if not is_array and (not isinstance(x, _NUMBERS) or isinstance(x, np.timedelta64) or is_too_large(x)):
        step.classes[k] = class_of_part(x)
        step.leaves.append(((k,), None, None))
        return Foreign(operand, x)
    t = type_of(x)
    value = root.input(t, f"read{step.number}")
    step.leaves.append(((k,), t, value.atom))
    root.trace.dense[value.atom] = True
    root.trace.drawn[value.atom] = operand, x
    root.trace.foreign_values[id(value)] = value.atom, operand, x, value
    return value


# -- the end of a trace ----------------------------------------------------------------------------------------------


def settle_foreign(root: Builder, changes_arguments: bool) -> None:
    """An error if steps have changed what they ask, or give something else when they are made once more; or if captured
    code has written to an array that they gave.
    """
    if not root.trace.foreign_steps:
        return
    if changes_arguments or any(value.atom is not atom for atom, _, _, value in root.trace.foreign_values.values()):
        raise _refused("an array is written to that may be a part of a table",
                       "a program does not see whether the two share memory")
    results: dict = {}
    for step, before in root.trace.foreign_steps.values():
        def present(x: object) -> object:
            if isinstance(x, Attribute):
                return getattr(present(x.owner), x.name)
            if isinstance(x, Made):
                return results[x.step][x.path[0]]
            return root.trace.foreign[id(x)][1] if id(x) in root.trace.foreign else x
        if not step.is_pure:
            raise _refused(_CHANGED, "a program asks it once, before its kernel runs")
        function: Callable = present(step.function)  # type: ignore[assignment]
        parts = _made(function, mapped(step.args, present), mapped(step.kwargs, present))
        results[step.number], structure = tree.flatten(parts, is_leaf=is_part)
        if structure != step.structure or not all(map(_is_same, results[step.number], before)):
            raise _refused("a table gives another thing when it is asked once more", "it changes, or draws")
    root.region.steps[:0] = [step for step, _ in root.trace.foreign_steps.values()]
    if any(_bytes_of(made) != before for _, made, before in root.trace.foreign.values()):
        raise _refused("a table is changed", "a program does not see what changes in it")


def _is_same(x: object, y: object) -> bool:
    """Whether a step gives what it gave: the same number or array, an object of the same class."""
    if class_of_part(x) != class_of_part(y):
        return False
    if type(x) is type(y) is np.ndarray and x.dtype.kind in "biufc":
        return x.shape == y.shape and x.dtype == y.dtype and bytes_of(x) == bytes_of(y)
    return not isinstance(x, (*_KNOWN, *_NUMBERS)) or is_same(x, y)
