"""fad.nn.functional: what layers compute, as functions."""
from ..eager.functions.linalg import pdist as pdist
from ..eager.nn.activations import dropout as dropout
from ..eager.nn.activations import elu as elu
from ..eager.nn.activations import elu_ as elu_
from ..eager.nn.activations import gelu as gelu
from ..eager.nn.activations import hardtanh as hardtanh
from ..eager.nn.activations import hardtanh_ as hardtanh_
from ..eager.nn.activations import leaky_relu as leaky_relu
from ..eager.nn.activations import leaky_relu_ as leaky_relu_
from ..eager.nn.activations import log_softmax as log_softmax
from ..eager.nn.activations import logsigmoid as logsigmoid
from ..eager.nn.activations import prelu as prelu
from ..eager.nn.activations import relu as relu
from ..eager.nn.activations import relu_ as relu_
from ..eager.nn.activations import selu as selu
from ..eager.nn.activations import selu_ as selu_
from ..eager.nn.activations import sigmoid as sigmoid
from ..eager.nn.activations import silu as silu
from ..eager.nn.activations import softmax as softmax
from ..eager.nn.activations import softplus as softplus
from ..eager.nn.activations import softsign as softsign
from ..eager.nn.activations import tanh as tanh
from ..eager.nn.activations import threshold as threshold
from ..eager.nn.activations import threshold_ as threshold_
from ..eager.nn.convolution import conv1d as conv1d
from ..eager.nn.convolution import conv2d as conv2d
from ..eager.nn.functional import cosine_similarity as cosine_similarity
from ..eager.nn.functional import linear as linear
from ..eager.nn.functional import one_hot as one_hot
from ..eager.nn.functional import pad as pad
from ..eager.nn.layers import embedding as embedding
from ..eager.nn.losses import binary_cross_entropy as binary_cross_entropy
from ..eager.nn.losses import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from ..eager.nn.losses import cross_entropy as cross_entropy
from ..eager.nn.losses import huber_loss as huber_loss
from ..eager.nn.losses import kl_div as kl_div
from ..eager.nn.losses import l1_loss as l1_loss
from ..eager.nn.losses import mse_loss as mse_loss
from ..eager.nn.losses import nll_loss as nll_loss
from ..eager.nn.losses import smooth_l1_loss as smooth_l1_loss
from ..eager.nn.normalising import batch_norm as batch_norm
from ..eager.nn.normalising import group_norm as group_norm
from ..eager.nn.normalising import layer_norm as layer_norm
from ..eager.nn.normalising import normalize as normalize
from ..eager.nn.pooling import avg_pool1d as avg_pool1d
from ..eager.nn.pooling import avg_pool2d as avg_pool2d
from ..eager.nn.pooling import interpolate as interpolate
from ..eager.nn.pooling import max_pool1d as max_pool1d
from ..eager.nn.pooling import max_pool2d as max_pool2d
from ..eager.tensors.overrides import overridable as _overridable
from ..util.lazy import refusing_names as _refusing_names

for _name, _f in list(globals().items()):
    if callable(_f) and not _name.startswith("_"):
        globals()[_name] = _call = _overridable(_f)
        _call.__module__, _call.__qualname__ = __name__, _name                            # where pickle looks for it

__getattr__ = _refusing_names(globals(), part_of="torch.nn.functional")
