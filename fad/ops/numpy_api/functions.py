"""NumPy's functions of functions: numpy.vectorize and numpy.piecewise."""
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import building, current
from ...ir.op import registry
from ...ir.types import INT, Type, type_of
from ...ir.value import Value
from ...ir.walk import evaluate
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Extent
from ...util.errors import UnstageableError
from ...util.interrupts import reraise_interrupt
from ..choice import logical_not
from ..choice import where as where_
from ..extents import agree, broadcast_shapes, product
from ..kinds import same_shape, shape_of
from ..override import BY_NAME, override
from .arguments import as_array, fixed, in_dtype, refuse
from .stacks import in_one_axis

FEW_ELEMENTS = 8  # so many calls are written out, each with its own branches


@override("numpy.piecewise", samples=("np.piecewise(x, [x < 0.5, x >= 0.5], [lambda t: t * t, lambda t: 3 * t])",
                                      "np.piecewise(x, [x < 0.5], [0.0, np.log])"))
def piecewise(x: ArrayLike, condlist: object, funclist: Any, *args: object, **options: object) -> AnyArray:
    """By the last condition that holds; a function beyond the conditions is for where none does, and else 0."""
    x = as_array(x)
    conditions = [as_array(c) for c in condlist] if isinstance(condlist, (list, tuple)) else [as_array(condlist)]
    if len(funclist) == len(conditions) + 1:
        none: Any = True
        for c in conditions:
            none = none & logical_not(c)
        conditions.append(none)
    if len(funclist) != len(conditions):
        raise ValueError(f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} "
                         f"functions are expected")
    shape = shape_of(x)
    if not shape:                                             # functions get a part of it, which has an axis
        x, *conditions = [registry["reshape"](c, 1) for c in (x, *conditions)]
    y: Any = registry["zeros_like"](x)
    for c, f in zip(conditions, funclist):
        y = _piece(x, c, lambda part, f=f: f(part, *args, **options) if callable(f) else f, y)
    return y if shape else registry["reshape"](y)


def _piece(x: Any, c: Any, f: Callable, y: Any) -> AnyArray:
    """y with f(x) where c holds. Elementwise f computes on all of x, other functions on the selected part, as in
    NumPy."""
    value = elementwise_or_none(f, x, rank=1)
    dtype = type_of(y).dtype
    if value is not None:
        return where_(c, in_dtype(as_array(value), dtype), y)
    y = registry["where"](c, registry["zeros_like"](y), y)
    y[c] = f(x[c])
    return y


def elementwise_or_none(f: Callable, *xs: ArrayOrNumber, rank: int = 0) -> Any:
    """f for all elements at once, if no step of it depends on more than one of them, else None.

    f is traced on what NumPy gives it, which has so many axes: it may ask for its shape.
    """
    if not stack.builders() or stack.is_live():
        return None
    with building("each", region=True) as region:
        extents = tuple(region.input(Type(INT, (), True)).atom for _ in range(rank))
        region.integers.low.update(dict.fromkeys(extents, 0))
        given = [region.input(Type(type_of(x).dtype, extents)) for x in xs]
        try:
            value = f(*given)
        except Exception as error:                          # it branches, or wants an array: on each element, then
            reraise_interrupt(error)
            return None
        used = {a for eqn in region.equations for a in eqn.inputs}
        is_elementwise = (all(eqn.op.kind == "elementwise" and not eqn.regions for eqn in region.equations)
                          and region.equations and used.isdisjoint(extents) and isinstance(value, Value))
        part = region.finish((value,)) if is_elementwise else None
    return None if part is None else evaluate(part, (*[0] * rank, *xs), region=True)[0]


@override("numpy.vectorize", creation=True, samples=("np.vectorize(lambda t: t * t)(v)",))
class vectorize:
    """A function of scalars, applied to each element; what is excluded it is given as it is. The results have the dtype
    of the first one or, if they are promoted, one that fits them all."""

    is_promoted = False

    def __init__(self, pyfunc: Callable, otypes: Any = None, doc: object = None, excluded: Any = None,
                 cache: bool = False, signature: "str | None" = None):
        self.pyfunc, self.dtype, self.excluded = pyfunc, None if otypes is None else np.dtype(otypes[0]), frozenset(
            excluded or ())
        self.signature, self.otypes = signature, otypes

    def __call__(self, *args: object, **named: object) -> AnyArray | tuple:
        if self.signature is not None:
            return self._by_signature(self.signature, args, named)
        given: dict[Any, Any] = {**dict(enumerate(args)), **named}
        places = [k for k in given if k not in self.excluded]

        def call(*xs: ArrayOrNumber) -> Any:
            now = given | dict(zip(places, xs))
            return self.pyfunc(*[now[k] for k in range(len(args))], **{k: now[k] for k in named})
        if not places:
            return in_dtype(as_array(call()), self.dtype)
        xs = [as_array(given[k]) for k in places]
        is_of_numbers = not any(shape_of(given[k]) for k in self.excluded & given.keys())
        value = elementwise_or_none(call, *xs) if is_of_numbers else None
        if (value is None or not hasattr(value, "dtype")
                or not same_shape(shape_of(value), shape_of(sum(x * 0 for x in xs)))):
            xs = BY_NAME["numpy.broadcast_arrays"].call(*xs) if len(xs) > 1 else xs
            each = getattr(self.pyfunc, "each", None)
            is_loop = each is not None and not stack.is_live() and _is_long(xs[0])
            value = self._in_a_loop(each, call, given, places, len(args), xs) if is_loop else self._one_by_one(call, xs)
        return in_dtype(value, self.dtype)

    def _by_signature(self, signature: str, args: tuple, named: dict) -> AnyArray | tuple:
        """One call for each of the parts that the signature names, "(m,n),(n)->(m)": other axes come first."""
        takes, gives = (re.findall(r"\((.*?)\)", side.replace(" ", "")) for side in signature.split("->"))
        if named or self.excluded:
            raise refuse("numpy.vectorize", "a signature with excluded or named arguments",
                         do="let the function close over them")
        if len(args) != len(takes):
            raise TypeError(f"wrong number of positional arguments: expected {len(takes)}, got {len(args)}")
        xs, names = [as_array(x) for x in args], [core.split(",") if core else [] for core in takes]
        own = [shape_of(x)[len(shape_of(x)) - len(core):] for x, core in zip(xs, names)]
        sizes: dict[str, Extent] = {}
        for core, shape in zip(names, own):
            for name, n in zip(core, shape):
                agree(sizes.setdefault(name, n), n, f"extents of {name} in {signature}")
        stacked = broadcast_shapes(*[shape_of(x)[:len(shape_of(x)) - len(core)] for x, core in zip(xs, names)])
        count = product(stacked)
        flat = [in_one_axis(x, stacked, shape) for x, shape in zip(xs, own)]
        dtypes = [None if self.otypes is None else np.dtype(char) for char in self.otypes or gives]
        each = getattr(self.pyfunc, "each_part", None)
        if each is not None and not stack.is_live() and not (isinstance(count, int) and count <= FEW_ELEMENTS):
            wholes = each(count, len(gives) > 1, dtypes, *flat)
        else:
            found = [self.pyfunc(*[x[k] for x in flat]) for k in range(fixed(count, "how often np.vectorize calls"))]
            parts = zip(*[y if len(gives) > 1 else (y,) for y in found], strict=True)
            wholes = [in_dtype(BY_NAME["numpy.stack"].call([as_array(y) for y in ys]), dtype or type_of(
                as_array(ys[0])).dtype) for ys, dtype in zip(parts, dtypes)]
        shaped = tuple([registry["reshape"](y, *stacked, *shape_of(y)[1:]) for y in wholes])
        return shaped if len(gives) > 1 else shaped[0]

    def _in_a_loop(self, each: Any, call: Callable, given: dict, places: list, count: int, xs: list) -> AnyArray:
        """One loop over all elements (routines/vectorized.py). The first call decides the dtype, as NumPy's does."""
        shape = shape_of(xs[0])
        first = call(*[x[(0,) * len(shape)] for x in xs])
        if isinstance(first, (tuple, list)):
            raise refuse("numpy.vectorize", "several outputs")
        _, kinds = current().trace.mixed.get(getattr(first, "atom", None), (None, ()))
        if any(kind.dtype != type_of(first).dtype for kind in kinds):
            self._check_dtypes()
        flat = given | {k: BY_NAME["numpy.ravel"].call(x) for k, x in zip(places, xs)}
        dtype = self.dtype or type_of(as_array(first)).dtype
        results = each(frozenset(places), shape_of(flat[places[0]])[0], dtype,
                       *[flat[k] for k in range(count)], **{k: flat[k] for k in flat if isinstance(k, str)})
        return registry["reshape"](results, *shape)

    def _one_by_one(self, call: Callable, xs: Any) -> Any:
        shape = tuple(fixed(n, "the shape that np.vectorize goes over") for n in shape_of(xs[0]))
        noted = current().trace.mixed if stack.builders() else {}
        known = set(noted)
        values = [call(*[x[place] if shape else x for x in xs]) for place in np.ndindex(*shape)]
        if any(isinstance(y, (tuple, list)) for y in values):
            raise refuse("numpy.vectorize", "several outputs")
        mixed = [(v, kinds) for v, (_, kinds) in noted.items() if v not in known]
        if any(kind.dtype != v.type.dtype for v, kinds in mixed for kind in kinds):
            self._check_dtypes()
        y = registry["reshape"](as_array(values), *shape)
        is_free = self.dtype is None and not self.is_promoted and bool(values)
        return in_dtype(y, type_of(values[0]).dtype) if is_free else y

    def _check_dtypes(self) -> None:
        if self.dtype is None and not self.is_promoted:
            raise UnstageableError(
                "np.vectorize gives its results the dtype of the first one, and those of this function are of several",
                why="an int for the first element makes all results ints",
                do="say which: np.vectorize(f, otypes=[float])")


def _is_long(x: AnyArray) -> bool:
    """Whether an array has many elements, or as many as a call brings."""
    extents = shape_of(x)
    return bool(extents) and (not all(isinstance(n, int) for n in extents) or math.prod(extents) > FEW_ELEMENTS)
