"""fad.utils: checkpointing, under PyTorch's name."""
from ..util.lazy import refusing_names as _refusing_names
from . import checkpoint as checkpoint

__getattr__ = _refusing_names(globals(), part_of="torch.utils")
