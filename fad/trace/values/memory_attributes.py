"""Attributes of a traced array that are about its memory: its flags, and its shape, which may be assigned to."""
from typing import Any

from ...ir.build import current
from ...ops.override import METHODS
from ...util.errors import UnsupportedFunctionError
from .layout import have_equal_extents
from .mutation import Chain, call_override, memory_layout


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


class Flags:
    """x.flags, as far as a trace knows how the array lies in memory."""

    def __init__(self, x: Any):
        self._array = x

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, {"C": "c_contiguous", "F": "f_contiguous"}.get(name, name.lower())))

    def __getattr__(self, name: str) -> bool:
        raise UnsupportedFunctionError(f"flags.{name} is not supported on traced arrays",
                                       why="it depends on how the array lies in memory")

    def _is_dense(self, step: int) -> bool:
        """Whether the axes lie in their order (step 1), or in the opposite one (-1), without gaps."""
        shape, layout = self._array.type.shape, memory_layout(self._array)
        if any(isinstance(n, int) and n == 0 for n in shape):
            return True
        long = [k for k, n in enumerate(shape) if not (isinstance(n, int) and n == 1)]
        if layout is not None and [k for k in layout if k in long] == long[::step]:
            return True
        facts = current().integers
        if layout is None or any(not facts.proves_nonnegative(facts.form(shape[k]).shifted(-2)) for k in long):
            raise UnsupportedFunctionError("flags.contiguous is not known of this traced array",
                                           why="it depends on how the array lies in memory",
                                           do="leave it out: np.ascontiguousarray(x) copies where that is needed")
        return False

    @property
    def c_contiguous(self) -> bool:
        return self._is_dense(1)

    @property
    def f_contiguous(self) -> bool:
        return self._is_dense(-1)

    @property
    def forc(self) -> bool:
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    contiguous = c_contiguous
