"""Reads of code that is not rewritten: functions whose text is not at hand, methods that Python calls by itself
(operators, `with`, setters of properties), and what these call.

Such code runs as it stands, and nobody notes what it reads. So all that it may read is a source: its text, and the
globals, closures, modules and classes that it names, with what is in them. (Of the objects themselves that have such
methods, all attributes are sources; see guard.)
"""
import functools
import logging
import operator
import sys
import weakref
from abc import ABCMeta, get_cache_token
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from io import IOBase
from itertools import islice
from pathlib import PurePath
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ...ir.build import Builder
from ...util.errors import UnstageableError
from ...util.profiled import unprofiled
from ...util.reach import reached, wrapped_by
from ...util.where import is_captured, is_captured_class, opaque_package_of
from ..objects.containers import content, is_empty, is_users
from . import guard as of
from . import python_objects
from .bytecode import asked_for, global_names, imported_modules, makes_texts, names_used, runs_texts, texts_in
from .implicit_calls import MAKERS, TEXTS, asked_by_python, classes_within, function_of, reading
from .kinds import CONTAINERS, MISSING, OPERATORS, VIEWS, is_object, is_open
from .led_to import led_to, put_into
from .profiled_calls import observing
from .purity import DATES, is_effect, is_question, is_shared, tells_today
from .settings import is_setting
from .snapshot import Snapshot

SHARED_METHODS = {
    "read", "readline", "readlines", "getvalue", "tell", "exists", "is_file", "is_dir", "stat", "iterdir", "glob",
    "rglob", "read_text", "read_bytes"}                       # of files and paths
LOGGERS = {"level", "disabled", "handlers", "filters", "propagate", "getEffectiveLevel", "hasHandlers"}
MUCH = 1024                                                   # bytes of arrays that are compared at each call
MOST = 20_000                                                 # containers and objects that are looked at in each call


def begin_reads(root: Builder) -> "Reads":
    """The record of what is read out of sight, which begins with the first such read."""
    root.trace.reads = root.trace.reads or Reads(root.trace)
    return root.trace.reads


def reads_of(root: Builder) -> "Reads":
    """The things that code may read which is not rewritten, besides its arguments: the functions that a trace has
    captured so, and methods of the classes it has met.
    """
    reads = begin_reads(root)
    reads.add_classes(dict.fromkeys([c for cls in root.trace.classes for c in (cls, type(cls))]))
    reads.end()
    return reads


def refuse_unknown(reads: "Reads", what: str) -> None:
    """An error if code reads something that cannot be watched."""
    if reads.unknown:
        observing.want()
        raise UnstageableError(
            f"{what} may read {reads.unknown}",
            why="a program does not see whether that has changed",
            do="define the function in a file, or pass what it reads as an argument",
        )


@unprofiled
def guard(root: Builder, x: object) -> None:
    """Make all that is in an object which has such methods a source of a trace, and note the classes of what is in it.
    """
    if isinstance(x, type):
        root.trace.classes[x] = None
    elif id(x) not in root.trace.guarded and _is_guarded_as_a_whole(x):
        root.trace.guarded[id(x)] = x                         # see unseen_reads
        root.trace.classes.update(dict.fromkeys(classes_within(x)))


def unseen_reads(root: Builder) -> list:
    """Guards for all that code may read which is not rewritten. They are made when the trace is over and its writes are
    taken back: only what was there before is read from outside.
    """
    inputs = root.trace.lifted_from.values()
    wholes = [of.of_all_before([x], inputs) for x in root.trace.guarded.values() if _may_be_read(x)]
    if observing.is_offered and not observing.is_on and sum(map(_size, wholes)) > MUCH:
        observing.want(narrow=False)
        if observing.wanted:
            raise UnstageableError("objects with much in them have methods that Python calls by itself",
                                   why="at each call all of it would be compared with what it was")
    return [*wholes, *reads_of(root).sources()]


def _is_guarded_as_a_whole(x: object) -> bool:
    """Whether Python may call methods of the object by itself, whose reads nobody notes."""
    return bool(reading(type(x))) or not OPERATORS.isdisjoint(dir(type(x)))


def _may_be_read(x: object) -> bool:
    """Whether code that is not captured may have read what is in an object: a method that Python calls by itself."""
    seen = observing.observation
    return seen is None or any(
        type(f) is not FunctionType or not is_captured(f.__code__.co_filename) or seen.may_have_run(f)
        for cls in classes_within(x) for f in asked_by_python(cls))


def _size(whole: of.Guard) -> int:
    """The bytes of the arrays in a snapshot."""
    return sum(len(block[2]) for block in whole.value.blocks if type(block) is tuple and type(block[2]) is bytes)


@unprofiled
def guard_all(root: Builder, things: Iterable) -> None:
    """Guard these objects, found in containers, and what they hold."""
    for x in reached(things, lambda x: Snapshot().add(list(python_objects.held_by(x)))):
        root.trace.sources += [*python_objects.state_of(x), *map(of.of_all_in, python_objects.held_by(x))]
        if is_open(x) and not isinstance(x, ModuleType):
            guard(root, x)


class Reads:
    """Walks from code that is not rewritten to all that it may read.

    The walk knows functions, what they name and close over, the objects found there, and of classes and modules what
    they have under names that the code uses (as names of attributes, or as texts). A missing name is a source, too: it
    may be there at the next call.
    """

    def __init__(self, trace: Any = None) -> None:
        self._trace = trace
        self.unknown = ""                                     # what cannot be watched, if there is such a thing
        self._ran = observing.narrow
        self._idle: list[tuple] = []                          # functions that have not run, as far as was observed
        self._telling: dict[str, set] = {}  # things that cannot be watched where code uses one of these names
        self._named_types: set[int] = set()                   # classes that functions name: others are not called
        self.seen: dict[int, Any] = {}  # what methods see as it was before the trace, since they are not captured
        # the same for names: (id of a module's global names, name), (id of a cell, "")
        self.names_of: set[tuple] = set()
        self.snapshot = Snapshot(deep=True, is_open=is_object)
        self._sources: list[of.Guard] = []
        self._known: dict[tuple, Any] = {}
        self._names: set[str] = set()                         # under which attributes may be read
        self._makers: dict[int, type] = {}                    # classes that code names: it may make their objects
        # id of a class or module -> it, its dict, the names that were looked up in it
        self._spaces: dict[int, tuple] = {}
        self._printing: dict[str, of.Guard] = {}              # guards on how NumPy writes numbers
        self._makes_texts = False                             # whether code that is not seen may make texts
        self._is_any_name = False                             # whether code makes names itself: getattr(o, f"w{k}")

    @unprofiled
    def add(self, *code: Callable) -> None:
        """Functions that are captured as they stand, and all that they lead to."""
        self._makes_texts = True
        self._walk([(f, None) for f in code])

    @unprofiled
    def add_classes(self, classes: Iterable) -> None:
        """Methods of classes that Python calls by itself."""
        called = [x for cls in classes for x in reading(cls)]
        if called:
            self._names |= {name for name, _ in called}
            for cls in classes:
                self._look_into(cls, unseen=True)
            self._walk([(f, True) for _, f in called])

    @unprofiled
    def add_handed(self, items: Iterable) -> None:
        """Objects that are handed to code which is not captured: it may read any attribute, of them and of their
        classes.
        """
        self._is_any_name = self._makes_texts = True
        self._walk([(x, False) for x in items])

    @unprofiled
    def end(self) -> None:
        """The trace is over: functions that have run since they were met are walked through."""
        idle, self._idle = self._idle, []
        for x, unseen in idle:
            self._known.pop((id(x), unseen), None)
        self._walk(idle)

    def sources(self) -> list:
        """All that was read, as sources of a trace."""
        classes = [x for x, *_ in self._spaces.values() if isinstance(x, type)]
        orders = [of.of_order(x) for x in classes]
        are_asked = not self._names.isdisjoint(python_objects.TEXTS)
        named = [x for x in self._known.values() if isinstance(x, (FunctionType, type))] if are_asked else []
        texts = [
            g
            for x in named
            for name in self._names & set(python_objects.TEXTS)
            if hasattr(x, name)
            for g in python_objects.of_function(x, name)
        ]
        inputs = self._trace.lifted_from.values() if self._trace else ()
        within = [of.of_all_before(self.snapshot.roots, inputs)] if self.snapshot.roots else []
        return [*self._sources, *self._printing.values(), *orders, *texts, *within]

    def _walk(self, queue: list) -> None:
        """queue: pairs of a thing and whether code reads it that is not captured at all; None: it is captured code."""
        while queue and not self.unknown:
            x, unseen = queue.pop()
            if (id(x), unseen) not in self._known:
                self._known[id(x), unseen] = x
                if unseen:
                    self.seen[id(x)] = x
                queue += [(y, bool(unseen)) for y in self._next(x, unseen)]
            if not queue:
                queue += [(y, True) for y in self._members()]
        # the names may have come after the things
        self.unknown = self.unknown or next(
            (tells for tells, names in self._telling.items() if not names.isdisjoint(self._names)), "")

    def _next(self, x: Any, unseen: "bool | None") -> Iterable:
        """The things that x refers to."""
        if self._ran is not None and not self._ran.may_have_run(x):
            self._idle.append((x, unseen))
            return ()
        if is_shared(x):
            self.unknown = f"what {getattr(x, '__name__', type(x).__name__)} tells"
            return ()
        if isinstance(x, (PurePath, IOBase)):
            self._telling[f"what {type(x).__name__} tells"] = SHARED_METHODS
        if is_setting(x):
            self._sources.append(of.AnswerGuard(x, x()))
            return (x(),)
        is_called = self._ran is None or not isinstance(x, type) or id(x) in self._named_types
        if is_called and (is_question(x) or is_effect(x)):
            self.unknown = f"what {x.__name__} says at each call"
            return ()
        if is_called and tells_today(x):
            self._telling[f"what {x.__name__} says at each call"] = DATES
        if isinstance(x, logging.Logger):                     # what is told is no part of what code reads
            self._telling["the settings of a logger"] = LOGGERS
            return put_into(x)
        if type(x) is FunctionType:
            self._names |= asked_for({x.__name__})
            return self._read_by(x, unseen) if is_captured(x.__code__.co_filename) else self._closed_over(x)
        if isinstance(x, functools.partialmethod):
            return x.func, x.args, x.keywords
        wrapped = wrapped_by(x)
        if wrapped:
            return wrapped
        if isinstance(x, (BaseException, weakref.ref, *VIEWS)):
            self._sources += python_objects.state_of(x)
            return led_to(x)
        if isinstance(x, GETTERS):
            self._names.update(part for name in x.__reduce__()[1] if isinstance(name, str) for part in name.split("."))
            return ()
        if isinstance(x, ContextVar):
            self._sources += of.of_variable(x)
            return led_to(x)
        if isinstance(x, (type, ModuleType)):
            self._sources += python_objects.of_decimals(x)
            self._makers.update({id(x): x} if isinstance(x, type) else {})
            self._look_into(x, unseen)
            return ()
        return self._inside(x, unseen)

    def _inside(self, x: object, unseen: "bool | None") -> Iterable:
        """The things that a container, an array or an object leads to, all of which are kept."""
        if isinstance(x, Iterator) and not isinstance(x, IOBase):
            self.unknown = f"an iterator ({type(x).__name__})"
        before = len(self.snapshot.nodes)
        leaves = self.snapshot.add(x)
        if len(self.snapshot.nodes) > MOST:
            self.unknown = f"more than {MOST} containers and objects"
        if len(leaves) == 1 and leaves[0] is x:
            self._sources += python_objects.state_of(x)
            return self._behind(x)
        if self._is_closed(x):
            self.unknown = f"what a {type(x).__name__} holds"
        new = list(islice(self.snapshot.nodes.values(), before, None))
        for cls in {type(node.owner): None for node in new}:
            self._look_into(cls, unseen)
        return [*leaves, *[y for node in new if not node.elements and not node.names for y in led_to(node.owner)]]

    def _behind(self, x: object) -> Iterable:
        """The things that an object leads to whose attributes are not kept."""
        if package := opaque_package_of(x):
            self.unknown = f"an object of {package}'s"
        elif self._is_closed(x):
            self.unknown = f"what a {type(x).__name__} holds"
        return led_to(x)

    def _is_closed(self, x: object) -> bool:
        is_untouched = type(x) in python_objects.LOCKS and self._names.isdisjoint(python_objects.ASK_LOCKS)
        return python_objects.is_closed_box(x) and not is_untouched

    def _closed_over(self, f: FunctionType) -> Iterable:
        """The function that a library's function has been made of, which may be the user's."""
        for cell in f.__closure__ or ():
            if not is_empty(cell):
                self._sources.append(of.VariableGuard(cell, cell.cell_contents))
                yield cell.cell_contents

    def _look_into(self, x: Any, unseen: "bool | None") -> None:
        """Note a class with those that it derives from, or a module, as something that names are looked up in."""
        if unseen:
            self.seen[id(x)] = x
        if isinstance(x, ABCMeta) and not self._names.isdisjoint(("isinstance", "issubclass")):
            self._sources.append(of.AnswerGuard(get_cache_token, get_cache_token()))  # whether classes were registered
        if isinstance(x, ModuleType):
            if is_open(x):
                self._spaces.setdefault(id(x), (x, vars(x), set()))
            return
        for c in (*x.__mro__, *type(x).__mro__):
            if is_users(c) and is_captured_class(c):
                self._spaces.setdefault(id(c), (c, vars(c), set()))

    def _read_by(self, f: FunctionType, unseen: "bool | None") -> Iterator:
        """The things that a function names; its code is a source."""
        code, space = f.__code__, f.__globals__
        self._sources.append(of.CodeGuard(f))
        used = names_used(code) | texts_in(code)
        self._names |= used | asked_for(used)
        self._is_any_name |= not used.isdisjoint(MAKE_NAMES)
        if runs_texts(code) or "__subclasses__" in used:
            self.unknown = "what eval, exec or __import__ reads, or which subclasses there are"
        if makes_texts(code):
            options = np.get_printoptions()
            self._printing.setdefault(str(options), of.AnswerGuard(np.get_printoptions, options))
        for name in imported_modules(code):
            self._sources += python_objects.of_import(name, "", None)
            yield from self._named([sys.modules.get(name)], used)
        lifted = self._trace.lifted if self._trace and unseen is None else ()          # its copy sees inputs there
        found = {name for name in global_names(code) if (id(space), name) not in lifted}
        self._sources += of.of_names(space, found)
        self._spaces.setdefault(id(f), (f, vars(f), set()))
        if unseen:
            self.names_of |= {(id(space), name) for name in found} | {(id(cell), "") for cell in f.__closure__ or ()}
        yield from self._named([space[name] for name in found if name in space], used)
        for cell in [cell for cell in f.__closure__ or () if (id(cell), "") not in lifted]:
            self._sources.append(of.VariableGuard(cell, content(cell, MISSING)))
            yield from () if is_empty(cell) else (cell.cell_contents,)
        yield from [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]

    def _named(self, values: list, names: set) -> Iterator:
        """Values of a function's names; of modules among them what these have under names that the function uses, too.
        """
        modules: dict[int, Any] = {}
        while values:
            x = values.pop()
            if not isinstance(x, ModuleType):
                self._named_types.update([id(x)] if isinstance(x, type) else [])
                yield x
            elif id(x) not in modules:
                modules[id(x)] = x
                found = [name for name in names if name in vars(x)]
                is_users = is_open(x)
                self._sources += of.of_names(vars(x), names if is_users else found)
                values += [vars(x)[name] for name in found if is_users or isinstance(vars(x)[name], CONTAINERS)]

    def _members(self) -> list:
        """The values that classes and modules have under names that were read since they were asked last."""
        found = []
        for x, space, known in self._spaces.values():
            is_any = self._is_any_name and (
                isinstance(x, type) or (isinstance(x, ModuleType) and is_captured(getattr(x, "__file__", None) or ""))
            )
            names = (self._names | self._called_in(x, space) | (space.keys() if is_any else set())) - known
            if names:
                self._sources += self._of_names(x, space, names)
                found += [space[name] for name in names if name in space]
                known |= names
        return found

    def _of_names(self, owner: object, space: Any, names: set) -> list:
        """Guards on names of a class or a module. The function may have set some: they are as they were before."""
        book = self._trace and self._trace.journal
        if not book or not book.is_noted(owner):
            return of.of_names(space, names)
        before = book.begun_as(owner)
        written = {n for n in names if n[:2] != "__" and before.get(n, MISSING) is not space.get(n, MISSING)}
        inputs = {n for n in written if ("attribute", id(owner), str, n) in self._trace.lifted_from}
        known = written - inputs
        own = [of.ItemGuard(space, n, before[n]) if n in before else of.AbsenceGuard(space, n) for n in known]
        return [*of.of_names(space, names - written), *own]

    def _called_in(self, x: object, space: Any) -> set:
        """Methods of a class that Python calls by itself; those that make texts only if code may make a text which does
        not name them.
        """
        if not isinstance(x, type):
            return set()
        functions = {n: function_of(f) for n, f in space.items() if n.startswith("__")}
        found = {n for n, f in functions.items() if type(f) is FunctionType}
        made = found if any(x in c.__mro__ for c in self._makers.values()) else found - MAKERS
        return made if self._makes_texts else made - TEXTS


MAKE_NAMES = {"getattr", "hasattr", "vars", "dir", "__dict__", "attrgetter", "methodcaller"}
GETTERS = (operator.attrgetter, operator.methodcaller)
