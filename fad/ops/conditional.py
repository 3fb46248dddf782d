"""Values that a program has under a condition only. Reading such a value (Tracer.atom) makes the program raise if the
condition fails."""
from typing import Any

from ..ir.build import Builder, current
from ..ir.op import registry
from ..util.array import AnyArray


class Conditional:
    """The mark of such a value: the condition, a bool of the program; the value's name, or what is wrong without it;
    and the place of the check."""

    def __init__(self, flag: Any, name: str, what: str = "", error: str = "ValueError"):
        self.flag, self.name, self.what, self.error = flag, name, what or name, error
        self.checks: list[tuple] = []                         # (builder, equation)

    def check(self) -> None:
        """Make the program raise here if there is no value, unless it does so already."""
        if not any(self._holds(builder) for builder in around(current())):
            builder = current()
            registry["check_that"](self.flag, True, what=self.what, error=self.error)
            if builder.equations and builder.equations[-1].op is registry["check_that"]:   # a `try` may have taken it
                self.checks.append((builder, builder.equations[-1]))

    def _holds(self, builder: Builder) -> bool:
        return any(b is builder and any(e is eqn for e in builder.equations) for b, eqn in self.checks)


def around(builder: "Builder | None") -> Any:
    """A builder and those around it."""
    while builder is not None:
        yield builder
        builder = builder.parent


def only_if(flag: object, x: AnyArray, what: str) -> AnyArray:
    """x, which the program has only where the condition holds. Reading it elsewhere raises ValueError and says what is
    wrong."""
    if hasattr(x, "bound"):
        x.bound = Conditional(flag, what)
    return x
