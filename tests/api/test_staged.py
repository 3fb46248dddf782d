"""Staged functions: what is traced when, what is an input and what a constant, what nests, what is refused."""
import collections
import dataclasses
import functools
import gc
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import fad
from fad.util.collection import _Pauses
from fad.util.errors import (
    ConcreteValueError,
    CotangentShapeError,
    FallbackWarning,
    IntegerArgumentError,
    NotScalarError,
    SideEffectError,
    StructureError,
    UnsupportedFunctionError,
)

close = np.testing.assert_allclose
scale = 2.0
table = np.array([1.0, 2.0])


@dataclasses.dataclass
class Holder:
    value: float


def energy(x):
    return np.sum(x * x)


def test_one_trace_serves_all_sizes():
    g = fad.grad(energy)
    for n in range(2, 9):
        close(g(np.arange(n) + 1.0), 2 * (np.arange(n) + 1.0))
    assert g.traces == 1


def test_extents_of_one_and_zero_are_programs_of_their_own():
    f = fad.jit(lambda x, y: x + y)
    close(f(np.ones(3), np.ones(3)), 2)
    close(f(np.ones(1), np.ones(3)), 2 * np.ones(3))
    assert f(np.ones(0), np.ones(1)).shape == (0,)


def test_equal_extents_are_a_guard_not_an_assumption():
    f = fad.jit(lambda x, y: np.sum(x * y))
    f(np.ones(3), np.ones(3))
    with pytest.raises(ValueError):
        f(np.ones(3), np.ones(4))
    close(f(np.ones(5), np.ones(5)), 5)


def test_python_ints_are_static_until_they_vary():
    f = fad.jit(lambda x, n: np.sum(x) * n)
    for n in (2, 3, 4, 5):
        close(f(np.ones(2), n), 2 * n)
    assert f.traces <= 2


def test_an_int_that_chooses_structure_retraces():
    f = fad.jit(lambda x, axis: np.sum(x, axis=axis))
    x = np.arange(6.0).reshape(2, 3)
    for axis in (0, 1, 0, -1):
        close(f(x, axis), x.sum(axis))


def bins_of(x, n):
    counts = [0.0] * n
    for v in x:
        counts[int(v * n)] += v * v
    return counts[0] + sum(counts)


@pytest.mark.parametrize("g", [
    fad.grad(bins_of), fad.jit(fad.grad(bins_of)),
    lambda x, n: fad.vmap(fad.grad(bins_of), in_axes=(0, None))(x[None], n)[0], fad.jacobian(bins_of)])
def test_an_int_that_chooses_structure_retraces_a_derivative(g):
    x = np.array([0.1, 0.3, 0.45, 0.8])
    for n in (4, 3, 2, 4):
        close(g(x, n), 2 * x * np.where(x * n < 1, 2, 1))


def test_globals_and_closures_are_not_frozen():
    global scale
    f = fad.grad(lambda x: np.sum(x * table) * scale)
    close(f(np.ones(2)), [2, 4])
    table[:] = [5.0, 7.0]
    close(f(np.ones(2)), [10, 14])
    scale = 3.0
    try:
        close(f(np.ones(2)), [15, 21])
    finally:
        scale = 2.0
        table[:] = [1.0, 2.0]


def test_static_values_choose_programs():
    @fad.jit
    def f(a, kind="plain"):
        return a * 2.0 if kind == "plain" else a
    close(f(1.0), 2.0), close(f(1.0, kind="other"), 1.0), close(f(1.0, "plain"), 2.0)


def test_static_argnums():
    f = fad.jit(lambda x, p: x ** p, static_argnums=1)
    close(f(2.0, 3.0), 8.0), close(f(2.0, 2.0), 4.0)
    assert f.traces == 2


def test_methods_partials_lambdas_and_dataclasses():
    @dataclasses.dataclass
    class Model:
        w: np.ndarray
        name: str = "m"

        @fad.jit
        def value(self, x):
            return np.sum(self.w * x)

    m = Model(np.array([1.0, 2.0]))
    close(m.value(np.ones(2)), 3.0)
    g = fad.grad(lambda m: np.sum(m.w ** 2))(m)
    assert type(g) is Model
    close(g.w, [2, 4])
    close(fad.grad(functools.partial(lambda a, x: a * x, 3.0))(1.0), 3.0)


def test_registered_classes_are_trees():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b
    fad.register(Pair, lambda p: ((p.a, p.b), None), lambda _, c: Pair(*c))
    g = fad.grad(lambda p: p.a * p.b)(Pair(2.0, 3.0))
    assert (g.a, g.b) == (3.0, 2.0)


def test_named_tuples_none_and_nested_containers():
    P = collections.namedtuple("P", "a b")
    g = fad.grad(lambda p: p.a[0] * p.b["k"] ** 2)(P([2.0, None], {"k": 3.0}))
    assert type(g) is P and g.a[1] is None
    close([g.a[0], g.b["k"]], [9.0, 12.0])


@pytest.mark.parametrize("result", [None, (), "text", slice(1, 4), {"a": None, "b": ()}], ids=repr)
@pytest.mark.parametrize("compile", ["never", "now"])
def test_results_without_numbers(result, compile):
    f = fad.jit(lambda x: result, compile=compile)
    for _ in range(2):                                       # the second call may take the fast path
        assert f(np.ones(3)) == result


@pytest.mark.parametrize("change",
                         ["a.append(x)", "a[0] = x", "a.clear()", "b.update(k=x)", "del b['k']", "c.value = x",
                          "b['deep'].pop()"])
def test_a_changed_list_or_dict_among_the_arguments_is_changed(change):
    """By jit, on the tape; a derivative changes nothing."""
    scope = {}
    exec(f"def f(a, b, c, x):\n    {change}\n    return 2 * x", scope)
    arguments, expected = ([[1.0], {"k": 2.0, "deep": [3.0]}, Holder(4.0)] for _ in range(2))
    assert fad.grad(scope["f"], 3)(*arguments, 5.0) == 2.0
    assert arguments == [[1.0], {"k": 2.0, "deep": [3.0]}, Holder(4.0)]
    scope["f"](*expected, 5.0)
    with pytest.warns(FallbackWarning, match="an argument is changed"):
        assert fad.jit(scope["f"])(*arguments, 5.0) == 10.0
    assert arguments == expected


def test_a_text_of_a_traced_value_is_no_result():
    f = fad.jit(lambda x: (x, f"{x}", str(x[0])))
    with pytest.warns(FallbackWarning, match="a text or a key made of a traced value"):
        assert f(np.array([1.5, 2.0]))[1:] == ("[1.5 2. ]", "1.5")
    assert fad.jit(lambda x, name: (2 * x, f"the {name}"))(1.0, "sum") == (2.0, "the sum")


def test_attributes_of_a_function_can_be_pickled_after_a_call():
    """Packages that send functions of scripts and notebooks to other processes pickle their code and attributes."""
    def f(x):
        return x * x

    assert float(fad.grad(f)(3.0)) == 6.0 and f.__dict__
    other = type(f)(f.__code__, f.__globals__)
    other.__dict__.update(pickle.loads(pickle.dumps(f.__dict__)))
    assert float(fad.grad(other)(4.0)) == 8.0 and fad.grad(other) is not fad.grad(f)



def test_pickling():
    g = pickle.loads(pickle.dumps(fad.grad(energy)))
    close(g(np.ones(2)), 2)


def test_arguments_are_left_alone_under_a_derivative_and_written_under_jit():
    def f(x):
        x *= 2.0
        return np.sum(x)
    x = np.ones(3)
    close(fad.grad(f)(x), 2)
    close(x, 1)
    close(fad.jit(f)(x), 6)
    close(x, 2)


def test_results_are_the_callers_own():
    f = fad.jit(lambda x: x)
    x = np.ones(2)
    y = f(x)
    y[0] = 5
    close(x, 1)


def test_dtypes_follow_numpy():
    x = np.ones(3, np.float32)
    assert fad.jit(lambda x: x * 2.0)(x).dtype == np.float32
    assert fad.jit(lambda x: x * np.float64(2))(x).dtype == np.float64
    assert fad.grad(lambda x: np.sum(x * np.ones(3)))(x).dtype == np.float32
    assert fad.jit(lambda a, x: a * x)(2.0, x).dtype == np.float32
    assert type(fad.jit(lambda a: a * 2)(3.0)) is float
    assert isinstance(fad.jit(np.sum)(x), np.float32)


def test_nesting_does_not_confuse_perturbations():
    close(fad.grad(lambda a: a * fad.grad(lambda b: a * b * b)(a))(3.0), 54.0)
    close(fad.grad(lambda a: fad.jvp(lambda b: a * b, (2.0,), (1.0,))[1] * a)(3.0), 6.0)
    close(fad.grad(lambda a: fad.vjp(lambda b: a * b * b, a)[1](1.0)[0])(3.0), 12.0)
    close(fad.jacfwd(fad.jacrev(lambda x: np.sum(x ** 3)))(np.ones(2)), 6 * np.eye(2))


def test_errors_are_subclasses_of_what_a_user_would_catch():
    with pytest.raises(NotScalarError, match="jacobian"):
        fad.grad(lambda x: x)(np.ones(2))
    with pytest.raises(IntegerArgumentError):
        fad.grad(energy)(np.arange(3))
    with pytest.raises(TypeError):
        fad.grad(energy)(3)
    with pytest.raises(CotangentShapeError):
        fad.vjp(energy, np.ones(2))[1](np.ones(2))
    with pytest.raises(StructureError):
        fad.vjp(lambda x: (x, x), 1.0)[1](1.0)
    with pytest.raises(UnsupportedFunctionError, match="savetxt|array2string|numpy"):
        fad.jit(lambda x: np.array2string(x), fallback=False)(np.ones(2))


def test_a_value_needed_while_tracing_names_the_line():
    def f(x):
        return {0: 1.0, 1: 2.0}.get(int(x[0]))                         # the line in question
    with pytest.raises(ConcreteValueError, match="the line in question"):
        fad.jit(f, fallback=False)(np.ones(2))


def test_what_is_kept_beyond_a_call_is_the_array_itself():
    kept, x = [], np.ones(2)

    def f(x):
        kept.append(x)
        return x * 2.0
    fad.jit(f, fallback=False)(x)
    assert len(kept) == 1 and kept[0] is x

    class Box:
        __slots__ = ("x",)
    box = Box()

    def g(x):
        box.x = x
        return x * 2.0
    fad.jit(g, fallback=False)(x)
    assert box.x is x


def test_a_traced_value_kept_beyond_its_trace_is_refused():
    box = SimpleNamespace()

    def g(x):
        box.inner = SimpleNamespace(x=x[0])                   # an object that the function makes
        return x * 2.0
    with pytest.raises(SideEffectError):
        fad.jit(g, fallback=False)(np.ones(2))
    with pytest.warns(FallbackWarning):                       # on the tape it is a number
        fad.jit(g)(np.ones(2))
    assert box.inner.x == 1.0


def test_aux_and_several_arguments():
    g, aux = fad.grad(lambda x: (np.sum(x ** 2), {"n": x.size, "label": "a"}), has_aux=True)(np.ones(3))
    close(g, 2)
    assert aux == {"n": 3, "label": "a"}
    ga, gb = fad.grad(lambda a, b: a * b, argnums=(0, 1))(2.0, 3.0)
    assert (ga, gb) == (3.0, 2.0)
    close(fad.grad(lambda a, b: a * b, argnums=-1)(2.0, 3.0), 2.0)


def test_decorators():
    @fad.grad
    def g(x):
        return np.sum(x ** 2)

    @fad.jit(compile="never")
    def f(x):
        return x + 1.0
    close(g(np.ones(2)), 2), close(f(1.0), 2.0)


def test_cycles_are_collected_again_after_a_trace(idle_compiler):
    """While a function is traced none are looked for; whatever happened, Python then goes on as it did before."""
    seen = []

    def f(x, fails):
        seen.append(not _Pauses.blocks)
        inner = fad.grad(np.sin)(x)
        if fails:
            raise KeyError("on purpose")
        return inner
    assert fad.jit(f)(0.3, False) == np.cos(0.3) and gc.isenabled()
    with pytest.raises(KeyError, match="on purpose"):
        fad.jit(f)(0.3, True)
    assert seen and not any(seen) and gc.isenabled()
    gc.disable()
    try:
        fad.jit(f)(0.5, False)
        assert not gc.isenabled()
    finally:
        gc.enable()
