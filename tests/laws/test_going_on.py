"""Things that go on from where they are: each question changes what the next one gives. Functions that ask them in
loops, branches and handlers get Python's answers, whether the thing was made inside or stands outside.
"""
import itertools
import warnings

import numpy as np
import pytest

import fad

from ..trace.packages import of_file

HEAD = """
import array, collections, configparser, contextvars, copy, csv, dataclasses, functools, hashlib, heapq, io, itertools
import json, logging, math, operator, pickle, queue, random, re, shlex, struct, threading, types, weakref, zlib
import numpy as np
class P:
    def __init__(self):
        self._v = 0
        self.n = 0
    @property
    def v(self):
        self.n += 1
        return self.n
    @v.setter
    def v(self, k):
        self._v = k
    def __len__(self):
        self.n += 1
        return self.n
    def __bool__(self):
        self.n += 1
        return self.n % 2 == 0
    def __contains__(self, k):
        self.n += 1
        return self.n > k
    def __call__(self):
        self.n += 1
        return self.n
    def __getitem__(self, k):
        self.n += k
        return self.n
    def __getattr__(self, k):
        if k.startswith("z"): self.n += 1; return self.n
        raise AttributeError(k)
    def __eq__(self, o):
        self.n += 1
        return self.n == o
    def __hash__(self):
        return 1
    def __float__(self):
        self.n += 1
        return float(self.n)
    def __index__(self):
        self.n += 1
        return self.n
    def __str__(self):
        self.n += 1
        return str(self.n)
    def __format__(self, s):
        self.n += 1
        return str(self.n)
    def __add__(self, o):
        self.n += 1
        return self.n + o
    def __radd__(self, o):
        self.n += 1
        return self.n + o
    def __matmul__(self, o):
        self.n += 1
        return self.n
    def __neg__(self):
        self.n += 1
        return -self.n
    def __iter__(self):
        self.n += 1
        return iter([self.n])
    def __reversed__(self):
        self.n += 1
        return iter([self.n])
class D(dict):
    def __missing__(self, k):
        self[k] = len(self)
        return self[k]
class S:
    __slots__ = ("a",)
    def __init__(self):
        self.a = 0
class C:
    n = 0
    @classmethod
    def up(cls):
        cls.n += 1
        return cls.n
    @staticmethod
    def st(l):
        l.append(1)
        return len(l)
def fn(l=[]):
    l.append(1)
    return len(l)
def kw(*, d={}):
    d[len(d)] = 1
    return len(d)
def gen():
    k = 0
    while True:
        r = yield k
        k += r or 1
def mk():
    k = 0
    def up():
        nonlocal k
        k += 1
        return k
    return up
class Desc:
    def __init__(self):
        self.n = 0
    def __get__(self, o, t):
        self.n += 1
        return self.n
    def __set__(self, o, v):
        self.n += v
class WithD: d = Desc()
@dataclasses.dataclass
class DC:
    xs: list = dataclasses.field(default_factory=list)
    k: int = 0
"""
# what makes the thing, and what asks it for a number
THINGS = {
    "StringIO.readline": ("o = io.StringIO('1\\n2\\n3\\n4\\n5\\n6\\n7\\n')", "float(o.readline())"),
    "StringIO.read": ("o = io.StringIO('1234567')", "float(o.read(1))"),
    "StringIO.write": ("o = io.StringIO()", "o.write('ab') + len(o.getvalue())"),
    "StringIO next": ("o = io.StringIO('1\\n2\\n3\\n4\\n5\\n6\\n7\\n')", "float(next(o))"),
    "BytesIO": ("o = io.BytesIO(b'1234567')", "float(o.read(1))"),
    "BytesIO tell": ("o = io.BytesIO(b'1234567')", "len(o.read(2)) + o.tell()"),
    "queue": ("o = queue.Queue(); [o.put(k) for k in range(8)]", "o.get_nowait()"),
    "queue.put": ("o = queue.Queue()", "(o.put(1), o.qsize())[1]"),
    "array.pop": ("o = array.array('d', [1., 2., 3., 4., 5., 6., 7.])", "o.pop()"),
    "array.append": ("o = array.array('d', [1., 2.])", "(o.append(3.0), len(o))[1]"),
    "bytearray": ("o = bytearray(b'abcdefgh')", "o.pop() + len(o)"),
    "deque.popleft": ("o = collections.deque(range(8))", "o.popleft()"),
    "deque.rotate": ("o = collections.deque(range(8))", "(o.rotate(1), o[0])[1]"),
    "heappop": ("o = list(range(8))", "heapq.heappop(o)"),
    "heappushpop": ("o = list(range(8))", "heapq.heappushpop(o, 9)"),
    "list.pop": ("o = list(range(8))", "o.pop()"),
    "list.pop0": ("o = list(range(8))", "o.pop(0)"),
    "del list": ("o = list(range(8))", "(o.__delitem__(0), o[0])[1]"),
    "reverse": ("o = list(range(8))", "(o.reverse(), o[0])[1]"),
    "sort": ("o = [3, 1, 2]", "(o.append(len(o)), o.sort(), o[0])[2]"),
    "set.pop": ("o = set(range(8))", "o.pop()"),
    "set.add": ("o = set()", "(o.add(len(o)), len(o))[1]"),
    "set ^=": ("o = {1, 2}", "(o.__ixor__({2, 3}), len(o))[1]"),
    "dict.popitem": ("o = {k: k for k in range(8)}", "o.popitem()[0]"),
    "dict.setdefault": ("o = {}", "o.setdefault(len(o), 5) + len(o)"),
    "dict.update": ("o = {}", "(o.update({len(o): 1}), len(o))[1]"),
    "OrderedDict": (
        "o = collections.OrderedDict((k, k) for k in range(8))",
        "(o.move_to_end(next(iter(o))), next(iter(o)))[1]"),
    "Counter": ("o = collections.Counter()", "(o.update('a'), o['a'])[1]"),
    "defaultdict": ("o = collections.defaultdict(list)", "(o[len(o)], len(o))[1]"),
    "missing": ("o = D()", "o[len(o) + 3]"),
    "ChainMap": ("o = collections.ChainMap({}, {'a': 1})", "(o.__setitem__('a', o['a'] + 1), o['a'])[1]"),
    "UserDict": ("o = collections.UserDict(a=1)", "(o.__setitem__('a', o['a'] + 1), o['a'])[1]"),
    "UserList": ("o = collections.UserList([1])", "(o.append(1), len(o))[1]"),
    "namespace": ("o = types.SimpleNamespace(n=0)", "(setattr(o, 'n', o.n + 1), o.n)[1]"),
    "slots": ("o = S()", "(setattr(o, 'a', o.a + 1), o.a)[1]"),
    "property": ("o = P()", "o.v"),
    "len": ("o = P()", "len(o)"),
    "bool": ("o = P()", "(1.0 if o else 2.0)"),
    "contains": ("o = P()", "(3 in o) * 1.0"),
    "call": ("o = P()", "o()"),
    "getitem": ("o = P()", "o[2]"),
    "getattr": ("o = P()", "o.zeta"),
    "eq": ("o = P()", "(o == 2) * 1.0"),
    "float": ("o = P()", "float(o)"),
    "index": ("o = P()", "[1, 2, 3, 4, 5, 6, 7, 8][o]"),
    "str": ("o = P()", "float(str(o))"),
    "format": ("o = P()", "float(f'{o:s}')"),
    "add": ("o = P()", "(o + 1)"),
    "radd": ("o = P()", "(1 + o)"),
    "matmul": ("o = P()", "(o @ 1)"),
    "neg": ("o = P()", "(-o)"),
    "iter": ("o = P()", "sum(o)"),
    "unpack": ("o = P()", "[*o][0]"),
    "reversed": ("o = P()", "next(reversed(o))"),
    "sum": ("o = P()", "sum([o])"),
    "max": ("o = P()", "max(o)"),
    "np.float": ("o = P()", "np.float64(o)"),
    "math": ("o = P()", "math.sqrt(o)"),
    "any": ("o = P()", "any([o]) * 1.0"),
    "not": ("o = P()", "(not o) * 1.0"),
    "sorted": ("o = P()", "sorted([o], key=lambda p: p())[0].n"),
    "index list": ("o = P()", "([5, 1, 2, 3, 4, 6].index(o) if o.n < 4 else 0)"),
    "in list": ("o = P()", "(o in [1, 2, 3]) * 1.0"),
    "round": ("o = P()", "round(float(o))"),
    "range": ("o = P()", "len(range(o))"),
    "slice": ("o = P()", "len([1, 2, 3, 4, 5, 6, 7][:o])"),
    "mult": ("o = P()", "len([1] * o)"),
    "join": ("o = P()", "len('-'.join([str(o), 'a']))"),
    "hash": ("o = P()", "len({o: 1, 3: 2})"),
    "classmethod": ("C.n = 0; o = C()", "o.up()"),
    "static": ("o = []", "C.st(o)"),
    "default": ("fn.__defaults__[0].clear()", "fn()"),
    "kwdefault": ("kw.__kwdefaults__['d'].clear()", "kw()"),
    "closure": ("o = mk()", "o()"),
    "generator.send": ("o = gen(); next(o)", "o.send(2)"),
    "generator next": ("o = gen()", "next(o)"),
    "descriptor": ("WithD.__dict__['d'].n = 0; o = WithD()", "o.d"),
    "dataclass": ("o = DC()", "(o.xs.append(1), len(o.xs))[1]"),
    "replace": ("o = DC()", "(o.xs.append(1), len(dataclasses.replace(o).xs))[1]"),
    "count": ("o = itertools.count()", "next(o)"),
    "cycle": ("o = itertools.cycle([1, 2, 3])", "next(o)"),
    "tee": ("o, p = itertools.tee(range(9))", "next(o) + next(p)"),
    "groupby": ("o = itertools.groupby([1,1,2,2,3,3,4,4,5,5,6])", "next(o)[0]"),
    "islice": ("o = iter(range(20))", "sum(itertools.islice(o, 2))"),
    "batched": ("o = iter(range(20))", "next(zip(o, o))[1]"),
    "star": ("o = iter(range(20))", "max(next(o), next(o))"),
    "partial": ("o = functools.partial(next, iter(range(20)))", "o()"),
    "attrgetter": ("o = P()", "operator.attrgetter('v')(o)"),
    "methodcaller": ("o = list(range(8))", "operator.methodcaller('pop')(o)"),
    "itemgetter": ("o = P()", "operator.itemgetter(1)(o)"),
    "bound": ("o = list(range(8)); p = o.pop", "p()"),
    "bound next": ("o = iter(range(9)).__next__", "o()"),
    "map": ("o = map(float, range(9))", "next(o)"),
    "csv": ("o = csv.reader(['1,2', '3,4', '5,6', '7,8', '9,10', '11,12'])", "float(next(o)[0])"),
    "finditer": ("o = re.finditer('[0-9]', '123456789')", "float(next(o)[0])"),
    "struct": ("o = struct.iter_unpack('b', bytes(range(9)))", "next(o)[0]"),
    "shlex": ("o = shlex.shlex('1 2 3 4 5 6 7 8')", "float(o.get_token())"),
    "random": ("o = random.Random(3)", "o.random()"),
    "default_rng": ("o = np.random.default_rng(3)", "o.normal()"),
    "RandomState": ("o = np.random.RandomState(3)", "o.rand()"),
    "contextvar": ("o = contextvars.ContextVar('o', default=0)", "(o.set(o.get() + 1), o.get())[1]"),
    "local": ("o = threading.local(); o.n = 0", "(setattr(o, 'n', o.n + 1), o.n)[1]"),
    "hash update": ("o = hashlib.md5()", "(o.update(b'a'), o.digest()[0])[1]"),
    "crc": ("o = [0]", "(o.append(zlib.crc32(b'a', o[-1]) % 97), o[-1])[1]"),
    "compress": ("o = zlib.compressobj()", "len(o.compress(b'abc')) + len(o.flush(zlib.Z_SYNC_FLUSH))"),
    "config": (
        "o = configparser.ConfigParser(); o['a'] = {'n': '0'}",
        "(o.set('a', 'n', str(int(o['a']['n']) + 1)), float(o['a']['n']))[1]"),
    "deepcopy": ("o = [[0]]", "(o[0].append(1), len(copy.deepcopy(o)[0]))[1]"),
    "pickle": ("o = [0]", "(o.append(1), len(pickle.loads(pickle.dumps(o))))[1]"),
    "json": ("o = [0]", "(o.append(1), len(json.loads(json.dumps(o))))[1]"),
    "nditer": ("o = np.nditer(np.arange(9))", "float(next(o))"),
    "ndenumerate": ("o = np.ndenumerate(np.arange(9.))", "next(o)[1]"),
    "ndindex": ("o = np.ndindex(3, 3)", "next(o)[1]"),
    "broadcast": ("o = np.broadcast(np.arange(9.), 1.0)", "next(o)[0]"),
    "np write": ("o = np.zeros(3)", "(o.__setitem__(0, o[0] + 1), o[0])[1]"),
    "np sort": ("o = np.array([3., 1., 2.])", "(o.sort(), o[0])[1]"),
    "np resize": ("o = np.zeros(3)", "(np.put(o, 0, o[0] + 2), o.sum())[1]"),
    "memoryview": ("o = bytearray(4); p = memoryview(o)", "(p.__setitem__(0, p[0] + 1), o[0])[1]"),
    "globals": ("globals()['ZZ'] = 0", "(globals().__setitem__('ZZ', ZZ + 1), ZZ)[1]"),
    "vars": ("o = types.SimpleNamespace(n=0)", "(vars(o).update(n=o.n + 1), o.n)[1]"),
    "exec": ("o = {'n': 0}", "(exec('n += 1', o), o['n'])[1]"),
    "function attr": ("fn.k = 0", "(setattr(fn, 'k', fn.k + 1), fn.k)[1]"),
    "type attr": ("C.n = 0", "(setattr(C, 'n', C.n + 1), C.n)[1]"),
    "logging": (
        "o = logging.LoggerAdapter(logging.getLogger('q'), {}); o.extra = {'n': 0}",
        "(o.extra.update(n=o.extra['n'] + 1), o.extra['n'])[1]"),
    "weakset": ("o = weakref.WeakSet(); p = [P() for _ in range(9)]", "(o.add(p[len(o)]), len(o))[1]"),
    "sched": ("o = [3, 4]", "(o.extend(o[:1]), len(o))[1]"),
    "slice assign": ("o = [1, 2]", "(o.__setitem__(slice(0, 1), [1, 2]), len(o))[1]"),
    "exc": ("o = ValueError(1)", "(setattr(o, 'args', (o.args[0] + 1,)), o.args[0])[1]"),
}
PLACES = {
    "straight": "s = s + {op} * x[1]\ns = s + {op} * x[2]",
    "loop": "for k in range(3):\n    s = s + {op} * x[k]",
    "loop data": "for k in range(4):\n    s = s + ({op} + 0.1) * x[1]\n    if s > 0.9: break\ns = s + {op} * x[2]",
    "branch": "if x[0] > 0.1:\n    s = s + {op} * x[1]\ns = s + {op} * x[2]",
    "while": "k = 0\nwhile s < 2.0 and k < 3:\n    k += 1\n    s = s + ({op} + 0.1) * x[1]\ns = s + {op} * x[2]",
    "try": ("try:\n    s = s + {op} * x[1]\n    s = s + 1.0 / float(x[0])\n"
        "except ZeroDivisionError:\n    s = x[0]\ns = s + {op} * x[2]"),
    "comp": "s = s + sum([{op} * v for v in x])\ns = s + {op} * x[2]",
    "inner": "def inner(z):\n    return {op} * z\ns = inner(x[0]) + inner(x[1])",
    "ifexp": "s = s + ({op} if x[0] > 0.1 else 0.5) * x[2]\ns = s + {op} * x[1]",
    "nested": ("for i in range(2):\n    for j in range(2):\n        if x[j] > 0.25:\n"
        "            s = s + {op} * x[i]\ns = s + {op} * x[2]"),
}
EVERY = 6                                                     # of the ways to ask a thing: each is met by some thing
WAYS = [(thing, place, is_outer) for k, (thing, (place, is_outer)) in enumerate(
    itertools.product(THINGS, itertools.product(PLACES, (False, True)))) if (k + k // 20) % EVERY == 0]


def text_of(thing, place, is_outer):
    setup, ask = THINGS[thing]
    lines = ["s = x[0]", *PLACES[place].format(op=ask).split("\n"), "return s"]
    head = [f"{setup}\n"] if is_outer else []
    inside = lines if is_outer else [setup, *lines]
    return HEAD + "\n".join([*head, "def f(x):", *[f"    {line}" for line in inside]]) + "\n"


@pytest.mark.parametrize("thing, place, is_outer", WAYS)
def test_answers_are_pythons(thing, place, is_outer, tmp_path):
    text = text_of(thing, place, is_outer)
    python, traced = of_file(tmp_path, text), of_file(tmp_path, text)
    g = fad.value_and_grad(traced.f, compile="never")
    for x in (np.array([0.3, 0.23, 0.5]), np.array([0.05, 0.3, 0.6]), np.array([0.4, 0.1, 0.7])):
        try:
            expected = python.f(x)
        except Exception as error:
            with pytest.raises(type(error)):
                g(x)
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            np.testing.assert_allclose(g(x)[0], expected)
