"""The name `autograd` for these modules, in packages that are not to be changed."""
import importlib
import pkgutil
import sys

from ...util.errors import ArgumentError

__all__ = ["install"]


def install() -> None:
    """Let `import autograd` find fad.compat.autograd, and so each of its modules.

    A package that is written for autograd (lifelines, say) then runs on fad as it is. Call this before the package is
    imported.

    Raises
    ------
    ArgumentError
        If autograd itself has been imported.

    Examples
    --------
    >>> import fad.compat.autograd
    >>> fad.compat.autograd.install()
    >>> from autograd import grad
    >>> grad.__module__
    'fad.compat.autograd.differential_operators'
    """
    package = sys.modules[__package__]
    if sys.modules.get("autograd", package) is not package:
        raise ArgumentError("autograd has been imported already",
                            why="functions that other modules took from it stay autograd's",
                            do="call install() before the first import of autograd")
    for found in pkgutil.walk_packages(package.__path__, f"{__package__}."):
        importlib.import_module(found.name)
    for name, module in list(sys.modules.items()):                       # the distributions are modules without files
        if name == __package__ or name.startswith(f"{__package__}."):
            sys.modules["autograd" + name.removeprefix(__package__)] = module
