"""fad.optim.swa_utils: averages of a model's parameters over its training."""
from ..eager.optim.averaging import SWALR as SWALR
from ..eager.optim.averaging import AveragedModel as AveragedModel
from ..eager.optim.averaging import get_ema_avg_fn as get_ema_avg_fn
from ..eager.optim.averaging import get_ema_multi_avg_fn as get_ema_multi_avg_fn
from ..eager.optim.averaging import get_swa_avg_fn as get_swa_avg_fn
from ..eager.optim.averaging import get_swa_multi_avg_fn as get_swa_multi_avg_fn
from ..eager.optim.averaging import update_bn as update_bn
