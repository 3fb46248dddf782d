"""A runner: one Func, run on arrays in the tier that pays. Interpreted at first, compiled when it is hot."""
import functools
import math
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.graph import Equation, Func, Var, all_equations, has_loop, is_counted, is_loop
from ...ir.interpreter import Interpreter
from ...kernels import lines
from ...ops.control import LESS
from ...passes.pipeline import optimise
from ...util.cached import cached_attribute
from ...util.collection import collection_paused
from ...util.config import config
from ...util.defects import warn_of
from ...util.errors import TapeMemoryError
from ...util.exclusion import compiling
from ...util.forks import lost_compiler, renewed
from ...util.interrupts import interrupt_behind, reraise_interrupt, within_handler
from ...util.lazy import LazyModule
from ...util.log import patient, tell, timed
from ...util.patience import OutOfPatience, patience, rest_of_call
from ...util.where import outside_fad
from .callbacks import calls_python, linked, with_prints
from .kernel import Kernel
from .kernel_arrays import owned, plain
from .tiers import LOOK, SHARE, WAIT, Job, compile_time, example, holds_locks, is_set_up, load_time, note_time

numba = LazyModule("numba")
_compiling, _taking = renewed(threading.RLock()), renewed(threading.RLock())
CALL = 3_000                                                # elements that NumPy adds in the time of a call
UNPRINTED = "?"                                             # stands for a text that could not be printed
compiler = LazyModule("fad.backend.running.compile")               # the interpreter does without


class Runner:
    """Runs a Func: `run(values) -> outputs`. `kernel` is its compiled form, once there is one."""

    def __init__(self, func: Func, policy: "str | None", name: str = "kernel", guards: tuple = ()):
        self.func, self.policy, self.name = optimise(func), policy, name
        self.linked, self.callbacks = linked(self.func)      # the Func as a kernel has it, and what that calls back
        self.link = () if self.callbacks is None else (self.callbacks.number,)        # the kernel's further inputs
        self.guards = strongest(guards + _larger_than_one(self.func))
        self.evaluate = Interpreter(self.func)
        self.kernel: Kernel | None = None
        self.refused = ""
        self.compilations = 0
        self.compiled_in = 0.0                               # seconds
        self.from_disk = False
        self.size = count_equations(self.func)
        self.interpreted_for = 0.0
        self.longest = 0.0                                   # seconds, of the interpreter's calls
        self.text = ""                                       # of the kernel, once it is printed
        self.is_on_disk = False
        self.job: Job | None = None                          # that compiles the kernel in the background
        self.paused_at = 0.0                                 # seconds of the interpreter until it last let the job on
        self.started_at = 0.0                                # when the job began
        self.held = 0.0                                      # seconds of the interpreter in which it could not go on
        self.work: Any = None  # what the loops of a kernel do that runs on one thread: see work.Work
        self.loops = any(has_loop(eqn) for eqn in self.func.equations)
        self.weights = weights(self.func)
        self.tells = any(eqn.op.traits.tells for eqn in all_equations(self.func))  # a call is never begun a second time

    def run(self, values: list) -> tuple:
        """The outputs on these values (arrays and numbers, in the order of the Func's inputs)."""
        if not self.tells:
            return self._run(values)
        with lines.counted():
            return self._run(values)

    def _run(self, values: list) -> tuple:
        if self.kernel is None and not self.refused and self._should_compile(values):
            self._compile(values)
        if self.kernel is not None:
            if self.work is not None and any(self.work.is_much(values)):
                self._outgrow(values)
            return self.run_kernel(self.kernel, [plain(x) for x in values])
        try:
            return self.interpret(values)
        except OutOfPatience:                                # there is a kernel
            self._compile(values)
            return self._run(values)

    def interpret(self, values: list) -> tuple:
        """The outputs by the interpreter, whose processor time is counted: other programs may have the processor."""
        started = time.thread_time()

        def ask() -> float:
            nonlocal started
            before = time.thread_time()
            left = self._wait(values, self.interpreted_for + before - started)
            started += time.thread_time() - before
            return left
        try:
            with stack.concrete(), np.errstate(all="ignore"), patience(self._patience(), ask, self.weights):
                outputs = self.evaluate(values)
        finally:
            took = time.thread_time() - started
            self.interpreted_for += took
            self.longest = max(self.longest, took)
        if self.text and self.job is None and self._patience() is not None:
            self._wait(values, self.interpreted_for)         # a compilation that was not to disturb this call
        return tuple([owned(y, values) for y in outputs])

    def run_kernel(self, kernel: Kernel, values: list) -> tuple:
        """The outputs by the kernel."""
        try:
            outputs = kernel.call(*values, *self.link)
        except MemoryError as error:
            if self.callbacks is not None and self.callbacks.raised(error):
                raise
            raise TapeMemoryError(str(error), do=LESS) from None
        return {0: (), 1: (outputs,)}.get(len(self.func.outputs), outputs)

    @cached_attribute
    def least_work(self) -> int:
        """See work.Work.least."""
        least: int = self.work.least()
        return least

    def source(self, name: "str | None" = None) -> str:
        """The generated Python."""
        return compiler.source(self.linked, name or self.name, guards=self.guards)

    def by_itself(self) -> "Runner | None":
        """A runner of the same program that calls no Python functions, if it does so only to print."""
        if self.callbacks is None:
            return self
        func = with_prints(self.func)
        return None if calls_python(func) else Runner(func, self.policy, self.name, self.guards)

    def dispatcher(self, values: list, count: int) -> Any:
        """The kernel for compiled callers, which give the first `count` values; the others are constants of it."""
        if self.callbacks is not None:                       # an error of theirs would be lost in Numba's prange
            alone = self.by_itself()
            if alone is None:
                raise compiler.BackendError("it calls Python functions, such as a solver of SciPy's or a logger, and "
                                            "compiled callers may run where Python cannot: call it from Python")
            return alone.dispatcher(values, count)
        if self.kernel is None:
            self._compile(values)
        if self.kernel is None:
            raise compiler.BackendError(self.refused)
        return bound(self.kernel.call, [plain(x) for x in values[count:]], count)

    def _text_for(self, values: Sequence) -> str:
        """The text that is compiled for values like these."""
        text, self.work = compiler.source_for(self.linked, self.name, self.guards, values, config.threads)
        return text

    def _outgrow(self, values: Sequence) -> None:
        """These arguments are larger than those that the kernel was compiled for: one on all cores takes its place,
        once it is there.
        """
        job = self.job
        if job is not None and not job.is_over():
            return
        made: Callable = job.answer if job is not None and job.has_answer() else self._made_anew(values)
        if job is None:
            self.job = job = Job.start(made)
            if job is not None and (self.policy or config.compile) == "auto":
                return
            made = _answer(job, made)
        self.job = self.work = None
        self._take(made)

    def _made_anew(self, values: Sequence) -> Callable:
        """A function that makes the kernel for values like these."""
        text, _ = compiler.source_for(self.linked, self.name, self.guards, values, config.threads)
        return functools.partial(self._made, text, tuple([example(x) for x in values]))

    # -- tiers -------------------------------------------------------------------------------------

    def _should_compile(self, values: list) -> bool:
        """Whether this call is for the kernel, which may be there by now."""
        if _compiling._is_owned():               # a signal handler has interrupted this thread's compilation
            return False
        policy = self.policy or config.compile
        if policy != "auto":
            return policy == "now"
        return self._wait(values, self.interpreted_for) <= 0.0 or self._is_worth_waiting()

    def _wait(self, values: list, spent: float) -> float:
        """For how many seconds the interpreter, which has spent so many, is to go on until it looks again; 0: not at
        all.
        """
        job, loading, rest = self.job, load_time(self.size), rest_of_call()
        if job is not None:
            return self._share(job, spent)
        if rest <= loading and (rest > 0.0 or spent < loading):
            return LOOK if rest > 0.0 else min(loading - spent, LOOK)
        if not self.text:
            self._look(values)
        if self.is_on_disk:
            return 0.0
        compiling = compile_time(self.text)
        if not self._is_long(rest, compiling) and spent < self._bound(rest, compiling):
            return LOOK
        work = functools.partial(self._made, self.text.strip(UNPRINTED), tuple([example(x) for x in values]))
        self.job, self.paused_at, self.started_at, self.held = Job.start(work), spent, time.perf_counter(), 0.0
        return 0.0 if self.job is None else LOOK

    def _is_long(self, rest: float, compiling: float) -> bool:
        """Whether it is better to wait for a compilation than to interpret the rest of a call. Iterations are alike,
        equations are not: nobody waits for the sake of the latter.
        """
        return self.loops and rest > max(WAIT * compiling, 0.0)

    def _bound(self, rest: float, compiling: float) -> float:
        """The seconds of the interpreter after which a compilation begins. A call that is likely to end first is not
        disturbed.
        """
        if rest == 0.0 or rest > (WAIT if self.loops else 1.0) * compiling:
            return SHARE * compiling
        return float("inf") if self.loops else compiling

    def _share(self, job: Job, spent: float) -> float:
        """Leave Python's lock to the compilation for half of the time in which it needs it, and answer as _wait does.

        Of two threads that ask for the lock, one that often gives it back for a moment, as LLVM's calls do, would wait
        five milliseconds each time. Equations that take longer than LOOK are NumPy's work on large arrays, which leaves
        the lock to others. Where the rest of a loop would take longer than that of the compilation, the loop waits.
        """
        paused = 0.0
        if spent - self.paused_at >= LOOK:
            self.held += spent - self.paused_at if job.needs_lock() else 0.0
            before, rest, self.paused_at = time.perf_counter(), rest_of_call(), spent
            left = compile_time(self.text) - (before - self.started_at - self.held)
            if self.loops and 2.0 * rest > max(left, 0.0):
                job.wait_for(2.0 * rest)
            elif job.needs_lock():
                job.wait_for(LOOK)
            paused = time.perf_counter() - before
        return 0.0 if job.is_over() else max(LOOK, paused)

    def _patience(self) -> "float | None":
        """The seconds of this call until the interpreter asks whether to go on; None: it does not ask."""
        if self.tells or self.refused or (self.policy or config.compile) != "auto":
            return None
        return LOOK

    def _is_worth_waiting(self) -> bool:
        """Whether the rest of the compilation is likely to take less time than another call, which nothing may
        interrupt.
        """
        return self.job is not None and self.tells and self.longest > compile_time(self.text) \
            and not within_handler()

    def _look(self, values: Sequence) -> None:
        """Print the text, and see whether its kernel is on disk."""
        try:
            self.text = self._text_for(values)
            self.is_on_disk = compiler.is_cached(self.text, self.name)
        except Exception as error:                           # compilation, which tells of it, prints it again
            reraise_interrupt(error)
            self.text = self.text or UNPRINTED

    def _compile(self, values: list) -> None:
        """Have the kernel, or the reason why there is none."""
        made = functools.partial(self._made, self.text.strip(UNPRINTED), [plain(x) for x in values])
        if self.job is None:
            # in a thread of its own, which exceptions of a signal's handler do not reach: they would leave LLVM's lock
            self.job = Job.start(made)
        with compiling():
            answer = _answer(self.job, made)
            with _compiling if answer is made else _taking:   # equal programs have one dispatcher, for one thread
                if self.kernel is None and not self.refused:  # another thread may have been here
                    self._take(answer)
        self.job = None

    def _take(self, made: Callable) -> None:
        """Take what made() returns, the kernel and the seconds that it took, or its error."""
        handled = sys.exc_info()[1]
        try:
            kernel, took = made()
        except Exception as error:  # whatever the compiler's trouble is, the interpreter's answer is right
            interrupt = interrupt_behind(error, handled)
            if interrupt is not None:
                raise interrupt from None
            self._refuse(error)
            return
        self.kernel, self.compiled_in, self.from_disk = kernel, took, _is_loaded_from_disk(kernel)
        self.compilations += 1
        tell(
            "compile",
            lambda: (
                f"{'found' if self.from_disk else 'compiled'} {self.func.name} (fad.{self.name}), {self.size} "
                f"equations: {took:.3f} s{' from the cache on disk' if self.from_disk else ''}"
            ),
        )

    def _made(self, text: str, values: Sequence) -> tuple:
        """The kernel for values like these, and the seconds that it took."""
        with _compiling, collection_paused(), timed() as took, patient(f"compiling {self.func.name} (fad.{self.name})"):
            reason = lost_compiler() or numba.config.DISABLE_JIT and "Numba is switched off (NUMBA_DISABLE_JIT)"
            if reason:
                raise compiler.BackendError(reason)
            was_set_up, kernel = is_set_up(), compiler.kernel_of(text or self._text_for(values), self.name)
            is_new = not getattr(kernel.call, "signatures", None)
            kernel.call._can_compile = True
            kernel.compile(*values, *self.link)
            kernel.call.disable_compile()                    # other layouts are copied, other types are other programs
        if was_set_up and is_new and not _is_loaded_from_disk(kernel):
            note_time(kernel.source, took[0])
        return kernel, took[0]

    def _refuse(self, error: Exception) -> None:
        """Leave a program that cannot be compiled to the interpreter; warn if the caller asked for compilation, or if
        the error is fad's own.
        """
        self.refused = str(error) or type(error).__name__
        if not isinstance(error, compiler.BackendError):
            warn_of(error, f"{self.name} is interpreted, not compiled")
        elif self.policy == "now" or self.loops:
            warnings.warn(f"{self.name} is interpreted, not compiled: {self.refused[:2000]}", stacklevel=outside_fad())


def _answer(job: "Job | None", work: Callable) -> Callable:
    """The source of the kernel: the job's answer, which this waits for; or the work itself, for want of an answer."""
    if job is None or holds_locks() or _compiling._is_owned():
        return work
    job.wait()
    return job.answer if job.has_answer() else work


def _is_loaded_from_disk(kernel: Kernel) -> bool:
    return bool(getattr(getattr(kernel.call, "stats", None), "cache_hits", None))


def bound(call: Any, constants: list, count: int) -> Any:
    """A dispatcher that calls `call` with `count` arguments and these constants behind them."""
    if not constants:
        return call
    names = [f"a{k}" for k in range(count)]
    # constants are read-only arrays to Numba, which is another type than that of the arguments `call` was compiled for
    call = numba.njit(
        call.py_func, **{k: v for k, v in call.targetoptions.items() if k in ("fastmath", "error_model", "boundscheck")}
    )
    scope: dict[str, Any] = {"call": call, **{f"c{k}": c for k, c in enumerate(constants)}}
    exec(
        f"def bound({', '.join(names)}):\n"
        f"    return call({', '.join(names + [f'c{k}' for k in range(len(constants))])})",
        scope,
    )
    return numba.njit(scope["bound"])


def weights(func: Func) -> tuple:
    """The shares of the equations in the time: in a program of loops, by the equations in them; else by the elements
    that NumPy looks at. () where the number of iterations is not known.
    """
    if not any(map(has_loop, func.equations)):
        return tuple(map(_elements, func.equations))
    if any(map(_is_open, func.equations)):
        return ()
    return tuple([float(sum(map(count_equations, eqn.regions))) if has_loop(eqn) else 0.0 for eqn in func.equations])


def _elements(eqn: Equation) -> float:
    """The elements of the largest operand or result, and what a call of NumPy costs beside them."""
    variables = [v for v in (*eqn.inputs, *eqn.outputs) if isinstance(v, Var)]
    extents = [[n if isinstance(n, int) else n.hint or 1 for n in v.type.shape] for v in variables]
    return float(CALL + max(map(math.prod, extents), default=0))


def _is_open(eqn: Equation) -> bool:
    """Whether an equation has a loop, in no other loop, of any number of iterations."""
    if is_loop(eqn):
        return not is_counted(eqn)
    return any(map(_is_open, (e for r in eqn.regions for e in r.equations)))


def _larger_than_one(func: Func) -> tuple:
    """Guards for the extents that are integers of the program: 0 and 1 are constants of other programs."""
    seen: dict = {}
    for k, v in enumerate(func.inputs):
        for axis, n in enumerate(v.type.shape):
            if not isinstance(n, int):
                seen.setdefault(n, (k, axis))
    return tuple((">=", ((place, 1),), -2) for n, place in seen.items() if n not in func.inputs)


def strongest(guards: tuple) -> tuple:
    """The strongest of the bounds of each form."""
    least: dict = {}
    for relation, terms, const in guards:
        least[relation, terms] = min(const, least.get((relation, terms), const)) if relation == ">=" else const
    return tuple((relation, terms, const) for (relation, terms), const in least.items())


def count_equations(func: Func) -> int:
    """Equations, those in regions included."""
    return sum(1 + sum(map(count_equations, eqn.regions)) for eqn in func.equations)
