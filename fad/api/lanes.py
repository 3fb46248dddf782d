"""Independent loops of a traced function in lanes (see transforms/vectorise.py), before it is compiled."""
from ..trace.tracing import Traced, positional_guards
from ..transforms.vectorise import vectorise


def in_lanes(traced: Traced) -> Traced:
    """The trace with its independent loops in blocks, and the guards that this rests on."""
    func, builder = vectorise(traced.func)
    if builder is None:
        return traced
    return traced._replace(func=func, guards=traced.guards + positional_guards(builder, func))
