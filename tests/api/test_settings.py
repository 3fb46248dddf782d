"""Settings belong to a context, and shape the programs that are made under them and no others."""
import asyncio
import contextvars
import pickle
import random
import threading
from contextlib import ExitStack

import numpy as np
import pytest

import fad
from fad import config
from fad.backend.running.runner import Runner
from fad.util.config import Config, Setting

from ..tasks import errors_of_eighty

NAMES = ("check_index", "check_trace", "fallback")


def taken(x, k):
    return np.sum(x[k] * x[k])


def out_of_range(f):
    try:
        f(np.ones(4), 11)
    except IndexError:
        return True
    return False


def test_a_setting_that_nothing_reads_does_not_exist():
    with pytest.raises(AttributeError, match="no setting 'parallel'"):
        config.parallel = True
    with pytest.raises(AttributeError, match="no setting"), config.using(parallel=True):
        pass
    names = [name for name, value in vars(Config).items() if isinstance(value, Setting)]
    assert names == list(config.now().values)


def test_wrong_values_change_nothing():
    before = repr(config)
    with pytest.raises(ValueError, match="compile is"), config.using(fallback=False, compile="later"):
        pass
    with pytest.raises(ValueError, match="compile is"):
        config.compile = "later"
    assert repr(config) == before


def test_blocks_that_overlap_leave_nothing_behind():
    own = Config()
    first, second = own.using(check_index=False), own.using(check_index=True, fallback=False)
    first.__enter__()
    second.__enter__()
    assert own.check_index and not own.fallback
    first.__exit__(None, None, None)
    assert own.check_index and not own.fallback
    second.__exit__(None, None, None)
    assert own.check_index and own.fallback
    assert own.now().blocks == ()


def test_an_assignment_within_a_block_that_sets_it_ends_with_the_block():
    own = Config()
    with own.using(fallback=False):
        own.fallback = True
        own.check_index = False
        assert own.fallback
    assert own.fallback and not own.check_index


def test_an_assignment_is_for_the_process_but_not_for_blocks():
    own, seen = Config(), {}

    def look(name):
        seen[name] = own.fallback, own.check_index
    with own.using(check_index=True):
        own.fallback = False
        thread = threading.Thread(target=look, args=("thread",))
        contextvars.Context().run(setattr, own, "check_index", False)        # another thread's assignment
        look("block")
        thread.start()
        thread.join()
    assert seen == {"block": (False, True), "thread": (False, False)}


def test_bounds_checks_stay_where_another_thread_takes_them_away():
    entered, end = threading.Event(), threading.Event()

    def without():
        with config.using(check_index=False):
            entered.set()
            end.wait()
    thread = threading.Thread(target=without)
    thread.start()
    entered.wait()
    with config.using(compile="now"):
        assert config.check_index and out_of_range(fad.jit(taken))
    end.set()
    thread.join()


@pytest.mark.parametrize("make", [fad.jit, fad.grad, fad.value_and_grad, fad.hessian])
def test_programs_are_used_under_their_own_settings(make):
    """One made without checks is not used where checks are on, by the fast path neither; nor one that is compiled where
    nothing is to be."""
    f = make(taken)
    with config.using(compile="now"):
        with config.using(check_index=False):
            for _ in range(3):
                f(np.ones(4), 1)
        assert out_of_range(f)
        for _ in range(3):
            f(np.ones(4), 1)
        assert out_of_range(f)
        before = f.compilations
        with config.using(check_index=False):
            f(np.ones(4), 1)
        assert f.compilations == before                       # it is there still


def test_nothing_is_compiled_or_runs_compiled_under_never(monkeypatch):
    interpreted, interpret = [], Runner.interpret
    monkeypatch.setattr(Runner, "interpret", lambda self, values: interpreted.append(self) or interpret(self, values))
    f = fad.jit(lambda x, k: np.sum(x[k] * x[k] * 0.5))
    for policy, times in [("now", 0), ("now", 0), ("never", 1), ("never", 2), ("now", 2), ("auto", 2)]:
        with config.using(compile=policy):
            assert f(np.ones(4), 1) == 0.5 and len(interpreted) == times
    assert all(runner.kernel is None for runner in interpreted)


def test_an_assignment_while_a_program_is_made():
    """A program that another thread's assignment overtakes is not kept for the settings before it."""
    own_shape = config.now().shape

    def overtaken(x, k):
        contextvars.Context().run(setattr, config, "check_index", False)
        return np.sum(x[k] * x[k])
    f = fad.jit(overtaken)
    try:
        with config.using(compile="now"):
            f(np.ones(4), 1)
    finally:
        config.check_index = True
    assert config.now().shape == own_shape
    assert all(key[0] == program.shape for key, programs in f.programs.items() for program in programs)


def history(own, rng, depth, seen):
    """Random nested blocks, each checked to hold what it says and, when it is over, what was there before."""
    with ExitStack() as blocks:
        for _ in range(rng.randrange(1, 4)):
            name, value = rng.choice(NAMES), rng.random() < 0.5
            before = {n: getattr(own, n) for n in NAMES}
            blocks.enter_context(own.using(**{name: value}))
            expected = {**before, name: value}
            yield
            assert {n: getattr(own, n) for n in NAMES} == expected
            if depth:
                yield from history(own, rng, depth - 1, seen)
                assert {n: getattr(own, n) for n in NAMES} == expected
    seen.append(True)


def test_many_threads_and_tasks():
    own, done = Config(), []

    async def task(seed):
        before = repr(own)
        for _ in history(own, random.Random(seed), 2, done):
            await asyncio.sleep(0)
        assert repr(own) == before

    errors = errors_of_eighty(task)
    assert not errors and len(done) >= 80 and own.now().blocks == ()


@pytest.mark.parametrize("make", [fad.grad, fad.value_and_grad, fad.jacobian, fad.hessian, fad.vmap])
def test_each_transform_has_a_word_on_compilation(make):
    x = np.array([0.5, 0.25])
    f = (lambda x: x ** 3) if make in (fad.vmap, fad.jacobian) else lambda x: np.sum(x ** 3)
    want = make(f, compile="never")
    now = make(compile="now")(f)
    for a, b in zip(fad.ravel(now(x))[0], fad.ravel(want(x))[0]):
        np.testing.assert_allclose(a, b)
    assert (now.compilations, want.compilations) == (1, 0)
    again = pickle.loads(pickle.dumps(make(np.cumsum if make in (fad.vmap, fad.jacobian) else np.sum, compile="now")))
    again(x[None] if make is fad.vmap else x)
    assert again.compilations == 1
    with pytest.raises(ValueError, match="compile is 'auto'"):
        make(f, compile="soon")
