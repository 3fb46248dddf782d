"""A `try` whose outcome depends on data is compiled: one path for each way through it (fad/trace/regions/paths.py)."""
import math
import warnings

import numpy as np
import pytest
import scipy.linalg as sl

import fad

from ..turns import in_turn

POINTS = [np.array(p) for p in
          ([0.1, 0.6, 2.0], [1.2, 1.6, 0.2], [0.7, 0.4, 1.15], [0.8, 0.83, 0.35], [0.55, 1.7, 0.9])]


class TooLarge(Exception):
    pass


class MuchTooLarge(TooLarge):
    pass


class Box:
    pass


def log(v):
    return math.log(v)


def kernel(x):
    return np.outer(x, x) + np.diag(x - 0.3)


def array_changed_before(x):
    y = x.copy()
    try:
        y[0] *= 2.0
        y[1] = log(x[0] - 0.5)
        y[2] *= 3.0
    except ValueError:
        y[1] = 7.0 * x[2]
    return (y * y).sum()


def object_changed_before(x):
    box = Box()
    try:
        box.n = x[0]
        box.v = log(x[0] - 0.5)
        box.n = x[1]
    except ValueError:
        box.v = box.n * 2.0
    return box.v * box.n


def global_changed_before(x):
    try:
        COUNT[0] = 1.0
        v = log(x[0] - 0.5)
        COUNT[0] = 2.0
    except ValueError:
        v = x[1]
    return v * COUNT[0]


COUNT = [0.0]


def error_with_traced_values(x):
    def checked(v):
        if v > 1.0:
            raise TooLarge(v * 2.0, "large")
        if v > 0.5:
            raise MuchTooLarge(v * 3.0)
        return v * v
    total = 0.0
    for v in x:
        try:
            total += checked(v)
        except MuchTooLarge as error:
            total += error.args[0] * 5.0
        except TooLarge as error:
            total -= error.args[0]
    return total


def handled_further_out(x):
    try:
        try:
            v = log(x[0] - 0.5)
        except ZeroDivisionError:
            v = 1.0
        finally:
            w = x[1] * 2.0
    except ValueError:
        v = x[2]
    return v * w


def raised_anew(x):
    try:
        try:
            v = log(x[0] - 0.5)
        except ValueError as error:
            raise TooLarge("inner") from error
    except TooLarge:
        return x[0] * x[1]
    return v * x[2]


def raised_again(x):
    try:
        try:
            v = log(x[0] - 0.5)
        except ValueError:
            v = x[1]
            raise
    except ValueError:
        return v * x[0]
    return v * x[2]


def jumps(x):
    s = 0.0
    i = 0
    while i < 3:
        i += 1
        try:
            if x[i - 1] > 1.0:
                continue
            if x[i - 1] < 0.15:
                break
            s += log(x[i - 1] - 0.32)
        except ValueError:
            s += x[0]
        else:
            s *= 2.0
        finally:
            s += 0.1 * x[1]
    return s


def chosen_error(x):
    try:
        if x[0] > 0.5 and x[1] > 0.5:
            raise TooLarge
        elif x[2] > 1.0:
            raise MuchTooLarge
        else:
            v = x[0]
    except MuchTooLarge:
        v = x[1] * 2.0
    except TooLarge:
        v = x[2] * 3.0
    return v * v


def assertion(x):
    try:
        assert x[0] > 0.5, "low"
    except AssertionError:
        return x[1] * 3.0
    return x[2] * x[0]


def three_lines(x):
    try:
        p = log(x[0] - 0.5)
        q = log(x[1] - 1.0)
        r = log(x[2] - 0.1)
    except ValueError:
        return x[0] * x[1] * x[2]
    return p * q * r


def in_a_loop(x):
    s = 0.0
    for k in range(4):
        try:
            s += log(x[0] + 0.3 * k - 0.71)
        except ValueError:
            s -= k * x[1]
    return s


def jitter(x):
    def factor(a):
        try:
            return np.linalg.cholesky(a)
        except np.linalg.LinAlgError:
            pass
        more = 1e-6 * np.trace(a)
        for _ in range(3):
            try:
                return np.linalg.cholesky(a + more * np.eye(len(a)))
            except np.linalg.LinAlgError:
                more = more * 1000
        raise np.linalg.LinAlgError("not positive definite")
    return np.log(np.diag(factor(kernel(x)))).sum()


def infinite_if_not_definite(x):
    try:
        c = sl.cho_factor(kernel(x))
    except Exception:
        return -1e3 * x[0]
    return x @ sl.cho_solve(c, x)


def singular(x):
    a = np.where(x[0] > 0.6, 1.0, 0.0) * np.array([[x[0], 1.0], [x[1], 2.0]])
    try:
        return np.linalg.solve(a, x[:2]).sum()
    except np.linalg.LinAlgError:
        return x[2]


def inverse(x):
    a = np.where(x[0] > 0.6, 1.0, 0.0) * np.array([[x[0], 1.0], [x[1], 2.0]])
    try:
        return np.linalg.inv(a).sum()
    except np.linalg.LinAlgError:
        return x[2]


def index(x):
    try:
        return x[int(x[0] * 3.0)] * x[1]
    except IndexError:
        return x[2]


def neighbours(x):
    s = 0.0
    for i in range(len(x)):
        try:
            s += x[i] * x[i + 1]
        except IndexError:
            s += x[i]
    return s


def recursion(x):
    def grown(v, n):
        try:
            if v > 2.0:
                raise OverflowError
            return grown(v * 1.5, n - 1) if n else v
        except OverflowError:
            return v / 3.0
    return grown(x[0], 4) * x[1]


def overflow(x):
    try:
        v = math.exp(1000.0 * (x[0] - 0.6))
    except OverflowError:
        v = math.inf
    return x[1] if v == math.inf else v * x[2]


def quotient(x):
    try:
        v = 1.0 / float(round(float(x[0])))
    except ZeroDivisionError:
        v = x[2]
    return v * x[1]


def in_branches(x):
    if x[2] > 1.0:
        try:
            if x[0] > 0.5:
                raise TooLarge
            v = x[1] * 2.0
        except TooLarge:
            v = x[2] ** 2
    else:
        try:
            v = log(x[1] - 1.0)
        except ValueError:
            v = x[0] ** 3
    return v


def logged(x):
    try:
        print("before")
        v = log(x[0] - 0.5)
        print("behind", x.shape)
    except ValueError as error:
        print(error)
        v = x[1]
    return v * v


def no_convergence(x):
    try:
        v, k = 1.0, 0
        while abs(v * v - x[0]) > 1e-12:
            v = 0.5 * (v + x[0] / v)
            k += 1
            if k > 6:
                raise RuntimeError("no convergence")
        return v * x[1]
    except RuntimeError:
        return v * k * x[2]


def loops_within_loops(x):
    s = 0.0
    try:
        for i in range(3):
            for j in range(3):
                if x[i] * x[j] > 1.9:
                    raise TooLarge
                s += log(x[i] + x[j] - 0.5)
        return s
    except ValueError:
        return s * x[0]
    except TooLarge:
        return s - x[1]


def array_changed_by_a_loop(x):
    y = x.copy()
    try:
        for i in range(3):
            y[i] *= 2.0
            y[i] += math.sqrt(y[i] - 0.5)
    except ValueError:
        y[0] += 10.0 * i
    return (y * y).sum()


def loop_with_an_end(x):
    s = 0.0
    for r in range(2):
        try:
            for v in x:
                s += log(v - 0.12 * r)
                if s < -1.0:
                    break
            else:
                s += 5.0
        except ValueError:
            s -= 1.3 * x[r]
    return s


def first_iteration_unlike_the_others(x):
    previous, s = None, 0.0
    try:
        for v in x:
            if previous is not None:
                s += log(v - previous)
            previous = v
    except ValueError:
        s -= previous
    return s


PROGRAMS = [no_convergence, loops_within_loops, array_changed_by_a_loop, loop_with_an_end,
            first_iteration_unlike_the_others, array_changed_before, object_changed_before, global_changed_before,
            error_with_traced_values, handled_further_out, raised_anew, raised_again, jumps, chosen_error, assertion,
            three_lines, in_a_loop, jitter, infinite_if_not_definite, singular, inverse, index, neighbours, recursion,
            overflow, quotient, in_branches, logged]


@pytest.mark.filterwarnings("error::fad.FallbackWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("f, compile", [(f, "never") for f in PROGRAMS] + [(f, "now") for f in PROGRAMS[::4]])
def test_every_path_is_pythons(f, compile, capsys):
    gradient, slope = fad.value_and_grad(f, compile=compile), fad.jvp
    for x in POINTS:
        want, smooth = f(x.copy()), [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        capsys.readouterr()
        f(x.copy())
        said = capsys.readouterr().out
        value, found = gradient(x)
        assert capsys.readouterr().out == said
        assert np.isclose(value, want)
        assert np.allclose(found, smooth, rtol=1e-5, atol=1e-6)
        assert np.isclose(slope(f, (x,), (x,))[1], found @ x)


@pytest.mark.filterwarnings("error::fad.FallbackWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("f", in_turn([p for p in PROGRAMS if p not in (logged, global_changed_before)]))
def test_each_example_of_a_batch_goes_its_own_way(f):
    found = fad.vmap(fad.grad(f))(np.array(POINTS))
    assert np.allclose(found, [fad.grad(f)(x) for x in POINTS])


def test_what_stands_in_front_of_a_fork_is_computed_once():
    def f(x):
        try:
            k = np.exp(kernel(x))
            factor = np.linalg.cholesky(k)
        except np.linalg.LinAlgError:
            return np.inf
        return np.log(np.diag(factor)).sum()

    source = fad.source(f, POINTS[0])
    assert source.count("cholesky_ex(") == 1
    assert source.count("= exp(") == 1


def many_lines(x):
    s = 0.0
    try:
        s += log(x[0] + 1.0) + log(x[0] + 2.0) + log(x[0] + 3.0) + log(x[0] + 4.0)
        s += log(x[1] + 1.0) + log(x[1] + 2.0) + log(x[1] + 3.0) + log(x[1] + 4.0)
    except ValueError:
        s = 2.0 * x[0]
    return s


def a_power(x):
    try:
        y = float(x[0]) ** -1.5
        s = log(x[1]) + y
    except ValueError:
        s = 2.0 * x[2]
    except (ZeroDivisionError, TypeError):
        s = 3.0 * x[2]
    return s


@pytest.mark.parametrize("policy", ["never", "now"])
@pytest.mark.parametrize("f", [many_lines, a_power])
def test_lines_that_raise_on_no_path_of_the_program_raise_on_the_tape(f, policy):
    values = np.array([0.3, 1.1, 2.0])
    with fad.config.using(compile=policy), warnings.catch_warnings():
        g = fad.value_and_grad(f, fallback=False)
        assert np.isclose(g(values)[0], f(values))
        warnings.simplefilter("ignore")
        h = fad.value_and_grad(f)
        h(values)
        for bad in ([0.0, 1.1, 2.0], [0.0, -1.0, 2.0], [0.3, -9.0, 1.0], [0.3, 1.1, 2.5]):
            x = np.array(bad)
            value, slope = h(x)
            assert np.isclose(value, f(x))
            assert np.allclose(slope, fad.value_and_grad(f)(x)[1])


def test_the_text_of_an_error_that_says_a_number_is_pythons():
    def f(x):
        try:
            return x[int(x[0] * 30.0)]
        except IndexError as error:
            return x[0] * len(str(error))

    with pytest.warns(fad.FallbackWarning, match="text of an error"):
        assert np.isclose(fad.jit(f)(POINTS[0]), f(POINTS[0]))


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("v", [2.5, 1e30, np.inf, np.nan])
def test_what_is_beyond_a_program_runs_on_the_tape(v):
    def f(x):
        try:
            k = int(x[0])
        except (OverflowError, ValueError) as error:
            k = 3 if isinstance(error, OverflowError) else 5
        return x[1] * k

    def g(x):
        first = None
        for u in x:
            if u > 1.0:
                first = u
        try:
            return 2.0 * first
        except TypeError:
            return x[1]

    for h in (f, g):
        x = np.array([v, 0.7])
        assert np.isclose(fad.jit(h)(x), h(x), equal_nan=True)


def test_an_error_that_no_handler_takes_is_raised():
    def f(x):
        try:
            v = log(x[0] - 0.5)
            if x[1] > 1.0:
                raise TooLarge("x is too large")
        except ValueError:
            v = 0.0
        return v * x[1]

    for x in POINTS:
        try:
            want = f(x)
        except TooLarge:
            with pytest.raises(TooLarge, match="x is too large"):
                fad.jit(f)(x)
        else:
            assert np.isclose(fad.jit(f)(x), want)
