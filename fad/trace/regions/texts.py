"""Names that are one text on some paths and another text on others: "running" or "converged"; the same of functions
and of members of an Enum.

    status = "running"                          status = 1
    for k in range(n):                          for k in range(n):
        if error < tolerance:          ->           if error < tolerance:
            status = "converged"                        status = 2
    if status == "running": ...                 if status == 1: ...

The program has the number of the text in a table of the trace. Texts are compared by their numbers, and printed from
the table. A question about the text itself (its length, its hash) sends the call to the tape.
"""

from ..heap.state import TreeLayout
from ..values.choice import is_choice, may_be_chosen, table_of


def places(one: TreeLayout, other: TreeLayout) -> set:
    """The leaves that are texts in two values, and may differ."""
    if one.structure != other.structure:
        return set()
    return {k for k, x in one.statics.items() if k in other.statics and _may_differ(x, other.statics[k])}


def of(layout: TreeLayout) -> set:
    """The leaves that are texts."""
    return {k for k, x in layout.statics.items() if type(x) is str or is_choice(x)}


def _may_differ(x: object, y: object) -> bool:
    if x is y or not (may_be_chosen(x) and may_be_chosen(y)) or table_of(x) is not table_of(y):
        return False
    return is_choice(x) or is_choice(y) or x != y
