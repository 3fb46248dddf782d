"""fad.dask: derivatives of sums over chunks of data that Dask keeps, in its workers (extra ``fad-jit[dask]``)."""
from .api.derivatives.chunks import GaussNewton as GaussNewton
from .api.derivatives.chunks import OverChunks as OverChunks
from .api.derivatives.chunks import gauss_newton as gauss_newton
from .api.derivatives.chunks import hessian as hessian
from .api.derivatives.chunks import hvp as hvp
from .api.derivatives.chunks import value_and_grad as value_and_grad
from .util.lazy import refusing_names as _refusing_names

__getattr__ = _refusing_names(globals())
