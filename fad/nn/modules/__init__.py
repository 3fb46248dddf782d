"""fad.nn.modules: what concerns all modules."""
from . import module as module
