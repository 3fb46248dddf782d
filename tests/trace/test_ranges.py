"""A range of traced integers answers every question as Python's own does: the cases are all that a range has."""
import collections.abc
import warnings

import numpy as np
import pytest

import fad

from ..turns import crossed

MADE = {"stop": lambda a, b, s: range(a), "start": lambda a, b, s: range(a, b), "step": lambda a, b, s: range(a, b, s),
        "known stop": lambda a, b, s: range(a, 6), "known step": lambda a, b, s: range(0, a, 2),
        "backwards": lambda a, b, s: range(b, a, -1)}
X = np.arange(8.0)
QUESTIONS = {
    "start": lambda r, c: r.start, "stop": lambda r, c: r.stop, "step": lambda r, c: r.step,
    "first": lambda r, c: r[0], "last": lambda r, c: r[-1], "item": lambda r, c: r[c], "item from the end":
    lambda r, c: r[-c], "far": lambda r, c: r[7], "far back": lambda r, c: r[-9], "true": lambda r, c: r[True],
    "number of NumPy's": lambda r, c: r[np.int64(1)], "text": lambda r, c: r["u"], "float": lambda r, c: r[1.0],
    "slice": lambda r, c: r[1:], "stop of a slice": lambda r, c: r[1:].stop, "reversed slice": lambda r, c: r[::-1],
    "length": lambda r, c: len(r) * 2.0, "as a length": lambda r, c: np.ones(len(r)), "truth": lambda r, c: bool(r),
    "as a condition": lambda r, c: 1.0 if r else 2.0, "list": lambda r, c: list(r), "reversed":
    lambda r, c: list(reversed(r)), "count": lambda r, c: r.count(c), "index": lambda r, c: r.index(r.start),
    "index of none": lambda r, c: r.index(99), "contains": lambda r, c: [2 in r, c in r, 2.5 in r, "u" in r],
    "equals itself": lambda r, c: r == r, "equals": lambda r, c: [r == range(2), r != range(0, 3), r == [0]],
    "instance": lambda r, c: [isinstance(r, range), isinstance(r, list), isinstance(r, collections.abc.Sequence)],
    "class": lambda r, c: type(r) is range, "text of it": lambda r, c: f"{r}", "hash": lambda r, c: hash(r),
    "itself": lambda r, c: r, "sum": lambda r, c: sum(r), "largest": lambda r, c: max(r), "sorted":
    lambda r, c: sorted(r, reverse=True), "array": lambda r, c: np.array(r), "index of an array": lambda r, c: X[r],
    "attributes": lambda r, c: [hasattr(r, name) for name in ("start", "scale", "steps", "known", "index")],
    "no attribute": lambda r, c: r.scale, "star": lambda r, c: (lambda *items: items)(*r), "loop":
    lambda r, c: sum([k * c for k in r if k % 2]), "chosen": lambda r, c: list(r if c > 1 else range(2)),
    "next": lambda r, c: next(iter(r)), "pairs": lambda r, c: [isinstance(zip(r, r), zip), list(zip(r, r))],
    "numbered": lambda r, c: [isinstance(enumerate(X[c:]), enumerate), list(enumerate(r))],
}
CALLS = [(1, 4, 1, 2), (2, 5, 2, 1), (0, 3, 1, 3), (4, 1, -1, 2), (5, 0, -2, 1)]


def answer(f, args):
    try:
        return f(*args)
    except Exception as error:
        return next(cls for cls in type(error).__mro__ if cls.__module__ == "builtins")


@pytest.mark.parametrize(("made", "question"), crossed(MADE, QUESTIONS))
def test_ranges_answer_as_pythons(made, question):
    make, ask = MADE[made], QUESTIONS[question]

    def f(a, b, s, c):
        return ask(make(a, b, s), c)
    g = fad.jit(f, compile="never")
    for args in CALLS:
        with warnings.catch_warnings():
            warnings.simplefilter("error", fad.InternalErrorWarning)
            warnings.simplefilter("ignore", fad.FallbackWarning)
            got, wanted = answer(g, args), answer(f, args)
        if isinstance(wanted, (np.ndarray, type)):
            np.testing.assert_array_equal(got, wanted)
        else:
            assert type(got) is type(wanted) or isinstance(got, np.integer)
            assert got == wanted


@pytest.mark.parametrize("question", ["start", "item", "item from the end", "length", "as a length", "instance"])
def test_what_programs_can_say_is_compiled(question):
    """Its numbers, its length and its elements are parts of one program for all ranges."""
    ask = QUESTIONS[question]
    g = fad.jit(lambda a, b, s, c: ask(range(a, b, s), c), compile="never", fallback=False)
    for args in CALLS[:3]:
        answer(g, args)
    traced = len([p for programs in g.programs.values() for p in programs])
    answer(g, (3, 7, 3, 1))
    assert len([p for programs in g.programs.values() for p in programs]) == traced


@pytest.mark.parametrize("question", ["start", "length", "loop", "list"])
def test_a_step_of_zero_is_refused(question):
    g = fad.jit(lambda a, b, s, c: QUESTIONS[question](range(a, b, s), c), compile="never")
    for args in CALLS[:3]:
        g(*args)
    with pytest.raises(ValueError, match="must not be zero"):
        g(2, 5, 0, 1)
