"""fad.nn.utils: the gradients of many parameters as one."""
from ...eager.nn.gradients import clip_grad_norm_ as clip_grad_norm_
from ...eager.nn.gradients import clip_grad_value_ as clip_grad_value_
from ...util.lazy import refusing_names as _refusing_names

__getattr__ = _refusing_names(globals(), part_of="torch.nn.utils")
