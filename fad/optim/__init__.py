"""fad.optim: optimisers, under PyTorch's names."""
from ..eager.optim.compiled import CompiledStep as CompiledStep
from ..eager.optim.methods import LBFGS as LBFGS
from ..eager.optim.methods import SGD as SGD
from ..eager.optim.methods import Adagrad as Adagrad
from ..eager.optim.methods import Adam as Adam
from ..eager.optim.methods import AdamW as AdamW
from ..eager.optim.methods import RMSprop as RMSprop
from ..eager.optim.optimizer import Optimizer as Optimizer
from . import lr_scheduler as lr_scheduler
