"""fad.scipy.optimize: SciPy's optimisers, which get exact derivatives and take structures of arrays."""
from ..api.solvers.optimize import curve_fit as curve_fit
from ..api.solvers.optimize import least_squares as least_squares
from ..api.solvers.optimize import minimize as minimize
from ..api.solvers.optimize import root as root
