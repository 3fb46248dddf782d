"""Lowering: every equation becomes steps with an iteration space, and with places where it reads and writes.

One Lowering serves a Func and all its regions. Views vanish into subscripts. An update takes over the storage of its
array where nobody needs the old values any more (buffer_reuse.py), and copies the array otherwise.
"""
from collections.abc import Callable
from typing import Any

from ..ir.graph import Atom, Equation, Func, Literal, Var, free_vars
from .buffer_reuse import ArrayOwners, outlasting_parts
from .indexmap import Axis, Elem, Index, at, elements_in
from .loop_ir import BackendError, Step
from .products import is_matrix_product, matrix_product
from .regions import inputs_of, lower_cond, lower_loop
from .views import Blank, Views, is_one, selected

_ARRAYS_ONLY = {"reshape"}


class Lowering:
    """Steps of the equations of one program; `views` and `storage` are shared by its regions."""

    def __init__(self) -> None:
        self.views, self.storage = Views(), ArrayOwners()
        self.whole: set[Var] = set()                         # variables that somebody needs as arrays
        self.makers: dict[Var, Step] = {}                    # of the results of elementwise ops
        self.copies: list[tuple] = []  # (equation, variable) of arrays that are copied before they are written to

    # -- blocks ------------------------------------------------------------------------------------

    def block(self, func: Func, carried: tuple = (), carries: tuple = ()) -> list:
        """The steps of func's equations, only those that matter; `carried` are roots whose storage the block may
        overwrite.

        carries: of a loop's body, the inputs that its outputs replace in the next iteration.
        """
        self.whole.update(a for a in func.outputs if isinstance(a, Var))
        for eqn in func.equations:
            self.whole.update(_needed_whole(eqn))
        parts = outlasting_parts(func, {v for v in (*func.inputs, *free_vars(func)) if self.storage.root(v) in carried})
        self.storage.enter(func, self.views, carried, parts, carries)
        steps: list[Step] = []
        for k, eqn in enumerate(func.equations):
            self.storage.position = k
            steps += self.steps(eqn)
            steps += [self.copy(v) for v in eqn.outputs if v in parts and v in self.views.read]
        steps += [
            self.copy(a)
            for a in dict.fromkeys(func.outputs)
            if isinstance(a, Var) and a in self.views.read and a in self.whole
        ]
        self.storage.leave()
        for order, step in enumerate(steps):
            step.order = order
        return prune(steps, func.outputs, self.views)

    def steps(self, eqn: Equation) -> list:
        """The steps of one equation (none for a view)."""
        self.views.define_integer(eqn)
        before = self._materialised(eqn)
        if self.views.define(eqn):
            return before
        make: Callable | None = getattr(self, "_" + eqn.op.name, None) or getattr(self, "_kind_" + eqn.op.kind, None)
        if make is None:
            raise BackendError(f"no template for {eqn.op.name}")
        return before + make(eqn)

    def _materialised(self, eqn: Equation) -> list:
        """Copies of views that this equation needs as arrays."""
        wanted = [a for a in dict.fromkeys(_needed_whole(eqn)) if a in self.views.read]
        return [self.copy(a) for a in wanted]

    def copy(self, var: Var) -> Step:
        """The step that makes an array of a view, which from then on is read from that array."""
        step = self.copy_into(var, var)
        del self.views.read[var]
        self.storage.own(var)
        return step

    def copy_into(self, x: Atom, out: Var) -> Step:
        """The step that fills out's array with x."""
        axes, place = self.space(out.type.shape)
        operand = self.views.locate(x, place)
        if isinstance(operand, Blank):
            return Step("fill", None, out)
        if axes and not list(_axes(operand)):
            return Step("fill", None, out, args=(operand,))
        if (
            axes
            and isinstance(operand, Elem)
            and operand.at == place
            and self._extents(operand.var) == self._extents(out)
        ):
            return Step("call", None, out, arrays=(operand.var,))
        return Step("map", None, out, axes=axes, target=place, args=(operand,))

    def note_copy(self, eqn: Equation, out: Var, step: Step) -> None:
        """Remember that eqn began with a copy, if the step is one and does not fill an array with a number."""
        if step.kind != "fill" and out.type.shape:
            self.copies.append((eqn, out))

    def _extents(self, var: Var) -> list:
        return [self.views.number(n) for n in var.type.shape]

    def space(self, shape: tuple) -> tuple:
        """The axes of an iteration space and the place they run through; an extent of 1 needs no axis."""
        axes, place = [], []
        for n in shape:
            if is_one(n):
                place.append(Index())
            else:
                axes.append(Axis(self.views.number(n)))
                place.append(at(axes[-1]))
        return tuple(axes), tuple(place)

    # -- elementwise -------------------------------------------------------------------------------

    def _kind_elementwise(self, eqn: Equation) -> list:
        out = eqn.outputs[0]
        axes, place = self.space(out.type.shape)
        self.storage.own_or_succeed(out, self.views, eqn)
        self.makers[out] = Step(
            "map", eqn, out, axes=axes, target=place, args=tuple([self.views.broadcast(a, place) for a in eqn.inputs])
        )
        return [self.makers[out]]

    def _index(self, eqn: Equation) -> list:
        x, operands = eqn.inputs[0], eqn.inputs[1:]
        place = selected(self.views, (), operands, eqn.params["spec"], eqn.params["at"])
        return [Step("map", eqn, eqn.outputs[0], args=(self.views.locate(x, place),))]

    def _full(self, eqn: Equation) -> list:
        out = eqn.outputs[0]
        self.storage.own(out)
        return [Step("fill", eqn, out, args=(self.views.locate(eqn.inputs[0]),))]

    def _concatenate(self, eqn: Equation) -> list:
        out, axis = eqn.outputs[0], eqn.params["axis"]
        self.storage.own(out)
        steps, start = [], Index()
        for x in eqn.inputs:
            axes, place = self.space(x.type.shape)
            target = tuple([i + start if k == axis else i for k, i in enumerate(place)])
            steps.append(Step("map", eqn, out, axes=axes, target=target, args=(self.views.locate(x, place),)))
            start = start + self.views.number(x.type.shape[axis])
        return steps

    def _pack(self, eqn: Equation) -> list:
        out = eqn.outputs[0]
        self.storage.own(out)
        return [Step("map", None, out, target=(at(k),), args=(self.views.locate(x),)) for k, x in enumerate(eqn.inputs)]

    def _reshape(self, eqn: Equation) -> list:
        x, out = eqn.inputs[0], eqn.outputs[0]
        self.storage.reshape(out, x)
        return [Step("call", eqn, out, arrays=(x,), args=tuple([self.views.locate(n) for n in eqn.inputs[1:]]))]

    # -- reductions --------------------------------------------------------------------------------

    def _kind_reduce(self, eqn: Equation) -> list:
        x, out = eqn.inputs[0], eqn.outputs[0]
        axes, place = self.space(x.type.shape)
        gone = set(eqn.params["axes"])
        reduced = tuple([a for k in gone for a in place[k].axes()])
        target = tuple([i for k, i in enumerate(place) if k not in gone])
        return [self._reduction(eqn, out, axes, reduced, target, (self.views.locate(x, place),))]

    def _reduction(self, eqn: Equation, out: Var, axes: tuple, reduced: tuple, target: tuple, args: tuple) -> Step:
        self.storage.own_or_succeed(out, self.views)
        if not reduced:
            return Step("map", eqn, out, axes=axes, target=target, args=args)
        return Step("reduce", eqn, out, axes=in_memory_order(axes, args), reduced=reduced, target=target, args=args)

    def _contract(self, eqn: Equation) -> list:
        if is_matrix_product(eqn):
            return matrix_product(self, eqn)
        (x, y), out = eqn.inputs, eqn.outputs[0]
        index: dict[str, Index] = {}
        axes: list[Axis] = []
        for letters, operand in zip(eqn.params["labels"], (x, y)):
            for c, n in zip(letters, operand.type.shape):
                if c not in index:
                    more, (index[c],) = self.space((n,))
                    axes += more
        place = [tuple([index[c] for c in letters]) for letters in eqn.params["labels"]]
        reduced = tuple([a for c, i in index.items() if c not in eqn.params["labels"][2] for a in i.axes()])
        args = (self.views.locate(x, place[0]), self.views.locate(y, place[1]))
        return [self._reduction(eqn, out, tuple(axes), reduced, place[2], args)]

    def _kind_scan(self, eqn: Equation) -> list:
        out, axis = eqn.outputs[0], eqn.params["axis"]
        axes, place = self.space(out.type.shape)
        along = next(iter(place[axis].axes()), None)
        if along is None:
            raise BackendError("a scan of a single element")
        if eqn.params.get("reverse"):
            flip = self.views.number(out.type.shape[axis]).shifted(-1) - place[axis]
            place = tuple([flip if k == axis else i for k, i in enumerate(place)])
        self.storage.own(out)
        args = tuple([self.views.locate(x, place) for x in eqn.inputs])
        return [Step("scan", eqn, out, axes=_last(axes, along), target=place, args=args, along=along)]

    def _kind_place(self, eqn: Equation) -> list:
        x, out, axis = eqn.inputs[0], eqn.outputs[0], eqn.params["axis"]
        axes, place = self.space(x.type.shape)
        along = next(iter(place[axis].axes()), None)
        if along is None:
            raise BackendError("the place of a single element")
        self.storage.own(out)
        target = tuple([i for k, i in enumerate(place) if k != axis])
        return [
            Step(
                "place",
                eqn,
                out,
                axes=_last(axes, along),
                reduced=(along,),
                target=target,
                args=(self.views.locate(x, place),),
                along=along,
            )
        ]

    # -- updates -----------------------------------------------------------------------------------

    def _update(self, eqn: Equation) -> list:
        return self._write(eqn, "map")

    def _index_add(self, eqn: Equation) -> list:
        return self._write(eqn, "add")

    def _write(self, eqn: Equation, kind: str) -> list:
        (x, v), operands, out = eqn.inputs[:2], eqn.inputs[2:], eqn.outputs[0]
        axes, place = self.space(_selected_extents(x.type.shape, operands, eqn.params))
        target = selected(self.views, place, operands, eqn.params["spec"], eqn.params["at"])
        if self._is_kept_from(v, x):
            place, target = _forward(place, target)
        before = self._apart(v, place, target, x)
        value = self.views.broadcast(v, place)                # of x itself, say: it is read while it is written to
        if self._reads(target, x) or self._reads((value,), x, target) or not self.storage.take_over(out, x, self.views):
            self.storage.own(out)
            before.append(self.copy_into(x, out))
            self.note_copy(eqn, out, before[-1])
        return before + [Step(kind, eqn, out, axes=axes, target=target, args=(self.views.broadcast(v, place),))]

    def _is_kept_from(self, v: Any, x: Var) -> bool:
        """Whether v was computed from elements of x's array, so that it lies in memory while x is written to."""
        maker = self.makers.get(v)
        return maker is not None and self._reads(maker.args, x)

    def _apart(self, v: Any, place: tuple, target: tuple, x: Atom) -> list:
        """The operand of a write into x: a copy of it, if it is read from x's own array at other places (a[1:] =
        a[:-1]).
        """
        moved = (
            isinstance(v, Var) and v in self.views.read and self._reads((self.views.broadcast(v, place),), x, target)
        )
        return [self.copy(v)] if moved else []

    def _reads(self, operands: tuple, x: Atom, but: "tuple | None" = None) -> bool:
        """Whether the operands read an element of x's array (other than the one at the place `but`)."""
        if not isinstance(x, Var):
            return False
        root = self.storage.root(x)
        return any(
            root in self.storage.arrays_of(e.var) and (e.at != but or e.var in self.storage.base)
            for o in operands
            for e in elements_in(o)
        )

    def _resize(self, eqn: Equation) -> list:
        x, out = eqn.inputs[0], eqn.outputs[0]
        before = [] if self.storage.take_over(out, x, self.views) else [self.copy_into(x, out)]
        return before + [
            Step("call", eqn, out, args=(self.views.locate(eqn.inputs[1]),), arrays=() if before else (x,))
        ]

    # -- effects -----------------------------------------------------------------------------------

    def _kind_check(self, eqn: Equation) -> list:
        shape = max([getattr(a.type, "shape", ()) for a in eqn.inputs], key=len)
        axes, place = self.space(shape)
        return [Step("check", eqn, axes=axes, args=tuple([self.views.broadcast(a, place) for a in eqn.inputs]))]

    def _for(self, eqn: Equation) -> list:
        return lower_loop(self, eqn)

    def _while(self, eqn: Equation) -> list:
        return lower_loop(self, eqn)

    def _cond(self, eqn: Equation) -> list:
        return lower_cond(self, eqn)

    def _kind_opaque(self, eqn: Equation) -> list:
        for v in eqn.outputs:
            self.storage.own(v)
        scalars = tuple([self.views.locate(a) for a in eqn.inputs if not a.type.shape])
        return [
            Step("call", eqn, outs=eqn.outputs, arrays=tuple([a for a in eqn.inputs if a.type.shape]), args=scalars)
        ]


def _must_run(step: Step) -> bool:
    return step.eqn is not None and step.eqn.op.effect


def _forward(place: tuple, target: tuple) -> tuple:
    """A place and the target it has in an array, in terms of axes that run through the target forward, as those of
    other steps do.
    """
    turned = {a: a.extent.shifted(-1) - at(a) for i in target for a, c in i.terms if isinstance(a, Axis) and c < 0}
    return tuple([i.substitute(turned) for i in place]), tuple([i.substitute(turned) for i in target])


def _needed_whole(eqn: Equation) -> list:
    """The arrays an equation cannot read element by element."""
    if eqn.regions:
        inner = [a for region in eqn.regions for e in region.equations for a in _needed_whole(e)]
        yielded = [a for region in eqn.regions for a in region.outputs if isinstance(a, Var)]
        return inner + yielded
    if eqn.op.kind == "opaque":
        return [a for a in eqn.inputs if isinstance(a, Var) and a.type.shape]
    return [eqn.inputs[0]] if eqn.op.name in _ARRAYS_ONLY and isinstance(eqn.inputs[0], Var) else []


def _selected_extents(shape: tuple, operands: tuple, params: dict) -> tuple:
    kept: list = []
    gathered: tuple = ()
    k = 0
    for axis, entry in enumerate(params["spec"]):
        count = {":": 0, "s": 2, "i": 1, "a": 1}[entry[0]]
        given, k = operands[k:k + count], k + count
        if entry == ":":
            kept.append(shape[axis])
        elif entry[0] == "s":
            kept.append(given[1].value if isinstance(given[1], Literal) else given[1])
        elif entry == "a":
            gathered = given[0].type.shape
    return tuple(kept[:params["at"]]) + gathered + tuple(kept[params["at"]:])


def _axes(operand: object) -> tuple:
    return tuple(operand.axes()) if hasattr(operand, "axes") else ()


def in_memory_order(axes: tuple, args: tuple) -> tuple:
    """The axes in the order in which the operands lie in memory: the largest operand decides first."""
    found: dict[Axis, None] = {}
    for operand in sorted([a for a in args if isinstance(a, Elem)], key=lambda e: -len(set(e.axes()))):
        axes_of = list(dict.fromkeys(operand.axes()))
        if not found or not set(axes_of) & set(found):
            found.update(dict.fromkeys(axes_of))
        else:
            found = _merged(list(found), axes_of)
    return tuple([a for a in found if a in axes] + [a for a in axes if a not in found])


def _last(axes: tuple, along: Axis) -> tuple:
    return tuple([a for a in axes if a is not along]) + (along,)


def _merged(order: list, more: list) -> dict:
    """More axes put in as far inside as the second order lets them."""
    for k, a in enumerate(more):
        if a not in order:
            after = [order.index(b) for b in more[k + 1:] if b in order]
            order.insert(min(after, default=len(order)), a)
    return dict.fromkeys(order)


def prune(steps: list, outputs: tuple, views: Views) -> list:
    """The steps whose results are used."""
    needed: set[Var] = set()

    def need(atom: Atom) -> None:
        if isinstance(atom, Var) and atom not in needed:
            if atom in views.read:
                for b in views.bases[atom]:
                    need(b)
            else:
                needed.add(atom)
    for a in outputs:
        need(a)
    kept = []
    for step in reversed(steps):
        if step.kind in ("check", "control") or _must_run(step) or any(v in needed for v in step.outs):
            kept.append(step)
            for v in inputs_of(step, views):
                need(v)
    return kept[::-1]
