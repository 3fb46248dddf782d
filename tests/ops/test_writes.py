"""Programs that write in place: values as NumPy leaves them, views and copies included, and derivatives against
differences."""
import numpy as np
import pytest

from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.trace.tracing import trace
from fad.util.errors import FallbackWarning

from ..texts import executed
from .derivatives import check_function

_rng = np.random.default_rng(5)
VALUES = {"x": _rng.uniform(0.2, 0.9, (3, 4)), "v": _rng.uniform(0.2, 0.9, 4), "w": _rng.uniform(0.2, 0.9, 6),
          "z": _rng.standard_normal(3) + 1j * _rng.standard_normal(3)}

PROGRAMS = """
y = x.copy(); y[1] = v; return y
y = x.copy(); y[1, 2] = 5; return y
y = x.copy(); y[-1, -1] *= 3.0; return y
y = x.copy(); y[:, 1] += v[:3]; return y
y = x.copy(); y[...] = v; return y
y = x.copy(); y[:] = 2.0; return y * v
y = x.copy(); y[None, 1] = v; return y
y = x.copy(); y[1:, ::2] = v[:2]; return y
y = x.copy(); y[::-1] = x * 2; return y
y = x.copy(); y[[0, 2]] = v; return y
y = x.copy(); y[[0, 0], [1, 1]] = v[:2]; return y
y = v.copy(); y[[1, 1, 2]] = x[0, :3]; return y * y
y = v.copy(); y[np.array([1, 1, 2])] += x[0, :3]; return y
y = v.copy(); np.add.at(y, [1, 1, 2], x[0, :3]); return y * y
y = v.copy(); np.subtract.at(y, (np.array([3, 3]),), x[0, :2]); return y
y = v.copy(); np.multiply.at(y, [1, 1, 2], x[0, :3]); return y * y
y = v.copy(); np.maximum.at(y, np.array([[3, 3], [0, 0]]), x[:2, :2]); return y
y = x.copy(); np.divide.at(y, ([0, 0, 2], slice(1, 3)), x[:, :2]); return y
y = v.copy(); np.power.at(y, slice(1, 3), 2.0); np.negative.at(y, [0, 0, 1]); return y * v
y = v.copy(); np.minimum.at(y, v > 0.4, 0.45); return y
y = np.full(3, -5); np.add.at(y, [0, 0, 1], v[:3] * 4); return y
y = v.copy(); u = y.view(); u[0] = 3.0; return y * u
y = z.copy(); r = y.view(float); y[0] = 2.0; return r
y = x.copy(); c = y.view(complex); y[0] = 2.0; return c
y = x.copy(); y[y > 0.5] = 0.0; return y
y = x.copy(); y[y > 0.5] = v[0]; return y
y = x.copy(); y[y > 0.5] *= 2.0; return y * y
y = x.copy(); y[y[:, 0] > 0.4] = v; return y
y = x.copy(); m = y > 0.5; y[m] = x[m] ** 2; return y
y = x.copy(); y[:, v > 0.5] = 1.5; return y
y = x.copy(); y[1:][0] = v; return y
y = np.zeros((2, 4)); y[0] = v; y[1] = y[0] * 2; return y
y = np.empty(4); y.fill(v[1]); return y
y = np.zeros(4, dtype=int); y[:2] = v[:2] * 7; return y * v
y = np.zeros(3, dtype=np.float32); y[1] = v[0]; return y.astype(float) * 0 + v[:3]
y = np.zeros(3, complex); y[0] = v[0]; y[1:] = z[1:] * 1j; return y
y = z.copy(); y.real = v[:3]; return y
y = z.copy(); y.imag[1:] *= 2.0; return y
y = z.copy(); r = y.real; r += v[:3]; return y * y
a = x.copy(); row = a[1]; row[2] = 7.0; return a
a = x.copy(); row = a[1]; a[1, 2] = v[0]; return row * row
a = x.copy(); row = a[1]; a *= 2.0; row += 1.0; return a * row
a = x.copy(); t = a.T; t[0] = v[:3]; return a
a = x.copy(); t = a.T[1:]; a[0] = v; t[0, 0] = 9.0; return a, t
a = x.copy(); b = a.reshape(2, 6); b[0] = w; return a
a = x.copy(); b = a.reshape(-1); a[1] = v; return b
a = x.copy(); b = a.ravel(); b[::5] = 0.0; return a
a = x.copy(); b = a.flatten(); b[::5] = 0.0; return a
a = x.copy(); b = a.T.reshape(-1); b[0] = 0.0; return a
a = x.copy(); b = a.T.ravel(); b[0] = 0.0; return a, b
a = x.copy(); b = a[1:].reshape(-1); b[0] = 0.0; return a
a = v.copy(); b = a[::2].reshape(2, 1); b[1] = 5.0; return a
a = x.copy(); b = a[:, None]; b[0, 0, 0] = 3.0; return a
a = x.copy(); b = np.expand_dims(a, 0); b[0, 1] = v; return a
a = x[None].copy(); b = a.squeeze(); b[0] = v; return a
a = x.copy(); b = np.swapaxes(a, 0, 1); b[1] = v[:3]; return a
a = x.copy(); b = np.split(a, 2, axis=1)[1]; b[:] = 0.0; return a
a = x.copy(); b, c = np.hsplit(a, 2); b[0, 0] = c[1, 1] * 2; return a
a = x.copy(); b = np.flip(a, 1); b[0] = v; return a
a = x.copy(); b = np.atleast_3d(a); b[0, 0] = 4.0; return a
a = x.copy(); b = np.asarray(a); b[0] = 0.0; return a
a = x.copy(); b = np.array(a); b[0] = 0.0; return a
a = x.copy(); b = a[...]; b[0] = 0.0; return a
a = x.copy(); b = +a; b[0] = 0.0; return a
a = x.copy(); b = a; b += 1.0; return a
a = x.copy(); b = a; b = b + 1.0; return a
a = x.copy(); b = np.copy(a); a[0] = 0.0; return b
a = x.copy(); b = a.astype(float); a[0] = 0.0; return b
a = x.copy(); b = a.astype(float, copy=False); a[0] = 0.0; return b
a = x.copy(); b = a[[0, 1]]; a[0] = 0.0; return b
a = x.copy(); b = a[a > 0.5]; a[0] = 0.0; return b
a = x.copy(); s = a[0, 0]; a[0, 0] = 9.0; return s * a
a = x.copy(); s = a[0, 0, ...]; a[0, 0] = 9.0; return s * v
a = x.copy(); s = a[0, 0, ...]; s += 1.0; return a
a = x.copy(); d = np.diagonal(a); a[0, 0] = 9.0; return d * 2
a = v.copy(); b = np.broadcast_to(a, (2, 4)); a[0] = 9.0; return b
a = x.copy(); r = [a[0], a[1]]; r[1][0] = 5.0; return a
a = x.copy(); a[0], a[1] = a[1], a[0]; return a
a = x.copy(); a[0], a[1] = a[1].copy(), a[0].copy(); return a
a = v.copy(); a[1:] = a[:-1]; return a
a = v.copy(); a[1:] += a[:-1]; return a
a = v.copy(); a[::2] -= 0.5 * a[::2] ** 2; a[1:] *= a[:-1]; return a
a = v.copy(); a[:2], a[2:] = a[2:] * 2, a[:2] * 3; return a
a = x.copy(); a.flat[3] = 7.0; a.flat[::5] = v[:3]; return a
a = x.copy(); f = a.flat[2:4]; f[0] = 5.0; return a
a = x.copy(); np.fill_diagonal(a, v[0]); return a
a = x.copy(); np.fill_diagonal(a, v[:2]); return a
a = x.copy(); np.put(a, [0, -1], [1.0, 2.0]); a.put([5], v); return a
a = x.copy(); np.place(a, a > 0.4, v[:2]); return a
a = x.copy(); np.putmask(a, a > 0.4, v); return a
a = x.copy(); np.copyto(a, v, where=a > 0.5); return a
a = np.zeros_like(x); np.copyto(a, v); return a
a = x.copy(); np.put_along_axis(a, np.argmax(a, axis=1)[:, None], 0.0, axis=1); return a
a = v.copy(); a.sort(); return a * v
a = np.empty_like(x); np.add(x, v, out=a); return a
a = x.copy(); np.multiply(a, 2.0, out=a[0:2, :], where=True) if False else None; return a
a = x.copy(); np.sin(a, out=a); return a
a = x.copy(); np.cumsum(a, axis=0, out=a); return a
a = x.copy(); np.exp(x[0], out=a[1]); return a
a = np.array([1.0, 2.0, 3.0, 4.0]); a[1] = v[0]; return a
a = np.arange(4.0); a += v; return a
a = np.eye(4); a[1] -= v; return a
a = np.full((2, 2), v[0]); a[0, 1] = 0.0; return a
a = np.zeros(()); a += v[0]; a[...] = a * 2; return a
y = np.zeros(3); y[0] = v[0]; y[1] = y[0] + 1; y[2] = y[1] * y[0]; return y
y = v.copy(); k = np.argmax(v); y[k] = 0.0; y[k - 1] += v[k]; return y
y = v.copy(); k = np.argmin(v); y[k:] = 0.0; return y
y = v.copy(); k = np.argmin(v); y[:k] += 1.0; y[k] = v[0] ** 2; return y
y = x.copy(); y[0][1] = 8.0; y[1][:2][0] = 9.0; return y
y = x.copy(); y[0] **= 2; y[1] //= 0.3; y[2] %= 0.3; y /= v; return y
y = x.copy().T; y[0] = v[:3]; return y
y = (x.copy().T).copy(); z = y.reshape(-1); z[0] = 0.0; return y
y = np.zeros((2, 3)); z = (y + 1.0).reshape(-1); z[0] = v[0]; return z
y = x.copy(); z = (y @ np.ones((4, 4))).reshape(-1); z[0] = v[0]; return z
y = np.outer(v, v[:3]); z = y.reshape(-1); z[1] = v[0] * v[1]; return y
y = v[:, None] * v - 1.0; z = y.ravel(); y[0] = v[0]; return z
y = x.copy(); z = y * 2; q = z.reshape(-1); q[1] = v[0]; return z
y = x.copy(); z = y.reshape(3, 4); z[0] = v; return y
y = x.copy(); z = y.T.reshape(4, 3); z[0] = v[:3]; return y
"""


def programs():
    return PROGRAMS.strip().splitlines()


def function_of(body):
    used = set(compile(body.replace("return ", "", 1).replace("return", ""), "p", "exec").co_names)
    args = [name for name in VALUES if name in used and not body.startswith(f"{name} =")]
    args = [name for name in args if f"; {name} = " not in body]
    scope = {"np": np}
    executed(f"def f({', '.join(args)}):\n" + "\n".join(f"    {s.strip()}" for s in body.split(";")) + "\n", scope)
    return scope["f"], [VALUES[a] for a in args]


def run(body):
    f, xs = function_of(body)
    want = f(*[np.copy(x) for x in xs])
    before = [np.copy(x) for x in xs]
    traced = trace(f, xs)
    check(traced.func)
    got = evaluate(traced.func, [*xs, *traced.captured])
    for a, b in zip(xs, before):
        np.testing.assert_array_equal(a, b)
    return f, xs, got, want if isinstance(want, tuple) else (want,)


@pytest.mark.parametrize("body", programs())
def test_value(body):
    _, _, got, want = run(body)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype


@pytest.mark.parametrize("body", [p for p in programs() if "dtype" not in p and "//" not in p])
def test_derivative(body):
    f, xs, _, _ = run(body)
    check_function(f, *xs, second="* " in body)


@pytest.mark.parametrize("body, error, message", [
    ("a = x.copy(); d = np.diagonal(a); d[0] = 1.0; return a", ValueError, "read-only"),
    ("b = np.broadcast_to(v, (2, 4)); b[0] = 1.0; return b", ValueError, "read-only"),
    ("y = x.T * 2; z = y.reshape(-1); z[0] = 1.0; return y", RuntimeError, "view or a copy"),
    ("y = x.T * 2; z = y.reshape(-1); y[0] = 1.0; return z", RuntimeError, "view or a copy"),
    ("y = np.zeros((3, 4), order='F'); z = y.reshape(-1); z[0] = v[0]; return y", RuntimeError, "view or a copy"),
    ("y = np.asfortranarray(x) * 2; z = y.reshape(-1); z[0] = v[0]; return y", RuntimeError, "view or a copy"),
    ("y = x.copy(); y[3] = 1.0; return y", IndexError, "out of bounds"),
    ("y = x.copy(); y[0] = w; return y", ValueError, ""),
    ("y = x.copy(); y[:, 0] = x; return y", ValueError, "broadcast"),
    ("y = np.zeros(3, dtype=int); y += v[:3]; return y", TypeError, ""),
    ("y = v.copy(); y[1.0] = 2.0; return y", IndexError, "integers"),
    ("y = v.copy(); y[0, 0] = 2.0; return y", IndexError, "too many indices"),
])
def test_errors(body, error, message):
    with pytest.raises(error, match=message):
        run(body)


def test_reading_what_was_reshaped_needs_no_layout():
    """Whether it is a view matters only where one of the two is written to."""
    f, xs = function_of("y = x * 2; z = y.reshape(-1); return z * z")
    check_function(f, *xs)


def test_a_trace_that_relied_on_c_order_is_not_used_for_other_arrays():
    import fad

    def f(x):
        y = x * 2
        z = y.reshape(-1)
        z[0] = 0.0
        return y
    x = VALUES["x"]
    staged, strict = fad.jit(f), fad.jit(f, fallback=False)
    assert staged(x)[0, 0] == strict(x)[0, 0] == 0.0
    with pytest.raises(RuntimeError, match="view or a copy"):
        strict(np.asfortranarray(x))
    with pytest.warns(FallbackWarning):                       # on the tape NumPy tells: it was a copy
        assert staged(np.asfortranarray(x))[0, 0] == 2 * x[0, 0]


def test_element_plus_something_is_an_index_add():
    def f(v):
        y = v * 1.0
        y[2] += v[0]
        y[1:] -= 2.0 * v[1:]
        return y
    ops = [e.op.name for e in trace(f, [VALUES["v"]]).func.equations]
    assert ops.count("index_add") == 2 and "update" not in ops


def test_augmented_assignment_writes_once():
    def f(x):
        y = x.copy()
        y[1:] *= 2.0
        return y
    ops = [e.op.name for e in trace(f, [VALUES["x"]]).func.equations]
    assert ops.count("update") == 1


SCRATCH = np.zeros(3)


@pytest.mark.parametrize("transform", ["jit", "grad", "value_and_grad", "hessian", "jacobian", "vjp", "jvp"])
@pytest.mark.parametrize("tier", ["never", "now"])
def test_arrays_from_outside_are_written_to_as_numpy_writes_to_them(transform, tier):
    """By each transform, as by one call of the function."""
    import fad

    def f(x):
        SCRATCH[0] = x[0] ** 2
        SCRATCH[1:] += x[1:]
        return np.sum(SCRATCH * x)
    x = np.array([1.0, 2.0, 3.0])
    SCRATCH[:] = 0.0
    make = {"vjp": lambda f: lambda x: fad.vjp(f, x)[1](1.0),
            "jvp": lambda f: lambda x: fad.jvp(f, (x,), (np.ones(3),))[1]}
    with fad.config.using(compile=tier):
        g = make.get(transform, getattr(fad, transform))(f)
        for k in range(3):                                   # at the second call there are 2 and 3 in it, then 4 and 6
            first, second = np.diag([6.0, 2.0, 2.0]), np.array([3.0, 4.0 + 2.0 * k, 6.0 + 3.0 * k])
            value = 1.0 + 4.0 * (k + 1) + 9.0 * (k + 1)
            want = {"jit": value, "value_and_grad": (value, second), "hessian": first, "jvp": second.sum(),
                    "vjp": (second,)}
            got = g(x.copy())
            for a, b in zip(*[v if isinstance(v, tuple) else (v,) for v in (got, want.get(transform, second))]):
                np.testing.assert_allclose(a, b)
            np.testing.assert_array_equal(SCRATCH, [1.0, 2.0 * (k + 1), 3.0 * (k + 1)])


def test_array_literals_are_new_at_each_iteration():
    import fad

    def f(x):
        total = 0.0
        for i in range(x.shape[0]):
            t = np.array([1.0, 2.0, 0.0])
            t[0] = x[i]
            t[1:] *= x[i]
            total += t @ t
        return total
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(fad.grad(f)(x), 10 * x)
    program, _ = fad.jit(f).program_for(x)
    assert len(program.traced.captured) == 1


@pytest.mark.parametrize("compile", ["never", "now"])
def test_every_augmented_assignment_changes_the_array(compile):
    import fad

    def f(k, b):
        k += 70
        k -= 3
        k *= 2
        k //= 3
        k %= 40
        k <<= 2
        k >>= 1
        k &= 123
        k |= 4
        k ^= 9
        b **= 2.0
        b /= 3.0
        b @= np.eye(2)
    mine, theirs = ([np.arange(4).reshape(2, 2), np.ones((2, 2))] for _ in range(2))
    f(*mine)
    fad.jit(f, compile=compile)(*theirs)
    np.testing.assert_array_equal(theirs[0], mine[0])
    np.testing.assert_allclose(theirs[1], mine[1])
