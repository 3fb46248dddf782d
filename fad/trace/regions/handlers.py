"""Errors that the user's code handles: `try` with handlers, and `with` whose manager takes errors in.

Handlers run while the function is traced. So what they may see has to happen then, and has to be sure to happen: an
error of the program comes too late, and an error on a way that the program may not take comes too early. A `try` with
either is traced once for each way through it (see paths.py). Where that cannot be, the function is not staged. An error
of sizes is one for the sizes at hand.
"""
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ...ir.build import Builder, Value, at_line, current, left_region
from ...ir.graph import Equation
from ...ir.op import registry
from ...ops.carry import UNDEFINED
from ...util.defects import for_user, is_expected, is_of_users_line, is_users, refusal_behind
from ...util.errors import (
    BEYOND,
    BEYOND_MARKS,
    RAISED_ON_A_WAY,
    FadError,
    UnstageableError,
)
from ...util.listening import listening, raised
from ...util.profiled import unprofiled
from ...util.refusals import Remembered
from ...util.where import here, is_own, line_of, module_name
from ..guards.guard import AnswerGuard
from ..values.text import told
from .failures import DataDependentText, class_of, first_that_raises, may_be_told


class ForkFoundError(Exception):
    """A `try` has forks: it is to be traced path by path (see paths.py). kinds: the errors that its handlers take; eqn:
    an equation that may raise one.
    """

    def __init__(self, kinds: tuple, eqn: Equation):
        super().__init__(kinds)
        self.kinds, self.eqn = kinds, eqn


@contextmanager
def caught(handled: Callable, error_of: Callable) -> Iterator[None]:
    """Around code whose errors are handled: an error of the program, which comes when it runs, would pass the handlers
    by. handled: gives what they take in; error_of(kinds, eqn): the error where an equation may raise some of these.
    """
    builder, start = current(), len(current().equations)

    def refuse_raising() -> None:
        kinds, equations = kinds_of(handled), builder.equations[start:]
        if _takes_in_numpys(kinds) and any(map(may_be_told, equations)):
            builder.root.trace.sources.append(AnswerGuard(raised, raised()))
        found = first_that_raises(equations, kinds)
        if found is not None:
            raise error_of(kinds, found)
    note_strictness()
    try:
        yield
    except Exception as error:
        if is_expected(error) and not isinstance(error, (Remembered, ForkFoundError)):
            refuse_raising()
        raise
    note_lines(builder.equations[start:])
    refuse_raising()


def kinds_of(handled: Callable) -> tuple:
    """The classes that handlers take in."""
    kinds = tuple(kind for handler in handled() for kind in (handler if isinstance(handler, tuple) else (handler,)))
    return kinds + (FloatingPointError,) if _takes_in_numpys(kinds) else kinds


def refused(kinds: tuple, eqn: Equation) -> UnstageableError:
    """The error for an equation that may raise what a handler takes in."""
    return UnstageableError(f"{eqn.op.name} in a try with handlers may raise an error when the program runs",
                            where=eqn.where, why="handlers are part of the function, and not of the program",
                            do="test for what may go wrong instead")


def note_lines(equations: list) -> None:
    """Note that the function handles what is raised where these lines are said (see runtime/output.py)."""
    for eqn in equations:
        if eqn.op.name == "tell":
            eqn.params["function"].is_handled = True
        for region in eqn.regions:
            note_lines(region.equations)


@contextmanager
def on_tape() -> Iterator[None]:
    """The same on the tape, where errors come when they are to be handled: warnings, too, where these are errors."""
    root = current().root
    before, root.trace.strict = root.trace.strict, True
    try:
        yield
    finally:
        root.trace.strict = before


def note_strictness() -> None:
    """Note it if NumPy is told to raise errors of floating point, or Python to raise warnings: any operation on floats
    may raise one then.
    """
    now = listening()
    if now.is_error or now.errors:
        current().trace.strict = True


@unprofiled
def note_listeners() -> None:
    """Note it if the function has asked to be told of what goes wrong: NumPy's errors raised or handed to a function,
    warnings recorded or raised.
    """
    root = current().root
    if root.trace.listeners is None and listening().adds_to(root.trace.listening):
        root.trace.listeners = here()


def refuse_listeners(root: Builder) -> None:
    """An error if the function has asked for that."""
    if root.trace.listeners is not None:
        raise UnstageableError(
            "the function asks to be told of floating-point errors or warnings",
            where=root.trace.listeners,
            why="operations tell of them when the program runs, and what hears of them is part of the function",
            do="test for what may go wrong instead",
        )


def _takes_in_numpys(kinds: tuple) -> bool:
    """Whether handlers of these kinds take in errors of floating point, where NumPy or Python is told to raise them.
    """
    return (issubclass(FloatingPointError, kinds) or issubclass(RuntimeWarning, kinds)
            or any(issubclass(kind, Warning) for kind in kinds))


def _clear_own_frames(error: BaseException) -> None:
    """Let go of what frames of fad's hold that an error has left: Python's loop has no iterator any more."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if is_own(frame.f_code.co_filename):
            with suppress(RuntimeError):                      # it is still running
                frame.clear()


def pass_on(error: Any, is_tracing: bool = True) -> None:
    """In a handler: what tracing cannot do is no error of the user's code, what is not sure to happen is no error yet,
    and what comes from outside the function says nothing of it.
    """
    _clear_own_frames(error)
    refusal = refusal_behind(error)
    if isinstance(refusal, Remembered):
        raise refusal
    if isinstance(error, Remembered) or not is_expected(error):
        raise error
    if is_tracing and left_region(error):
        raise UnstageableError(
            f"{type(error).__name__} in a branch or loop is handled around it: {told(error)}",
            do="test for what may go wrong instead",
            why="tracing goes every way, and the handler is to run only where this one is taken",
        ) from error
    if is_tracing and (isinstance(error, FadError) or (_is_found_by_fad(error) and not is_users(error))):
        _fix_sizes()
    if isinstance(error, FadError):                           # the handler sees what Python or NumPy says
        error.args = (error.what,)


def is_pythons(error: Exception) -> bool:
    """Whether Python, or a `raise` of the user's, says of plain values that something is wrong: it is so only where the
    program gets there.
    """
    if is_users(error):
        is_known = not isinstance(error, TypeError)
    else:
        is_known = isinstance(error, (LookupError, ArithmeticError)) or _is_about_none(error)
    return is_known and not isinstance(error, FadError) and is_of_users_line(error)


def _is_about_none(error: Exception) -> bool:
    """Whether something was done that None cannot do: a - None, None[0], None.x, None()."""
    return isinstance(error, (TypeError, AttributeError)) and "'NoneType'" in str(error)


def check_of(error: BaseException, is_found: bool) -> dict:
    """The error of a program's check: what it says, and its class. A program knows Python's own classes, and errors
    that are made from one text. For all others, and for what was found while the program was made (is_found), the tape
    does what Python does.
    """
    cls, args = type(error), error.args
    known = [c for c in cls.__mro__ if module_name(c) == "builtins" and not issubclass(c, UnicodeError)]
    if cls in known and len(args) < 2 and all(type(x) is str for x in args) and not is_found:
        return {"what": args[0] if args else "", "error": cls.__name__}
    kind = _beyond_a_program(known)
    says_numbers = any(isinstance(x, DataDependentText) for x in args)
    return {"what": f"{RAISED_ON_A_WAY}: {cls.__name__ if says_numbers else told(error)}", "error": kind}


def _beyond_a_program(classes: Iterable) -> str:
    """The class of the error by which a program says that it does not take these values."""
    return next((c.__name__ for c in classes if issubclass(c, BEYOND)), "ValueError")


def raised_here(error: Exception) -> Any:
    """Let the program raise such an error where it takes this side of a branch; it has no value then. The tape says
    what Python says, if it does.
    """
    selector, side = current().region.side
    with at_line(line_of(error)):
        let_raise(error, selector, side, is_found=True)
    return UNDEFINED


def let_raise(error: BaseException, selector: Value, side: bool, is_found: bool = False) -> None:
    """Let the program raise an error on this side of a branch."""
    registry["check_that"](selector, not side, **check_of(error, is_found))
    check = current().equations[-1]
    current().trace.raised[id(check)] = check, type(error)


def _is_found_by_fad(error: BaseException) -> bool:
    """Whether fad found it, of a traced value, and not Python in the user's own line."""
    tb: Any = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    return is_own(tb.tb_frame.f_code.co_filename)


def _fix_sizes() -> None:
    """The program is for the extents and ints at hand: others may not be wrong, or be wrong where these are not."""
    facts = current().integers
    for n in list(facts.dims):
        facts.pin(n, here())


def leave_to_tape(equations: list) -> None:
    """Let the tape make the call anew where one of these equations raises what the function checks."""
    for eqn in equations:
        what = str(eqn.params["what"]) if eqn.op.name == "check_that" else RAISED_ON_A_WAY
        if not what.startswith(BEYOND_MARKS):
            eqn.params |= {"what": f"{RAISED_ON_A_WAY}: {what}", "error": _beyond_a_program(class_of(eqn).__mro__)}
        for region in eqn.regions:
            leave_to_tape(region.equations)


class Context:
    """A context manager that takes in, of what is raised under it, only what a handler may see. One of the user's is
    told of errors: if the program raises one, the call is made anew on the tape.
    """

    def __init__(self, manager: Any, is_told_of_errors: bool):
        self.manager, self.is_told_of_errors, self.start = manager, is_told_of_errors, len(current().equations)
        self.watch: Any = caught(lambda: manager._exceptions, refused) if isinstance(manager, suppress) else None  # type: ignore[attr-defined]

    @for_user
    def __enter__(self) -> Any:
        if self.watch is not None:
            self.watch.__enter__()
        if not hasattr(type(self.manager), "__enter__"):
            with self.manager:                                # Python says what is missing
                pass
        entered = self.manager.__enter__()
        note_listeners()
        return entered

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> "bool | None":
        is_taken_in = self.manager.__exit__(kind, error, traceback)
        if error is not None and is_taken_in:
            pass_on(error)
        if self.watch is not None:                            # an error that goes on comes after what may be taken in
            self.watch.__exit__(*((None, None, None) if is_taken_in else (kind, error, traceback)))
        elif self.is_told_of_errors:
            leave_to_tape(current().equations[self.start:])
        return is_taken_in
