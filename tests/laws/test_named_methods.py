"""The law of named methods: a special method that code calls by its name (`L.__setitem__(0, v)`, `operator.setitem`,
`object.__setattr__`) means what the statement means (`L[0] = v`), whatever the object is and however the method is
found; or it is refused.

Four calls of each function are compared with Python's, with changes from outside before the last one. Every run has a
part of the cases; $FAD_TURN gives other parts.
"""
import zlib

import numpy as np
import pytest

import fad

from ..trace.packages import of_file
from ..trace.test_ways_to_write import assert_alike
from ..turns import TURN

HEAD = '''
import array, dataclasses, functools, operator, types
import numpy as np
from collections import *
class Own:
    def __init__(self): self.v, self.items, self.hits = 1.0, [1.0, 2.0], 0
    def __getitem__(self, k): return self.items[k]
    def __setitem__(self, k, x): self.hits += 1; self.items[k] = x
    def __delitem__(self, k): self.hits += 1; del self.items[k]
    def __iadd__(self, x): self.hits += 1; self.v = self.v + x; return self
class Slots:
    __slots__ = ("v", "w")
    def __init__(self): self.v, self.w = 1.0, 2.0
class Setting:
    def __init__(self): vars(self).update(v=1.0, hits=0)
    def __setattr__(self, n, x): self.__dict__["hits"] += 1; self.__dict__[n] = x
    def __delattr__(self, n): self.__dict__["hits"] += 1; del self.__dict__[n]
class Proper:
    def __init__(self): self._v, self.hits = 1.0, 0
    @property
    def v(self): return self._v
    @v.setter
    def v(self, x): self.hits += 1; self._v = x
class PlainList(list): pass
class OwnList(list):
    hits = 0
    def __setitem__(self, k, x): self.hits += 1; list.__setitem__(self, k, x)
    def __iadd__(self, x): self.hits += 1; return list.__iadd__(self, x)
    def __delitem__(self, k): self.hits += 1; super().__delitem__(k)
class OwnDict(dict):
    hits = 0
    def __setitem__(self, k, x): self.hits += 1; super().__setitem__(k, x)
    def __delitem__(self, k): self.hits += 1; dict.__delitem__(self, k)
    def __ior__(self, x): self.hits += 1; dict.update(self, x); return self
@dataclasses.dataclass(frozen=True)
class Frozen:
    v: float = 1.0
@dataclasses.dataclass
class Data:
    v: float = 1.0
class O: pass
class K: v = 1.0
def fn(): pass
RECORD = np.dtype([("a", float), ("b", int)])
L, PL, OL = [3.0, 1.0, 2.0], PlainList([3.0, 1.0, 2.0]), OwnList([3.0, 1.0, 2.0])
D, OD, DD = {"a": 1.0, "b": 2.0}, OrderedDict(a=1.0, b=2.0), defaultdict(list, a=1.0, b=2.0)
WD, C, S, Q = OwnDict(a=1.0, b=2.0), Counter(a=1, b=2), {1, 2}, deque([1.0, 2.0, 3.0])
A, I, Z = np.array([3.0, 1.0, 2.0]), np.array([1, 2, 3]), np.array([1 + 1j, 2.0])
B, P, R, VIEWED = np.array([True, False]), np.array(2.0), np.zeros(2, RECORD), np.zeros(2, RECORD)
REC = np.rec.array([(1.0, 2), (3.0, 4)], dtype=RECORD)
ROW, VIEWROW, RROW, OBJECTS = R[0].copy(), VIEWED[1], REC[0].copy(), np.array([1.0, "t", None], dtype=object)
NUMBERS, BYTES = array.array("d", [1.0, 2.0]), bytearray(b"abc")
X, SL, SE, PR, FR, DA, ns, o = Own(), Slots(), Setting(), Proper(), Frozen(), Data(), types.SimpleNamespace(v=1.0), O()
o.v = fn.v = 1.0
MOD = types.ModuleType("mod")
MOD.v = 1.0
def state():
    return [L, PL, OL, vars(OL), D, OD, DD, WD, vars(WD), C, S, Q, A.tolist(), I.tolist(), Z.tolist(), B.tolist(),
            P.tolist(), R.tolist(), VIEWED.tolist(), REC.tolist(), ROW.tolist(), RROW.tolist(), OBJECTS.tolist(),
            NUMBERS, BYTES, vars(X), SL.v, SL.w, vars(SE), vars(PR), vars(FR), vars(DA), vars(ns), vars(o),
            fn.v, K.v, MOD.v, G]
def change():
    for c in (L, PL, A, I, Z, Q, P[None], NUMBERS): c[0] += 1
    for c in (D, OD, DD, C): c["a"] += 1
    for c in (R[0], VIEWED[1], REC[0], ROW, RROW): c["a"] += 1.0; c["b"] += 2
    for c in (X, SL, DA, ns, o, fn, K, MOD): c.v += 1.0
    list.__setitem__(OL, 0, 4.0); dict.__setitem__(WD, "a", 4.0); B[0] ^= True; BYTES[0] = 70; X.items[0] = 5.0
    SE.__dict__["v"] = PR.__dict__["_v"] = FR.__dict__["v"] = OBJECTS[0] = 5.0
G = 1.0
'''
# target, the arguments of the method (with the new value in {x}), new values, what is read, what is done before
ITEMS = [
    *[(t, "0, {x}", ["v", "5.0", f"{t}[0] + v"], f"{t}[0]") for t in (
        "L", "PL", "OL", "Q", "A", "OBJECTS", "X", "A.flat", "R['a']", "X.items", "A[1:]")],
    *[(t, "'a', {x}", ["v", "5.0", f"{t}['a'] + v"], f"{t}['a']") for t in (
        "D", "OD", "DD", "WD", "ROW", "VIEWROW", "RROW", "R[1]")],
    *[(t, "'b', {x}", ["7", f"int({t}['b']) + 1"], f"{t}['b']") for t in ("ROW", "VIEWROW", "RROW", "R[1]")],
    *[(t, "'v', {x}", ["v", "5.0", f"{t}['v'] + v"], f"{t}['v']") for t in (
        "vars(o)", "o.__dict__", "ns.__dict__", "MOD.__dict__")],
    *[(t, "0, {x}", ["7", f"int({t}[0]) + 1"], f"{t}[0]") for t in ("I", "BYTES")],
    ("L", "slice(0, 1), {x}", ["[v]", "[5.0]"], "L[0]"), ("A", "slice(0, 2), {x}", ["v", "5.0"], "A[1]"),
    ("C", "'a', {x}", ["7", "C['a'] + 1"], "C['a']"), ("B", "0, {x}", ["False", "not B[0]"], "B[0]"),
    ("Z", "0, {x}", ["v", "5.0", "Z[0] * v"], "Z[0].real"), ("P", "(), {x}", ["v", "5.0", "P[()] + v"], "P[()]"),
    ("R", "0, {x}", ["(v, 3)", "(5.0, 4)"], "R[0]['a']"), ("R", "'a', {x}", ["v", "5.0"], "R['a'][1]"),
    ("REC", "'a', {x}", ["v", "5.0"], "REC['a'][1]"), ("NUMBERS", "0, {x}", ["5.0", "NUMBERS[0] + 1.0"], "NUMBERS[0]"),
    ("globals()", "'G', {x}", ["v", "5.0", "G + v"], "G"),
]
DELETED = [
    *[(t, "0", [""], f"{t}[0]", f"{t}.append(v)") for t in ("L", "PL", "OL", "Q", "X.items")],
    *[(t, "'z'", [""], f"{t}['a']", f"{t}['z'] = v") for t in ("D", "OD", "DD", "WD", "C")],
    ("X", "0", [""], "X.items[0]", "X.items.append(v)"), ("BYTES", "0", [""], "BYTES[0]", "BYTES.append(8)"),
    ("NUMBERS", "0", [""], "NUMBERS[0]", "NUMBERS.append(8.0)"),
    ("o.__dict__", "'z'", [""], "o.v", "o.z = v"),
]
IN_PLACE = [
    *[("add", t, "{x}", ["[v]", "[5.0]"], f"{t}[-1]") for t in ("L", "PL", "OL", "Q", "X.items")],
    *[("ior", t, "{x}", ["{'a': v}", "{'a': 5.0}"], f"{t}['a']") for t in ("D", "OD", "DD", "WD")],
    *[(op, t, "{x}", ["v", "5.0"], f"{t}[()].sum()")
      for op in ("add", "sub", "mul", "truediv", "pow") for t in ("A", "P")],
    ("add", "I", "{x}", ["2", "I[::-1]"], "I[0]"), ("lshift", "I", "{x}", ["1"], "I[0]"),
    ("floordiv", "A", "{x}", ["2.0"], "A[0]"), ("mod", "A", "{x}", ["2.0"], "A[0]"),
    ("xor", "B", "{x}", ["True"], "B[0]"), ("mul", "Z", "{x}", ["v", "1j"], "Z[0].real"),
    ("mul", "L", "{x}", ["1"], "L[0]"), ("add", "X", "{x}", ["v"], "X.v"),
    ("add", "C", "{x}", ["Counter(a=1)"], "C['a']"), ("or", "S", "{x}", ["{7}"], "len(S)"),
    ("and", "S", "{x}", ["{1}"], "len(S)"), ("add", "BYTES", "{x}", ["b'x'"], "len(BYTES)"),
    ("add", "NUMBERS", "{x}", ["array.array('d', [5.0])"], "NUMBERS[-1]"), ("add", "A[1:]", "{x}", ["v"], "A[1]"),
    ("add", "R['a']", "{x}", ["v"], "R['a'][0]"),
]
ATTRIBUTES = [(t, "'v', {x}", ["v", "5.0", f"{t}.v + v"], f"{t}.v") for t in (
    "o", "ns", "SL", "SE", "PR", "FR", "DA", "K", "MOD", "fn", "X")]
ATTRIBUTES.append(("RROW", "'a', {x}", ["v", "5.0"], "RROW['a']"))
LOST = [(t, "'z'", [""], f"{t}.v", f"{t}.z = v") for t in ("o", "ns", "SE", "PR", "DA", "K", "MOD", "X")]
WAYS = {
    "of the object": "{t}.{d}({a})",
    "of operator": "operator.{o}({t}, {a})",
    "of its class": "type({t}).{d}({t}, {a})",
    "of __class__": "{t}.__class__.{d}({t}, {a})",
    "methodcaller": "operator.methodcaller('{d}', {a})({t})",
    "getattr": "getattr({t}, '{d}')({a})",
    "a name": "m_ = {t}.{d}; m_({a})",
    "partial": "functools.partial({t}.{d})({a})",
    "partial of operator": "functools.partial(operator.{o}, {t})({a})",
    "partial of the class": "functools.partial(type({t}).{d}, {t})({a})",
    "map": "list(map({t}.{d}, *[[a_] for a_ in [{a}]]))",
    "map of operator": "list(map(operator.{o}, [{t}], *[[a_] for a_ in [{a}]]))",
    "a star": "{t}.{d}(*({a},))",
    "bound": "type({t}).{d}.__get__({t})({a})",
    "from outside": "PUT({a})",
    "a lambda": "(lambda p: p({a}))({t}.{d})",
    "__call__": "{t}.{d}.__call__({a})",
    "a comprehension": "[{t}.{d}(*a_) for a_ in [({a},)]]",
    "of a base": "{base}.{d}({t}, {a})",
}
FUNCTIONS = {"__setattr__": "setattr", "__delattr__": "delattr"}
BASES = {"PL": "list", "OL": "list", "OD": "dict", "DD": "dict", "WD": "dict", "C": "dict", "REC": "np.ndarray",
         "RROW": "np.void", "K": "type", "A[1:]": "np.ndarray"}
PLACES = {
    "a line": "    {s}\n",
    "a branch": "    if v > 0.6:\n        {s}\n",
    "a loop": "    for j_ in range(3):\n        {s}\n",
    "a while loop": "    j_ = v\n    while j_ < 3.0:\n        {s}\n        j_ = j_ * 2.0\n",
}
KINDS = {"__setitem__": ITEMS, "__delitem__": DELETED, "__setattr__": ATTRIBUTES, "__delattr__": LOST}
ALL = [(method, *case) for method, cases in KINDS.items() for case in cases]
ALL += [(f"__{op if op[0] == 'i' else 'i' + op}__", *case) for op, *case in IN_PLACE]
COUNT = 60                                                    # every run has one case in so many


def programs(method, target, arguments, values, read, before=""):
    """The texts of functions that call a method of a target."""
    base = BASES.get(target, "object" if "attr" in method else "")
    for way, text in WAYS.items():
        for x in values:
            for place, body in PLACES.items():
                if way == "of a base" and not base or way == "from outside" and "(" in target:
                    continue
                if zlib.crc32(repr((method, target, way, x, place, TURN)).encode()) % COUNT:
                    continue
                given = {"t": target, "d": method, "a": arguments.replace("{x}", x), "base": base,
                         "o": FUNCTIONS.get(method, method)}
                call = text
                for name, part in given.items():
                    call = call.replace(f"{{{name}}}", part)
                if way.endswith("of operator") or way == "of operator":
                    call = call.replace("operator.setattr", "setattr").replace("operator.delattr", "delattr")
                step = "; ".join(filter(None, [before, call]))
                put = f"PUT = {target}.{method}" if way == "from outside" else ""
                yield (f"{HEAD}{put}\ndef f(v):\n{body.replace('{s}', step)}    y = {read}\n"
                       "    return y * 1.0 + 0.0 * v\n")


def outcome(f, v):
    try:
        return f(v)
    except Exception as error:
        return error


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning", "error::fad.InternalErrorWarning")
@pytest.mark.parametrize("case", ALL, ids=[f"{method}-{target}-{k}" for k, (method, target, *_) in enumerate(ALL)])
def test_a_method_that_is_named_means_the_statement(case, tmp_path):
    for number, text in enumerate(programs(*case)):
        transform = fad.jit if number % 2 else fad.value_and_grad
        compare(text, transform, tmp_path)


def compare(text, transform, folder):
    python, module = of_file(folder, text), of_file(folder, text)
    g = transform(module.f, compile="never")
    for call, v in enumerate([0.5, 0.7, 0.7, 1.9]):
        if call == 3:
            python.change(), module.change()
        want, found = outcome(python.f, v), outcome(g, v)
        if isinstance(found, fad.FadError) or isinstance(want, Exception):
            assert isinstance(found, Exception), f"{text}\nPython raises {want!r}"
            assert isinstance(found, (fad.FadError, type(want))), f"{text}\nPython raises {want!r}"
            return
        assert not isinstance(found, Exception), f"{text[len(HEAD):]}\n{found!r}"
        np.testing.assert_allclose(found if transform is fad.jit else found[0], want, err_msg=text[len(HEAD):])
        assert_alike(module.state(), python.state())
