"""Which integers are never negative: each claim is checked against all that the function computes."""
import numba
import numpy as np
import pytest
from numba.core.compiler import run_frontend

from fad.kernels.bounds import SignAnalysis
from fad.kernels.numba_pipeline import LeanCompiler
from fad.kernels.variables import definitions


def triangles(n, m):
    for i in range(1, n):
        for j in range(i):
            a = i - j - 1
            b = j - i
            c = i * (i - 1) // 2 + j
            yield a, b, c


def blocks(n, m):
    for q in range(n - 1, -1, -1):
        first = 3 * q
        end = min(first + 3, m)
        for i in range(first, end):
            a = (i - 3 * q) * (3 * q + 1)
            b = i - 4 * q
            for j in range(i + 1):
                c = i - j + a
                d = a - j
                yield a, b, c, d
        for k in range(end - 1, first - 1, -1):
            a2 = k - first
            b2 = end - k - 2
            c2 = (k - first) * (k - first - 1) // 2
            yield a2, b2, c2


def falling(n, m):
    for i in range(n):
        c2 = (-i + n - 1) * (-i + n - 2) // 2
        a = -i + n - 1
        b = -i + n - 2
        yield a, b, c2


def twice_used(n, m):
    for j in range(n):
        a = n - 1 - j
        yield (a,)
    for j in range(m):
        b = n - 1 - j
        c = m - 1 - j
        yield b, c


def left_by_another_loop(n, m):
    a = 0
    for j in range(n):
        b = j - 2
        yield a, b
    if n > 0:
        for j in range(2, m):
            c = b + 0 * j
            yield (c,)


def moved(n, m):
    first, last = 0, m
    for i in range(first, last):
        first += 2
        last -= 3
        a = i - first
        b = last - 1 - i
        c = i + last
        yield a, b, c


def remembered(n, m):
    before = 0
    for i in range(n):
        a = before
        before = before + 2 * i - 3
        b = before - a + i
        yield a, b


def left_by_the_loop_inside(n, m):
    for j in range(n):
        for j in range(-3, m):
            a = j + 3
            yield (a,)
        if m > -3:
            b = j
            yield (b,)


NATURAL = {moved: set(), remembered: set(), left_by_the_loop_inside: set(),
           left_by_another_loop: {"a"}, triangles: {"a", "c"}, falling: {"a", "c2"},
           blocks: {"a", "c", "a2", "c2"}, twice_used: {"c"}}


@pytest.mark.parametrize("f", NATURAL)
def test_what_is_never_negative(f):
    blocks_of = run_frontend(f).blocks
    bounds = SignAnalysis(blocks_of, definitions(blocks_of))
    names = {s.target.name: label for label, block in blocks_of.items()
             for s in block.body if type(s).__name__ == "Assign"}
    found = {name for name, label in names.items()
             if not name.startswith("$") and len(name) <= 2 and name[0] in "abcd" and bounds.is_natural(name, label)}
    assert found == NATURAL[f] | ({"a"} if f is twice_used else set())
    values = [dict(zip(sorted(frame), row)) for n, m in [(0, 0), (3, 4), (4, 11), (6, 2)]
              for frame, row in _rows(f, n, m)]
    assert all(value >= 0 for row in values for name, value in row.items() if name in NATURAL[f])


def _rows(f, n, m):
    """What the generator has yielded, with the names of what it computed."""
    generator = f(n, m)
    for _ in generator:
        frame = {k: v for k, v in generator.gi_frame.f_locals.items() if k in NATURAL[f]}
        yield sorted(frame), [frame[k] for k in sorted(frame)]


def wrapped(x, m):
    total = 0.0
    for i in range(m):
        for j in range(i + 2):
            total += x[i - j] * (j + 1)
        for j in range(i - 1, -2, -1):
            total += x[j] * x[j - i]
        for j in range(i, m):
            total -= x[j - i] / (1 + j) + x[i - j]
    return total


def test_subscripts_that_are_negative_count_from_the_end():
    x = np.linspace(0.3, 1.7, 9)
    assert np.isclose(numba.njit(wrapped, pipeline_class=LeanCompiler, error_model="numpy")(x, 7), wrapped(x, 7),
                      rtol=1e-13)
