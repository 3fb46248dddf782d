"""Arrays and tables of other libraries: how their numbers come out of them."""
from typing import Any

from .where import package_name

REMEDIES = {  # the package of a class -> text that makes an ndarray of its x
    "torch": "x.detach().numpy()", "pandas": "x.to_numpy()", "polars": "x.to_numpy()", "xarray": "x.to_numpy()",
    "pyarrow": "x.to_numpy()", "jax": "np.asarray(x)", "jaxlib": "np.asarray(x)", "tensorflow": "x.numpy()",
    "cupy": "x.get()", "dask": "x.compute()"}


def package_of(x: Any) -> str:
    """The package that the class of x is from."""
    return package_name(type(x))


def remedy_of(x: Any) -> str:
    """How to get an ndarray of x, an array or table of another library's; empty if it is none.

    >>> remedy_of(1.0)
    ''
    """
    return REMEDIES.get(package_of(x), "") if hasattr(type(x), "__array__") else ""


def remedy_in(module: str) -> str:
    """The same for a value that the code of this module, a library's, computes with."""
    return REMEDIES.get(module.partition(".")[0], "")
