"""State of every kind is changed between the calls of a function, wherever the function's code comes from: each call is
what Python is then."""
import gc
import textwrap
import warnings
import weakref

import numpy as np
import pytest

import fad

from ... import texts
from ...turns import crossed, in_turn
from ..packages import WAYS, by_pip, executed, installed

X = np.array([0.3, 0.7, 1.1])

# what a function reads: (statements before, the function's body, the change between two calls). @ is a number that
# differs at each change.
CASES = {
    "a global": ("GAIN = 1.0", "return np.sum(x) * GAIN", "GAIN = @"),
    "a global of another kind": ("GAIN = 1", "return np.sum(x) * GAIN / 2", "GAIN = 1.0 + @"),
    "the sign of zero": ("ZERO = 0.0", "return np.sum(x) * np.copysign(1.0, ZERO)", "ZERO = -ZERO"),
    "a global that appears": ("globals().pop('LATER', None)",
                              "try:\n    return np.sum(x) * LATER\nexcept NameError:\n    return np.sum(x)",
                              "LATER = @"),
    "a builtin that is hidden": ("globals().pop('len', None)", "return np.sum(x) * len([1.0])", "len = lambda x: @"),
    "a cell": ("def outer():\n    held = 1.0\n    def change(v):\n        nonlocal held\n        held = v\n"
               "    return (lambda x: np.sum(x) * held), change\n"
               "CLOSED, CHANGE = outer()", "return CLOSED(x)", "CHANGE(@)"),
    "a default": ("def g(x, k=1.0): return x * k", "return np.sum(g(x))", "g.__defaults__ = (@,)"),
    "a keyword's default": ("def g(x, *, k=1.0): return x * k", "return np.sum(g(x))", "g.__kwdefaults__ = {'k': @}"),
    "a default that is a list": ("LS = [1.0]\ndef g(x, k=LS): return x * k[0]", "return np.sum(g(x))", "LS[0] = @"),
    "the code": ("def g(x): return x", "return np.sum(g(x))", "g.__code__ = eval('lambda x: x * @').__code__"),
    "an attribute": ("", "return np.sum(x) * OB.k", "OB.k = @"),
    "an array": ("", "return np.sum(x * OB.w)", "OB.w[0] = @"),
    "an array rebound": ("", "return np.sum(x * OB.w)", "OB.w = OB.w * @"),
    "a method": ("", "return OB.times(x)", "OB.k = @"),
    "a method's list": ("", "return OB.over(x)", "OB.parts[1] = @"),
    "a method of another class": ("", "return OB.times(x)",
                                  "OB.__class__ = type('Other', (Model,), {'times': lambda self, x: np.sum(x) * @})"),
    "a method replaced": ("", "return OB.times(x)", "Model.times = lambda self, x: np.sum(x) * @"),
    "an object's own method": ("", "return OB.times(x)", "OB.times = lambda x: np.sum(x) * @"),
    "an object's own method, read before": ("", "g = OB.double\nreturn g(x) + g(x)",
                                            "OB.double = lambda x: np.sum(x) * @"),
    "an object's own class method": ("", "return np.sum(x) * OB.by_class()", "OB.by_class = lambda: @"),
    "a method in an attribute": ("OB.called = Model().times", "return OB.called(x)", "OB.called = Model(@).times"),
    "a method in an attribute, its object": ("OB.called = Model().times", "return OB.called(x)",
                                             "OB.called.__self__.k = @"),
    "a method in a class attribute": ("Model.called = Model().times", "return OB.called(x)",
                                      "Model.called = Model(@).times"),
    "a method in a class attribute that is hidden": ("Model.called = Model().times", "return OB.called(x)",
                                                     "OB.called = Model(@).times"),
    "a method in a name space": ("SPACE = types.SimpleNamespace(called=OB.times)", "return SPACE.called(x)",
                                 "SPACE.called = Model(@).times"),
    "a method in a module": ("SPACE = types.ModuleType('space')\nSPACE.called = OB.times", "return SPACE.called(x)",
                             "SPACE.called = Model(@).times"),
    "a method in a library's object": ("SPACE = UserList()\nSPACE.called = OB.times", "return SPACE.called(x)",
                                       "SPACE.called = Model(@).times"),
    "a method of a library's object that is hidden": ("SPACE = UserList([1.0])", "return np.sum(x) * SPACE.count(1.0)",
                                                      "SPACE.count = lambda v: @"),
    "a method that super finds, hidden": ("", "return Other().double(x)",
                                          "Base.double = lambda self, x: np.sum(x) * @"),
    "a metaclass's method": ("", "return np.sum(x) * Made.made()", "Meta.made = lambda cls: @"),
    "a metaclass's method that is hidden": ("", "return np.sum(x) * Made.made()", "Made.made = lambda: @"),
    "a class attribute": ("", "return np.sum(x) * OB.rate", "Model.rate = @"),
    "a class attribute of a base": ("", "return np.sum(x) * OB.basic", "Base.basic = @"),
    "an attribute that hides the class's": ("vars(OB).pop('rate', None)", "return np.sum(x) * OB.rate", "OB.rate = @"),
    "a class that hides the base's": ("", "return np.sum(x) * OB.basic", "Model.basic = @"),
    "a property that hides an attribute": ("", "return np.sum(x) * OB.k",
                                           "Model.k = property(lambda self: @, lambda self, v: None)"),
    "a property": ("", "return np.sum(x) * OB.scale", "OB.k = @"),
    "a property replaced": ("", "return np.sum(x) * OB.scale", "Model.scale = property(lambda self: @)"),
    "a cached property": ("", "return np.sum(x) * OB.cached", "OB.__dict__.pop('cached', None); OB.k = @"),
    "a cached property that stays": ("", "return np.sum(x) * OB.cached", "OB.k = @"),
    "a cached property of an array": ("", "return np.sum(x * OB.cached_array)",
                                      "OB.w = OB.w * @; OB.__dict__.pop('cached_array')"),
    "a descriptor": ("", "return np.sum(x) * OB.described", "OB.k = @"),
    "a descriptor's own state": ("", "return np.sum(x) * OB.described", "Described.by = @"),
    "an attribute that is made up": ("", "return np.sum(x) * OB.made_up", "OB.k = @"),
    "an attribute where one was made up": ("", "return np.sum(x) * OB.made_up",
                                           "vars(OB).pop('made_up', None) or setattr(OB, 'made_up', @)"),
    "a class attribute where one was made up": ("", "return np.sum(x) * OB.made_up", "Model.made_up = @"),
    "an attribute that appears": ("", "return np.sum(x) * getattr(OB, 'later', 1.0)", "OB.later = @"),
    "a class attribute that appears": ("", "return np.sum(x) * getattr(OB, 'later', 1.0)", "Base.later = @"),
    "an attribute that is there": ("", "return np.sum(x) * (2.0 if hasattr(OB, 'later') else 1.0)", "OB.later = @"),
    "an attribute that is not there": ("",
                                       "try:\n    return np.sum(x) * OB.later\nexcept AttributeError:\n"
                                       "    return np.sum(x)", "OB.later = @"),
    "an attribute of a made name": ("OB.w1 = 1.0", "return np.sum(x) * getattr(OB, 'w' + str(1))", "OB.w1 = @"),
    "a class attribute of a made name": ("Model.w2 = 1.0", "return np.sum(x) * getattr(OB, 'w' + str(2))",
                                         "Model.w2 = @"),
    "a metaclass": ("class Meta(type):\n    k = 1.0\nclass Made(metaclass=Meta): pass", "return np.sum(x) * Made.k",
                    "Meta.k = @"),
    "an attribute of a metaclass that is hidden": ("class Meta(type):\n    k = 1.0\nclass Made(metaclass=Meta): pass",
                                                   "return np.sum(x) * Made.k", "Made.k = @"),
    "slots": ("", "return np.sum(x) * SLOTS.a * SLOTS.hidden()", "SLOTS.a = @"),
    "a slot of a private name": ("", "return np.sum(x) * SLOTS.hidden()", "SLOTS._Slots__b = @"),
    "a dataclass": ("", "return np.sum(x) * OPTIONS.damping", "OPTIONS.damping = @"),
    "a dataclass made anew": ("", "return np.sum(x) * OPTIONS.damping", "OPTIONS = Options(@)"),
    "a dataclass made inside": ("", "return np.sum(x) * Options().damping", "Options.__init__.__defaults__ = (@, 2)"),
    "a dataclass compared": ("SAME = Options()", "return np.sum(x) * (2.0 if OPTIONS == SAME else 3.0)",
                             "OPTIONS.damping = @"),
    "a named tuple": ("", "return np.sum(x) * PAIR.left", "PAIR = PAIR._replace(left=@)"),
    "a list in a named tuple": ("", "return np.sum(x) * PAIR.right[0]", "PAIR.right[0] = @"),
    "an enum": ("class Kind(enum.Enum):\n    A = 1\n    B = 2\nKIND = Kind.A",
                "return np.sum(x) * (2.0 if KIND is Kind.A else KIND.value + 3.0)",
                "KIND = Kind.B if KIND is Kind.A else Kind.A"),
    "a list": ("LS = [1.0, 2.0]", "return np.sum(x) * LS[0]", "LS[0] = @"),
    "a list's length": ("LS = [1.0, 2.0]", "return np.sum(x) * len(LS)", "LS.append(@)"),
    "a list in a list": ("LS = [[1.0], [2.0]]", "return np.sum(x) * LS[1][0]", "LS[1][0] = @"),
    "a deep list": ("INNER = [1.0]\nDEEP = INNER\nfor _ in range(40): DEEP = [DEEP]",
                    "c = DEEP\nfor _ in range(40):\n    c = c[0]\nreturn np.sum(x) * c[0]", "INNER[0] = @"),
    "a list that holds itself": ("LS = [1.0]\nLS.append(LS)", "return np.sum(x) * LS[1][1][0]", "LS[0] = @"),
    "an array in a list that holds itself": ("LS = [np.ones(3)]\nLS.append(LS)", "return np.sum(x * LS[1][1][0])",
                                             "LS[0] = np.full(3, @)"),
    "a ring of objects": ("OB.other = Model()\nOB.other.other = OB", "return np.sum(x) * OB.other.other.other.k",
                          "OB.other.k = @"),
    "a dict": ("DT = {'a': 1.0}", "return np.sum(x) * DT['a']", "DT['a'] = @"),
    "a key that appears": ("DT = {}", "return np.sum(x) * DT.get('a', 1.0)", "DT['a'] = @"),
    "a key that is missing": ("DT = {}", "try:\n    return np.sum(x) * DT['a']\nexcept KeyError:\n    return np.sum(x)",
                              "DT['a'] = @"),
    "a key that is in it": ("DT = {}", "return np.sum(x) * (3.0 if 'a' in DT else 1.0)", "DT['a'] = @"),
    "the order of a dict": ("DT = {'a': 1.0, 'b': 2.0}",
                            "t = 0.0\nfor v in DT.values():\n    t = 2 * t + v\nreturn np.sum(x) * t",
                            "DT['a'] = DT.pop('a')"),
    "the order of an ordered dict": ("DT = OrderedDict(a=1.0, b=2.0)",
                                     "t = 0.0\nfor v in DT.values():\n    t = 2 * t + v\nreturn np.sum(x) * t",
                                     "DT.move_to_end(next(iter(DT)))"),
    "the order of a dict of arrays": ("DT = {'a': np.ones(3), 'b': np.ones(3) * 2}",
                                      "t = 0.0\nfor v in DT.values():\n    t = 2 * t + v\nreturn np.sum(x * t)",
                                      "k = next(iter(DT)); DT[k] = DT.pop(k)"),
    "a default dict": ("DT = defaultdict(lambda: 1.0)", "return np.sum(x) * DT['a']",
                       "DT.clear(); DT.default_factory = lambda: @"),
    "a set": ("ST = {1}", "return np.sum(x) * len(ST)", "ST.add(@)"),
    "a deque": ("DQ = deque([1.0, 2.0])", "return np.sum(x) * DQ[0]", "DQ.rotate(1); DQ[0] = @"),
    "a chain of dicts": ("CM = ChainMap({}, {'a': 1.0})", "return np.sum(x) * CM['a']", "CM.maps[1]['a'] = @"),
    "a class made of dict": ("class Table(dict):\n    unit = 1.0\nDT = Table(a=1.0)",
                             "return np.sum(x) * DT['a'] * DT.unit", "DT.unit = @"),
    "texts": ("TEXTS = np.array(['a', 'b'])", "return np.sum(x) * (2.0 if TEXTS[0] == 'a' else 3.0)",
              "TEXTS[0] = 'b' if TEXTS[0] == 'a' else 'a'"),
    "objects": ("THINGS = np.array([1.0, None], dtype=object)", "return np.sum(x) * THINGS[0]", "THINGS[0] = @"),
    "lists in objects": ("THINGS = np.array([[1.0], None], dtype=object)", "return np.sum(x) * THINGS[0][0]",
                         "THINGS[0][0] = @"),
    "records": ("RECORDS = np.array([(1.0, 2)], dtype=[('a', float), ('b', int)])",
                "return np.sum(x) * float(RECORDS['a'][0])", "RECORDS['a'][0] = @"),
    "dates": ("DATES = np.array(['2020-01-01'], dtype='M8[D]')", "return np.sum(x) * DATES.astype(int)[0] / 20000",
              "DATES[0] += int(7 * @) + 1"),
    "texts of an object": ("OB.names = np.array(['a', 'b'])", "return np.sum(x) * (2.0 if OB.names[0] == 'a' else 3.0)",
                           "OB.names[0] = 'b' if OB.names[0] == 'a' else 'a'"),
    "the environment": ("os.environ['FAD_GAIN'] = '1'", "return np.sum(x) * float(os.environ['FAD_GAIN'])",
                        "os.environ['FAD_GAIN'] = str(@)"),
    "the environment, by getenv": ("os.environ['FAD_GAIN'] = '1'", "return np.sum(x) * float(os.getenv('FAD_GAIN'))",
                                   "os.environ['FAD_GAIN'] = str(@)"),
    "how NumPy treats errors": ("np.seterr(over='warn')",
                                "return np.sum(x) * (2.0 if np.geterr()['over'] == 'warn' else 3.0)",
                                "np.seterr(over='ignore' if np.geterr()['over'] == 'warn' else 'warn')"),
    "the working directory": ("os.chdir('/')", "return np.sum(x) * len(os.getcwd())",
                              "os.chdir(tempfile.gettempdir() if os.getcwd() == '/' else '/')"),
    "a context variable": ("VAR = contextvars.ContextVar('VAR', default=1.0)", "return np.sum(x) * VAR.get()",
                           "VAR.set(@)"),
    "an operator": ("", "return np.sum(VECTOR @ x)", "VECTOR.k = @"),
    "an operator's global": ("INSIDE = 1.0", "return np.sum(VECTOR @ x)", "INSIDE = @"),
    "an operator's global that appears": ("globals().pop('EXTRA', None)", "return np.sum(VECTOR + x)", "EXTRA = @"),
    "a context manager": ("", "with VECTOR as k:\n    return np.sum(x) * k", "VECTOR.k = @"),
    "a method given to map": ("", "return sum(map(OB.times, [x, x]))", "OB.k = @"),
    "a method given to sorted": ("", "return np.sum(x) * sorted([1.0, 2.0], key=OB.sign)[0]", "OB.k = -OB.k"),
    "a method given to reduce": ("", "return np.sum(x) * functools.reduce(OB.join, [1.0, 2.0])", "OB.k = @"),
    "a method in a list": ("ACTS = [OB.times]", "return ACTS[0](x)", "OB.k = @"),
    "a partial": ("def g(k, x): return np.sum(x) * k[0]\nLS = [1.0]\nPART = functools.partial(g, LS)", "return PART(x)",
                  "LS[0] = @"),
    "attrgetter": ("GET = operator.attrgetter('k')", "return np.sum(x) * GET(OB)", "OB.k = @"),
    "attrgetter of a class": ("GET = operator.attrgetter('rate')", "return np.sum(x) * GET(OB)", "Model.rate = @"),
    "a weak reference": ("REF = weakref.ref(OB)", "return np.sum(x) * REF().k", "OB.k = @"),
    "a module": ("SPACE = types.ModuleType('space')\nSPACE.k = 1.0", "return np.sum(x) * SPACE.k", "SPACE.k = @"),
    "a name space": ("SPACE = types.SimpleNamespace(k=1.0)", "return np.sum(x) * SPACE.k", "SPACE.k = @"),
    "a configuration": ("CONFIG = configparser.ConfigParser()\nCONFIG.read_dict({'a': {'k': '1.0'}})",
                        "return np.sum(x) * CONFIG.getfloat('a', 'k')",
                        "CONFIG['a']['k'] = str(@)"),
    "a function of a function": ("GAIN = 1.0\ndef h(x): return x * GAIN\ndef g(x): return h(x)", "return np.sum(g(x))",
                                 "GAIN = @"),
    "a function of a method": ("GAIN = 1.0", "return OB.helped(x)", "GAIN = @"),
    "a callable object": ("", "return OB(x)", "OB.k = @"),
    "a static method": ("", "return np.sum(x) * Model.fixed()", "Model.fixed = staticmethod(lambda: @)"),
    "a class method": ("", "return np.sum(x) * Model.by_class()", "Model.rate = @"),
    "a dataclass replaced": ("", "return np.sum(x) * dataclasses.replace(OPTIONS, order=3).damping",
                             "OPTIONS.damping = @"),
    "a dataclass as a dict": ("", "return np.sum(x) * dataclasses.asdict(OPTIONS)['damping']", "OPTIONS.damping = @"),
    "a dataclass as a dict, by a method": ("OB.options = OPTIONS",
                                           "return np.sum(x) * dataclasses.asdict(OB.options)['damping']",
                                           "OPTIONS.damping = @"),
    "a copy": ("", "return np.sum(x) * copy.copy(OPTIONS).damping", "OPTIONS.damping = @"),
    "a deep copy": ("", "return np.sum(x) * copy.deepcopy(OB).parts[0]", "OB.parts[0] = @"),
    "vars": ("", "return np.sum(x) * vars(OB)['k']", "OB.k = @"),
    "an object's dict": ("", "return np.sum(x) * OB.__dict__['k']", "OB.k = @"),
    "a key of an object's attribute": ("", "return np.sum(x) * sorted([OB, OB], key=lambda o: o.k)[0].k", "OB.k = @"),
    "the largest of objects": ("OB.less = Model()",
                               "return np.sum(x) * max([OB, OB.less], key=operator.attrgetter('k')).k", "OB.k = @"),
    "the text of an object": ("", "return np.sum(x) * len(str(OPTIONS))", "OPTIONS.damping = @ * 1000"),
    "the text of an object, formatted": ("", "return np.sum(x) * len(f'{OPTIONS}')", "OPTIONS.damping = @ * 1000"),
    "the text of an object, by percent": ("", "return np.sum(x) * len('%s' % OPTIONS)", "OPTIONS.damping = @ * 1000"),
    "a dataclass in a list": ("LS = [OPTIONS]", "return np.sum(x) * (2.0 if Options() in LS else 3.0)",
                              "OPTIONS.damping = @"),
    "a file's being there": ("PLACE = os.path.join(tempfile.mkdtemp(), 'a')",
                             "return np.sum(x) * (2.0 if os.path.exists(PLACE) else 3.0)", "open(PLACE, 'w').close()"),
    "an attribute of a function": ("def g(x): return x\ng.k = 1.0", "return np.sum(g(x)) * g.k", "g.k = @"),
}

# a function of x that finds a box by a weak reference, made by make(box)
WEAK = {
    "a reference": "r = weakref.ref(box)\n    return lambda x: np.sum(x) * (r().k if r() is not None else 7.0)",
    "its method": "r = weakref.ref(box)\n    return lambda x: np.sum(x) * (r().get() if r() is not None else 7.0)",
    "an attribute that it may have": "r = weakref.ref(box)\n    return lambda x: np.sum(x) * getattr(r(), 'k', 7.0)",
    "a set": "s = weakref.WeakSet([box])\n    return lambda x: np.sum(x) * sum([o.k for o in s] or [7.0])",
    "a copy of a set": "s = weakref.WeakSet([box])\n"
                       "    return lambda x: np.sum(x) * sum([o.k for o in s.copy()] or [7.0])",
    "the items of keys": "d = weakref.WeakKeyDictionary({box: 1.0})\n"
                         "    return lambda x: np.sum(x) * sum([o.k * v for o, v in d.items()] or [7.0])",
    "the values of keys": "d = weakref.WeakKeyDictionary({box: 1.0})\n"
                          "    return lambda x: np.sum(x) * (sum(d.values()) * box_of(d).k if len(d) else 7.0)",
    "keys": "d = weakref.WeakKeyDictionary({box: 1.0})\n"
            "    return lambda x: np.sum(x) * sum([o.k for o in d.keys()] or [7.0])",
    "references of keys": "d = weakref.WeakKeyDictionary({box: 1.0})\n"
                          "    return lambda x: np.sum(x) * sum([r().k for r in d.keyrefs()] or [7.0])",
    "values": "d = weakref.WeakValueDictionary(a=box)\n"
              "    return lambda x: np.sum(x) * sum([o.k for o in d.values()] or [7.0])",
    "a value": "d = weakref.WeakValueDictionary(a=box)\n"
               "    return lambda x: np.sum(x) * (d.get('a').k if 'a' in d else 7.0)",
    "items": "d = weakref.WeakValueDictionary(a=box)\n"
             "    return lambda x: np.sum(x) * sum([o.k for _, o in d.items()] or [7.0])",
    "all of it": "d = weakref.WeakValueDictionary(a=box)\n"
                 "    return lambda x: np.sum(x) * (dict(d)['a'].k if len(dict(d)) else 7.0)",
}


@pytest.mark.parametrize("name", WEAK)
def test_a_program_does_not_keep_what_a_weak_reference_leads_to(name):
    class Box:
        def __init__(self):
            self.k = 2.0

        def get(self):
            return self.k

    scope = {"weakref": weakref, "np": np, "box_of": lambda d: next(iter(d))}
    texts.executed(f"def make(box):\n    {WEAK[name]}\n", scope)
    box = Box()
    gradient, alive = fad.grad(scope["make"](box), fallback=False), weakref.ref(box)
    for k in (2.0, 3.0, 3.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0):   # so often that one generated test asks all guards
        box.k = k
        assert gradient(np.ones(3)).tolist() == [k] * 3
    del box
    gc.collect()
    assert alive() is None
    assert gradient(np.ones(3)).tolist() == [7.0] * 3


STATE = """
import configparser, contextvars, copy, dataclasses, enum, functools, operator, os, tempfile, types, weakref
from collections import ChainMap, OrderedDict, UserList, defaultdict, deque, namedtuple
import numpy as np

class Described:
    by = 1.0
    def __get__(self, owner, cls=None):
        return self if owner is None else owner.k * self.by

class Base:
    basic = 1.0
    def double(self, x):
        return np.sum(x) * 2.0

class Other(Base):
    def double(self, x):
        return super().double(x) * 2.0

class Meta(type):
    def made(cls):
        return 1.0

class Made(metaclass=Meta):
    pass

class Model(Base):
    rate = 1.0
    described = Described()
    def __init__(self, k=1.0):
        self.k, self.w, self.parts = k, np.ones(3), [1.0, 2.0]
    def times(self, x):
        return np.sum(x) * self.k
    def over(self, x):
        return sum([np.sum(x) * p for p in self.parts])
    def sign(self, v):
        return v * self.k
    def join(self, a, b):
        return a + b * self.k
    def helped(self, x):
        return np.sum(x) * GAIN
    def __call__(self, x):
        return np.sum(x) * self.k
    def __getattr__(self, name):
        if name == "made_up":
            return self.k * 3.0
        raise AttributeError(name)
    @property
    def scale(self):
        return self.k * 2.0
    @functools.cached_property
    def cached(self):
        return self.k * 2.0
    @functools.cached_property
    def cached_array(self):
        return self.w * 2.0
    @staticmethod
    def fixed():
        return 1.0
    @classmethod
    def by_class(cls):
        return cls.rate

class Vector:
    def __init__(self):
        self.k = 1.0
    def __matmul__(self, x):
        return x * self.k * INSIDE
    def __add__(self, x):
        return x * globals().get("EXTRA", 2.0) if False else x * extra()
    def __enter__(self):
        return self.k
    def __exit__(self, *error):
        return None

def extra():
    try:
        return EXTRA
    except NameError:
        return 2.0

class Slots:
    __slots__ = ("a", "__b")
    def __init__(self):
        self.a = self.__b = 1.0
    def hidden(self):
        return self.__b

@dataclasses.dataclass
class Options:
    damping: float = 1.0
    order: int = 2

INSIDE = 1.0
Pair = namedtuple("Pair", "left right")
OB, SLOTS, OPTIONS, PAIR, VECTOR = Model(), Slots(), Options(), Pair(1.0, [2.0]), Vector()
"""


def text_of(before, body):
    return f"{STATE}\n{before}\ndef f(x):\n{textwrap.indent(body, '    ')}\n"


def slopes(f, x, h=1e-6):
    return np.array([(f(x + d) - f(x - d)) / (2 * h) for d in h * np.eye(len(x))])


def assert_always_as_python(f, change, scope, tier):
    """The value and the gradient of f are Python's before and after each of these changes."""
    with fad.config.using(compile=tier), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", fad.InternalErrorWarning)
        kept = fad.jit(f), fad.grad(f)
        for k in range(3):
            if k:
                exec(change.replace("@", str(1.5 + k)), scope)
            for _ in range(2):                                # the second call takes the fast path
                assert np.isclose(kept[0](X.copy()), f(X.copy())), f"value after {k} changes"
                np.testing.assert_allclose(kept[1](X.copy()), slopes(f, X), rtol=1e-5, atol=1e-7,
                                           err_msg=f"gradient after {k} changes")


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """The working directory, the environment and NumPy's ways with errors are put back."""
    monkeypatch.chdir("/")
    monkeypatch.setenv("FAD_GAIN", "1")
    with np.errstate():
        yield


@pytest.mark.parametrize("name, way", crossed(list(CASES), WAYS, count=5))
def test_what_changes_is_seen(name, way, tmp_path):
    before, body, change = CASES[name]
    module = way(tmp_path, text_of(before, body))
    assert_always_as_python(module.f, change, vars(module), "never")


WITHOUT = [name for name, parts in CASES.items()
           if "OB" in "".join(parts) and "made_up" not in parts[1] and "OB(x)" not in parts[1]]


@pytest.mark.parametrize("name", WITHOUT)
def test_what_changes_is_seen_in_a_class_without_special_methods(name, tmp_path):
    """Where Python itself may call a method of a class, all its objects' attributes have guards: that hides what else
    has none."""
    before, body, change = CASES[name]
    text = text_of(before, body).replace("def __getattr__",
                                         "def made_by_nobody").replace("def __call__", "def called_by_nobody")
    module = installed(tmp_path, text)
    assert_always_as_python(module.f, change, vars(module), "never")


@pytest.mark.parametrize("name", in_turn([name for name, case in CASES.items() if case[1].startswith("return ")]))
def test_what_changes_is_seen_by_a_lambda_beside_another(name, tmp_path):
    before, body, change = CASES[name]
    module = executed(tmp_path, f"{STATE}\n{before}\n")
    pair = eval(f"[lambda x: {body.removeprefix('return ')}, lambda x: 2.0]", vars(module))
    assert_always_as_python(pair[0], change, vars(module), "never")


@pytest.mark.parametrize("name",
                         ["a global", "a method", "a list", "a class attribute", "an array rebound",
                          "a key that appears", "an operator"])
@pytest.mark.parametrize("way", [installed, executed], ids=lambda way: way.__name__)
def test_compiled_programs_see_what_changes(name, way, tmp_path):
    before, body, change = CASES[name]
    module = way(tmp_path, text_of(before, body))
    assert_always_as_python(module.f, change, vars(module), "now")


def test_a_package_that_pip_has_installed(tmp_path):
    before, body, change = CASES["a method"]
    module = by_pip(tmp_path, text_of(before, body))
    assert "site-packages" in module.__file__
    assert_always_as_python(module.OB.times, change, vars(module), "now")
    assert_always_as_python(lambda x: module.OB.times(x) * 2.0, change, vars(module), "now")
