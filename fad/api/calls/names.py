"""Names for the inputs of a program: the user's own, for whoever reads the generated code."""
import re

from ...util import tree
from ...util.keywords import signature_of


def leaf_names(f: object, structure: tree.Structure) -> list:
    """A name for each leaf of (args, kwargs): the parameter's, with the path to the leaf in structured arguments.

    >>> leaf_names(lambda w, data: 0, tree.flatten(((1.0, {"x": 2.0, "y": 3.0}), {}))[1])
    ['w', 'data_x', 'data_y']
    """
    parameters = _parameters(f)
    return [_joined(path, parameters) for path in structure.paths()]


def _parameters(f: object) -> list:
    signature = signature_of(f)
    found = signature.parameters.values() if signature is not None else ()
    return [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _joined(path: tuple, parameters: list) -> str:
    kind, which, *rest = path
    if kind == 0:
        which = parameters[which] if which < len(parameters) else f"x{which}"
    return re.sub(r"\W", "_", "_".join(map(str, (which, *rest))))
