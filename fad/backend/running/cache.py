"""The disk cache of compiled kernels. An entry's name is a digest of the text and of all else that its code depends on.

Nothing in it ever goes stale, since every change gives another name. Nothing is trusted before it was checked
(entry_folder.py). docs/design/cache.md has the reasons.
"""

import functools
import importlib.util
import marshal
import pathlib
import pickle
import platform
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...util.config import config
from ...util.lazy import LazyModule
from ...util.sources import contents_of
from ...util.version import __version__ as VERSION
from ..text.sums import with_free_sums

numba = LazyModule("numba")
llvm = LazyModule("llvmlite.binding")
llvmlite = LazyModule("llvmlite")
widen = LazyModule("fad.kernels.widen")
stored = LazyModule("fad.backend.running.stored_code")
libraries = LazyModule("fad.kernels.libraries")
entries = LazyModule("fad.backend.running.entry_folder")

FORMAT = "1"  # of the payloads; another format is another name

FLAGS = ("contract",)  # a product and a sum may be one instruction; the order of sums: see sums.py

_OF_NO_ACCOUNT = (
    "CACHE", "CHROME", "COLOR", "CUDA", "DEBUG_CACHE", "DUMP", "ENABLE_CUDASIM", "DISABLE_CUDA", "FORCE_CUDA",
    "FUNCTION_CACHE", "GDB", "HIGHLIGHT", "HTML", "NUMBA_DEFAULT_NUM_THREADS", "NUMBA_NUM_THREADS",
    "PARALLEL_DIAGNOSTICS", "RUNNING_UNDER_PROFILER", "SHOW_HELP", "THREADING", "TRACE",
)


# -- the dependences of machine code ---------------------------------------------------------------


def key(*parts: str) -> str:
    """The name of an entry made of these parts, on this machine, with these libraries and their present settings."""
    return entries.digest(*parts, surroundings(), settings())


@functools.cache
def surroundings() -> str:
    """Everything that does not change while a process runs. The contents of files count, not their times, which may be
    constant.
    """
    cpu = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), llvm.get_process_triple()
    libraries = np.__version__, numba.__version__, llvmlite.__version__, repr(llvm.llvm_version_info), widen.FLAVOUR
    python = sys.version, sys.implementation.cache_tag, platform.machine()
    kernels = contents_of("fad.kernels")
    return entries.digest(FORMAT, VERSION, *libraries, *python, *cpu, *kernels, *_scipy())


def _scipy() -> list:
    """The identity of the installed SciPy, without importing it."""
    spec = importlib.util.find_spec("scipy")
    files = [pathlib.Path(place) / "version.py" for place in (spec and spec.submodule_search_locations) or ()]
    return [file.read_bytes() for file in files if file.exists()]


def settings() -> str:
    """Numba's settings that may shape machine code: all except those known not to."""
    known = vars(numba.config).items()
    return repr(
        sorted([(name, repr(value)) for name, value in known if name.isupper() and not name.startswith(_OF_NO_ACCOUNT)])
    )


# -- folders ---------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=16)
def folder_of(path: "pathlib.Path | None") -> Any:
    """The folder of entries at a path, or None."""
    return None if path is None else entries.Folder(path)


class Store:
    """The place of machine code that several kernels call (see kernels/outlined.py)."""

    key = staticmethod(key)

    def __init__(self, folder: Any):
        self.folder = folder

    def use(self, name: str, make: Callable) -> Any:
        """make(*what was written under this name), or None."""
        return self.folder.use(name, lambda payload: make(*pickle.loads(payload)))

    def holds(self, name: str) -> bool:
        """Whether something was written under this name."""
        return self.folder.holds(name)

    def write(self, name: str, what: Any) -> None:
        """Keep something under this name, where that is possible."""
        self.folder.write(name, "part of kernels", pickle.dumps(what), config.cache_size)


# -- kernels ---------------------------------------------------------------------------------------------------------


def holds(text: str, name: str, path: "pathlib.Path | None") -> bool:
    """Whether the kernel of this text was compiled before, and kept there."""
    folder = folder_of(path)
    return folder is not None and folder.holds(key(_module(text, name)))


def load(text: str, name: str, path: "pathlib.Path | None") -> Any:
    """The dispatcher of the function `name` in a module's text."""
    text, folder = _module(text, name), folder_of(path)
    libraries.keep_in(None if folder is None else Store(folder))
    if folder is None:
        return _run(compile(text, f"<fad {name}>", "exec"), "fad_kernel", name)
    place = key(text)

    def made(payload: "bytes | None") -> tuple:
        code, *kept = (
            (marshal.dumps(compile(text, f"<fad {name}>", "exec")),) if payload is None else pickle.loads(payload)
        )
        return code, kept, _run(marshal.loads(code), f"fad_{place}", name)

    code, kept, dispatcher = folder.use(place, made) or made(None)

    def write(what: tuple) -> None:
        folder.write(place, f"{name}({_title(text)})", pickle.dumps((code, *what)), config.cache_size)

    dispatcher._cache = stored.StoredKernel(dispatcher.py_func, kept, write, lambda: folder.remove(place))
    return dispatcher


def _module(text: str, name: str) -> str:
    """The module that Numba compiles: the text of a kernel, and its decorator."""
    return with_free_sums(text) + _jitted(name)


_IMPORTS = """import numba  # noqa: E402

import fad.kernels.arrays as np  # noqa: E402, F811
from fad.kernels.extremes import max, min  # noqa: E402
from fad.kernels.strip_mining import KernelCompiler  # noqa: E402"""


def _jitted(name: str) -> str:
    flags = ", ".join(map(repr, FLAGS))
    options = f"fastmath={{{flags}}}, error_model='numpy', boundscheck=False, pipeline_class=KernelCompiler"
    return f"\n\n{_IMPORTS}\n\n{name} = numba.njit({options})({name})\n"


def _title(text: str) -> str:
    """The line of a kernel's text that says what it takes and returns."""
    return text.partition('"""')[2].partition('"""')[0]


def _run(code: types.CodeType, module: str, name: str) -> Any:
    """The value of this name in the code, in a module that nobody finds; nor does it find itself, so that it can go."""
    scope: dict[str, Any] = {"__name__": module}
    exec(code, scope)
    return scope.pop(name)
