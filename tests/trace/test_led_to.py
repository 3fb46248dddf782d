"""Objects that a function finds along all the ways that lead to one: what it writes to them is there after each call,
as in Python."""
import collections
import inspect
import warnings

import numpy as np
import pytest

import fad
from fad.trace.frontend.travel import texts_behind
from fad.trace.guards.led_to import led_to

from .packages import of_file

HEAD = """
import collections, contextvars, functools, gc, itertools, operator, queue, sys, threading, types, weakref
import numpy as np

class Model:
    def __init__(self):
        self.v, self.log = 1.0, []

    def put(self, x):
        self.v = x[0] * 2.0
        self.log.append(x[1])
        return self.v * 3.0

"""
# a way to hold the object o as `h`, and how to get at it
WAYS = {
    "a reference": ("weakref.ref(o)", "h()"), "a new reference": ("o", "weakref.ref(h)()"),
    "a method's reference": ("weakref.WeakMethod(o.put)", "h().__self__"),
    "references in a list": ("[weakref.ref(o)]", "h[0]()"),
    "a finalizer": ("weakref.finalize(o, len, '')", "h.peek()[0]"),
    "values": ("weakref.WeakValueDictionary(a=o)", "h['a']"),
    "a value asked for": ("{'a': weakref.ref(o)}", "h.get('a')()"),
    "references of values": ("weakref.WeakValueDictionary(a=o)", "h.valuerefs()[0]()"),
    "keys": ("weakref.WeakKeyDictionary({o: 1})", "list(h)[0]"), "a set": ("weakref.WeakSet([o])", "next(iter(h))"),
    "references of keys": ("weakref.WeakKeyDictionary({o: 1})", "h.keyrefs()[0]()"),
    "a proxy": ("weakref.proxy(o)", "h"), "a context variable": ("contextvars.ContextVar('h'); h.set(o)", "h.get()"),
    "a variable's default": ("contextvars.ContextVar('h', default=o)", "h.get()"),
    "a context": ("contextvars.ContextVar('h'); h.set(o); c = contextvars.copy_context()", "c[h]"),
    "run in a context": ("contextvars.ContextVar('h'); h.set(o); c = contextvars.copy_context()", "c.run(h.get)"),
    "an array": ("np.array([o, None], dtype=object)", "h[0]"), "its item": ("np.array(o, dtype=object)", "h.item()"),
    "a thread's own": ("threading.local(); h.o = o", "h.o"), "a cache": ("functools.lru_cache(lambda: o); h()", "h()"),
    "a module": ("types.ModuleType('m'); h.o = o; sys.modules[__name__ + '.m'] = h", "sys.modules[__name__ + '.m'].o"),
    "an iterator": ("itertools.cycle([o])", "next(h)"), "a generator": ("(o for _ in range(9))", "next(h)"),
    "a queue": ("queue.Queue(); [h.put(o) for _ in range(9)]", "h.get()"),
    "a partial": ("functools.partial(len, o)", "h.args[0]"),
    "a getter": ("types.SimpleNamespace(a=o)", "operator.attrgetter('a')(h)"), "a method": ("o.put", "h.__self__"),
    "a view": ("types.MappingProxyType({'a': o})", "h['a']"), "a chain": ("collections.ChainMap({'a': o})", "h['a']"),
    "an error": ("ValueError(o)", "h.args[0]"),
    "a function": ("(lambda o: lambda: o)(o)", "h.__closure__[0].cell_contents"),
    "referents": ("[o]", "gc.get_referents(h)[0]"), "a default": ("lambda a=o: a", "h.__defaults__[0]"),
    "a key": ("{o: 1}", "list(h)[0]"), "a frozen set": ("frozenset([o])", "next(iter(h))"),
    "a dict's values": ("{'a': o}.values()", "next(iter(h))"), "a slice": ("slice(o, None)", "h.start"),
    "a factory": ("collections.defaultdict(functools.partial(min, o))", "h.default_factory.args[0]"),
    "a method in C": ("[o].__getitem__", "h(0)"), "a cell": ("types.CellType(o)", "h.cell_contents"),
    "a record": ("np.array([(o, 1.0)], dtype=[('a', object), ('b', float)])", "h['a'][0]"),
}
# in functions that are handed on, which fad sees to where they are called
HIDDEN = {"a method", "a method's reference", "a function", "a default", "a cache", "a finalizer"}
WRITES = {"attribute": "t.v = x[0] * 2.0", "method": "t.put(x)", "dict": "vars(t)['v'] = x[1]",
          "list": "t.log.append(x[0])"}


@pytest.mark.parametrize("transform", [fad.jit, fad.value_and_grad])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_written_to_an_object_is_there_whatever_leads_to_it(way, transform, tmp_path):
    setup, get = WAYS[way]
    for write in WRITES.values():
        worlds = [of_file(tmp_path, f"{HEAD}\no = Model()\nh = {setup}\n\ndef f(x):\n    t = {get}\n    {write}\n"
                                    "    return t.v * np.sum(x)\n") for _ in range(2)]
        plain, staged = worlds[0].f, transform(worlds[1].f, compile="never")
        for k in range(3):
            x = np.array([1.0 + k, 2.0])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fad.FallbackWarning)
                got = staged(x)
            assert plain(x) == (got if transform is fad.jit else got[0])
            assert repr(vars(worlds[0].o)) == repr(vars(worlds[1].o)), write


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("way", [way for way in WAYS if way not in HIDDEN])
def test_code_without_a_text_writes_to_it_at_each_call(way, tmp_path):
    setup, get = WAYS[way]
    hidden = f"def add(h):\n    t = {get}\n    t.v += 1.5\n    t.log.append(t.v)"
    worlds = [of_file(tmp_path, f"{HEAD}\no = Model()\nh = {setup}\nexec({hidden!r})\n\ndef f(x):\n    add(h)\n"
                                "    return o.v * np.sum(x)\n") for _ in range(2)]
    staged, x = fad.jit(worlds[1].f, compile="never"), np.array([1.0, 2.0])
    assert [worlds[0].f(x) for _ in range(4)] == [staged(x) for _ in range(4)]
    assert repr(vars(worlds[0].o)) == repr(vars(worlds[1].o))


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("way", ["an array", "a partial", "a method", "a key", "a frozen set", "a dict's values",
                                 "a slice", "a method in C", "a cell", "an error", "a function", "a default"])
def test_an_object_that_is_left_outside_has_its_numbers_whatever_holds_it(way, tmp_path):
    setup, get = WAYS[way]
    world = of_file(tmp_path, f"{HEAD}\nkept = Model()\n\ndef f(x):\n    o = Model()\n    o.v = x[0] * 2.0\n"
                              f"    kept.held = {setup}\n    return np.sum(x)\n\ndef found(h):\n    return {get}\n")
    staged = fad.jit(world.f, compile="never")
    for k in range(3):
        staged(np.array([1.5 + k, 2.0]))
        assert world.found(world.kept.held).v == 3.0 + 2.0 * k


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held


@pytest.mark.parametrize("hold", [collections.deque, frozenset, dict.fromkeys, lambda held: Slotted(held[0]),
                                  lambda held: np.array(held, object), lambda held: lambda: held])
def test_a_text_travels_with_the_function_that_anything_holds(hold):
    texts = texts_behind(hold([lambda x: x + 17.25]))
    assert any("17.25" in text for text in texts)


def test_the_signature_of_a_ufunc_is_no_state_that_a_function_reads():
    """NumPy makes it when somebody asks."""
    inspect.signature(np.exp)
    assert not [x for x in led_to(np.exp) if isinstance(x, inspect.Signature)]
    double = np.frompyfunc(lambda v: 2 * v, 1, 1)
    assert any(callable(x) for x in led_to(double))
