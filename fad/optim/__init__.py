"""fad.optim: optimisers, under PyTorch's names."""
from ..eager.optim.compiled import CompiledStep as CompiledStep
from ..eager.optim.lbfgs import LBFGS as LBFGS
from ..eager.optim.methods import ASGD as ASGD
from ..eager.optim.methods import SGD as SGD
from ..eager.optim.methods import Adadelta as Adadelta
from ..eager.optim.methods import Adafactor as Adafactor
from ..eager.optim.methods import Adagrad as Adagrad
from ..eager.optim.methods import Adam as Adam
from ..eager.optim.methods import Adamax as Adamax
from ..eager.optim.methods import AdamW as AdamW
from ..eager.optim.methods import NAdam as NAdam
from ..eager.optim.methods import RAdam as RAdam
from ..eager.optim.methods import RMSprop as RMSprop
from ..eager.optim.methods import Rprop as Rprop
from ..eager.optim.optimizer import Optimizer as Optimizer
from ..util.lazy import refusing_names as _refusing_names
from . import lr_scheduler as lr_scheduler
from . import swa_utils as swa_utils

__getattr__ = _refusing_names(globals())
