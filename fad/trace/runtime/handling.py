"""Errors and assertions of rewritten functions: `try`, `raise`, `assert`, and managers that take errors in."""
import functools
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import FrameType
from typing import Any

from ...ir import stack
from ...ir.build import Value, current
from ...ir.op import registry
from ...ops.conditional import around
from ...util.defects import for_user
from ...util.where import is_own
from ..frontend.origin import is_block
from ..heap.locking import HeldLock, is_lock
from ..heap.state import cells_of
from ..regions import handlers
from ..regions.branch import run_side
from ..regions.handlers import ForkFoundError
from ..regions.paths import follow, path_here
from ..regions.recursion import Branches
from ..regions.unroll import attempted
from ..values import text
from .calls import is_tracing
from .parts import RuntimePart


class Managed:
    """A context manager whose methods are captured."""

    def __init__(self, manager: object, enter: Callable, leave: Callable):
        self.manager, self.enter, self.leave = manager, enter, leave

    def __enter__(self) -> Any:
        return self.enter(self.manager)

    def __exit__(self, *error: object) -> Any:
        return self.leave(self.manager, *error)


class HandlingRuntime(RuntimePart):
    """The part of the runtime (see control.py) that sees to errors."""

    branches: Branches

    # -- try ---------------------------------------------------------------------------------------

    def try_(self, statement: Callable, names: tuple, own: tuple) -> None:
        """A `try` with handlers. It is traced as it stands, and path by path once it is known to have forks. names,
        own: its variables that are live behind it, and those that it binds.
        """
        if not is_tracing():
            statement()
            return
        cells, code = cells_of(statement), statement.__code__
        if code in self.forking or self._has_forks(code, statement, cells):
            try:
                with self.branches.entered(code):
                    self._follow(code, statement, cells, names, own)
            except ForkFoundError as found:
                raise handlers.refused(found.kinds, found.eqn) from None

    def _has_forks(self, code: object, statement: Callable, cells: dict) -> bool:
        """Whether a `try` has forks. Else it is traced as it stands."""
        try:
            attempted(statement, cells, undone=ForkFoundError)
            return False
        except ForkFoundError as found:
            self.forking[code] = found.kinds
            return True

    def _follow(self, code: object, statement: Callable, cells: dict, names: tuple, own: tuple) -> None:
        """Trace the paths through a `try`. Those within it are statements of their own, unless they raise what its own
        handlers take.
        """
        path = path_here()
        if path is not None and path.is_flat:
            with path.widened(self.forking[code]):
                statement()
            return
        trace = functools.partial(follow, statement, cells, names, own, self.forking[code])
        if code not in self.flat:
            try:
                attempted(lambda: trace(False, set()), cells, undone=ForkFoundError)
                return
            except ForkFoundError:
                self.flat.add(code)
        trace(True, set())

    def caught(self, handled: Callable) -> Any:
        """The context in which a `try` and its handlers run."""
        return handlers.caught(handled, ForkFoundError) if is_tracing() else _untraced()

    def caught_plainly(self, handled: Callable) -> Any:
        """The context of a `try` that cannot be traced again (in a generator), or in which the runtime itself takes
        errors of the user's methods for answers.
        """
        return handlers.caught(handled, handlers.refused) if is_tracing() else _untraced()

    def pass_on(self) -> None:
        handlers.pass_on(sys.exc_info()[1], is_tracing())

    @staticmethod
    def unbound(kinds: Any) -> Any:
        """The classes that a handler takes which names UnboundLocalError: the name may be free in a block, and Python
        raises another error then.
        """
        is_free = type(sys.exc_info()[1]) is NameError and "free variable" in str(sys.exc_info()[1])
        return (kinds, NameError) if is_free and issubclass(UnboundLocalError, kinds) else kinds

    def context(self, manager: object) -> Any:
        """The context manager that a with statement enters."""
        manager = self._managed(manager)
        return handlers.Context(manager, type(manager) is Managed) if is_tracing() else manager

    def _managed(self, manager: Any) -> Any:
        """The manager, or what stands for it: of a lock, and of one whose methods are captured."""
        if is_tracing() and is_lock(manager):
            return HeldLock(manager)
        enter, leave = self.special(manager, "__enter__"), self.special(manager, "__exit__")
        if enter is None and leave is None:
            return manager
        return Managed(manager, enter or type(manager).__enter__, leave or type(manager).__exit__)

    # -- raise and assert ----------------------------------------------------------------------------

    @for_user
    def assert_(self, test: object, message: "Callable | None") -> None:
        test = self.truth(test)
        if not isinstance(test, Value) and (test or not (is_tracing() and stack.is_region())):
            assert test, message() if message is not None else ""
            return
        with text.telling():
            registry["check_that"](test, True, what=str(message()) if message is not None else "")

    def raises(self, error: Callable) -> bool:
        """Whether a raise statement is to be carried out now. In a region of the program it is the program that raises,
        if it gets there. On a path through a `try` Python does.

        A function that a branch calls has no result then, and its caller cannot go on: there the error goes on to the
        branch (see branch.py), or to a loop that ends by it.
        """
        if not is_tracing():
            return True
        paths = current().trace.paths
        branch = next((b for b in around(current()) if b.region.side is not None), None)
        is_on_path = bool(paths) and paths[-1].builder is current()
        if branch is None or is_on_path or not _is_of_side(sys._getframe(1)):
            return True
        made = error()
        made = made() if isinstance(made, type) else made
        made = made if isinstance(made, BaseException) else TypeError("exceptions must derive from BaseException")
        with text.telling():
            handlers.let_raise(made, *branch.region.side)
        return False


def _is_of_side(frame: "FrameType | None") -> bool:
    """Whether a statement stands in the branch itself, and not in a function that the branch calls."""
    while frame is not None and (is_own(frame.f_code.co_filename) or is_block(frame.f_code)):
        if frame.f_code is run_side.__code__:
            return True
        frame = frame.f_back
    return False


def _untraced() -> Any:
    """The context of a `try` that is not traced: on the tape errors come when they are to be handled."""
    return handlers.on_tape() if stack.is_live() else nullcontext()
