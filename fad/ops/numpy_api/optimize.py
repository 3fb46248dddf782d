"""scipy.optimize's test function, and its solvers, not differentiated step by step: see api/solvers/solvers.py."""

from ...ir.op import registry
from ...util.array import AnyArray
from ..override import METHODS, override
from .arguments import as_array
from .within import add_solver

SOLVERS = """
    minimize minimize_scalar root root_scalar fsolve brentq brenth bisect ridder newton toms748 fixed_point
    least_squares leastsq curve_fit fmin fmin_bfgs fmin_cg fmin_ncg fmin_powell fmin_l_bfgs_b fmin_slsqp fmin_tnc
    fmin_cobyla fminbound brent golden basinhopping differential_evolution dual_annealing shgo direct brute nnls
    lsq_linear linprog milp broyden1 broyden2 anderson newton_krylov
""".split()
STEPPED = ("golden", "brent", "fminbound", "minimize_scalar")   # their steps may lose the derivative, on a tape


@override("scipy.optimize.rosen", samples=("optimize.rosen(x)", "optimize.rosen(v)"))
def rosen(x: AnyArray) -> AnyArray:
    x = as_array(x)
    return METHODS["sum"](100.0 * registry["square"](x[1:] - x[:-1] ** 2) + registry["square"](1 - x[:-1]), axis=0)


NOTE = "by the implicit function theorem, for the solvers that docs/scipy.md lists; fad.implicit for the others"
REMEDY = ("fad.implicit gives the derivatives of a root, a fixed point or a minimum that any solver finds; for "
          "anything else write a function with a rule of its own (fad.custom_jvp, fad.custom_vjp), or keep it off the "
          "derivative's path (fad.stop_gradient)")

for _name in SOLVERS:
    add_solver(f"scipy.optimize.{_name}", NOTE, REMEDY, stepped=_name in STEPPED)
