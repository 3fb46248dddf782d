"""scipy.stats: densities, probabilities and quantiles of its distributions, as SciPy's methods (stats.norm.logpdf,
stats.gamma(2.0).cdf)."""
from . import kernel_density, matrices, methods, multivariate

__all__ = ["kernel_density", "matrices", "methods", "multivariate"]
