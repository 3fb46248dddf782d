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


def called(library: Any) -> list:
    """The names of the C functions and variables that machine code refers to."""
    module = library._final_module
    return [thing.name for thing in (*module.functions, *module.global_variables)
            if thing.is_declaration and not thing.name.startswith("llvm.")]


class CodeAndNames(CompileResultCacheImpl):
    """What is kept of a kernel: what Numba keeps, and the names of what it calls."""

    def reduce(self, compiled: Any) -> tuple:
        """What is written."""
        return called(compiled.library), super().reduce(compiled)

    def rebuild(self, target_context: Any, kept: tuple) -> Any:
        """The compiled function; a name that is not there would end the process, so all are looked up first."""
        names, reduced = kept
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
