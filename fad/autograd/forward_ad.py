"""fad.autograd.forward_ad: tensors that carry tangents."""

from ..eager.engine.forward_ad import UnpackedDualTensor as UnpackedDualTensor
from ..eager.engine.forward_ad import _is_fwd_grad_enabled as _is_fwd_grad_enabled
from ..eager.engine.forward_ad import _set_fwd_grad_enabled as _set_fwd_grad_enabled
from ..eager.engine.forward_ad import dual_level as dual_level
from ..eager.engine.forward_ad import enter_dual_level as enter_dual_level
from ..eager.engine.forward_ad import exit_dual_level as exit_dual_level
from ..eager.engine.forward_ad import make_dual as make_dual
from ..eager.engine.forward_ad import unpack_dual as unpack_dual
from ..eager.tensors.state import now as _now


def __getattr__(name: str) -> object:
    """_current_level: the level that is entered in this context, -1 outside."""
    if name == "_current_level":
        return _now().entered_level
    raise AttributeError(f"module 'fad.autograd.forward_ad' has no attribute {name!r}")
