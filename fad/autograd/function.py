"""fad.autograd.function: steps of one's own."""
from ..eager.engine.function import Function as Function
from ..eager.engine.function import FunctionCtx as FunctionCtx
from ..eager.engine.function import FunctionNode as BackwardCFunction  # noqa: F401
from ..eager.engine.function import InplaceFunction as InplaceFunction
from ..eager.engine.function import NestedIOFunction as NestedIOFunction
from ..eager.engine.function import once_differentiable as once_differentiable
