"""fad.utils: checkpointing, under PyTorch's names."""
from . import checkpoint as checkpoint
