"""fad.scipy.optimize: SciPy's optimisers, which get exact derivatives and take structures of arrays."""
from ..api.optimize import curve_fit as curve_fit
from ..api.optimize import least_squares as least_squares
from ..api.optimize import minimize as minimize
from ..api.optimize import root as root
