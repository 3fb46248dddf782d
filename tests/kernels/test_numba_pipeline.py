"""The lean way through Numba: the numbers are those of plain Python, no array is lost, and errors are raised."""
import contextlib
import copy
import operator
import subprocess
import sys
import warnings

import numba
import numpy as np
import pytest
from numba.core.compiler import run_frontend
from numba.core.registry import cpu_target

import fad
import fad.kernels.arrays as np_kernels
from fad.kernels import helpers
from fad.kernels.arithmetic import maximum, minimum
from fad.kernels.loops import NumbaLoops
from fad.kernels.numba_pipeline import LeanCompiler
from fad.kernels.pipeline_stages import pass_one_by_one
from fad.kernels.reference_counts import insert_releases
from fad.kernels.strip_mining import KernelCompiler
from fad.kernels.variables import definitions, of_one_value


def lean(f):
    return numba.njit(f, pipeline_class=LeanCompiler, error_model="numpy")


def subscripts(x, m):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i - 1] * (i + 1) + x[-i] + x[i - x.size]
    for i in range(m - 1, -1, -1):
        total += x[i] * m - x[min(i, m - 1) // 2] * x[max(i, -3) % 2]
    for i in range(-2, m, 2):
        total += x[i] / (3 + i)
    for i in range(m, 0, -3):
        total -= x[i - 1]
    for i in range(m - 1, -m, -1):
        total -= x[i] * i
    for _ in range(-3):
        total += 1e9
    return total


def layouts(a, m):
    out = np.zeros((m, 3), np.float32)
    k = np.uint8(1)
    for i in range(m):
        for j in range(3):
            out[i, j] = a[j, i] + a[j, -i] * a[k, i]
            out[i, -1 - j] += a[:, i][j]
    return out


def arrays_of_loops(n, m):
    old, total = np.zeros(m), 0.0
    for i in range(n):
        new = np.empty(m)
        for j in range(m):
            new[j] = old[j - 1] + i * j
        if i % 3 == 0:
            old, new = new, old
        spare = new.copy()
        if i % 2 == 0:
            continue
        total += spare[0] + new[m - 1]
        if total > 100.0:
            break
    else:
        total += old[1]
    return total, old


def raising(n, m):
    kept = np.ones(m)
    for i in range(n):
        other = np.full(m, 2.0)
        if i > 3:
            raise ValueError("too many")
        kept[0] += other[1]
    return kept


def checked(n, m):
    """Arrays that are released in several places: where the function is left with an error, and where it ends."""
    one = np.full(m, 1.0)
    if n == 7:
        raise ValueError("seven")
    two, three = one.copy(), np.zeros((m, 2))
    if n == 8:
        raise ValueError("eight")
    for i in range(n):
        four = np.full(m, 0.5 * i)
        if i == 8:
            raise ValueError("in the loop")
        for j in range(m):
            three[j, 0] += four[j] + two[j]
        if i % 2 == 0:
            five = four[1:]
            three[0, 1] += five.sum()
    unused = np.ones(m)                                      # noqa: F841
    return three, one if n == 1 else two


def conditional(n):
    if n > 2:
        value = 1.0
    else:
        value = 2.0
    k = 0
    while True:
        k += 1
        later = k * 2
        if later > n:
            break
    return value + later, k


def rows(a, v, m):
    out = np.zeros((m, 3, 2))
    flags = np.ones((2, m), np.bool_)
    for i in range(m):
        out[i - m, :, :] = i + 1
        out[i, 1, :] = v
        v[:] = out[i, 0]
    out[0, :, :] = a
    out[m - 1, :, :] = out[0]
    a[:, :] = 2.5
    flags[1, :] = False
    return out, flags, v


def reshapes(x, m):
    flat = x.reshape(x.size)
    flat[1] += 1.0
    for i in range(3):
        turned = flat.reshape((m, x.size // m))
        flat = (turned * turned[0, i]).reshape((x.size,))
    return flat, turned.reshape((-1, 1, m)), x.reshape(np.int32(m), -1)


def arithmetic(z, w, x):
    total, sums = z * w, 0.0
    for i in range(4):
        total += z[i] * w[1] * 2 + 3 * w[i] - z[i] * x[i]
        sums += x[i] ** 2 + x[i] ** 3 - x[i] ** 4 + x[i] ** 5 + x[i] ** i + i ** 2
    return total, sums


def signal(n):
    return np.random.default_rng(n).standard_normal((n, 2)) @ [1, 1j]


CASES = [(subscripts, np.random.default_rng(0).standard_normal(7), 4),
         (layouts, np.random.default_rng(1).standard_normal((3, 5)), 4),
         (layouts, np.asfortranarray(np.random.default_rng(1).standard_normal((3, 5))), 4),
         (layouts, np.random.default_rng(1).standard_normal((6, 10))[::2, ::2], 4),
         (arrays_of_loops, 5, 4), (arrays_of_loops, 60, 4), (arrays_of_loops, 0, 3), (raising, 3, 4),
         (rows, np.random.default_rng(0).standard_normal((3, 2)), np.ones(2), 4), (conditional, 2), (conditional, 9),
         (checked, 0, 3), (checked, 1, 3), (checked, 5, 3),
         (reshapes, np.random.default_rng(2).standard_normal((4, 3)), 2),
         (arithmetic, signal(4), signal(5)[:4], np.random.default_rng(3).standard_normal(4).astype(np.float32)),
         (arithmetic, signal(4), signal(5)[:4], np.random.default_rng(3).standard_normal(4)),
         (arithmetic, *np.random.default_rng(4).standard_normal((3, 4)))]


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in CASES], ids=lambda p: getattr(p, "__name__", ""))
def test_numbers_are_those_of_python(f, args):
    expected, got = f(*copy.deepcopy(args)), lean(f)(*copy.deepcopy(args))
    for a, b in zip(expected if isinstance(expected, tuple) else (expected,),
                    got if isinstance(got, tuple) else (got,)):
        np.testing.assert_allclose(b, a, rtol=1e-6)


@pytest.mark.parametrize("f, args",
                         [(arrays_of_loops, (60, 4)), (arrays_of_loops, (5, 4)), (raising, (3, 4)),
                          (layouts, (np.ones((3, 5)), 4)),
                                     (checked, (1, 3)), (checked, (6, 3)), (checked, (7, 3)), (checked, (8, 3)),
                          (checked, (9, 3)),
                                     (reshapes, (np.ones((4, 3)), 2))],
                         ids=lambda p: getattr(p, "__name__", ""))
def test_every_array_is_released_once(f, args, counted):
    g = lean(f)

    def call():
        with contextlib.suppress(ValueError):
            g(*args)
    allocated, freed = counted(call)
    assert allocated > 0
    assert allocated == freed


def test_errors_are_raised():
    with pytest.raises(ValueError, match="too many"):
        lean(raising)(9, 4)
    with pytest.raises(ValueError, match="rows of other extents"):
        lean(rows)(np.ones((3, 2)), np.ones(3), 4)
    with pytest.raises(ValueError, match="total size of new array must be unchanged"):
        lean(reshapes)(np.ones((4, 3)), 7)


@pytest.mark.parametrize("n, m", [(2, 4), (-3, -4)])
def test_extents_of_other_arrays_are_refused(n, m):
    with pytest.raises(ValueError, match="total size of new array must be unchanged"):
        lean(lambda x, n, m: x.reshape(n, m))(np.ones(12), n, m)


def test_arrays_that_cannot_be():
    """Told of as NumPy tells it, from one place of each function."""
    @lean
    def make(n, m):
        small, large = np_kernels.zeros(2), np_kernels.empty((n, m))
        return small, large
    assert make(3, 0)[1].shape == (3, 0)
    with pytest.raises(ValueError, match="negative dimensions"):
        make(3, -1)
    with pytest.raises(ValueError, match="array is too big"):
        make(2 ** 40, 2 ** 40)
    with pytest.raises(MemoryError, match="Allocation failed"):
        make(2 ** 29, 2 ** 30)


def test_variables_that_need_no_memory():
    """LLVM's time for what is in memory grows with the variables times the blocks: an array that is made once is a
    value, also where each of many errors releases it."""
    function = run_frontend(checked)
    insert_releases(function)
    arrays = {"one", "two", "three", "unused"}
    assert arrays <= set(of_one_value(function.blocks, lambda name: name in arrays))


def test_rows_are_filled_by_code_of_their_own():
    """Numba's is a dozen functions more to compile, which put the extents in words for an error."""
    lean(lambda m: (np.zeros((m, 3, 2)), np.ones((2, m), np.bool_)))(4)  # compiled once in a process
    with numba.core.event.install_recorder("numba:compile") as compiled:
        lean(rows)(np.ones((3, 2)), np.ones(2), 4)
    assert len([event for _, event in compiled.buffer if event.is_start]) == 1


def test_short_operators_are_no_functions_of_their_own():
    def f(z, x, n):
        largest, least = maximum(x[0], x[1]), minimum(n, 3)
        return z.reshape(z.size)[0] * z[0], x[0] ** 2, x.copy(), x.reshape((n - 4, 3)), largest, least
    with numba.core.event.install_recorder("numba:compile") as compiled:
        lean(f)(signal(3), np.ones(3), 5)
    assert len([event for _, event in compiled.buffer if event.is_start]) == 1


def test_a_function_called_at_two_places_is_typed_once(monkeypatch):
    typed, found = helpers._typed, []
    monkeypatch.setattr(helpers, "_typed", lambda body, args: found.append(body) or typed(body, args))
    twice = helpers.helper(lambda x: 2.0 * x)
    assert numba.njit(lambda x: twice(x) + twice(x + 1.0), pipeline_class=KernelCompiler)(1.0) == 6.0
    assert found == [twice]


def test_a_function_that_a_kernel_calls_looks_up_equal_operations_once(monkeypatch):
    kind, asked = type(cpu_target.typing_context), []
    look_up = kind.resolve_function_type

    def noted(self, func, args, kws):
        asked.append((func.typing_key if hasattr(func, "typing_key") else func, args))
        return look_up(self, func, args, kws)
    monkeypatch.setattr(kind, "resolve_function_type", noted)
    power = helpers.helper(lambda x: x * x * x * x)
    assert numba.njit(lambda x: power(x), pipeline_class=KernelCompiler)(2.0) == 16.0
    assert asked.count((operator.mul, (numba.float64, numba.float64))) == 1


def test_a_call_with_many_arguments_makes_no_tuple():
    """A tuple of arrays would hold each of them once more."""
    names, scope = ", ".join(f"a{k}" for k in range(33)), {"np": np}
    exec(f"def f({names}):\n"
         f"    a1 = np.full(2, a0)\n"
         f"    return g({names}) + g({names})\n"
         f"def g({names}):\n"
         f"    return a1[1] + a32\n", scope)
    function = run_frontend(scope["f"])
    tuples = [made for block in function.blocks.values() for made in block.find_exprs("build_tuple")]
    is_one = any(len(made.items) == 33 for made in tuples)    # older versions of Numba add up 33 of one
    pass_one_by_one(function)
    calls = [call for block in function.blocks.values() for call in block.find_exprs("call")]
    assert [len(call.args) for call in calls] == ([2, 33, 33] if is_one else [2, 0, 0])
    assert any(call.vararg for call in calls) is not is_one
    scope["g"] = lean(scope["g"])
    assert lean(scope["f"])(*map(float, range(5, 38))) == 2 * (5.0 + 37.0)


def test_a_loop_is_found_by_the_block_that_asks_for_its_next_number():
    """Each jump looks for the loop whose iteration it begins: not among all loops."""
    def f(x):
        s = 0.0
        for i in range(3):
            for j in range(2):
                s += x[i] * j
        while s > 10.0:
            s = s / 2.0
        return s
    blocks = run_frontend(f).blocks
    loops = NumbaLoops(blocks, definitions(blocks))
    assert loops.tests == {loops.test(header): header for header in loops.found} and len(loops.tests) == 3


def test_products_of_short_operators_are_rounded():
    """One instruction for a product and a sum would leave the rounding error of the one product that it does not
    round."""
    def f(z, x):
        return (z * z.conjugate()).imag, x[0] ** 2 - x[1]
    g, x = numba.njit(pipeline_class=LeanCompiler, fastmath={"contract"})(f), 1.1 / 3
    assert g(complex(x, 0.7), np.array([x, x ** 2])) == (0.0, 0.0)


def test_an_array_that_branches_release_is_released_once():
    """Released twice, it would be handed out twice: two results that lie in one place, or a heap that malloc
    refuses."""
    def f(x):
        if x[0] > 0:
            y = x[1]
        if x[0] > 0:
            return y * 2
        return x.sum()
    g = fad.grad(f)
    with fad.config.using(compile="now"):
        for x, slope in ((np.array([0.5, 0.6, 0.7]), [0.0, 2.0, 0.0]), (np.array([-0.5, 0.6, 0.7]), [1.0, 1.0, 1.0])):
            results = [g(x) for _ in range(100)]
            assert len({y.ctypes.data for y in results}) == 100
            np.testing.assert_array_equal(results, [slope] * 100)


SET_UP = """
import sys
from numba.core.registry import cpu_target
times, refresh = [], type(cpu_target.target_context).refresh
type(cpu_target.target_context).refresh = lambda self: times.append(self) or refresh(self)
import numba, numpy as np
from fad.kernels.numba_pipeline import LeanCompiler
from fad.kernels.numba_setup import has_all

def kept():
    return {1: 0.5}[1]

def sums(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += abs(x[i])
    return total

assert numba.njit(sums, pipeline_class=LeanCompiler)(-np.ones(2)) == 2.0
print(len(times), has_all() or "numba.typed.typedlist" in sys.modules)
assert numba.njit(kept, pipeline_class=LeanCompiler)() == 0.5
print(has_all(), vars(cpu_target.target_context).keys() & {"refresh", "load_additional_registries"})
assert numba.njit(lambda x: [x, x + 1.0][1])(1.0) == 2.0
"""


def test_of_numba_there_is_what_kernels_need():
    """Left to itself it loads all that it can compile, and fills its tables anew for each of two hundred templates."""
    done = subprocess.run([sys.executable, "-c", SET_UP], capture_output=True, text=True, check=True)
    (count, has_more), (then, left) = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert int(count) < 50 and has_more == "False"
    assert then == "True" and left == "set()"


def test_no_warnings_are_recorded_while_a_kernel_is_compiled(monkeypatch):
    """Numba's functions in it included: the record is process-wide, and threads that trace would find it."""
    recorded, original = [], warnings.catch_warnings

    def seen(*args, **kwargs):
        recorded.append(kwargs.get("record", False))
        return original(*args, **kwargs)
    monkeypatch.setattr(warnings, "catch_warnings", seen)
    g = fad.jit(lambda a: np.linalg.slogdet(a)[1] + np.sum(np.linalg.svd(a)[1]) + np.linalg.cond(a @ a), compile="now",
                fallback=False)
    with fad.config.using(cache_dir=None):
        g(np.eye(3) + 0.1)
    assert g.compilations == 1 and True not in recorded
