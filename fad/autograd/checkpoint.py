"""fad.autograd.checkpoint: calls on tensors that backward computes again to save memory (torch.utils.checkpoint)."""
from ..eager.checkpoint import CheckpointError as CheckpointError
from ..eager.checkpoint import GraphExecGroup as GraphExecGroup
from ..eager.checkpoint import checkpoint as checkpoint
from ..eager.checkpoint import checkpoint_sequential as checkpoint_sequential
from ..eager.checkpoint import set_checkpoint_debug_enabled as set_checkpoint_debug_enabled
from ..eager.checkpoint import set_checkpoint_early_stop as set_checkpoint_early_stop
