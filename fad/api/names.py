"""Names for the inputs of a program: the user's own, for whoever reads the generated code."""
import inspect
import re
import sys
from typing import Any

from ..util import tree
from ..util.interrupts import interrupt_behind


def leaf_names(f: Any, structure: tree.Structure) -> list:
    """A name for each leaf of (args, kwargs): the parameter's, with the path to the leaf in structured arguments.

    >>> leaf_names(lambda w, data: 0, tree.flatten(((1.0, {"x": 2.0, "y": 3.0}), {}))[1])
    ['w', 'data_x', 'data_y']
    """
    parameters = _parameters(f)
    return [_joined(path, parameters) for path in structure.paths()]


def _parameters(f: Any) -> list:
    handled = sys.exc_info()[1]
    try:
        found = inspect.signature(f).parameters.values()
    except (TypeError, ValueError) as error:
        interrupt = interrupt_behind(error, handled)          # the standard library turns errors of these classes into its own
        if interrupt is not None:
            raise interrupt from None
        return []
    return [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _joined(path: tuple, parameters: list) -> str:
    kind, which, *rest = path
    if kind == 0:
        which = parameters[which] if which < len(parameters) else f"x{which}"
    return re.sub(r"\W", "_", "_".join(map(str, (which, *rest))))
