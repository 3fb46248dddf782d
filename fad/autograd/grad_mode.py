"""fad.autograd.grad_mode: whether and how operations are recorded."""
from ..eager.tensors.grad_mode import _force_original_view_tracking as _force_original_view_tracking
from ..eager.tensors.grad_mode import _unsafe_preserve_version_counter as _unsafe_preserve_version_counter
from ..eager.tensors.grad_mode import enable_grad as enable_grad
from ..eager.tensors.grad_mode import inference_mode as inference_mode
from ..eager.tensors.grad_mode import no_grad as no_grad
from ..eager.tensors.grad_mode import set_grad_enabled as set_grad_enabled
from ..eager.tensors.grad_mode import set_multithreading_enabled as set_multithreading_enabled
