"""A traced value never answers a question about itself: what a program finds out is what Python says, or it is
refused."""
import numbers
import random
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FadError

from ..texts import executed
from ..turns import in_turn
from .questions import module, programs

GIVEN = [(np.array([0.3, 0.7, 1.1]), 0.25, 2), (np.array([0.75, 0.7, 1.1, 2.0]), 0.5, 3),
         (np.array([0.3, 0.7, 1.1]), 0.25, 1)]
NUMBERS = (numbers.Number, np.bool_)
FEW, OF_TIERS = 11, 331                                       # one in so many programs is run; compiled, too


def outcome(f, given, left):
    """What a call returns, or raises, and what it has left outside."""
    left.clear()
    w, x, n = given
    try:
        found = f(w.copy(), x, n)
    except Exception as error:
        return type(error), error, []
    return None, found, list(left)


def is_same(a, b):
    if isinstance(a, (tuple, list)):
        return isinstance(b, type(a)) and len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, dict):
        return type(a) is type(b) and is_same(list(a.items()), list(b.items()))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and np.allclose(a, b)
    if isinstance(a, float):
        return isinstance(b, float) and np.isclose(a, b)
    return (type(a) is type(b) or (isinstance(a, NUMBERS) and isinstance(b, NUMBERS))) and bool(a == b)


def fault(f, made, given):
    """What is wrong with a transform of f at this point; empty if nothing is."""
    kind, want, left = outcome(made.f, given, made.LEFT)
    found_kind, found, found_left = outcome(f, given, made.LEFT)
    if found_kind is not None and issubclass(found_kind, FadError):
        return ""
    if kind is not None or found_kind is not None:
        return "" if kind is found_kind else f"raised {found!r}, Python {want!r}"
    if not is_same(want, found):
        return f"{found!r} in place of {want!r}"
    return "" if is_same(left, found_left) else f"left {found_left!r} in place of {left!r}"


def faults(program, folder, number, tier="never"):
    made = module(program, folder, number)
    try:
        made.WANT = made.q(*GIVEN[0])
    except Exception:
        made.WANT = "none"
    if isinstance(made.WANT, (np.ndarray, list, dict, set)) and program.position in ("branch", "key", "among"):
        return []
    out = []
    with warnings.catch_warnings(), fad.config.using(compile=tier):
        warnings.simplefilter("ignore")
        f = fad.jit(made.f)
        for given in GIVEN:
            told = fault(f, made, given)
            if told:
                out.append(f"{program} ({tier}): {told}")
    return out


CHOSEN = programs(FEW, random.Random(0).randrange(FEW))


@pytest.mark.parametrize("part", in_turn(range(8)))
def test_every_question(part, tmp_path, capsys, caplog):
    found = [told for k, p in enumerate(CHOSEN[part::8]) for told in faults(p, tmp_path, k)]
    assert not found, "\n".join(found)


def test_in_compiled_code(tmp_path, capsys):
    found = [told for k, p in enumerate(programs(OF_TIERS)) for told in faults(p, tmp_path, k, "now")]
    assert not found, "\n".join(found)


NAMES = ["__len__", "__iter__", "__getitem__", "__dict__", "__name__", "__call__", "__array__", "__float__", "shape",
         "dtype", "ndim", "item", "real", "mro", "atom", "type", "detach", "none"]


@pytest.mark.parametrize("of", ["x", "x.sum()", "x[0]", "[x, x]", "[v for v in x]", "2.0 * n", "n"])
@pytest.mark.parametrize("has_text", [True, False])
def test_a_value_has_the_attributes_that_python_says(of, has_text):
    answer = f"float(hasattr({of}, name)) + 2 * (getattr({of}, name, None) is None)"
    text = f"def f(x, n): return [{answer} for name in NAMES]\n"
    scope = {"NAMES": NAMES}
    if has_text:
        executed(text, scope)
    else:
        exec(text, scope)
    given = np.array([0.3, 0.5]), 1.5
    assert fad.jit(scope["f"], fallback=False)(*given) == scope["f"](*given)
