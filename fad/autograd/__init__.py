"""fad.autograd: gradients of tensors, under PyTorch's names."""
from ..eager.anomaly import detect_anomaly as detect_anomaly
from ..eager.anomaly import set_detect_anomaly as set_detect_anomaly
from ..eager.creation import Variable as Variable
from ..eager.function import Function as Function
from ..eager.grad_api import backward as backward
from ..eager.grad_api import grad as grad
from ..eager.grad_mode import enable_grad as enable_grad
from ..eager.grad_mode import inference_mode as inference_mode
from ..eager.grad_mode import no_grad as no_grad
from ..eager.grad_mode import set_grad_enabled as set_grad_enabled
from ..eager.gradcheck import gradcheck as gradcheck
from ..eager.gradcheck import gradgradcheck as gradgradcheck
from . import forward_ad as forward_ad
from . import function as function
from . import functional as functional
from . import graph as graph
from . import profiler as profiler
