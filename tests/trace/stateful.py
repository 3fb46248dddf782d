"""Functions that leave something outside at each call, with aliases in what they leave. See test_stateful.py.

Each maker returns a function and what a caller can see of its state: numbers, and which names are one thing.
"""
from collections import deque
from types import SimpleNamespace
from typing import NamedTuple
from weakref import WeakSet, WeakValueDictionary

import numpy as np


class Pair(NamedTuple):
    first: float
    last: tuple


def numbers(*things):
    return [np.round(np.ravel(x).astype(float), 9).tolist() for x in things]


def two_names_for_one_list():
    log = []
    o = SimpleNamespace(log=log)

    def f(x):
        loss = np.sum(x ** 2)
        log.append(float(loss))
        o.log.append(2.0 * float(loss))
        return loss
    return f, lambda: (o.log is log, numbers(log))


def array_in_a_list_and_as_an_attribute():
    o = SimpleNamespace(w=np.ones(3))
    listed = [o.w, 1.0]

    def f(x):
        o.w = o.w * 0.5 + x
        return np.sum(x * listed[0]) + np.sum(o.w)
    return f, lambda: (listed[0] is o.w, numbers(listed[0], o.w))


def one_new_array_at_three_places():
    o, log = SimpleNamespace(a=None, b=None), []

    def f(x):
        y = x * 2.0
        o.a = o.b = y
        log.append(y)
        log.append(y)
        return np.sum(y)
    return f, lambda: (o.a is o.b, log[-1] is o.a, log[-2] is o.a, numbers(o.a))


def view_of_a_delivered_array():
    o = SimpleNamespace(a=None, v=None)

    def f(x):
        y = x * 2.0
        o.a, o.v = y, y[1:]
        return np.sum(y)

    def look():
        o.a[1] = 77.0
        return numbers(o.v)
    return f, look


def row_that_is_changed_after_it_was_logged():
    log = []

    def f(x):
        y = np.outer(x, x)
        log.append(y[0])
        y[0, 0] = 7.0
        log.append(y)
        return np.sum(y)
    return f, lambda: (np.shares_memory(log[-1], log[-2]), numbers(*log))


def array_that_is_changed_after_it_was_logged():
    log = []

    def f(x):
        y = x * 1.0
        log.append(y)
        y[0] = 9.0
        return np.sum(y)
    return f, lambda: numbers(*log)


def argument_itself():
    o = SimpleNamespace(last=None, part=None)

    def f(x):
        o.last = x
        return np.sum(x ** 2)
    return f, lambda: numbers(o.last)


def argument_that_stays_itself():
    o, seen = SimpleNamespace(last=None, log=[]), []

    def f(x):
        o.last = x
        o.log.append(x)
        seen.append(1)
        return np.sum(x ** 2)

    def look():
        o.last *= 2.0                                         # the caller's own array
        return len(seen), o.last is o.log[-1], numbers(o.log[-1])
    return f, look


def part_of_the_argument():
    o = SimpleNamespace(last=None)

    def f(x):
        o.last = x[:2]
        return np.sum(x ** 2)
    return f, lambda: numbers(o.last)


def cycles():
    o, log = SimpleNamespace(k=0), []
    o.me, o.log = o, log
    log.append(log)

    def f(x):
        o.me.me.k += 1
        o.log[0].append(float(x[0]))
        return np.sum(x) * o.k
    return f, lambda: (o.k, log[0] is log, numbers(*log[1:]))


def arrays_that_change_places():
    o = SimpleNamespace(a=np.ones(3), b=np.zeros(3))

    def f(x):
        o.a, o.b = o.b, o.a + x
        return np.sum(o.a * x) + np.sum(o.b)
    return f, lambda: (o.a is o.b, numbers(o.a, o.b))


def array_that_is_kept_as_another_takes_its_place():
    o = SimpleNamespace(a=np.ones(3), old=[])

    def f(x):
        o.old.append(o.a)
        o.a = x * 1.0
        return np.sum(o.a)
    return f, lambda: (o.old[-1] is o.a, numbers(*o.old, o.a))


def array_that_is_computed_anew():
    o = SimpleNamespace(w=np.ones(3))
    seen = [o.w]

    def f(x):
        o.w = o.w * 1.0
        return np.sum(o.w * x)

    def look():
        seen.append(o.w)
        return seen[-1] is seen[-2], numbers(o.w)
    return f, look


def array_that_a_branch_keeps():
    o = SimpleNamespace(x=np.zeros(3))
    seen = [o.x]

    def f(x):
        if x[0] > 0.5:
            o.x = x * 2.0
        return np.sum(o.x * x)

    def look():
        seen.append(o.x)
        return seen[-1] is seen[-2], numbers(o.x)
    return f, look


def list_that_a_branch_replaces():
    o = SimpleNamespace(h=[0.5])
    o.same = o.h

    def f(x):
        if x[0] > 0.5:
            o.h = [x[0]]
        return np.sum(x) * o.h[0]
    return f, lambda: (o.h is o.same, numbers(o.h))


def dict_that_a_branch_replaces():
    d = {"h": {"a": 0.5}}
    same = d["h"]

    def f(x):
        if x[0] > 0.5:
            d["h"] = {"a": x[0]}
        return np.sum(x)
    return f, lambda: (d["h"] is same, numbers(d["h"]["a"]))


def tuple_that_a_branch_replaces():
    o = SimpleNamespace(h=(0.5, 1.0))

    def f(x):
        if x[0] > 0.5:
            o.h = (x[0], 1.0)
        return np.sum(x) * o.h[0]
    return f, lambda: numbers(o.h)


def object_that_is_made():
    class Point:
        def __init__(self, at):
            self.at = at
    o = SimpleNamespace(p=None)

    def f(x):
        o.p = Point(x * 2.0)
        return np.sum(x)
    return f, lambda: numbers(o.p.at)


def dict_that_is_made():
    o = SimpleNamespace(p=None)

    def f(x):
        o.p = {"x": x.copy(), "loss": float(np.sum(x)), "t": (1, [x[0]])}
        return np.sum(x)
    return f, lambda: (list(o.p), numbers(o.p["x"], o.p["loss"], o.p["t"][1]), type(o.p["t"][1]))


def list_that_is_made_anew():
    o = SimpleNamespace(h=[])

    def f(x):
        o.h = []
        for k in range(3):
            o.h.append(float(x[k]))
        return np.sum(x) * len(o.h)
    return f, lambda: (type(o.h), numbers(o.h))


def window():
    o = SimpleNamespace(h=[])

    def f(x):
        o.h.append(float(x[0]))
        if len(o.h) > 3:
            o.h.pop(0)
        return np.sum(x) + o.h[0]
    return f, lambda: numbers(o.h)


def variables_of_the_function_around():
    k, total = 0, 0.0

    def f(x):
        nonlocal k, total
        k += 1
        total = total + float(np.sum(x))
        return total * k
    return f, lambda: (k, numbers(total))


def variable_without_a_value():
    if False:
        k = 0.0

    def f(x):
        nonlocal k
        k = float(np.sum(x))
        return k * 2.0
    return f, lambda: numbers(k)


def counter_of_a_loop():
    o = SimpleNamespace(steps=0)

    def f(x):
        y, o.steps = x[0], 0
        while y < 10.0:
            y = y * 1.5 + 1.0
            o.steps += 1
        return y
    return f, lambda: o.steps


def state_in_a_loop():
    o = SimpleNamespace(k=0, t=0.0, h=[])

    def f(x):
        s = 0.0
        for i in range(len(x)):
            o.k += 1
            o.t = o.t * 0.5 + x[i]
            s = s + o.t * o.k
        o.h.append(float(s))
        return s
    return f, lambda: (o.k, numbers(o.t, o.h))


def class_attributes():
    class Model:
        calls, total = 0, 0.0

        def loss(self, x):
            Model.calls += 1
            self.calls += 1
            self.total += float(np.sum(x))
            return self.total * Model.calls
    m = Model()
    return m.loss, lambda: (Model.calls, m.calls, numbers(m.total, Model.total))


def property_and_slots():
    class Model:
        __slots__ = ("_k", "a")

        def __init__(self):
            self._k, self.a = 0, np.zeros(3)

        @property
        def k(self):
            return self._k

        @k.setter
        def k(self, value):
            self._k = value + 1

        def loss(self, x):
            self.k += 1
            self.a = self.a + x
            return np.sum(self.a) * self.k
    m = Model()
    return m.loss, lambda: (m.k, numbers(m.a))


def every_type_of_number():
    o = SimpleNamespace(i=0, f=0.0, b=False, c=1j, n=np.float32(0), z=np.int8(1))

    def f(x):
        o.i, o.f, o.b, o.c = o.i + 2, o.f + 1.5, not o.b, o.c * 1j
        o.n, o.z = o.n + np.float32(1.5), o.z + np.int8(1)
        return np.sum(x) * (o.i + o.f + o.n + o.z)
    return f, lambda: [(type(v).__name__, complex(v)) for v in vars(o).values()]


def large_integer():
    o = SimpleNamespace(k=2 ** 60)

    def f(x):
        o.k = o.k * 2
        return np.sum(x)
    return f, lambda: o.k


def tuple_of_numbers():
    o = SimpleNamespace(state=(0, 0.0, np.zeros(3)))

    def f(x):
        k, s, v = o.state
        o.state = (k + 1, s + float(x[0]), v + x)
        return np.sum(o.state[2]) * o.state[0]
    return f, lambda: (o.state[0], numbers(*o.state))


def one_new_tuple_at_three_places():
    o, log = SimpleNamespace(a=None, b=None, c=None), []

    def f(x):
        t = Pair(x[0], (x[1], float(x[2])))
        o.a = o.b = t
        o.c = t.last
        log.append([t, t])
        return np.sum(x)
    return f, lambda: (o.a is o.b, o.c is o.a.last, log[-1][0] is o.a, log[-1][1] is o.a, numbers(o.a.first, o.c))


def tuple_from_outside_under_a_second_name():
    o = SimpleNamespace(a=(1.0, "text"), b=None)

    def f(x):
        o.b = o.a
        return np.sum(x) * o.b[0]
    return f, lambda: (o.a is o.b, o.a)


class Field:
    """A descriptor that counts what is set, and keeps it under its own name in the object."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, o, owner=None):
        return o.__dict__.get(self.name, 1.0)

    def __set__(self, o, value):
        o.__dict__["sets"] = o.__dict__.get("sets", 0) + 1
        o.__dict__[self.name] = value


class Fields:
    mass, speed = Field(), Field()


def fields_under_the_name_of_their_descriptor():
    o = Fields()

    def f(x):
        o.mass = o.mass * 0.5 + float(x[0])
        o.speed += 0.25
        return np.sum(x) * o.mass * o.speed
    return f, lambda: (o.sets, numbers(o.mass, o.speed))


class Observer:
    def __init__(self):
        self.seen = []

def objects_behind_weak_references():
    o = Observer()
    some, named = WeakSet([o]), WeakValueDictionary(a=o)

    def f(x):
        for one in list(some):
            one.seen.append(float(x[0]))
        named.get("a").seen.append(float(x[1]))
        return np.sum(x)
    return f, lambda: numbers(o.seen)


def queues():
    d, e = deque(), deque(maxlen=3)

    def f(x):
        d.append(float(x[0]))
        e.append(float(x[1]))
        return np.sum(x)
    return f, lambda: (len(e), numbers(d, e))


def attribute_of_the_function():
    def f(x):
        f.n += 1
        return np.sum(x) * f.n
    f.n = 0
    return f, lambda: f.n


def dtype_and_layout():
    o = SimpleNamespace(a=np.zeros(3, np.float32), m=np.arange(9.0).reshape(3, 3).T)

    def f(x):
        o.a = (o.a + x).astype(np.float32)
        o.m = o.m * 0.5 + x
        return np.sum(o.m[0] * o.m[:, 1]) + o.a[0]
    return f, lambda: (o.a.dtype, np.round(o.a, 4).tolist(), numbers(o.m))


def array_that_grows():
    o = SimpleNamespace(a=np.zeros(0))

    def f(x):
        o.a = np.append(o.a, x[0])
        return np.sum(o.a)
    return f, lambda: numbers(o.a)


COMPILED = [                                                  # two traces at most, and never the tape
    two_names_for_one_list, array_in_a_list_and_as_an_attribute, one_new_array_at_three_places,
    array_that_is_changed_after_it_was_logged, argument_itself, argument_that_stays_itself, cycles,
    arrays_that_change_places, array_that_is_kept_as_another_takes_its_place, array_that_is_computed_anew,
    array_that_a_branch_keeps, dict_that_is_made, variables_of_the_function_around, variable_without_a_value,
    counter_of_a_loop, state_in_a_loop, class_attributes, every_type_of_number, attribute_of_the_function,
    one_new_tuple_at_three_places, tuple_from_outside_under_a_second_name,
    fields_under_the_name_of_their_descriptor]
OTHERS = [
    view_of_a_delivered_array, row_that_is_changed_after_it_was_logged, part_of_the_argument,
    list_that_a_branch_replaces, dict_that_a_branch_replaces, tuple_that_a_branch_replaces, object_that_is_made,
    list_that_is_made_anew, window, property_and_slots, large_integer, tuple_of_numbers, queues, array_that_grows,
    dtype_and_layout, objects_behind_weak_references]
