"""Classes whose special methods count themselves, and functions that have Python call them (test_special_methods.py).

A case is a class and a function of an object of it and of x. The law chooses how the methods count (`hit`).
"""
import copy
import functools
import math
import operator

import numpy as np

LOG: list = []
COUNT = 0


def in_a_list(o, name):
    LOG.append(name)


def in_a_dict(o, name):
    o.state["n"] = (o.state["n"] * 31 + len(name)) % 10007    # it tells the order, too


def in_the_object(o, name):
    object.__setattr__(o, "hits", (o.hits * 31 + len(name)) % 10007)


def in_a_global(o, name):
    global COUNT
    COUNT = (COUNT * 31 + len(name)) % 10007


COUNTERS = [in_a_list, in_a_dict, in_the_object, in_a_global]
hit = in_a_list


class Base:
    def __init__(self, rate):
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "hits", 0)
        object.__setattr__(self, "state", {"n": 0})


def method(name, f):
    def counted(self, *args, **kwargs):
        hit(self, name)
        return f(self, *args, **kwargs)
    return counted


def class_of(*bases, **methods):
    """A class with special methods of these names. Each method counts its calls."""
    return type("Counted", bases or (Base,), {f"__{n}__": method(n, f) for n, f in methods.items()})


def rate_of(x):
    return getattr(x, "rate", x)


def stopping(o):
    o.k += 1
    if o.k > 3:
        raise StopIteration
    return o.k * o.rate


def begun(o):
    o.k = 0
    return o


def by_index(o, k):
    if k >= 3:
        raise IndexError(k)
    return k * o.rate


def asked(o, name):
    if name.startswith("__") or name == "nothing":
        raise AttributeError(name)
    return o.rate * len(name)


class Steps(Base):
    def __iter__(self):
        hit(self, "iter")
        yield self.rate
        hit(self, "middle")
        yield 2.0 * self.rate
        hit(self, "end")


class Table(dict):
    def __init__(self, rate):
        self.rate, self.hits, self.state = rate, 0, {"n": 0}

    def __missing__(self, key):
        hit(self, "missing")
        self[key] = self.rate * len(key)
        return self[key]


class Slots:
    __slots__ = ("_v", "hits", "rate", "state")

    def __init__(self, rate):
        self.rate, self.hits, self.state = rate, 0, {"n": 0}

    def __getattr__(self, name):
        hit(self, "getattr")
        if name == "_v":
            self._v = self.rate * 2
            return self._v
        raise AttributeError(name)


class Field:
    """A descriptor that keeps its value under its own name in the object's dict."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, o, owner=None):
        if o is None:
            return self
        hit(o, "get")
        return o.__dict__.get(self.name, 1.0) * o.rate

    def __set__(self, o, value):
        hit(o, "set")
        o.__dict__[self.name] = value

    def __delete__(self, o):
        hit(o, "delete")
        del o.__dict__[self.name]


class Read:
    def __get__(self, o, owner=None):
        LOG.append("class" if o is None else "object")
        return 2.0 if o is None else o.rate


class Described(Base):
    part, read = Field(), Read()

    @property
    def p(self):
        hit(self, "p get")
        return self.rate * 2

    @p.setter
    def p(self, value):
        hit(self, "p set")
        self._p = value

    @p.deleter
    def p(self):
        hit(self, "p del")
        self._p = 3.0

    @functools.cached_property
    def cached(self):
        hit(self, "cached")
        return self.rate * 3


class Meta(type):
    def __instancecheck__(cls, x):
        LOG.append("instance")
        return isinstance(x, float) or hasattr(x, "rate")

    def __subclasscheck__(cls, c):
        LOG.append("subclass")
        return c is int

    def __call__(cls, *args):
        LOG.append("call")
        return super().__call__(*args)

    def __getitem__(cls, k):
        LOG.append("item")
        return k * 2

    def __len__(cls):
        LOG.append("len")
        return 4

    def __iter__(cls):
        LOG.append("iter")
        return iter([1.0, 2.0])

    def __getattr__(cls, name):
        LOG.append(name)
        return 7.0

    def __bool__(cls):
        LOG.append("bool")
        return False


class OfMeta(metaclass=Meta):
    def __init__(self, rate):
        self.rate = rate


ASKS = class_of(getattr=asked)
SETS = class_of(setattr=lambda o, name, value: object.__setattr__(o, name, value * o.rate),
                delattr=object.__delattr__)
ITEMS = class_of(
    getitem=lambda o, k: o.kept.get(k, 1.0) * o.rate,
    setitem=lambda o, k, value: o.kept.__setitem__(k, value),
    delitem=lambda o, k: o.kept.__delitem__(k),
    len=lambda o: 3,
    contains=lambda o, k: k in o.kept,
    reversed=lambda o: iter([o.rate, 2.0]))
OLD = class_of(getitem=by_index, len=lambda o: 3)
ITERATOR = class_of(iter=begun, next=stopping)
SIZED = class_of(iter=lambda o: iter([o.rate, 2.0]), length_hint=lambda o: 4)
TRUE = class_of(bool=lambda o: o.rate > 0.6)
LONG = class_of(len=lambda o: int(o.rate > 0.6))
ORDERED = class_of(
    eq=lambda o, other: o.rate == rate_of(other),
    hash=lambda o: 7,
    lt=lambda o, other: o.rate < rate_of(other),
    gt=lambda o, other: o.rate > rate_of(other),
    le=lambda o, other: o.rate <= rate_of(other))
CALLED = class_of(call=lambda o, v, power=2: o.rate * v ** power)
NUMBER = class_of(
    neg=lambda o: -o.rate, abs=lambda o: abs(o.rate),
    **{f"{r}{n}": lambda o, other, r=r: o.rate * rate_of(other) + len(r)
       for r in ("", "r") for n in ("add", "sub", "mul", "truediv", "pow", "matmul", "floordiv", "mod", "and")},
    iadd=lambda o, other: changed(o), imul=lambda o, other: changed(o), isub=lambda o, other: NotImplemented)
NUMBER.__array_ufunc__ = None
CONVERTED = class_of(float=lambda o: float(o.rate), int=lambda o: int(o.rate * 10), index=lambda o: 2,
                     complex=lambda o: complex(o.rate, 1.0), round=lambda o, n=0: o.rate * 2, floor=lambda o: 1,
                     ceil=lambda o: 2, trunc=lambda o: 3)
ARRAY = class_of(array=lambda o, dtype=None, copy=None: np.array([o.rate, 2.0, 3.0]))
TEXT = class_of(str=lambda o: "abc", repr=lambda o: "abcd", format=lambda o, spec: "abcde" + spec)
MANAGER = class_of(enter=lambda o: o.rate, exit=lambda o, kind, error, place: kind is ValueError)
COPIED = class_of(copy=lambda o: Base(o.rate * 2), deepcopy=lambda o, memo: Base(o.rate * 3))


def changed(o):
    o.rate = o.rate + 0.125
    return o


def squares(x):
    return np.sum(x ** 2)


def of_items(o, x):
    o.kept = {}
    o["a"], o["b"] = x[0], 2.0
    del o["b"]
    o["a"] += x[1]
    for k in range(3):
        o[k] = x[k] * o["a"]
    return o["a"] * o["c"] * squares(x) * len(o) + ("a" in o) * x[0] + sum(reversed(o)) * x[1] + o[2]


def of_attributes(o, x):
    for k in range(3):
        o.v = x[k] * 2
    o.w = 2.0
    del o.w
    o.v *= 3.0
    return o.v * squares(x)


def of_descriptors(o, x):
    o.part = x[0]
    s = o.part * x[1]
    o.part += x[2]
    del o.part
    o.p = x[0]
    s += o._p * o.p
    del o.p
    return (s + o._p + o.part * squares(x) + (Described.part is vars(Described)["part"]) + getattr(o, "part", 0.0)
            + hasattr(o, "p") + o.read * x[1] + Described.read * x[0] + o.cached * x[1] + o.cached)


def of_keys(o, x):
    p = ORDERED(0.55)
    d = {o: x[0]}
    d[p] = x[1]
    return (d[o] + d.get(p, 2.0) * x[2] + len({o, p}) * squares(x) + (o in d) * x[1] + hash(o) * x[2] + d.pop(p)
            + len(frozenset([o, p])))


def of_order(o, x):
    p, q = ORDERED(0.55), ORDERED(0.8)
    s = sorted([o, p, q])[0].rate * x[0] + max(o, p, q).rate * x[1] + [p, o].index(o) + [p, q].count(o) * x[0]
    return s + ((o, p) == (p, o)) * x[1] + ([o, p] < [o, q]) * x[0] + (o >= p) * x[1] + (o != p) * x[2] + (o in [p])


def in_place(o, x):
    q = o
    o += x[0]
    o *= 2.0
    q -= 3.0
    return o.rate * squares(x) + q * x[1]


def in_places(o, x):
    listed, y = [1.0, 2.0, 3.0, 4.0], x * 1.0
    listed[o] = x[0]
    del listed[o]
    y[o] += 2.0
    return listed[o] + np.sum(y[:o]) + x[np.newaxis, o][0] + len([0.0] * o) * x[1] + range(o)[1] + operator.index(o)


def managed(o, x):
    s = 0.0
    for k in range(3):
        with o as rate:
            s = s + rate * x[k]
    with o:
        raise ValueError
    return s


def in_loops(o, x):
    s = 0.0
    for k in range(3):
        if o:
            s += x[k]
    while o:
        s = s + 1.0
        break
    return s + any([o, o]) * x[0] + all([o]) * x[1] + len(list(filter(None, [o]))) + (x[0] if o and s > 0.0 else x[1])


def through_lists(o, x):
    listed = [1.0]
    listed.extend(o)
    listed += o
    return sum([*o]) * x[0] + sum(tuple(o)) * x[1] + sorted(o)[1] * x[2] + sum(listed) + len({*o}) + max(*o) * x[0]


CASES = {
    "getattr": (ASKS, lambda o, x: squares(x) * o.abc + getattr(o, "nothing", 2.0) * x[1] + hasattr(o, "q")),
    "only the rate": (ASKS, lambda o, x: squares(x) * o.rate),
    "setattr": (SETS, of_attributes),
    "items": (ITEMS, of_items),
    "sequence": (OLD, lambda o, x: sum(v * x[0] for v in o) + (0.5 in o) * x[2] + sum(reversed(o)) * x[1] + max(o)),
    "lists of a sequence": (OLD, through_lists),
    "lists of a sized iterator": (SIZED, through_lists),
    "iterator": (ITERATOR, lambda o, x: sum(o) * x[2] + [*o][2] * x[0] + (2.0 * o.rate in o) + next(iter(o)) * x[1]),
    "generator": (Steps, lambda o, x: sum(v * x[0] for v in o) + [*o][1] * squares(x) + dict(enumerate(o))[0] * x[1]),
    "truth": (TRUE, in_loops),
    "length as truth": (LONG, in_loops),
    "order": (ORDERED, of_order),
    "keys": (ORDERED, of_keys),
    "calls": (CALLED, lambda o, x: o(x[0]) + sum(map(o, x)) + functools.partial(o, power=1)(x[2]) + callable(o)),
    "key functions": (CALLED, lambda o, x: sorted([3.0, 1.0], key=o)[0] * x[0] + max([x[0], 0.1], key=o) + o(x[1])),
    "operators": (NUMBER, lambda o, x: (o + x[0]) + (x[0] - o) + (2 ** o) * x[1] + (o @ 2.0) + (o // 2) + (o & o)
                  + (-o) + abs(o) + np.sum(o * x) + np.sum(x / o) + sum([o, 1.0]) + operator.mul(2.0, o) * x[0]),
    "operators in place": (NUMBER, in_place),
    "numbers": (CONVERTED, lambda o, x: float(o) * squares(x) + int(o) + complex(o).real + round(o) + math.floor(o)
                + math.sqrt(o) * x[0] + math.trunc(o) * x[1] + math.comb(4, o)),
    "places": (CONVERTED, in_places),
    "shapes": (CONVERTED, lambda o, x: np.zeros(o).size * x[0]),
    "arrays": (ARRAY, lambda o, x: np.sum(np.asarray(o) * x) + np.sum(np.sin(o) * x) + np.sum(np.add(x, o))),
    "texts": (TEXT, lambda o, x: len(str(o)) * x[0] + len(repr(o)) + len(f"{o:>3}") * squares(x) + len(f"{o!r}{o!s}")),
    "managers": (MANAGER, lambda o, x: managed(o, x)),
    "descriptors": (Described, of_descriptors),
    "missing": (Table, lambda o, x: o["abc"] * squares(x) + o["abc"] * x[0] + o.get("q", 2.0) * x[1] + len(o)),
    "copies": (COPIED, lambda o, x: copy.copy(o).rate * squares(x) + copy.deepcopy([o, o])[1].rate * x[1]),
    "slots": (Slots, lambda o, x: o._v * squares(x) + hasattr(o, "zz") * x[1]),
    "an empty slot": (Slots, lambda o, x: o.rate * squares(x)),
    "isinstance": (Base, lambda o, x: isinstance(2.0, OfMeta) + isinstance("a", OfMeta)
                   + isinstance(x[0], (str, OfMeta)) + isinstance(o, OfMeta) * squares(x)
                   + issubclass(int, OfMeta) * x[0]),
    "classes": (Base, lambda o, x: OfMeta(o.rate).rate * x[0] + OfMeta[3] * x[1] + len(OfMeta) * squares(x)
                + sum(OfMeta) + OfMeta.other + (x[0] if OfMeta else x[1])),
}
