"""scipy.optimize's test function, and its solvers, which are not differentiated step by step: see api/solvers.py."""
from collections.abc import Callable
from functools import partial
from typing import Any

from ...ir import stack
from ...ir.op import registry
from ...util.errors import ConcreteValueError
from ...util.keywords import signature_of
from ...util.lazy import imported
from ..face import METHODS, face
from ..literals import has_values, is_value
from .arguments import as_array

SOLVERS = """
    minimize minimize_scalar root root_scalar fsolve brentq brenth bisect ridder newton toms748 fixed_point
    least_squares leastsq curve_fit fmin fmin_bfgs fmin_cg fmin_ncg fmin_powell fmin_l_bfgs_b fmin_slsqp fmin_tnc
    fmin_cobyla fminbound brent golden basinhopping differential_evolution dual_annealing shgo direct brute nnls
    lsq_linear linprog milp broyden1 broyden2 anderson newton_krylov
""".split()


WITHIN: "dict[str, Callable]" = {}          # solvers with derivatives: how they are called within a traced function
ABOVE = "fad.api.solvers"                   # fills WITHIN: it needs derivatives, and stands above the ops
STEPPED = ("golden", "brent", "fminbound", "minimize_scalar")   # their steps may lose the derivative, on a tape


@face("scipy.optimize.rosen", samples=("optimize.rosen(x)", "optimize.rosen(v)"))
def rosen(x: Any) -> Any:
    x = as_array(x)
    return METHODS["sum"](100.0 * registry["square"](x[1:] - x[:-1] ** 2) + registry["square"](1 - x[:-1]), axis=0)


def _reads_traced(argument: Any) -> bool:
    """Whether a traced value is an argument, or is used by a function that is one."""
    if isinstance(argument, dict):
        return any(map(_reads_traced, argument.values()))
    if has_values(argument):
        return True
    cells = getattr(argument, "__closure__", None) or ()
    return any(is_value(content) or has_values(content) for content in map(_content, cells))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:                      # not bound yet
        return None


def _solved(name: str, *args: Any, **options: Any) -> Any:
    """A solver: SciPy's own where nothing of what it is given is traced."""
    solver: Callable = getattr(imported("scipy.optimize"), name)
    if (not stack.is_live() or name in STEPPED) and any(map(_reads_traced, (*args, *options.values()))):
        imported(ABOVE)
        if name in WITHIN and not stack.is_live():
            return _by_name(solver, WITHIN[name], args, options)
        raise ConcreteValueError(f"numbers are needed where values are traced, by scipy.optimize.{name}",
                                 why="its steps depend on values, and what it finds does not depend on its steps",
                                 do="fad.implicit gives the derivatives of a root, a fixed point or a minimum that any "
                                    "solver finds; for anything else write "
                                    "a function with a rule of its own (fad.custom_jvp, fad.custom_vjp), or keep it "
                                    "off the derivative's path (fad.stop_gradient)")
    return solver(*args, **options)


def _by_name(solver: Callable, call: Callable, args: tuple, options: dict) -> Any:
    """The call of what stands for a solver: all arguments but the function go by the solver's names for them."""
    signature = signature_of(solver)
    if signature is None:
        return call(*args, **options)
    named = dict(signature.bind(*args, **options).arguments)
    function = named.pop(next(iter(signature.parameters)))
    for name, p in signature.parameters.items():
        if p.kind is p.VAR_KEYWORD:
            named.update(named.pop(name, {}))
    return call(function, **{"x0" if name == "xin" else name: x for name, x in named.items()})


NOTE = "by the implicit function theorem, for the solvers that docs/scipy.md lists; fad.implicit for the others"

for _name in SOLVERS:
    face(f"scipy.optimize.{_name}", creation=True, note=NOTE)(partial(_solved, _name))
