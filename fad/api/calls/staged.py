"""Staged functions: what jit, grad, vmap and their kin return.

A staged function has a body that computes on traced values: for `grad` it traces the user's function, differentiates
the program and runs the result. Called with arrays, the body is traced once for each kind of arguments and the program
is kept; called with traced values, the body runs where it stands. So transforms nest without a rule of their own.
"""
import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ...backend.running.executable import Program, nothing
from ...ir import stack
from ...kernels import lines
from ...trace.frontend.travel import keep_texts, texts_behind
from ...trace.guards.part_kinds import KINDS
from ...transforms.memory_budget import allowing
from ...util import tree
from ...util.ambient import put_back, snapshot
from ...util.defects import ignore_expected
from ...util.errors import BEYOND, ArgumentError, ConcreteValueError, SideEffectError
from ...util.interrupts import reraise_interrupt, within_handler
from ...util.memory import parse_bytes
from .error_text import raise_in_fads_words, strange_arguments
from .fallback import Fallback, Refusal, as_arrays, beyond_programs, is_of_a_way, is_of_none, passed_on, run_on_tape
from .leaves import call_on_tensors, level_of, of_its_own
from .notebook import staged_html
from .refusals import forget_refusals, note_refusal, refused_before
from .shared_programs import OfStaged, Sharing, forget, sharing_of
from .staged_programs import StagedPrograms
from .state import ChangingState
from .transform_cache import Keeper, first_of, keep_first

RECENT = 4                                                    # programs whose fast paths a call tries
MOST_WAYS = 4                                                 # programs for one way each that a call tries
SERVED = 512  # calls of one function that are answered by a shared program: by then they have cost a trace of its own


class Staged(StagedPrograms, Keeper):
    """A function that is traced on first use, and compiled when that pays.

    Attributes: `compilations`, how many kernels were compiled; `traces`, how many programs were traced.
    """

    __wrapped__: Callable

    def __init__(self, body: Callable, wrapped: Any, *, rebuild: tuple, compile: "str | None" = None,
                 static: tuple = (), writes: bool = False, fallback: "bool | None" = None,
                 plain: "Callable | None" = None):
        functools.update_wrapper(self, wrapped)
        self.body, self.rebuild, self.compile, self.static, self.writes = body, rebuild, compile, static, writes
        self.fallback, self.plain = Fallback(fallback, plain is not None), plain
        self.programs: dict[Any, list[Program]] = {}
        self.varying: set[int] = set()                       # leaves that are Python ints and have been seen to vary
        self.seen: dict[Any, dict[int, int]] = {}
        self.latest: Callable | None = None                   # the fast path of the latest call
        self.recent: tuple = ()                               # fast paths of programs, the latest first
        self.state = ChangingState()                          # what its programs change outside
        self.lifting: Sharing | None = None  # of the staged function of a pattern: what it knows of its slots
        self.server: Staged | None = None                     # such a function that has answered for this one
        self.served = 0                                       # how often
        # what tells this transform of a function from others
        self.options = (rebuild[0], *rebuild[1][1:], *rebuild[2].values())
        self.first = first_of(wrapped, self.options) or self  # such a transform of this function: they share programs
        if self.first is not self:
            self._adopt(self.first)

    def _adopt(self, first: "Staged") -> None:
        self.programs, self.varying = first.programs, first.varying
        self.seen, self.latest, self.recent, self.state = first.seen, first.latest, first.recent, first.state
        self.fallback.reasons = first.fallback.reasons

    def _register(self) -> None:
        """Keep the programs with the function, for later transforms of it."""
        if self.first is self:
            keep_first(self.rebuild[1][0], self.options, self)

    # -- calls -------------------------------------------------------------------------------------

    def __call__(self, *args: object, **kwargs: object) -> Any:
        fast = self.latest
        if fast is not None:
            try:
                result = fast(args, kwargs)
            except BEYOND as error:
                result = passed_on(error, fast)
            if result is not NotImplemented:
                return result
            if len(self.recent) > 1:
                result = self._by_another(args, kwargs)
                if result is not NotImplemented:
                    return result
        before, depth = snapshot(), len(stack.builders())
        try:
            return self._call(args, kwargs)
        except BaseException as error:
            put_back(before, error)
            del stack.builders()[depth:]
            raise

    def _by_another(self, args: tuple, kwargs: dict) -> Any:
        """The result by the fast path of an earlier program; NotImplemented if none takes the call."""
        for fast in self.recent:
            if fast is self.latest:
                continue
            try:
                result = fast(args, kwargs)
            except BEYOND as error:
                result = passed_on(error, fast)
            if result is not NotImplemented:
                self.latest = fast
                return result
        return NotImplemented

    def _call(self, args: tuple, kwargs: dict) -> object:
        if (self.served < SERVED and (self.server is not None or not self.programs)
                and not stack.builders() and not self.state.writes and not self.fallback.reasons):
            result = self._served(args, kwargs)
            if result is not NotImplemented:
                return result
        leaves, structure = tree.flatten((args, kwargs))
        level = level_of(leaves)
        if level or stack.builders():
            return self._within(level, leaves, args, kwargs)
        return self._by_program(leaves, structure, args, kwargs)

    def _within(self, level: int, leaves: list, args: tuple, kwargs: dict) -> object:
        """The result of a call with tensors or traced values, or within a trace."""
        if level and self.lifting is not None:
            return NotImplemented
        if level == 0 and within_handler():
            with stack.concrete():                           # the program that is being made has nothing to do with it
                return self._call(args, kwargs)
        if level == 1:
            return call_on_tensors(self, leaves, args, kwargs)
        return of_its_own(self.body(*args, **kwargs))        # what it closes over may be traced, if not its arguments

    def _by_program(self, leaves: list, structure: tree.Structure, args: tuple, kwargs: dict,
                    passed: "tuple[Program, ...]" = ()) -> object:
        """The result by a program that takes this call, by a new one if none does; on the tape if there can be none.
        passed: programs that are for another way.
        """
        signature = self._signature(leaves, structure)
        key, data, _ = signature
        strange = functools.partial(strange_arguments, getattr(self, "__wrapped__", None), args)
        again = functools.partial(self.fallback.again, lambda: self.on_tape(args, kwargs), strange)
        if key in self.fallback.reasons and self.fallback.is_on:
            return again()
        current = self._current(signature, passed)
        if (not current and not passed and self.server is None and not self.state.writes
                and (stale := self.programs.get(key)) and not self.state.notices(stale)):
            result = self._served(args, kwargs)
            if result is not NotImplemented:
                return result
        if not current and self.fallback.is_on and (known := refused_before(self)):
            self.fallback.tell(self._title(), *known)
            return again()
        refusal = None
        try:
            program = self._program(signature, leaves, structure, current, passed)
            is_new = not any(p is program for p in current)
            if is_new and self.fallback.is_on:
                self.state.refuse(key, program)
        except Exception as error:
            reraise_interrupt(error)
            refusal = Refusal(error, key, strange=strange)
        is_run = refusal is None
        result, refusal = self._run(program, data, key, strange) if is_run else (None, refusal)
        if refusal is not None and refusal.is_of_another_way and len(passed) + 1 < MOST_WAYS:
            return self._by_program(leaves, structure, args, kwargs, (*passed, program))
        if refusal is not None:                               # behind the handlers: users' code may ask for the error
            try:
                return self._instead(refusal, is_run, args, kwargs)
            finally:
                refusal = None                                # the error's traceback has this frame
        if result is NotImplemented:
            return self._call(args, kwargs)
        program.undo = nothing
        if is_new:
            self.state.settle(key, program)
            forget_refusals(self)
        if program.is_kept:
            self._hasten(program, data)
        return result

    def _instead(self, refusal: Refusal, is_run: bool, args: tuple, kwargs: dict) -> object:
        """The result on the tape, as there is no program, or (is_run) the program does not take these values."""
        error, key, said, strange = refusal
        with lines.said_before(said):
            result = self.fallback.instead(error, lambda: self.on_tape(args, kwargs), key, self._title(), strange)
        if not is_run:
            note_refusal(self, error)
        return result

    def _run(self, program: Program, data: list, key: tuple, strange: Callable) -> tuple:
        """The result of a program, or why this call goes to the tape."""
        try:
            program.refuse_shared(data)
            return program(data), None
        except Exception as error:
            program.undo()                                    # its trace has left what the function leaves to its end
            program.undo = nothing
            if isinstance(error, SideEffectError):            # of these arguments, and not of their kind
                return None, Refusal(error, (key, "shared"))
            if not isinstance(error, BEYOND):
                raise
            beyond = beyond_programs(error)
            if beyond is None or (is_of_a_way(beyond) and not self.fallback.is_on):
                raise_in_fads_words(error, strange())
            program.take_back()
            found = Refusal(beyond, (key, "None") if is_of_none(beyond) else key)
            return None, found._replace(lines=lines.of_failed()) if program.runner.tells else found

    def _hasten(self, program: Program, data: list) -> None:
        """Let the next call of this kind take the program's fast path."""
        before, fast = program.fast, program.fast_path(data, sum(map(len, self.programs.values())) == 1)
        if fast is not None and fast is not self.latest and program.is_current():
            others = [other for other in self.recent if other is not fast and other is not before]
            self.latest = self.first.latest = fast
            self.recent = self.first.recent = (fast, *others[:RECENT - 1])

    def _served(self, args: tuple, kwargs: dict) -> Any:
        """A staged function's answer that serves all functions of this one's kind; NotImplemented if there is none."""
        sharing, parts = (None, None) if self.lifting is not None else sharing_of(self)
        if sharing is None or parts is None:
            return NotImplemented
        lines.of_failed()
        try:
            result = sharing.serve(parts, sharing.staged, *args, **kwargs)
        except Exception as error:                            # of this function it may be another error, or none
            ignore_expected(error, "functions made anew share no program")
            said = lines.of_failed()
            self.served = SERVED if said else self.served     # what it has said is not said again
            with lines.said_before(said):
                return self._call(args, kwargs) if said else NotImplemented
        if result is not NotImplemented:
            self.server, self.served = sharing.staged, self.served + 1
        return result

    def of_pattern(self, sharing: Sharing) -> "Staged":
        """The same transform of a pattern of functions."""
        static = tuple([k + sharing.count if isinstance(k, int) else k for k in self.static])
        make, (_, *options), kwargs = self.rebuild
        none = SimpleNamespace(__name__=getattr(self, "__name__", "f"))  # it stands for the function, which is not kept
        made = type(self)(sharing.body(lambda f: make(f, *options, **kwargs)), none,
                          rebuild=(make, (none, *options), kwargs), compile=self.compile, static=static,
                          writes=self.writes, fallback=False)
        made.lifting = sharing
        return made

    def on_tape(self, args: tuple, kwargs: dict) -> Any:
        """The call step by step, everything known; a function that is not differentiated simply runs."""
        if self.plain is not None:
            return self.plain(*args, **kwargs)
        return run_on_tape(self.body, args, kwargs, self.kernel_name, self.delivered)

    def delivered(self, tape: Any, result: object) -> Any:
        """The result of the body on the tape, as the call returns it."""
        return as_arrays(tape, result)

    # -- looking -----------------------------------------------------------------------------------

    def program_for(self, *args: object, **kwargs: object) -> "tuple[Program, list]":
        """The program for these arguments, without running it, and its data."""
        leaves, structure = tree.flatten((args, kwargs))
        return self.program(leaves, structure)

    def traced_for(self, *args: object) -> Any:
        """The trace for these arguments, of this function or of another one of its kind."""
        sharing, parts = (None, None) if self.programs else sharing_of(self)
        if sharing is not None and parts is not None:
            try:
                return sharing.serve(parts, sharing.staged.program_for, *args)[0].traced
            except Exception as error:                        # this function's own trace says what it is
                ignore_expected(error, "functions made anew share no program")
        return self.program_for(*args)[0].traced

    @property
    def kernel_name(self) -> str:
        """The name of the transform in generated code: grad, jit, hessian, ..."""
        return self.rebuild[0].__name__.strip("_")

    def _title(self) -> str:
        """The name of the function in messages."""
        return f"{getattr(self.__wrapped__, '__name__', 'f')} (in fad.{self.kernel_name.removesuffix('_of')})"

    @property
    def traces(self) -> int:
        return sum(len(p) for p in self.programs.values()) + (0 if self.server is None else self.server.traces)

    @property
    def compilations(self) -> int:
        own = sum(program.compilations for programs in self.programs.values() for program in programs)
        return own + (0 if self.server is None else self.server.compilations)

    def njit(self, *examples: object) -> Any:
        """The compiled program for arguments like these as a Numba dispatcher, to be called from @njit code.

        Each array and number among the examples is an argument of the dispatcher, in order. Ints that the program's
        structure depends on (an axis) are constants, and so are arrays that the function closed over. Raises
        BackendError if there is no compiled form, and SideEffectError if the function writes to arrays from outside or,
        under jit, to its arguments.

        >>> import numpy as np, fad
        >>> g = fad.grad(lambda x: np.sum(x ** 3)).njit(np.ones(3))
        >>> g(np.array([1.0, 2.0]))
        array([ 3., 12.])
        """
        before = set(self.varying)
        self.varying.update(k for k, x in enumerate(tree.flatten((examples, {}))[0]) if type(x) is int)
        try:
            program, data = self.program_for(*examples)
            serves_all = not _fixes_an_int(program.traced.guards)
        except ConcreteValueError:
            serves_all = False
        if not serves_all:
            self.varying = before
            program, data = self.program_for(*examples)
        program.require_standalone()
        return program.runner.dispatcher(data + list(program.traced.captured), len(data))

    def clear(self) -> None:
        """Forget every program."""
        self.programs, self.latest, self.recent, self.first, self.server, self.served = {}, None, (), self, None, 0
        self.state = ChangingState()
        forget(self)
        self.fallback.reasons.clear()

    # -- as a function -----------------------------------------------------------------------------

    def __get__(self, instance: object, owner: object = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> tuple:
        make, args, kwargs = self.rebuild
        return _rebuild, (make, args, kwargs, texts_behind(args[0]))

    def __dir__(self) -> list:
        """The names that are there for users."""
        return sorted({"njit", "clear", "compilations", "traces",
                       *[name for name in object.__dir__(self) if name.startswith("__")]})

    def __repr__(self) -> str:
        make, args, _ = self.rebuild
        return f"<fad.{make.__name__} of {getattr(args[0], '__qualname__', args[0])}>"

    def _repr_html_(self) -> str:
        return staged_html(self)


KINDS[Staged] = OfStaged()


def _fixes_an_int(guards: tuple) -> bool:
    """Whether a program with these guards is one for a single value of an int argument."""
    return any(relation == "==" and all(axis is None for (_, axis), _ in terms) for relation, terms, _ in guards)


def _rebuild(make: Callable, args: tuple, kwargs: dict, texts: tuple = ()) -> Any:
    keep_texts(texts)
    return make(*args, **kwargs)


def policy(compile: "str | None") -> dict:
    """The option `compile`, checked, where it is given."""
    if compile not in (None, "auto", "now", "never"):
        raise ArgumentError(f"compile is 'auto', 'now', 'never' or None, not {compile!r}", do="give one of these")
    return {} if compile is None else {"compile": compile}


def as_tuple(x: object) -> tuple:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def within(memory: object, body: Callable) -> Callable:
    """The body of a transform whose loops save at most `memory` bytes (see util/memory.py) for reverse sweeps."""
    if memory is None:
        return body
    limit = parse_bytes(memory)

    @functools.wraps(body)
    def limited(*args: object, **kwargs: object) -> Any:
        with allowing(limit):
            return body(*args, **kwargs)
    return limited


AT_ONCE = ("jvp", "vjp", "hvp", "vhp", "linearize", "explain", "show", "source", "export", "certify", "cfunc", "stages",
           "draw")                                            # fad.jvp(f, x), not fad.jvp(f)(x)
STEERING = ("defjvp", "defvjp", "cond", "switch", "while_loop", "fori_loop", "scan")


def check_callable(f: object, what: str) -> Any:
    """f, if it can be called."""
    if not callable(f):
        how = ("pass the function, not what it returns" if what in STEERING
               else f"fad.{what}(f{', x' if what in AT_ONCE else ')(x'}), not fad.{what}(f(x))")
        raise ArgumentError(f"{what} needs a function, not {type(f).__name__}", do=how)
    return f

