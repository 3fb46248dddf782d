"""fad.utils.checkpoint: computing again what backward needs, instead of keeping it."""
from ..eager.engine.checkpoint import CheckpointError as CheckpointError
from ..eager.engine.checkpoint import GraphExecGroup as GraphExecGroup
from ..eager.engine.checkpoint import checkpoint as checkpoint
from ..eager.engine.checkpoint import checkpoint_sequential as checkpoint_sequential
from ..eager.engine.checkpoint import set_checkpoint_debug_enabled as set_checkpoint_debug_enabled
from ..eager.engine.checkpoint import set_checkpoint_early_stop as set_checkpoint_early_stop
