"""fad.nn.modules.utils: states of modules that were saved under another name."""
from ...eager.nn.saving import consume_prefix_in_state_dict_if_present as consume_prefix_in_state_dict_if_present
