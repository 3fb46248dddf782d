"""fad.nn.modules.module: the base of modules."""
from ...eager.nn.module import Module as Module
