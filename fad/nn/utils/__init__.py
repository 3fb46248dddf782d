"""fad.nn.utils: the gradients and the values of many parameters as one; parametrizations; sequences of several lengths."""
from ...eager.nn.gradients import clip_grad_norm_ as clip_grad_norm_
from ...eager.nn.gradients import clip_grad_value_ as clip_grad_value_
from ...eager.nn.gradients import clip_grads_with_norm_ as clip_grads_with_norm_
from ...eager.nn.gradients import get_total_norm as get_total_norm
from ...eager.nn.gradients import parameters_to_vector as parameters_to_vector
from ...eager.nn.gradients import vector_to_parameters as vector_to_parameters
from ...eager.nn.normed import remove_spectral_norm as remove_spectral_norm
from ...eager.nn.normed import remove_weight_norm as remove_weight_norm
from ...eager.nn.normed import spectral_norm as spectral_norm
from ...eager.nn.normed import weight_norm as weight_norm
from . import parametrizations as parametrizations
from . import parametrize as parametrize
from . import rnn as rnn
