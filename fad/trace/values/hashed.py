"""Hashes of traced numbers: keys of dicts and sets.

    if key not in self.memo: self.memo[key] = expensive(x)         an earlier call left plain numbers in the memo:
    return self.memo[key]                                          their derivative would be zero

So a number that is being differentiated is no plain number's key. The memo has nothing for it, and the function
computes. Nor is it the key of another number that happens to be as large. Keys that a call leaves outside are plain
numbers again (outcome/leaks.py).
"""
from ...ir.build import Value, current
from ...ir.graph import Atom, Literal
from .layout import producer

_DEEPEST = 20                                                 # operations between two ways to write one number


def hash_of(x: Value, known: object) -> int:
    """The hash of a traced number of a known value. Without one, a dict or a set would miss the number silently."""
    builder = current()
    if not builder.live or not builder.moves(x):
        return hash(known)
    return hash((known, _written(x.atom, builder.root.written, _DEEPEST)))


def _written(atom: Atom, found: dict, depth: int) -> object:
    """A value that tells two numbers apart by the operations that made them: x[0] has one, wherever it is written."""
    if isinstance(atom, (Literal, int)):
        return repr(atom)
    if atom not in found:
        eqn = producer(atom) if depth else None
        found[atom] = id(atom) if eqn is None or eqn.regions else hash((
            eqn.op.name, repr(sorted(eqn.params.items())), eqn.outputs.index(atom),
            *[_written(a, found, depth - 1) for a in eqn.inputs]))
    return found[atom]
