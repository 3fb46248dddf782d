"""The Numba pipeline: fewer passes, and short code for elements of arrays and for loops over ranges.

Generated code has no closures, no `with`, no variable of two types and no arithmetic on whole arrays. Numba's passes
for these take a third of its time, which grows faster than the text. `lowering` is the lowering to LLVM.
"""

import functools
import importlib

from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import BaseNativeLowering, NoPythonBackend
from numba.core.untyped_passes import FixupArgs

from fad.kernels.libraries import Releasable, new_library
from fad.kernels.lowering import LeanLower
from fad.kernels.reference_counts import insert_releases
from fad.kernels.remembering import Remembering
from fad.kernels.stages import LeanRewrites, LeanTranslation, LeanTypeInference, findable, unrecorded

__all__ = ["LeanCompiler", "LeanLowering"]


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
        _import_arrays()
        super().__init__(*given)

    def compile_extra(self, func):
        """Compile a function."""
        with findable(func), unrecorded():
            return super().compile_extra(func)

    def define_pipelines(self):
        """The one pipeline."""
        self.state.typingctx = Remembering(self.state.typingctx)
        manager = PassManager("fad")
        for one in self.PASSES:
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]


@functools.cache
def _import_arrays():
    """Import Numba's functions of arrays, without scipy.linalg (0.1 s): they bring it only to see that it is there."""
    linalg = importlib.import_module("numba.np.linalg")
    ensured, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensured
