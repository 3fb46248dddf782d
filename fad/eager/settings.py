"""Settings that are in force at once, and end with a with statement: how views are told, version counters."""
from collections.abc import Sequence

from .state import change, now
from .tensor import Tensor


class ModeSetting:
    """A setting of this context: in force when made; as a context manager, until the block ends."""

    attribute = ""

    def __init__(self, mode: bool):
        self.before = getattr(now(), self.attribute)
        change(**{self.attribute: bool(mode)})

    def __enter__(self) -> None:
        """It is in force already."""

    def __exit__(self, *exc: object) -> None:
        change(**{self.attribute: self.before})


class _force_original_view_tracking(ModeSetting):
    """Whether a view whose base was changed in place gets nodes called as the views that were taken, rather than
    AsStridedBackward0."""

    attribute = "view_replay"


def is_view_replay_enabled() -> bool:
    """Whether _force_original_view_tracking is on."""
    return now().view_replay


class _unsafe_preserve_version_counter:
    """Within, changes in place of these tensors are not counted: backward does not notice them, and what it computes
    may be wrong."""

    def __init__(self, tensors: "Tensor | Sequence"):
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
        self.versions = [t._vc[0] for t in self.tensors]

    def __enter__(self) -> None:
        """The versions are known already."""

    def __exit__(self, *exc: object) -> None:
        for t, version in zip(self.tensors, self.versions):
            t._vc[0] = version
