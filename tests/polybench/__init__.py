"""The kernels that NumPy users measure compilers with, and what must hold of their derivatives."""
from . import by_item, flows, integers, networks, physics, products, scalars, solvers, statistics, stencils
from .registry import KERNELS

__all__ = ["KERNELS", "by_item", "flows", "integers", "networks", "physics", "products", "scalars", "solvers",
           "statistics", "stencils"]
