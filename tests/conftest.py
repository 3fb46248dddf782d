"""What every test run needs: caches of its own, so that a run neither sees nor leaves anything behind."""

import atexit
import gc
import importlib
import os
import random
import shutil
import sys
import tempfile
import zlib

import pytest

from . import quick
from .quick import pytest_runtest_logreport, pytest_sessionfinish  # noqa: F401  (hooks)


def _private_caches() -> None:
    """Point Numba's and fad's disk caches at one temporary folder.

    The first process of a run (pytest itself, before it starts xdist's workers) makes the folder and removes it at its
    end; the workers find the variables set and share it.
    """
    if "FAD_TEST_CACHES" in os.environ:
        return
    folder = os.environ["FAD_TEST_CACHES"] = tempfile.mkdtemp(prefix="fad-tests-")
    os.environ["NUMBA_CACHE_DIR"] = os.path.join(folder, "numba")
    os.environ["FAD_CACHE_DIR"] = os.path.join(folder, "fad")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def _one_thread_of_blas() -> None:
    """Each of xdist's workers has one thread of OpenBLAS: on few cores, the threads of several workers would spin while
    they wait for each other, for milliseconds at each system of four equations. Processes that tests start have as many
    as those of users.
    """
    if "PYTEST_XDIST_WORKER" in os.environ and "OPENBLAS_NUM_THREADS" not in os.environ:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        importlib.import_module("scipy.linalg")               # OpenBLAS reads the variable when it is loaded
        del os.environ["OPENBLAS_NUM_THREADS"]


_private_caches()
_one_thread_of_blas()
os.environ["FAD_CHECK_TRACE"] = "1"                           # a test fails if a program that it traces is malformed

import numpy as np  # noqa: E402  (not before BLAS has its thread)

from fad.backend.running import runner, tiers  # noqa: E402  (not before the caches are set)

# Tests ask for compiled code, or do without. What the interpreter hands to the background after a few calls would be
# compiled for nobody: the next tests share their core with it, and wait for it, for minutes if the program is large.
# Nor is a program printed after a few milliseconds, to see whether its kernel is on disk: it is not.
PATIENCE = 4.0                                                # of the time of a compilation, in place of a quarter
runner.SHARE = runner.WAIT = PATIENCE
runner.load_time = lambda equations: 10.0 * PATIENCE * tiers.load_time(equations)

UNASKED = ("error::fad.util.errors.FallbackWarning", "error::fad.util.errors.InternalErrorWarning")


@pytest.fixture
def idle_compiler():
    """No compilation of an earlier test runs in the background: it would pause Python's collector."""
    for job in list(tiers._jobs):
        job.wait()


@pytest.fixture
def usual_tiers(monkeypatch):
    """Compilations begin in the background as early as they do for users."""
    monkeypatch.setattr(runner, "SHARE", tiers.SHARE)
    monkeypatch.setattr(runner, "WAIT", tiers.WAIT)
    monkeypatch.setattr(runner, "load_time", tiers.load_time)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collection makes millions of objects that live as long as the run. Python looks for garbage among them once."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    """A test draws the same numbers in each run, whatever ran before it. After it, Python's path is what it was: later
    imports would look into hundreds of folders. After the last test of a file, what it leaves behind is kept from
    Python's collector.

    The functions of a file live as long as the run, and so do their programs: after half of the tests they are
    millions of objects, of which each gc.collect() of a test takes seconds to look at.
    """
    random.seed(item.nodeid)
    np.random.seed(zlib.crc32(item.nodeid.encode()))
    path = list(sys.path)
    done = yield
    if sys.path != path:
        sys.path[:] = path
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return done


def pytest_collection_modifyitems(items: list) -> None:
    """A program that goes to the tape unasked is a failure, and so is a defect of fad that its user would be warned of.

    A test's own filters come after these: it may say that a FallbackWarning is what it expects.
    """
    for item in items:
        for unasked in UNASKED:
            item.add_marker(pytest.mark.filterwarnings(unasked), append=False)
    quick.mark(items)
