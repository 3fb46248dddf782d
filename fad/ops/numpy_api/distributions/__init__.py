"""scipy.stats: densities, probabilities and quantiles of its distributions, as SciPy's methods (stats.norm.logpdf,
stats.gamma(2.0).cdf)."""
from . import matrices, methods, multivariate

__all__ = ["matrices", "methods", "multivariate"]
