"""fad.optim: optimisers, under PyTorch's names."""
from ..eager.optim.compiled import CompiledStep as CompiledStep
from ..eager.optim.lbfgs import LBFGS as LBFGS
from ..eager.optim.optimizer import SGD as SGD
from ..eager.optim.optimizer import Adam as Adam
from ..eager.optim.optimizer import AdamW as AdamW
from ..eager.optim.optimizer import Optimizer as Optimizer
from ..eager.optim.optimizer import RMSprop as RMSprop
from ..util.lazy import refusing_names as _refusing_names
from . import lr_scheduler as lr_scheduler

__getattr__ = _refusing_names(globals(), part_of="torch.optim")
