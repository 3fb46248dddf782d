"""Modes belong to a context: of a thread, of an asyncio task. None leaks over an await, and a new thread starts with
the defaults."""
import asyncio
import contextvars
import random
import threading

import numpy as np
import pytest

import fad
from fad.eager.tensors.state import Modes, now

from ..tasks import errors_of_eighty

ad = fad.autograd
DEFAULTS = contextvars.Context().run(now)
FIELDS = [name for name in Modes.__slots__ if name not in ("then", "quick", "__weakref__")]


MODES = {
    "no_grad": fad.no_grad,
    "enable_grad": fad.enable_grad,
    "set_grad_enabled": lambda: fad.set_grad_enabled(False),
    "inference_mode": fad.inference_mode,
    "multithreading": lambda: ad.set_multithreading_enabled(False),
    "anomaly": lambda: ad.set_detect_anomaly(True),
    "dual_level": ad.forward_ad.dual_level,
    "forward": lambda: ad.forward_ad._set_fwd_grad_enabled(False),
    "saved": lambda: ad.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    "on_cpu": ad.graph.save_on_cpu,
    "refused": lambda: ad.graph.disable_saved_tensors_hooks("not now"),
    "mutation": ad.graph.allow_mutation_on_saved_tensors,
    "profile": ad.profiler.profile,
    "group": fad.utils.checkpoint.GraphExecGroup,
    "early_stop": lambda: fad.utils.checkpoint.set_checkpoint_early_stop(False),
    "checkpoint_debug": lambda: fad.utils.checkpoint.set_checkpoint_debug_enabled(True),
}


def seen():
    """All the modes of this context."""
    modes = now()
    return {name: getattr(modes, name) for name in FIELDS}


@pytest.mark.parametrize("name", MODES)
def test_no_mode_leaks_over_an_await(name):
    async def one(inside, end):
        before = seen()
        with MODES[name]():
            within = seen()
            inside.set()
            await end.wait()
            assert seen() == within
        assert seen() == before

    async def main():
        inside, end = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(one(inside, end))
        await inside.wait()
        assert now() is DEFAULTS and now().quick
        x = fad.ones(3, requires_grad=True)
        (x.exp() * x).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 2 * np.e)
        end.set()
        await task
        assert now() is DEFAULTS
    asyncio.run(main())


@pytest.mark.parametrize("name", MODES)
def test_a_new_thread_starts_with_the_defaults(name):
    found = []
    with MODES[name]():
        thread = threading.Thread(target=lambda: found.append(now()))
        thread.start()
        thread.join()
    assert found == [DEFAULTS] and now() is DEFAULTS


def test_a_task_starts_as_the_context_that_starts_it():
    async def main():
        with fad.no_grad():
            task = asyncio.create_task(asyncio.to_thread(fad.is_grad_enabled))
            assert not await task
        with fad.enable_grad():
            assert await asyncio.to_thread(fad.is_grad_enabled)
    asyncio.run(main())


def test_decorated_coroutines():
    @fad.no_grad()
    async def without(event):
        assert not fad.is_grad_enabled()
        await event.wait()
        return fad.is_grad_enabled()

    async def main():
        event = asyncio.Event()
        task = asyncio.create_task(without(event))
        await asyncio.sleep(0)
        assert fad.is_grad_enabled()
        event.set()
        assert not await task
    asyncio.run(main())


def test_anomaly_mode_of_the_process_and_of_a_context():
    def elsewhere():
        found = []
        thread = threading.Thread(target=lambda: found.append(now().anomaly))
        thread.start()
        thread.join()
        return found[0]
    ad.set_detect_anomaly(True)
    try:
        assert elsewhere() and now().anomaly and not now().quick
    finally:
        ad.set_detect_anomaly(False)
    assert not elsewhere() and now().quick
    with pytest.warns(UserWarning), ad.detect_anomaly():
        assert now().anomaly and not elsewhere()
    assert now() is DEFAULTS


def test_a_backward_pass_leaves_the_modes_as_they_were():
    """Whatever its hooks switch: the modes of the caller are back when it ends, or fails."""
    x = fad.ones(3, requires_grad=True)
    y = (x * x).sum()
    x.register_hook(lambda g: fad.set_grad_enabled(True) and None)
    with fad.no_grad():
        y.backward(retain_graph=True)
        assert not fad.is_grad_enabled()

    def fails(g):
        fad.set_grad_enabled(True)
        raise ValueError("here")
    x.register_hook(fails)
    with fad.no_grad():
        with pytest.raises(ValueError, match="here"):
            y.backward()
        assert not fad.is_grad_enabled()


def nested(rng, depth):
    """Random blocks in one another; at each step, what was set is what is seen, and it is gone afterwards."""
    for _ in range(rng.randrange(1, 4)):
        before = seen()
        name = rng.choice([n for n in MODES
                           if n not in ("dual_level", "mutation", "profile", "saved", "on_cpu", "refused")
                           or not depth])
        try:
            block = MODES[name]()
            block.__enter__()
        except RuntimeError:                                  # not within another one of the same kind
            continue
        within = seen()
        yield
        if depth:
            yield from nested(rng, depth - 1)
        assert seen() == within
        block.__exit__(None, None, None)
        assert seen() == before


def test_many_threads_and_tasks():
    done = []

    async def task(seed):
        for _ in nested(random.Random(seed), 2):
            await asyncio.sleep(0)
        assert now() is DEFAULTS
        done.append(seed)

    errors = errors_of_eighty(task)
    assert not errors and len(done) == 80 and now() is DEFAULTS


@pytest.mark.parametrize("make", [lambda: fad.no_grad, fad.no_grad, lambda: fad.set_grad_enabled(False),
                                  lambda: fad.inference_mode, fad.inference_mode])
def test_a_decorated_generator_runs_its_own_code_in_the_mode(make):
    mode = make()

    @mode
    def steps():
        try:
            got = yield fad.is_grad_enabled()
            yield got, fad.is_grad_enabled()
        finally:
            closed.append(fad.is_grad_enabled())
    closed = []
    running = steps()
    assert next(running) is False and fad.is_grad_enabled()
    assert running.send("sent") == ("sent", False) and fad.is_grad_enabled()
    running.close()
    assert closed == [False] and fad.is_grad_enabled()
    assert make()(lambda: fad.is_grad_enabled())() is False and fad.is_grad_enabled()


def test_a_coroutine_in_a_mode_sees_its_cancellation_there():
    @fad.no_grad()
    async def waiting(begun):
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "cancelled", fad.is_grad_enabled()

    async def main():
        begun = asyncio.Event()
        task = asyncio.create_task(waiting(begun))
        await begun.wait()
        task.cancel()
        return await task, fad.is_grad_enabled()
    assert asyncio.run(main()) == (("cancelled", False), True)
