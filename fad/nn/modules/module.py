"""fad.nn.modules.module: the base of modules, and hooks of all of them."""
from ...eager.nn.calling import register_module_backward_hook as register_module_backward_hook
from ...eager.nn.calling import register_module_buffer_registration_hook as register_module_buffer_registration_hook
from ...eager.nn.calling import register_module_forward_hook as register_module_forward_hook
from ...eager.nn.calling import register_module_forward_pre_hook as register_module_forward_pre_hook
from ...eager.nn.calling import register_module_full_backward_hook as register_module_full_backward_hook
from ...eager.nn.calling import register_module_full_backward_pre_hook as register_module_full_backward_pre_hook
from ...eager.nn.calling import register_module_module_registration_hook as register_module_module_registration_hook
from ...eager.nn.calling import (
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)
from ...eager.nn.module import Module as Module
