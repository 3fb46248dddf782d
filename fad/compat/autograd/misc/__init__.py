"""autograd.misc: flatten, optimizers, fixed points."""
from .flatten import flatten as flatten
from .flatten import flatten_func as flatten_func
from .tracers import const_graph as const_graph
