"""Code without a text that gets a callable from anything that holds one, and calls it: what that reads and writes is as
in Python, at the first call, at the second, and after a change outside. So is what a callable of any kind does that C
code or such code calls."""
import itertools
import warnings

import numpy as np
import pytest

import fad

from .packages import of_file

HEAD = """
import collections, contextvars, copy, dataclasses, enum, functools, heapq, itertools, json, logging, operator, queue
import re, threading, types, typing, weakref
import numpy as np
from scipy.optimize import OptimizeResult
from scipy.sparse.linalg import LinearOperator

class Part:
    n = 0

class Model:
    count = 0

    def __init__(self):
        self.n, self.log, self.array, self.table, self.set = 0, [], np.zeros(2), {{'a': {{'b': 0}}}}, set()
        self.queue, self.part = collections.deque(), Part()

    def put(self, *given):
        {write}
        return 1.0 * {value}

    def __call__(self, *given):
        return self.put()

def helper():
    pass

def change():
    o.n, o.array[1], o.table['a']['b'], o.part.n, Model.count = 7, 7.0, 7, 7, 7
    o.log += [1, 2]

def state():
    parts = o.n, o.log, o.array.tolist(), o.table, o.set, o.queue, o.part.n, Model.count, vars(helper), total, others
    return repr(parts)

total, others, o = 0, [], Model()
"""
# name -> (how h holds the callable c, how code gets it from h)
HOLDERS = {
    "itself": ("h = c", "h"), "list": ("h = [c]", "h[0]"), "dict": ("h = {'a': c}", "h['a']"),
    "key": ("h = {c: 1}", "list(h)[0]"), "frozen set": ("h = frozenset([c])", "next(iter(h))"),
    "deque": ("h = collections.deque([c])", "h[0]"), "slice": ("h = slice(c, None)", "h.start"),
    "view": ("h = {'a': c}.items()", "list(h)[0][1]"),
    "mapping proxy": ("h = types.MappingProxyType({'a': c})", "h['a']"),
    "weak values": ("h = weakref.WeakValueDictionary(a=o)", "h['a'].put"),
    "finalizer": ("h = weakref.finalize(Part, len, c); h.atexit = False", "h.peek()[2][0]"),
    "error": ("h = ValueError(c)", "h.args[0]"),
    "cause": ("h = ValueError(); h.__cause__ = KeyError(c)", "h.__cause__.args[0]"),
    "objects": ("h = np.array([c, None], dtype=object)", "h[0]"),
    "record": ("h = np.array([(c, 1.0)], dtype=[('a', object), ('b', float)])", "h['a'][0]"),
    "dtype": ("h = np.dtype(float, metadata={'c': c})", "h.metadata['c']"),
    "partial": ("h = functools.partial(len, c)", "h.args[0]"), "method in C": ("h = [c].__getitem__", "h(0)"),
    "closure": ("h = (lambda c: lambda: c)(c)", "h.__closure__[0].cell_contents"),
    "result": ("def hold(c):\n    def h():\n        return c\n    return h\nh = hold(c)", "h()"),
    "default": ("def h(a=c):\n    return a", "h()"), "keyword": ("def h(*, a=c):\n    return a", "h()"),
    "attribute of a function": ("def h(): pass\nh.c = c", "h.c"),
    "global name": ("held = c\ndef h():\n    return held", "h()"),
    "cell": ("h = types.CellType(c)", "h.cell_contents"), "attribute": ("h = types.SimpleNamespace(c=c)", "h.c"),
    "slot": ("class K:\n    __slots__ = ('c',)\nh = K(); h.c = c", "h.c"), "class": ("class h: c = [c]", "h.c[0]"),
    "base": ("class B: c = [c]\nclass K(B): pass\nh = K()", "h.c[0]"),
    "metaclass": ("class M(type): c = [c]\nclass h(metaclass=M): pass", "h.c[0]"),
    "subclass": ("class h: pass\nclass K(h): c = [c]", "h.__subclasses__()[0].c[0]"),
    "property": ("class K: c = property(c)\nh = K()", "type(h).c.fget"),
    "__missing__": ("held = c\nclass K(dict):\n    def __missing__(self, n):\n        return held\nh = K()", "h['z']"),
    "__getattr__": ("held = c\nclass K:\n    def __getattr__(self, n):\n        return held\nh = K()", "h.foo"),
    "__iter__": ("held = c\nclass K:\n    def __iter__(self):\n        yield held\nh = K()", "next(iter(h))"),
    "descriptor": ("class D:\n    def __init__(s, c): s.c = c\n    def __get__(self, i, t):\n        return self.c\n"
                   "class K: c = D(c)\nh = K()", "h.c"),
    "method": ("class K:\n    def __init__(s, c): s.c = c\n    def m(self):\n        return self.c\nh = K(c).m", "h()"),
    "np.vectorize": ("h = np.vectorize(c, otypes=[float])", "h.pyfunc"),
    "context variable": ("h = contextvars.ContextVar('h', default=c)", "h.get()"),
    "cache": ("held = c\n@functools.lru_cache\ndef h():\n    return held\nh()", "h()"),
    "cached property": ("h = functools.cached_property(c)", "h.func"),
    "module": ("h = types.ModuleType('m'); h.c = c", "h.c"),
    "named tuple": ("h = collections.namedtuple('N', 'c')(c)", "h.c"),
    "dataclass": ("@dataclasses.dataclass\nclass K:\n    c: object\nh = K(c)", "h.c"),
    "enum": ("class h(enum.Enum):\n    A = (c,)", "h.A.value[0]"),
    "chain": ("h = collections.ChainMap({}, {'a': c})", "h['a']"),
    "user dict": ("h = collections.UserDict(a=c)", "h['a']"),
    "factory": ("h = collections.defaultdict(lambda: c)", "h.default_factory()"),
    "list's attribute": ("class K(list): pass\nh = K(); h.c = c", "h.c"),
    "static method": ("h = staticmethod(c)", "h.__func__"),
    "alias": ("h = list[c]", "h.__args__[0]"), "annotated": ("h = typing.Annotated[int, c]", "h.__metadata__[0]"),
    "thread": ("h = threading.Thread(target=c)", "h._target"), "logger": ("h = logging.Logger('q'); h.c = c", "h.c"),
    "handler": ("h = logging.NullHandler(); h.c = c", "h.c"),
    "dispatch": ("@functools.singledispatch\ndef h(a):\n    return c", "h.dispatch(int)(1)"),
    "wrapped": ("@functools.wraps(c)\ndef h(): pass", "h.__wrapped__"),
    "queue": ("h = queue.Queue(); h.put(c)", "h.queue[0]"),
    "operator of SciPy": ("h = LinearOperator((1, 1), matvec=c, dtype=float)", "h._CustomLinearOperator__matvec_impl"),
    "result of SciPy": ("h = OptimizeResult(c=c)", "h.c"),
    "polynomial": ("h = np.poly1d([1.0, 2.0]); h.__dict__['c_'] = c", "h.__dict__['c_']"),
    "cycle": ("h = []; h += [h, c]", "h[0][0][1]"),
}
# a callable that reads and writes
CALLABLES = {
    "method": "c = o.put", "object": "c = o", "partial": "c = functools.partial(Model.put, o)",
    "function": "def c(*given):\n    return o.put()", "default": "def c(*given, o=o):\n    return o.put()",
    "closure": "def make(o):\n    def c(*given):\n        return o.put()\n    return c\nc = make(o)",
    "without text": "exec('def c(*given):\\n    return o.put()')",
    "np.vectorize": "c = np.vectorize(o.put, otypes=[float])", "np.frompyfunc": "c = np.frompyfunc(o.put, 1, 1)",
    "methodcaller": "c = functools.partial(lambda m, o, *given: m(o), operator.methodcaller('put'), o)",
    "no cache": "c = functools.lru_cache(maxsize=0)(o.put)",
    "reference": "w = weakref.WeakMethod(o.put)\ndef c(*given):\n    return w()()",
}
CALLS = {
    "np.piecewise": "float(np.piecewise(np.ones(1), [np.ones(1) > 0], [lambda v: c(1.0)])[0])",
    "itself": "c(1.0)", "map": "list(map(c, [1.0, 2.0]))[1]", "sorted": "sorted([2.0, 1.0], key=c)[0]",
    "reduce": "functools.reduce(c, [1.0, 2.0])", "re.sub": "float(re.sub('a', lambda m: str(float(c(1.0))), 'a'))",
    "json": "float(json.dumps({1}, default=lambda s: float(c(1.0))))",
    "merge": "list(heapq.merge([1.0], [2.0], key=c))[0]",
    "accumulate": "list(itertools.accumulate([1.0, 2.0], c))[-1]",
    "np.vectorize": "float(np.vectorize(c, otypes=[float])(1.0))",
    "__missing__": "type('D', (dict,), {'__missing__': lambda s, k: c(k)})()['a']",
    "__lt__": "len(sorted([t := type('L', (), {'__lt__': lambda s, o: bool(c(1.0))}), t][:0] or [t(), t()]))",
    "__hash__": "len({type('H', (), {'__hash__': lambda s: int(c(1.0))})()})",
}
WRITES = {                                                    # what a call does, and what it returns
    "attribute": ("self.n += 1", "self.n"), "list": ("self.log.append(1)", "len(self.log)"),
    "array": ("self.array[1] += 1", "self.array[1]"), "class": ("Model.count += 1", "self.count"),
    "dict of dict": ("self.table['a']['b'] += 1", "self.table['a']['b']"),
    "deque": ("self.queue.append(1)", "len(self.queue)"),
    "set": ("self.set.add(len(self.set))", "len(self.set)"),
    "attribute of an attribute": ("self.part.n += 1", "self.part.n"),
    "global name": ("global total; total += 1", "total"), "global list": ("others.append(1)", "len(others)"),
    "function": ("helper.n = getattr(helper, 'n', 0) + 1", "helper.n"), "nothing": ("pass", "self.n"),
    "nothing, of a class": ("pass", "self.count"), "nothing, of a list": ("pass", "len(self.log)"),
}


def assert_as_python(tmp_path, transform, write, setup, body):
    """The function `hidden`, which has no text, is given h."""
    text = HEAD.format(write=WRITES[write][0], value=WRITES[write][1]) + f"{setup}\nexec({'def hidden(h):' + body!r})\n"
    worlds = [of_file(tmp_path, text + "def f(x):\n    return hidden(h) * np.sum(x)\n") for _ in range(2)]
    plain, staged = worlds[0].f, transform(worlds[1].f, compile="never")
    for k in range(4):
        if k == 2:
            [world.change() for world in worlds]
        x = np.array([1.0 + k, 2.0])
        want, before = plain(x), worlds[1].state()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fad.FallbackWarning)
                got = staged(x)
        except fad.FadError:                                  # refused: nothing has changed
            assert worlds[1].state() == before
            return
        assert want == (got if transform is fad.jit else got[0]), f"call {k + 1}"
        assert worlds[0].state() == worlds[1].state(), f"call {k + 1}"


@pytest.mark.parametrize("holder", HOLDERS)
def test_whatever_holds_the_callable(holder, tmp_path):
    hold, get = HOLDERS[holder]
    for write, transform in (("attribute", fad.value_and_grad), ("nothing", fad.jit)):
        assert_as_python(tmp_path, transform, write, f"c = o.put\n{hold}", f"\n    c = {get}\n    return c(1.0)")


@pytest.mark.parametrize("kind", CALLABLES)
def test_whatever_the_callable_is(kind, tmp_path):
    for write, call in (("attribute", "itself"), ("list", "map"), ("nothing", "sorted")):
        assert_as_python(tmp_path, fad.jit, write, f"{CALLABLES[kind]}\nh = [c]",
                         f"\n    c = h[0]\n    return {CALLS[call]}")


@pytest.mark.parametrize("call", CALLS)
def test_whoever_calls_it(call, tmp_path):
    for write, kind in (("attribute", "method"), ("deque", "closure"), ("nothing", "object")):
        assert_as_python(tmp_path, fad.jit, write, f"{CALLABLES[kind]}\nh = [c]",
                         f"\n    c = h[0]\n    return {CALLS[call]}")


@pytest.mark.parametrize("write", WRITES)
def test_whatever_it_does(write, tmp_path):
    for holder in ("itself", "result", "method"):
        hold, get = HOLDERS[holder]
        assert_as_python(tmp_path, fad.value_and_grad, write, f"c = o.put\n{hold}",
                         f"\n    c = {get}\n    return c(1.0)")


def test_a_property_without_a_text_counts_in_a_loop():
    def world():
        names = {}
        exec("class Model:\n    n = 0\n    @property\n    def count(self):\n"
             "        self.n += 1\n        return self.n", names)
        return names["Model"]()

    def f(o, x):
        s = 0.0
        for k in range(len(x)):
            s = s + o.count * x[k]
        return s
    plain, other = world(), world()
    staged = fad.jit(lambda x: f(other, x), compile="never")
    for _ in range(3):
        assert staged(np.ones(3)) == f(plain, np.ones(3)) and other.n == plain.n


RARE = list(itertools.product(WRITES, CALLABLES, HOLDERS, CALLS))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_other_pairs(number, tmp_path):
    """Some of all the cells of the table."""
    rng = np.random.default_rng(number)
    for k in rng.integers(len(RARE), size=25):
        write, kind, holder, call = RARE[k]
        hold, get = HOLDERS[holder]
        assert_as_python(tmp_path, fad.jit, write, f"{CALLABLES[kind]}\n{hold}",
                         f"\n    c = {get}\n    return {CALLS[call]}")
