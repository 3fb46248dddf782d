"""The disk cache: a private directory of generated modules, each beside the machine code that Numba keeps of it.

A file's name is a digest of its text and of everything else that the machine code depends on, so that nothing in it ever goes stale.
"""
import functools
import importlib.util
import os
import pathlib
import pickle
import platform
import stat
import sys
from typing import Any

import numpy as np

from ..util.lazy import LazyModule
from .sums import with_free_sums

numba = LazyModule("numba")
hashlib = LazyModule("hashlib")
tempfile = LazyModule("tempfile")
llvm = LazyModule("llvmlite.binding")
llvmlite = LazyModule("llvmlite")
widen = LazyModule("fad.kernels.widen")
stored = LazyModule("fad.backend.stored")
apart = LazyModule("fad.kernels.apart")

FORMAT = "names of what is called"                          # of what is kept; another format is another file

FLAGS = ("contract",)                                        # a product and a sum may be one instruction; the order of sums: see sums.py


@functools.cache
def kernels_state() -> str:
    """Size and time of every file of fad/kernels: generated code holds what they hold."""
    folder = pathlib.Path(__file__).parent.parent / "kernels"
    return repr([(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in sorted(folder.glob("*.py"))])


def key(text: str) -> str:
    """What a kernel's file is called."""
    parts = [FORMAT, text, kernels_state(), sys.version, platform.machine(), np.__version__, numba.__version__, llvmlite.__version__, widen.FLAVOUR,
             llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class Store:
    """The place of machine code that several kernels call (see kernels/apart.py): a folder of ours, or none."""

    def __init__(self, folder: "pathlib.Path | None"):
        self.folder, self.key = folder, key

    def read(self, name: str) -> Any:
        """What was written under this name, or None."""
        if self.folder is None:
            return None
        try:
            return pickle.loads((self.folder / name).read_bytes())
        except OSError:
            return None

    def write(self, name: str, what: Any) -> None:
        """Keep something under this name."""
        if self.folder is not None:
            _write(self.folder / name, pickle.dumps(what))


def load(text: str, name: str, folder: "pathlib.Path | None") -> Any:
    """The dispatcher of the function `name` in a module's text."""
    ours = folder is not None and private(folder)
    apart.keep_in(Store(pathlib.Path(folder) if ours else None) if _stored() else None)
    if ours:
        return _from_file(text, name, pathlib.Path(folder))
    scope: dict[str, Any] = {"__name__": "fad_kernel"}
    exec(compile(_module(text, name), "<fad kernel>", "exec"), scope)
    return scope[name]


def _module(text: str, name: str) -> str:
    """What Numba compiles: the text of a kernel, and its decorator."""
    return with_free_sums(text) + _jitted(name)


def _jitted(name: str) -> str:
    flags = ", ".join(map(repr, FLAGS))
    options = f"fastmath={{{flags}}}, error_model='numpy', boundscheck=False, pipeline_class=LeanCompiler"
    imports = "import numba  # noqa: E402\n\nimport fad.kernels.arrays as np  # noqa: E402, F811\nfrom fad.kernels.lean import LeanCompiler  # noqa: E402"
    return f"\n\n{imports}\n\n{name} = numba.njit({options})({name})\n"


def holds(text: str, name: str, folder: "pathlib.Path | None") -> bool:
    """Whether the module of this text lies in the folder."""
    return folder is not None and private(folder) and _file_of(_module(text, name), folder).exists()


def _file_of(module: str, folder: pathlib.Path) -> pathlib.Path:
    return folder / f"fad_{key(module)}.py"


def _from_file(text: str, name: str, folder: pathlib.Path) -> Any:
    text = _module(text, name)
    path = _file_of(text, folder)
    module = path.stem
    if not path.exists():
        _write(path, text.encode())
    spec = importlib.util.spec_from_file_location(module, path)
    loaded = importlib.util.module_from_spec(spec)           # type: ignore[arg-type]
    sys.modules[module] = loaded                             # where machine code from the cache looks for its globals
    spec.loader.exec_module(loaded)                          # type: ignore[union-attr]
    _keep(getattr(loaded, name))
    return getattr(loaded, name)


def _stored() -> Any:
    """Our way to keep a kernel's machine code on disk; Numba's own where a version of Numba has not what ours stands on."""
    try:
        return stored.keep
    except (ImportError, AttributeError):
        return None


def _keep(dispatcher: Any) -> None:
    (_stored() or type(dispatcher).enable_caching)(dispatcher)


def _write(path: pathlib.Path, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.replace(temporary, path)


def private(folder: Any) -> bool:
    """Whether the folder (made if it is missing) is ours and writable by nobody else: what lies in it will be run."""
    folder = pathlib.Path(folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = folder.stat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    return info.st_uid == os.getuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
