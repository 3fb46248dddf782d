"""Functions with many results: each is stored where it is returned, and the numbers, types and references are as with
few."""
import contextlib

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.codegen import CPUCodeLibrary

import fad
from fad.kernels.numba_pipeline import LeanCompiler
from fad.kernels.results import MANY, is_large


def lean(f):
    return numba.njit(f, pipeline_class=LeanCompiler, error_model="numpy")


def of_all_kinds(x, k):
    a = np.empty((k, 2))
    a[:, :] = 0.5
    b = x.copy()
    return a, b, x, b, x[0], k, k > 3, 1j * x[1], np.float32(x[0]), a[:, 1], b > 0.0, 7, 2.5


def of_one_kind(x, k):
    a, b = x + k, x * k
    return a, b, a, x, b, b - a, x[::-1].copy(), a + 1.0, a + 2.0, x


def of_truth_values(x, k):
    return x[0] > 0.0, k > 1, True, False, k > 2, k > 3, k > 4, k > 5, x[1] > 0.0


def from_two_places(x, k):
    if k > 3:
        return x + 1.0, x, x, x, x, x, x, x, x + 2.0
    y = x - 1.0
    return y, y, y, x, x, x, x, y, y * 2.0


def a_tuple_that_is_read(x, k):
    many = (x, x + 1.0, x + 2.0, x, x, x, x, x, x + k)
    total = 0.0
    for i in range(k):
        total += many[1][0] * i
    return many


def an_argument_that_is_another_array_later(x, k):
    first = x
    for i in range(k):
        x = x + i
    return first, x, x, first, x, first, x, first, x


def raising(x, k):
    y = x + 1.0
    if k == 4:
        raise ValueError("not four")
    return y, y, y, x, x, x, x, y, y * 2.0


FUNCTIONS = [of_all_kinds, of_one_kind, of_truth_values, from_two_places, a_tuple_that_is_read,
             an_argument_that_is_another_array_later]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_many_results_are_as_pythons(f):
    x = np.array([0.5, -1.5, 2.0])
    compiled = lean(f)
    for k in (2, 5):
        ours, pythons = compiled(x, k), f(x, k)
        assert type(ours) is tuple
        assert len(ours) == len(pythons) > MANY
        for a, b in zip(ours, pythons):
            np.testing.assert_array_equal(a, b)
            assert np.asarray(a).dtype.kind == np.asarray(b).dtype.kind
    assert is_large(compiled.nopython_signatures[0].return_type)


def test_what_is_an_argument_shares_its_memory():
    x = np.ones(3)
    assert np.shares_memory(lean(of_one_kind)(x, 2)[-1], x)


@pytest.mark.parametrize("f", [*FUNCTIONS, raising], ids=lambda f: f.__name__)
def test_every_array_is_released_once(f, counted):
    compiled, x = lean(f), np.array([0.5, -1.5, 2.0])

    def call():
        for k in (3, 4):
            with contextlib.suppress(ValueError):
                compiled(x, k)
    allocated, freed = counted(call)
    assert allocated == freed


def test_errors_are_raised():
    with pytest.raises(ValueError, match="not four"):
        lean(raising)(np.ones(3), 4)


def test_kernels_call_functions_of_many_results():
    inner = lean(of_one_kind)

    @numba.njit
    def outer(x):
        return inner(x, 3)[5]
    np.testing.assert_array_equal(outer(np.arange(3.0)), of_one_kind(np.arange(3.0), 3)[5])


def test_few_results_are_one_value():
    assert not is_large(types.UniTuple(types.float64, MANY))
    assert not is_large(types.float64)


def lines_of(count, monkeypatch):
    """Lines of LLVM's text that the gradient with respect to so many arrays is translated to."""
    def loss(*xs):
        return sum([np.sum(x * x) for x in xs])
    lines, add = [], CPUCodeLibrary.add_ir_module
    monkeypatch.setattr(CPUCodeLibrary, "add_ir_module",
                        lambda library, module: lines.append(str(module).count("\n")) or add(library, module))
    xs = [np.full(k % 3 + 5, 0.5) for k in range(count)]
    with fad.config.using(cache_dir=None):
        gs = fad.jit(fad.grad(loss, argnums=tuple(range(count))), compile="now")(*xs)
    monkeypatch.undo()
    for g, x in zip(gs, xs):
        np.testing.assert_array_equal(g, 2.0 * x)
    return sum(lines)


def test_code_grows_with_the_number_of_arrays_and_not_with_its_square(monkeypatch):
    lines_of(3, monkeypatch)                                 # with what is compiled once in a process
    assert lines_of(40, monkeypatch) < 5.0 * lines_of(10, monkeypatch)
