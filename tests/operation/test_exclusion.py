"""Threads that call functions with state: no update is lost, no thread sees another one's traced values."""

import sys
import threading
import time

import numpy as np
import pytest

import fad
from fad.util import exclusion
from fad.util.errors import UnstageableError

THREADS, CALLS = 6, 15
X = np.arange(1.0, 4.0)


class Timer:
    """It counts how often it was left."""

    total = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        Timer.total += 1
        return False


class Model:
    """Methods that change what is outside, with what a call's value and gradient are, and what all calls leave."""

    total = 0

    def __init__(self):
        self.calls, self.log, self.seen, self.last, self.scale = 0, [], {}, None, 2.0
        self.lock, self.condition, self.semaphore = threading.Lock(), threading.Condition(), threading.Semaphore(1)

    def counts(self, x):
        Model.total += 1
        self.calls += 1
        return np.sum(x ** 2) * self.scale

    def counts_in_a_loop(self, x):
        s = 0.0
        for v in x:
            self.calls += 1
            s += v ** 2
        return s * self.scale

    def times(self, x):
        with Timer():
            return np.sum(x ** 2) * self.scale

    def logs(self, x):
        v = np.sum(x ** 2) * self.scale
        self.log.append(v)
        return v

    def keeps_the_last_point(self, x):
        self.last = x * 1.0
        return np.sum(self.last ** 2) * 2.0

    def remembers(self, x):
        if x.shape[0] not in self.seen:
            self.seen[x.shape[0]] = 2.0
        return np.sum(x ** 2) * self.seen[x.shape[0]]

    def changes_and_puts_back(self, x):
        before, self.scale = self.scale, 4.0
        try:
            return np.sum(x ** 2) * self.scale / before
        finally:
            self.scale = before

    def locks(self, x):
        with self.lock:
            self.calls += 1
        return np.sum(x ** 2) * 2.0

    def locks_by_methods(self, x):
        self.lock.acquire()
        try:
            self.calls += 1
        finally:
            self.lock.release()
        return np.sum(x ** 2) * 2.0

    def locks_in_a_branch(self, x):
        if x[0] > 0:
            with self.lock:
                self.calls += 1
        return np.sum(x ** 2) * 2.0

    def locks_for_a_while(self, x):
        if self.lock.acquire(timeout=30.0):
            self.calls += 1
            self.lock.release()
        return np.sum(x ** 2) * 2.0

    def enters_a_condition(self, x):
        with self.condition:
            self.calls += 1
        return np.sum(x ** 2) * 2.0

    def enters_a_semaphore(self, x):
        with self.semaphore:
            self.calls += 1
        return np.sum(x ** 2) * 2.0


@pytest.fixture
def eager_switches():
    """Python lets another thread run at nearly each step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(*works):
    """Run all at once; raises the first error."""
    errors, ready = [], threading.Barrier(len(works))

    def run(work):
        ready.wait()
        try:
            work()
        except Exception as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def calls_of(g, k):
    def work():
        for _ in range(CALLS):
            v, d = g(X * k)
            assert np.isclose(v, 2.0 * np.sum((X * k) ** 2)) and np.allclose(d, 4.0 * X * k)
    return work


STATEFUL = ["counts", "counts_in_a_loop", "times", "logs", "keeps_the_last_point", "remembers", "changes_and_puts_back"]


@pytest.mark.parametrize("policy", ["now", "never"])
@pytest.mark.parametrize("name", STATEFUL)
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_threads_that_make_their_first_calls_at_once(name, policy, eager_switches):
    for _ in range(3):
        m, Model.total, Timer.total = Model(), 0, 0
        g = fad.value_and_grad(getattr(m, name), compile=policy)
        in_threads(*[calls_of(g, k + 1.0) for k in range(THREADS)])
        n = THREADS * CALLS
        assert m.calls == {"counts": n, "counts_in_a_loop": n * X.size}.get(name, 0)
        assert Model.total == (n if name == "counts" else 0) and m.scale == 2.0
        assert Timer.total == (n if name == "times" else 0)
        assert len(m.log) == (n if name == "logs" else 0) and all(isinstance(v, float) for v in m.log)
        assert type(m.last) is (np.ndarray if name == "keeps_the_last_point" else type(None))
        assert m.seen == ({3: 2.0} if name == "remembers" else {})


LOCKING = ["locks", "locks_by_methods", "locks_in_a_branch", "locks_for_a_while", "enters_a_condition",
           "enters_a_semaphore"]


@pytest.mark.parametrize("policy", ["now", "never"])
@pytest.mark.parametrize("name", LOCKING)
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_a_program_takes_the_locks_of_its_function(name, policy):
    m = Model()
    g = fad.value_and_grad(getattr(m, name), compile=policy)
    lock = {"enters_a_condition": m.condition, "enters_a_semaphore": m.semaphore}.get(name, m.lock)

    def plain():
        for _ in range(5):
            with lock:
                before = m.calls
                time.sleep(0.005)
                m.calls = before + 1

    def calls():
        for _ in range(6):
            calls_of(g, 1.0)()
            time.sleep(0.004)
    in_threads(plain, calls, calls)
    assert m.calls == 5 + 2 * 6 * CALLS
    assert lock.acquire(blocking=False)                       # nobody has it any more


@pytest.mark.usefixtures("eager_switches")
def test_no_input_stands_outside_before_the_lock_is_taken():
    """A program that is not kept may have told which state changes: the next trace has its lock from the beginning."""
    m, seen = Model(), set()
    g = fad.value_and_grad(m.locks, compile="never")
    for _ in range(3):
        g(X)
    g.programs.clear()
    with m.lock:
        thread = threading.Thread(target=g, args=(X,))
        thread.start()
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            seen.add(type(m.calls))
    thread.join()
    assert seen == {int} and m.calls == 4


def test_functions_that_count_and_lock_are_compiled():
    for name in ("counts", "counts_in_a_loop", "times", "locks", "locks_by_methods", "locks_in_a_branch",
                 "enters_a_condition"):
        g = fad.value_and_grad(getattr(Model(), name), fallback=False)
        for _ in range(4):
            g(X)
        assert g.traces <= 2


def test_two_locks_are_refused():
    a, b = threading.Lock(), threading.Lock()

    def f(x):
        with a, b:
            return np.sum(x ** 2)
    with pytest.raises(UnstageableError, match="takes two locks"):
        fad.grad(f, fallback=False)(X)
    assert not a.locked() and not b.locked()
    with pytest.warns(fad.FallbackWarning):
        assert np.allclose(fad.grad(f)(X), 2.0 * X)


def test_a_caller_may_have_the_lock_that_the_function_takes(monkeypatch):
    class Careful(Model):
        def __init__(self):
            super().__init__()
            self.lock = threading.RLock()
    m = Careful()
    g = fad.value_and_grad(m.locks)

    def work():
        for _ in range(CALLS):
            with m.lock:
                calls_of(g, 1.0)()
    monkeypatch.setattr(exclusion, "PATIENCE", 100.0)        # they would wait for each other so long
    in_threads(work, work, calls_of(g, 2.0))
    assert m.calls == 2 * CALLS * CALLS + CALLS


def test_nobody_waits_for_a_trace_that_waits_for_others():
    """The first function is traced until the second one has been called in another thread."""
    entered, done, is_over = threading.Event(), threading.Event(), []

    def waits(x):
        wait()
        return np.sum(x)

    def wait():
        entered.set()
        is_over.append(done.wait(200.0))

    def first():
        fad.jit(waits, fallback=False)(X)

    def second():
        entered.wait()
        assert np.allclose(fad.grad(lambda x: np.sum(x ** 2))(X), 2.0 * X)
        done.set()
    try:
        in_threads(first, second)
    except fad.FadError:                                      # what waits for others may be refused
        pass
    assert is_over and all(is_over)


def test_an_error_ends_the_exclusion():
    def f(x):
        raise ValueError("none")
    with pytest.raises(ValueError, match="none"):
        fad.grad(f)(X)
    assert not exclusion.tracing and not exclusion.is_traced_elsewhere()


def test_programs_take_their_locks_in_one_order():
    things = [object() for _ in range(100)]
    order = exclusion.locks_of(things)
    assert len(order) == exclusion.STRIPES
    for _ in range(20):
        some = exclusion.locks_of(np.random.default_rng(0).permutation(np.array(things, object))[:7])
        assert [order.index(lock) for lock in some] == sorted(order.index(lock) for lock in some)


def test_a_thread_that_has_ended_traces_no_more(monkeypatch):
    thread = threading.Thread(target=exclusion._begin)
    thread.start()
    thread.join()
    assert exclusion.is_traced_elsewhere()
    monkeypatch.setattr(exclusion, "PATIENCE", 1000.0)
    assert np.allclose(fad.grad(lambda x: np.sum(x ** 2))(X), 2.0 * X)
    assert not exclusion.tracing


def test_a_long_call_holds_up_a_trace_for_a_while_only():
    m, begun, go_on, is_over = Model(), threading.Event(), threading.Event(), []

    def run():
        begun.set()
        is_over.append(go_on.wait(200.0))
    thread = threading.Thread(target=lambda: exclusion.alone_with(exclusion.locks_of([m]), run))
    thread.start()
    begun.wait()
    assert np.allclose(fad.grad(lambda x: np.sum(x ** 3))(X), 3.0 * X ** 2)
    go_on.set()
    thread.join()
    assert is_over == [True]


class Best:
    """Functions that run on the tape, and read what the last call has left."""

    def __init__(self):
        self.calls, self.point, self.table = 0, np.zeros(3), {}

    def keeps_the_best(self, x):
        self.calls += 1
        v = np.sum(x ** 2)
        assert len(str(v)) > 1                                # a text: on the tape
        if v > np.sum(self.point ** 2):
            self.point = x * 1.0
        return v + np.sum(self.point * x)

    def fills_a_table(self, x):
        self.calls += 1
        key = f"{float(np.sum(x)):.0f}"
        self.table[key] = self.table.get(key, 0.0) + x[0]
        return self.table[key] * 1.0 + np.sum(x * 2.0)


@pytest.mark.parametrize("name", ["keeps_the_best", "fills_a_table"])
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_runs_on_the_tape_exclude_each_other(name, eager_switches):
    m = Best()
    g = fad.value_and_grad(getattr(m, name))

    def calls(k):
        for n in range(CALLS):
            g(X * (k + n))
    in_threads(*[lambda k=k: calls(float(k)) for k in range(4)])
    assert m.calls == 4 * CALLS and type(m.point) is np.ndarray
    assert np.allclose(m.point, X * (3.0 + CALLS - 1) if name == "keeps_the_best" else 0.0)
    assert np.isclose(sum(m.table.values()), 4 * sum(range(CALLS)) + 6 * CALLS if m.table else 0.0)


READS = {
    "an operand": lambda point, x: np.sum(point * x ** 2),
    "a number": lambda point, x: float(point[1]) * np.sum(x) if float(point[1]) > 1.0 else 0.0,
    "a truth": lambda point, x: np.sum(x) * 3.0 if point[2] > 1.0 else 0.0,
    "an array that is changed": lambda point, x: (point.__setitem__(0, 7.0), np.sum(point * x))[1],
    "a view": lambda point, x: np.sum(point[1:][None] * x[:2]),
    "an operand in a list": lambda point, x: np.sum(np.array([point[0], point[2]]) * x[1:]),
    "the result": lambda point, x: point[2],
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_what_a_long_run_on_the_tape_has_computed_is_a_constant_for_another_one(read):
    m, is_there, go_on = Best(), threading.Event(), threading.Event()

    def long(x):
        assert len(str(x[0])) > 1                             # a text: it runs on the tape from here on
        m.point = x * 2.0
        is_there.set()
        assert go_on.wait(200.0)
        return np.sum(x)

    def short(x):
        assert len(str(x[0])) > 1
        return read(m.point, x)
    wanted = fad.value_and_grad(lambda x: read(X * 2.0, x))(X)
    thread = threading.Thread(target=lambda: fad.grad(long)(X))
    thread.start()
    assert is_there.wait(200.0)
    with_tape = fad.value_and_grad(short)(X)
    go_on.set()
    thread.join()
    assert np.allclose(with_tape[0], wanted[0]) and np.allclose(with_tape[1], wanted[1])
    assert type(m.point) is np.ndarray


def test_a_trace_waits_for_a_call_that_compiles():
    """Its kernel takes longer than a trace waits for a call, and an update would be lost."""
    m, is_compiling, order = Model(), threading.Event(), []

    def call():
        def run():
            with exclusion.compiling():
                is_compiling.set()
                time.sleep(4 * exclusion.PATIENCE)
                order.append("the call")
        exclusion.alone_with(exclusion.locks_of([m]), run)
    thread = threading.Thread(target=call)
    thread.start()
    assert is_compiling.wait(200.0)
    with exclusion.tracing_alone():
        order.append("the trace")
    thread.join()
    assert order == ["the call", "the trace"] and not exclusion._compiling
