"""What is installed: Python's code is captured; compiled code, and packages with arrays of their own, belong to the
tape."""
import inspect
import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES

import numpy as np
import pytest

import fad
from fad.trace.frontend.origin import definition_of
from fad.util.errors import FadError
from fad.util.where import is_captured, is_captured_class, opaque_package_of

from .guards.test_guards import X, assert_always_as_python, slopes
from .packages import installed, of_file

MODEL = """
import numpy as np
SCALE = 2.0

class Model:
    def __init__(self):
        self.reg = 0.1
    def loop(self, x):
        s = 0.0
        for k in range(3):
            s += x[k] ** 2 * self.reg
        return s
    def fill(self, x):
        y = np.zeros(3)
        for k in range(3):
            y[k] = x[k] * self.reg
        return np.sum(y ** 2)
    def newton(self, x):
        z = x[0] + 1.0
        while z * z - x[1] > 1e-9:
            z = z - (z * z - x[1]) / (2 * z)
        return z * self.reg * SCALE
    def branch(self, x):
        return x[0] * self.reg if x[0] > x[1] else np.sum(x) * SCALE

OB = Model()
"""
CORE = {f"_core{EXTENSION_SUFFIXES[0].replace('.', '__', 1)}": ""}
COMPILED = f"""
import sys, types
_core = types.ModuleType(__name__ + "._core")
_core.__file__ = __file__.replace("__init__.py", "_core{EXTENSION_SUFFIXES[0]}")
exec(compile(TEXT, "_core.pyx", "exec"), _core.__dict__)
sys.modules[_core.__name__] = _core
Array, Fit, total, FIT, ARRAY = _core.Array, _core.Fit, _core.total, _core.FIT, _core.ARRAY
"""                                     # as a package sees its extension module


@pytest.mark.parametrize("method", ["loop", "fill", "newton", "branch"])
@pytest.mark.parametrize("tier", ["never", "now"])
def test_methods_of_a_package_are_compiled_and_guarded(method, tier, tmp_path):
    module = installed(tmp_path, MODEL)
    f = getattr(module.OB, method)
    with fad.config.using(fallback=False):
        assert_always_as_python(f, "OB.reg = @", vars(module), tier)
        assert_always_as_python(lambda x: f(x) + x[0], "SCALE = @", vars(module), tier)


ARRAYS = """
import numpy as np

class Array:
    __array_priority__ = 10
    def __init__(self, k):
        self.k = k
    def __array__(self, dtype=None, copy=None):
        return np.array([self.k, 1.0])

class Fit:
    def __init__(self, k):
        self.k = k
    def __call__(self):
        return self.k

def total(a):
    return float(np.sum(a))
FIT, ARRAY = Fit(1.0), Array(2.0)
"""
USES = {"an array of its own": "np.sum(x * np.sum(np.asarray(m.ARRAY)))", "an object": "np.sum(x) * m.FIT()",
        "an attribute": "np.sum(x) * m.FIT.k",
        "a function": "np.sum(x) * m.total([m.FIT.k, 1.0])", "an object in a list": "np.sum(x) * fits[0].k",
        "an object's attribute": "np.sum(x) * holder.fit.k",
        "an object that is made": "np.sum(x) * m.Fit(m.FIT.k).k"}


@pytest.mark.parametrize("use, kind", [(use, kind) for use in USES for kind in ("arrays of its own", "a compiled core")
                                       # these are asked at each call (test_tables.py)
                                       if (use, kind) != ("an array of its own", "arrays of its own")])
def test_who_uses_an_opaque_package_runs_on_the_tape(use, kind, tmp_path):
    text = ARRAYS
    if kind == "a compiled core":
        text = f"TEXT = {ARRAYS.replace('    __array_priority__ = 10', '')!r}{COMPILED}"
    module = installed(tmp_path, text, **(CORE if kind == "a compiled core" else {}))
    user = of_file(tmp_path, f"""import numpy as np, types
import {module.__name__} as m
fits, holder = [m.FIT], types.SimpleNamespace(fit=m.FIT)
def f(x): return {USES[use]}
""")
    assert is_captured(module.__file__) == (kind == "a compiled core")
    assert opaque_package_of(module.FIT) == opaque_package_of(module.total) == module.__name__
    g = fad.grad(user.f)
    with pytest.warns(fad.FallbackWarning, match=f"of {module.__name__} is used"):
        g(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        for k in (2.0, 3.0):
            module.FIT.k = module.ARRAY.k = k
            np.testing.assert_allclose(g(X), slopes(user.f, X), rtol=1e-6)
            assert np.isclose(fad.jit(user.f)(X), user.f(X))


CYTHONS = """
class function_of_cython:
    def __init__(self, f):
        self.f, self.__name__ = f, f.__name__
    def __get__(self, owner, cls):
        return self
    def __call__(self, *args):
        return self.f(*args)
is_finite = function_of_cython(lambda *args: True)
"""
NAMES_IT = """
is_finite = _core.is_finite
import numpy as np
class Model:
    k = 2.0
def named(x):
    return np.sum(x) * Model.k if vars(Model) else is_finite(x)
def called(x):
    return np.sum(x) * is_finite(1.0)
def handed_on(x):
    return np.sum(x) * len(list(map(is_finite, [1.0, 2.0])))
"""


def test_a_function_of_c_may_be_named_and_belongs_to_the_tape_where_it_is_called(tmp_path):
    module = installed(tmp_path, f"TEXT = {CYTHONS!r}{COMPILED.split('Array,')[0]}{NAMES_IT}", **CORE)
    np.testing.assert_allclose(fad.grad(module.named, fallback=False)(X), 2.0)
    for f in (module.called, module.handed_on):
        with pytest.warns(fad.FallbackWarning, match=f"of {module.__name__} is used"):
            np.testing.assert_allclose(fad.grad(f)(X), slopes(f, X), rtol=1e-6)


def test_a_function_of_an_opaque_package_that_is_asked_for_is_captured(tmp_path):
    module = installed(tmp_path, MODEL + ARRAYS)
    assert not is_captured(module.__file__)
    with fad.config.using(fallback=False):
        assert np.isclose(fad.jit(module.OB.loop)(X), module.OB.loop(X))


def test_a_part_with_arrays_leaves_the_rest_of_its_package_captured(tmp_path):
    module = installed(tmp_path, "from .part import _arrays" + MODEL, **{"part/_arrays__py": ARRAYS})
    assert opaque_package_of(module._arrays.FIT) == module.__name__ and not is_captured(module._arrays.__file__)
    with fad.config.using(fallback=False):
        assert_always_as_python(module.OB.loop, "OB.reg = @", vars(module), "never")


def test_a_package_that_gives_its_arrays_to_the_user_is_opaque_as_a_whole(tmp_path):
    module = installed(tmp_path, "from .part._arrays import Array" + MODEL, **{"part/_arrays__py": ARRAYS})
    assert not is_captured(module.__file__) and opaque_package_of(module.OB) == module.__name__


@pytest.mark.parametrize("method", ["loop", "fill", "newton", "branch"])
def test_pythons_code_beside_a_compiled_core_is_captured(method, tmp_path):
    module = installed(tmp_path, MODEL, **CORE)
    f = getattr(module.OB, method)
    with fad.config.using(fallback=False):
        assert_always_as_python(lambda x: f(x) + x[0], "SCALE = @; OB.reg = @", vars(module), "now")


PREFERS = """
import numpy as np

class Gain:
    "No array: its operators come before NumPy's."
    {}
    def __init__(self, k):
        self.k = k
    def __mul__(self, x):
        return np.sin(x) * self.k
    __rmul__ = __mul__

def f(x):
    return np.sum(x * Gain(x[0]) + Gain(2.0) * x)
"""


BIG = """
import math, numbers
class Big:
    def __init__(self, x):
        m, self.exponent = math.frexp(x)
        self.digits = int(m * 2 ** 53)
    def __float__(self):
        return math.ldexp(float(self.digits), self.exponent - 53)
numbers.Real.register(Big)
"""


def test_numbers_of_a_packages_own_have_no_derivative(tmp_path):
    """Their digits are integers: the slope was zero."""
    module = installed(tmp_path, BIG)
    x = np.array([0.3, 0.5])
    with pytest.raises(FadError, match="Big"):
        fad.grad(lambda x: float(module.Big(x[0])) * x[1])(x)


@pytest.mark.parametrize("says", ["__array_priority__ = 20", "__array_ufunc__ = None"])
def test_a_class_that_prefers_its_own_operators_is_no_array(says, tmp_path):
    module = installed(tmp_path, PREFERS.format(says))
    assert is_captured(module.__file__)
    np.testing.assert_allclose(fad.grad(module.f, fallback=False)(X), slopes(module.f, X), rtol=1e-6)


@pytest.mark.parametrize("x, package",
                         [(np.sum, ""), (np.ones(2), ""), (inspect.signature, ""), (inspect.Signature(), ""), (3.0, ""),
                          (fad.grad, ""), (len, "")])
def test_what_fad_knows_is_not_opaque(x, package):
    assert opaque_package_of(x) == package


def test_classes_of_a_package_are_captured(tmp_path):
    assert is_captured_class(installed(tmp_path, MODEL).Model)
    assert is_captured_class(installed(tmp_path, MODEL, **CORE).Model)
    assert not is_captured_class(installed(tmp_path, MODEL + ARRAYS).Model)
    assert not is_captured_class(inspect.Signature)


def test_a_warning_names_the_line_in_the_package(tmp_path):
    module = installed(tmp_path,
                       "import numpy as np\ndef f(x):\n    table = {float(x[0]): 1.0}\n"
                       "    return np.sum(x) * table[float(x[0])]\n")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fad.grad(module.f)(X)
    assert f"{module.__file__}:3" in str(told[0].message)


def test_lambdas_that_share_a_line_are_told_apart(tmp_path):
    module = of_file(tmp_path,
                     "import numpy as np\n"
                     "fs = [lambda x: np.sum(x), lambda x: np.max(x), (lambda x: (lambda x: x * 2)(x))]\n")
    ends = [definition_of(f)[0].body.end_col_offset for f in module.fs]
    assert ends == sorted(set(ends))


def test_a_line_that_was_rearranged_is_not_taken_for_the_function(tmp_path):
    module = of_file(tmp_path, "import numpy as np\nfs = [lambda x: np.sum(x), lambda x: np.max(x)]\n")
    (tmp_path / f"{module.__name__}.py").write_text("import numpy as np\n"
                                                    "fs = [lambda x: np.max(x), lambda x: np.sum(x)]\n")
    # 3.10 knows no columns, and finds the equal code in the other place
    if sys.version_info >= (3, 11):
        assert definition_of(module.fs[0]) is None
    assert fad.jit(module.fs[0])(X) == np.sum(X)


@pytest.mark.parametrize("name", ["numpy", "scipy", "numba"])
def test_a_users_directory_may_have_a_librarys_name(name, tmp_path):
    assert is_captured(str(tmp_path / name / "model.py")) and not is_captured(np.linalg.__file__)
