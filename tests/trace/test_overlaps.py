"""Arrays from outside that lie in one memory: attributes, globals and elements of lists that are views of one array."""
import mmap
import types

import numpy as np
import pytest
import scipy.spatial

import fad
from fad.trace.heap import opaque
from fad.util.errors import SideEffectError
from fad.util.reach import reached

from ..turns import in_tiers

X = np.array([0.5, 1.5])


class Particles:
    """Positions and speeds in one array, as integrators want them."""

    def __init__(self):
        self.state = np.arange(1.0, 7.0)
        self.at, self.speed = self.state[:3], self.state[3:]

    def step(self, k):
        self.speed[:] -= k * self.at
        self.at += 0.1 * self.speed
        return np.sum(self.state ** 2)


def one_step():
    p = Particles()
    return lambda x: p.step(x[0]), p.state


def steps():
    p = Particles()

    def f(x):
        for _ in range(4):
            energy = p.step(x[0])
        return energy
    return f, p.state


def steps_while():
    p = Particles()

    def f(x):
        energy = 0.0
        while p.state[3] > 1.0:
            energy = energy + p.step(x[0])
        return energy * x[1]
    return f, p.state


def one_in_each_branch():
    p = Particles()

    def f(x):
        if x[0] > p.state[1]:
            p.at[0] = x[1]
        else:
            p.speed[0] = x[1]
        return np.sum(p.state ** 2)
    return f, p.state


def either_name():
    p = Particles()

    def f(x):
        part = p.at if x[0] > 0.0 else p.speed
        part[1:] = x
        return p.state @ p.state
    return f, p.state


def diagonal():
    K = np.zeros((4, 4))
    d = K.reshape(-1)[::5]

    def f(x):
        K[0, 1], K[2, 2] = x
        d[...] += x[0]
        return np.sum(K @ np.arange(4.0))
    return f, K


def two_that_overlap():
    buffer = np.zeros(10)
    a, b = buffer[2:8], buffer[4:]

    def f(x):
        a[:2] = x
        b[0] += 3 * a[1]
        return a @ np.arange(6.0)
    return f, buffer


def transposed():
    W = np.arange(6.0).reshape(2, 3)
    T = W.T

    def f(x):
        W[0] *= x[0]
        return np.sum(T @ x) + np.sum(T[1])
    return f, W


def windows():
    s = np.arange(6.0)
    parts = [s[i:i + 3] for i in range(0, 4)]

    def f(x):
        for part in parts:
            part[:2] *= x
        return np.sum(s)
    return f, s


def real_part():
    z = np.arange(4.0) + 1j
    re = z.real

    def f(x):
        re[:2] = x
        return np.sum(np.abs(z) ** 2)
    return f, z


def whole_view():
    s = np.arange(4.0)
    t = s.view()

    def f(x):
        s[0] = x[0]
        return np.sum(t * t)
    return f, s


def counts():
    n = np.arange(4)
    tail = n[1:]

    def f(x):
        tail[0] += 1
        return x[0] * n[1]
    return f, n


def rows_of_the_inner_function():
    p = Particles()

    def f(x):
        def g(q):
            p.at[:2] = q
            return p.state @ p.state
        return np.sum(fad.jit(g)(x)) + p.state[1]
    return f, p.state


def in_a_file(tmp_path):
    path = tmp_path / "state"
    path.write_bytes(np.arange(6.0).tobytes())
    state = np.memmap(path, float, mode="r+")
    a, b = state[:4], state[2:]

    def f(x):
        a[2:] = x
        return b @ b
    return f, state


MADE = [one_step, steps, steps_while, one_in_each_branch, either_name, diagonal, two_that_overlap, transposed, windows,
        real_part, whole_view, counts, rows_of_the_inner_function]


def called(make, transform, count):
    f, memory = make()
    g = transform(f)
    return [g(X + 0.1 * k) for k in range(count)], memory


@pytest.mark.parametrize("make, policy", in_tiers(MADE))
def test_a_write_to_one_shows_in_all(make, policy):
    want, memory = called(make, lambda f: f, 3)
    with fad.config.using(compile=policy, fallback=False):
        found, left = called(make, fad.value_and_grad, 3)
    np.testing.assert_allclose([value for value, _ in found], want, rtol=1e-12)
    np.testing.assert_allclose(left, memory, rtol=1e-12)
    h = 1e-6

    def third(x):
        f, _ = make()
        return [f(X), f(X + 0.1), f(x)][2]
    slopes = [(third(X + 0.2 + h * e) - third(X + 0.2 - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(found[2][1], slopes, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("make", MADE, ids=lambda f: f.__name__)
def test_so_it_does_on_the_tape(make):
    want, memory = called(make, lambda f: f, 3)
    found, left = called(make, lambda f: lambda x: fad.value_and_grad(f).on_tape((x,), {}), 3)
    staged, _ = called(make, fad.value_and_grad, 3)
    np.testing.assert_allclose([value for value, _ in found], want, rtol=1e-12)
    np.testing.assert_allclose([slope for _, slope in found], [slope for _, slope in staged], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(left, memory, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_files_in_memory(tmp_path):
    f, state = in_a_file(tmp_path)
    assert fad.jit(f)(X) == pytest.approx(np.sum(X ** 2) + 4.0 ** 2 + 5.0 ** 2)
    np.testing.assert_array_equal(state, [0.0, 1.0, *X, 4.0, 5.0])


def test_views_that_are_only_read_are_inputs_of_their_own():
    data = np.arange(20.0).reshape(4, 5)
    first, rest = data[:, 0], data[:, 1:]
    g = fad.grad(lambda x: np.sum(rest @ np.append(x, x) * first))
    g(X)
    [program] = [p for found in g.programs.values() for p in found]
    assert {id(a) for a in program.traced.captured} == {id(first), id(rest)}


def test_a_view_that_is_written_to_alone_is_an_input_of_its_own():
    data = np.zeros((4, 5))
    column = data[:, 2]

    def f(x):
        column[1:3] = x
        return column @ column
    g = fad.jit(f)
    assert g(X) == pytest.approx(X @ X)
    np.testing.assert_array_equal(data[:, 2], [0.0, *X, 0.0])
    [program] = [p for found in g.programs.values() for p in found]
    assert [a is column for a in program.traced.captured] == [True]


def test_the_trace_is_made_once_more_and_no_more():
    p, traces = Particles(), []

    def f(x):
        traces.append(1)
        return p.step(x[0])
    g = fad.jit(f)
    g(X)
    made = len(traces)
    for k in range(3):
        g(X + k)
    assert made <= 4 and len(traces) == made + 3              # the list of traces is state, and delivered


# what no view of numbers can show -------------------------------------------------------------------------------------

def field_of_records():
    records = np.zeros(3, [("a", float), ("b", float)])
    a = records["a"]

    def f(x):
        a[0] = x[0]
        return np.sum(records["a"]) * x[1]
    return f, records


def buffer_of_bytes():
    data = bytearray(8)
    numbers = np.frombuffer(data, np.uint8)

    def f(x):
        numbers[0] = 7
        return x[0] * data[0]
    return f, data


def of_another_dtype():
    a = np.ones(4)
    bits = a.view(np.int64)

    def f(x):
        a[0] = x[0]
        return x[1] * (bits[0] % 7)
    return f, a


def repeated():
    a = np.ones(3)
    table = np.broadcast_to(a, (4, 3))

    def f(x):
        a[0] = x[0]
        return np.sum(table) * x[1]
    return f, a


def mapped():
    memory = mmap.mmap(-1, 32)
    a, b = np.frombuffer(memory, float), np.frombuffer(memory, float)

    def f(x):
        a[0] = x[0]
        return np.sum(b) * x[1]
    return f, a


def read_by_c():
    points = np.array([[0.0, 0.0], [3.0, 4.0]])
    tree = scipy.spatial.cKDTree(points, copy_data=False)

    def f(x):
        points[0] = x
        return tree.query([0.0, 0.0])[0] * x[1]
    return f, points


def read_by_masked_array():
    a = np.arange(4.0)
    masked = np.ma.array(a, copy=False)

    def f(x):
        a[0] = x[0]
        return masked.sum() * x[1]
    return f, a


def read_in_a_loop_before_the_write():
    a = np.arange(4.0)
    masked = np.ma.array(a, copy=False)

    def f(x):
        s = 0.0
        for k in range(3):
            s = s + masked.sum() * x[1]
            a[k] = x[0]
        return s
    return f, a


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("make", [field_of_records, buffer_of_bytes, of_another_dtype, repeated, mapped, read_by_c,
                                  read_by_masked_array, read_in_a_loop_before_the_write],
                         ids=lambda f: f.__name__)
def test_a_derivative_of_what_cannot_be_followed_is_refused(make):
    f, memory = make()
    before = bytes(memory)
    with pytest.raises(SideEffectError, match="shares its memory"):
        fad.grad(f)(X)
    assert bytes(memory) == before
    plain, _ = make()
    assert fad.jit(f)(X) == plain(X)                          # without a derivative the function runs as it stands


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("writes", [False, True])
def test_reads_on_the_tape_are_followed_only_behind_writes(writes, monkeypatch):
    counts, walks = np.array([3, 4, 5]), []
    tables = types.MappingProxyType({k: np.ma.array(counts.copy()) for k in range(3)})    # C reads it
    monkeypatch.setattr(opaque, "reached", lambda values, parts: (walks.append(values), reached(values, parts))[1])

    def f(x):
        total = x[0]
        for k in range(int(x[1])):
            total = total * float(tables[k][0]) + float(counts[1])
            counts[0] += writes
        return total
    g = fad.value_and_grad(f)
    for _ in range(2):
        walks.clear()                                         # the first call tries a program before
        value, slope = g(np.array([1.0, 3.0]))
        assert (value, *slope) == (79.0, 27.0, 0.0)
    assert bool(walks) == writes


def test_a_read_only_view_is_not_written_to():
    s = np.arange(4.0)
    t = s[:2]
    t.flags.writeable = False

    def f(x):
        t[0] = x[0]
        return np.sum(s)
    with pytest.raises(ValueError, match="read-only"):
        fad.jit(f)(X)
    np.testing.assert_array_equal(s, np.arange(4.0))


# the array that an attribute holds ------------------------------------------------------------------------------------

def halved(p, x):
    p.at *= 0.5


def halved_in_a_branch(p, x):
    if x[0] > p.state[0]:
        pass
    else:
        p.at *= 0.5


def halved_by_outside_data(p, x):
    if p.state[5] > 0.0:
        p.at *= 0.5


def given_itself(p, x):
    if x[0] < 9.0:
        p.at = p.at


@pytest.mark.parametrize("change", [halved, halved_in_a_branch, halved_by_outside_data, given_itself],
                         ids=lambda f: f.__name__)
def test_an_attribute_changed_in_place_stays_the_array(change):
    p, q = Particles(), Particles()
    at = p.at

    def f(x):
        change(p, x)
        return x[0] * np.sum(p.state)
    g = fad.value_and_grad(f)
    with fad.config.using(fallback=False):
        for k in range(3):
            change(q, X + k)
            assert g(X + k)[0] == pytest.approx((X + k)[0] * np.sum(q.state))
            assert p.at is at
            np.testing.assert_allclose(p.state, q.state)


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("place", ["o.w", "o.table['k']", "o.items[0]"])
def test_an_array_that_outside_data_choose_is_left_as_that_array(place):
    class Holder:
        pass
    o = Holder()
    o.w, o.table, o.items = np.zeros(2), {"k": np.zeros(2)}, [np.zeros(2)]
    kind, first, second = np.array([1.0]), np.ones(2), np.ones(2)
    scope = {"o": o, "kind": kind, "first": first, "second": second, "np": np}
    exec(f"def f(x):\n    {place} = first if kind[0] > 0.0 else second\n    return np.sum(x)", scope)
    g = fad.jit(scope["f"])
    g(X)
    assert eval(place, scope) is first
    kind[0] = -1.0
    g(X)
    assert eval(place, scope) is second


# scratch memory of a batch --------------------------------------------------------------------------------------------

SCRATCH, START = np.zeros(6), np.arange(6.0)
FIRST, LAST = SCRATCH[:3], SCRATCH[3:]


def filled(x):
    SCRATCH[:] = x[0]
    return np.sum(SCRATCH * START)


def filled_and_changed(x):
    SCRATCH.fill(0.0)
    SCRATCH[1:3] = x
    return SCRATCH @ START


def filled_and_changed_by_views(x):
    SCRATCH[...] = START
    for _ in range(3):
        LAST[:] = LAST - 0.1 * x[0] * FIRST
        FIRST[:] = FIRST + 0.1 * LAST
    return SCRATCH @ START


@pytest.mark.parametrize("f", [filled, filled_and_changed, filled_and_changed_by_views], ids=lambda f: f.__name__)
def test_a_batch_compiles_with_scratch_that_each_example_fills(f):
    batch = np.array([X, X + 1, X - 0.3])
    with fad.config.using(fallback=False):
        found = fad.vmap(fad.value_and_grad(f))(batch)
    want = [fad.value_and_grad(f)(x) for x in batch]
    np.testing.assert_allclose(found[0], [v for v, _ in want])
    np.testing.assert_allclose(found[1], [g for _, g in want])
    left = SCRATCH.copy()
    f(batch[-1])
    np.testing.assert_allclose(left, SCRATCH)


# an argument that is an array from outside ----------------------------------------------------------------------------

def test_a_derivative_at_the_parameters_that_its_function_sets():
    """Arguments of derivatives are copies. So the program may write to the array that the caller has passed."""
    theta = np.array([0.3, -0.2, 0.5])
    weights, offset = theta[:2], theta[2:]

    def loss(values):
        theta[:] = values
        return np.sum((weights * X + offset) ** 2) + values @ values
    g = fad.grad(loss)
    with fad.config.using(fallback=False):
        for _ in range(3):
            before = theta.copy()
            found = g(theta)
            np.testing.assert_array_equal(theta, before)
            np.testing.assert_allclose(found, fad.grad(loss)(before))
            theta -= 0.1 * found


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_jit_shows_what_it_writes_in_an_argument_that_is_the_array():
    theta = np.array([1.0, 2.0])

    def f(x):
        theta[:] = 2 * x
        return x @ x
    assert fad.jit(f)(theta) == 20.0


def test_an_item_of_vars_changed_in_place_stays_the_array():
    p, q = Particles(), Particles()
    at = p.at

    def f(x, p=p):
        if x[0] < 9.0:
            vars(p)["at"] *= 0.5
        return x[0] * np.sum(p.state)
    g = fad.jit(f)
    with fad.config.using(fallback=False):
        for k in range(3):
            assert g(X + k) == pytest.approx(f(X + k, q))
            assert p.at is at
