"""special for tensors: what differs from scipy.special in more than the names of options."""
from collections.abc import Callable

from .registry import FUNCTIONS

SPECIAL: dict[str, Callable] = {name: FUNCTIONS[name] for name in ("softmax", "log_softmax", "logsumexp", "logit")}
