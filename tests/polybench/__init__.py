"""The kernels that NumPy users measure compilers with, and what must hold of their derivatives."""
from . import flows, integers, networks, physics, products, solvers, statistics, stencils
from .registry import KERNELS

__all__ = ["KERNELS", "flows", "integers", "networks", "physics", "products", "solvers", "statistics", "stencils"]
