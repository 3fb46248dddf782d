"""What branches and loops on traced values change besides variables: outer variables, globals, attributes, containers;
iterators; errors."""
import array
import collections
import itertools
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import UnstageableError

FLAG, COUNT, TABLE = 0.0, 0, {"k": 0.0}


def outer_variable(x):
    t = 0.0

    def add(v):
        nonlocal t
        t += v * v
        if t > 1:
            t = t / 2
    for i in range(4):
        add(x[i])
    return t


def outer_variables_in_loops(x):
    n, total = 0, 0.0

    def step(v):
        nonlocal n, total
        for i in range(3):
            if v * i > 0.5:
                n += 1
                total += v * i
            else:
                total -= v
        while total > 2:
            total *= 0.5
    for v in x:
        step(v)
    return total * n


def global_in_a_branch(x):
    global FLAG
    if x[0] > 0.5:
        FLAG = 1.0
    else:
        FLAG = 2.0
    flag, FLAG = FLAG, 0.0
    return x.sum() * flag


def global_dict_in_a_branch(x):
    if x[0] > 0.5:
        TABLE["k"] = 1.0
    else:
        TABLE["k"] = 2.0
    value, TABLE["k"] = TABLE["k"], 0.0
    return x.sum() * value


def kinds_of_dicts(x):
    d, c, e = collections.OrderedDict(a=0.0), collections.Counter(), collections.defaultdict(float)
    for i in range(4):
        d["a"] += x[i]
        c["n"] += 2
        e["z"] += x[i] ** 2
    if x[0] > 0.5:
        d["q"], c["m"] = 1.0, 3
    else:
        d["q"], c["m"] = 2.0, 4
    return d["a"] * d["q"] * c["n"] * c["m"] * e["z"]


class Slotted:
    __slots__ = ("a", "n")


def slots(x):
    s = Slotted()
    s.a, s.n = 0.0, 0
    for i in range(4):
        s.a = s.a + x[i] * s.n
        s.n += 1
    if x[0] > 0.5:
        s.n = 10
    else:
        s.n = 20
    return s.a * s.n


def attribute_of_a_function(x):
    def g():
        return None
    g.n = 1.0
    if x[0] > 0.5:
        g.n = 2.0
    else:
        g.n = 3.0
    return x.sum() * g.n


class Shared:
    total = 0.0


def attribute_of_a_class(x):
    if x[0] > 0.5:
        Shared.total = 1.0
    else:
        Shared.total = 2.0
    t, Shared.total = Shared.total, 0.0
    return t * x.sum()


def deque(x):
    q = collections.deque(maxlen=3)
    for v in x:
        q.append(v)
        if x[0] > 0.5:
            q.appendleft(1.0)
        else:
            q.appendleft(2.0)
    return sum(q)


def iterator(x):
    it, s = iter([1.0, 2.0, 3.0, 4.0]), 0.0
    for i in range(3):
        s += x[i] * next(it)
    return s + sum(it)


def generator_sent_to(x):
    def running():
        t = 0.0
        while True:
            t += yield t
    g = running()
    next(g)
    for i in range(4):
        total = g.send(x[i])
    return total


def generator_left_off(x):
    def count():
        yield from [1.0, 2.0, 3.0, 4.0]
    g, s = count(), 0.0
    for i in range(2):
        for v in g:
            s += v * x[i]
            break
    return s


def cycles(x):
    c, k, s = itertools.cycle([1.0, -1.0]), itertools.count(1), 0.0
    for v in x:
        s += v * next(c)
    for i in range(4):
        s += next(k) * x[i]
    return s


def return_in_else(x):
    for v in x:
        if v > 0.8:
            return v * v
    else:
        return x.sum()


def return_from_an_endless_loop(x):
    i = 0
    while True:
        if x[i] > 0.6 or i == 3:
            return x[i] * (i + 1)
        i += 1


PROGRAMS = [return_in_else, return_from_an_endless_loop, outer_variable, outer_variables_in_loops, global_in_a_branch,
            global_dict_in_a_branch, kinds_of_dicts, slots, attribute_of_a_function, attribute_of_a_class, deque,
            iterator, generator_sent_to, generator_left_off, cycles]
XS = [np.array(x) for x in ([0.31, 0.92, 0.63, 0.74], [0.81, 0.13, 0.452, 0.66])]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f):
    compiled, gradient = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
    for x in XS:
        np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)
        slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(gradient(x), slope, rtol=1e-5, atol=1e-6)


def test_globals_are_written():
    def f(x):
        global COUNT
        COUNT += 1
        return x.sum() * COUNT
    before, g = COUNT, fad.jit(f, fallback=False)
    assert [g(np.ones(2)) for _ in range(3)] == [2.0 * (before + k) for k in (1, 2, 3)]
    assert COUNT == before + 3


def test_an_iterator_in_a_branch_is_refused():
    def f(x):
        it = iter([1.0, 2.0, 3.0])
        a = next(it) if x[0] > 0.5 else 3 * next(it)
        return a * x.sum() * next(it)
    with pytest.raises(UnstageableError, match="iterator"):
        fad.jit(f, fallback=False)(XS[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in XS:
            np.testing.assert_allclose(fad.jit(f)(x), f(x))


class OfMine(ValueError):
    pass


def checked(x):
    if not np.all(np.isfinite(x)):
        raise FloatingPointError("not finite")
    return x


def validated(x):
    if x[0] > 50:
        raise ValueError("big")
    s = 0.0
    for v in checked(x):
        if v < 0:
            raise OfMine("negative")
        s += np.sqrt(v)
    n = 0
    while x[1] * 2 ** n < 100:
        n += 1
        if n > 10:
            raise RuntimeError("no convergence")
    return s + n


@pytest.mark.parametrize("make", [fad.jit, fad.grad], ids=["jit", "grad"])
@pytest.mark.parametrize("policy", ["now", "never"])
def test_the_program_raises_what_the_function_raises(make, policy):
    with fad.config.using(compile=policy):
        f = make(validated, fallback=False)
        x = np.array([1.0, 2.0, 3.0])
        expected = validated(x) if make is fad.jit else 0.5 / np.sqrt(x)
        np.testing.assert_allclose(f(x), expected)
        for k, value, error, text in ((0, 100.0, ValueError, "big"), (1, -1.0, ValueError, "negative"),
                                      (2, np.inf, FloatingPointError, "finite"),
                                      (1, 1e-9, RuntimeError, "no convergence")):
            y = x.copy()
            y[k] = value
            with pytest.raises(error, match=text):
                f(y)


def test_a_branch_that_always_raises_has_no_value():
    def f(x):
        if x[0] > 5:
            return x.sum()
        elif x[0] > 0:
            return x.prod()
        else:
            raise NotImplementedError("negative")
    g = fad.grad(f, fallback=False)
    np.testing.assert_allclose(g(np.array([6.0, 1.0])), [1.0, 1.0])
    np.testing.assert_allclose(g(np.array([2.0, 3.0])), [3.0, 2.0])
    with pytest.raises(NotImplementedError):
        g(np.array([-1.0, 3.0]))


def past_the_end(x):
    s = 0.0
    for i in range(6):
        try:
            s += x[i]
        except IndexError:
            s += 1
            break
    return s


def factored(x):
    try:
        L = np.linalg.cholesky(np.outer(x, x) + np.diag(x) - 0.5)
    except np.linalg.LinAlgError:
        return -x.sum()
    return L.sum()


def raised_by_data(x):
    try:
        if x[0] > 0.5:
            raise ValueError("no")
        s = x[1]
    except ValueError:
        s = x.sum()
    return s


def caught_by_all(x):
    try:
        n = {0: 1.0, 1: 2.0, 2: 3.0}[int(x[0] * 3)]
    except Exception:
        n = 100.0
    return n * x.sum()


def asserted(x):
    s = x[1]
    try:
        for v in x:
            s = s * 1.5
            assert v * s < 1.1, "too large"
    except AssertionError:
        return 2.0 * x[0] * s
    return s


@pytest.mark.parametrize("f", [past_the_end, factored, raised_by_data, caught_by_all, asserted],
                         ids=lambda f: f.__name__)
def test_errors_of_the_program_do_not_pass_handlers_by(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        for x in XS:
            np.testing.assert_allclose(fad.jit(f)(x), f(x), rtol=1e-12)
            np.testing.assert_allclose(fad.grad(f)(x), [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)],
                                       atol=1e-6)


def test_errors_while_tracing_are_caught():
    def f(x):
        table = {"a": x[0]}
        try:
            v = table["b"]
        except KeyError:
            v = table["a"] * 2
        try:
            n = [1.0, 2.0][5]
        except IndexError as error:
            n = len(str(error)) * 0 + 3.0
        finally:
            v = v * x[1]
        return v * n
    x = XS[0]
    np.testing.assert_allclose(fad.jit(f, fallback=False)(x), f(x))


class Pair:
    """Two numbers with operators of their own, from the right too."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __mul__(self, k):
        return Pair(self.a * k, self.b * k)

    __rmul__ = __mul__

    def __rsub__(self, k):
        return Pair(k - self.a, k - self.b)

    def __rpow__(self, k):
        return Pair(k ** self.a, k ** self.b)

    def __gt__(self, k):
        return self.a * self.b > k


class Block(Pair):
    """NumPy leaves operators to it, as it has the higher priority."""

    __array_priority__ = 1.0


def scaled_from_the_left(x):
    p = 1.5 - x[0] * Pair(x[1], x[2])
    q = x[0] * x[0]
    q *= p
    q = (x[1] * x[1] + 0.1) ** q
    return q.a + 2.0 * q.b if x[0] < q else q.a


def arrays_before_a_block(x):
    p = x * Block(x[0], x[1])
    return np.sum(p.a * p.b)


@pytest.mark.parametrize("f", [scaled_from_the_left, arrays_before_a_block])
def test_operators_of_objects_on_the_right(f):
    for x in (np.array([0.3, 0.8, 0.5]), np.array([-0.9, -1.1, 0.2])):
        slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(fad.jit(f, fallback=False)(x), f(x), rtol=1e-12)
        np.testing.assert_allclose(fad.grad(f, fallback=False)(x), slope, rtol=1e-6)


def test_objects_that_no_operator_knows_are_refused():
    with pytest.raises((TypeError, fad.util.errors.ConcreteValueError)):
        fad.jit(lambda x: x + Pair(1.0, 2.0))(1.0)


def lists_beside_arrays(x):
    y = x[:2] * [x[1], x[2]] - (x[0], 1.0) + [x[2], 2.0] / x[1:]
    y *= [x[0], 3.0]
    return np.sum(y) + x[1:] @ [x[0], x[1]] + np.sum((x[:2] > [x[1], 0.1]) * x[0])


def a_list_that_a_loop_fills_beside_an_array(x):
    squares = []
    for v in x:
        squares.append(v * v)
    return np.sum(x * squares) + x @ squares


@pytest.mark.parametrize("f", [lists_beside_arrays, a_list_that_a_loop_fills_beside_an_array])
def test_lists_of_traced_values_are_arrays_beside_one(f):
    for x in (np.array([0.3, 0.8, 0.5]), np.array([-0.9, -1.1, 0.2])):
        slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(fad.jit(f, fallback=False)(x), f(x), rtol=1e-12)
        np.testing.assert_allclose(fad.grad(f, fallback=False)(x), slope, rtol=1e-6)


def walrus_in_an_index(x):
    y, i = x.copy(), 0
    while (v := y[i]) > 0.3 and i < len(x) - 1:
        y[i := i + 1] += v * 0.1
    return np.sum(y) * i


def walrus_in_an_index_of_a_loop(x):
    y, k = x.copy(), 0
    for v in x:
        if v > 0.5:
            y[(k := k + 1) % 3] *= v
    return np.sum(y * y) + k


@pytest.mark.parametrize("f", [walrus_in_an_index, walrus_in_an_index_of_a_loop])
def test_a_name_bound_in_an_index(f):
    for x in (np.array([0.7, 1.3, 0.4]), np.array([0.1, 1.3, 0.4])):
        np.testing.assert_allclose(fad.jit(f)(x), f(x))
        np.testing.assert_allclose(fad.grad(f)(x), [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)], atol=1e-7)


def bytes_in_a_loop(x):
    marks, sums, s = bytearray(1), array.array("d", [0.0]), 0.0
    for k in range(12):
        marks[0] += 1
        sums[0] += 0.5
        s += marks[0] * sums[0] * x[0] * k
    return s


def bytes_in_a_branch(x):
    marks = bytearray(3)
    if x[0] > 0.5:
        marks.append(1)
    return len(marks) * x[1] ** 2


def bytes_in_a_dict(x):
    held, s = {"marks": bytearray(1)}, 0.0
    for k in range(12):
        held["marks"][0] += 1
        s += held["marks"][0] * x[0] * k
    return s


def an_iterator_in_a_dict(x):
    held, s = {"count": itertools.count()}, 0.0
    for k in range(12):
        s += next(held["count"]) * x[0] * k
    return s


def a_dict_of_the_users(x):
    held, s = collections.UserDict(n=0), 0.0
    for k in range(12):
        held["n"] += 1
        s += held["n"] * x[0] * k
    return s


@pytest.mark.parametrize("f",
                         [bytes_in_a_loop, bytes_in_a_branch, bytes_in_a_dict, an_iterator_in_a_dict,
                          a_dict_of_the_users])
def test_bytes_that_change_are_no_part_of_a_program(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        jitted, gradient = fad.jit(f), fad.grad(f)
        for x in ([0.3, 0.7], [0.6, 0.2], [0.3, 0.7]):
            x = np.array(x)
            assert np.isclose(jitted(x), f(x))
            np.testing.assert_allclose(gradient(x), [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)], atol=1e-6)
