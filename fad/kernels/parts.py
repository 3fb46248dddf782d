"""Parts of machine code that all kernels share: they allocate arrays, read arguments, make results, look for signals.

They are compiled together, once a machine, and are kept where kernels are. A kernel has their names only. Code that
Numba compiles for others (an exported module, a user's function) contains those that it calls.
"""
import ctypes
import importlib

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys
from numba.core.runtime.nrtdynmod import incref_decref_ty

from fad.kernels import libraries, system_threads  # noqa: F401  (it binds names that parts refer to)
from fad.kernels.c_symbols import BYTE, bind, is_bound

__all__ = ["PREFIX", "at_hand", "counter", "function", "part"]

PREFIX = "fad.part."
PLACE = f"{PREFIX}place."
ADDRESSES = f"{PLACE}counting"
HOLDERS = "memory", "safepoints", "running", "arrays", "thread_parts"  # modules of fad.kernels that have parts
_functions: dict = {}                                        # name -> use(context, module) of each part
_bound: list = []                                            # the library of all parts, once it is there


def part(name, kind, noalias=False):
    """Decorate body(context, builder, function), which emits a function of LLVM; it becomes use(context, module), which
    answers the function as a module calls it. noalias: what it answers is memory that nobody else has.
    """
    def decorate(body):
        def use(context, module):
            return function(context, module, name, kind, body, noalias)
        _functions[PREFIX + name] = use
        return use
    return decorate


def counter(name):
    """A number in memory, 0 at first, for all kernels of a process: use(context, module) answers its place."""
    name = PLACE + name

    def use(context, module):
        if name not in module.globals:
            place = ir.GlobalVariable(module, ir.IntType(64), name)
            if not _is_elsewhere(context, name):
                place.linkage, place.initializer = _linkage(context), ir.IntType(64)(0)
        return module.globals[name]
    _functions[name] = use
    return use


def _counting(context, module):
    """The place of the addresses of Numba's functions that count references."""
    known = [cgutils.get_or_insert_function(module, incref_decref_ty, name) for name in libraries.COUNTING]
    found = ir.GlobalVariable(module, ir.ArrayType(BYTE, len(known)), ADDRESSES)
    found.global_constant, found.initializer = True, found.value_type([f.bitcast(BYTE) for f in known])


_functions[ADDRESSES] = _counting


def function(context, module, name, kind, body, noalias=False):
    """The function as a module calls it: a name where it is one of the parts, or else with its body, once a module."""
    found = cgutils.get_or_insert_function(module, kind, PREFIX + name)
    if found.blocks:
        return found
    if noalias:
        found.return_value.add_attribute("noalias")
    if not _is_elsewhere(context, found.name):
        found.linkage = _linkage(context)
        found.attributes.add("noinline")
        body(context, ir.IRBuilder(found.append_basic_block("entry")), found)
    return found


def _linkage(context):
    return "" if getattr(context.active_code_library, "holds_parts", False) else "linkonce_odr"


def _is_elsewhere(context, name):
    """Whether the code that is being emitted may refer to this part by its name."""
    library = context.active_code_library
    if not isinstance(library, libraries.Library) or library.holds_parts or name not in _functions:
        return False
    if not library.knows_parts:
        at_hand(context)
        library.knows_parts = True
    return True


@global_compiler_lock
def at_hand(context):
    """Bind the names of all parts: to what is kept on disk, or else to what is compiled now. Keep them there."""
    store = libraries.store()
    key = store and PREFIX + store.key("parts")
    codegen = libraries.Releasable(context.codegen())
    if not _bound and not (store and store.use(key, lambda *kept: _load(codegen, *kept))):
        library = _compiled(context, codegen)
        nothing = llvm.parse_assembly("").as_bitcode()       # in place of what others could link
        state = library.name, "object", (library._get_compiled_object(), nothing)
        _bind(library, list(_functions), libraries.called(library), state)
    if store and not store.holds(key):
        store.write(key, _bound[1:])


def _compiled(context, codegen):
    library = libraries.new_library(codegen, PREFIX + "all")
    library.holds_parts = True
    for module in HOLDERS:
        importlib.import_module(f"fad.kernels.{module}")
    context.refresh()                                        # where a kernel came from disk, nothing is set up yet
    context = context.subtarget(enable_nrt=True)
    module = context.create_module("parts")
    with context.push_code_library(library):
        for use in _functions.values():
            use(context, module)
    library.add_ir_module(module)
    library.add_linking_library(rtsys.library)
    library.finalize()
    return library


def _load(codegen, names, called, state):
    if not all(map(is_bound, called)):
        return False
    _bind(codegen.unserialize_library(state), names, called, state)
    return True


def _bind(library, names, called, state):
    """Bind the names, and keep the library, which must not be freed."""
    engine = library.codegen._engine
    for name in names:
        is_place = name.startswith(PLACE)
        bind(name, (engine.get_global_value_address if is_place else engine.get_function_address)(name))
    addresses = engine.get_global_value_address(ADDRESSES)
    for name, address in zip(libraries.COUNTING, (ctypes.c_void_p * 2).from_address(addresses)):
        bind(name, address)
    _bound[:] = library, names, called, state
