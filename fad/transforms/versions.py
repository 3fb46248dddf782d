"""Versions: a carried array that each iteration saves is kept as one row an iteration, computed from the row before.

The saved part may be the whole array, or a part that the iteration writes completely. `y[:k] += c * y[:k][::-1]; y[k] =
c` saves y[:k] and makes of it the whole y[:k + 1] that the next iteration saves. Nothing else of the array has to be
known.
"""
from typing import Any, NamedTuple

from ..ir.affine import Affine
from ..ir.graph import Equation, Literal, Var
from ..ir.spec import operands_of
from ..ir.uses import reads
from .joint import atoms
from .save_or_recompute import Division
from .tape import Iterations, along


class Piece(NamedTuple):
    """One write of an iteration to a row: a value at a place (see ops/index.py); with `adds` it is added."""

    value: Any
    spec: tuple
    operands: tuple
    adds: bool


class Version(NamedTuple):
    """The carry at this place is known by what is saved.

    pieces: what the iteration writes into the next row, of which the rest is as in the row before; none where the
    iteration makes a new array. maker: the number of the equation that takes what is saved out of the array, None where
    it is all of it: else the pieces are all of the next row. skipped: the numbers of the equations that write to the
    array.
    """

    place: int
    pieces: tuple
    maker: "int | None"
    skipped: tuple


def versions(division: Division, equations: list, state: list, arrays: list, iterations: Iterations,
             around: object) -> dict:
    """{saved array: its Version}, where it is all that these equations need of a carry."""
    place = {division.joint.carries[k].atom: k for k in state}
    chains = {c: _writes(division, equations, k, c) for c, k in place.items()}
    found = {v: _version(division, place[v], chains[v], None) for v in arrays if v in place}
    for k, eqn in enumerate(division.equations):
        v = eqn.outputs[0] if eqn.outputs else None
        if v in arrays and eqn.reads_part and eqn.inputs[0] in place and eqn.params == _SLICE:
            c = eqn.inputs[0]
            readers = {j for j in equations if c in reads(division.equations[j])}
            if chains[c] and readers <= {k, chains[c][0]} and _covers(division, eqn, chains[c], iterations, around):
                found[v] = _version(division, place[c], chains[c], k)
    return found


def _version(division: Division, place: int, chain: list, maker: "int | None") -> Version:
    pieces = [division.equations[k] for k in chain]
    return Version(place, tuple([Piece(e.inputs[1], e.params["spec"], operands_of(e), e.adds_part) for e in pieces]),
                   maker, tuple(chain))


_SLICE = {"spec": (("s", 1),), "at": 0}


def _writes(division: Division, equations: list, place: int, carry: Var) -> list:
    """The numbers of the equations that write parts of the carry and so make its next value, in order; empty if others
    do, or read between."""
    chain: list = []
    (v,) = atoms([division.joint.outputs[place]]) or (None,)
    while v is not None and v is not carry:
        eqn = division.chains.definition(v)
        if eqn is None or not eqn.writes_part or eqn.params["at"] != 0 or "a" in eqn.params["spec"]:
            return []
        if sum(v in reads(division.equations[k]) for k in equations) > bool(chain):
            return []
        chain.append(division.chains.position(v))
        v = eqn.inputs[0]
    return chain[::-1] if v is carry else []


def _covers(division: Division, saved: Equation, chain: list, iterations: Iterations, around: Any) -> bool:
    """Whether an iteration writes all elements that the next one saves, adding only to what this one saves."""
    if any(division.equations[k].params["spec"] not in (_SLICE["spec"], ("i",)) for k in chain):
        return False
    region = _region(saved, around)
    first, behind = [along(bound, iterations, around) for bound in region]
    if region[0] != Affine() or not isinstance(iterations.step, int) or first is None or behind is None:
        return False
    change = behind[0] * iterations.step
    ends = [region[1].shifted(change)] + [region[1]] * (change < 0)      # saved elements may no longer be written to
    written = [_region(division.equations[k], around) for k in chain]
    adding = [k for k in chain if division.equations[k].adds_part]
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
    operands = [around.integers.form(int(a.value) if isinstance(a, Literal) else a) for a in operands_of(eqn)]
    return operands[0], operands[0] + operands[1] if len(operands) == 2 else operands[0].shifted(1)
