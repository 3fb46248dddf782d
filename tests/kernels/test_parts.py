"""What kernels share: no kernel holds code that others have too, and whatever goes to a kernel or comes back is what it
was."""
import numba
import numpy as np
import pytest
from numba.core import types

import fad
import fad.kernels.arrays as np_kernels
from fad.kernels import parts
from fad.kernels.numba_pipeline import LeanCompiler
from fad.kernels.strip_mining import KernelCompiler


def compiled(f, *args, pipeline=LeanCompiler):
    """The dispatcher of a function, and its compilation for arguments like these."""
    dispatcher = numba.njit(f, pipeline_class=pipeline, error_model="numpy")
    dispatcher(*args)
    return dispatcher, next(iter(dispatcher.overloads.values()))


def busy(x, a, n, z):
    """Loops that pause, arrays of several ranks, products, releases, errors."""
    y, b, c = np_kernels.zeros(n), np_kernels.empty((n, 2)), np_kernels.empty((n, 2, 3))
    for i in range(n):
        y[i] = x[i % x.shape[0]] * n
        for j in range(2):
            b[i, j] = y[i]
            c[i, j, 0] = b[i, j]
        if y[i] > 1e9:
            raise ValueError("too large")
    d = np_kernels.dot(a, a)
    return y, b, c[0, 0, 0], d, n, z * 2.0, n > 2


def test_a_kernel_holds_no_code_that_others_have():
    x, a = np.ones(3), np.ones((2, 2))
    _, found = compiled(busy, x, a, 4, 1.0 + 2.0j, pipeline=KernelCompiler)
    names = [function.name for function in found.library._final_module.functions if not function.is_declaration]
    own = {found.fndesc.llvm_func_name, found.fndesc.llvm_cpython_wrapper_name, "fad.enter"}
    assert set(names) == own


def test_what_is_shared_is_compiled_once(monkeypatch):
    compiled(busy, np.ones(3), np.ones((2, 2)), 4, 1.0j, pipeline=KernelCompiler)
    monkeypatch.setattr(parts, "_compiled", None)            # it would fail
    _, found = compiled(lambda x: x.copy(), np.ones(3))
    assert parts.PREFIX + "run" in [function.name for function in found.library._final_module.functions]


NUMBERS = [True, 3, -(2**62), 2.5, 1.0 - 2.0j,
           *[t(3) for t in (np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32)], np.uint64(2**63 + 1),
           np.int64(-5), np.float32(0.1), np.float64(0.1), np.complex64(1j), np.complex128(2j), np.bool_(False)]


@pytest.mark.parametrize("x", NUMBERS, ids=lambda x: f"{type(x).__name__} {x}")
def test_numbers_of_all_kinds(x):
    plain, pair = compiled(lambda x: x, x)[1], compiled(lambda x, y: (x, y, x), x, np.ones(2))[1]
    value = plain.entry_point(x, 0)
    assert value == x and type(value) is type(numba.njit(lambda x: x)(x))
    y = np.ones(2)
    first, second, third = pair.entry_point(x, y, 2)
    assert first == third == x and second is y
    with pytest.raises((TypeError, ValueError)):
        plain.entry_point(y, 0)


def test_results_of_all_shapes():
    x = np.arange(6.0).reshape(2, 3)
    assert compiled(lambda x: None, x)[1].entry_point(x, 6) is None
    assert compiled(lambda x: (x[0, 0],), x)[1].entry_point(x, 6) == (0.0,)
    for f in (lambda x: x.T, lambda x: x[:, 1], lambda x: x[::-1].copy().T, lambda x: x[1:1],
              lambda x: np.asfortranarray(x)):
        result = compiled(f, x)[1].entry_point(x, 6)
        np.testing.assert_array_equal(result, f(x))
        assert result.flags.writeable and result.strides == (f(x).strides if result.size else result.strides)


def test_what_numba_knows_better_goes_through_its_own_function():
    x = np.arange(3.0)
    x.flags.writeable = False
    dispatcher, _ = compiled(lambda x: (x, x + 1.0), x)
    first, second = dispatcher(x)
    assert not first.flags.writeable and second.tolist() == [1.0, 2.0, 3.0]
    kernel = fad.backend.running.kernel.Kernel("", "kernel", dispatcher)
    assert kernel.entry is None


@pytest.mark.parametrize("count", [0, 1, 4], ids=lambda n: f"{n} too many or few")
def test_another_number_of_arguments_is_refused(count):
    x = np.ones(3)
    entry = compiled(lambda x, y: x[0] + y, x, 1.0)[1].entry_point
    with pytest.raises(TypeError, match="number of arguments"):
        entry(*[x] * count)


def test_derivatives_as_values_of_compiled_code():
    """The function for C is made when somebody asks for it."""
    f, g = (fad.grad(h).njit(1.0) for h in (np.sin, lambda x: x**3 + 1.0))
    assert not any("cfunc" in function.name
                   for function in f.overloads[f.signatures[0]].library._final_module.functions)

    @numba.njit
    def total(functions, x):
        s = 0.0
        for each in functions:
            s += each(x)
        return s
    with pytest.warns(numba.NumbaExperimentalFeatureWarning):
        assert total((f, g), 2.0) == pytest.approx(np.cos(2.0) + 12.0)


def test_parts_of_other_types_are_in_the_kernel_itself():
    _, found = compiled(lambda x: x, np.int16(3))
    assert found.signature.return_type == types.int16
    assert any(f.name == f"{parts.PREFIX}read_int16" and not f.is_declaration
               for f in found.library._final_module.functions)


def test_threads_are_begun_by_code_that_all_kernels_share():
    """The kernel has the loop's parts, and a function that a thread begins with."""
    with fad.config.using(threads=2, compile="now"):
        f = fad.jit(lambda x: np.sum(np.sin(x)))
        f(np.ones(1_000_000))
    library = f.program_for(np.ones(1_000_000))[0].runner.kernel.call.overloads
    module = next(iter(library.values())).library._final_module
    names = {function.name: function.is_declaration for function in module.functions}
    assert names[parts.PREFIX + "run_parts"] and not any("pthread" in name for name in names)
