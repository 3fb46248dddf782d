"""Names that are one text on some paths and another text on others: programs that compare numbers, and the tape where
Python asks what the text says."""
import operator
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning

from ..transforms.support import differences
from ..turns import crossed
from .one_program import check_examples, check_one_program


def iteration(x):
    status, y = "running", 1.0
    for _ in range(40):
        y = y - (y * y - x[0] ** 2 - 2.0) / (2.0 * y)
        if abs(y * y - x[0] ** 2 - 2.0) < 0.3 + x[1]:
            status = "converged"
            break
    return y if status == "converged" else 2.0 * x[2]


def of_one_branch(x):
    mode = "high" if x[0] > 1 else "low"
    return x[1] ** 2 if mode == "low" else x[1] ** 3


def of_three(x):
    m = "a" if x[0] > 1 else ("b" if x[1] > 0 else "c")
    r = x[0] * 2 if m in ("a", "b") else x[1]
    return r if m not in ["b", "z"] else r + x[2] ** 2


def machine(x):
    state, s = "grow", 0.0
    for _ in range(9):
        if state == "grow":
            s = s + x[0]
            if s > 1:
                state = "jump"
        elif state == "jump":
            s, state = s * x[3], "rest"
        else:
            s = s + 0.6
            if s > x[2]:
                state = "grow"
    return s * x[1]


def nest(x):
    s, t = "a", 0.0
    for i in range(4):
        for j in range(3):
            if s == "a" and x[j] > 0.3:
                s = "b"
            elif s == "b":
                s, t = "c", t + x[0] * i
            else:
                s = "a"
        t = t + (x[1] if s == "c" else 1.0)
    return t


def empty_or_not(x):
    s = "" if x[0] > 0 else "yes"
    return x[1] ** 2 if s else x[2] ** 2


def of_two_names(x):
    a = "p" if x[0] > 0 else "q"
    b = "q" if x[1] > 0.3 else "p"
    return x[2] ** 2 if a == b else x[3] ** 3 if a != "p" else x[1]


def in_a_dict(x):
    best = {"name": "none", "value": -1.0}
    for name, v in (("p", np.sin(x[0])), ("q", np.cos(x[1])), ("r", x[2])):
        if v > best["value"]:
            best["name"], best["value"] = name, v
    if best["name"] == "p":
        return best["value"] * x[3]
    return best["value"] * (2.0 if best["name"] == "q" else 3.0)


class Solver:
    message = "not called"

    def step(self, v):
        self.message = "up" if v > 0 else "down"
        return v


def in_an_object(x):
    solver, s = Solver(), 0.0
    for v in x:
        s = s * 0.5 + solver.step(v) ** 2
        if solver.message == "down":
            s = s - 0.1 * v
    return s if solver.message == "up" else s * x[0]


def beside_arrays(x):
    state, a, b = "low", np.zeros(5), np.ones(5)
    for _ in range(4):
        a, b = b * x, a + x
        if a.sum() > 2:
            state = "high"
            a[0] = 1.0
    return a.sum() if state == "high" else b.sum()


def of_the_first_iteration(x):
    phase, kind, s = "first", "none", 0.0
    for v in x:
        if phase == "first":
            total, phase = np.outer(x, x)[0], "later"
        else:
            total = total * v + 1.0
        f = np.sin if kind == "none" else np.cos
        s, kind = s + f(v), "some"
    return total.sum() + s


def of_a_while(x):
    state, n, s = "more", 0, x[0]
    while state == "more":
        s, n = s * 0.8 + x[1], n + 1
        if n > 6 or s > 1:
            state = "enough" if s > 1 else "late"
    return s if state == "late" else s**2


def in_messages(x):
    if x[4] > 1:
        kind = "very large" if x[4] > 2 else "large"
        if x[4] > 9:
            raise ValueError(f"{kind} numbers")
    return np.sum(x**2)


def a_pattern(x):
    state = "a" if x[0] > 0 else "b"
    match state:
        case "a":
            return x[1] ** 2
        case "b":
            return x[2] ** 2


PROGRAMS = [iteration, of_one_branch, of_three, machine, nest, empty_or_not, of_two_names, in_a_dict, in_an_object,
            beside_arrays, of_the_first_iteration, of_a_while, in_messages, a_pattern]
XS = [np.array(x) for x in ([0.3, -0.5, 1.51, 2.0, 0.1], [-0.3, 0.5, 0.4, 0.2, -0.1], [-0.31, -0.5, -0.4, -0.2, 1.2],
                            [1.31, 0.5, -0.4, 0.2, 2.1])]


@pytest.mark.parametrize("f, policy", crossed(PROGRAMS, ["now", "never"]))
def test_is_one_program(f, policy):
    check_one_program(f, XS, policy)


@pytest.mark.parametrize("f", [iteration, machine, nest, in_a_dict, beside_arrays, of_a_while],
                         ids=operator.attrgetter("__name__"))
def test_examples_go_their_own_ways(f):
    check_examples(f, XS)


STATE = Solver()


def left_outside(x):
    STATE.message = "up" if x[0] > 0 else "down"
    return np.sum(x**2)


def left_by_a_function_within(x):
    slope = fad.grad(left_outside)(x)
    return slope[0] ** 2 if STATE.message == "up" else slope[1] ** 2


@pytest.mark.parametrize("f", [left_outside, left_by_a_function_within], ids=operator.attrgetter("__name__"))
def test_a_text_is_left_outside_at_each_call(f):
    gradient = fad.grad(f, fallback=False)
    for x in XS:
        STATE.message = "not called"
        gradient(x)
        assert STATE.message == ("up" if x[0] > 0 else "down")


def test_a_text_is_printed_at_each_call(capsys):
    def f(x):
        state = "up" if x[0] > 0 else "down"
        print("state:", state, f"({state}, {x[0]:.1f})")
        return np.sum(x**2)
    gradient = fad.grad(f, fallback=False)
    for x in XS:
        gradient(x)
    assert capsys.readouterr().out.splitlines() == [
        f"state: {t} ({t}, {x[0]:.1f})" for x in XS for t in ["up" if x[0] > 0 else "down"]]


def test_errors_say_the_text():
    gradient = fad.grad(in_messages)
    gradient(XS[0])
    with pytest.raises(ValueError, match="very large numbers"):
        gradient(np.array([0.0, 0.0, 0.0, 0.0, 10.0]))


def chosen(x):
    return "ab" if x[0] > 0 else "abc"


def length(x):
    return x[1] * len(chosen(x))


def key(x):
    return x[1] * {"ab": 2.0, "abc": 5.0}[chosen(x)]


def end(x):
    return x[1] ** 2 if chosen(x).endswith("c") else x[2] ** 2


def sum_of_texts(x):
    return x[1] ** 2 if chosen(x) + "c" == "abc" else x[2] ** 2


def in_a_set(x):
    return x[1] ** 2 if chosen(x) in {"ab", "b"} else x[2] ** 2


def as_an_option(x):
    return np.sum(np.pad(x, 1, mode="edge" if x[0] > 0 else "reflect") ** 2)


def of_a_library(x):
    return np.sum(np.einsum("i,j->ij" if x[0] > 0 else "i,j->ji", x, x**2)[0])


def an_attribute(x):
    return np.sum(getattr(Solver(), "step" if x[0] > 0 else "message") == "not called") + x[1] ** 2


def a_class(x):
    return x[1] ** 2 if type(chosen(x)) is str and isinstance(chosen(x), str) else x[2]


def a_formatted(x):
    return x[1] ** 2 if "%s." % chosen(x) == "ab." else x[2] ** 2              # noqa: UP031


def a_join(x):
    return x[1] ** 2 if "-".join([chosen(x), "d"]) == "ab-d" else x[2] ** 2


def sorted_texts(x):
    return x[1] ** 2 if sorted([chosen(x), "abb"])[0] == "ab" else x[2] ** 2


@pytest.mark.parametrize("f", [length, key, end, sum_of_texts, in_a_set, as_an_option, of_a_library, an_attribute,
                               a_class, a_formatted, a_join, sorted_texts],
                         ids=operator.attrgetter("__name__"))
def test_what_asks_for_the_text_runs_on_the_tape(f):
    """Or is one program; never is the answer that of another text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        gradient = fad.value_and_grad(f)
        for x in XS:
            value, slope = gradient(x)
            np.testing.assert_allclose(value, f(x), rtol=1e-12)
            np.testing.assert_allclose(slope, differences(f, x), rtol=1e-6, atol=1e-6)


def test_a_text_that_is_returned_is_that_of_the_call():
    with pytest.warns(FallbackWarning):
        of_call = fad.grad(lambda x: (np.sum(x**2), chosen(x)), has_aux=True)
        for x in XS:
            assert of_call(x)[1] == chosen(x)
