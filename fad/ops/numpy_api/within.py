"""SciPy's solvers within traced functions. SciPy runs when the program runs; fad/api knows their derivatives."""
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

from ...ir import stack
from ...util.errors import ConcreteValueError, NoDerivativeError, SideEffectError, StructureError
from ...util.keywords import signature_of
from ...util.lazy import imported
from ..literals import is_value
from ..override import override
from ..reach import uses

WITHIN: "dict[str, Callable]" = {}  # dotted names -> how a solver is called within a traced function. ABOVE fills it:
ABOVE = {                           # modules that need derivatives, and stand above the ops
    "scipy.integrate": ("fad.api.solvers.integrals", "fad.api.solvers.trajectories", "fad.api.solvers.solved",
                        "fad.api.solvers.trajectory_events"),
    "scipy.linalg": ("fad.api.solvers.riccati", "fad.api.solvers.schur"),
    "scipy.sparse": ("fad.api.solvers.sparse_solves",),
    "scipy.optimize": ("fad.api.solvers.solved", "fad.api.solvers.solvers", "fad.api.solvers.fits",
                       "fad.api.solvers.constrained"),
}

NO_PROGRAM = (ConcreteValueError, StructureError, SideEffectError, NoDerivativeError)


def add_solver(name: str, note: str, remedy: str, stepped: bool = False) -> None:
    """An override for a solver of this dotted name.

    stepped: whether its steps may lose the derivative on a tape, where it would run step by step.
    """
    override(name, creation=True, note=note)(partial(_solved, name, remedy, stepped))


def _solved(dotted: str, remedy: str, stepped: bool, *args: object, **options: object) -> Any:
    """A solver: SciPy's own where nothing of what it is given is traced. On a tape, it goes step by step where its
    function is no program.
    """
    module, _, name = dotted.rpartition(".")
    solver: Callable = getattr(imported(module), name)
    if any(uses(x, is_value) for x in (*args, *options.values())):
        load_above(module)
        is_stepped = stack.is_live() and not stepped
        with suppress(*NO_PROGRAM) if is_stepped else nullcontext():
            if dotted in WITHIN:
                return _by_name(solver, WITHIN[dotted], args, options)
        if not is_stepped:
            raise ConcreteValueError(f"numbers are needed where values are traced, by {dotted}",
                                     why="its steps depend on values, and what it finds does not depend on its steps",
                                     do=remedy)
    return solver(*args, **options)


def load_above(module: str) -> None:
    """Load what stands above the ops and belongs to a module of SciPy's, or to one within it."""
    for name, modules in ABOVE.items():
        if f"{module}.".startswith(f"{name}."):
            for above in modules:
                imported(above)


def _by_name(solver: Callable, call: Callable, args: tuple, options: dict) -> Any:
    """The call of what stands for a solver: all arguments but the function go by the solver's names for them."""
    signature = signature_of(solver)
    if signature is None:
        return call(*args, **options)
    try:
        named = dict(signature.bind(*args, **options).arguments)
    except TypeError as error:                                # in the words of Python's own calls
        said = str(error).replace("too many positional arguments", "takes fewer positional arguments")
        raise TypeError(f"{solver.__name__}() {said}") from None
    function = named.pop(next(iter(signature.parameters)))
    for name, p in signature.parameters.items():
        if p.kind is p.VAR_KEYWORD:
            named.update(named.pop(name, {}))
    return call(function, **{"x0" if name == "xin" else name: x for name, x in named.items()})
