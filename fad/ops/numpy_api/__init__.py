"""NumPy's and SciPy's own functions, written in ops: an override for each, found by the function itself.

An override takes the arguments of its function. Overrides are code over arrays, so they serve tracing, Tensors and
(rarely) ndarrays alike. Those that many programs use are here; the modules in LATER are loaded when a program first
meets one of their functions.
"""
from ..override import LATER
from . import (
    arrange,
    contract,
    creation,
    einsum,
    elementwise,
    grids,
    index,
    join,
    methods,
    moments,
    reduce,
    scan,
    select,
    shape,
    sort,
    triangles,
    ufunc_calls,
    ufuncs,
)

LATER.update({
    "math": ("math",),
    "cmath": ("math",),
    "numpy": ("fitting", "functions", "histogram", "nan", "pad", "polynomial", "quantile", "sets", "series",
              "series_objects", "series_products"),
    "numpy.fft": ("fft",),
    "numpy.linalg": ("chains", "linalg", "norms"),
    "numpy.polynomial": ("series", "series_objects", "series_products"),
    "statistics": ("statistics",),
    "scipy.fft": ("cosine", "fft"),
    "scipy.fftpack": ("fftpack",),
    "scipy.integrate": ("integrate",),
    "scipy.interpolate": ("bivariate", "fitpack", "interpolate", "piecewise", "radial", "regular_grids"),
    "scipy.linalg": ("banded", "scipy_functions", "scipy_linalg"),
    "scipy.ndimage": ("measurements", "ndimage", "ranks", "resampling"),
    "scipy.optimize": ("optimize",),
    "scipy.signal": ("filters", "ranks", "rates", "signal", "spectra"),
    "scipy.sparse": ("sparse",),
    "scipy.spatial.distance": ("distance",),
    "scipy.spatial.transform": ("rotation",),
    "scipy.special": ("special",),
    "scipy.stats": ("correlation", "distributions", "estimators", "inference", "summaries"),
})

__all__ = [
    "arrange", "contract", "creation", "einsum", "elementwise", "grids", "index", "join", "methods", "moments",
    "reduce", "scan", "select", "shape", "sort", "triangles", "ufunc_calls", "ufuncs",
]
