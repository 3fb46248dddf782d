"""Outlined kernels: large kernels as machine code of their own, compiled once for each signature and called by name.

fad keeps their code where it keeps its kernels. A caller holds only the name, so no caller compiles or optimises the
kernel again. An exported module has no place to keep anything, and compiles what it calls into itself.
"""
from numba.core import cgutils

from fad.kernels import error_paths, parts
from fad.kernels.c_symbols import bind, is_bound
from fad.kernels.libraries import called, new_library, store

__all__ = ["PREFIX", "call", "is_at_hand"]

PREFIX = "fad.kernel."
_libraries: dict = {}                                        # symbol -> its library, which must not be freed


def call(context, builder, body, sig, args, compiled):
    """Call the kernel by its name; None where there is no place for it. `compiled(library)` compiles it into a library,
    and answers its fndesc.
    """
    if store() is None:
        return None
    parts.at_hand(context)                                   # to which a kernel on disk refers
    symbol = PREFIX + store().key(f"{body.__module__}.{body.__qualname__}{sig}")
    if not is_at_hand(symbol, context.codegen()):
        _make(symbol, context.codegen(), compiled)
    kind = context.call_conv.get_function_type(sig.return_type, sig.args)
    function = cgutils.get_or_insert_function(builder.module, kind, symbol)
    status, result = error_paths.called(context, builder, function, sig, args)
    error_paths.go_on(context, builder, status)
    return result


def _make(symbol, codegen, compiled):
    library = new_library(codegen, symbol)
    name = compiled(library).llvm_func_name
    library.finalize()
    _take(symbol, library, name)
    store().write(symbol, (called(library), library.serialize_using_object_code(), name))


def _take(symbol, library, name):
    _libraries[symbol] = library
    bind(symbol, library.get_pointer_to_function(name))


def is_at_hand(symbol, codegen):
    """Whether the symbol of a kernel is bound, or can be: what was kept is there, and all that it calls."""
    if symbol in _libraries:
        return True
    return store() is not None and bool(store().use(symbol, lambda *kept: _load(symbol, codegen, *kept)))


def _load(symbol, codegen, names, state, name):
    """Bind the symbol to what was kept; False where something that it calls is not there."""
    if not all(is_at_hand(n, codegen) if n.startswith(PREFIX) else is_bound(n) for n in names):
        return False
    _take(symbol, codegen.unserialize_library(state), name)
    return True
