"""Machine code from the disk without the compiler.

Before Numba loads machine code from its cache, it sets up its compiler: it imports and registers an implementation of
everything it can compile, SciPy's linear algebra for one. Machine code needs only the runtime that allocates arrays,
and the C functions that the code calls by name. So each kernel is kept with these names. If all of them are there, the
kernel is loaded at once; else Numba's compiler is set up first. A later compilation sets up the compiler then, for
example of a user's function that calls the kernel.

The files are fad's (entry_folder.py). Numba's own caching, with its index files and its folder, has no part in this.
"""

import pickle
from collections.abc import Callable
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from ...util.defects import call_library, ignore_expected
from ...util.interrupts import reraise_interrupt
from ...util.lazy import LazyModule

c_symbols = LazyModule("fad.kernels.c_symbols")
outlined = LazyModule("fad.kernels.outlined")
parts = LazyModule("fad.kernels.parts")
stages = LazyModule("fad.kernels.pipeline_stages")
libraries = LazyModule("fad.kernels.libraries")


class _Alone:
    """Numba's context, but for the engine of the machine code that is loaded: see kernels/libraries.py."""

    def __init__(self, context: Any):
        self._context, self._codegen = context, libraries.Releasable(context.codegen())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> Any:
        """The code generator."""
        return self._codegen


class StoredKernel:
    """The store that Numba's dispatcher asks for a kernel's machine code, and gives it to.

    f         the kernel's function
    kept      (signature, names of what is called, machine code), or nothing
    write     write(kept) keeps it on disk, discard() removes it
    """

    cache_path = ""

    def __init__(self, f: Callable, kept: Any, write: Callable, discard: Callable):
        self.f, self.kept, self.write, self.discard = f, kept, write, discard

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for these types, or None: it is to be compiled."""
        kept, self.kept = self.kept, ()
        if not kept or kept[0] != repr(sig):
            return None
        rtsys.initialize(target_context)
        try:
            return self._rebuilt(target_context, *kept[1:])
        except Exception as error:  # whatever is on disk, the compiler makes another one
            reraise_interrupt(error)
            self.discard()
            return None

    def _rebuilt(self, target_context: Any, names: list, code: bytes) -> Any:
        """The compiled function, or None. A name that is not there would end the process: all are looked up first."""
        if any(name.startswith(parts.PREFIX) for name in names):
            parts.at_hand(target_context)
        kernels = [name for name in names if name.startswith(outlined.PREFIX)]
        if not all(outlined.is_at_hand(name, target_context.codegen()) for name in kernels):
            return None
        if not all(map(c_symbols.is_bound, names)):
            target_context.refresh()
        with stages.findable(self.f):  # an unpickled function refers to its module
            loaded = CompileResult._rebuild(_Alone(target_context), *pickle.loads(code))
        loaded.library.kernel = loaded.fndesc, loaded.environment
        return loaded._replace(target_context=target_context)

    def save_overload(self, sig: Any, compiled: Any) -> None:
        """Keep what was compiled, where that is possible."""
        try:
            kept = repr(sig), libraries.called(compiled.library), call_library(dumps, compiled._reduce())
        except Exception as error:
            ignore_expected(error, "a kernel is not kept on disk")
            return
        self.write(kept)

    def flush(self) -> None:
        """Remove what is kept."""
        self.kept = ()
        self.discard()
