"""Fixtures of the tests of kernels."""
import pytest
from numba.core.runtime import _nrt_python, rtsys


@pytest.fixture
def counted():
    """counted(call): how many arrays five calls allocate, and how many they free, after a first call."""
    def counts(call):
        call()
        before = rtsys.get_allocation_stats()
        for _ in range(5):
            call()
        after = rtsys.get_allocation_stats()
        return after.alloc - before.alloc, after.free - before.free

    _nrt_python.memsys_enable_stats()
    yield counts
    _nrt_python.memsys_disable_stats()
