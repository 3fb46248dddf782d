"""Running a Func: on arrays it computes, on Values it inlines, on anything with operators it does what ops do there.

One loop serves inlining and all copies with changes. It calls equations as ops on the environment's values.
"""
from collections.abc import Callable, Sequence
from typing import Any

from ..util.array import AnyArray, ArrayOrNumber
from ..util.errors import CheckError, FadError
from ..util.where import note_line
from . import stack
from .build import Value
from .graph import Atom, Equation, Func, Literal, Var


class Environment(dict):
    """Values of variables; an inner one sees its parent's; an unbound variable of the program being built is itself."""

    __slots__ = ("parent",)

    def __init__(self, parent: "Environment | None" = None):
        self.parent = parent

    def read(self, atom: "Atom | int") -> Any:
        """The value of a Var, a Literal or an extent."""
        if isinstance(atom, Literal):
            return atom.value
        if isinstance(atom, int):
            return atom
        env: Environment | None = self
        while env is not None:
            if atom in env:
                return env[atom]
            env = env.parent
        return self._outer(atom)

    def _outer(self, var: Var) -> AnyArray:
        builders = stack.builders()
        if builders and builders[-1].sees(var):
            return builders[-1].value_of(var)
        raise CheckError(f"variable {var} has no value here")

    def drop(self, var: Var) -> None:
        """Forget a variable's value, here or around."""
        env: Environment | None = self
        while env is not None and env.pop(var, self) is self:
            env = env.parent

    def bind_input(self, var: Var, value: Any) -> None:
        """Bind an input, and with it those of its extents that are not yet known."""
        self[var] = value
        extents = var.type.shape
        if extents:
            shape = value.shape
            for n, size in zip(extents, shape):
                if isinstance(n, Var) and n not in self:
                    self[n] = size


def evaluate(func: Func, args: Sequence, parent: "Environment | None" = None, region: bool = False) -> tuple:
    """The outputs of func on these arguments."""
    env = Environment(parent)
    for var, value in zip(func.inputs, args, strict=True):
        if region:
            env[var] = value
        else:
            env.bind_input(var, value)
    for eqn in func.equations:
        run_equation(eqn, env)
    return tuple([env.read(a) for a in func.outputs])


def run_equation(eqn: Equation, env: Environment) -> None:
    """Run one equation and bind its outputs."""
    args = [env.read(a) for a in eqn.inputs]
    builders = stack.builders()
    before = builders[-1].where if builders else None
    if builders and eqn.where is not None:
        builders[-1].where = eqn.where
    try:
        if eqn.regions:
            regions = tuple([closure(r, env) for r in eqn.regions])
            results = eqn.op.run_regions(args, regions, **eqn.params)
        else:
            results = eqn.op(*args, **eqn.params)
    except Exception as error:
        if not (builders and eqn.regions and isinstance(error, FadError)):
            note_place(error, eqn)
        raise
    finally:
        if builders:
            builders[-1].where = before
    bind_outputs(eqn, results, env)


def note_place(error: Exception, eqn: Equation) -> None:
    """Say where in the user's code an error arose, long after that line was traced. NumPy's errors are told it, too."""
    if isinstance(error, FadError):
        error.put_at(eqn.where)
    else:
        note_line(error, eqn.where)


def bind_outputs(eqn: Equation, results: Any, env: Environment) -> None:
    """Bind an equation's outputs to results (one, or a tuple of them)."""
    outputs = eqn.outputs
    if len(outputs) == 1 and not isinstance(results, (tuple, list)):
        results = (results,)
    for var, value in zip(outputs, results, strict=True):
        env[var] = _as_number(value) if var.type.weak else value


def _as_number(value: Any) -> ArrayOrNumber:
    """A weak result is a Python number, which promotes as one."""
    is_scalar = hasattr(value, "item") and not value.ndim      # in a batch it is an array
    return value.item() if is_scalar and not isinstance(value, Value) and not hasattr(value, "grad_fn") else value


def closure(region: Func, env: Environment) -> Callable:
    """A region as a function of its inputs, its free variables read from the environment."""
    return lambda *args: evaluate(region, args, env, region=True)

