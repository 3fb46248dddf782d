"""What random programs once showed to be wrong: in every tier, by values, by the two modes and by differences."""
import inspect

import pytest

from . import found
from .judge import judge

PROGRAMS = [f for _, f in inspect.getmembers(found, inspect.isfunction)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("second", [False, True], ids=["first order", "second order"])
def test_program(f, second):
    assert judge(f, ("interpreted", "text"), second) is None
