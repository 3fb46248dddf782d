"""Functions and classes are in traced code what they are in Python: the same objects, whichever way they are reached;
and what they read is seen."""
import functools
import importlib
import math  # noqa: F401 - named by questions, as is types
import operator
import types  # noqa: F401
import zipfile

import numpy as np
import pytest
from scipy import special

import fad
from fad.trace.frontend.syntax import rewritten_code

from ..texts import executed

ACT, FUNCTIONS = np.tanh, [np.sin, sum, float]
TABLE = {np.tanh: 1, np.sin: 2, float: 3, len: 4, np.ndarray: 5, special.expit: 8}
RATE = 2.0


def user(x):
    return x * RATE


def other(x):
    return x


USERS, NUMBERED, ALIAS = [user, other], {user: 1, other: 2}, user


class Holder:
    act, kind, method = staticmethod(np.sin), float, staticmethod(user)

    def bound(self):
        return 1

    def __init__(self):
        self.f, self.g, self.u, self.n, self.h = np.exp, special.expit, user, np.linalg.norm, self.bound


o = Holder()


def compared(fn, d=np.cos):
    return fn is np.sin, d is np.cos, fn in (np.sin, np.cos), fn == np.sin


QUESTIONS = """
ACT is np.tanh; ACT == np.tanh; ACT is not np.tanh; ACT not in (np.tanh,); TABLE[np.tanh]; TABLE[ACT]
FUNCTIONS[0] is np.sin; FUNCTIONS[1] is sum; FUNCTIONS[2] is float; Holder.act is np.sin; o.kind is float; o.f is np.exp
o.g is special.expit; o.n is np.linalg.norm; fn is np.exp; compared(np.sin); TABLE[float]; TABLE[len]
TABLE.get(np.ndarray); TABLE.get(special.expit); np.sin in FUNCTIONS; FUNCTIONS.index(np.sin); FUNCTIONS.index(float)
math.sin is math.sin; {np.sin: 5}[np.sin]; np.sin in TABLE; sum in FUNCTIONS; {"a": float}["a"] is float; fn.__name__
hash(ACT) == hash(np.tanh); id(user) == id(ALIAS); [float].index(float); (lambda: np.sin)() is np.sin; ALIAS is user
NUMBERED[user]; NUMBERED[ALIAS]; NUMBERED.get(other); USERS.index(user); user in USERS; USERS[0] is user; o.u is user
Holder.method is user; o.bound == o.bound; o.h == o.bound; o.bound.__func__ is Holder.bound; type(o) is Holder
o.__class__ is Holder; {Holder: 1}[type(o)]; {float: 1}[type(1.0)]; TABLE[type(2.0)]; {float: 1, int: 2}[type(3)]
{float: "f"}.get(type(np.float64(1))); type(1.0) is float; float is type(1.0); type(1) in (int, float)
type(RATE) is float; type(user) is types.FunctionType; isinstance(user, types.FunctionType)
isinstance(np.sin, np.ufunc); isinstance(len, types.BuiltinFunctionType); isinstance(np.mean, types.FunctionType)
isinstance(float, type); issubclass(float, object); callable(np.sin); user.__name__; user.__code__.co_argcount
user.__module__; user.__defaults__; compared.__defaults__[0] is np.cos; np.sin.nin; np.add.identity; np.mean.__name__
getattr(np, "sin") is np.sin; functools.partial(user, 1).func is user; {user, user} == {user}
len({np.sin, ACT, np.sin}); sorted(USERS, key=lambda f: f.__name__)[1] is user; max([1, 2], key=float)
list(map(type, [1.0, 2])) == [float, int]; dict(a=np.sin)["a"] is np.sin
[g for g in FUNCTIONS if g is np.sin] == [np.sin]; (np.sin, np.cos) == (FUNCTIONS[0], np.cos); np.float64 is np.float64
np.dtype(float) == float; np.zeros(2, dtype=float).dtype.type is np.float64; str(float); repr(np.sin); str(user)[:14]
print is print; float.__name__; operator.add is operator.add; ALIAS == user; user != other; user is not other
o.f in (np.exp,); [o.f].count(np.exp); bool({np.exp} & {o.f}); type(x) is np.ndarray; type(x[0]) is np.float64
type(x[0] * 2.0) in (float, np.float64); type(x.shape) is tuple; type(len(x)) is int; type(range(3)) is range
type(zip([1], [2])) is zip; type(enumerate([])) is enumerate; np is np; operator.is_(np.sin, FUNCTIONS[0])
operator.eq(user, ALIAS); operator.contains(FUNCTIONS, np.sin); [user].index(ALIAS)
setattr(o, "z", user) or o.z is user; list((user, np.sin))[0] is user; dict([(user, 1)])[user]
functools.wraps(user)(other).__wrapped__ is user; (lambda g=user: g is user)(); (lambda *a: a[0] is np.sin)(np.sin)
(lambda **k: k["f"] is user)(f=user); next(iter([user])) is user
"""
QUESTIONS = [q.strip() for line in QUESTIONS.strip().splitlines() for q in line.split("; ")]


@pytest.mark.parametrize("tape", [False, True], ids=["program", "tape"])
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_they_are_themselves(question, tape):
    ends_trace = "    float(x[0])\n" * tape
    text = f"def f(x, fn=np.exp):\n{ends_trace}    said.append({question})\n    return np.sum(x)\n"
    said = []
    f = executed(text, {**globals(), "said": said})["f"]
    f(np.ones(2))
    fad.grad(f)(np.ones(2))
    assert repr(said[-1]) == repr(said[0]) and len(said) > 1


def decorated(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args) * 3.0
    return wrapper


def by_decorator(x):
    @decorated
    def inner(v):
        return user(v)
    return np.sum(inner(x))


def by_class(x):
    class Model:
        scale = user(1.0)

        def __init__(self, k=user(2.0)):  # noqa: B008 - a call in a class
            self.k = k

        def value(self, v):
            for _ in range(3):
                v = v + user(v)
            return np.sum(v) * self.k * self.scale
    return Model().value(x)


def by_base(x):
    class Derived(Base):
        def value(self, v):
            return super().value(v) * user(v[0])
    return Derived().value(x)


class Base:
    def value(self, v):
        return np.sum(user(v))


def by_walrus(x):
    return np.sum(x) * (1.0 if (k := user(1.0)) and user(k) > 3.0 else user(0.3))


def by_import(x):
    import numpy as arrays
    return arrays.sum(user(x)) if arrays is np else 0.0


class Counted(functools.partial):
    """Calls its function itself, and twice."""

    def __call__(self, x):
        return self.func(x) + self.func(x)


class Wrapped:
    """An object with the name for its function that Numba's functions have."""

    def __init__(self, f):
        self.py_func = f

    def __call__(self, x):
        return self.py_func(x) * 2.0


COUNTED, WRAPPED = Counted(user), Wrapped(user)

WAYS = {
    "subclass of partial": lambda x: COUNTED(x[0]) + Counted(user, 1)(x[1]), "py_func": lambda x: np.sum(WRAPPED(x)),
    "map": lambda x: sum(map(user, [x[0], x[1]])),
    "reduce": lambda x: functools.reduce(lambda a, b: a + user(b), [x[0], x[1]]),
    "reduce by name": lambda x: functools.reduce(added, [x[0], x[1]]),
    "key": lambda x: max([x[0], x[1]], key=user) * user(1.0),
    "partial": lambda x: np.sum(functools.partial(user, x)()),
    "table": lambda x: sum(f(x[0]) * k for f, k in NUMBERED.items()),
    "list": lambda x: np.sum(USERS[0](x)), "attribute": lambda x: np.sum(o.u(x)),
    "static": lambda x: np.sum(Holder.method(x)),
    "argument": lambda x: applied(user, x), "keyword": lambda x: applied(f=user, x=x),
    "apply_along_axis": lambda x: np.sum(np.apply_along_axis(user, 0, x)),
    "vectorize": lambda x: np.sum(np.vectorize(user)(x)),
    "grad": lambda x: fad.grad(lambda v: np.sum(user(v) ** 2))(x)[0],
    "grad by name": lambda x: fad.grad(user)(x[0]) * x[1], "jit": lambda x: np.sum(fad.jit(user)(x)),
    "vmap": lambda x: np.sum(fad.vmap(user)(x)),
    "starred": lambda x: applied(*(user, x)), "sum of a generator": lambda x: sum(f(x[0]) for f in USERS),
    "filter": lambda x: np.sum(x) * len(list(filter(user, [1.0, 0.0]))) * user(1.0),
    "default": lambda x, g=user: np.sum(g(x)), "closed over": (lambda g: lambda x: np.sum(g(x)))(user),
    "chosen": lambda x: np.sum((user if len(x) > 1 else other)(x)),
    "decorator": by_decorator, "class": by_class, "base": by_base, "walrus": by_walrus, "import": by_import,
    "methodcaller": lambda x: np.sum(operator.methodcaller("value", x)(Base())),
    "call": lambda x: np.sum(user.__call__(x)),
}


def added(a, b):
    return a + user(b)


def applied(f, x):
    return np.sum(f(x))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_what_they_read_is_seen(way, monkeypatch):
    f, x = WAYS[way], np.array([0.7, 0.4])
    g, value = fad.grad(f), fad.jit(f)
    for rate in (2.0, 2.0, 5.0, 2.0):
        monkeypatch.setitem(globals(), "RATE", rate)
        np.testing.assert_allclose(value(x), f(x), rtol=1e-12)
        slopes = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(g(x), slopes, rtol=1e-6, atol=1e-7)


def _with_itself(x, *, itself=None):
    return np.sum(x**2) if itself is None else itself(x) * 3.0


def test_a_function_among_its_own_defaults(monkeypatch):
    """Dispatchers of packages are made so."""
    monkeypatch.setattr(_with_itself, "__kwdefaults__", {"itself": _with_itself})
    once = lambda x: _with_itself(x, itself=functools.partial(_with_itself, itself=None))
    np.testing.assert_allclose(fad.grad(once, fallback=False)(np.ones(2)), 6.0 * np.ones(2))


def test_functions_of_a_module_in_an_archive_are_rewritten(tmp_path, monkeypatch):
    text = "def total(x):\n    s = 0.0\n    for v in x:\n        if v > 0.5:\n            s += v * v\n    return s\n"
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("packed_module.py", text)
    monkeypatch.syspath_prepend(tmp_path / "packed.zip")
    total = importlib.import_module("packed_module").total
    assert rewritten_code(total) is not None
    np.testing.assert_allclose(fad.grad(total, fallback=False)(np.array([0.2, 0.7, 0.9])), [0.0, 1.4, 1.8])
