"""Fixtures of the tests of kernels."""
import pytest
from numba.core.runtime import _nrt_python


@pytest.fixture
def counted():
    """Numba counts what it allocates and frees."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()
