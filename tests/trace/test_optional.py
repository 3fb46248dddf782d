"""Names that are None on some ways and a number or an array on others: programs with a truth value beside the name, and
the tape where None itself is used."""
import operator
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning

from ..transforms.support import differences
from ..turns import crossed
from .one_program import check_examples, check_one_program


def search(x):
    first = None
    for i in range(len(x)):
        if x[i] > 1:
            first = i
            break
    if first is None:
        return x.sum()
    return x[first] ** 2


def best(x):
    most, where = -np.inf, None
    for i in range(len(x)):
        if x[i] > most:
            most, where = x[i], i
    return x[where] * most


def of_some_iterations(x):
    last, s = None, 0.0
    for v in x:
        if v > 0:
            if last is not None:
                s = s + (v - last) ** 2
            last = v
    return s


def set_back(x):
    p, s = None, 0.0
    for v in x:
        if v < 0:
            p = None
        else:
            s += v if p is None else p * v
            p = v
    return s


def found_in(x):
    for v in x:
        if v > 1:
            return v
    return None


def in_a_helper(x):
    r = found_in(x)
    return x[0] * 3 if r is None else r**2


def extremes(x):
    low = high = None
    for v in x:
        if v <= 0.55 and (low is None or v > low):
            low = v
        if v > 0.55 and (high is None or v < high):
            high = v
    if low is None or high is None:
        return x.sum()
    return high * low


def of_one_branch(x):
    t = None
    if x[0] > 0:
        t = x * 2
    elif x[1] > 0:
        t = x**2
    if t is None:
        t = x**3
    return t.sum()


def a_flag(x):
    found, none = False, None
    for v in x:
        if v > 1:
            found = True
    k = x[1] if x[0] > 0 else none
    if found is True and none is k:
        return x[2]
    return x[0] ** 2 if found is not False else x[1] ** 2


def as_a_truth_value(x):
    k = x[1] if x[0] > 0 else None
    return (k or 3.0) * x[2] if not k else k * x[3]


def under_and(x):
    k = None
    for i in range(len(x)):
        if x[i] > 1:
            k = i
            break
    if k is not None and x[k] > 1.2:
        return x[k] ** 2
    return x[0]


def in_loops_within(x):
    s, r = 0.0, None
    for i in range(3):
        r = None
        for v in x:
            if v > 0.95 + 0.3 * i:
                r = v
                break
        if r is not None:
            s += r**2
    return s if r is None else s + r


def perhaps_unbound(x):
    for i in range(len(x)):
        r = None
        for j in range(i):
            if x[j] > 1:
                r = x[j]
    return 0.0 if r is None else r * x[0]


def of_no_iteration(x):
    k = None
    for i in range(len(x) - 5):
        k = x[i]
    return x[0] if k is None else k * x[1]


def of_a_while(x):
    step, i = None, 0
    while (step is None or step < 0.45) and i < len(x):
        step = x[i]
        i += 1
    return step**2


def of_changing_extents(x):
    b, s = None, 0.0
    for i in range(1, len(x)):
        if b is not None:
            s += (b**3).sum()
        if x[i] > 0.35:
            b = x[:i] * 2
        elif x[i] < -0.3:
            b = None
    return s + (x[0] if b is None else (b**2).sum())


class Best:
    def __init__(self):
        self.value = None

    def see(self, v):
        if self.value is None or v > self.value:
            self.value = v


def in_an_object(x):
    found = Best()
    for v in x:
        if v > 0:
            found.see(v)
    return x[0] if found.value is None else found.value**2


def in_a_list(x):
    c = [None, 0.0]
    for v in x:
        if v > 1:
            c[0] = v
            c[1] += v
    return x[0] if c[0] is None else c[0] ** 2 * c[1]


def in_a_pair(x):
    def pair():
        for j in range(len(x)):
            if x[j] > 1:
                return j, x[j]
        return None, x[0]
    j, v = pair()
    return v if j is None else v * x[j]


def an_alias(x):
    y, b = x * 1, None
    if x[0] > 0:
        b = y
    if b is not None:
        b[0] = 5.0
    return (y**2).sum()


def half_of_an_int(x):
    t = None
    if x[0] > 0:
        t = 3
    return x[1] if t is None else x[2] * (t // 2)


PROGRAMS = [search, best, of_some_iterations, set_back, in_a_helper, extremes, of_one_branch, a_flag, as_a_truth_value,
            under_and, in_loops_within, perhaps_unbound, of_no_iteration, of_a_while, of_changing_extents, in_an_object,
            in_a_list, in_a_pair, an_alias, half_of_an_int]
XS = [np.array(x) for x in ([0.3, -0.5, 1.51, 2.0, 0.1], [-0.3, 0.5, 0.4, 0.2, -0.1], [-0.31, -0.5, -0.4, -0.2, -0.1],
                            [1.31, 0.5, -0.4, 0.2, 1.1])]


@pytest.mark.parametrize("f, policy", crossed(PROGRAMS, ["now", "never"]))
def test_is_one_program(f, policy):
    check_one_program(f, XS, policy)


@pytest.mark.parametrize("f", [search, best, set_back, in_a_helper, in_loops_within, an_alias],
                         ids=operator.attrgetter("__name__"))
def test_examples_go_their_own_ways(f):
    check_examples(f, XS)


def perhaps(x):
    return x[1] if x[0] > 0 else None


def a_new_axis(x):
    k = None if x[0] < 0 else 1
    return np.sum(x[k] ** 2)


def to_the_end(x):
    k = None if x[0] < 0 else 2
    return np.sum(x[:k] ** 2)


def no_bound(x):
    return np.sum(np.clip(x, perhaps(x), 1.0) ** 2)


def equal_to_none(x):
    return x[0] ** 2 if perhaps(x) == None else x[1] ** 2  # noqa: E711


def among(x):
    return x[0] ** 2 if None in [perhaps(x), 1.0] else x[1] ** 2


def of_a_class(x):
    return x[1] ** 2 if isinstance(perhaps(x), float) else x[0] ** 2


namespace: dict = {}
exec("def without_source(v, x): return x[0] ** 2 if v is None else v ** 2", namespace)


def in_code_without_source(x):
    return namespace["without_source"](perhaps(x), x)


class Asked:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return other is None

    def __contains__(self, k):
        return _is_missing(k)

    def __neg__(self):
        return 2.0 if self.v is None else 3.0

    @property
    def held(self):
        return self.v

    @held.setter
    def held(self, v):
        self.v = 2.0 if v is None else 3.0


def _is_missing(k):
    return k is None


OUTSIDE = Asked(1.0)


def equality(x):
    return x[0] ** 2 if Asked(1.0) == perhaps(x) else x[1] ** 2


def membership(x):
    return x[0] ** 2 if perhaps(x) in OUTSIDE else x[1] ** 2


def negation(x):
    return -Asked(perhaps(x)) * x[2] ** 2


def a_setter(x):
    o = Asked(1.0)
    o.held = perhaps(x)
    return o.v * x[2] ** 2


@pytest.mark.parametrize("f", [equality, membership, negation, a_setter], ids=operator.attrgetter("__name__"))
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_questions_of_methods_that_python_calls_by_itself(f):
    gradient = fad.grad(f)
    for x in (XS[0], XS[1], XS[0]):
        np.testing.assert_allclose(gradient(x), differences(f, x), atol=1e-6)


exec("def pair_without_source(pair): return 2.0 if pair[0] is None else 3.0", namespace)


def in_a_pair_given_to_code_without_source(x):
    return namespace["pair_without_source"]((perhaps(x), 1)) * x[2] ** 2


@pytest.mark.parametrize("f",
                         [a_new_axis, to_the_end, no_bound, equal_to_none, among, of_a_class,
                          in_code_without_source,
                               in_a_pair_given_to_code_without_source],
                         ids=operator.attrgetter("__name__"))
def test_what_python_makes_of_none_is_left_to_python(f):
    """The program gives up where it meets None, and only there: the next call is the program's again."""
    gradient = fad.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(gradient(XS[0]), differences(f, XS[0]), atol=1e-6)
    with pytest.warns(FallbackWarning, match="a value is used that is None"):
        np.testing.assert_allclose(gradient(XS[2]), differences(f, XS[2]), atol=1e-6)
    np.testing.assert_allclose(gradient(XS[0]), differences(f, XS[0]), atol=1e-6)
    with pytest.raises(TypeError, match="a value is used that is None"):
        fad.jit(f, fallback=False)(XS[2])


def times_two(x):
    return perhaps(x) * 2


def test_which_object_a_number_is_only_python_knows():
    def f(x):
        a, b = x[0], None
        for v in x:
            a, b = b, a
            if v < 0:
                b = a
        return x[1] if a is b else x[2]
    with pytest.warns(FallbackWarning, match="is"):
        gradient = fad.grad(f)
        for x in XS:
            np.testing.assert_allclose(gradient(x), differences(f, x), atol=1e-6)


def test_errors_are_pythons():
    for g in (fad.jit(times_two), fad.grad(times_two)):
        with pytest.raises(TypeError, match="unsupported operand type"):
            g(XS[2])
        g(XS[0])


def test_a_result_may_be_none():
    compiled = fad.jit(found_in)
    assert compiled(XS[0]) == 1.51
    with pytest.warns(FallbackWarning, match="a value is used that is None"):
        assert compiled(XS[1]) is None
    assert [compiled(x) for x in XS] == [1.51, None, None, 1.31]


def test_a_known_value_is_not_checked():
    """Where the conditions around say that there is a value, the program does not ask again; what begins with None
    needs no iteration of its own."""
    assert "TypeError" not in fad.source(fad.jit(search), XS[0]) + fad.source(fad.jit(under_and), XS[0])
    text = fad.source(fad.jit(best), XS[0])
    assert "TypeError" in text
    assert text.count("-np.inf") == 1
