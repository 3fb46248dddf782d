"""fad.nn.utils: the gradients and the values of many parameters as one."""
from ...eager.nn.gradients import clip_grad_norm_ as clip_grad_norm_
from ...eager.nn.gradients import clip_grad_value_ as clip_grad_value_
from ...eager.nn.gradients import clip_grads_with_norm_ as clip_grads_with_norm_
from ...eager.nn.gradients import get_total_norm as get_total_norm
from ...eager.nn.gradients import parameters_to_vector as parameters_to_vector
from ...eager.nn.gradients import vector_to_parameters as vector_to_parameters
from ...util.lazy import refusing_names as _refusing_names

__getattr__ = _refusing_names(globals(), part_of="torch.nn.utils")
