"""Nobody waits much longer than in the better of both worlds, interpreted or compiled at once, whatever the number of
calls.

The tiers are played on a clock of their own. While a thread compiles, Numba's half of the compilation goes on when the
interpreter pauses, and LLVM's half runs beside. `python -m tests.bench.tiers` plays real programs.
"""
import itertools
from types import SimpleNamespace

import pytest

import fad
from fad.backend.running import runner, tiers
from fad.util import patience

COUNTS = 1, 3, 10, 100, 10_000
COMPILING = 0.1, 0.4, 3.0                                     # seconds
CALLS = 1e-4, 3e-3, 0.03, 0.2, 1.0                            # seconds of the interpreter
FASTER = 1.5, 20.0                                            # a kernel than the interpreter
WRONG = 0.8, 1.0, 1.3                                         # the estimate
BOUND, OF_SHORT_LOOPS = 1.95, 2.05                            # with a wrong estimate

pytestmark = pytest.mark.usefixtures("usual_tiers")


class Clock:
    """Time, and the compilation that takes its part of it."""

    def __init__(self):
        self.now, self.numba, self.llvm = 0.0, 0.0, 0.0       # what is left of the compilation

    def perf_counter(self):
        return self.now

    thread_time = perf_counter

    def interpret(self, seconds):
        """So much work of the interpreter: of a step, what is longer than its first two milliseconds is NumPy's."""
        self.now += seconds
        free = max(seconds - tiers.LOOK, 0.0) if self.numba else seconds
        numba = min(free, self.numba)
        self.numba -= numba
        self.llvm = max(self.llvm - (free - numba), 0.0) if self.numba == 0.0 else self.llvm

    def pause(self, seconds):
        """The interpreter waits, until the compilation is over at most."""
        seconds = min(seconds, self.numba + self.llvm)
        self.now += seconds
        numba = min(seconds, self.numba)
        self.numba -= numba
        self.llvm = max(self.llvm - (seconds - numba), 0.0)

    def wait(self):
        self.now += self.numba + self.llvm
        self.numba = self.llvm = 0.0


class Played:
    """A compilation on this clock."""

    def __init__(self, clock, seconds):
        self.clock = clock
        clock.numba = clock.llvm = seconds / 2

    def is_over(self):
        return self.clock.numba + self.clock.llvm < 1e-9       # a nanosecond

    def needs_lock(self):
        return self.clock.numba > 0.0

    def wait(self):
        self.clock.wait()

    def wait_for(self, seconds):
        self.clock.pause(seconds)

    def has_answer(self):
        return True

    def answer(self):
        return "kernel", 0.0


def unknown(count):
    """Steps of a `while` loop: nobody knows how many are left."""
    for k in range(count):
        patience.check_patience()
        yield k


def equations(count):
    return patience.steps(range(count))


def loop(count):
    """One step, of so many iterations."""
    for _ in patience.steps(range(1)):
        yield from patience.iterations(range(count))


WEIGHTS = {unknown: lambda count: (), equations: lambda count: (1.0,) * count, loop: lambda count: (1.0,)}


def played_by(clock, steps, count, seconds):
    """A call of the interpreter, of so many steps."""
    for _ in steps(count):
        clock.interpret(seconds / count)
    return (1.0,)


def played(monkeypatch, steps, count, compiling, call, wrong=1.0):
    """(the time after each call until the kernel is there, or at most so many; whether it is; its runs among these)"""
    clock, ends, runs = Clock(), [], []
    parts = 100 if call > 1e-3 else 10                        # a short call is over before anything happens
    run = fad.grad(lambda x: x * x).program_for(1.0)[0].runner
    with monkeypatch.context() as patch:
        patch.setattr(runner, "time", clock)
        patch.setattr(runner, "compile_time", lambda text: compiling * wrong)
        patch.setattr(runner, "load_time", lambda equations: 0.005)
        patch.setattr(runner.Job, "start", lambda work: Played(clock, compiling))
        patch.setattr(runner.compiler, "is_cached", lambda text, name: False)
        patch.setattr(runner, "_is_loaded_from_disk", lambda kernel: False)
        patch.setattr(patience, "time", clock)
        patch.setattr(runner.Interpreter, "__call__", lambda *args: played_by(clock, steps, parts, call))
        patch.setattr(run, "loops", steps is not equations)
        patch.setattr(run, "weights", WEIGHTS[steps](parts))
        patch.setattr(run, "run_kernel", lambda kernel, values: runs.append(kernel))
        while len(ends) < count and run.kernel is None and clock.now <= 100.0 * compiling:
            run.run([1.0])
            ends.append(clock.now)
    return ends, run.kernel is not None, len(runs)


def waited(ends, is_there, runs, count, compiled):
    """The seconds of so many of the calls that were played, and of further ones: `compiled` for each run of the kernel.
    """
    if count < len(ends):
        return ends[count - 1]
    more = count - len(ends)
    return ends[-1] + (runs + more) * compiled if is_there or not more else float("inf")


@pytest.mark.parametrize("compiling", COMPILING)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("steps", WEIGHTS)
def test_no_user_waits_much_longer_than_in_the_better_of_both_worlds(steps, compiling, call, monkeypatch):
    with fad.config.using(compile="auto"):
        for wrong in WRONG:
            calls = played(monkeypatch, steps, max(COUNTS), compiling, call, wrong)
            for faster, count in itertools.product(FASTER, COUNTS):
                best = min(count * call, compiling + count * call / faster)
                took = waited(*calls, count, call / faster)
                bound = OF_SHORT_LOOPS if steps is loop and call == 3e-3 else BOUND
                assert took <= bound * best, (count, faster, wrong, took / best)


def test_the_formula_is_about_right():
    """A kernel of fifty lines and six loops: a third of a second at most on a machine like the reference."""
    text = "    y = x\n" * 44 + "    for i in range(n):\n" * 6
    assert 0.2 < tiers._formula(text) < 0.35


@pytest.mark.parametrize("rest, pauses", [
    (0.0, [tiers.LOOK] * 2),                                  # nobody knows: each half of the time
    (0.01, [tiers.LOOK] * 2),                                 # the loop ends sooner than the compilation
    (0.5, [1.0, 1.0]),                                        # and later: twice the time, which it takes if both share
])
def test_the_slower_one_waits(rest, pauses, monkeypatch):
    played = fad.grad(lambda x: x * x).program_for(1.0)[0].runner
    monkeypatch.setattr(played, "loops", True)
    found: list = []
    job = SimpleNamespace(is_over=lambda: False, needs_lock=lambda: True, wait_for=found.append)
    monkeypatch.setattr(runner, "compile_time", lambda text: 0.105)
    monkeypatch.setattr(runner, "rest_of_call", lambda: rest)
    monkeypatch.setattr(runner, "time", Clock())
    for spent in (0.001, 0.004, 0.005, 0.009):
        played._share(job, spent)
    assert found == pytest.approx(pauses)


@pytest.mark.parametrize("steps", [equations, loop])
def test_no_compilation_disturbs_a_call_that_ends_before_it(steps, monkeypatch):
    with fad.config.using(compile="auto"):
        assert waited(*played(monkeypatch, steps, 1, 1.0, 0.6), 1, 0.0) == pytest.approx(0.6)


def test_a_long_loop_waits_for_its_kernel_at_once(monkeypatch):
    with fad.config.using(compile="auto"):
        assert waited(*played(monkeypatch, loop, 1, 1.0, 3.0), 1, 0.0) < 1.1


def test_programs_know_how_much_is_before_them(monkeypatch):
    """What the first iteration may import does not count. Steps ahead have their weights."""
    clock = Clock()
    monkeypatch.setattr(patience, "time", clock)
    rests: list = [[], [], []]
    with patience.patience(1e9, weights=(0.0, 4.0, 8.0)):
        for step in patience.steps(range(3)):
            clock.now += 10.0
            for k in patience.iterations(range(4 if step else 0)):
                clock.now += 0.0 if k else patience.IMPORTS - 10.0
                rests[step].append(patience.rest_of_call())
                for _ in patience.iterations(range(3)):       # an inner loop tells nothing
                    clock.now += 1.0
    assert rests[1] == pytest.approx([0.0, 3.0 * 11, 3.0 * 11, 6.0 * 10 / 2])
    assert rests[2] == pytest.approx([9.0 * 8 / 4, 12.0 * 6 / 6, 12.0 * 6 / 6, 15.0 * 4 / 8])


def test_an_equation_that_is_over_tells_of_those_ahead(monkeypatch):
    """The program is asked between two equations. The last one, of many elements, tells more than all before it."""
    clock, rests = Clock(), []
    monkeypatch.setattr(patience, "time", clock)
    with patience.patience(0.0, lambda: rests.append(patience.rest_of_call()) or 1e-9, weights=(1.0, 9.0, 10.0)):
        for step in patience.steps(range(3)):
            clock.now += (0.0, 9.0, 1.0)[step]
    assert rests == pytest.approx([0.0, 9.0])


def test_the_time_of_other_programs_does_not_count(monkeypatch):
    """They may have the processor in the midst of a call, and the compilation as well."""
    played = fad.grad(lambda x: x * x).program_for(1.0)[0].runner
    clock = SimpleNamespace(perf_counter=lambda: 100.0 * len(asked), thread_time=lambda: 0.001 * len(asked))
    asked: list = []
    monkeypatch.setattr(runner, "time", clock)
    monkeypatch.setattr(runner.Interpreter, "__call__", lambda *args: asked.append(1) or (1.0,))
    played.interpret([1.0])
    assert played.interpreted_for == pytest.approx(0.001)


def test_a_long_iteration_tells_before_it_ends(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(patience, "time", clock)
    with patience.patience(1e9, weights=(1.0, 1.0)):
        for _ in patience.steps(range(1)):
            for _ in patience.iterations(range(10)):
                clock.now += patience.IMPORTS + 0.5
                assert patience.rest_of_call() == pytest.approx(0.5 * 19)
                break
