"""fad.utils: checkpointing, data in batches, under PyTorch's names."""
from . import checkpoint as checkpoint
from . import data as data
