"""replace_aggregates: scalar replacement of aggregates. Small arrays in loops become scalars, which live in registers.

replacement_candidates.py chooses the arrays. One walk over the program; the new program has at most LARGEST equations.
"""
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.graph import Atom, Equation, Func, Literal, Var, is_branch, is_loop
from ..ir.op import registry
from ..ir.spec import subscripts_of
from ..ir.types import INT, Type
from ..ir.views import LoopView
from .replacement_candidates import is_expandable, is_static, small_arrays
from .rewrite import as_atom, as_extent

LARGEST = 2000                              # equations of a program that it may make


def replace_aggregates(func: Func) -> Func:
    """In loops, arrays of few elements that are only subscripted by numbers are replaced by a scalar for each element.

        for i: y = y + h * pack(a, b)   ->   for i: y0 = y0 + h * a; y1 = y1 + h * b
    """
    chosen = small_arrays(func)
    if not chosen:
        return func
    walk = _Walk(chosen)
    new = func.replace(equations=walk.equations(func, False))
    return new if walk.count <= LARGEST else func


class _Walk:
    """One walk over a program. `elements` maps an array to its scalars (a NumPy array of atoms), `replaced` a scalar
    to its substitute."""

    def __init__(self, chosen: set):
        self.chosen = chosen
        self.elements: dict[Var, np.ndarray] = {}
        self.replaced: dict[Var, Any] = {}
        self.done: list[Equation] = []
        self.count = 0
        self.where: Any = None

    def equations(self, func: Func, inside: bool, finish: Callable = lambda: None) -> list:
        """The equations of one region, and then those that finish() adds."""
        outer, self.done = self.done, []
        for eqn in func.equations:
            self.where = eqn.where
            if eqn.regions:
                self.control(eqn, inside)
            elif inside and self.concerns(eqn):
                self.rewrite(eqn)
            else:
                self.keep(eqn)
        finish()
        done, self.done = self.done, outer
        return done

    def add(self, eqn: Equation) -> None:
        self.count += 1
        self.done.append(eqn)

    def keep(self, eqn: Equation) -> None:
        """Add an equation as it is, on what stands for its inputs."""
        self.add(eqn.replace(inputs=tuple(map(self.get, eqn.inputs))))

    def emit(self, name: str, inputs: tuple, type: Type, **params: object) -> Var:
        out = Var(type)
        self.add(Equation(registry[name], inputs, (out,), params, (), self.where))
        return out

    # -- atoms -------------------------------------------------------------------------------------

    def concerns(self, eqn: Equation) -> bool:
        return any(a in self.chosen for a in (*eqn.inputs, *eqn.outputs))

    def get(self, a: object) -> Any:
        """The atom of an equation that stays: for an array that is now scalars, an array made of them."""
        if isinstance(a, Var) and a in self.elements:
            return self.array(self.elements[a], Var(a.type))
        return self.replaced.get(a, a) if isinstance(a, Var) else a

    def array(self, atoms: np.ndarray, out: Var) -> Var:
        """Make out the array of these scalars."""
        flat = out if atoms.ndim == 1 else Var(Type(out.type.dtype, (atoms.size,)))
        self.add(Equation(registry["pack"], tuple(atoms.ravel()), (flat,), {}, (), self.where))
        if flat is not out:
            self.add(Equation(registry["reshape"], (flat, *map(as_atom, atoms.shape)), (out,), {}, (), self.where))
        return out

    def atoms(self, a: Atom) -> np.ndarray:
        """The scalars of an atom, in its shape."""
        if isinstance(a, Var) and a in self.elements:
            return self.elements[a]
        if isinstance(a, Literal) or not a.type.shape:
            return filled((), lambda place: self.get(a))
        return filled(a.type.shape,
                      lambda place: self.emit("index", (a, *map(as_atom, place)), Type(a.type.dtype),
                                              spec=("i",) * a.type.rank, at=0))

    def converted(self, a: Atom, dtype: np.dtype) -> Atom:
        if isinstance(a, Literal):
            return Literal(dtype.type(a.value), Type(dtype))
        return a if a.type.dtype == dtype and not a.type.weak else self.emit("cast", (a,), Type(dtype), dtype=dtype)

    # -- equations ---------------------------------------------------------------------------------

    def rewrite(self, eqn: Equation) -> None:
        (out, *more) = eqn.outputs
        if more or not is_expandable(eqn):
            self.keep(eqn)
        elif eqn.writes_part and not is_static(eqn):
            self.write_part(eqn)
        else:
            by_kind = {"reduce": self.reduce, "shape": self.moved}.get(eqn.op.kind, self.elementwise)
            self.bind(out, getattr(self, "_" + eqn.op.name, by_kind)(eqn))

    def bind(self, out: Var, atoms: np.ndarray) -> None:
        if not out.type.shape:
            self.replaced[out] = atoms[()]
        elif out in self.chosen:
            self.elements[out] = atoms
        else:
            self.array(atoms, out)

    def elementwise(self, eqn: Equation) -> np.ndarray:
        args = np.broadcast_arrays(*[self.atoms(a) for a in eqn.inputs])
        t = Type(eqn.outputs[0].type.dtype)
        shape = eqn.outputs[0].type.shape
        whole = [np.broadcast_to(a, shape) for a in args]
        return filled(shape, lambda place: self.emit(eqn.op.name, tuple([a[place] for a in whole]), t, **eqn.params))

    def reduce(self, eqn: Equation) -> np.ndarray:
        x, out = self.atoms(eqn.inputs[0]), eqn.outputs[0]
        name = eqn.op.traits.reduction.by
        axes = eqn.params["axes"]
        rows = np.moveaxis(x, axes, range(len(axes))).reshape(-1, *out.type.shape)
        return filled(out.type.shape,
                      lambda place: self.folded(name, [rows[(k,) + place] for k in range(len(rows))], out.type.dtype))

    def folded(self, name: str, atoms: list, dtype: np.dtype) -> Var:
        total = atoms[0]
        for a in atoms[1:]:
            total = self.emit(name, (total, a), Type(dtype))
        return total

    def _contract(self, eqn: Equation) -> np.ndarray:
        left, right, kept = eqn.params["labels"]
        x, y = map(self.atoms, eqn.inputs)
        extents = dict(zip(left, x.shape)) | dict(zip(right, y.shape))
        gone = [c for c in extents if c not in kept]
        dtype = eqn.outputs[0].type.dtype

        def element(place: tuple) -> Var:
            terms = []
            for iteration in itertools.product(*[range(extents[c]) for c in gone]):
                at = dict(zip(kept, place)) | dict(zip(gone, iteration))
                a, b = x[tuple([at[c] for c in left])], y[tuple([at[c] for c in right])]
                terms.append(self.emit("mul", (a, b), Type(dtype)))
            return self.folded("add", terms, dtype)
        return filled(tuple([extents[c] for c in kept]), element)

    def moved(self, eqn: Equation) -> np.ndarray:
        """The scalars of an op that copies elements: where they go is what NumPy does with their numbers."""
        copied, out = [self.atoms(a) for a in eqn.inputs[:eqn.op.traits.copies]], eqn.outputs[0].type
        sources = [a for x in copied for a in x.ravel()]
        ends = list(itertools.accumulate(x.size for x in copied))
        numbers = [np.arange(end - x.size, end).reshape(x.shape)[()] for x, end in zip(copied, ends)]
        extents = out.shape if len(eqn.inputs) > len(copied) else ()
        params = {name: np.dtype(int) if name == "dtype" else value for name, value in eqn.params.items()}
        places = eqn.op.run(*numbers, *extents, **params)
        known: dict[int, Any] = {}

        def element(place: tuple) -> Literal:
            k = int(places[place])
            if k not in known:
                known[k] = self.converted(sources[k], out.dtype)
            return known[k]
        return filled(out.shape, element)

    # -- parts -------------------------------------------------------------------------------------

    def _index(self, eqn: Equation) -> np.ndarray:
        x, out = self.get(eqn.inputs[0]) if not is_static(eqn) else eqn.inputs[0], eqn.outputs[0].type
        if is_static(eqn):
            return selected(self.atoms(x), eqn)
        element, each = Type(out.dtype), ("i",) * x.type.rank
        return filled(out.shape,
                      lambda place: self.emit("index", (x, *self.subscripts(eqn, place)), element, spec=each, at=0))

    def subscripts(self, eqn: Equation, place: tuple) -> tuple:
        """The subscripts of the element at a place of the selected part."""
        at, found = iter(place), []
        for entry, given in subscripts_of(eqn):
            if entry == "i":
                found.append(self.get(given[0]))
            else:
                found.append(self.sum_of(self.get(given[0]) if given else as_atom(0), entry[1] if given else 1,
                                         next(at)))
        return tuple(found)

    def sum_of(self, start: Atom, step: int, k: int) -> Atom:
        if isinstance(start, Literal):
            return as_atom(int(start.value) + step * k)
        return start if step * k == 0 else self.emit("add", (start, as_atom(step * k)), Type(INT, (), True))

    def _update(self, eqn: Equation) -> np.ndarray:
        new, values, numbers = self.targets(eqn)
        for place, k in np.ndenumerate(numbers):
            new[k] = self.converted(values[place], eqn.outputs[0].type.dtype)
        return new.reshape(eqn.outputs[0].type.shape)

    def _index_add(self, eqn: Equation) -> np.ndarray:
        dtype = eqn.outputs[0].type.dtype
        new, values, numbers = self.targets(eqn)
        for place, k in np.ndenumerate(numbers):
            new[k] = self.emit("add", (new[k], self.converted(values[place], dtype)), Type(dtype))
        return new.reshape(eqn.outputs[0].type.shape)

    def targets(self, eqn: Equation) -> tuple:
        """The array's scalars, in a row; the values to write; the numbers of the scalars they go to."""
        x = self.atoms(eqn.inputs[0])
        numbers = selected(np.arange(x.size).reshape(x.shape), eqn)
        return x.ravel().copy(), np.broadcast_to(self.atoms(eqn.inputs[1]), numbers.shape), numbers

    def write_part(self, eqn: Equation) -> None:
        """Write a small part of an array element by element."""
        x, v, out = self.get(eqn.inputs[0]), self.atoms(eqn.inputs[1]), eqn.outputs[0]
        if [e for e, _ in subscripts_of(eqn)].count("i") + v.ndim != out.type.rank or v.shape != _part_shape(eqn):
            self.keep(eqn)
            return
        for k, place in enumerate(np.ndindex(v.shape)):
            new = out if k == v.size - 1 else Var(out.type)
            subscripts = self.subscripts(eqn, place)
            params = eqn.params | {"spec": ("i",) * out.type.rank, "at": 0}
            self.add(eqn.replace(inputs=(x, v[place], *subscripts), outputs=(new,), params=params))
            x = new

    # -- regions -----------------------------------------------------------------------------------

    def control(self, eqn: Equation, inside: bool) -> None:
        if is_branch(eqn):
            self.cond(eqn, inside)
        elif is_loop(eqn):
            self.loop(LoopView(eqn))
        else:
            self.keep(eqn)

    def loop(self, loop: LoopView) -> None:
        carries = loop.carries
        bounds = tuple(map(self.get, loop.bounds))
        init = tuple([x for a, c in zip(loop.init, carries) for x in self.parts(a, c)])
        test = None if loop.test is None else self.region(loop.test, True, None)
        body = self.region(loop.body, True, carries)
        results, pack = self.results(loop.eqn, carries)
        params = self.params(loop.eqn, carries)
        self.add(loop.replace(bounds=bounds, init=init, test=test, body=body, results=results, params=params))
        pack()

    def parts(self, a: Atom, like: Var) -> list:
        """The atom, or its scalars where `like` is made of scalars."""
        if like not in self.chosen:
            return [self.get(a)]
        atoms = self.atoms(a)
        return [self.converted(x, like.type.dtype) for x in np.broadcast_to(atoms, like.type.shape).ravel()]

    def region(self, region: Func, inside: bool, carries: "tuple | None") -> Func:
        inputs = tuple([x for v in region.inputs for x in self.fresh(v)])
        outputs: list = []

        def finish() -> None:
            if carries is None:
                outputs.extend(map(self.get, region.outputs))
            else:
                outputs.extend(x for a, c in zip(region.outputs, carries) for x in self.parts(a, c))
        done = self.equations(region, inside, finish)
        return region.replace(inputs=inputs, equations=done, outputs=tuple(outputs))

    def fresh(self, v: Var) -> list:
        """The variable, or new ones for its scalars."""
        if v not in self.chosen:
            return [v]
        names = itertools.count()
        self.elements[v] = filled(v.type.shape, lambda place: Var(Type(v.type.dtype), f"{v.name}{next(names)}"))
        return list(self.elements[v].ravel())

    def results(self, eqn: Equation, like: tuple) -> tuple:
        """The outputs of an equation with regions, and the equations that make arrays of scalars needed as arrays
        behind it.
        """
        outputs: list = []
        packs: list = []
        for out, c in zip(eqn.outputs, like):
            if c not in self.chosen:
                outputs.append(out)
                continue
            parts = [Var(Type(c.type.dtype), f"{out.name}{k}") for k in range(int(np.prod(c.type.shape)))]
            outputs += parts
            atoms = np.array(parts, object).reshape(c.type.shape)
            if out in self.chosen:
                self.elements[out] = atoms
            else:
                packs.append((atoms, out))
        return tuple(outputs), lambda: [self.array(atoms, out) for atoms, out in packs]

    def params(self, eqn: Equation, like: tuple) -> dict:
        """names and extents of carries (or results); an array of scalars has several."""
        counts = [int(np.prod(c.type.shape)) if c in self.chosen else 1 for c in like]
        place = [sum(counts[:k]) for k in range(len(counts))]
        names = eqn.params.get("names", ())
        renamed = tuple([f"{name}{j}" if name and n > 1 else name for name, n in zip(names, counts) for j in range(n)])
        extents = tuple([(place[k], axis, place[j]) for k, axis, j in eqn.params.get("extents", ())])
        return eqn.params | {"names": renamed, "extents": extents}

    def cond(self, eqn: Equation, inside: bool) -> None:
        like = eqn.outputs
        regions = tuple([self.region(region, inside, like) for region in eqn.regions])
        outputs, _ = self.results(eqn, like)
        inputs = tuple(map(self.get, eqn.inputs))
        self.add(eqn.replace(inputs=inputs, outputs=outputs, params=self.params(eqn, like), regions=regions))


def filled(shape: tuple, make: Callable) -> np.ndarray:
    """The array of what make(place) answers."""
    found = np.empty(shape, object)
    for place in np.ndindex(*shape):
        found[place] = make(place)
    return found


def selected(x: np.ndarray, eqn: Equation) -> np.ndarray:
    """The part of x that an equation selects by numbers. Behind a check that fails they may be out of range: any
    element will do."""
    axis = 0
    for entry, given in subscripts_of(eqn):
        if entry == "i":
            x = np.take(x, int(given[0].value), axis, mode="clip")
            x = x if isinstance(x, np.ndarray) else filled((), lambda place, x=x: x)
            continue
        if entry != ":":
            start, count = (int(a.value) for a in given)
            x = np.take(x, [start + entry[1] * k for k in range(count)], axis, mode="clip")
        axis += 1
    return x


def _part_shape(eqn: Equation) -> tuple:
    """The extents of the part that an equation writes."""
    shape = eqn.outputs[0].type.shape
    kept = [as_extent(given[1]) if given else shape[k]
            for k, (entry, given) in enumerate(subscripts_of(eqn)) if entry != "i"]
    return tuple(kept)
