"""Libraries of machine code: optimised once, kept as object code, and freed with their last user.

Numba has one engine for all that it compiles in a process, and that engine frees nothing. A dropped kernel is to be
freed, so each kernel has an engine of its own, which costs it a millisecond.
"""
import contextlib
import functools
import threading

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager
from numba.core import config
from numba.core.codegen import CPUCodegen, JITCodeLibrary, JITCPUCodegen, JitEngine, RuntimeLinker

__all__ = ["Releasable", "new_library", "stop"]

_stopped: set = set()  # threads whose compilations end before their next step


def stop(threads):
    """Let these threads (identifiers) end their compilations: Python is about to end, and with it LLVM."""
    _stopped.update(threads)


def _begin_step():
    if threading.get_ident() in _stopped:
        raise SystemExit


class Releasable:
    """Numba's code generator, with an engine for one library; the engine is freed with that library."""

    def __init__(self, codegen):
        self._shared, self._engine, self._rtlinker = codegen, None, RuntimeLinker()

    def __getattr__(self, name):
        return getattr(self._shared, name)

    def create_library(self, name):
        """A library on this engine."""
        _begin_step()
        return Library(self, name)

    def unserialize_library(self, state):
        """A library of object code, on this engine."""
        return Library._unserialize(self, state)

    def set_env(self, name, environment):
        """Tell the machine code where its environment lies."""
        JITCPUCodegen.set_env(self, name, environment)

    def _pass_builder(self):
        return _pass_builder(self._shared, config.OPT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE)

    def _module_pass_manager(self):
        return JITCPUCodegen._module_pass_manager(self)

    def _add_module(self, module):
        _begin_step()
        options = {"opt": config.OPT}
        self._shared._customize_tm_options(options)
        machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(**options)
        engine = llvm.create_mcjit_compiler(module, machine, use_lmm=config.USE_LLVMLITE_MEMORY_MANAGER)
        if config.ENABLE_PROFILING:
            engine.enable_jit_events()
        self._engine = JitEngine(engine)
        self._engine._load_defined_symbols(module)
        self._engine.set_object_cache(JITCodeLibrary._object_compiled_hook, JITCodeLibrary._object_getbuffer_hook)

    def _scan_and_fix_unresolved_refs(self, module):
        CPUCodegen._scan_and_fix_unresolved_refs(self, module)


class Library(JITCodeLibrary):
    """A library that is optimised once, as a whole, each function only put in order before.

    Numba has LLVM do all the work on each function, too.
    """

    def _optimize_functions(self, module):
        _begin_step()
        codegen = self._codegen
        module.data_layout = codegen._data_layout
        builder = codegen._pass_builder()
        with _freed(llvm.create_new_function_pass_manager()) as passes:
            for name in ("simplify_cfg", "sroa", "instruction_combine", "simplify_cfg", "refprune"):
                getattr(passes, f"add_{name}_pass")()
            for function in module.functions:
                passes.run(function, builder)

    def _optimize_final_module(self):
        _begin_step()
        passes, builder = self._codegen._module_pass_manager()
        with _freed(passes):
            passes.run(self._final_module, builder)


@functools.lru_cache(maxsize=4)
def _pass_builder(codegen, *_settings):
    """LLVM's maker of passes under Numba's settings: one for all kernels, since llvmlite frees it but for a kilobyte.
    """
    return codegen._pass_builder()


@contextlib.contextmanager
def _freed(passes):
    """Free LLVM's passes behind the block. llvmlite does not: of its two base classes the first one frees nothing."""
    try:
        yield passes
    finally:
        NewPassManager._dispose(passes)
        passes.detach()


def new_library(codegen, name):
    """A library of machine code that can be kept."""
    library = Library(codegen, name)
    library.enable_object_caching()
    return library
