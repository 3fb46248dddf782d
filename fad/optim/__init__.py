"""fad.optim: optimisers, under PyTorch's names."""
from ..eager.optim.compiled import CompiledStep as CompiledStep
from ..eager.optim.lbfgs import LBFGS as LBFGS
from ..eager.optim.methods import SGD as SGD
from ..eager.optim.methods import Adam as Adam
from ..eager.optim.methods import AdamW as AdamW
from ..eager.optim.methods import RMSprop as RMSprop
from ..eager.optim.optimizer import Optimizer as Optimizer
from ..util.lazy import refusing_names as _refusing_names
from . import lr_scheduler as lr_scheduler

__getattr__ = _refusing_names(globals(), part_of="torch.optim")
