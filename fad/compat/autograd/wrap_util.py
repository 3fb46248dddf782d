"""autograd.wrap_util: operators on functions of one argument as operators on functions of several."""
from .differential_operators import unary_to_nary as unary_to_nary
