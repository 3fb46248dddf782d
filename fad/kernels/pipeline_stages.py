"""Stages of the Numba pipeline (numba_pipeline.py) that come before code is emitted."""
import contextlib
import sys
import threading
from types import ModuleType

from numba.core import errors, interpreter, ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.rewrites import rewrite_registry
from numba.core.typed_passes import NopythonTypeInference
from numba.core.typeinfer import TypeInferer

__all__ = ["LeanRewrites", "LeanTranslation", "LeanTypeInference", "findable", "pass_one_by_one", "unrecorded"]


class Line(ir.Loc):
    """A line of a text that is in no file.

    Numba looks for its file, under the current folder, for each of the errors that it raises and handles itself; the
    folder may be gone.
    """

    def _get_path(self):
        return self.filename

    def get_lines(self):
        """No lines."""
        return []


class _Interpreter(interpreter.Interpreter):
    """Numba's, without the search for what `with` leaves behind: it looks at each variable of each statement twice."""

    def post_process(self, peepholes, func_ir):
        return super().post_process([f for f in peepholes if f is not interpreter.peep_hole_delete_with_exit], func_ir)


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanTranslation(FunctionPass):
    """Numba's translation of byte code; lines are numbers, and their text is not looked for."""

    _name = "fad_translation"

    def __init__(self):
        super().__init__()

    def run_pass(self, state):
        translation = _Interpreter(state.func_id)
        if state.func_id.filename.startswith("<"):
            translation.loc = translation.first_loc = Line.from_function_id(state.func_id)
        state.func_ir = translation.interpret(state.bc)
        pass_one_by_one(state.func_ir)
        return True


def pass_one_by_one(function):
    """Replace f(*(a, b, ...)) by f(a, b, ...).

    Python's byte code packs more than thirty arguments into a tuple. That holds each of its arrays once more, and
    releases them wherever the function may be left.
    """
    for block in function.blocks.values():
        kept = []
        for statement in block.body:
            call = getattr(statement, "value", None)
            name = _name_of_tuple(call)
            if name is not None and kept and _is_tuple(kept[-1], name):
                call.args, call.vararg = kept.pop().value.items, None
                del function._definitions[name]
            kept.append(statement)
        block.body = kept


def _name_of_tuple(call):
    """The variable, of Python's stack, whose items are all arguments of a call; None if there is none."""
    is_spread = isinstance(call, ir.Expr) and call.op == "call" and call.vararg and not call.args and not call.kws
    return call.vararg.name if is_spread and call.vararg.name.startswith("$") else None


def _is_tuple(statement, name):
    """Whether a statement makes a tuple under this name."""
    is_made = isinstance(statement, ir.Assign) and statement.target.name == name
    return is_made and isinstance(statement.value, ir.Expr) and statement.value.op == "build_tuple"


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanRewrites(FunctionPass):
    """Numba's rewriting before types are known (of constant subscripts, of what is raised), each block looked at until
    nothing is found.
    """

    _name = "fad_rewrites"

    def __init__(self):
        super().__init__()

    def run_pass(self, state):
        function = state.func_ir
        for kind in rewrite_registry.rewrites["before-inference"]:
            rewrite, waiting = kind(state), list(function.blocks)
            while waiting:
                label = waiting.pop()
                if rewrite.match(function, function.blocks[label], state.typemap, state.calltypes):
                    function.blocks[label] = rewrite.apply()
                    waiting.append(label)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanTypeInference(NopythonTypeInference):
    """Numba's search for types, without the loop over errors that Numba makes around it."""

    _name = "fad_type_inference"

    def run_pass(self, state):
        context, function = state.typingctx, state.func_ir
        search = TypeInferer(context, function, errors.WarningsFixer(errors.NumbaWarning))
        with context.callstack.register(state.targetctx.target, search, function.func_id, state.args):
            for k, (name, kind) in enumerate(zip(function.arg_names, state.args)):
                search.seed_argument(name, k, kind)
            if state.return_type is not None:
                search.seed_return(state.return_type)
            search.build_constraint()
            state.typing_errors = search.propagate(raise_errors=True)
            state.typemap, state.return_type, state.calltypes = search.unify(raise_errors=True)
        return True


_compiling = threading.local()


def _catch_warnings(self, filename=None, lineno=None, numbas=errors.WarningsFixer.catch_warnings):
    """Numba's record of warnings, made for each statement whose types it searches, and process-wide. While a kernel is
    compiled there is none, nor for Numba's own functions in it: whoever asks in another thread who is told of warnings
    would find Numba.
    """
    return contextlib.nullcontext() if getattr(_compiling, "kernel", False) else numbas(self, filename, lineno)


errors.WarningsFixer.catch_warnings = _catch_warnings         # type: ignore[attr-defined]


@contextlib.contextmanager
def unrecorded():
    """Within the block, this thread compiles without that record."""
    before, _compiling.kernel = getattr(_compiling, "kernel", False), True
    try:
        yield
    finally:
        _compiling.kernel = before


@contextlib.contextmanager
def findable(function):
    """Within the block, Numba finds a module of that name; nothing in the module keeps the function."""
    name = function.__module__
    added = name is not None and name not in sys.modules
    if added:
        sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        if added:
            sys.modules.pop(name, None)
