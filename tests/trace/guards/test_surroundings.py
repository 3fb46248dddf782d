"""State around a function: settings of the interpreter, files, caches, registers. It is asked anew at each call, of
functions with a text and without one.
"""
import decimal
import os
import random
import sys
import threading
import warnings

import numpy as np
import pytest

import fad

from ..packages import of_file

COMMON = """
import abc, configparser, decimal, functools, glob, logging, os, random, sys, threading, types, warnings
import numpy as np
class Base(abc.ABC): pass
class Own:
    b = 1.0
    @functools.cached_property
    def kept(self): return self.b
    def __len__(self): return len(vars(self))
    def __format__(self, spec): return str(self.b)
own = Own()
state = {"v": 1.0}
module = types.ModuleType("own_module")
sys.modules["own_module"] = module
module.v = 1.0
log = logging.getLogger("of a test")
settings = configparser.ConfigParser()
settings["a"] = {"k": "1.0"}
lock, event = threading.Lock(), threading.Event()
@functools.lru_cache
def cached(n): return state["v"]
@functools.singledispatch
def dispatched(x): return 1.0
"""
# what the function reads; how that changes
AROUND = {
    "environment": ("float(os.environ.get('FAD_OF_A_TEST', '1'))", "os.environ['FAD_OF_A_TEST'] = str(k + 2)"),
    "working directory": ("float(len(os.getcwd()))", "os.chdir(['/', os.path.dirname(__file__)][k % 2])"),
    "arguments of the program": ("float(len(sys.argv))", "sys.argv.append('x')"),
    "imported modules": ("float('fad_test_k' in sys.modules) + 1", "sys.modules['fad_test_k'] = module"),
    "a module by its name": ("__import__('own_module').v", "module.v = k + 3.0"),
    "decimal context": ("float(decimal.getcontext().prec)", "decimal.getcontext().prec = 30 + k"),
    "NumPy's errors": ("float(np.geterr()['over'] == 'warn') + 1", "np.seterr(over=['ignore', 'warn'][k % 2])"),
    "NumPy's printing": ("float(np.get_printoptions()['precision'])", "np.set_printoptions(precision=3 + k)"),
    "level of a logger": ("float(log.level)", "log.setLevel(10 + k)"),
    "whether a logger hears": ("float(log.isEnabledFor(20)) + 1", "log.setLevel([40, 10][k % 2])"),
    "limit of recursion": ("float(sys.getrecursionlimit())", "sys.setrecursionlimit(3000 + k)"),
    "a file": ("float(open(path).read())", "open(path, 'w').write(str(k + 5))"),
    "size of a file": ("float(os.path.getsize(path))", "open(path, 'w').write('1' * (k + 3))"),
    "files of a folder": ("float(len(glob.glob(path + '*')))", "open(f'{path}{k}', 'w').close()"),
    "settings": ("settings.getfloat('a', 'k')", "settings.set('a', 'k', str(k + 3))"),
    "registered classes": ("float(isinstance(own, Base)) + 1", "Base.register(Own)"),
    "a lock": ("float(lock.locked()) + 1", "lock.release() if lock.locked() else lock.acquire()"),
    "an event": ("float(event.is_set()) + 1", "event.clear() if event.is_set() else event.set()"),
    "a thread": ("float(len(threading.current_thread().name))", "threading.current_thread().name = 't' * (k + 3)"),
    "filters of warnings": ("float(len(warnings.filters))", "warnings.filterwarnings('ignore', message=f'own {k}')"),
    "random state": ("float(random.getstate()[1][0] % 1000)", "random.seed(k)"),
    "NumPy's random state": ("float(np.random.get_state()[2])", "np.random.seed(k); np.random.rand(k + 1)"),
    "a cached property": ("own.kept", "own.__dict__.pop('kept'); own.b = k + 3.0"),
    "a cached function": ("cached(1)", "cached.cache_clear(); state['v'] = k + 2.0"),
    "a dispatched function": ("dispatched(own)", "dispatched.register(Own)(lambda x, k=k: k + 5.0)"),
    "subclasses": ("float(len(Own.__subclasses__())) + 1", "state[k] = type('Sub', (Own,), {})"),
    "globals": ("globals().get('later', 1.0)", "later = k + 2.0"),
    "attributes by name": ("vars(own).get('a', 1.0)", "own.a = k + 2.0"),
    "a length": ("float(len(own)) + 1", "setattr(own, f'a{k}', 1)"),
    "a text": ("float(f'{own}')", "own.b = k + 3.0"),
}


@pytest.fixture
def put_back(monkeypatch):
    """Settings that the programs change."""
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setattr(threading.current_thread(), "name", threading.current_thread().name)
    monkeypatch.setenv("FAD_OF_A_TEST", "1")
    monkeypatch.chdir(os.getcwd())
    before, limit, python = np.random.get_state(), sys.getrecursionlimit(), random.getstate()
    with (warnings.catch_warnings(), decimal.localcontext(), np.errstate(), np.printoptions()):
        yield
    np.random.set_state(before)
    random.setstate(python)
    sys.setrecursionlimit(limit)
    sys.modules.pop("own_module", None)
    sys.modules.pop("fad_test_k", None)


@pytest.mark.parametrize("has_text", [True, False], ids=["text", "no text"])
@pytest.mark.parametrize("what", AROUND)
def test_state_around_a_function_is_asked_at_each_call(what, has_text, tmp_path, put_back):
    text, change = AROUND[what]
    function = f"def f(x): return x * x * ({text})\n"
    module = of_file(tmp_path, COMMON + (function if has_text else ""))
    module.path = str(tmp_path / "own.txt")
    (tmp_path / "own.txt").write_text("1.0")
    if not has_text:
        exec(function, vars(module))
    warnings.simplefilter("ignore", fad.FallbackWarning)
    g = fad.value_and_grad(module.f)
    for k in range(4):
        value, slope = g(1.5)
        expected = module.f(1.5)
        assert (value, slope) == (expected, expected * 2 / 1.5), (k, g.fallback.reasons)
        exec(change, vars(module), {"k": k}) if "later" not in change else setattr(module, "later", k + 2.0)
