"""Arrays that go to kernels and come back: what fits, what is refused, whose memory it is, and that all of it is
released."""
import gc
import weakref

import numba
import numpy as np
import pytest

from fad.kernels.boxing import SMALL
from fad.kernels.numba_pipeline import LeanCompiler


def lean(f, *examples):
    """The dispatcher of a function, and what it calls for arguments like these."""
    compiled = numba.njit(f, pipeline_class=LeanCompiler, error_model="numpy")
    compiled(*examples)
    return compiled, next(iter(compiled.overloads.values())).entry_point


def plus(x, y):
    return x + 1.0, y[0]


DTYPES = [np.float64, np.float32, np.complex128, np.complex64, np.int64, np.int32, np.uint8, np.bool_]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda t: t.__name__)
@pytest.mark.parametrize("shape", [(3,), (0,), (1,), (2, 3), (0, 4), (4, 0, 2), (2, 3, 2), (SMALL,), (40, 50)], ids=str)
def test_copies_of_all_dtypes_and_shapes(dtype, shape):
    x = (np.random.default_rng(0).standard_normal(shape) * 5.0).astype(dtype)
    dispatcher, entry = lean(lambda x: x.copy(), x)
    for y in (dispatcher(x), entry(x, x.size)):
        np.testing.assert_array_equal(y, x)
        assert y.dtype == x.dtype
        assert y.flags.carray
        assert y.flags.owndata == (y.base is None) == (x.nbytes <= SMALL)


def others(x):
    """What is not like x, but for its number of elements and the size of one."""
    yield x.astype(np.int64)
    yield x.astype(">f8")
    yield x.reshape(1, -1)
    yield np.repeat(x, 2)[::2]
    readonly = x.copy()
    readonly.flags.writeable = False
    yield readonly
    yield np.frombuffer(b"0" + x.tobytes(), np.uint8)[1:].view(float)
    yield x.view(np.recarray)
    yield np.ma.masked_array(x)
    yield x.tolist()
    yield 1.0
    yield None


def test_a_call_without_the_dispatcher_takes_what_the_kernel_is_for():
    x = np.arange(6.0)
    _, entry = lean(plus, x, x)
    assert entry(x, x, 12)[1] == 0.0
    assert entry(x.view(np.dtype(float).newbyteorder("=")), x, 12)[1] == 0.0
    for other in others(x):
        with pytest.raises(TypeError):
            entry(other, x, 1000)
        with pytest.raises(TypeError):
            entry(x, other, 1000)
    with pytest.raises(ValueError, match="more elements"):
        entry(x, x, 11)


def test_an_integer_of_another_name_and_the_same_size_fits():
    x = np.arange(3, dtype=np.longlong)
    dispatcher, entry = lean(lambda x: x + 1, np.arange(3))
    assert list(entry(x, 3)) == [1, 2, 3] == list(dispatcher(x))


def test_the_dispatcher_takes_derived_classes(tmp_path):
    x = np.arange(6.0)
    dispatcher, _ = lean(plus, x, x)
    dispatcher.disable_compile()
    mapped = np.memmap(tmp_path / "x", float, "w+", shape=6)
    mapped[:] = 2.0
    assert dispatcher(mapped, x)[0].sum() == 18.0


def own(x):
    return x


def first_column(x):
    return x[:, 0]


def last_rows(x):
    return x[1:]


def flat(x):
    return x.reshape(x.size)


def test_an_argument_that_is_returned_is_that_array():
    x = np.ones((2, 3))
    for call in lean(own, x):
        assert (call(x) if call.__class__.__name__ == "CPUDispatcher" else call(x, 6)) is x


@pytest.mark.parametrize("f", [first_column, last_rows, flat])
@pytest.mark.parametrize("n", [2, 500])
def test_a_part_of_an_argument_keeps_it(f, n):
    class Owner(np.ndarray):
        pass
    x = np.arange(3.0 * n).reshape(n, 3)
    dispatcher, _ = lean(f, x)
    kept = x.copy().view(Owner)
    part, owner = dispatcher(kept), weakref.ref(kept)
    assert np.shares_memory(part, kept)
    del kept
    gc.collect()
    assert owner() is not None
    np.testing.assert_array_equal(part, f(x))
    del part
    gc.collect()
    assert owner() is None


def test_a_result_that_is_there_twice_is_one_memory():
    def twice(x):
        y = x + 1.0
        return y, y
    x = np.ones(3)
    a, b = lean(twice, x)[0](x)
    assert np.shares_memory(a, b)


def failing(x, y):
    z = x + 1.0
    if y[0] > 0.0:
        raise ValueError("not now")
    return z, z[:2].copy(), x


def test_all_is_released(counted):
    x, large = np.zeros(3), np.zeros(1000)
    dispatcher, entry = lean(failing, x, x)

    def call():
        for a, b in ((x, x), (large, x), (x, x + 1.0)):
            for one in (dispatcher, lambda *args: entry(*args, 1500)):
                try:
                    one(a, b)
                except ValueError:
                    pass
        for bad in others(np.arange(6.0)):
            with pytest.raises(TypeError):
                entry(x, bad, 9)
    allocated, freed = counted(call)
    assert allocated == freed


def test_references_to_arguments_and_dtypes_are_balanced():
    import sys
    x = np.arange(4.0)
    dispatcher, entry = lean(plus, x, x)
    before = sys.getrefcount(x)
    for _ in range(100):
        dispatcher(x, x), entry(x, x, 8)
    assert sys.getrefcount(x) == before
