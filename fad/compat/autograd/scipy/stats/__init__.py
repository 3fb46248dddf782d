"""autograd.scipy.stats: SciPy's distributions. Each is a module too, for `import autograd.scipy.stats.norm as norm`."""
import importlib
import sys
from types import ModuleType
from typing import Any

from .....trace.runtime.namespaces import attribute_of

__getattr__, __dir__ = attribute_of("scipy.stats")


class _Distribution(ModuleType):
    """A distribution of SciPy's as a module; scipy.stats is imported when it is first used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(getattr(importlib.import_module("scipy.stats"), self.__name__.rpartition(".")[2]), name)


for _name in ("bernoulli", "beta", "chi2", "dirichlet", "gamma", "laplace", "multivariate_normal", "norm", "poisson",
              "t", "uniform"):
    _module = _Distribution(f"{__name__}.{_name}", f"scipy.stats.{_name}, as a module")
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = _module
