"""Attributes of a traced array that are assigned to: its shape, and whether it may be written to."""
from typing import Any

from ...ir.build import current
from ...ops.override import METHODS
from ...util.errors import UnsupportedFunctionError
from .layout import have_equal_extents
from .mutation import Chain, call_override


def set_flags(x: object, write: "bool | None" = None, align: object = None, uic: object = None) -> None:
    """x.setflags(write): forbid writes, or allow them again."""
    if write is not None and not current().is_certain:
        raise UnsupportedFunctionError("setflags in a loop or a branch is not supported on traced arrays",
                                       do="call it in front of the loop")
    kept = current().root.trace.read_only
    if write:
        kept.pop(id(x), None)
    elif write is not None:
        kept[id(x)] = x


def set_shape(x: Any, shape: object) -> None:
    """x.shape = shape: the same elements in other axes. Views of x keep their shapes."""
    y = call_override("reshape", METHODS["reshape"], (x, shape), {})
    if y is x or have_equal_extents(x.type.shape, y.type.shape):
        return
    builder, chain = current(), None if x.view_of is None else x.view_of.chain
    is_own = x.builder is builder and not _is_given(x) and (x.view_of is None or chain is not None)
    if not is_own or x.aliases or id(x) in builder.root.trace.two_objects:
        raise UnsupportedFunctionError(
            "the shape of an array is set that was not made here",
            why="the array around the function, the loop or the branch, or another name, would get the shape",
            do="use np.reshape(x, shape)")
    if not y.view_of.chain.is_view():
        raise AttributeError("Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the "
                             "desired shape.")
    builder.note_mutation(x)
    if chain is None:
        builder.trace.dense[y._var] = x.origin
        x.origin = y._var
    else:
        Chain(chain.source, x, [*chain.links, *y.view_of.chain.links], chain.made, chain.place,
              chain.is_writeable).tied()
    x._var = y._var
    x._version += 1


def _is_given(x: Any) -> bool:
    """Whether an array comes from around the present function or region."""
    builder = current()
    if id(x) in builder.region.arrived or any(x is y for _, y in builder.trace.captured.values()):
        return True
    return not builder.region.arrived and any(x.origin is v for v in builder.inputs)
