"""Python's math and cmath, as programs have them: results of Python's own types."""
import cmath
import math

import pytest

import fad

TRIED = [(0.5,), (2.0,), (6,), (0.5, 2.0), (6, 4), (3.0, 1.0, 2.0), (2.0, True), ((0.5, 2.0),),
         ((0.5, 2.0), (1.0, 3.0))]
NAMES = [f"{m.__name__}.{name}" for m in (math, cmath) for name in dir(m) if callable(getattr(m, name))
         and not name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_results_have_the_types_of_python(name):
    """Every function, of every list of arguments above that Python takes."""
    module, _, short = name.partition(".")
    f = getattr({"math": math, "cmath": cmath}[module], short)
    taken = 0
    for args in TRIED:
        try:
            wanted = f(*args)
        except (TypeError, ValueError, ArithmeticError):
            continue
        taken += 1
        got = fad.jit(lambda *args: f(*args), fallback=False)(*args)
        assert type(got) is type(wanted), args
        assert got == pytest.approx(wanted, rel=1e-14), args
    assert taken
