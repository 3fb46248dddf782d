"""The form of what a name holds on several paths: one join of layouts for branches and loops.

    on one path      on another       in the program
    2.5              no value         the number, or zeros, and a flag: the name is bound (see objects/maybe_unbound.py)
    2.5              None             the same: it is there (see optional.py)
    "running"        "converged"      the numbers of the texts in a table of the trace; the same of functions and of
                                      members of an Enum (see values/choice.py)
    f"{x} is bad"    "bad"            a text that the program does not know: it may go into a message of an error
    np.sum(x)        np.array(2.0)    a value without axes that may be an array (see values/zero_dim.py)

Texts are compared by their numbers, and printed from the table. A question about the text itself (its length, its hash)
sends the call to the tape. All else has to be the same on all paths.
"""
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...ir.build import Value
from ...ops.carry import UNDEFINED
from ..heap.state import Name, TreeLayout
from ..values.choice import is_choice, may_be_chosen, table_of
from ..values.text import TracedText, unknown
from ..values.zero_dim import joined, kind_of
from . import optional

TEXTS = {str, TracedText}
WHOLE = -1                                                    # the name itself, among the numbers of its leaves


class Form(NamedTuple):
    """The properties of a value on all paths. absent: leaves that may be None (WHOLE: the name may be unbound); texts:
    leaves that are one of several texts; unknown: leaves that are other texts on some paths, which no table has; kinds:
    whether leaves are arrays, not numbers; layout: that of later values, where a name has none before a loop.
    """

    absent: frozenset = frozenset()
    texts: frozenset = frozenset()
    unknown: Mapping = MappingProxyType({})
    kinds: Mapping = MappingProxyType({})
    layout: "TreeLayout | None" = None

    def of(self, x: TreeLayout) -> TreeLayout:
        """A value's layout in which all that may differ is data."""
        x = self.layout if x.is_undefined and self.layout is not None else x
        return self.numbered(x).opened(self.absent - {WHOLE}).of_kinds(self.arrays)

    def numbered(self, x: TreeLayout) -> TreeLayout:
        """A value's layout in which texts that may differ are numbers, or unknown."""
        unknown = {k: text for k, text in self.unknown.items() if type(x.statics.get(k)) in TEXTS}
        return x.with_statics(unknown).numbered(self.texts)

    @property
    def arrays(self) -> dict:
        return {k: kind for k, kind in self.kinds.items() if kind is not False}

    def with_absent(self, k: int) -> "Form":
        return self._replace(absent=self.absent | {k})

    def join(self, x: TreeLayout, other: TreeLayout) -> "Form":
        """The form of a value that is like x on one path, and like another one on the next."""
        if x.structure != other.structure:
            return self
        # None in one of them
        absent = [k for k in x.statics.keys() ^ other.statics.keys() if x.statics.get(k) is other.statics.get(k)]
        absent += [k for k, y in enumerate(other.leaves) if isinstance(is_given(y), Value)]
        pairs = {k: (x.statics[k], other.statics[k]) for k in x.statics.keys() & other.statics.keys()}
        texts = [k for k, pair in pairs.items() if _may_differ(*pair)]
        others = {k: unknown() for k, pair in pairs.items() if k not in texts and _are_texts(*pair)}
        kinds = {k: kind_of(y) for k, y in enumerate(other.leaves) if k not in other.statics and y is not UNDEFINED}
        kinds = {**self.kinds, **{k: joined(kind, self.kinds.get(k, kind)) for k, kind in kinds.items()}}
        return self._replace(absent=self.absent.union(absent), texts=self.texts.union(texts),
                             unknown={**others, **self.unknown}, kinds=kinds)

    def after(self, first: TreeLayout, later: TreeLayout) -> "Form":
        """The form of a name's value in a loop, where iterations leave it like this; first: before it, in this form."""
        is_new = first.is_undefined and not later.is_undefined and self.layout is None
        if not is_new or not (later.statics or later.texts or later.structure != first.structure):
            return self.join(first, later)
        texts = {k for k, x in later.statics.items() if type(x) is str or is_choice(x)}  # others may be other texts
        return self._replace(texts=self.texts | texts, layout=later.numbered(texts).undefined())

    def differs(self, other: "Form", layout: TreeLayout) -> bool:
        """Whether data of this layout, which begins a loop, would be something else in the other form."""
        data = [k for k, x in enumerate(layout.leaves) if k not in layout.statics and x is not UNDEFINED]
        kinds = any(self.kinds.get(k, False) is not other.kinds.get(k, False) for k in data)
        return kinds or self.unknown.keys() != other.unknown.keys() or (
            self.absent, self.texts, self.layout) != (other.absent, other.texts, other.layout)


def is_given(leaf: object) -> Any:
    """Whether a leaf is there: neither None nor without a value."""
    return leaf is not UNDEFINED and optional.given(leaf)


def is_bound(slot: object) -> Any:
    """Whether a name has a value. Names that rewriting made are read only where they have one."""
    return slot.is_bound if isinstance(slot, Name) and not slot.name.startswith("_fad_") else True


def is_there(slot: Any, leaves: list, k: int) -> Any:
    """Whether a name, or a leaf of its value, is there."""
    return is_bound(slot) if k == WHOLE else k < len(leaves) and is_given(leaves[k])


def doubt(slot: Any, leaves: list, k: int, flag: object) -> None:
    """From now on a name, or a leaf of its value, is there only where the flag holds."""
    if k != WHOLE:
        optional.note(leaves[k], flag, slot.name)
    elif flag is not True:
        slot.doubt(flag)


def _may_differ(x: object, y: object) -> bool:
    """Whether two leaves are texts (or things) that may be two."""
    if x is y or not (may_be_chosen(x) and may_be_chosen(y)) or table_of(x) is not table_of(y):
        return False
    return is_choice(x) or is_choice(y) or x != y


def _are_texts(x: object, y: object) -> bool:
    """Whether two leaves are texts, one of them traced."""
    return x is not y and TracedText in (type(x), type(y)) and {type(x), type(y)} <= TEXTS
