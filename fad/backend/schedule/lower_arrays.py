"""Lowering of array operations to steps: elementwise, reductions, contractions, scans, updates, calls."""

from ...ir.graph import Atom, Equation, Literal, Var
from .indexmap import Axis, Elem, Index, at, elements_in
from .loop_ir import BackendError, Step
from .lowering import Lowering
from .products import is_matrix_product, matrix_product
from .views import selected


def lower_elementwise(lowering: Lowering, eqn: Equation) -> list:
    out = eqn.outputs[0]
    axes, place = lowering.space(out.type.shape)
    lowering.storage.own_or_succeed(out, lowering.views, eqn)
    lowering.makers[out] = Step(
        "map", eqn, out, axes=axes, target=place, args=tuple([lowering.views.broadcast(a, place) for a in eqn.inputs])
    )
    return [lowering.makers[out]]


def lower_index(lowering: Lowering, eqn: Equation) -> list:
    x, operands = eqn.inputs[0], eqn.inputs[1:]
    place = selected(lowering.views, (), operands, eqn.params["spec"], eqn.params["at"])
    return [Step("map", eqn, eqn.outputs[0], args=(lowering.views.locate(x, place),))]


def lower_full(lowering: Lowering, eqn: Equation) -> list:
    out = eqn.outputs[0]
    lowering.storage.own(out)
    return [Step("fill", eqn, out, args=(lowering.views.locate(eqn.inputs[0]),))]


def lower_concatenate(lowering: Lowering, eqn: Equation) -> list:
    out, axis = eqn.outputs[0], eqn.params["axis"]
    lowering.storage.own(out)
    steps, start = [], Index()
    for x in eqn.inputs:
        axes, place = lowering.space(x.type.shape)
        target = tuple([i + start if k == axis else i for k, i in enumerate(place)])
        steps.append(Step("map", eqn, out, axes=axes, target=target, args=(lowering.views.locate(x, place),)))
        start = start + lowering.views.number(x.type.shape[axis])
    return steps


def lower_pack(lowering: Lowering, eqn: Equation) -> list:
    out = eqn.outputs[0]
    lowering.storage.own(out)
    return [Step("map", None, out, target=(at(k),), args=(lowering.views.locate(x),)) for k, x in enumerate(eqn.inputs)]


def lower_reshape(lowering: Lowering, eqn: Equation) -> list:
    x, out = eqn.inputs[0], eqn.outputs[0]
    lowering.storage.reshape(out, x)
    return [Step("call", eqn, out, arrays=(x,), args=tuple([lowering.views.locate(n) for n in eqn.inputs[1:]]))]


def lower_reduce(lowering: Lowering, eqn: Equation) -> list:
    x, out = eqn.inputs[0], eqn.outputs[0]
    axes, place = lowering.space(x.type.shape)
    gone = set(eqn.params["axes"])
    reduced = tuple([a for k in gone for a in place[k].axes()])
    target = tuple([i for k, i in enumerate(place) if k not in gone])
    return [_reduction(lowering, eqn, out, axes, reduced, target, (lowering.views.locate(x, place),))]


def _reduction(
    lowering: Lowering, eqn: Equation, out: Var, axes: tuple, reduced: tuple, target: tuple, args: tuple
) -> Step:
    lowering.storage.own_or_succeed(out, lowering.views)
    if not reduced:
        return Step("map", eqn, out, axes=axes, target=target, args=args)
    return Step("reduce", eqn, out, axes=in_memory_order(axes, args), reduced=reduced, target=target, args=args)


def lower_contract(lowering: Lowering, eqn: Equation) -> list:
    if is_matrix_product(eqn):
        return matrix_product(lowering, eqn)
    (x, y), out = eqn.inputs, eqn.outputs[0]
    index: dict[str, Index] = {}
    axes: list[Axis] = []
    for letters, operand in zip(eqn.params["labels"], (x, y)):
        for c, n in zip(letters, operand.type.shape):
            if c not in index:
                more, (index[c],) = lowering.space((n,))
                axes += more
    place = [tuple([index[c] for c in letters]) for letters in eqn.params["labels"]]
    reduced = tuple([a for c, i in index.items() if c not in eqn.params["labels"][2] for a in i.axes()])
    args = (lowering.views.locate(x, place[0]), lowering.views.locate(y, place[1]))
    return [_reduction(lowering, eqn, out, tuple(axes), reduced, place[2], args)]


def lower_scan(lowering: Lowering, eqn: Equation) -> list:
    out, axis = eqn.outputs[0], eqn.params["axis"]
    axes, place = lowering.space(out.type.shape)
    along = next(iter(place[axis].axes()), None)
    if along is None:
        raise BackendError("a scan of a single element")
    if eqn.params.get("reverse"):
        flip = lowering.views.number(out.type.shape[axis]).shifted(-1) - place[axis]
        place = tuple([flip if k == axis else i for k, i in enumerate(place)])
    lowering.storage.own(out)
    args = tuple([lowering.views.locate(x, place) for x in eqn.inputs])
    return [Step("scan", eqn, out, axes=_last(axes, along), target=place, args=args, along=along)]


def lower_place(lowering: Lowering, eqn: Equation) -> list:
    x, out, axis = eqn.inputs[0], eqn.outputs[0], eqn.params["axis"]
    axes, place = lowering.space(x.type.shape)
    along = next(iter(place[axis].axes()), None)
    if along is None:
        raise BackendError("the place of a single element")
    lowering.storage.own(out)
    target = tuple([i for k, i in enumerate(place) if k != axis])
    return [
        Step(
            "place",
            eqn,
            out,
            axes=_last(axes, along),
            reduced=(along,),
            target=target,
            args=(lowering.views.locate(x, place),),
            along=along,
        )
    ]


def lower_update(lowering: Lowering, eqn: Equation) -> list:
    return _write(lowering, eqn, "map")


def lower_addition(lowering: Lowering, eqn: Equation) -> list:
    return _write(lowering, eqn, "add")


def _write(lowering: Lowering, eqn: Equation, kind: str) -> list:
    (x, v), operands, out = eqn.inputs[:2], eqn.inputs[2:], eqn.outputs[0]
    axes, place = lowering.space(_selected_extents(x.type.shape, operands, eqn.params))
    target = selected(lowering.views, place, operands, eqn.params["spec"], eqn.params["at"])
    if _is_kept_from(lowering, v, x):
        place, target = _forward(place, target)
    before = _apart(lowering, v, place, target, x)
    value = lowering.views.broadcast(v, place)                # of x itself, say: it is read while it is written to
    is_read = _reads_array(lowering, target, x) or _reads_array(lowering, (value,), x, target)
    if is_read or not lowering.storage.take_over(out, x, lowering.views):
        lowering.storage.own(out)
        before.append(lowering.copy_into(x, out))
        lowering.note_copy(eqn, out, before[-1])
    return before + [Step(kind, eqn, out, axes=axes, target=target, args=(lowering.views.broadcast(v, place),))]


def _is_kept_from(lowering: Lowering, v: Atom, x: Var) -> bool:
    """Whether v was computed from elements of x's array, so that it lies in memory while x is written to."""
    maker = lowering.makers.get(v) if isinstance(v, Var) else None
    return maker is not None and _reads_array(lowering, maker.args, x)


def _apart(lowering: Lowering, v: Atom, place: tuple, target: tuple, x: Atom) -> list:
    """The operand of a write into x: a copy of it, if it is read from x's own array at other places (a[1:] =
    a[:-1]).
    """
    if not isinstance(v, Var) or v not in lowering.views.read:
        return []
    moved = _reads_array(lowering, (lowering.views.broadcast(v, place),), x, target)
    return [lowering.copy(v)] if moved else []


def _reads_array(lowering: Lowering, operands: tuple, x: Atom, but: "tuple | None" = None) -> bool:
    """Whether the operands read an element of x's array (other than the one at the place `but`)."""
    if not isinstance(x, Var):
        return False
    root = lowering.storage.root(x)
    return any(
        root in lowering.storage.arrays_of(e.var) and (e.at != but or e.var in lowering.storage.base)
        for o in operands
        for e in elements_in(o)
    )


def lower_resize(lowering: Lowering, eqn: Equation) -> list:
    x, out = eqn.inputs[0], eqn.outputs[0]
    before = [] if lowering.storage.take_over(out, x, lowering.views) else [lowering.copy_into(x, out)]
    return before + [
        Step("call", eqn, out, args=(lowering.views.locate(eqn.inputs[1]),), arrays=() if before else (x,))
    ]


def lower_check(lowering: Lowering, eqn: Equation) -> list:
    shape = max([getattr(a.type, "shape", ()) for a in eqn.inputs], key=len)
    axes, place = lowering.space(shape)
    return [Step("check", eqn, axes=axes, args=tuple([lowering.views.broadcast(a, place) for a in eqn.inputs]))]


def lower_opaque(lowering: Lowering, eqn: Equation) -> list:
    for v in eqn.outputs:
        lowering.storage.own(v)
    scalars = tuple([lowering.views.locate(a) for a in eqn.inputs if not a.type.shape])
    return [
        Step("call", eqn, outs=eqn.outputs, arrays=tuple([a for a in eqn.inputs if a.type.shape]), args=scalars)
    ]


def _forward(place: tuple, target: tuple) -> tuple:
    """A place and the target it has in an array, in terms of axes that run through the target forward, as those of
    other steps do.
    """
    turned = {a: a.extent.shifted(-1) - at(a) for i in target for a, c in i.terms if isinstance(a, Axis) and c < 0}
    return tuple([i.substitute(turned) for i in place]), tuple([i.substitute(turned) for i in target])


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
