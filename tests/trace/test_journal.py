"""All ways to write to something are noted in the journal: what a branch writes there holds only where it is taken, and
a trace that fails leaves nothing."""
import sys
import textwrap
import warnings
from itertools import count

import numpy as np
import pytest

import fad
from fad.ir.build import building
from fad.trace.heap import journal
from fad.trace.heap.state import trial
from fad.trace.values.tracer import Tracer

from ..texts import executed

STATE = '''
import collections
import contextlib
import functools
import heapq
import operator
import types

class Box:
    k = 1.0
    def __init__(self):
        self.k = 2.0
    def raise_to(self, v):
        self.k = v

class Slotted:
    __slots__ = ("k",)
    def __init__(self):
        self.k = 2.0

class Stack(list):
    def push(self, v):
        super().append(v)

class Named(dict):
    def __setitem__(self, key, v):
        super().__setitem__(key, v)

def helper(c, v):
    c[0] = v

def numbers(c, v):
    c[0] = v
    yield v

total = 2.0

def add(v):
    global total
    total = v

def state():
    c, d, o = [2.0, 3.0], {"a": 2.0, "b": 3.0}, Box()
    q, s, u = collections.deque([2.0, 3.0]), {2.0, 3.0}, collections.UserDict(a=2.0)
    z, p, n = Slotted(), Stack([2.0]), Named(a=2.0)
    b, m, y = bytearray(b"ab"), types.ModuleType("m"), [[2.0], [3.0]]
    m.k = 2.0
    def g(v): pass
    g.k = 2.0
    held = 2.0
    def hold(v):
        nonlocal held
        held = v
    class Inner:
        def __init__(self): self.k = 2.0
        def put(self, v): self.k = v
    i = Inner()
    a = np.array(["p", "q"], dtype=object)
    return locals()
'''
WRITES = {                                                   # what a branch does, what is read behind it
    "an element": ("c[0] = 7.0", "c[0]"),
    "in place": ("c[0] += 5.0", "c[0]"),
    "a slice": ("c[:1] = [7.0, 8.0]", "sum(c)"),
    "deletion": ("del c[0]", "c[0]"),
    "append": ("c.append(7.0)", "sum(c)"),
    "extend": ("t = c; t += [7.0]", "sum(c)"),
    "insert": ("c.insert(0, 7.0)", "c[0]"),
    "sort": ("c.sort(reverse=True)", "c[0]"),
    "reverse": ("c.reverse()", "c[0]"),
    "clear": ("c.clear()", "len(c)"),
    "pop": ("c.pop()", "len(c)"),
    "times": ("t = c; t *= 2", "len(c)"),
    "a method of the class": ("list.append(c, 7.0)", "sum(c)"),
    "a method with a name": ("put = c.append; put(7.0)", "sum(c)"),
    "a method that is mapped": ("list(map(c.append, [7.0]))", "sum(c)"),
    "a function of C": ("heapq.heappush(c, 1.0)", "c[0]"),
    "setitem": ("operator.setitem(c, 0, 7.0)", "c[0]"),
    "a partial method": ("functools.partial(c.append, 7.0)()", "sum(c)"),
    "a helper": ("helper(c, 7.0)", "c[0]"),
    "a generator": ("list(numbers(c, 7.0))", "c[0]"),
    "a key": ("d['a'] = 7.0", "d['a']"),
    "a new key": ("d['z'] = 7.0", "sum(d.values())"),
    "update": ("d.update(a=7.0)", "d['a']"),
    "or": ("t = d; t |= {'a': 7.0}", "d['a']"),
    "setdefault": ("d.setdefault('z', 7.0)", "sum(d.values())"),
    "popitem": ("d.popitem()", "len(d)"),
    "order": ("d['a'] = d.pop('a')", "float(list(d)[0] == 'a')"),
    "an attribute": ("o.k = 7.0", "o.k"),
    "an attribute by a method": ("o.raise_to(7.0)", "o.k"),
    "setattr": ("setattr(o, 'k', 7.0)", "o.k"),
    "setattr of object": ("object.__setattr__(o, 'k', 7.0)", "o.k"),
    "the dict of an object": ("o.__dict__['k'] = 7.0", "o.k"),
    "vars": ("vars(o).update(k=7.0)", "o.k"),
    "the dict before": ("e = o.__dict__; e['k'] = 7.0", "o.k"),
    "no attribute": ("del o.k", "o.k"),
    "a slot": ("z.k = 7.0", "z.k"),
    "a subclass of list": ("p.push(7.0)", "sum(p)"),
    "a subclass of dict": ("n['a'] = 7.0", "n['a']"),
    "a library's dict": ("u['a'] = 7.0", "u['a']"),
    "a deque": ("q.appendleft(7.0)", "q[0]"),
    "rotation": ("q.rotate(1)", "q[0]"),
    "a set": ("s.add(7.0)", "sum(s)"),
    "a set in place": ("t = s; t |= {7.0}", "sum(s)"),
    "bytes": ("b[0] = 7", "b[0]"),
    "an attribute of a module": ("m.k = 7.0", "m.k"),
    "an attribute of a function": ("g.k = 7.0", "g.k"),
    "a variable around": ("hold(7.0)", "held"),
    "a local class": ("i.put(7.0)", "i.k"),
    "a method of a local class that is mapped": ("list(map(i.put, [7.0]))", "i.k"),
    "objects": ("a[0] = 'pq'", "len(a[0])"),
    "a list within": ("y[0][0] = 7.0", "y[0][0]"),
    "lists that change places": ("y[0], y[1] = y[1], y[0]", "y[0][0]"),
    "a loop's target": ("for c[0] in [7.0]: pass", "c[0]"),
    "a comprehension's target": ("[None for c[0] in [7.0]]", "c[0]"),
    "parts": ("c[0], d['a'] = 7.0, 8.0", "c[0] + d['a']"),
    "a name in an expression": ("(t := c).append(7.0)", "sum(c)"),
    "a part that binds": ("c and (t := c.append(7.0))", "sum(c)"),
    "a rest": ("*t, w = c; t.append(7.0); c.append(sum(t))", "sum(c)"),
    "an expression": ("c.append(7.0) or c.append(8.0)", "sum(c)"),
    "a named part of an expression": ("(t := 7.0) and c.append(t)", "sum(c)"),
    "a manager's target": ("with contextlib.nullcontext(7.0) as c[0]: pass", "c[0]"),
}
NAMES = ("c", "d", "o", "q", "s", "z", "p", "n", "u", "b", "m", "y", "g", "i", "a", "hold")
numbers = count()


def made(text, name):
    """What a module of this text has under a name."""
    return executed(f"{text}# {next(numbers)}\n", {"np": np, "__name__": "program"})[name]


def inside(write, read):
    """A function that makes all that it writes to."""
    body = STATE[STATE.index("def state():\n") + len("def state():\n"):].replace("    return locals()\n", "")
    text = f"{STATE}\ndef f(x):\n{body}    if x[0] > 0.5:\n        {write}\n    return x[1] * {read}\n"
    return made(text, "f")


def outside(write, read):
    """A function that writes to what is there before."""
    text = f"""{STATE}
def make():
    held, ({', '.join(NAMES)}) = 2.0, map(state().get, {NAMES})
    def hold(v):
        nonlocal held
        held = v
    def f(x):
        if x[0] > 0.5:
            {write}
        return x[1] * {read}
    return f
"""
    return made(text, "make")()


def answer(f, x):
    try:
        return float(f(x))
    except (AttributeError, IndexError, KeyError) as error:
        return type(error).__name__


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("make", [inside, outside], ids=lambda f: f.__name__)
def test_what_a_branch_writes_holds_where_it_is_taken(name, make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        plain, traced = make(*WRITES[name]), fad.jit(make(*WRITES[name]))
        for x in (np.array([0.3, 0.7]), np.array([0.6, 0.2]), np.array([0.3, 0.5])):
            assert answer(traced, x) == pytest.approx(answer(plain, x))


@pytest.mark.parametrize("name", WRITES)
def test_a_trace_that_fails_leaves_all_as_it_was(name):
    """Behind the writes stands what cannot be traced: a key that is traced. The tape writes once more, and once
    only."""
    write, read = WRITES[name]
    plain, traced = [outside(f"pass\n        {write}", f"{read} * {{float(x[0]): 1.0}}[float(x[0])]") for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        jitted = fad.jit(traced)
        for x in (np.array([0.3, 0.7]), np.array([0.6, 0.2])):
            assert answer(jitted, x) == pytest.approx(answer(plain, x))


def test_code_without_a_text_leaves_all_as_it_was():
    scope = {"np": np, "kept": [2.0], "count": 0.0}
    exec(textwrap.dedent("""
        def f(x):
            global count
            kept.append(1.0); count += 1.0
            return {float(x[0]): x[1] * len(kept) * count}[float(x[0])]
        """), scope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        jitted = fad.jit(scope["f"])
        for k in range(1, 4):
            assert np.isclose(jitted(np.array([0.3, 0.7])), 0.7 * (1 + k) * k)
            assert scope["kept"] == [2.0] + [1.0] * k and scope["count"] == k


class Counted:
    def __init__(self, v):
        self.v, self.seen = v, []

    exec("def __add__(self, other):\n    self.seen.append(1.0)\n    return self.v + other + len(self.seen)")


def test_special_methods_without_a_text_are_noted():
    def make():
        o = Counted(2.0)

        def f(x):
            if x[0] > 0.5:
                t = o + x[1]
            else:
                t = x[1]
            return t * len(o.seen)
        return f
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        plain, traced = make(), fad.jit(make())
        for x in (np.array([0.3, 0.7]), np.array([0.6, 0.2]), np.array([0.3, 0.5])):
            assert traced(x) == pytest.approx(plain(x))


def test_what_a_region_costs_is_what_it_writes(monkeypatch):
    text = """
def make(n):
    rows = [[1.0] for _ in range(n)]
    def f(x):
        if x[0] > 0.5:
            rows[0][0] = 3.0
            rows[1][0] = x[1]
        total = 0.0
        for k in range(x.shape[0]):
            total = total + x[k] * rows[0][0] + rows[1][0]
        return total
    return f
"""

    def noted(size):
        found, note = [], journal.Journal.note

        def counted(book, cell):
            before = len(book.marks[-1].entries) if book.marks else 0
            note(book, cell)
            found.extend([cell] * (len(book.marks[-1].entries) - before if book.marks else 0))
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            patch.setattr(journal.Journal, "note", counted)
            fad.jit(made(text, "make")(size))(np.array([0.3, 0.7, 0.2]))
        return len(found)
    assert noted(3) == noted(3000) > 0


def test_marks():
    with building("f", Tracer):
        book, held, other = journal.journal(), [1, 2], {"a": 1}
        first = book.begin()
        journal.note(held)
        held.append(3)
        second = book.begin()
        journal.note(held, other)
        held.clear()
        other["b"] = 2
        own = journal.made([5])
        journal.note(own)
        assert second.changed(journal.CONTAINER) == [held, other]
        assert second.entries[id(held)].before == [1, 2, 3]
        assert not journal.was_there(own, second.serial) and journal.was_there(held, second.serial)
        second.undo()
        book.end(second)
        assert held == [1, 2, 3] and other == {"a": 1} and first.changed(journal.CONTAINER) == [held]
        journal.note(other)
        other.clear()
        first.undo()
        book.end(first)
        assert held == [1, 2] and other == {"a": 1}


def test_what_was_empty_when_the_trace_began():
    with building("f", Tracer):
        book, held = journal.journal(), []
        mark = book.begin()
        journal.note(held)
        held.append(3)
        assert book.begun_as(held) == []
        book.end(mark)


def test_what_an_interrupt_leaves_open_is_undone_with_what_is_around_it():
    """The generator that would undo it may be closed much later, when it has nothing to do any more."""
    with building("f", Tracer):
        book, held = journal.journal(), [1, 2]
        around = book.begin()
        late = trial({})
        late.__enter__()                                      # and no `with` statement that would call __exit__
        journal.note(held)
        held.append(3)
        around.undo()
        book.end(around)
        assert held == [1, 2] and not book.marks
        held.append(4)
        late.gen.close()
        assert held == [1, 2, 4]


def test_a_heap_of_thousands_takes_no_more_steps():
    """Two loops and a branch among 6,000 lists: Python takes no more steps than with two."""
    text = '''
def make(n):
    rows = [[1.0] for _ in range(n)]
    def f(w):
        s = 0.0
        for i in range(w.shape[0]):
            s = s + w[i] * rows[0][0]
        for i in range(w.shape[0]):
            s = s + w[i] ** 2
        if s > 0.5:
            s = s * 2.0
        return s + rows[1][0] * s
    return f
'''

    def steps(n):
        f, count = fad.grad(made(text, "make")(n)), 0

        def note(*_):
            nonlocal count
            count += 1
            return note
        sys.settrace(note)
        try:
            f(np.linspace(0.1, 1.0, 10))
        finally:
            sys.settrace(None)
        return count
    steps(2)                                                  # imports
    assert steps(6000) < 1.1 * steps(2)


class Fitted:
    def __init__(self):
        self.w, self.k = np.array([1.0, 2.0]), 1.0


def by_vars(x, o):
    vars(o)["k"] = 3.0
    return np.sum(x) * o.k


def by_dict(x, o):
    o.__dict__["k"] = x[0] * 3.0
    return np.sum(x) * o.k


def by_update(x, o):
    o.__dict__.update(k=4.0)
    return np.sum(x) * o.k * vars(o)["w"][0]


def by_reading(x, o):
    return sum(np.sum(v * x) for v in vars(o).values())


@pytest.mark.parametrize("f", [by_vars, by_dict, by_update, by_reading])
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_attributes_of_an_object_that_holds_arrays(f):
    """Code that reads its __dict__ sees the arrays traced, in a copy: a write to that is a write to the object, or
    refused."""
    own, x = Fitted(), np.array([0.5, 2.0])
    g, o = fad.jit(lambda x: f(x, own)), Fitted()
    for _ in range(3):
        np.testing.assert_allclose(g(x), f(x, o))
        np.testing.assert_allclose(own.k, o.k)
