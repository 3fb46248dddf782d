"""Each trait of each op (fad/ir/traits.py) is what the op's `run` does; where that can be seen, an op that does so has
the trait."""
import math
import operator

import numpy as np
import pytest

from fad.ir.traits import ALL, Cost, Widening
from fad.ops.kinds import LinearIn
from fad.ops.selection import walk_spec

from .cases import OPS, calls, entries, results, rng_for

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
OWN = {"resize": [((np.arange(1.0, 7.0).reshape(3, 2), 2), {}), ((np.arange(1.0, 7.0).reshape(3, 2), 5), {})],
       "iota": [((4,), {"dtype": np.dtype(int)})], "unwritten": [((2, 3), {"dtype": np.dtype(float)})]}


def having(trait) -> list:
    """The names of the ops of which a question about their traits is answered with yes."""
    return [name for name, op in OPS.items() if trait(op.traits)]


def tried(op) -> list:
    """(args, params) of calls of an op."""
    return OWN.get(op.name) or calls(op)


# -- elementwise -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.kind == "elementwise"])
def test_an_elementwise_op_keeps_places(name):
    """An element of the result follows from the elements at its place alone."""
    op, order = OPS[name], [2, 0, 1]
    for args, params in calls(op):
        if all(np.shape(a) in ((), (3,)) for a in args):
            whole = np.asarray(op.run(*args, **params))
            moved = op.run(*[a[order] if np.shape(a) else a for a in args], **params)
            np.testing.assert_array_equal(moved, whole[order] if whole.shape else whole)


# -- widenings ---------------------------------------------------------------------------------------------------------

STEPS = {Widening.SMALL_INT: [(np.bool_, np.int64), (np.int8, np.float64), (np.int32, np.int64)],
         Widening.INT_TO_FLOAT: [(np.int64, np.float64)], Widening.INT_TO_COMPLEX: [(np.int64, np.complex128)],
         Widening.REAL_TO_COMPLEX: [(np.float64, np.complex128), (np.float32, np.complex64)],
         Widening.MORE_DIGITS: [(np.float32, np.float64)], Widening.COMPLEX_DIGITS: [(np.complex64, np.complex128)]}


def numbers(dtype, shape, rng, has_all_digits=False) -> np.ndarray:
    """Small numbers of a dtype; of floats, those whose sums and products are exact, or numbers that have all digits."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind == "i":
        return rng.integers(-3, 4, shape).astype(dtype)
    def part():
        return rng.standard_normal(shape) if has_all_digits else rng.integers(-16, 17, shape) / 4.0
    return np.asarray(part() + 1j * part() if dtype.kind == "c" else part()).astype(dtype)


def data_places(op, args) -> list:
    """Which arguments hold the numbers that are computed with."""
    if not op.samples:
        return [k for k, entry in enumerate(entries(op)) if entry != "bool"]
    return [k for k, a in enumerate(args) if np.asarray(a).dtype.kind in "bfc"]


def widened(op, narrow, wide) -> int:
    """How many calls were compared, in the narrow dtype and in the wide one."""
    rng, count = rng_for(op.name), 0
    for args, params in calls(op):
        places = data_places(op, args)
        given = [numbers(narrow, np.shape(a), rng, np.dtype(narrow).kind == np.dtype(wide).kind) if k in places else a
                 for k, a in enumerate(args)]
        try:
            before = op.run(*given, **params)
        except TypeError:                                    # NumPy has none in this dtype
            continue
        after = op.run(*[a.astype(wide) if k in places else a for k, a in enumerate(given)], **params)
        np.testing.assert_array_equal(np.asarray(before).astype(np.asarray(after).dtype), after)
        count += 1
    return count


@pytest.mark.parametrize("name", having(lambda t: t.widens))
def test_an_op_commutes_with_its_widenings(name):
    op = OPS[name]
    for widening in op.traits.widens:
        tried = sum(widened(op, *pair) for pair in STEPS[widening])
        assert tried or widening not in (Widening.INT_TO_FLOAT, Widening.MORE_DIGITS)


@pytest.mark.parametrize("name", having(lambda t: t.widens_by))
@pytest.mark.parametrize("d", [-2, -1, 0, 1, 2, 3])
def test_an_op_by_a_literal_commutes_with_the_widening_to_floats(name, d):
    op, x = OPS[name], np.arange(-5, 6)
    try:
        before = op.run(x, d)
    except ValueError:                                       # a power of ints with a negative exponent
        assert not op.traits.widens_by(d)
        return
    assert np.array_equal(before, op.run(x.astype(float), float(d))) == op.traits.widens_by(d)


def is_exact(op, args) -> bool:
    """Whether what an op makes of these float32 is what it makes of the same numbers in double precision."""
    narrow = [np.asarray(a, np.float32) if np.asarray(a).dtype.kind == "f" else a for a in args]
    wide = [np.asarray(a, np.float64) if np.asarray(a).dtype.kind == "f" else a for a in narrow]
    return np.array_equal(op.run(*narrow).astype(np.float64), op.run(*wide))


FLOATS = [name for name, op in OPS.items()
          if op.kind == "elementwise" and not op.samples and op.facts.get("ufunc") is not None
          and all(e != "integer" for e in entries(op))
          and any(np.asarray(op.run(*a)).dtype.kind == "f" for a, _ in calls(op))]


@pytest.mark.parametrize("name", FLOATS)
def test_a_cheap_op_rounds_or_is_exact(name):
    op = OPS[name]
    exact = all(is_exact(op, [np.asarray(a) * 1.1 for a in args]) for args, _ in calls(op))
    if op.traits.rounds:
        assert not exact
    elif op.traits.is_cheap and not op.traits.jumps:
        assert exact


# -- comparisons, reductions, choices --------------------------------------------------------------


@pytest.mark.parametrize("name", having(lambda t: t.comparison))
def test_a_comparison_is_what_it_says(name):
    op, found = OPS[name], OPS[name].traits.comparison
    x, y = np.meshgrid(np.arange(-3, 4), np.arange(-3, 4))
    says = found.sign * (x - y) + found.or_equal >= 1 if found.is_order else (x == y) == found.or_equal
    np.testing.assert_array_equal(op.run(x, y), says)
    np.testing.assert_array_equal(OPS[found.negation].run(x, y), ~says)
    assert OPS[found.negation].traits.comparison.negation == name


@pytest.mark.parametrize("name", [name for name in having(lambda t: t.reduction) if OPS[name].kind == "reduce"])
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.bool_])
def test_a_reduction_joins_by_its_op_from_its_identity(name, dtype):
    op, found, rng = OPS[name], OPS[name].traits.reduction, rng_for(name)
    x = numbers(np.bool_ if name == "count_true" else dtype, 5, rng)
    try:
        whole = np.asarray(op.run(x, axes=(0,)))
    except TypeError:
        pytest.skip("NumPy has none of this dtype")
    by, identity = OPS[found.by], found.identity(whole.dtype)
    total = whole.dtype.type(identity)
    for element in x.astype(whole.dtype):
        np.testing.assert_array_equal(by.run(element, whole.dtype.type(identity)), element)
        total = by.run(total, element)
    np.testing.assert_array_equal(total, whole)
    if found.is_total:
        assert op.run(x[:0], axes=(0,)) == identity
    else:
        assert whole in x
        with pytest.raises(ValueError):
            op.run(x[:0], axes=(0,))


def test_every_reduction_has_the_trait():
    assert ({name for name, op in OPS.items() if op.kind == "reduce"} == set(having(lambda t: t.reduction))
            - {"contract"})


def test_a_contraction_of_nothing_is_the_identity():
    op = OPS["contract"]
    assert op.run(np.zeros(0), np.zeros(0), labels=("i", "i", "")) == op.traits.reduction.identity(np.dtype(float))


@pytest.mark.parametrize("name", having(lambda t: t.chosen_from is not None))
def test_a_chosen_element_is_one_of_the_operands(name):
    op = OPS[name]
    for args, params in calls(op):
        chosen = np.broadcast_arrays(*args[op.traits.chosen_from:])
        y = np.asarray(op.run(*args, **params))
        assert all(any(v in np.asarray(c) for c in chosen) for v in y.ravel())
        assert y.shape != chosen[0].shape or np.any([y == c for c in chosen], axis=0).all()


@pytest.mark.parametrize("name", having(lambda t: t.places is not None))
def test_places_lie_along_an_axis_and_reach_its_end(name):
    op, rng, found = OPS[name], rng_for(name), []
    for _ in range(40):
        for args, params in OWN.get(name) or [sample(rng) for sample in op.samples]:
            extent = args[0] if op.creation else args[0].shape[params.get("axis", -1)]
            found.append(np.asarray(op.run(*args, **params)) - (extent - 1 + op.traits.places))
            assert (np.asarray(op.run(*args, **params)) >= 0).all()
    assert max(f.max() for f in found) == 0


# -- Python's ints ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", having(lambda t: t.on_ints))
def test_python_and_numpy_agree_on_small_ints(name):
    op, arity = OPS[name], OPS[name].facts["arity"]
    for args in np.ndindex(*[5] * arity):
        args = [int(a) - 1 for a in args]
        guard = op.traits.guard
        if guard is not None and not OPS[guard.relation].run(args[1], 0):
            with pytest.raises((ZeroDivisionError, ValueError)) as caught:
                op.traits.on_ints(*args)
            assert caught.type.__name__ == guard.error
        elif name != "pow" or args[1] >= 0:
            assert op.traits.on_ints(*args) == op.run(*map(np.int64, args))


def test_guards_say_what_python_says():
    for name, f in {"div": operator.truediv, "floordiv": operator.floordiv, "left_shift": operator.lshift,
                    "right_shift": operator.rshift}.items():
        guard = OPS[name].traits.guard
        with pytest.raises((ZeroDivisionError, ValueError)) as caught:
            f(1, 0 if guard.relation == "not_equal" else -1)
        assert caught.type.__name__ == guard.error


@pytest.mark.parametrize("name", having(lambda t: t.on_ints))
def test_what_grows_grows_and_nothing_else(name):
    op = OPS[name]
    f, arity = op.traits.on_ints, op.facts["arity"]
    if not op.traits.grows:
        for args in np.ndindex(*[8] * arity):
            args = [int(a) for a in args]
            guard = op.traits.guard
            assert guard is not None and not args[1] or abs(f(*args)) <= max(1, *args)
        return
    x = 3
    for _ in range(60 if op.traits.grows == "steps" else 4):
        x = f(x, *[2] * (arity - 1))
    assert abs(x) > 100
    if op.traits.grows == "steps":                           # by 1, and by 0, no more than by a step
        assert all(abs(f(7, d)) <= 8 for d in (0, 1))


@pytest.mark.parametrize("name", having(lambda t: t.on_ints))
def test_affine_ops_are_affine_in_each_operand_and_no_other(name):
    """Second differences vanish."""
    op = OPS[name]
    f, arity = op.traits.on_ints, op.facts["arity"]
    points = [(a - 1, *[int(b) + 1 for b in rest]) for a, *rest in np.ndindex(*[4] * arity)]
    steps = [tuple(int(j == k) for j in range(arity)) for k in range(arity)]
    bends = [f(*[x - d for x, d in zip(point, step)]) - 2 * f(*point) + f(*[x + d for x, d in zip(point, step)])
             for point in points for step in steps if all(x - d > 0 for x, d in list(zip(point, step))[1:])]
    assert op.traits.affine == (not any(bends))


@pytest.mark.parametrize("name", having(lambda t: t.counts))
def test_numpy_does_not_count_truths(name):
    op = OPS[name]
    try:
        y = op.run(*[np.ones(2, bool)] * op.facts["arity"])
    except TypeError:
        return
    assert y.dtype != np.int64                               # as Python's operator would make of True


SPELT = {"gammaln": math.lgamma, "div": operator.truediv, "floordiv": operator.floordiv, "mod": operator.mod,
         "pow": operator.pow}
EXTREMES = (-2.0, -1.0, 0.0, 2.0, 1e4, 1e308, math.inf)


@pytest.mark.parametrize("name", having(lambda t: t.raises))
def test_python_raises_where_numpy_is_infinite_or_nan(name):
    op = OPS[name]
    f = SPELT.get(name) or getattr(math, op.text.replace("np.", "").partition("(")[0])
    second = [5000] if name == "ldexp" else [0.0, -1.0, 1e4]
    found = 0
    for args in [(x, *rest) for x in EXTREMES for rest in ([()] if op.facts["arity"] == 1 else [(b,) for b in second])]:
        try:
            f(*args)
        except (ValueError, OverflowError, ZeroDivisionError):
            found += not np.isfinite(op.run(*args))
    assert found


# -- elements and memory ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", having(lambda t: t.copies))
def test_copied_elements_are_operands_elements(name):
    op = OPS[name]
    for args, params in tried(op):
        given = args if op.traits.copies == ALL else args[:op.traits.copies]
        elements = ({v for a in given for v in np.asarray(a).ravel().tolist()}
                    | ({0.0} if op.kind == "resize" else set()))
        assert set(np.asarray(op.run(*args, **params)).ravel().tolist()) <= elements


def shared(op) -> tuple:
    """Of an op's calls with arrays: whether any result shares memory with the first operand, and whether one may write
    to it."""
    found, writeable = False, False
    for args, params in [*tried(op), *([] if op.samples or op.kind != "elementwise" else calls(op, complex))]:
        if not isinstance(args[0], np.ndarray) or not args[0].size:
            continue
        y = results(op.run(*args, **params))[0]
        if isinstance(y, np.ndarray) and y is not args[0] and np.shares_memory(args[0], y):
            found, writeable = True, y.flags.writeable
    return found, writeable


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if tried(op)])
def test_views_are_views_and_say_so(name):
    op = OPS[name]
    if "expand" not in op.facts:                             # a program has its formula in its place
        found, writeable = shared(op)
        assert (("write" if writeable else "read") if found else "") == op.traits.view


@pytest.mark.parametrize("name", having(lambda t: t.selects))
def test_the_selection_stands_behind_the_arrays(name):
    op = OPS[name]
    for args, params in calls(op):
        operands = args[op.traits.selects:]
        given = [o for _, _, given in walk_spec(params["spec"], operands) for o in given]
        assert len(given) == len(operands) and all(a is b for a, b in zip(given, operands))
        if op.traits.in_place:
            y = op.run(*args, **params)
            assert (y.shape, y.dtype) == (args[0].shape, args[0].dtype)
            alone = op.run(np.zeros_like(args[0]), *args[1:], **params)
            assert np.allclose(y, args[0] + alone) == op.traits.adds


@pytest.mark.parametrize("name", having(lambda t: t.order))
def test_results_lie_in_memory_as_their_trait_says(name):
    op = OPS[name]
    for args, params in calls(op):
        for order in "CF":
            given = [np.array(a, order=order) if np.ndim(a) > 1 else a for a in args]
            y = np.asarray(op.run(*given, **params))
            if op.traits.order == "C" or order == "C":
                assert y.flags.c_contiguous
            elif op.traits.order == "common" and y.ndim > 1:
                assert y.flags.f_contiguous


@pytest.mark.parametrize("name", having(lambda t: t.rowwise))
def test_rows_are_computed_one_by_one(name):
    op, x = OPS[name], rng_for(name).standard_normal((3, 4))
    np.testing.assert_allclose(op.run(x), np.array([op.run(row) for row in x]), rtol=1e-14, atol=1e-14)


def test_arrays_to_be_written_to_are_distinct():
    for name in having(lambda t: t.distinct):
        (args, params), = OWN[name]
        assert op_result(name, args, params) is not op_result(name, args, params)


def op_result(name, args, params):
    return OPS[name].run(*args, **params)


def test_a_barrier_is_the_identity():
    x = np.arange(3.0)
    assert having(lambda t: t.barrier) == ["barrier"] and OPS["barrier"].run(x) is x


# -- jumps, linearity, control, text ---------------------------------------------------------------


# SciPy rounds their first argument down, which is an integer by right
INTEGER_FIRST = {"smirnov", "smirnovi"}
POINTWISE = [name for name, op in OPS.items()
             if op.kind == "elementwise" and not op.samples and name not in INTEGER_FIRST]


def largest_jump(op) -> float:
    """The largest finite step of a float result within a hair's breadth of an argument that may vary."""
    domains, found = entries(op), 0.0
    for k, domain in enumerate(domains):
        for other in (0.5, 1.0, -0.7) if isinstance(domain, tuple) or domain == "complex" else ():
            args = [1 if isinstance(e, str) and e != "complex" else other if not isinstance(e, (int, float)) else e
                    for e in domains]
            for x in np.arange(-8, 9) / 4.0:
                low, high = [np.asarray(op.run(*args[:k], x + d, *args[k + 1:])) for d in (-1e-10, 1e-10)]
                if low.dtype.kind == "f" and max(abs(low), abs(high)) < 1e3:     # no pole
                    found = max(found, abs(high - low))
    return float(found)


@pytest.mark.parametrize("name", POINTWISE)
def test_what_jumps_says_so(name):
    op = OPS[name]
    try:
        assert (largest_jump(op) > 0.01) == op.traits.jumps
    except TypeError:                                        # it takes ints alone, or no Python numbers
        assert not op.traits.jumps


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if isinstance(op.derivative, LinearIn)])
def test_a_linear_op_is_linear_in_what_it_says(name):
    op, rng = OPS[name], rng_for(name)
    for args, params in calls(op):
        for k in op.derivative.args[:len(args)]:
            x, y = np.asarray(args[k]), rng.standard_normal(np.shape(args[k]))[()]

            def at(z, k=k, args=args, params=params):
                return np.asarray(op.run(*args[:k], z, *args[k + 1:], **params))
            np.testing.assert_allclose(at((2.0 * x - 3.0 * y)[()]), 2.0 * at(x[()]) - 3.0 * at(y), rtol=1e-9, atol=1e-9)


def test_ops_with_regions_say_how_they_run_them():
    assert {name for name, op in OPS.items() if op.kind == "control"} == set(having(lambda t: t.control))


@pytest.mark.parametrize("name", having(lambda t: t.bool_text))
def test_the_text_for_truths_is_right(name):
    op, arity = OPS[name], OPS[name].facts["arity"]
    for args in np.ndindex(*[2] * arity):
        truths = [bool(a) for a in args]
        try:
            wanted = op.run(*map(np.bool_, truths))
        except TypeError:
            continue
        assert bool(eval(op.traits.bool_text.format(*truths))) == bool(wanted)


@pytest.mark.parametrize("name", OPS)
def test_traits_fit_together(name):
    op, traits = OPS[name], OPS[name].traits
    assert traits.stem.isidentifier()
    assert not (traits.rounds and traits.view)
    assert traits.cost is not Cost.FLOP or op.kind == "elementwise"
    assert not traits.adds or traits.in_place and traits.selects
    assert not traits.grows or traits.on_ints is not None
