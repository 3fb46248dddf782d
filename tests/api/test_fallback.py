"""What cannot be staged runs on the tape: right in value and derivatives, with one warning; or it raises, where that is
asked for."""
import dataclasses
import operator
import threading
import warnings

import numpy as np
import pytest
import scipy.optimize

import fad
from fad.api.calls import staged_programs
from fad.backend.running import runner
from fad.ir.op import registry
from fad.ir.types import promoted
from fad.trace.regions.roll import roll_for
from fad.util.defects import is_defect
from fad.util.errors import (
    ConcreteValueError,
    FallbackWarning,
    IntegerArgumentError,
    InternalErrorWarning,
    NotScalarError,
    UnstageableError,
    UnsupportedFunctionError,
)

from .data_dependent import PROGRAMS, X

DIRECTION = np.array([1.0, -2.0, 0.5, 3.0])


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), fad.config.using(compile="never"):
        warnings.simplefilter("ignore", FallbackWarning)
        yield


def differences(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def whole_arrays_of_another_dtype(x):
    mask, counts = x * 1.0, x * 1.0
    mask[...] = x > 0.55
    np.copyto(counts, np.arange(4))
    return np.sum(mask * x + counts * x) * {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}.get(int(x[0]))


@pytest.mark.parametrize("f", [*PROGRAMS, whole_arrays_of_another_dtype], ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    expected = differences(f, X)
    size = max(1.0, abs(expected).max())
    value, g = fad.value_and_grad(f)(X)
    np.testing.assert_allclose([value, fad.jit(f)(X)], f(X), rtol=1e-12)
    np.testing.assert_allclose(g, expected, rtol=1e-5, atol=1e-6 * size)
    np.testing.assert_allclose(fad.jvp(f, (X,), (DIRECTION,))[1], g @ DIRECTION, rtol=1e-9, atol=1e-9 * size)


@pytest.mark.parametrize("f", PROGRAMS[::5], ids=lambda f: f.__name__)
def test_second_order_and_products(f):
    g = fad.grad(f)
    expected = np.array([(g(X + 1e-6 * e) - g(X - 1e-6 * e)) / 2e-6 for e in np.eye(4)])
    H = fad.hessian(f)(X)
    np.testing.assert_allclose(H, expected, rtol=1e-4, atol=1e-4 * max(1.0, abs(expected).max()))
    np.testing.assert_allclose(fad.hvp(f, X, DIRECTION), H @ DIRECTION, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fad.vhp(f, X, DIRECTION), H @ DIRECTION, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fad.jacobian(g)(X), H, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fad.jacrev(f)(X), g(X))
    value, pullback = fad.vjp(f, X)
    np.testing.assert_allclose([pullback(2.0)[0], pullback(-1.0)[0]], [2 * g(X), -g(X)])
    _, push = fad.linearize(f, X)
    np.testing.assert_allclose([push(DIRECTION), push(2 * DIRECTION)], np.array([1, 2]) * (g(X) @ DIRECTION))


WEIGHTS = {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}


def keyed(x, table=WEIGHTS):
    total = 0.0
    for v in x:
        total = total + table.get(int(v)) * v ** 2                # the line in question
    return total


def test_one_warning_names_the_line_and_the_reason():
    g = fad.grad(keyed)
    with pytest.warns(FallbackWarning, match="(?s)keyed.*the line in question.*why: Python needed the hash") as seen:
        g(X)
        g(X)
        g(np.ones(3))
    assert len(seen) == 1 and seen[0].filename == __file__


@pytest.mark.parametrize("make",
                         [fad.jit, fad.grad, fad.value_and_grad, fad.jacobian, fad.jacfwd, fad.jacrev, fad.hessian,
                          fad.vmap])
def test_without_fallback_it_raises(make):
    x = np.ones((2, 2)) if make is fad.vmap else X
    with pytest.raises(ConcreteValueError, match="the line in question"):
        make(keyed, fallback=False)(x)
    with fad.config.using(fallback=False), pytest.raises(ConcreteValueError):
        make(keyed)(x)
    with fad.config.using(fallback=False):
        make(keyed, fallback=True)(x)


def test_products_without_fallback_raise():
    for call in (lambda: fad.jvp(keyed, (X,), (X,), fallback=False), lambda: fad.vjp(keyed, X, fallback=False),
                 lambda: fad.hvp(keyed, X, X, fallback=False),
                 lambda: fad.vhp(keyed, X, X, fallback=False), lambda: fad.linearize(keyed, X, fallback=False)):
        with pytest.raises(ConcreteValueError):
            call()


def test_errors_of_the_user_are_raised_as_ever():
    with pytest.raises(NotScalarError):
        fad.grad(lambda x: x * {0: 1.0, 1: 2.0}.get(int(x[0])))(X)
    with pytest.raises(IntegerArgumentError):
        fad.grad(keyed)(np.arange(3))
    with pytest.raises(KeyError):
        fad.jit(lambda x: {7: 1.0}[int(x[0])] * x)(X)
    for make in (fad.jit, fad.grad):
        with pytest.raises(ValueError, match="mine"):
            make(fails)(X)


def fails(x):
    if x[0] > 1:
        raise ValueError("mine")
    return x[0]


def test_a_derivative_is_never_lost_where_a_library_takes_the_number():
    with pytest.raises(ConcreteValueError, match="by scipy.optimize.golden"):
        fad.grad(lambda x: scipy.optimize.golden(lambda t: (t - x[0]) ** 2))(X)
    with pytest.raises(ConcreteValueError, match="by scipy.optimize.fmin_slsqp(?s:.*)fad.implicit"):
        fad.grad(lambda x: scipy.optimize.fmin_slsqp(lambda t: (t[0] - x[0]) ** 2, [0.0])[0])(X)
    assert (fad.jit(lambda x: scipy.optimize.brentq(lambda t: t ** 3 - x[0], 0.0, 5.0))(X)
            == pytest.approx(X[0] ** (1 / 3)))
    assert (fad.grad(lambda x: scipy.optimize.brentq(lambda t: t ** 3 - fad.stop_gradient(x[0]), 0.0, 5.0) * x[1])(X)[1]
            == pytest.approx(X[0] ** (1 / 3)))
    with pytest.raises(UnsupportedFunctionError):
        fad.grad(lambda x: np.sum(np.lib.scimath.arccos(x)))(X / 4)


def test_recursion_that_depends_on_data_says_so():
    def f(x):
        return x if x < 1 else f(x * 0.5) * 1.5
    with pytest.raises(UnstageableError, match="calls itself"):
        fad.grad(f, fallback=False)(30.0)
    assert fad.grad(f)(30.0) == pytest.approx(0.75 ** 5)


def test_derivatives_leave_arguments_alone_and_outer_arrays_as_one_call_does():
    outer, data, x = np.ones(4), np.arange(4.0), X.copy()

    def f(x, data):
        x[0] = x[1] * int(x[2] + 1)
        data[1] = x[3]
        outer[2] = x[0]
        return x @ data * outer[2]
    g = fad.grad(f, argnums=(0, 1))(x, data)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(data, np.arange(4.0))
    np.testing.assert_array_equal(outer, [1.0, 1.0, X[1] * int(X[2] + 1), 1.0])
    expected = differences(lambda x: f(x.copy(), data.copy()), X)
    np.testing.assert_allclose(g[0], expected, rtol=1e-6)
    assert g[1][1] == 0


def test_jit_writes_as_numpy_does():
    def f(x):
        x[int(x[0])] = 7.0
        return x
    x = X.copy()
    fad.jit(f)(x)
    assert x[1] == 7.0

    def g(x):
        x[keys.get(int(x[0]))] = 7.0
        return x
    keys = {1: 1}
    x = X.copy()
    assert fad.jit(g)(x) is x and x[1] == 7.0


def test_a_failed_trace_leaves_nothing_behind():
    class Counter:
        calls, seen = 0, None
    counter, log = Counter(), []

    def f(x):
        counter.calls += 1
        log.append(x[0] * 2)
        return {0: 1.0, 1: 2.0}.get(int(x[0])) * np.sum(x)
    assert fad.jit(f)(X) == f(X)
    assert counter.calls == 2 and log == [2 * X[0]] * 2


@dataclasses.dataclass
class Model:
    w: np.ndarray
    b: float
    name: str = "m"


def of_model(model, scale=1.0):
    return sum({0: model.b, 1: scale}.get(int(v) % 2) * v ** 2 for v in model.w)


def test_trees_options_and_nesting():
    g = fad.grad(of_model)(Model(X, 2.0))
    np.testing.assert_allclose(g.w, 2 * X * np.where(X.astype(int) % 2, 1.0, 2.0))
    assert isinstance(g, Model) and g.b == pytest.approx(np.sum(X[X.astype(int) % 2 == 0] ** 2))
    gx, aux = fad.grad(lambda x: (keyed(x), {"n": int(x[0]), "name": "a", "x": x * 2}), has_aux=True)(X)
    assert aux["n"] == 1 and aux["name"] == "a"
    np.testing.assert_array_equal(aux["x"], X * 2)
    by_name = fad.grad(lambda p: p["a"] * keyed(p["b"]))({"a": 2.0, "b": X})
    np.testing.assert_allclose(by_name["b"], 2 * gx)
    assert type(by_name["a"]) is type(fad.grad(lambda p: p["a"] * np.sum(p["b"]))({"a": 2.0, "b": X})["a"])
    inside = fad.jit(lambda x: fad.grad(keyed)(x) * int(x[0]))(X)
    np.testing.assert_allclose(inside, gx)
    outside = fad.grad(lambda x: np.sum(fad.grad(fad.jit(keyed))(x) ** 2))(X)
    np.testing.assert_allclose(outside, 2 * gx * (gx / X), rtol=1e-12)
    np.testing.assert_allclose(fad.grad(lambda x, y: keyed(x) * y[0], argnums=(0, 1))(X, X)[0], gx * X[0])


def test_vmap_takes_each_example_its_own_way():
    rows = np.array([[1.5, 0.3], [0.2, 2.7], [3.1, 1.9]])
    np.testing.assert_allclose(fad.vmap(keyed)(rows), [keyed(r) for r in rows])
    np.testing.assert_allclose(fad.vmap(fad.grad(keyed))(rows), [fad.grad(keyed)(r) for r in rows])
    g = fad.grad(lambda rows: np.sum(fad.vmap(keyed)(rows) ** 2))(rows)
    np.testing.assert_allclose(g.ravel(),
                               differences(lambda r: sum(keyed(q) ** 2 for q in r.reshape(3, 2)), rows.ravel()),
                               rtol=1e-6)


def test_rules_of_the_users_own_hold_on_the_tape():
    @fad.custom_vjp
    def double(x):
        return x * 2.0
    double.defvjp(lambda x: (x * 2.0, x), lambda saved, g: (g * 100.0,))
    assert fad.grad(lambda x: double(x[0]) * {0: 1.0, 1: 3.0}.get(int(x[0])))(X)[0] == 300.0
    np.testing.assert_allclose(fad.grad(lambda x: fad.checkpoint(keyed)(x) * int(x[0]))(X), fad.grad(keyed)(X))
    by_loop = fad.grad(lambda x: fad.fori_loop(0, int(x[3]), lambda i, c: c * x[i], 1.0))(X)
    np.testing.assert_allclose(by_loop, differences(lambda x: x[0] * x[1] * x[2], X), rtol=1e-6)


def test_on_tensors():
    t = fad.tensor(X, requires_grad=True)
    fad.jit(keyed)(t).backward()
    np.testing.assert_allclose(t.grad.numpy(), fad.grad(keyed)(X))


def test_under_an_optimiser_and_in_threads():
    def rosen(x):
        parts = [100.0 * (x[k + 1] - x[k] ** 2) ** 2 + (1 - x[k]) ** 2 for k in range(len(x) - 1)]
        return sum(sorted(parts)) + 0.0 * {0: 1.0}.get(int(x[0] * 0))
    with pytest.warns(FallbackWarning) as seen:
        found = scipy.optimize.minimize(fad.value_and_grad(rosen), np.zeros(3), jac=True, method="BFGS")
    assert len(seen) == 1
    np.testing.assert_allclose(found.x, 1.0, rtol=1e-4)
    g, results = fad.grad(keyed), {}

    def work(k):
        results[k] = g(X + 0.01 * k)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for k in range(8):
        np.testing.assert_allclose(results[k], fad.grad(keyed)(X + 0.01 * k))


def filled(x):
    out = []
    for v in x:
        out.append(v * v)
    return sum(out)


def test_a_defect_of_fads_has_a_warning_of_its_own(monkeypatch):
    monkeypatch.setattr("fad.api.calls.staged_programs.trace", None)
    with pytest.warns(InternalErrorWarning,
                      match="(?s)filled.*on the tape.*TypeError: 'NoneType' object is not callable, in "
                            "fad/api/calls/staged_programs.py") as seen:
        np.testing.assert_allclose(fad.grad(filled)(X), 2 * X)
    assert len(seen) == 1 and isinstance(seen[0].message.__cause__, TypeError) and seen[0].filename == __file__
    with pytest.raises(TypeError, match="not callable"):
        fad.grad(filled, fallback=False)(X)


def test_a_loop_that_a_defect_writes_out_has_it_too(monkeypatch):
    monkeypatch.setitem(roll_for.__globals__, "FOR", None)
    with pytest.warns(InternalErrorWarning, match="a loop is not one region of the program"):
        np.testing.assert_allclose(fad.grad(filled, fallback=False)(X), 2 * X)


def filled_in_iterations(x):
    out = []
    for _ in range(3):
        for v in x:
            out.append(v * v)
    return sum(out)


@pytest.mark.filterwarnings("error::fad.util.errors.InternalErrorWarning")
def test_a_defect_in_a_loop_in_a_loop_is_an_error_where_the_warning_is(monkeypatch):
    monkeypatch.setitem(roll_for.__globals__, "FOR", None)
    with pytest.raises(InternalErrorWarning, match="a loop is not one region of the program"):
        fad.grad(filled_in_iterations)(X)


def test_a_kernel_that_a_defect_prevents_has_it_too(monkeypatch):
    monkeypatch.setattr(runner.compiler, "source_for", None)
    with pytest.warns(InternalErrorWarning, match="interpreted, not compiled"), fad.config.using(compile="now"):
        np.testing.assert_allclose(fad.grad(filled)(X), 2 * X)


def test_a_kernel_that_is_looked_for_on_disk_is_no_answer_less(monkeypatch):
    monkeypatch.setattr(runner.compiler, "source_for", None)
    monkeypatch.setattr(runner, "load_time", lambda equations: 0.0)
    with fad.config.using(compile="auto"):
        np.testing.assert_allclose(fad.grad(filled)(X), 2 * X)


@pytest.mark.parametrize("raised",
                         [lambda: (x for x in ()).throw(KeyError("the user's")), lambda: operator.index(None),
                          lambda: registry["no such op"]])
def test_what_users_code_raises_is_no_defect_of_fads(raised):
    with pytest.raises(Exception) as seen:
        raised()
    assert not is_defect(seen.value)


@pytest.mark.parametrize("call, told", [(lambda: fad.grad(7), False), (lambda: promoted(None), True)])
def test_what_fads_code_refuses_is_no_defect_and_what_fails_in_it_is(call, told):
    with pytest.raises(Exception) as seen:
        call()
    assert is_defect(seen.value) == told


def counted(monkeypatch, module, name):
    """A list that gets an entry at each call of a function of fad's."""
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args, **kwargs: (calls.append(name), function(*args, **kwargs))[1])
    return calls


def test_arguments_of_a_kind_that_was_refused_are_not_traced_again(monkeypatch):
    traces = counted(monkeypatch, staged_programs, "trace")

    def f(x):
        return np.sum(x) * {0: 1.0, 1: 2.0}.get(int(x[0]))
    g = fad.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for k in range(4):
            np.testing.assert_array_equal(g(X - 0.1 * k), [2.0] * 4)
    assert len(traces) == 1


def chosen_by(x, table):
    return np.sum(x) * table.get(int(x[0]))


def test_functions_made_anew_wait_for_ever_fewer_refusals(monkeypatch):
    traces = counted(monkeypatch, staged_programs, "trace")
    counts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for k in range(40):
            a = np.full(4, k)
            g = fad.grad(lambda x, a=a: np.sum(x * a) * {0: 1.0, 1: 2.0}.get(int(x[0])))
            np.testing.assert_array_equal(g(X), np.full(4, 2.0 * k))
            counts.append(len(traces))
    assert counts[8] == counts[14] < counts[15] == counts[30] < counts[31] == counts[39] <= 12


def test_derivatives_made_anew_of_one_function_do_so_too(monkeypatch):
    traces = counted(monkeypatch, staged_programs, "trace")
    with pytest.warns(FallbackWarning, match="Python needed the hash|an integer") as seen:
        for _ in range(40):
            np.testing.assert_array_equal(fad.grad(chosen_by)(X, {0: 1.0, 1: 2.0}), [2.0] * 4)
    assert len(traces) <= 12 and len(seen) >= 40              # each derivative says that it is not compiled


def test_other_kinds_of_arguments_do_so_too(monkeypatch):
    traces = counted(monkeypatch, staged_programs, "trace")
    g = fad.grad(lambda d: sum(np.sum(v) for v in d.values()) * {1: 2.0}.get(int(d["a0"][0])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for k in range(1, 33):
            for name, y in g({f"a{i}": X for i in range(k)}).items():
                np.testing.assert_array_equal(y, [2.0] * 4, name)
    assert len(traces) == 7                                   # the first three, 4, 8, 16, 32


def test_a_function_that_can_be_staged_after_all_is_found_out(monkeypatch):
    def f(x, table):
        return np.sum(x) * (table["k"] if isinstance(table, dict) else {1: 2.0}.get(int(x[0])))
    traces, g = counted(monkeypatch, staged_programs, "trace"), fad.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for name in "abcdef":
            np.testing.assert_array_equal(g(X, name), [2.0] * 4)
        assert len(traces) == 4
        for _ in range(4):
            np.testing.assert_array_equal(g(X, {"k": 3.0}), [3.0] * 4)
        assert len(traces) == 5 and g.traces == 1
        np.testing.assert_array_equal(g(X, "g"), [2.0] * 4)   # it starts to count anew
        assert len(traces) == 6


def test_without_the_tape_all_are_traced():
    for _ in range(10):
        with pytest.raises(ConcreteValueError):
            fad.grad(chosen_by, fallback=False)(X, {0: 1.0, 1: 2.0})


def test_an_error_that_the_tape_meets_again_is_told_and_not_what_was_guessed_of_it():
    def f(x):
        r = 1.0
        while r + x != r and r < 3.0:
            r = r + np.sqrt(x)                                # Python's number, then NumPy's
        a, b = r, x, r
        return a * b
    with pytest.raises(ValueError, match="too many values to unpack"):
        fad.grad(f)(1.5)


def test_an_error_on_a_way_that_is_not_taken_does_not_hide_what_the_tape_lacks():
    class Model:
        def __init__(self, beta):
            if beta == 1:
                self.message = "not for beta = 1"
            self.beta = beta

        def value(self, x):
            if self.beta == 1:
                raise NotImplementedError(self.message)
            return np.sum(x.T.ctypes.strides) * self.beta
    with pytest.raises(UnsupportedFunctionError, match="ctypes"):
        fad.grad(lambda x: Model(x[0]).value(x))(X)
