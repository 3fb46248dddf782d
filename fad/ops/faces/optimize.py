"""scipy.optimize's test function and its derivatives. Its solvers are not differentiated step by step: fad.implicit is for them."""
from typing import Any

from ...ir.op import registry
from ..face import METHODS, face
from .arguments import as_array


@face("scipy.optimize.rosen", samples=("optimize.rosen(x)", "optimize.rosen(v)"))
def rosen(x: Any) -> Any:
    x = as_array(x)
    return METHODS["sum"](100.0 * registry["square"](x[1:] - x[:-1] ** 2) + registry["square"](1 - x[:-1]), axis=0)
