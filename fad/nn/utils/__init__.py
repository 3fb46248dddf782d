"""fad.nn.utils: the gradients and the values of many parameters as one."""
from ...eager.nn.gradients import clip_grad_norm_ as clip_grad_norm_
from ...eager.nn.gradients import clip_grad_value_ as clip_grad_value_
from ...eager.nn.gradients import parameters_to_vector as parameters_to_vector
from ...eager.nn.gradients import vector_to_parameters as vector_to_parameters
from . import rnn as rnn
