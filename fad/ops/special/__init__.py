"""The special functions of SciPy, family by family, each with its derivative."""
from . import bessel, elliptic, errors, gamma, hypergeometric, information, orthogonal, statistics

__all__ = ["bessel", "elliptic", "errors", "gamma", "hypergeometric", "information", "orthogonal", "statistics"]
