"""Names that may be one array: after a branch or a loop NumPy's aliasing is honoured, or refused, and never guessed."""
import warnings

import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.trace.tracing import trace
from fad.trace.values import layout
from fad.util.errors import FadError


def bound_in_one_branch(x,y):
    z = x
    if x[0] > 0:
        z = y
    z[1] = 5.0
    return x[1]*2 + y[1]*3 + z[0]


def conditional_expression(x,y):
    z = x if x[0] > 0 else y
    z[1] = 5.0
    return x[1]*2 + y[1]*3


def the_arrays_are_written_to(x,y):
    z = x if x[0] > 0 else y
    x[1] = 7.0
    y[1] = 8.0
    return z[1]*2 + z[0]


def rows_of_two_arrays(x,y):
    A = np.outer(x,y)
    B = np.outer(y,y)
    z = A[0] if x[0] > 0 else B[1]
    z[1] = 5.0
    return A.sum()*2 + B.sum()


def a_column_whose_number_is_of_the_branch(x,y):
    A = np.outer(x,y)
    B = np.outer(y,y)
    i = int(x[2]*0)
    if x[0] > 0:
        k = i + 1
        z = A[k]
    else:
        z = B[:,i]
    A[1,1] = 9.
    B *= 2
    return z.sum()


def two_names_of_a_new_array(x,y):
    if x[0] > 0:
        a = np.zeros(3)
        b = a
    else:
        a = np.ones(3)
        b = a
    b[1] = x[1]
    return a.sum() + y.sum()


def two_names_of_a_new_array_in_one_branch(x,y):
    if x[0] > 0:
        a = np.zeros(3)
        b = a
    else:
        a = np.ones(3)
        b = np.ones(3)
    b[1] = x[1]
    return a.sum() + 2*b.sum()+ y.sum()


def a_row_of_a_new_array(x,y):
    if x[0] > 0:
        a = np.zeros((2,3))
        r = a[1]
    else:
        a = np.ones((2,3))
        r = a[0]
    r[:] = x
    return (a*np.arange(6).reshape(2,3)).sum() + y.sum()


def pick(x,y):
    if x[0] > 0:
        return x
    return y


def early_return(x,y):
    z = pick(x,y)
    z[1] = 5.0
    return x[1]*2 + y[1]*3


def in_a_list(x,y):
    L = [x, y]
    if x[0] > 0:
        L[0] = y
    L[0][1] = 5.
    return x[1] + 2*y[1]


def a_loop_rebinds_after_reading(x,y):
    z = x
    s = 0.
    for i in range(3):
        x[i] = 5.0*y[i]
        s += z[i]
        z = y
    return s


def bound_in_an_iteration(x,y):
    z = x
    for i in range(3):
        if x[i] > 0:
            z = y
    z[1] = 5.
    return x[1]*2+y[1]*3


def two_names_before_a_loop(x,y):
    a = np.zeros(3)
    b = a
    s = 0.
    for i in range(3):
        a[0] += x[i]
        s += b[0]*y[i]
        a = a*2
        b = b*3
    return s


def buffers_swapped(x,y):
    a = x
    b = y
    for _i in range(3):
        a, b = b, a
    a[1] = 5.
    return x[1]*2+y[1]*3


def bound_in_a_while(x,y):
    z = x
    i = 0
    while x[i] > 0 and i < 2:
        z = y
        i += 1
    z[1] = 5.
    return x[1]*2+y[1]*3


def perhaps_no_iteration(x,y):
    z = x
    i = 0
    while z[i] > 0 and i < 2:
        z = z*2
        i += 1
    z[1] = 5.
    return x[1]*2+y[1]*3


def the_best_row(x,y):
    A = np.outer(x,y)
    best = A[0]
    for i in range(3):
        if A[i,0] > best[0]:
            best = A[i]
    best[1] = 3.
    return A.sum()


def the_best_row_is_read(x,y):
    A = np.outer(x,y)
    best = A[0]
    s=0.
    for i in range(3):
        A[i,1] = i
        if A[i,0] > best[0]:
            best = A[i]
        s += best[1]
    return s+ A.sum()


def written_in_the_iteration(x,y):
    z = x
    for i in range(3):
        if x[i] > 0.:
            z = y
        z[1] += 5.
    return x[1]*2+y[1]*3


def bound_before_a_break(x,y):
    z = x
    for i in range(3):
        if x[i] < 0.:
            z = y
            break
    z[1] += 5.
    return x[1]*2+y[1]*3


def branches_in_branches(x,y):
    if x[0] > 0:
        if x[1] > 0:
            z = x
        else:
            z = y
        w = z
    else:
        w = y[::-1]
    w[0] = 3.
    return x.sum()*2+y.sum()*3


def written_in_a_loop(x,y):
    z = x if x[0] > 0 else y
    for i in range(3):
        if y[i] > 0:
            z[i] = 2.*i
    return x.sum()*2+y.sum()*3


def new_or_old(x,y):
    z = x*1 if x[0] > 0 else y
    for i in range(3):
        if y[i] > -5:
            z[i] = 2.*i
    return x.sum()*2+y.sum()*3+z.sum()*7


def a_view_of_it(x,y):
    z = x if x[0] > 0 else y
    z += 1
    w = z[1:]
    w *= 2
    z[0] = 7
    return x.sum()*2+y.sum()*3+z.sum()*7+w.sum()


def of_other_extents(x,y):
    z = x if x[0] > 0 else y[:2]
    z += 1
    return x.sum()*2+y.sum()*3+z.sum()*7


def from_a_helper(x,y):
    def g(a,b):
        if a[0]*b[0] > 0:
            return a
        else:
            return b
    g(x,y)[1] = 4.
    np.add.at(g(x,y), [0,0], 2.)
    return x.sum()*2+y.sum()*3


def sorted_in_place(x,y):
    z = x if x[0] > 0 else y
    np.sin(z, out=z)
    z.sort()
    return x.sum()*2+y.sum()*3+ (z*np.arange(3)).sum()


def written_in_the_branches(x,y):
    z = y
    if x[0] > 0:
        x[1] = 3.
        z = x
        z[2] = 9.
    else:
        y[0] = 2.
    z[0] = 11.
    return x@[1,2,3.]+y@[4,5,6.]


def bound_in_an_iteration_and_both_written_to(x,y):
    a, b = x*1.0, y*2.0
    for k in range(3):
        if x[k] > 0:
            a = b
        a[k] = 0.0
        b[k] *= 2
    return a@[1,2,3.] + b@[4,5,6.]


def a_view_looked_at_in_a_loop_that_is_unrolled(x,y):
    a = x*y
    tail = a[1:]
    a *= 2
    weights = [1.0, 2.0]
    for k in range(2):
        a[k] += weights[k]
        tail = tail + a[1:]
        weights.append(2.0)
    return tail.sum() + a.sum()


def turned_around_in_place(x,y):
    z = x if x[0] > 0 else y
    z[:] = z[::-1]
    w = z
    if x[1] > 0:
        w = y
    w += x
    return x@[1,2,3.] + y@[4,5,6.]


def written_to_in_the_loop_after_the_swaps(x,y):
    z, b = x, y*2
    for _ in range(2):
        z, b = b, z
    for k in range(3):
        z[k] += 1.0
        z = z if y[k] > 0 else b*1
    return z.sum()


def read_in_the_loop_after_the_swaps(x,y):
    z, b, s = x, y*2, 0.0
    for _ in range(2):
        z, b = b, z
    for k in range(3):
        z[k] += 1.0
        s += x[k]
        z = z*1
    return z.sum() + s


PROGRAMS = [f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", "") == __name__
            and f is not pick]
REFUSED = {bound_in_an_iteration, buffers_swapped, bound_in_a_while, perhaps_no_iteration, the_best_row,
           bound_before_a_break,
           written_to_in_the_loop_after_the_swaps, read_in_the_loop_after_the_swaps}
XS = [np.array(x) for x in ([0.5, 0.6, 0.7], [-0.5, 0.6, 0.7], [0.5, -0.6, 0.7], [0.5, 0.6, -0.7])]
YS = [np.array(y) for y in ([1.0, 2.0, 3.0], [-1.0, 2.0, -3.0])]


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f not in REFUSED], ids=lambda f: f.__name__)
def test_every_value_of_the_program_has_an_equation(f):
    check(trace(f, [XS[0], YS[0]]).func)


def plain(f, x, y):
    """The value, and the arguments as they are left."""
    x, y = x.copy(), y.copy()
    return np.array([f(x, y), *x, *y])


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f not in REFUSED], ids=lambda f: f.__name__)
def test_the_value_and_what_the_arguments_become(f):
    compiled = fad.jit(f, fallback=False)
    for x in XS:
        for y in YS:
            np.testing.assert_allclose(plain(compiled, x, y), plain(f, x, y), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f not in REFUSED], ids=lambda f: f.__name__)
def test_the_derivative(f):
    gradient = fad.grad(f, fallback=False)
    for x in XS:
        slope = [(f(x + h, YS[0].copy()) - f(x - h, YS[0].copy())) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(gradient(x, YS[0]), slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", sorted(REFUSED, key=lambda f: f.__name__), ids=lambda f: f.__name__)
def test_what_depends_on_the_iterations_is_refused(f):
    with pytest.raises(FadError, match="may be the same|changing names"):
        for x in XS:
            fad.jit(f, fallback=False)(x.copy(), YS[0].copy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(plain(fad.jit(f), XS[0], YS[0]), plain(f, XS[0], YS[0]), rtol=1e-12)


def exchanged(iterations):
    def f(x):
        a, b = x * 1.0, np.sin(x)
        for _ in range(2):
            a[[0, 2]] = a[[2, 0]]
            for i in range(iterations):
                if x[i] > 0.1 * i:
                    a.fill(np.tanh(0.5 - a[i // 2]))
                else:
                    b[1] = 0.4 * b[0]
                    b, a = a, b
        return np.sum(np.tanh(a)) + np.sum(b * b)
    return f


def test_names_exchanged_in_many_branches():
    """Each exchange would double the writes, and the time of tracing: beyond a few the function runs on the tape."""
    x = np.array([0.31, -0.62, 0.83, 0.14, -0.27, 0.55])
    fad.grad(exchanged(1), fallback=False)(x)
    with pytest.warns(fad.FallbackWarning, match="as many branches decide"):
        found = fad.grad(exchanged(6))(x)
    slope = [(exchanged(6)(x + h) - exchanged(6)(x - h)) / 2e-6 for h in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f",
                         [np.asarray, np.nan_to_num, lambda x: x.astype(np.float32, copy=False),
                          lambda x: np.ascontiguousarray(x[::2])],
                         ids=["asarray", "nan_to_num", "astype", "ascontiguousarray"])
def test_whether_a_large_array_is_copied_is_found_on_a_small_one(f):
    x = np.ones(2**22 + 2, np.float32)
    assert fad.jit(lambda x: np.sum(f(x)), compile="never")(x) == np.sum(f(x))


def test_the_memory_order_of_a_long_chain_is_found_in_one_walk(monkeypatch):
    """It is asked of all operands: along each path it would be 2 ** 1500 questions, and one in the other too deep."""
    asked, known = [], layout._known
    monkeypatch.setattr(layout, "_known", lambda v: asked.append(v) or known(v))
    scope = {"np": np, "STEPS": [0] * 1500}
    exec("""def f(x):
    q = np.outer(x, x)
    for _ in STEPS:
        q = q * 0.5 + q * q
    return np.sum(q.copy()) + np.sum((q * 2.0).ravel())
""", scope)                                                   # without a text, all iterations stand in the program
    x = np.array([1.0, 0.5])
    np.testing.assert_allclose(fad.jit(scope["f"], compile="never")(x), scope["f"](x), atol=1e-30)
    assert 1500 < len(asked) < 5000
