"""scipy.stats: densities, probabilities and quantiles of its distributions, by its own methods (stats.norm.logpdf, stats.gamma(2.0).cdf)."""
from . import methods, multivariate

__all__ = ["methods", "multivariate"]
