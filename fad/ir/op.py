"""An op is a record: all that fad knows of one operation stands in it, and every package reads it there."""
from collections.abc import Callable
from typing import Any

from ..util.interrupts import reraise_interrupt
from . import stack
from .traits import NO_TRAITS, Traits


class Op:
    """One operation of the IR.

    name         what it is called in the IR, in generated code and in the docs
    run          run(*arrays, **params): NumPy's answer, the reference (tuple if the op has several results)
    infer        infer(*args, **params): Type of the result, or a tuple of them; args are values of the IR or Python
                 numbers,
                 and extents are ints or integer values that may be computed with
    derivative   how it is differentiated (see ops/kinds.py): jvp, pullback
    batch        batch(args, axes, params): how it runs on a leading axis more (see transforms/vmap.py); None: a loop
    text         how it is printed in generated code, for elementwise ops: a template such as "exp({0})"
    kind         "elementwise", "shape", "reduce", "index", "contract", "control", "opaque", ...: which schedule applies
    samples      callables rng -> (args, params) on which the laws are tested
    creation     whether it makes an array from numbers alone, and so belongs to the program while one is being traced
    """

    traits: Traits = NO_TRAITS

    def __init__(self, name: str, run: Callable, infer: Callable, *, kind: str, derivative: Any = None,
                 batch: "Callable | str | None" = None, text: Any = None, samples: tuple = (), creation: bool = False,
                 doc: str = "", effect: bool = False, traits: Traits = NO_TRAITS, **facts: Any):
        self.name, self.run, self.infer, self.kind = name, run, infer, kind
        self.derivative, self.batch, self.text, self.samples = derivative, batch, text, samples
        self.creation, self.effect, self.__doc__ = creation, effect, doc
        self.traits = traits
        self.facts = facts                    # facts that only some kinds have: a ufunc, a kernel's name, a kink's rule
        if name in registry:
            raise ValueError(f"two records for {name}")
        registry[name] = self

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Run on arrays; record where an argument is a value of a program or of a tape."""
        level, bind = 0, None
        for a in args:
            found = getattr(a, "__fad_level__", 0)
            if found > level:
                level, bind = found, a.__fad_bind__
        if bind is not None:
            return bind(self, args, params)
        if self.creation and stack.builders():
            return stack.builders()[-1].bind(self, args, params)
        if self.effect and stack.is_region():
            return self._when_reached(args, params)
        return self.run(*args, **params)

    def run_regions(self, args: list, regions: tuple, **params: object) -> tuple:
        """The results of an op with regions, which are callables here."""
        raise TypeError(f"{self.name} has no regions")

    def _when_reached(self, args: tuple, params: dict) -> tuple:
        """A check of numbers in a region of a program: what fails is recorded, since the program may not get there."""
        try:
            return self.run(*args, **params)
        except Exception as error:                           # it raises the same error again if the program gets there
            reraise_interrupt(error)
            return stack.builders()[-1].bind(self, args, params)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


class Registry(dict):
    """The records by name. An unknown name makes `rest` load the ops that are not loaded with fad."""

    rest: Any = staticmethod(lambda: None)

    def __missing__(self, name: str) -> Op:
        self.rest()
        if name not in self:
            raise KeyError(name)
        return self[name]


registry: dict[str, Op] = Registry()
