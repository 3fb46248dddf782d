"""Record arrays: fields are read and written, of arrays from outside and of the function's own, by field and by record.
"""
import numpy as np
import pytest

import fad
from fad.util.errors import FadError

from ..turns import in_tiers

PARTICLE = np.dtype([("at", float, 2), ("speed", float, 2), ("mass", float), ("kind", int)])
NESTED = np.dtype([("pose", [("x", float), ("y", float)]), ("w", float)])
X = np.array([0.5, 0.8])
PROGRAMS = {}


def particles(n=4):
    p = np.zeros(n, PARTICLE)
    p["at"] = np.arange(2 * n).reshape(n, 2) * 0.3
    p["speed"], p["mass"], p["kind"] = 0.1, np.arange(n) + 1.0, np.arange(n) % 2
    return p


def program(f):
    PROGRAMS[f.__name__] = f
    return f


@program
def reads(x, p):
    return np.sum(p["at"] * x[0]) + np.sum(p["mass"] ** x[1])


@program
def reads_by_record(x, p):
    return sum(p["mass"][i] * x[0] * p[i]["at"][1] for i in range(len(p)))


@program
def iterates(x, p):
    s = 0.0
    for one in p:
        s += one["mass"] * x[0] + np.sum(one["at"] ** 2) * x[1]
    return s


@program
def enumerates(x, p):
    return sum(k * one["mass"] ** x[0] for k, one in enumerate(p)) + sum(m * a[0] for m, a in zip(p["mass"], p["at"]))


@program
def writes_fields(x, p):
    p["speed"][:] = x
    p["at"] += 0.1 * p["speed"]
    return np.sum(p["at"] ** 2)


@program
def writes_by_record(x, p):
    for i in range(len(p)):
        p[i]["at"] = x * p[i]["mass"]
        p["mass"][i] += x[1]
        p[i]["speed"][0] *= x[0]
    return np.sum(p["at"] @ x) * np.sum(p["mass"]) + np.sum(p["speed"])


@program
def integrates(x, p):
    for _ in range(5):
        force = -x[0] * p["at"] / p["mass"][:, None]
        p["speed"] += 0.1 * force
        p["at"] += 0.1 * p["speed"]
    return np.sum(p["mass"] * np.sum(p["speed"] ** 2, axis=1))


@program
def pairs(x, p):
    energy = 0.0
    for i in range(len(p)):
        for j in range(i):
            d = p["at"][i] - p["at"][j] * x[0]
            energy += p[i]["mass"] * p[j]["mass"] / np.sqrt(d @ d + x[1])
    return energy


@program
def views(x, p):
    q = p[1:]
    q["mass"] *= x[0]
    r = p[::2]
    r["at"][0] = x
    return np.sum(p["mass"]) + np.sum(p["at"] ** 2) + np.sum(q[0]["at"]) + q["at"].sum()


@program
def selections_are_copies(x, p):
    q = p[p["mass"] > 1.5]
    q["mass"] *= x[0]
    r = p[[0, 2]]
    r["mass"] += x[1]
    return np.sum(p["mass"]) * np.sum(q["mass"]) + np.sum(r["mass"])


@program
def copies(x, p):
    q, r = p.copy(), np.copy(p)
    q["at"] *= x[0]
    r[0]["mass"] = x[1]
    return np.sum(p["at"]) + np.sum(q["at"] ** 2) * np.sum(r["mass"])


@program
def made_here(x, p):
    q = np.zeros(3, PARTICLE)
    q["at"] = 1.0
    q["at"][:, 0] = x[0]
    q["mass"] = x[1]
    q["kind"][1] = 2
    return np.sum(q["at"] ** 2) * np.sum(q["mass"] * q["kind"])


@program
def like_another(x, p):
    q = np.empty_like(p)
    q["mass"], q["at"] = p["mass"] * x[0], np.ones(2)
    r = np.zeros_like(p)
    r[1:] = q[1:]
    r[0] = p[1]
    return np.sum(r["mass"] ** 2) + np.sum(r["at"])


@program
def from_tuples(x, p):
    q = np.array([(x[0], 1.0), (2.0, x[1])], dtype=[("a", float), ("b", float)])
    q[0] = (x[1], 3.0)
    q[["a", "b"]][1]["a"] *= 2.0
    return np.sum(q["a"] * q["b"])


@program
def nested(x, p):
    q = np.zeros(3, NESTED)
    q["pose"]["x"] = x[0]
    q[1]["pose"]["y"] = x[1]
    q["w"] = q["pose"]["x"] * 2.0
    return np.sum(q["w"] * q["pose"]["x"]) + q["pose"]["y"] @ np.arange(3.0)


@program
def a_branch_writes(x, p):
    if x[0] > p["mass"][0] * 0.3:
        p["mass"][1] = x[1]
    else:
        p["at"][0] = x
    return np.sum(p["mass"] ** 2) + np.sum(p["at"])


@program
def either_of_two(x, p):
    q = p.copy()
    r = p if x[0] > 0.2 else q
    return np.sum(r["mass"] * x[1])


@program
def by_kind(x, p):
    s = 0.0
    for one in p:
        if one["kind"] == 1:
            s += one["mass"] * x[0]
        else:
            s -= one["mass"] * x[1]
    return s + np.sum(p["mass"][p["kind"] == 0]) * x[0]


@program
def while_data(x, p):
    k = 0
    while p["mass"][k] * x[0] < 1.2:
        p["mass"][k] *= 2.0
        k += 1
    return np.sum(p["mass"]) * x[1]


@program
def joined(x, p):
    q = p.copy()
    q["mass"] *= x[0]
    r = np.concatenate([p, q])
    return np.sum(r["mass"] ** 2) * len(r) + r.size + r.shape[0] + r.ndim


@program
def asks(x, p):
    ok = isinstance(p, np.ndarray) and p.dtype.names[0] == "at" and "mass" in p.dtype.names and p.shape == (4,)
    return x[0] * 2.0 if ok and p.dtype["at"].shape == (2,) else x[1]


@program
def of_matrices(x, p):
    q = np.zeros((2, 3), [("u", float), ("v", float)])
    q["u"] = np.arange(3.0) * x[0]
    q[1]["v"] = x[1]
    q[0, 1]["v"] = 7.0 * x[0]
    return np.sum(q["u"] * q["v"]) + np.sum(q[:, 1]["u"])


@program
def helpers(x, p):
    def kick(one, h):
        one["speed"] -= h * one["at"]

    def energy(p):
        return 0.5 * np.sum(p["mass"][:, None] * p["speed"] ** 2)
    for one in p:
        kick(one, x[0])
    return energy(p) * x[1]


@program
def inner_gradient(x, p):
    def g(q):
        return np.sum(q[0] * p["mass"]) + q[1] * p["at"][0, 1]
    return fad.grad(g)(x) @ x


def by_argument(f):
    """The records are made anew in each call."""
    return lambda: (lambda x: f(x, particles())), None


def by_closure(f):
    p = particles()
    return (lambda x: f(x, p)), p


def slopes(make, calls):
    """The gradient of the last of these calls by differences."""
    h = 1e-6

    def last(x):
        f, _ = make()
        for k in range(calls):
            f(X + 0.05 * k)
        return f(x)
    at = X + 0.05 * calls
    return [(last(at + h * e) - last(at - h * e)) / (2 * h) for e in np.eye(2)]


@pytest.mark.parametrize("name, policy", in_tiers(PROGRAMS))
def test_records_from_outside(name, policy):
    f, p = by_closure(PROGRAMS[name])
    plain, q = by_closure(PROGRAMS[name])
    g = fad.value_and_grad(f)
    with fad.config.using(compile=policy, fallback=False):
        for k in range(3):
            value, gradient = g(X + 0.05 * k)
            assert value == pytest.approx(plain(X + 0.05 * k), rel=1e-12)
            for field in PARTICLE.names:
                np.testing.assert_allclose(p[field], q[field], rtol=1e-12)
    np.testing.assert_allclose(gradient, slopes(lambda: by_closure(PROGRAMS[name]), 2), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", PROGRAMS)
def test_so_they_are_on_the_tape(name):
    f, p = by_closure(PROGRAMS[name])
    staged, q = by_closure(PROGRAMS[name])
    value, gradient = fad.value_and_grad(f).on_tape((X,), {})
    want = fad.value_and_grad(staged)(X)
    assert value == pytest.approx(want[0], rel=1e-12)
    np.testing.assert_allclose(gradient, want[1], rtol=1e-11)
    for field in PARTICLE.names:
        np.testing.assert_allclose(p[field], q[field], rtol=1e-12)


def test_new_contents_need_no_new_trace():
    p = particles()
    g = fad.grad(lambda x: np.sum(p["mass"] * x[0]) * x[1])
    g(X)
    p["mass"] = 5.0
    np.testing.assert_allclose(g(X), [20.0 * X[1], 20.0 * X[0]])
    assert [len(found) for found in g.programs.values()] == [1]


def test_texts_are_read_and_guarded():
    p = np.zeros(3, [("name", "U4"), ("v", float)])
    p["name"], p["v"] = ["a", "b", "a"], [1.0, 2.0, 3.0]
    g = fad.grad(lambda x: np.sum(p["v"][p["name"] == "a"]) * x[0])
    with fad.config.using(fallback=False):
        assert g(X)[0] == 4.0
        p["name"][0] = "c"
        assert g(X)[0] == 3.0


def test_what_only_numpy_can_do_is_done_as_long_as_nothing_is_written():
    p = particles()
    p["mass"] = [3.0, 1.0, 2.0, 5.0]

    def f(x):
        q = np.sort(p, order="mass")
        return q["mass"] @ np.arange(4.0) * x[0]
    g = fad.grad(f)
    with fad.config.using(fallback=False):
        assert g(X)[0] == pytest.approx(2.0 + 6.0 + 15.0)
        p["mass"][0] = 7.0
        assert g(X)[0] == pytest.approx(2.0 + 10.0 + 21.0)

    def late(x):
        p["mass"][0] = x[0]
        return np.sum(np.sort(p, order="mass")["mass"])
    before = p.copy()
    with pytest.raises(FadError, match="record array"):
        fad.grad(late)(X)
    np.testing.assert_array_equal(p, before)


def test_records_are_returned_and_left_as_numpys():
    class Holder:
        last = None
    p, o = particles(), Holder()

    def f(x):
        q = p.copy()
        q["mass"] *= x[0]
        o.last = q.copy()
        return q, np.sum(q["mass"])
    for transform in (fad.jit(f), lambda x: fad.value_and_grad(lambda y: f(y)[::-1], has_aux=True)(x)[0][::-1]):
        found, total = transform(X)
        assert type(found) is np.ndarray and found.dtype == PARTICLE
        np.testing.assert_allclose(found["mass"], p["mass"] * X[0])
        np.testing.assert_allclose(found["at"], p["at"])
        assert total == pytest.approx(5.0)
        assert type(o.last) is np.ndarray and o.last.dtype == PARTICLE
        np.testing.assert_allclose(o.last["mass"], p["mass"] * X[0])


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_a_record_array_that_is_handed_on_stays_that_array():
    class Holder:
        pass
    p, o = particles(), Holder()
    o.all = []

    def f(x):
        o.last = p
        o.all = [p]
        return np.sum(p["mass"]) * x[0], p
    _, found = fad.jit(f)(X)
    assert found is p and o.last is p and o.all[0] is p


@pytest.mark.parametrize("change", ["p['nix'] = 1.0", "p['nix']", "p[0]['nix']", "p[['mass', 'nix']]", "p[9]['mass']"])
def test_errors_are_numpys(change):
    p = particles()
    scope = {"p": p, "np": np}
    exec(f"def f(x):\n    {change}\n    return x[0]", scope)
    with pytest.raises((ValueError, KeyError, IndexError)) as want:
        scope["f"](X)
    with pytest.raises(want.type if want.type is not KeyError else (KeyError, ValueError)):
        fad.jit(scope["f"])(X)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("kind", [np.ndarray, np.recarray])
def test_records_of_an_argument_are_written_to_once(kind):
    """The trace wrote to the argument's memory, and then the call did so again."""
    def f(p):
        for one in p:
            one["mass"] = one["mass"] * 2.0
        p[0]["kind"] += 1

    python, under_fad = particles().view(kind), particles().view(kind)
    g = fad.jit(f, compile="never")
    for _ in range(3):
        f(python)
        g(under_fad)
        assert under_fad.tobytes() == python.tobytes()
