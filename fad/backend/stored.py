"""Machine code from the disk without the compiler.

Before Numba loads machine code from its cache it sets up its compiler: it imports and registers an implementation of everything it can
compile, SciPy's linear algebra for one. Machine code needs none of this: only the runtime that allocates arrays, and the C functions that the
code calls by name. So each kernel is kept with the names of those; if they are all there it is loaded at once, else as Numba does it. What is
compiled later (the user's own code, that calls the kernel) sets up the compiler then.
"""
from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime import rtsys

from ..util.lazy import LazyModule

apart = LazyModule("fad.kernels.apart")


class CodeAndNames(CompileResultCacheImpl):
    """What is kept of a kernel: what Numba keeps, and the names of what it calls."""

    def reduce(self, compiled: Any) -> tuple:
        """What is written."""
        return apart.called(compiled.library), super().reduce(compiled)

    def rebuild(self, target_context: Any, kept: tuple) -> Any:
        """The compiled function, or None; a name that is not there would end the process, so all are looked up first."""
        names, reduced = kept
        kernels = [name for name in names if name.startswith(apart.PREFIX)]
        if not all(apart.is_at_hand(name, target_context.codegen()) for name in kernels):
            return None                                      # to be compiled anew
        if not all(map(llvm.address_of_symbol, names)):
            target_context.refresh()
        return super().rebuild(target_context, reduced)


class StoredCode(FunctionCache):
    """The cache of one kernel, in Numba's format but for the names."""

    _impl_class = CodeAndNames
    _load = FunctionCache._load_overload                     # what this stands on; a version of Numba without it gets its own cache (see keep)
    _guard = FunctionCache._guard_against_spurious_io_errors

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for these types, or None."""
        rtsys.initialize(target_context)
        with self._guard():
            return self._load(sig, target_context)


def keep(dispatcher: Any) -> None:
    """Keep the machine code of a dispatcher on disk."""
    dispatcher._cache = StoredCode(dispatcher.py_func)
