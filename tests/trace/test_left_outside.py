"""What a jitted function leaves outside is there after every call, in whatever it is kept; what is not the program's to
leave is refused."""
import types
from collections import namedtuple
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import fad
from fad.util.errors import SideEffectError

X = np.array([0.5, 1.5, -0.7])
Pair = namedtuple("Pair", "left right")
GAIN = 2.0
FLAG = True
W = np.array([1.0, 2.0, 3.0])
M = np.arange(9.0).reshape(3, 3)
TABLE = {"g": 2.0, "w": W}
LOG = []


class Gate:
    def __init__(self, k):
        self.k = k

    def __matmul__(self, x):
        return np.sum(x) * self.k * TABLE["g"] * GAIN

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return TABLE["g"] > 0.0


@pytest.fixture
def kept():
    return SimpleNamespace(nested=(1, [0.1, 0.2]), pair=Pair(0.4, [0.1, 0.7]), gates=[Gate(0.3)],
                           functions=[np.sin, np.cos], table={"w": np.ones(3)}, w=W, extra=0.1)


@pytest.fixture(autouse=True)
def as_before():
    global GAIN, FLAG
    yield
    GAIN, FLAG, TABLE["g"] = 2.0, True, 2.0
    W[:] = [1.0, 2.0, 3.0]
    M[:] = np.arange(9.0).reshape(3, 3)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("leave, left", [
    (lambda kept, v: kept.nested[1].__setitem__(0, v), lambda kept: kept.nested[1][0]),
    (lambda kept, v: kept.pair.right.__setitem__(0, v), lambda kept: kept.pair.right[0]),
    (lambda kept, v: setattr(kept.gates[0], "k", v), lambda kept: kept.gates[0].k),
], ids=["list in a tuple", "list in a named tuple", "object in a list"])
def test_values_left_in_what_has_no_name(kept, leave, left):
    """They were left as traced values."""
    f = fad.jit(lambda x: leave(kept, x[0] * 2.0) or np.sum(x))
    for k in (1.0, 2.0):
        f(k * X)
        assert left(kept) == k * X[0] * 2.0


def test_an_effect_is_repeated_where_all_is_as_it_was_before_it(kept):
    def f(x):
        kept.functions.reverse()
        return kept.functions[0](x[0])
    compiled = fad.jit(f)
    for _ in range(2):
        assert compiled(X) == np.cos(X[0])
        kept.functions.reverse()


def test_an_effect_is_repeated_where_what_it_wrote_is_another_thing(kept):
    def f(x):
        kept.extra = 0.6
        return np.sum(x)
    compiled = fad.jit(f)
    for before in (0.1, 0.2):
        kept.extra = before
        compiled(X)
        assert kept.extra == 0.6


def test_another_dtype_between_two_calls_does_not_lose_an_effect():
    def f(x):
        global FLAG
        FLAG = not FLAG
        return np.sum(x)
    compiled = fad.jit(f)
    for x, flag in ((X, False), (X.astype(np.float32), True), (X, False)):
        compiled(x)
        assert FLAG is flag


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_what_is_refused_after_its_trace_is_done_once(kept):
    row = M[1]

    def f(x):
        kept.nested[1].append(0.3)
        row[:2] += x[:2]
        return np.sum(x) * np.trace(M)
    fad.jit(f)(X)
    assert kept.nested[1] == [0.1, 0.2, 0.3]
    np.testing.assert_array_equal(M[1], [3.5, 5.5, 5.0])


def test_an_array_left_elsewhere_is_the_same_array(kept):
    def f(x):
        kept.table["w"] = kept.w
        return np.sum(x)
    fad.jit(f)(X)
    assert kept.table["w"] is W


SETTINGS = ModuleType("settings")


def assigned(x):
    SETTINGS.rate = x[0] * 2.0
    return np.sum(x)


def assigned_in_a_branch(x):
    if x[0] > 1.0:
        SETTINGS.rate = 5.0
    else:
        SETTINGS.rate = x[1]
    return np.sum(x) * SETTINGS.rate


def set_by_name(x):
    if x[0] > 1.0:
        setattr(SETTINGS, "rate", 5.0)                       # noqa: B010
    return np.sum(x) * SETTINGS.rate


def only_written(x):
    SETTINGS.rate = 9.0
    return np.sum(x)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("f", [assigned, assigned_in_a_branch, set_by_name, only_written], ids=lambda f: f.__name__)
def test_names_of_a_module(f):
    """A traced value was left there, or what one of two branches assigns."""
    compiled = fad.jit(f)
    for k in (1.0, 3.0, 1.5):
        SETTINGS.rate = 2.0
        want = f(k * X)
        left, SETTINGS.rate = SETTINGS.rate, 2.0
        assert compiled(k * X) == pytest.approx(want)
        assert SETTINGS.rate == left


def read_gain(x):
    return x * GAIN


def test_what_one_function_assigns_to_a_global_name_another_one_reads():
    def f(x):
        global GAIN
        GAIN = GAIN * 0.5
        return np.sum(read_gain(x))
    assert fad.jit(f)(X) == np.sum(X)
    assert GAIN == 1.0
    assert fad.jit(f)(X) == np.sum(X) * 0.5


COUNT, LEVEL = 1, 0.5


def bump():
    global COUNT
    COUNT += 1


def lift(v):
    global LEVEL
    LEVEL = v * 2.0


def bumped_in_a_branch(x):
    global GAIN
    GAIN = 2.0
    if x[0] > 0.4:
        bump()
    return np.sum(x) * COUNT * GAIN


def lifted_in_a_loop(x):
    global GAIN
    GAIN = 2.0
    for k in range(3):
        if x[k] > 0.0:
            lift(x[k])
    return np.sum(x) * LEVEL


def either_of_two(x):
    if x[0] > 0.4:
        bump()
    else:
        lift(x[1])
    bump()
    return np.sum(x) * COUNT * LEVEL


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("f", [bumped_in_a_branch, lifted_in_a_loop, either_of_two], ids=lambda f: f.__name__)
def test_global_names_of_several_functions(f):
    global COUNT, GAIN, LEVEL
    compiled = fad.jit(f)
    for x in (X, -X, X * 0.5):
        COUNT, GAIN, LEVEL = 1, 1.0, 0.5
        want = f(x), COUNT, GAIN, LEVEL
        COUNT, GAIN, LEVEL = 1, 1.0, 0.5
        np.testing.assert_allclose((compiled(x), COUNT, GAIN, LEVEL), want)


@pytest.mark.parametrize("name", ["global name", "dict with arrays"])
def test_what_is_changed_and_read_by_operators(name):
    """Operators in captured code see the change; methods that Python calls by itself would see what was there
    before."""
    gate = Gate(0.3)

    def change_name(x):
        global GAIN
        GAIN = 5.0
        return gate @ x

    def change_dict(x):
        TABLE["g"] = 5.0
        return gate @ x

    def ask_dict(x):
        TABLE["g"] = 5.0
        return np.sum(x) * {gate: 2.0}[Gate(0.3)]
    f = change_name if name == "global name" else change_dict
    for k in (3.0, 5.0):
        TABLE["g"] = k
        assert np.isclose(fad.jit(f, fallback=False)(X), f(X))
        np.testing.assert_allclose(fad.grad(f, fallback=False)(X), f(X) / np.sum(X))
    for transform in (fad.jit, fad.grad):
        with pytest.raises(SideEffectError, match="methods read that Python calls by itself"):
            transform(ask_dict, fallback=False)(X)


class Weight:
    def __float__(self):
        return 0.5


def test_a_call_that_is_refused_on_the_tape_leaves_all_as_it_was():
    """An operand that is no number was an error of fad's own there, and half of the writes stayed."""
    model, table, weights = types.SimpleNamespace(last=None), np.zeros((2, 3)), [Weight()]

    def f(x):
        y = x * 1.0
        model.last = y
        table[0] = y
        return np.sin(y[0]) * weights[-1]
    with pytest.raises(fad.util.errors.ConcreteValueError, match="cannot use Weight"):
        fad.grad(f)(np.array([0.3, 0.4, 0.5]))
    assert model.last is None and not table.any()


def _closed(log, name):
    try:
        while True:
            yield 1.0
    finally:
        log.append(name)


def waits(x, log):
    g = _closed(log, "f")
    next(g)
    return next(g) * float(str(float(x)))


def waits_in_a_loop(x, log):
    s = 0.0
    for k in range(3):
        g = _closed(log, k)
        s += next(g) * float(str(float(x) + k))
    return s


def waits_while_an_error_is_handled(x, log):
    g = _closed(log, "g")
    try:
        raise KeyError
    except KeyError:
        s = next(g) * x
    return s * next(g)


def waits_till_the_end(x, log):
    LOG.append(1.0)
    g = _closed(LOG, len(LOG))
    return next(g) * x


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("f", [waits, waits_in_a_loop, waits_while_an_error_is_handled, waits_till_the_end])
def test_generators_that_wait_end_with_the_function(f):
    """They were closed later, when what they write was noted no more: an entry more for each trace, or one less."""
    def called(g):
        log, found = [], []
        LOG.clear()
        for x in (0.5, 0.7, 0.7):
            found.append((float(g(x, log)), [*log, *LOG]))
        return found
    assert called(fad.jit(f, compile="never")) == called(f)
