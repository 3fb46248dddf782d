"""fad.dask: derivatives of sums over chunks of data that Dask keeps, in its workers (extra ``fad-jit[dask]``)."""
from .api.chunks import GaussNewton as GaussNewton
from .api.chunks import OverChunks as OverChunks
from .api.chunks import gauss_newton as gauss_newton
from .api.chunks import hessian as hessian
from .api.chunks import hvp as hvp
from .api.chunks import value_and_grad as value_and_grad
from .util.lazy import refusing_names as _refusing_names

__getattr__ = _refusing_names(globals())
