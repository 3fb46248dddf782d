"""The Numba pipeline: fewer passes, and short code for elements of arrays and for loops over ranges.

Generated code has no closures, no `with`, no variable of two types and no arithmetic on whole arrays. Numba's passes
for these take a third of its time, which grows faster than the text. `lowering` is the lowering to LLVM.
"""

import operator

from numba.core import types
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.errors import NumbaError
from numba.core.typed_passes import BaseNativeLowering, NoPythonBackend
from numba.core.untyped_passes import FixupArgs

from fad.kernels.libraries import Releasable, new_library
from fad.kernels.lowering import LeanLower
from fad.kernels.numba_setup import for_kernels, has_all, load_all
from fad.kernels.pipeline_stages import LeanRewrites, LeanTranslation, LeanTypeInference, findable, unrecorded
from fad.kernels.reference_counts import insert_releases

__all__ = ["LeanCompiler", "LeanLowering"]

ALIKE = operator.getitem, "getiter", "iternext"  # what is looked up as functions are


class Remembering:
    """A typing context that looks up functions, and subscripts, once for given types."""

    def __init__(self, context):
        self._context, self._known = context, {}

    def __getattr__(self, name):
        return getattr(self._context, name)

    def _remembered(self, lookup, *key):
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = lookup()
        return found

    def resolve_function_type(self, func, args, kws):
        if kws or not (isinstance(func, types.Function) or func in ALIKE):
            return self._context.resolve_function_type(func, args, kws)
        return self._remembered(lambda: self._context.resolve_function_type(func, args, kws), func, args)

    def resolve_value_type(self, value):
        """As Numba's, which would load its lists and dicts of one type to see that `range` is none of them."""
        is_builtin = isinstance(value, type) and value.__module__ == "builtins"
        found = self._context._get_global_type(value) if is_builtin else None
        return self._context.resolve_value_type(value) if found is None else found

    def resolve_getitem(self, target, index):
        return self._remembered(lambda: self._context.resolve_getitem(target, index), operator.getitem, target, index)

    def resolve_setitem(self, target, index, value):
        return self._remembered(
            lambda: self._context.resolve_setitem(target, index, value), operator.setitem, target, index, value
        )


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(BaseNativeLowering):
    """Numba's lowering, with LeanLower."""

    _name = "fad_lowering"  # type: ignore[assignment]
    lowering_class = LeanLower

    def run_pass(self, state):
        if state.library is None:
            state.library = new_library(Releasable(state.targetctx.codegen()), state.func_id.func_qualname)
        # found once, when nothing will change any more
        state.func_ir.fad_live, state.func_ir.fad_arriving = insert_releases(state.func_ir)
        return super().run_pass(state)


class LeanCompiler(CompilerBase):
    """Numba's pipeline without what generated code has no need of."""

    PASSES: tuple = (LeanTranslation, FixupArgs, LeanRewrites, LeanTypeInference, LeanLowering, NoPythonBackend)

    def __init__(self, *given):
        self._given = given
        with for_kernels():
            super().__init__(*given)
        self.state.typingctx = Remembering(self.state.typingctx)

    def compile_extra(self, func):
        """Compile a function, a second time if it needs more of Numba than kernels do."""
        with findable(func), unrecorded():
            try:
                with for_kernels() as is_outermost:
                    return super().compile_extra(func)
            except (NumbaError, NotImplementedError):
                if not is_outermost or has_all():
                    raise
            load_all()
            return type(self)(*self._given).compile_extra(func)

    def define_pipelines(self):
        """The one pipeline."""
        manager = PassManager("fad")
        for one in self.PASSES:
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]
