"""Arrays and lists of several sizes in one list: an element keeps its own size, however a loop puts it there."""
import numpy as np
import pytest

import fad

from ..turns import crossed

X = np.linspace(0.5, 2.0, 6)
SIZES = {"one": lambda x, i: x[i:i + 1], "two": lambda x, i: x[i:i + 2], "row": lambda x, i: x * (i + 1.0),
         "growing": lambda x, i: x[:i + 1], "table": lambda x, i: np.outer(x[:2], x[:3]) * (i + 1.0),
         "number": lambda x, i: x[i], "list": lambda x, i: [x[i]], "pair": lambda x, i: [x[i], x[i] * 2.0]}


def put(out, i, y):
    out[i] = y


def append(out, i, y):
    out.append(y)


def put_within(out, i, y):
    out[i] = [y, y]


WAYS = {"put": put, "append": append, "put within": put_within}


def program(way, before, after):
    """A list that holds arrays of one size, and gets some of another size in a loop."""
    put, first, then = WAYS[way], SIZES[before], SIZES[after]

    def f(x):
        out = [first(x, i) for i in range(4)]
        if way == "put within":
            out = [[y, y] for y in out]
        for i in range(4):
            put(out, i, then(x, i))
        return out
    return f


def total(y):
    return sum([total(part) for part in y]) if isinstance(y, list) else np.sum(y * y) + np.size(y)


def shapes(y):
    return [shapes(part) for part in y] if isinstance(y, list) else np.shape(y)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize(("way", "before", "after"), crossed(WAYS, SIZES, SIZES, count=4))
def test_elements_keep_their_sizes(way, before, after):
    f = program(way, before, after)
    (value, got), g = fad.value_and_grad(lambda x: (total(y := f(x)), y), has_aux=True)(X)
    wanted, d = f(X), np.cos(X)
    assert shapes(got) == shapes(wanted)
    assert total(got) == pytest.approx(total(wanted)) == value
    slope = (total(f(X + 1e-6 * d)) - total(f(X - 1e-6 * d))) / 2e-6
    assert g @ d == pytest.approx(slope, rel=1e-6)
