"""A list, dict or object that a branch or a loop has chosen: what it holds may be read, and changes of it count; which
one it is is asked on the tape."""
import dataclasses
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import UnstageableError

XS = [np.array(x) for x in ([0.8, 0.55, 1.1], [0.3, 1.2, 0.7], [0.9, 1.3, 0.7], [0.3, 0.2, 0.7])]


@dataclasses.dataclass
class Data:
    w: float
    array: object = None
    rows: object = None

    def times(self, x):
        return self.w * x


@dataclasses.dataclass(eq=False)
class Itself:
    w: float


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: float
    rows: object = ()


class Registered:
    def __init__(self, w):
        self.w = w


fad.register(Registered, lambda r: ((r.w,), None), lambda _, parts: Registered(*parts))


A, B, I, J, F, G, P, Q, L, M, D, E = [None] * 12


def renew():
    """All that the functions choose from."""
    globals().update(A=Data(1.0, np.array([1.0, 2.0]), [3.0]), B=Data(2.0, np.array([3.0, 4.0]), [4.0]), I=Itself(1.0),
                     J=Itself(2.0), F=Frozen(1.0, [5.0]), G=Frozen(2.0, [6.0]), P=Registered(1.0), Q=Registered(2.0),
                     L=[1.0, 2.0], M=[3.0, 4.0], D={"w": 1.0}, E={"w": 2.0})


def in_a_loop(x):
    n = A
    for k in range(3):
        if x[k] > 1.0:
            n = B
    return n.w * x[1] + n.array @ x[:2]


READ = {
    "number": lambda x: (A if x[0] > 0.6 else B).w * x[1],
    "array": lambda x: (A if x[0] > 0.6 else B).array @ x[:2],
    "list": lambda x: (A if x[0] > 0.6 else B).rows[0] * x[1],
    "method": lambda x: (A if x[0] > 0.6 else B).times(x[1]),
    "in_a_list": lambda x: ([A, B] if x[0] > 0.6 else [B, A])[1].w * x[1],
    "frozen": lambda x: (F if x[0] > 0.6 else G).rows[0] * x[1],
    "registered": lambda x: (P if x[0] > 0.6 else Q).w * x[1],
    "of_lists": lambda x: (L if x[0] > 0.6 else M)[0] * x[1] + (D if x[0] > 0.6 else E)["w"],
    "loop": in_a_loop,
}
CHANGES = ["pass", "A.w = 5.0", "B.w = 7.0", "A.array = np.array([9.0, 8.0])", "B.array[0] = 11.0", "A.rows[0] = 13.0",
           "B.rows = [15.0]", "P.w = 4.0", "F.rows[0] = 3.0", "L[0] = 6.0", "E['w'] = 8.0", "A.w = 1.0"]


@pytest.mark.parametrize("name", READ)
def test_what_was_chosen_from_is_read_at_each_call(name):
    renew()
    f = READ[name]
    value, gradient = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
    for change in CHANGES:
        exec(change, globals())
        for x in XS[:2]:
            np.testing.assert_allclose(value(x), f(x), rtol=1e-12)
            slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
            np.testing.assert_allclose(gradient(x), slope, rtol=1e-6, atol=1e-8)


def found_last(x):
    best = None
    for v in x:
        c = Data(v)
        if best is None or c.w > best.w:
            best = c
    return best.w * (2.0 if best is c else 3.0)


def of_two_names(x):
    a, b = Data(x[0]), Data(x[1])
    n, m = a if x[0] > 0.6 else b, a if x[1] > 0.6 else b
    return x[1] * (2.0 if n is m else 3.0)


ASKED = {
    "is": lambda x: x[1] * (2.0 if (A if x[0] > 0.6 else B) is A else 3.0),
    "is_not": lambda x: x[1] * (2.0 if (L if x[0] > 0.6 else M) is not M else 3.0),
    "dict": lambda x: x[1] * (2.0 if (D if x[0] > 0.6 else E) is D else 3.0),
    "frozen": lambda x: x[1] * (2.0 if (F if x[0] > 0.6 else G) is F else 3.0),
    "registered": lambda x: x[1] * (2.0 if (P if x[0] > 0.6 else Q) == P else 3.0),
    "equal": lambda x: x[1] * (2.0 if (I if x[0] > 0.6 else J) == I else 3.0) + x[0] * ((I if x[0] > 0.6 else J) != I),
    "key": lambda x: x[1] * {I: 2.0, J: 3.0}[I if x[0] > 0.6 else J],
    "get": lambda x: x[1] * {I: 2.0}.get(I if x[0] > 0.6 else J, 5.0),
    "in_dict": lambda x: x[1] * (2.0 if (I if x[0] > 0.6 else J) in {I: 2.0} else 3.0),
    "in_list": lambda x: x[1] * (2.0 if (I if x[0] > 0.6 else J) in [I] else 3.0)
                         + [I, J].index(I if x[0] > 0.6 else J),
    "in_tuples": lambda x: x[1] * (2.0 if (I if x[0] > 0.6 else J, 1) == (I, 1) else 3.0),
    "set": lambda x: x[1] * len({I if x[0] > 0.6 else J, I}),
    "id": lambda x: x[1] * (2.0 if id(I if x[0] > 0.6 else J) == id(I) else 3.0),
    "hash": lambda x: x[1] * (2.0 if hash(I if x[0] > 0.6 else J) == hash(I) else 3.0),
    "last": found_last, "two_names": of_two_names,
}


@pytest.mark.parametrize("name", ASKED)
def test_which_one_it_is_is_asked_on_the_tape(name):
    renew()
    f = ASKED[name]
    with pytest.raises(UnstageableError, match="asks which list, dict or object a name stands for"):
        fad.jit(f, fallback=False)(XS[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        value, gradient = fad.jit(f), fad.grad(f)
        for x in XS:
            np.testing.assert_allclose(value(x), f(x), rtol=1e-12)
            slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
            np.testing.assert_allclose(gradient(x), slope, rtol=1e-6, atol=1e-8)


def others(x):
    a, b = [x[0]], [x[1]]
    n = a if x[0] > 0.6 else b
    c, m = [x[2]], n
    return n[0] * (2.0 if n is m and a is not b and n is not c else 3.0) + (n is None) + x[0] * (A is B)


def test_what_is_sure_is_part_of_the_program():
    renew()
    for x in XS:
        assert fad.jit(others, fallback=False)(x) == pytest.approx(others(x))
