"""The runtime of rewritten functions: each construct, met while tracing, is plain Python on plain values and a region
on traced ones.

Calls are here, branches in branching.py, loops in looping.py, operators, items and attributes in datamodel.py.
"""
import functools
import importlib.util
from collections.abc import Callable
from inspect import CO_GENERATOR
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ops.override import find
from ...util import tree
from ...util.array import ArrayOrNumber
from ...util.defects import for_user
from ...util.interrupts import reraise_interrupt
from ...util.own import owner_of
from ...util.profiled import unprofiled
from ...util.where import is_captured_class, module_name, opaque_package_of
from ..frontend.expressions import RUNTIME
from ..frontend.functions import is_partial
from ..frontend.library_text import text_of
from ..frontend.numba_forms import is_of_numba, number_of_numba, plain_form
from ..guards.escapes import hand_over, is_compared, keeps_functions, only_hands_on, refuse_opaque
from ..guards.guard import ReadGuard
from ..guards.kinds import is_open
from ..guards.settings import answer, is_setting
from ..heap.cached import cached
from ..heap.foreign import ForeignMethod, called_on_foreign, holds_foreign
from ..heap.journal import all_made, made, note
from ..heap.percall import Maker, is_per_call
from ..lists.distributions import called_anew, drawn_on_tape
from ..lists.items import Items
from ..lists.rows import RowList
from ..lists.tails import note_growth
from ..objects.containers import is_users
from ..objects.draws import goes_on
from ..objects.maybe_unbound import read
from ..objects.originals import StandIn, original_of
from ..regions import optional
from ..regions.branch import truth
from ..regions.recursion import Branches
from ..values.choice import ChosenThing
from ..values.iterate import Range, steps_of
from . import output
from .attributes import Dispatched
from .branching import BranchRuntime
from .builtin import BY_BUILTIN, scalar_class, type_
from .calls import called, is_tracing, keep, noting, refuse_frames, refuse_from_outside, refuse_threads
from .choosing import ChoosingRuntime
from .evaluation import EvaluationRuntime
from .handling import HandlingRuntime
from .instances import Instances, is_init_of_dataclass
from .library import RoutineCall, has_traced, reading, ufunc_behind
from .looping import LoopRuntime
from .ordering import insert
from .pools import tasks_of
from .texts import Texts


class Runtime(
    ChoosingRuntime, Instances, Texts, BranchRuntime, LoopRuntime, HandlingRuntime, EvaluationRuntime
):
    """The runtime: rewritten functions know it as `__fad__`."""

    def __init__(self, capture: object):
        super().__init__()
        self.capture = capture
        self.unrolled: dict[Any, Exception] = {}              # code of a loop's body -> why it is not one region
        self.peeled: set[Any] = set()  # those of short loops that were not one, iteration after iteration
        self.forking: dict[Any, tuple] = {}  # code of a `try` with forks -> what its handlers take
        self.flat: set[Any] = set()  # those whose paths go through every `try` within
        self.branches = Branches()
        self.globals: dict[int, list] = {}  # id of what stands for global names -> those that functions assign
        self.of_texts: dict[tuple, FunctionType] = {}
        self.plain: set[Any] = set()  # code of captured functions that is as it was, without source

    # -- calls -------------------------------------------------------------------------------------

    @unprofiled
    def call(self, f: Any) -> Callable:
        """f as captured code calls it: users' functions are captured, NumPy's and Python's lead to fad where something
        is traced.
        """
        if type(f) is ForeignMethod:                          # of C, its class passes for that of Python's methods
            return f
        if is_partial(f):
            return self.capture.swap(f)
        if isinstance(f, Dispatched):
            return functools.partial(self._dispatched, f.made.dispatcher.dispatch, f.owner)
        f = f.original if type(f) is Maker else text_of(f) or plain_form(f)
        if type(f) is ChosenThing:
            return self.called_thing(f)
        named = self.named_method(f)
        if named is not None:
            return named
        tasks = tasks_of(f) if stack.builders() else None
        if tasks is not None:
            return functools.partial(tasks, self.call)
        if is_tracing():
            note_growth(f)
        if is_setting(f) and is_tracing():
            return functools.partial(answer, current().root, f)
        if is_tracing() and opaque_package_of(f) not in ("", *self.capture.packages):
            return functools.partial(self._of_package, f)
        if is_tracing() and is_per_call(f):
            return functools.partial(called_anew, f)
        if stack.is_live() and goes_on(getattr(f, "__self__", None)):
            return functools.partial(drawn_on_tape, f, self._outside(f, self._call(f)))
        override = output.override_of(f) if stack.builders() else None
        is_function = isinstance(f, (BuiltinFunctionType, FunctionType, type))
        asking = self.builtin(f) if override is None and is_function else None
        found = asking or self._outside(f, override or self._call(f))
        if not self.takes_as_it_is(f, found):
            return functools.partial(self._with_functions, f, found)
        code = getattr(getattr(found, "__func__", found), "__code__", None)
        return functools.partial(self._generated, found) if code is not None and code.co_flags & CO_GENERATOR else found

    @staticmethod
    def _of_package(f: Callable, *args: object, **kwargs: object) -> object:
        """The call of a function of a package with arrays of its own: of objects of such a package, it is a step of the
        prelude; and so is one that makes such an object.
        """
        makes_arrays = isinstance(f, type) and hasattr(f, "__array__")
        if not makes_arrays and not holds_foreign(args, kwargs):
            refuse_opaque(f)
        return called_on_foreign(f, args, kwargs)

    def takes_as_it_is(self, f: object, found: Callable) -> bool:
        """Whether functions among the arguments of a call are themselves: captured code sees to their calls, and
        containers and questions to none.
        """
        f = original_of(f)
        return (
            self.is_rewritten(getattr(found, "__func__", found))
            or keeps_functions(f)
            or number_of_numba(f) is not None
            or (isinstance(f, type) and is_captured_class(f))
        )

    def _with_functions(self, f: object, found: Callable, *args: object, **kwargs: object) -> Any:
        """A call of code that is not captured: functions that it may call are given to it as captured code calls them,
        and so are the objects that it goes through.
        """
        given = map(self._function, self.gone_through(f, args))
        return found(*given, **{k: self._function(x) for k, x in kwargs.items()})

    def _function(self, x: object) -> Any:
        if type(x) is MethodType:
            return self._method(x)
        if isinstance(x, StandIn):
            return x.original
        own = self.getter(x) or self.named_method(x) or (self.builtin(x) if type(x) is BuiltinFunctionType else None)
        if own is not None:
            return own
        known = _override_of(x) if isinstance(x, (BuiltinFunctionType, type)) else None
        if known is not None:
            return known
        if self.capture.is_called(x):
            return x if self.is_captured(x) else self.capture.swap(x)
        return number_of_numba(x) or x                        # as the dtype of an array

    def _outside(self, f: object, found: object) -> Any:
        """found, what captured code calls for f, with what is noted of a call of code that is not captured."""
        if isinstance(found, RoutineCall) or self.is_rewritten(getattr(found, "__func__", found)):
            return found
        if not is_tracing():
            return functools.partial(noting, f, found) if stack.builders() else found
        keep(owner_of(f))
        refuse_from_outside(f)
        refuse_opaque(f, self.capture.packages)
        return functools.partial(called if only_hands_on(f) else reading, found)

    def made(self, x: object) -> Any:
        """x, a list, dict, set or generator that captured code has just made."""
        return made(x) if is_tracing() else x

    def key(self, x: object) -> object:
        """x, which is to be a key of a dict or an element of a set."""
        self.hashed(x)
        return x

    @staticmethod
    def bound(x: object) -> Any:
        """The value of a variable that may be unbound."""
        return read(x)

    def rebinds(self, variables: FunctionType) -> None:
        """Note the variables of functions around, and the global names, that a function binds: those that `variables`
        has.
        """
        note(*(variables.__closure__ or ()), *self.globals.get(id(variables.__globals__), ()))

    def binds(self, variables: FunctionType) -> None:
        """Variables of a call that functions within it bind, too: the call has made them."""
        all_made(variables.__closure__ or ())

    def _generated(self, f: Callable, *args: object, **kwargs: object) -> Any:
        return made(f(*args, **kwargs))

    def _call(self, f: Any) -> Any:
        """The function that is called for f, unless that asks its arguments (see DataModel.builtin)."""
        if isinstance(f, (FunctionType, BuiltinFunctionType)):
            refuse_frames(f)
        function = f if isinstance(f, type) else getattr(f, "__func__", f)
        refuse_threads(function)
        if is_init_of_dataclass(function) and stack.builders():
            return functools.partial(self.initialise, f)
        if isinstance(f, type):
            return self._class(f)
        if type(f) is FunctionType:
            return self._function_of_python(f)
        if isinstance(f, (MethodType, BuiltinMethodType)) and type(f.__self__) in (list, Items, RowList):
            own = self._method_of_list(f)
            if own is not None:
                return own
        if type(f) is MethodType:
            return self._method(f)
        if isinstance(f, functools._lru_cache_wrapper):
            return functools.partial(cached, self, f)
        number = number_of_numba(f)
        if number is not None:
            return scalar_class(number, f)
        found = self.making(f) or self.getter(f) or _override_of(f)
        if found is not None:
            return found
        is_librarys = find(f) is not None or ufunc_behind(f) is not None
        is_swapped = is_librarys or isinstance(f, np.vectorize) or is_of_numba(f)
        return self.capture.swap(f) if is_swapped else self._object(f)

    def _class(self, f: type) -> "Callable | None":
        """The function that is called for a class."""
        if f is filter or f is list:
            return self._filter if f is filter else self._list
        found = _override_of(f) or scalar_class(f, f)
        return found or (f if module_name(f) == "builtins" else self.making(f))

    def _function_of_python(self, f: FunctionType) -> Callable:
        """The function that is called for one that has a text, or had one."""
        if isinstance(getattr(f, "registry", None), MappingProxyType):
            dispatch = f.dispatch                             # type: ignore[attr-defined]
            return functools.partial(self._dispatched, dispatch, None) if is_tracing() else f
        return f if self.is_captured(f) else self.capture.swap(f)

    def _method_of_list(self, f: Any) -> "Callable | None":
        """The function that is called for a method of a list that asks its elements or its arguments; None of others.
        """
        if f.__name__ == "sort":
            return functools.partial(self.sort_list, f.__self__)
        if f.__name__ == "extend":
            return lambda items: self._outside(f, self._object(f))(self.listed(items))
        return functools.partial(insert, f.__self__, self._object(f)) if f.__name__ == "insert" else None

    def _dispatched(self, find: Callable, owner: Any, *args: Any, **kwargs: Any) -> Any:
        """The call of a function that functools.singledispatch has made, or singledispatchmethod for an owner."""
        cls = original_of(type_(args[0]))
        found = find(cls)
        if is_tracing():
            current().trace.sources.append(ReadGuard(lambda: find(cls), found))
        return self.call(found if owner is None else found.__get__(owner, type(owner)))(*args, **kwargs)

    def _filter(self, condition: Any, items: Any) -> Any:
        """filter(condition, items): of traced items, a list."""
        if not is_tracing() or steps_of(items) is None:
            return filter(condition, items)
        return self.comprehension(items, lambda x: x, (lambda x: x) if condition is None else self.call(condition))

    @for_user
    def _list(self, *items: object) -> list:
        """list(items): of what is traced, as a loop that fills a list."""
        if (
            not is_tracing()
            or not items
            or isinstance(items[0], (range, Range))
            or not (isinstance(items[0], Value) or steps_of(items[0]))
        ):
            return self.list_(list(*items))
        return items[0].copy() if isinstance(items[0], RowList) else self.comprehension(items[0], lambda x: x)

    def known_builtin(self, f: object) -> Callable:
        """A builtin function as captured code calls it."""
        return self._outside(f, self._call(f))

    def compared(self, *operands: object) -> None:
        """Note what Python itself compares."""
        if is_tracing():
            hand_over(current().root, operands, has_traced, is_compared)

    def is_captured(self, f: object) -> bool:
        """Whether f is a copy of a function, or a function made by one."""
        return type(f) is FunctionType and f.__globals__.get(RUNTIME) is self

    def is_rewritten(self, f: Any) -> bool:
        """Whether f is captured code that calls the runtime in place of what Python does (source was at hand)."""
        return self.is_captured(f) and f.__code__ not in self.plain

    def _method(self, f: MethodType) -> Callable:
        function = f.__func__
        self.capture.open(f.__self__)
        if type(function) is not FunctionType or self.is_captured(function):
            return f
        new = self.capture.swap(function)
        return f if new is function else MethodType(new, f.__self__)

    def _object(self, f: object) -> Any:
        """An object of a user's class that is called as a function."""
        method = getattr(type(f), "__call__", None)  # noqa: B004  the function itself is wanted
        if is_tracing() and is_users(f):
            self.capture.called_by(type(f), method)
        if is_users(method) and not isinstance(method, (type, FunctionType, Value)) and is_open(method):
            return self.call(method)                          # another object, which is called in its place
        if type(method) is not FunctionType or isinstance(f, Value):
            return f
        new = self.capture.swap(method)
        return f if new is method else MethodType(new, f)

    def truth(self, x: object) -> ArrayOrNumber:
        """A truth value, as branches and loops ask for it."""
        return truth(self.asked_truth(x))

    # -- matches and imports --------------------------------------------------------------

    def matched(self, subject: object) -> Any:
        """The subject of a match statement: its patterns ask Python itself whether something is None."""
        optional.need(*tree.flatten(subject)[0])
        self.show(subject)
        return subject

    def imported(self, value: object, module: str, name: str) -> Any:
        """The thing that `import module` or `from module import name` has bound."""
        return self.capture.imported(value, module, name) if is_tracing() else value

    def _import_module(self, name: str, package: "str | None" = None) -> Any:
        name = importlib.util.resolve_name(name, package or "") if name.startswith(".") else name
        return self.imported(importlib.import_module(name), name, "")

    @staticmethod
    def module_name(level: int, name: str, package: "str | None") -> str:
        """The module of `from ..name import x`."""
        return importlib.util.resolve_name("." * level + name, package or "") if level else name


def _override_of(f: object) -> "Callable | None":
    """The stand-in for one of Python's own functions or classes; None of all others."""
    try:
        return BY_BUILTIN.get(f)
    except TypeError as error:  # not hashable: an object with an equality of its own, or a class of such a metaclass
        reraise_interrupt(error)
        return None
