"""Versions: an array that a loop carries and saves in each turn may be kept as one row a turn, each computed from the row before.

What is saved may be all of the array, or a part that the turn writes all of: `y[:k] += c * y[:k][::-1]; y[k] = c` saves y[:k], and makes of it the
whole y[:k + 1] that the next turn saves. Nothing else of the array has to be known then.
"""
from typing import Any, NamedTuple

from ..ir.graph import Equation, Literal, Var
from ..ir.integers import Affine
from .division import Division
from .joint import atoms, reads
from .tape import Turns, along


class Piece(NamedTuple):
    """What a turn writes to a row: value at a place (see ops/index.py), added to what is saved there where `adds`."""

    value: Any
    spec: tuple
    operands: tuple
    adds: bool


class Version(NamedTuple):
    """The carry at this place is known by what is saved; pieces: what the next row consists of, None where it is all of the carry.

    maker: the number of the equation that takes what is saved out of the array; skipped: those that write to the array.
    """

    place: int
    pieces: "list[Piece] | None" = None
    maker: "int | None" = None
    skipped: tuple = ()


def versions(division: Division, equations: list, state: list, arrays: list, turns: Turns, around: Any) -> dict:
    """{saved array: its Version}, where it is all that these equations need of a carry."""
    place = {division.joint.carries[k].atom: k for k in state}
    found = {v: Version(place[v]) for v in arrays if v in place}
    for k, eqn in enumerate(division.equations):
        v = eqn.outputs[0] if eqn.outputs else None
        if v in arrays and eqn.op.name == "index" and eqn.inputs[0] in place and eqn.params == _SLICE:
            c = eqn.inputs[0]
            chain = _writes(division, equations, place[c], c)
            readers = {j for j in equations if c in reads(division.equations[j])}
            if chain and readers <= {k, chain[0]} and _covers(division, eqn, chain, turns, around):
                found[v] = Version(place[c], [_piece(division.equations[j]) for j in chain], k, tuple(chain))
    return found


_SLICE = {"spec": (("s", 1),), "at": 0}


def _writes(division: Division, equations: list, place: int, carry: Var) -> "list | None":
    """The numbers of those of the equations that make the carry's next value of it by writing parts, in order; None where others do, or read between."""
    made = {v: k for k, eqn in enumerate(division.equations) for v in eqn.outputs}
    chain: list = []
    (v,) = atoms([division.joint.outputs[place]]) or (None,)
    while v is not None and v is not carry:
        eqn = division.equations[made[v]] if v in made else None
        if eqn is None or eqn.op.name not in ("update", "index_add") or eqn.params["at"] != 0 or eqn.params["spec"] not in ((("s", 1),), ("i",)):
            return None
        if chain and sum(v in reads(division.equations[k]) for k in equations) > 1:
            return None
        chain.append(made[v])
        v = eqn.inputs[0]
    return chain[::-1] if v is carry else None


def _covers(division: Division, saved: Equation, chain: list, turns: Turns, around: Any) -> bool:
    """Whether a turn writes all elements that the next one saves, adding only to what this one saves."""
    region = _region(saved, around)
    slopes = [along(bound, turns, around) for bound in region]
    if region[0] != Affine() or not isinstance(turns.step, int) or None in slopes:
        return False
    change = slopes[1][0] * turns.step
    ends = [region[1] + Affine((), change)] + [region[1]] * (change < 0)      # what is saved no longer may be written
    written = [_region(division.equations[k], around) for k in chain]
    adding = [k for k in chain if division.equations[k].op.name == "index_add"]
    if adding and (adding != chain[:1] or written[0] != region):
        return False
    reached, left = Affine(), set(written)
    while any(a == reached for a, _ in left):
        part = next((a, b) for a, b in left if a == reached)
        left.discard(part)
        reached = part[1]
    return reached in ends and not left


def _region(eqn: Equation, around: Any) -> tuple:
    """The first place of a slice or an element, and the place behind it."""
    operands = [around.integers.form(int(a.value) if isinstance(a, Literal) else a) for a in eqn.inputs[1 if eqn.op.name == "index" else 2:]]
    return operands[0], operands[0] + (operands[1] if len(operands) == 2 else Affine((), 1))


def _piece(eqn: Equation) -> Piece:
    return Piece(eqn.inputs[1], eqn.params["spec"], eqn.inputs[2:], eqn.op.name == "index_add")
