"""Objects that a function finds along all the ways that lead to one: what it writes to them is there after each call,
as in Python."""
import warnings

import numpy as np
import pytest

import fad

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
}
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
