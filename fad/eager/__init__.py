"""Floor 6: the eager Tensor, a tape of the same op records with the same derivative rules.

Whoever imports a module of this room (pickle too) gets Tensor with all its methods.
"""
from . import api as api
