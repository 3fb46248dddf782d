"""Calls with a derivative of their own, and calls that are recomputed in the reverse sweep: `custom` and `checkpoint`.

Both hold the called program as a region with one input per argument. `custom` also has a rule (see
transforms/custom.py for what it offers); `checkpoint` is differentiated through its region, but saves its arguments
only. `barrier` is the identity; it keeps cse from merging a recomputation with the original.
"""
from typing import Any

from ..ir import stack
from ..ir.build import as_atom, building, current
from ..ir.graph import Equation, Func, Var
from ..ir.op import Op
from ..ir.traits import Traits
from ..ir.types import type_of
from ..ir.uses import defined_by
from ..util.where import here
from .kinds import LinearIn, NoRule


class CallOp(Op):
    """An op that holds one program as a region."""

    def __init__(self, name: str, doc: str):
        super().__init__(name, _run, _no_infer, kind="control",
                         derivative=NoRule("its region is differentiated by the transforms"), doc=doc,
                         traits=Traits(control="call"))

    def run_regions(self, args: Any, regions: tuple, **params: Any) -> tuple:
        """The results of the region on these arguments; in a program being built, a call of it."""
        if not stack.builders():
            return tuple(regions[0](*args))
        with building(params.get("name", self.name), region=True) as builder:
            given = [builder.lift(x) for x in args]
            inputs, builder.given = [builder.input(type_of(x)) for x in given], given
            for new, x in zip(inputs, given):
                builder.follow(new, x)
            region = builder.finish(tuple(regions[0](*inputs)))
        values = self.emit(args, region, params)
        return builder.delivered(values, region.outputs)

    def emit(self, args: Any, region: Func, params: dict) -> tuple:
        """Add the call to the current builder."""
        builder = current()
        outputs, outer = _outputs(region)
        atoms = tuple([as_atom(builder.lift(x)) for x in args])
        builder.equations.append(Equation(self, atoms, outputs, params, (region,), builder.where or here()))
        values = [builder.own(v) for v in outputs]
        return tuple(values[outer:])


def _outputs(region: Func) -> "tuple[tuple, int]":
    """Variables for the results. Extents that the region computes come out first, as results of their own."""
    inside = defined_by(region.equations)
    moved: dict[Var, Var] = {}
    for atom in region.outputs:
        for n in atom.type.shape:
            if isinstance(n, Var) and n in inside and n not in moved:
                moved[n] = Var(n.type, n.name, n.hint)
    results = [Var(type(t)(t.dtype, tuple(moved.get(n, n) for n in t.shape), t.weak), getattr(atom, "name", ""))
               for atom, t in ((atom, atom.type) for atom in region.outputs)]
    region.outputs = tuple(moved) + region.outputs
    return tuple(moved.values()) + tuple(results), len(moved)


def _run(*args: object, **params: object) -> Any:
    raise TypeError("an op with a region is run by run_regions")


def _no_infer(*args: object, **params: object) -> Any:
    raise TypeError("an op with a region finds its types by tracing it")


custom = CallOp("custom", "A call of a function with a derivative of its own (param rule)")
checkpoint = CallOp("checkpoint", "A call whose reverse sweep computes it again instead of saving its values")
barrier = Op("barrier", lambda x: x, type_of, kind="elementwise", batch="elementwise", arity=1, text="{0}",
             derivative=LinearIn(lambda g, xs: g),
             doc="x; a computation from it is not merged with the same one from x",
             traits=Traits(rematerialised=True, barrier=True))
