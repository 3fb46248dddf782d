"""fad.autograd: gradients of tensors, under PyTorch's names."""
from ..eager.engine.anomaly import detect_anomaly as detect_anomaly
from ..eager.engine.anomaly import set_detect_anomaly as set_detect_anomaly
from ..eager.engine.function import Function as Function
from ..eager.engine.grad_api import _calculate_shape as _calculate_shape
from ..eager.engine.grad_api import backward as backward
from ..eager.engine.grad_api import grad as grad
from ..eager.engine.profiler import _profiler_enabled as _profiler_enabled
from ..eager.engine.profiler import kineto_available as kineto_available
from ..eager.functions.creation import Variable as Variable
from ..eager.graph.saved import SavedTensor as SavedTensor
from ..eager.tensors.grad_mode import _force_original_view_tracking as _force_original_view_tracking
from ..eager.tensors.grad_mode import _unsafe_preserve_version_counter as _unsafe_preserve_version_counter
from ..eager.tensors.grad_mode import enable_grad as enable_grad
from ..eager.tensors.grad_mode import inference_mode as inference_mode
from ..eager.tensors.grad_mode import is_multithreading_enabled as is_multithreading_enabled
from ..eager.tensors.grad_mode import is_view_replay_enabled as is_view_replay_enabled
from ..eager.tensors.grad_mode import no_grad as no_grad
from ..eager.tensors.grad_mode import set_grad_enabled as set_grad_enabled
from ..eager.tensors.grad_mode import set_multithreading_enabled as set_multithreading_enabled
from ..util.lazy import refusing_names as _refusing_names
from . import checkpoint as checkpoint
from . import forward_ad as forward_ad
from . import function as function
from . import functional as functional
from . import grad_mode as grad_mode
from . import graph as graph
from . import profiler as profiler
from .gradcheck import GradcheckError as GradcheckError
from .gradcheck import gradcheck as gradcheck
from .gradcheck import gradgradcheck as gradgradcheck

__getattr__ = _refusing_names(globals())
