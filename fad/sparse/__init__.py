"""fad.sparse: Jacobians and Hessians as SciPy's sparse matrices, their patterns found from the program."""
from .derivative import SparseDerivative as SparseDerivative
from .derivative import hessian as hessian
from .derivative import jacobian as jacobian
from .pattern import Pattern as Pattern
