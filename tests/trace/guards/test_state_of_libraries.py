"""State that no attribute or element of the user's own tells is changed between calls: of Python's modules, of
libraries' objects, of classes, imports and settings. Each call is what Python is then.
"""
import calendar
import decimal
import gc
import math
import warnings

import numpy as np
import pytest

from ...turns import crossed
from ..packages import executed, installed, of_file, without_text
from .test_guards import assert_always_as_python, text_of

# (statements before, the function's body, the change between two calls), as in test_guards.py
CASES = {
    "a pattern that looks into an object": (
        "",
        "match OPTIONS:\n    case Options(damping=1.0):\n        return np.sum(x)\n    case Options(damping=v):\n"
        "        return np.sum(x) * v",
        "OPTIONS.damping = @",
    ),
    "how arrays are printed": (
        "AR = np.array([1.23456789, 2.0])",
        "return np.sum(x) * len(str(AR))",
        "np.set_printoptions(precision=int(@))",
    ),
    "how arrays are printed in an f-string": (
        "AR = np.array([1.23456789, 2.0])",
        "return np.sum(x) * len(f'{AR}')",
        "np.set_printoptions(precision=int(@))",
    ),
    "the filters of warnings": (
        "import warnings",
        "return np.sum(x) * (1 + len(warnings.filters))",
        "warnings.simplefilter('ignore', category=type('W', (UserWarning,), {}))",
    ),
    "a name put into NumPy": ("np.fad_k = 1.0", "return np.sum(x) * np.fad_k", "np.fad_k = @"),
    "a constant of math": ("import math\nPI = math.pi", "return np.sum(x) * math.pi", "math.pi = @"),
    "a constant of NumPy": ("PI = np.pi", "return np.sum(x) * np.pi", "np.pi = @"),
    "an object in a dict of weak references": (
        "WV = weakref.WeakValueDictionary()\nWV['a'] = OB",
        "return np.sum(x) * WV['a'].k",
        "OB.k = @",
    ),
    "another object in a dict of weak references": (
        "WV = weakref.WeakValueDictionary()\nWV['a'] = OB",
        "return np.sum(x) * WV['a'].k",
        "OB2 = Model()\nOB2.k = @\nWV['a'] = OB2",
    ),
    "a weak reference whose object goes": (
        "class Pt:\n    pass\nPP = Pt()\nRF = weakref.ref(PP)",
        "return np.sum(x) * (2.0 if RF() is not None else 1.0)",
        "globals().pop('PP', None)",
    ),
    "a partial's arguments": (
        "def g(k, x):\n    return np.sum(x) * k\nPART = functools.partial(g, 1.0)",
        "return PART(x)",
        "PART.__setstate__((g, (@,), {}, None))",
    ),
    "a cache that is cleared": (
        "K = 1.0\n@functools.lru_cache\n\ndef g(n):\n    return K * n",
        "return np.sum(x) * g(2)",
        "K = @\ng.cache_clear()",
    ),
    "a method with a cache": (
        "class LC:\n    k = 1.0\n    @functools.lru_cache\n\n    def g(self):\n        return self.k\nLO = LC()",
        "return np.sum(x) * LO.g()",
        "LC.k = @\nLC.g.cache_clear()",
    ),
    "a function that is registered later": (
        "@functools.singledispatch\n\ndef g(v):\n    return 1.0",
        "return np.sum(x) * g(3)",
        "g.register(int, lambda v: @)",
    ),
    "a class that is registered later": (
        "import abc\n\nclass Ab(abc.ABC):\n    pass\n\nclass Cc:\n    pass\nCO = Cc()",
        "return np.sum(x) * (2.0 if isinstance(CO, Ab) else 1.0)",
        "Ab.register(Cc)",
    ),
    "the name of a function": ("def g():\n    pass", "return np.sum(x) * len(g.__name__)", "g.__name__ += 'xx'"),
    "the docstring of a function": (
        "def g():\n    \"\"\"doc\"\"\"",
        "return np.sum(x) * len(g.__doc__)",
        "g.__doc__ += 'xx'",
    ),
    "a module imported inside": (
        "import sys\nSP = types.ModuleType('fad_sp4')\nSP.k = 1.0\nsys.modules['fad_sp4'] = SP",
        "import fad_sp4\nreturn np.sum(x) * fad_sp4.k",
        "SP.k = @",
    ),
    "a name imported inside": (
        "import sys\nSP = types.ModuleType('fad_sp5')\nSP.k = 1.0\nsys.modules['fad_sp5'] = SP",
        "from fad_sp5 import k\nreturn np.sum(x) * k",
        "SP.k = @",
    ),
    "a module that another one replaces": (
        "import sys\nSP = types.ModuleType('fad_sp6')\nSP.k = 1.0\nsys.modules['fad_sp6'] = SP",
        "import fad_sp6\nreturn np.sum(x) * fad_sp6.k",
        "S2 = types.ModuleType('fad_sp6')\nS2.k = @\n__import__('sys').modules['fad_sp6'] = S2",
    ),
    "the shape of an array, in place": (
        "AR = np.ones(6)",
        "return np.sum(x) * AR.shape[0]",
        "AR.shape = (3, 2) if AR.ndim == 1 else (6,)",
    ),
    "an interpolation's values": (
        "from scipy.interpolate import interp1d\nYS = np.array([1.0, 2.0, 4.0])\nIT = interp1d([0.0, 1.0, 2.0], YS)",
        "return np.sum(x) * float(IT(0.5))",
        "IT.y[0] = @\nIT.y[1] = @",
    ),
    "a spline's coefficients": (
        "from scipy.interpolate import CubicSpline\nCS = CubicSpline([0.0, 1, 2], [1.0, 2, 4])",
        "return np.sum(x) * float(CS(0.5))",
        "CS.c[-1] = @",
    ),
    "a distribution's parameters": (
        "from scipy import stats\nND = stats.norm(loc=0, scale=1.0)",
        "return np.sum(ND.pdf(x))",
        "ND.kwds['scale'] = @",
    ),
    "a method of a dict": ("DT = {'a': 1.0}\nGT = DT.get", "return np.sum(x) * GT('a')", "DT['a'] = @"),
    "a special method of a list": ("LS = [1.0]\nGT = LS.__getitem__", "return np.sum(x) * GT(0)", "LS[0] = @"),
    "a method of a list": ("LS = [1.0, 2.0]\nGT = LS.index", "return np.sum(x) * (1 + GT(2.0))", "LS.insert(0, 9.0)"),
    "a view of a dict's values": ("DT = {'a': 1.0}\nVV = DT.values()", "return np.sum(x) * sum(VV)", "DT['a'] = @"),
    "a view of a dict's items": (
        "DT = {'a': 1.0}\nVV = DT.items()",
        "return np.sum(x) * sum((v for k, v in VV))",
        "DT['b'] = @",
    ),
    "a view of a dict's keys": ("DT = {'a': 1.0}\nVV = DT.keys()", "return np.sum(x) * len(VV)", "DT[str(@)] = @"),
    "whether a logger is enabled": (
        "import logging\nLG = logging.getLogger('fadq')\nLG.setLevel(10)",
        "return np.sum(x) * (2.0 if LG.isEnabledFor(20) else 1.0)",
        "LG.setLevel(30 if LG.level == 10 else 10)",
    ),
    "the level of a logger": (
        "import logging\nlogging.getLogger('fadq3').setLevel(10)",
        "return np.sum(x) * logging.getLogger('fadq3').level",
        "logging.getLogger('fadq3').setLevel(int(@ * 10))",
    ),
    "the name of a thread": (
        "import threading",
        "return np.sum(x) * len(threading.current_thread().name)",
        "import threading\nthreading.current_thread().name += 'x'",
    ),
    "the variables of a context": (
        "VAR = contextvars.ContextVar('V10', default=1.0)",
        "return np.sum(x) * (1 + len(contextvars.copy_context()))",
        "contextvars.ContextVar('V' + str(@)).set(1)",
    ),
    "a method behind super()": (
        "class Ba:\n\n    def m(s):\n        return 1.0\n\nclass De(Ba):\n\n    def m(s):\n"
        "        return super().m() * 2\nDO = De()",
        "return np.sum(x) * DO.m()",
        "Ba.m = lambda s: @",
    ),
    "an attribute behind super()": (
        "class Ba:\n    k = 1.0\n\nclass De(Ba):\n    k = 5.0\n\n    def m(s):\n        return super().k * 2\n"
        "DO = De()",
        "return np.sum(x) * DO.m()",
        "Ba.k = @",
    ),
    "the defaults of a named tuple": (
        "Pair = namedtuple('Pair', 'left right', defaults=[2.0])",
        "return np.sum(x) * Pair(1.0).right",
        "Pair.__new__.__defaults__ = (@,)",
    ),
    "an event": (
        "import threading\nEV = threading.Event()",
        "return np.sum(x) * (2.0 if EV.is_set() else 1.0)",
        "EV.set()",
    ),
    "a setting of a module": (
        "import calendar",
        "return np.sum(x) * (1 + calendar.firstweekday())",
        "import calendar\ncalendar.setfirstweekday((calendar.firstweekday() + 1) % 7)",
    ),
    "whether cycles are looked for": (
        "import gc",
        "return np.sum(x) * (2.0 if gc.isenabled() else 1.0)",
        "import gc\ngc.disable() if gc.isenabled() else gc.enable()",
    ),
    "the function of np.vectorize": (
        "VF = np.vectorize(lambda v: v * 1.0)",
        "return np.sum(VF(x))",
        "VF.pyfunc = lambda v: v * @",
    ),
    "a name among Python's own": (
        "import builtins\nbuiltins.FADB = 1.0",
        "return np.sum(x) * FADB",
        "import builtins\nbuiltins.FADB = @",
    ),
    "a function among Python's own": (
        "import builtins\nbuiltins.fadlen = len\nimport builtins",
        "return np.sum(x) * fadlen([1.0])",
        "import builtins\nbuiltins.fadlen = lambda v: @",
    ),
    "dataclasses that a list counts": (
        "LS = [Options(), Options()]",
        "return np.sum(x) * (1 + LS.count(Options()))",
        "LS[1].damping = @",
    ),
    "the bases of a class": (
        "class P1:\n    pass\n\nclass P2:\n    pass\n\nclass P3(P1):\n    pass",
        "return np.sum(x) * (2.0 if issubclass(P3, P1) else 1.0)",
        "P3.__bases__ = (P2,)",
    ),
    "name spaces compared": (
        "OQ = types.SimpleNamespace(a=1.0)\nOP = types.SimpleNamespace(a=1.0)",
        "return np.sum(x) * (2.0 if OQ == OP else 1.0)",
        "OQ.a = @",
    ),
    "the text of a name space": (
        "OQ = types.SimpleNamespace(a=1.0)",
        "return np.sum(x) * len(repr(OQ))",
        "OQ.a = @ * 1000",
    ),
    "the arguments of an exception": ("ER = ValueError(1.0)", "return np.sum(x) * ER.args[0]", "ER.args = (@,)"),
    "an attribute of an exception": ("ER = ValueError(1.0)\nER.k = 1.0", "return np.sum(x) * ER.k", "ER.k = @"),
    "a module's own name": ("", "return np.sum(x) * len(__name__)", "__name__ += 'x'"),
    "the sign of an imaginary zero": (
        "CZ = complex(1.0, 0.0)",
        "return np.sum(x) * np.copysign(1.0, CZ.imag)",
        "CZ = complex(1.0, -CZ.imag)",
    ),
    "the sign of a zero in a complex number in a list": (
        "LS = [0.0 + 0j]",
        "return np.sum(x) * np.copysign(1.0, LS[0].imag)",
        "LS[0] = complex(0.0, -LS[0].imag)",
    ),
    "the type of a key": (
        "DT = {1: 1.0}",
        "return np.sum(x) * (2.0 if type(next(iter(DT))) is int else 3.0)",
        "DT.clear()\nDT[True] = 1.0",
    ),
    "an attribute of a text": (
        "class SS(str):\n    pass\nSO = SS('ab')\nSO.k = 1.0",
        "return np.sum(x) * SO.k * len(SO)",
        "SO.k = @",
    ),
    "an attribute of an integer": (
        "class IS(int):\n    pass\nIO = IS(2)\nIO.k = 1.0",
        "return np.sum(x) * IO.k * IO",
        "IO.k = @",
    ),
    "an attribute of a number": (
        "class FS(float):\n    pass\nFO = FS(2.0)\nFO.k = 1.0",
        "return np.sum(x) * FO.k * FO",
        "FO.k = @",
    ),
    "the precision of decimal numbers": (
        "import decimal",
        "return np.sum(x) * float(decimal.Decimal(1) / decimal.Decimal(3))",
        "decimal.getcontext().prec = int(@ - 1)",
    ),
    "the context of decimal numbers": (
        "import decimal",
        "return np.sum(x) * decimal.getcontext().prec",
        "decimal.getcontext().prec = int(@ * 2)",
    ),
    "a partial method": (
        "class PM:\n    k = 1.0\n\n    def g(self, a):\n        return a * self.k\n"
        "    h = functools.partialmethod(g, 2.0)\nPO = PM()",
        "return np.sum(x) * PO.h()",
        "PM.k = @",
    ),
    "how many subclasses there are": (
        "class Reg:\n    pass",
        "return np.sum(x) * (1 + len(Reg.__subclasses__()))",
        "KK = [*globals().get('KK', []), type('S', (Reg,), {})]",
    ),
    "the name of a class": (
        "class Cn:\n    pass\nCO = Cn()",
        "return np.sum(x) * len(type(CO).__name__)",
        "Cn.__name__ += 'xx'",
    ),
    "a class that is subscripted": (
        "class Cc:\n    S = {'a': 1.0}\n\n    def __class_getitem__(c, k):\n        return c.S[k]",
        "return np.sum(x) * Cc['a']",
        "Cc.S['a'] = @",
    ),
    "a class with one object": (
        "class Sg:\n    inst = None\n\n    def __new__(c):\n        if c.inst is None:\n"
        "            c.inst = object.__new__(c)\n            c.inst.k = 1.0\n        return c.inst\nSg()",
        "return np.sum(x) * Sg().k",
        "Sg.inst.k = @",
    ),
    "whether a path is there": (
        "import pathlib\nPA = pathlib.Path(tempfile.mkdtemp()) / 'c'",
        "return np.sum(x) * (2.0 if PA.exists() else 1.0)",
        "PA.touch()",
    ),
    "what a file in memory holds": (
        "import io\nSI = io.StringIO('abc')",
        "return np.sum(x) * len(SI.getvalue())",
        "SI.write('abcdef')",
    ),
    "a lock": (
        "import threading\nLK = threading.Lock()",
        "return np.sum(x) * (2.0 if LK.locked() else 1.0)",
        "LK.acquire(False)",
    ),
    "an attribute of an element of XML": (
        "import xml.etree.ElementTree as ET\nXE = ET.Element('a')\nXE.set('k', '1')",
        "return np.sum(x) * float(XE.get('k'))",
        "XE.set('k', str(@))",
    ),
    "the text of an element of XML": (
        "import xml.etree.ElementTree as ET\nXE = ET.Element('a')\nXE.text = '1'",
        "return np.sum(x) * float(XE.text)",
        "XE.text = str(@)",
    ),
}


@pytest.fixture(autouse=True)
def as_before(monkeypatch, idle_compiler):
    """What all programs share is put back."""
    monkeypatch.setattr(np, "pi", np.pi)
    monkeypatch.setattr(math, "pi", math.pi)
    weekday = calendar.firstweekday()
    with np.printoptions(), decimal.localcontext(), warnings.catch_warnings():
        yield
    calendar.setfirstweekday(weekday)
    gc.enable()


@pytest.mark.parametrize("name, way", crossed(list(CASES), [of_file, executed, installed, without_text], count=4))
def test_what_changes_is_seen(name, way, tmp_path):
    before, body, change = CASES[name]
    module = way(tmp_path, text_of(before, body))
    assert_always_as_python(module.f, change, vars(module), "never")


COMPILED = ["how arrays are printed", "a constant of NumPy", "a method of a dict", "a cache that is cleared",
            "a name imported inside"]


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_programs_see_what_changes(name, tmp_path):
    before, body, change = CASES[name]
    module = of_file(tmp_path, text_of(before, body))
    assert_always_as_python(module.f, change, vars(module), "now")
