"""What is loaded when first used: nobody can tell but by the time, and the floors of the tower hold for it too."""

import ast
import configparser
import pickle
import subprocess
import sys

import numpy as np
import pytest

import fad

from .source import PACKAGE, ROOT, modules, name_of, tree


def run(code: str, data: bytes = b"") -> str:
    """The output of a Python program run in a fresh process."""
    return subprocess.run([sys.executable, "-c", code], input=data, capture_output=True,
                          check=True).stdout.decode().strip()


# -- the roof --------------------------------------------------------------------------------------


def for_readers() -> dict:
    """Where the names come from that fad/__init__.py imports for type checkers and readers alone."""
    block = next(node for node in tree(PACKAGE / "__init__.py").body if isinstance(node, ast.If))
    return {alias.asname: node.module or "" for node in block.body for alias in node.names}


def test_the_table_says_what_type_checkers_are_told():
    assert for_readers() == fad._LATER


@pytest.mark.parametrize("name", sorted(fad._LATER))
def test_a_name_of_the_table_is_found_in_a_listing_and_by_a_star(name):
    scope: dict = {}
    exec("from fad import *", scope)
    assert name in dir(fad) and name in fad.__all__ and scope[name] is getattr(fad, name)


def test_a_listing_has_public_names_and_makers_of_tensors_and_no_rooms():
    listed = {name for name in dir(fad) if not name.startswith("_")}
    assert {*fad.__all__, "tensor", "float32"} <= listed and len(listed) < 100
    assert not {"api", "backend", "eager", "ir", "ops", "passes", "transforms", "util"} & listed
    assert all(hasattr(fad, name) for name in listed)


def test_names_of_the_facade_that_are_not_listed_are_found():
    assert callable(fad.matmul) and callable(fad.conv1d)
    assert fad.tensor is fad.eager.functions.registry.FUNCTIONS["tensor"] and fad.float32 == np.float32


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'fad' has no attribute 'gradient_of'"):
        fad.gradient_of  # noqa: B018


def test_a_root_of_math_needs_no_special_functions():
    code = """
import fad, math, sys
print(fad.grad(lambda x: math.sqrt(x))(0.25), "fad.ops.special.bessel" in sys.modules)
"""
    assert run(code) == "1.0 False"


def test_functions_are_not_hidden_by_rooms_of_their_name():
    code = """if True:
        import numpy as np, fad
        import fad.show.explain, fad.show.program, fad.trace.tracing
        assert "show" in dir(fad) and fad.show(lambda x: x * x, 1.0)
        from fad import show, trace
        assert show is fad.show and fad.trace is trace
        print(trace(fad.tensor([[1.0, 2.0], [3.0, 4.0]])).item(), type(fad.trace.__doc__) is str)
        """
    assert run(code) == "5.0 True"


@pytest.mark.parametrize("before",
                         ["", "import fad; fad.trace, fad.show", "import fad.show.explain, fad.trace.regions.branch"])
def test_modules_of_such_a_room_get_another_name(before):
    code = f"""{before}
import fad, fad.trace.tracing as t, fad.trace.guards.reads as r, fad.show.draw as d
print(t.__name__, r.__name__, d.__name__, callable(fad.show))
"""
    assert run(code) == "fad.trace.tracing fad.trace.guards.reads fad.show.draw True"


def test_the_package_can_be_pickled():
    """Packages that send functions of notebooks to other processes pickle the modules that these name."""
    assert pickle.loads(pickle.dumps(fad)) is fad
    code = "import pickle, sys; fad = pickle.loads(sys.stdin.buffer.read()); print(fad.grad(lambda x: x * x)(3.0))"
    assert run(code, pickle.dumps(fad)) == "6.0"


def test_tools_that_look_for_marks_load_nothing():
    assert run("import fad, sys; hasattr(fad, '__wrapped__'); print('fad.eager' in sys.modules)") == "False"


# -- the facade ------------------------------------------------------------------------------------


def test_a_pickled_tensor_brings_the_facade():
    data = pickle.dumps(fad.tensor([1.0, 2.0], requires_grad=True))
    code = """
import pickle, sys
t = pickle.loads(sys.stdin.buffer.read())
(t * t).sum().backward()
print(t.grad.tolist())
"""
    assert run(code, data) == "[2.0, 4.0]"


def test_a_module_of_the_facade_imported_first_gives_the_whole_tensor():
    code = """
from fad.eager.tensors.tensor import Tensor
print(hasattr(Tensor, "backward"), hasattr(Tensor, "__array_function__"))
"""
    assert run(code) == "True True"


def test_numpy_functions_of_a_tensor_are_known_in_a_fresh_process():
    code = """
import fad, numpy as np
t = fad.tensor([3.0, 4.0], requires_grad=True)
np.linalg.norm(t).backward()
print([round(g, 12) for g in t.grad.tolist()])
"""
    assert run(code) == "[0.6, 0.8]"


# -- the table of ops and overrides --------------------------------------------------------------------


def test_overrides_of_a_library_are_loaded_when_it_is_met():
    code = """
import math, cmath
import numpy as np
import fad
from fad.ops.override import BY_NAME, find
from fad.ir.op import registry
assert "numpy.percentile" not in BY_NAME and "airy_ai" not in registry and find(len) is None
assert find(np.percentile) and find(math.erf) and find(cmath.exp) and find(np.linalg.solve) and find(np.fft.fft)
assert "scipy.stats.rv_continuous.pdf" not in BY_NAME
import statistics, scipy.fft, scipy.fftpack, scipy.integrate, scipy.linalg, scipy.ndimage, scipy.optimize, scipy.signal
import scipy.spatial.distance, scipy.special, scipy.stats
found = [find(f) for f in (scipy.fft.dct, scipy.fftpack.dct, scipy.integrate.simpson, scipy.linalg.expm,
                           scipy.ndimage.gaussian_filter, scipy.optimize.rosen, scipy.signal.convolve,
                           scipy.spatial.distance.cdist, scipy.special.erf, scipy.stats.rv_continuous.pdf,
                           statistics.mean)]
before = len(BY_NAME), len(registry)
import fad.ops.table
print(all(found), before == (len(BY_NAME), len(registry)))
"""
    assert run(code) == "True True"


def test_the_table_is_the_whole_room():
    room = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in modules()
            if "ops" in path.parts and path.parent.name != "ops"]
    assert run(f"import fad.ops.table, sys; print([name for name in {room} if name not in sys.modules])") == "[]"


def test_what_is_asked_for_by_name_is_loaded():
    code = """
import fad
from fad.ops.override import BY_NAME
from fad.ir.op import registry
print(BY_NAME["scipy.linalg.expm"].name, registry["airy_ai"].name,
      [name for name in (registry, BY_NAME) if "no such thing" in name])
try:
    registry["no such thing"]
except KeyError as error:
    print(error)
"""
    assert run(code).splitlines() == ["scipy.linalg.expm airy_ai []", "'no such thing'"]


def test_threads_that_meet_a_library_at_once_all_find_it():
    code = """
import sys, threading
import numpy as np
import fad
sys.setswitchinterval(1e-6)
from fad.ops.override import find
start, found = threading.Barrier(8), []
def meet(f):
    start.wait()
    found.append(find(f))
threads = [threading.Thread(target=meet, args=(f,)) for f in [np.percentile, np.linalg.norm] * 4]
[t.start() for t in threads]
[t.join() for t in threads]
print(sum(f is not None for f in found))
"""
    assert run(code) == "8"


# -- the floors ------------------------------------------------------------------------------------


def floors() -> dict:
    """The floor of each room, counted from the roof, as the contract of setup.cfg has them."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    rows = settings["importlinter:contract:tower"]["layers"].split("\n")
    return {room.strip(" ()"): k for k, row in enumerate(rows) for room in row.split("|") if room.strip()}


def stands_for(path) -> list[str]:
    """The modules of fad that LazyModules of a file stand for."""
    if "LazyModule" not in path.read_text(encoding="utf-8"):
        return []                                            # most files, of which no tree need be made
    calls = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)
             and getattr(node.func, "id", "") == "LazyModule"]
    names = [call.args[0].value for call in calls]
    return [name for name in names if name.split(".")[0] == "fad"]


LAZY = [path for path in modules() if stands_for(path)]


@pytest.mark.parametrize("path", LAZY, ids=name_of)
def test_lazy_modules_are_of_the_same_room_or_of_a_floor_below(path):
    own, level = path.relative_to(PACKAGE).parts[0].removesuffix(".py"), floors()
    for name in stands_for(path):
        room = name.split(".")[1]
        assert room == own or level[room] > level[own]


def test_special_functions_that_are_met_after_a_kernel_was_compiled_are_compiled():
    code = """if True:
        import warnings, numpy as np, fad
        warnings.simplefilter("error")
        fad.config.cache_dir, fad.config.compile = None, "now"
        fad.jit(lambda x: np.sum(x * x))(np.ones(2))
        from scipy import special
        print(float(fad.jit(lambda x: np.sum(special.ndtr(x)))(np.zeros(2))))
        """
    assert run(code) == "1.0"


def test_modules_of_kernels_wait_for_the_whole_of_numba():
    """Two threads that import parts of Numba at once get modules that are not complete."""
    code = ("import sys, threading\n"
            "from fad.util.lazy import imported\n"
            "sys.setswitchinterval(1e-5)\n"
            "failed = []\n"
            "def load(name):\n"
            "    try:\n"
            "        imported(name)\n"
            "    except ImportError as error:\n"
            "        failed.append(str(error))\n"
            "names = ('numba', 'fad.kernels.libraries', 'fad.backend.running.stored_code', 'fad.kernels.widen')\n"
            "threads = [threading.Thread(target=load, args=(name,)) for name in names]\n"
            "for thread in threads: thread.start()\n"
            "for thread in threads: thread.join()\n"
            "print(failed)\n")
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout == "[]\n", done.stdout + done.stderr
