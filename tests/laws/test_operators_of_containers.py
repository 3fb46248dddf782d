"""Python's operators between a container of Python's and a traced value mean what they mean between that container and
the value: a list times 2.0 is a TypeError, times an array an array, and times 2 the list twice."""
import copy
import itertools

import numpy as np
import pytest

import fad

from ..texts import executed
from ..turns import crossed

CONTAINERS = ["[1.0, 2.0]", "list(x)", "(x[0], 2.0)", "[]", "'ab'", "b'ab'", "{1: 2.0}", "range(2)", "None"]
OPERANDS = {"array": "x", "NumPy's float": "x[0]", "NumPy's int": "i[0]", "NumPy's bool": "b[0]", "ints": "i",
            "float": "u", "bool": "t", "0-d": "np.array(x[0])", "0-d of int": "np.array(i[0])",
            "an extent": "len(x)", "int of NumPy's": "int(i[0])", "an array of no inputs": "np.array([3.0, 4.0])",
            "a number of no inputs": "np.float64(3.0)"}
WAYS = {"program": lambda f: f, "tape": lambda f: lambda *args: f.on_tape(args, {})}
SIGNS = "+ - * / % ** @ & << < >= == != += *=".split()
ARGUMENTS = (np.array([2.0, 3.0]), np.array([2, 3]), np.array([True, False]), 2.0, 2, True)


def outcome(run):
    """The error, or what the result is and holds, as a text: nan is nan."""
    with np.errstate(all="ignore"):
        try:
            return repr(described(run(*copy.deepcopy(ARGUMENTS))))
        except Exception as error:
            return error


def described(result):
    if isinstance(result, (list, tuple, dict)):
        return type(result).__name__, [described(x) for x in result]
    if isinstance(result, np.ndarray):
        return "array", result.dtype, result.tolist()
    return result.item() if isinstance(result, np.generic) else result


def is_as_python(found, want):
    """Whether an outcome is Python's; an error that is fad's own may stand for any."""
    if isinstance(want, Exception):
        return isinstance(found, (TypeError if isinstance(want, TypeError) else type(want), fad.FadError))
    return found == want


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.filterwarnings("error::fad.InternalErrorWarning")
@pytest.mark.parametrize("operand, way", crossed(OPERANDS, WAYS))
def test_they_mean_what_they_mean_in_python(operand, way):
    wrong, way = [], WAYS[way]
    for container, sign in itertools.product(CONTAINERS, SIGNS):
        for a, b in itertools.permutations((container, OPERANDS[operand])):
            if (a, sign) == ("b'ab'", "%"):                  # a template of bytes
                continue
            lines = f"y = {a}\n    y {sign} {b}\n    return y" if sign in ("+=", "*=") else f"return {a} {sign} {b}"
            f = executed(f"def f(x, i, b, u, n, t):\n    {lines}\n", {"np": np, "__name__": "operators"})["f"]
            want, found = outcome(f), outcome(way(fad.jit(f, compile="never")))
            if not is_as_python(found, want):
                wrong.append(f"{a} {sign} {b}: {found} instead of {want}")
    assert not wrong, "\n".join(wrong)
