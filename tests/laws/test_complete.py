"""Every ufunc of NumPy and SciPy is known, or stands with a reason in the one table from which the page of ops is
made."""
import importlib.util
import math
import pkgutil
from pathlib import Path

import numpy as np
import pytest
import scipy.special

from fad.ops import table
from fad.ops.override import BY_NAME, find

assert table
REASONS = Path(__file__).resolve().parents[2] / "docs" / "reasons.py"
HOME = {"numpy": np, "scipy.special": scipy.special}


def reason(name: str) -> str:
    spec = importlib.util.spec_from_file_location("reasons", REASONS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.reason(name)


def ufuncs(module: str) -> list:
    return sorted(name for name, value in vars(HOME[module]).items()
                  if isinstance(value, np.ufunc) and not name.startswith("_"))


@pytest.mark.parametrize("module", HOME)
def test_every_ufunc_is_known_or_has_a_reason(module):
    missing = [name for name in ufuncs(module) if find(getattr(HOME[module], name)) is None
               and reason(name) == "no record yet"]
    assert not missing


def test_every_function_of_math_is_known():
    names = [name for name in dir(math) if not name.startswith("_") and callable(getattr(math, name))]
    assert not [name for name in names if f"math.{name}" not in BY_NAME]


def test_overrides_are_of_functions_that_there_are():
    names = [name for name in BY_NAME if name.partition(".")[0] in ("numpy", "math", "cmath")]
    assert names and None not in map(pkgutil.resolve_name, names)
