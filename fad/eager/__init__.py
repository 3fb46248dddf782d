"""Floor 6: the eager Tensor, a tape of the same op records with the same derivative rules.

An import of any module of this room (by pickle, too) makes Tensor with all its methods.
"""
from . import api as api
