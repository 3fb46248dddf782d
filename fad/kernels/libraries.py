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
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen, JitEngine
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

__all__ = ["COUNTING", "Library", "Releasable", "called", "keep_in", "new_library", "stop", "store", "without_lock"]

COUNTING = "NRT_incref", "NRT_decref"                        # Numba's functions that count references to memory
WITH_FRAME = '"frame-pointer"="all"'
LEVEL_OF_LARGE = 2  # of LLVM's passes: above it they copy loops, one for each answer of a test that an iteration asks
KNOWN = range(20, 23)  # versions of LLVM that take its settings as is written here; another may end the process
_store: list = [None]
_stopped: set = set()  # threads whose compilations end before their next step
without_lock: set = set()  # threads in which LLVM works, for long, without Python's lock


def stop(threads):
    """Let these threads (identifiers) end their compilations: Python is about to end, and with it LLVM."""
    _stopped.update(threads)


def _begin_step():
    if threading.get_ident() in _stopped:
        raise SystemExit


@contextlib.contextmanager
def without_strength_reduction():
    """Within the block, LLVM makes machine code without its loop strength reduction.

    The pass replaces addresses in loops by pointers that move. In large functions it takes a third to a half of the
    time of machine code. Calls take as long without it, since x86 computes such addresses as it reads.

    The setting is the process's. Numba's lock keeps other threads from compiling meanwhile; their code would compute
    the same.
    """
    if not _has_setting():
        yield
        return
    llvm.set_option("fad", "-disable-lsr=true")
    try:
        yield
    finally:
        llvm.set_option("fad", "-disable-lsr=false")


def _has_setting():
    return llvm.llvm_version_info[0] in KNOWN and llvm.get_process_triple().startswith("x86")


@contextlib.contextmanager
def _of_llvm():
    """A step of LLVM's, which leaves Python's lock to others."""
    _begin_step()
    thread = threading.get_ident()
    without_lock.add(thread)
    try:
        yield
    finally:
        without_lock.discard(thread)


def keep_in(place):
    """Set what keeps machine code: key(text) -> name of a file, use(name, make) -> make(*what was written) or None,
    holds(name), write(name, what). None: nothing is kept.
    """
    _store[0] = place


def store():
    """The store of machine code, or None."""
    return _store[0]


def called(library):
    """The names of the C functions and variables that machine code refers to."""
    module = library._final_module
    return [thing.name for thing in (*module.functions, *module.global_variables)
            if thing.is_declaration and not thing.name.startswith("llvm.")]


class Releasable:
    """Numba's code generator, with an engine for one library; the engine is freed with that library."""

    def __init__(self, codegen):
        self._shared, self._engine = codegen, None

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

    def _pass_builder(self, opt):
        return _pass_builder(self._shared, 1, opt)

    def _module_pass_manager(self, opt):
        return JITCPUCodegen._module_pass_manager(self, opt=opt)

    def _add_module(self, module):
        _begin_step()
        options = {"opt": config.OPT}
        self._shared._customize_tm_options(options)
        machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(**options)
        engine = llvm.create_mcjit_compiler(module, machine, use_lmm=config.USE_LLVMLITE_MEMORY_MANAGER)
        if config.ENABLE_PROFILING:
            engine.enable_jit_events()
        self._engine = _Engine(engine, module)
        self._engine.set_object_cache(JITCodeLibrary._object_compiled_hook, JITCodeLibrary._object_getbuffer_hook)

    def _scan_and_fix_unresolved_refs(self, module):
        """Numba looks here for functions that call themselves. Kernels have none."""


class _Engine(JitEngine):
    """An engine for one module, which it asks for the names of functions."""

    def __init__(self, engine, module):
        super().__init__(engine)
        self._module = module

    def is_symbol_defined(self, name):
        """Whether there is machine code for this function."""
        function = _function_in(self._module, name)
        return name in self._defined_symbols or (function is not None and not function.is_declaration)


def _function_in(module, name):
    """The function of a module that has this name, or None."""
    with contextlib.suppress(NameError):
        return module.get_function(name)
    return None


class Library(JITCodeLibrary):
    """A library that is optimised once, as a whole, each function only put in order before.

    Numba has LLVM do all the work on each function, too.
    """

    holds_parts = knows_parts = False                        # whether it is that of kernels/parts.py, and refers to it
    is_large = False                                         # whether it holds functions of many loops
    kernel: tuple = ()                                       # (fndesc, environment) of the kernel in it

    def get_pointer_to_function(self, name):
        """The address of a function; that for C is compiled when it is first asked for, since few programs do."""
        if self.kernel and name == self.kernel[0].llvm_cfunc_wrapper_name:
            return self._for_c.get_pointer_to_function(name)
        return super().get_pointer_to_function(name)

    @property
    def _for_c(self):
        if "for_c" not in vars(self):
            self.for_c = self._made_for_c(*self.kernel)
        return self.for_c

    @global_compiler_lock
    def _made_for_c(self, fndesc, environment):
        context = cpu_target.target_context
        library = new_library(Releasable(context.codegen()), f"{fndesc.llvm_func_name}.c")
        with context.push_code_library(library):
            context.create_cfunc_wrapper(library, fndesc, environment, None)
        library.add_linking_library(self)
        library.finalize()
        library.codegen.set_env(context.get_env_name(fndesc), environment)
        return library

    def finalize(self):
        """As Numba's, but what LLVM has optimised is not verified again."""
        self._codegen._check_llvm_bugs()
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if library is rtsys.library and self.knows_parts and not self._calls_another(library):
                continue                                     # the functions that count references are parts, too
            self._reload_init.update(library._reload_init)
            self.is_large |= getattr(library, "is_large", False)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        self._finalize_final_module()

    def _calls_another(self, library):
        """Whether this library calls a function of another one that counts no references."""
        if "names" not in vars(library):
            library.names = {function.name for function in library.get_defined_functions()}.difference(COUNTING)
        return any(_function_in(self._final_module, name) for name in library.names)

    def add_ir_module(self, ir_module):
        """Add a module; LLVM is told what it would see in Numba's code for a reference more.

        Functions keep a frame pointer, since LLVM aligns the stack for vectors that wait there only in those that do.
        Else every process would draw lots whether vectors lie in one line of the cache or in two: with calls of libmvec
        in a loop, or more values than registers, that was a sixth to a quarter of the time.
        """
        more = ir_module.globals.get(COUNTING[0])
        if more is not None and not more.blocks:
            more.attributes.update({"argmemonly", "nounwind"})
        for function in ir_module.functions:
            if function.blocks:
                set.add(function.attributes, WITH_FRAME)  # llvmlite's own `add` knows fewer attributes than LLVM
        super().add_ir_module(ir_module)

    def _verify_declare_only_symbols(self):
        """Numba looks here for mistakes of its own."""

    def _optimize_functions(self, module):
        _begin_step()
        codegen = self._codegen
        module.data_layout = codegen._data_layout
        functions = list(module.functions)
        builder = _pass_builder(getattr(codegen, "_shared", codegen), len(functions), config.OPT)
        with _freed(llvm.create_new_function_pass_manager()) as passes:
            for name in ("simplify_cfg", "sroa", "instruction_combine", "simplify_cfg", "refprune"):
                getattr(passes, f"add_{name}_pass")()
            for function in functions:
                passes.run(function, builder)

    def _optimize_final_module(self):
        level = min(config.OPT, LEVEL_OF_LARGE) if self.is_large else config.OPT
        passes, builder = self._codegen._module_pass_manager(opt=level)
        with _of_llvm(), _freed(passes):
            passes.run(self._final_module, builder)

    def _finalize_specific(self):
        with _of_llvm(), without_strength_reduction() if self.is_large else contextlib.nullcontext():
            super()._finalize_specific()


class _Builder:
    """LLVM's maker of passes under Numba's settings, a new one after many runs of passes.

    llvmlite frees a maker but for a kilobyte, so not every run has its own. Each run adds callbacks to its maker, and
    all of them are called before and after each pass of later runs, so none is for all runs: after 800 kernels,
    compiling took twice as long.
    """

    RUNS = 100

    def __init__(self, codegen):
        self.codegen, self.left = codegen, 0

    def get(self, runs, opt):
        """The maker for the next so many runs."""
        if self.left <= 0:
            self.builder, self.left = self.codegen._pass_builder(opt=opt), self.RUNS
        self.left -= runs
        return self.builder


@functools.lru_cache(maxsize=4)
def _builder(codegen, *_settings):
    return _Builder(codegen)


def _pass_builder(codegen, runs, opt):
    """The maker of passes of a level for the next so many runs."""
    return _builder(codegen, opt, config.LOOP_VECTORIZE, config.SLP_VECTORIZE).get(runs, opt)


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
