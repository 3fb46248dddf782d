"""Draws of random numbers in traced functions: the same numbers as plain Python draws, from the same generators, at
each call, and compiled.
"""
import datetime
import functools
import os
import random
import time
import warnings

import numpy as np
import pytest
from scipy import stats

import fad
from fad.trace.objects.draws import put_state

from ..turns import in_turn

X = np.array([0.5, -1.25, 2.0])
DATA = np.random.default_rng(0).normal(size=(40, 3))
LABELS = np.where(DATA[:, 0] > 0, 1.0, -1.0)
RNG, OLD, PYTHONS = np.random.default_rng(3), np.random.RandomState(4), random.Random(5)


def generators():
    return [RNG, OLD, PYTHONS, np.random.rand.__self__, random.random.__self__]


def states():
    return [g.bit_generator.state if isinstance(g, np.random.Generator) else
            g.get_state(legacy=True) if isinstance(g, np.random.RandomState) else g.getstate() for g in generators()]


def reset():
    RNG.bit_generator.state = np.random.default_rng(3).bit_generator.state
    put_state(RNG.bit_generator.seed_seq, 0)
    OLD.seed(4)
    np.random.seed(6)
    PYTHONS.seed(5)
    random.seed(7)


def as_text(state):
    return [
        repr(s) if not isinstance(s, tuple) or not isinstance(s[1], np.ndarray) else repr((s[0], s[1].tobytes(), s[2:]))
        for s in state
    ]


# -- straight lines: methods -----------------------------------------------------------------------------------------

EXPRESSIONS = """
np.sum(x * RNG.normal(size=3))
np.sum(x * RNG.normal(size=x.shape))
np.sum(x * RNG.standard_normal(len(x)))
x[0] * RNG.random()
np.sum(x * RNG.uniform(-1.0, 2.0, size=(2, 3)))
x[RNG.integers(0, 3)]
np.sum(x[RNG.integers(0, 3, 5)] ** 2)
np.sum(x[RNG.permutation(3)] * np.arange(3.0))
np.sum(RNG.permutation(x) * np.arange(3.0))
np.sum(RNG.choice(x, 2, replace=False) * np.array([1.0, 2.0]))
RNG.choice(x) * 2.0
np.mean(np.log1p(np.exp(-LABELS[i := RNG.choice(40, 8, replace=False)] * (DATA[i] @ x))))
np.mean(DATA[RNG.permutation(40)[:8]] @ x)
np.sum(RNG.choice(DATA, 4, axis=0) @ x)
np.sum(x * RNG.exponential(2.0, 3))
np.sum(x * RNG.gamma(2.0, size=3))
np.sum(x * RNG.beta(1.0, 2.0, size=3))
np.sum(x * RNG.poisson(3.0, size=3))
np.sum(x * RNG.binomial(5, 0.3, 3))
np.sum(x * RNG.multivariate_normal(np.zeros(3), np.eye(3)))
np.sum(x * RNG.standard_t(3.0, 3))
np.sum(x * RNG.dirichlet([1.0, 2.0, 3.0]))
np.sum(RNG.normal(x, 0.5))
np.sum(RNG.normal(x, np.exp(x)))
np.sum(RNG.normal(loc=x[0], scale=np.exp(x[1]), size=4))
RNG.normal(x[0], 2.0)
np.sum(RNG.uniform(x, x + 1.0))
np.sum(RNG.exponential(np.exp(x)))
np.sum(RNG.laplace(x, 1.0)) + np.sum(RNG.gumbel(x, 1.0)) + np.sum(RNG.logistic(0.0, np.exp(x)))
np.sum(x * RNG.random(3, dtype=np.float32))
np.sum(x * (RNG.random(3) < 0.5) / 0.5)
np.sum(np.where(RNG.random(3) < 0.5, x, 0.0))
x[0] if RNG.random() < 0.5 else x[1] * 2.0
np.sum(x * OLD.randn(3))
np.sum(x * OLD.rand(len(x)))
x[OLD.randint(3)]
np.sum(x * OLD.normal(1.0, 2.0, 3))
np.sum(x[OLD.permutation(3)] * np.arange(3.0))
np.sum(OLD.normal(x, 0.5))
np.sum(OLD.choice(x, 2))
np.sum(x * np.random.randn(*x.shape))
np.sum(x * np.random.rand(3))
x[0] * np.random.random()
np.sum(x * np.random.normal(size=x.size))
x[np.random.randint(0, 3)]
np.sum(x[np.random.choice(3, 2, replace=False)])
x[0] * np.random.uniform()
x[0] * PYTHONS.random()
x[0] * PYTHONS.gauss(0.0, 1.0)
x[PYTHONS.randrange(3)]
x[PYTHONS.randint(0, 2)]
PYTHONS.choice(x) * 2.0
PYTHONS.gauss(x[0], 2.0)
PYTHONS.uniform(x[0], x[2])
sum(PYTHONS.sample([x[0], x[1], x[2]], 2))
x[0] * random.random()
x[0] * random.uniform(1.0, 2.0)
x[0] * PYTHONS.choice([1.0, 2.0, 3.0])
x[0] * sum(PYTHONS.sample([1.0, 2.0, 3.0], 2))
x[0] * random.gauss(0, 1)
x[0] * (RNG.random() + OLD.rand() * RNG.random())
x[0] * float(RNG.normal()) + int(RNG.integers(5))
x[0] * stats.norm.rvs(size=2, random_state=RNG)[1]
x[0] * np.random.default_rng(RNG.integers(1000)).normal()
x[0] * np.random.default_rng(RNG).normal()
x[0] * RNG.spawn(2)[1].normal()
x[0] * np.random.Generator(RNG.bit_generator).normal()
x[0] * random.Random(PYTHONS.random()).random()
np.sum(x * RNG.normal(size=(len(x), 3))[1])
np.sum(x * RNG.normal(size=2 * len(x))[::2])
np.sum(x * RNG.integers(0, 9, size=3))
np.sum(np.outer(x, RNG.normal(size=4)) @ RNG.normal(size=(4, 2)))
""".strip().splitlines()


def compare(f, arguments=(X,), calls=4, slopes=True):
    """Calls of jit and of value_and_grad, interpreted and compiled, draw what plain calls draw, and leave the
    generators where they do.
    """
    reset()
    expected = [f(*arguments) for _ in range(calls)]
    after = as_text(states())
    with warnings.catch_warnings():
        warnings.simplefilter("error", fad.FallbackWarning)
        for policy in ("never", "now"):
            with fad.config.using(compile=policy):
                for transform in (fad.jit, fad.value_and_grad) if slopes else (fad.jit,):
                    g = transform(lambda *a: f(*a))
                    reset()
                    results = [g(*arguments) for _ in range(calls)]
                    assert as_text(states()) == after, (policy, transform)
                    values = results if transform is fad.jit else [value for value, _ in results]
                    np.testing.assert_allclose(values, expected, rtol=1e-12, err_msg=f"{policy} {transform}")


def slope_by_differences(f, k, h=1e-6):
    e = np.eye(3)[k] * h
    reset()
    up = f(X + e)
    reset()
    return (up - f(X - e)) / (2 * h)


def program(text, folder):
    """A function of this expression in a file of its own, so that its text is at hand."""
    path = folder / "program.py"
    path.write_text(f"def f(x):\n    return {text}\n")
    scope = {"np": np, "RNG": RNG, "OLD": OLD, "PYTHONS": PYTHONS, "DATA": DATA, "LABELS": LABELS, "random": random,
             "stats": stats}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("text", in_turn(EXPRESSIONS))
def test_each_draw_is_pythons(text, tmp_path):
    f = program(text, tmp_path)
    compare(f)
    reset()
    slope = fad.grad(f)(X)
    np.testing.assert_allclose(slope, [slope_by_differences(f, k) for k in range(3)], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("text", in_turn(EXPRESSIONS, turn=1))
def test_draws_on_the_tape_are_pythons(text, tmp_path):
    """A function that runs on the tape for another reason was refused for the draws that a program can make."""
    f = program(text, tmp_path)
    reset()
    wanted, after = f(X), as_text(states())
    reset()
    value, slope = fad.value_and_grad(f).on_tape((X,), {})
    assert as_text(states()) == after
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    np.testing.assert_allclose(slope, [slope_by_differences(f, k) for k in range(3)], rtol=1e-5, atol=1e-7)


# -- positions -------------------------------------------------------------------------------------------------------


def helper(x, rng):
    return x * rng.normal(size=x.shape)


def in_a_helper(x):
    return np.sum(helper(x, RNG)) + np.sum(helper(x, OLD))


class Model:
    shared = RNG

    def __init__(self):
        self.rng = OLD

    def noise(self, n):
        return self.rng.normal(size=n)

    def __call__(self, x):
        return np.sum(x * self.noise(3)) + self.shared.random()


def in_a_method(x):
    return MODEL(x) + np.sum(MODEL.noise(2))


MODEL = Model()


def in_a_default(x, rng=RNG):
    return x[0] * rng.normal()


def by_name(x, *, draw=RNG.standard_normal):
    return x[0] * draw() + np.sum(draw(2))


def in_a_loop(x):
    s = x[0] * 0.0
    for k in range(12):
        s = s * 0.5 + RNG.normal() * x[1] * k
    return s


def arrays_in_a_loop(x):
    s = 0.0
    for _ in range(10):
        s = s + np.sum(np.tanh(x * RNG.normal(size=3)))
    return s


def several_in_a_loop(x):
    s = 0.0
    for k in range(10):
        a, b = RNG.normal(), OLD.rand(3)
        s = s + a * np.sum(x * b) + RNG.integers(5) * x[k % 3] + random.random()
    return s


def in_a_nest(x):
    s = 0.0
    for _ in range(9):
        s = s + RNG.random() * x[0]
        for _ in range(10):
            s = s + RNG.normal(size=2)[1] * x[1]
        s = s * 0.9 + RNG.uniform()
    return s


def in_a_loop_over_rows(x):
    s = 0.0
    for row in np.outer(x, x):
        s = s + np.sum(row * RNG.normal(size=3))
    return s


def of_unknown_count(x):
    s = 0.0
    for k in range(len(x)):
        s = s + x[k] * RNG.exponential(2.0)
    return s


def in_a_comprehension(x):
    return np.sum(np.array([RNG.normal() for _ in range(12)])) * x[0] + sum([x[0] * OLD.rand() for _ in range(3)])


def in_numbers_alone(x):
    s = 0.0
    for _ in range(20):
        s += RNG.normal()
    return s * x[0]


def thrown_away(x):
    for _ in range(3):
        RNG.normal()
    RNG.random(5)
    return x[0] * RNG.normal()


def written_to(x):
    z = RNG.normal(size=3)
    z[0] = x[1]
    z *= 2.0
    return np.sum(z * x)


def shuffled(x):
    y = x * 1.0
    RNG.shuffle(y)
    order = list(range(3))
    PYTHONS.shuffle(order)
    s = 0.0
    for k, i in enumerate(order):
        s = s + k * y[i]
    return s


def seeded_outside(x):
    np.random.seed(3)
    random.seed(4)
    return x[0] * np.random.rand() * random.random()


def seeds(x):
    RNG.normal()
    inner = np.random.default_rng(5)
    return x[0] * inner.normal() * RNG.normal() + inner.random()


def minibatches(x):
    w, order = x, RNG.permutation(40)
    for k in range(4):
        i = order[k * 10 : (k + 1) * 10]
        r = 1.0 / (1.0 + np.exp(LABELS[i] * (DATA[i] @ w)))
        w = w + 0.1 * (LABELS[i] * r) @ DATA[i]
    return np.sum(w**2)


def a_branch_on_a_draw(x):
    s = 0.0
    for k in range(10):
        if RNG.random() < 0.4:
            s = s + x[0] * k
        else:
            s = s - x[1]
    return s


def metropolis(x):
    z, s = x[0], 0.0
    for _ in range(30):
        proposal = z + 0.5 * RNG.normal()
        if np.log(RNG.random()) < -0.5 * proposal**2 + 0.5 * z**2:
            z = proposal
        s = s + z * x[1]
    return s


def variational(x):
    z = x[0] + np.exp(x[1]) * RNG.standard_normal(32)
    return np.mean(0.5 * (z - 1.0) ** 2) - x[1]


def of_lists_that_change(x):
    size, bounds = [2, len(x)], [0, 2]
    z, k = RNG.normal(size=size), RNG.integers(bounds, 5)
    size.append(5)
    bounds[0] = 4
    return np.sum(z @ x) + x[0] * k[0] + x[1] * k[1] * bounds[0]


POSITIONS = [
    in_a_helper,
    in_a_method,
    in_a_default,
    by_name,
    in_a_loop,
    arrays_in_a_loop,
    several_in_a_loop,
    in_a_nest,
    in_a_loop_over_rows,
    of_unknown_count,
    in_a_comprehension,
    in_numbers_alone,
    thrown_away,
    written_to,
    shuffled,
    seeded_outside,
    seeds,
    minibatches,
    a_branch_on_a_draw,
    metropolis,
    variational,
    of_lists_that_change,
]


@pytest.mark.parametrize("f", POSITIONS, ids=lambda f: f.__name__)
def test_draws_wherever_they_are(f):
    compare(f)
    reset()
    slope = fad.grad(f)(X)
    np.testing.assert_allclose(slope, [slope_by_differences(f, k) for k in range(3)], rtol=1e-5, atol=1e-7)


# -- what is new at each call ----------------------------------------------------------------------------------------


def unseeded_generator(x):
    return np.sum(x * np.random.default_rng().normal(size=3))


def unseeded_random(x):
    return np.sum(x) * random.Random().random()


def unseeded_bits(x):
    return np.sum(x) * np.random.Generator(np.random.PCG64()).random()


def unseeded_state(x):
    rng, s = np.random.RandomState(), 0.0
    for _ in range(20):
        s = s + rng.rand() * x[0]
    return s


def of_the_system(x):
    return np.sum(x) * random.SystemRandom().random()


def clock(x):
    return np.sum(x) * time.perf_counter()


def two_clocks(x):
    start = time.perf_counter_ns()
    return np.sum(x) + (time.perf_counter_ns() - start) * 1e-9 + time.time()


@pytest.mark.parametrize(
    "f",
    [unseeded_generator, unseeded_random, unseeded_bits, unseeded_state, of_the_system, clock, two_clocks],
    ids=lambda f: f.__name__,
)
def test_what_is_new_at_each_call(f):
    with warnings.catch_warnings():
        warnings.simplefilter("error", fad.FallbackWarning)
        for policy in ("never", "now"):
            with fad.config.using(compile=policy):
                g, h = fad.jit(lambda x: f(x)), fad.value_and_grad(lambda x: f(x))
                assert len({float(g(X)) for _ in range(6)}) == len({float(h(X)[0]) for _ in range(6)}) == 6


def test_files_are_read_at_each_call(tmp_path):
    one, several, many = tmp_path / "one.txt", tmp_path / "several.npy", tmp_path / "many.txt"

    def write(k):
        one.write_text(str(k))
        np.save(several, np.arange(3.0) + k)
        np.savetxt(many, np.full(3, 2.0 * k))

    def f(x):
        return (
            np.sum(x) * float(np.loadtxt(one))
            + np.sum(np.load(several) * x)
            + np.sum(x) * np.mean(np.loadtxt(str(many)))
        )

    g = fad.value_and_grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error", fad.FallbackWarning)
        for k in range(4):
            write(k)
            value, slope = g(X)
            np.testing.assert_allclose(value, f(X))
            np.testing.assert_allclose(slope, k + np.arange(3.0) + k + 2.0 * k)
    np.savetxt(many, np.full((3, 3), 2.0))  # of another shape
    with pytest.warns(fad.FallbackWarning, match="of another type or shape"):
        np.testing.assert_allclose(g(X)[0], f(X))


def test_what_is_read_as_text_is_read_at_each_call(tmp_path):
    path = tmp_path / "n.txt"

    def f(x):
        with open(path) as file:
            return np.sum(x) * float(file.read()) + len(path.read_text()) + float(path.exists())

    g = fad.jit(f)
    path.write_text("1.0")
    with pytest.warns(fad.FallbackWarning, match="use up what it reads"):
        np.testing.assert_allclose(g(X), f(X))
    path.write_text("25.0")
    np.testing.assert_allclose(g(X), f(X))


# -- where it is not a program ---------------------------------------------------------------------------------------


def in_a_branch(x):
    return x[0] * RNG.normal() if x[0] > 0 else x[1] * RNG.random() + RNG.normal()


def in_a_while_loop(x):
    s = x[0] * 0.0
    while s < 3.0:
        s = s + RNG.random() * x[2]
    return s


def before_a_break(x):
    s = x[0] * 0.0
    for _ in range(20):
        s = s + RNG.random()
        if s > 2.0:
            break
    return s * x[1]


def by_a_function_of_the_library(x):
    return sum(map(RNG.normal, [1.0, 2.0])) * x[0]


def of_a_size_that_is_drawn(x):
    return np.sum(RNG.normal(size=RNG.integers(1, 5))) * x[0]


def beside_a_power_that_is_no_int(x):
    s = x[0] * RNG.normal()
    for k in range(9):
        s = s + x[1] * (k + 1) ** (k - 1)
    return s


def of_two_kinds(x):
    return x[0] * PYTHONS.choice([1, 2.5, 3.5, 4])


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize(
    "f",
    [in_a_branch, in_a_while_loop, before_a_break, by_a_function_of_the_library, of_a_size_that_is_drawn, of_two_kinds,
     beside_a_power_that_is_no_int],
    ids=lambda f: f.__name__,
)
def test_draws_that_depend_on_data_are_made_on_the_tape(f):
    reset()
    expected = [f(X) for _ in range(6)]
    after = as_text(states())
    for transform in (fad.jit, fad.value_and_grad):
        g = transform(lambda x: f(x))
        reset()
        results = [g(X) for _ in range(6)]
        np.testing.assert_allclose([r if transform is fad.jit else r[0] for r in results], expected)
        assert as_text(states()) == after


WITHOUT_TEXT = [
    "np.sum(x) * np.random.default_rng().random()",
    "np.sum(x) * time.perf_counter()",
    "np.sum(x) * random.Random().random()",
    "np.sum(x) * np.random.RandomState().rand()",
    "np.sum(x) * datetime.datetime.now().timestamp()",
    "np.sum(x) * perf_counter()",
    "np.sum(x) * np.sum(np.frombuffer(os.urandom(4), np.uint8) * [1.0, 1e2, 1e4, 1e6])",
]


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("text", WITHOUT_TEXT)
@pytest.mark.parametrize("has_text", [False, True])
def test_nothing_new_is_frozen_where_code_is_not_rewritten(text, has_text, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"def f(x):\n    return {text}\n")
    scope = {
        "np": np,
        "time": time,
        "random": random,
        "datetime": datetime,
        "os": os,
        "perf_counter": time.perf_counter,
    }
    exec(compile(path.read_text(), str(path) if has_text else "<nowhere>", "exec"), scope)
    for transform in (fad.jit, fad.grad):
        g = transform(scope["f"])
        assert len({float(np.sum(g(X))) for _ in range(5)}) == 5


def test_a_function_with_a_cache_that_draws_draws_once():
    """Its first call fills the cache, in Python's order; nothing is drawn while tracing."""
    def run(transform):
        rng = np.random.default_rng(0)

        @functools.lru_cache
        def kept(k):
            return rng.normal()
        f = transform(lambda x: np.sum(x) * kept(1) + rng.normal())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            return [float(f(np.ones(3))) for _ in range(3)] + [rng.normal()]
    np.testing.assert_allclose(run(fad.jit), run(lambda f: f))
