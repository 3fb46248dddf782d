"""fad.optim.lr_scheduler: learning-rate schedules."""
from ..eager.optim.cycles import ChainedScheduler as ChainedScheduler
from ..eager.optim.cycles import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from ..eager.optim.cycles import CyclicLR as CyclicLR
from ..eager.optim.cycles import OneCycleLR as OneCycleLR
from ..eager.optim.cycles import SequentialLR as SequentialLR
from ..eager.optim.schedules import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from ..eager.optim.schedules import ConstantLR as ConstantLR
from ..eager.optim.schedules import CosineAnnealingLR as CosineAnnealingLR
from ..eager.optim.schedules import ExponentialLR as ExponentialLR
from ..eager.optim.schedules import LambdaLR as LambdaLR
from ..eager.optim.schedules import LinearLR as LinearLR
from ..eager.optim.schedules import LRScheduler as LRScheduler
from ..eager.optim.schedules import MultiplicativeLR as MultiplicativeLR
from ..eager.optim.schedules import MultiStepLR as MultiStepLR
from ..eager.optim.schedules import PolynomialLR as PolynomialLR
from ..eager.optim.schedules import ReduceLROnPlateau as ReduceLROnPlateau
from ..eager.optim.schedules import StepLR as StepLR
