"""Sources of random numbers."""
import functools
from typing import Any

import numpy as np

from .dtypes import CPU
from .errors import scalar_name


class Generator:
    """A source of random numbers."""

    def __init__(self, device: str = "cpu"):
        if str(device).partition(":")[0] != "cpu":
            raise RuntimeError(f"there is no device {device!r} here: numbers are drawn on the CPU")
        self.seed_used, self.device = 0, CPU

    @functools.cached_property
    def rng(self) -> Any:
        """NumPy's generator, whose module is loaded when it is first drawn from."""
        return np.random.default_rng()

    def manual_seed(self, seed: int) -> "Generator":
        """Start again from a seed."""
        self.seed_used, self.rng = int(seed), np.random.default_rng(int(seed) & (1 << 64) - 1)
        return self

    def seed(self) -> int:
        """Start from a seed nobody knows; it is returned."""
        self.manual_seed(int(np.random.SeedSequence().entropy) & (1 << 63) - 1)
        return self.seed_used

    def initial_seed(self) -> int:
        """The seed last given."""
        return self.seed_used

    def get_state(self) -> Any:
        """All there is to know of where the source is."""
        return self.rng.bit_generator.state

    def set_state(self, state: object) -> "Generator":
        """Go back to where get_state was called."""
        self.rng.bit_generator.state = state
        return self


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the default source of random numbers from a seed.

    >>> a = manual_seed(0).rng.random()
    >>> manual_seed(0).rng.random() == a
    True
    """
    return default_generator.manual_seed(seed)


def source(generator: "Generator | None") -> Any:
    """The NumPy generator behind a source."""
    return (generator or default_generator).rng


def _inexact(dtype: np.dtype, kernel: str) -> None:
    if dtype.kind not in "fc":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(dtype)}'")


def uniform(size: tuple, dtype: np.dtype, generator: object) -> np.ndarray:
    if dtype.kind == "c":
        return (uniform(size, np.dtype(float), generator).astype(dtype) + 1j
                * uniform(size, np.dtype(float), generator).astype(dtype))
    _inexact(dtype, "check_uniform_bounds")
    return np.asarray(source(generator).random(size)).astype(dtype)


def normal(size: tuple, dtype: np.dtype, generator: object) -> np.ndarray:
    if dtype.kind == "c":
        return ((normal(size, np.dtype(float), generator) + 1j * normal(size, np.dtype(float), generator))
                / np.sqrt(2)).astype(dtype)
    _inexact(dtype, "normal_kernel_cpu")
    return np.asarray(source(generator).standard_normal(size)).astype(dtype)
