"""fad.autograd.function: steps of one's own."""
from ..eager.function import Function as Function
from ..eager.function import FunctionCtx as FunctionCtx
from ..eager.function import FunctionNode as BackwardCFunction  # noqa: F401
from ..eager.function import InplaceFunction as InplaceFunction
from ..eager.function import NestedIOFunction as NestedIOFunction
from ..eager.function import once_differentiable as once_differentiable
