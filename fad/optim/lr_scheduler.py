"""fad.optim.lr_scheduler: learning-rate schedules."""
from ..eager.optim.schedules import CosineAnnealingLR as CosineAnnealingLR
from ..eager.optim.schedules import ExponentialLR as ExponentialLR
from ..eager.optim.schedules import LambdaLR as LambdaLR
from ..eager.optim.schedules import LRScheduler as LRScheduler
from ..eager.optim.schedules import ReduceLROnPlateau as ReduceLROnPlateau
from ..eager.optim.schedules import StepLR as StepLR
from ..util.lazy import refusing_names as _refusing_names

__getattr__ = _refusing_names(globals(), part_of="torch.optim.lr_scheduler")
