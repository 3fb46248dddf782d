"""Modules that are loaded when first used: `import fad` must not pay for SciPy or Numba."""
import importlib
from types import ModuleType
from typing import Any


class LazyModule(ModuleType):
    """Stands for a module and imports it at the first attribute access.

    >>> math = LazyModule("math")
    >>> math.sqrt(4.0)
    2.0
    """

    def __getattr__(self, name: str) -> Any:
        module = importlib.import_module(self.__name__)
        value = getattr(module, name)
        self.__dict__[name] = value
        return value
