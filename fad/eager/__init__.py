"""The eager Tensor: a tape of the same op records with the same derivative rules.

    api         the surface: importing it gives Tensor all its methods
    optim, nn   optimisers and modules
    transforms  autograd.functional, torch.func, functions that fad compiles
    functions   functions and methods of tensors
    engine      backward, forward mode, autograd.Function, checks
    graph       nodes, and how an operation is recorded
    tensors     the Tensor, dtypes, modes

Each package imports only those below it.

An import of any module of this package (by pickle, too) makes Tensor with all its methods.
"""
from . import api as api
