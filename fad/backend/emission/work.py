"""The work of a kernel's loops, as expressions in its parameters, and whether a call has enough of it for threads."""
import re
from collections.abc import Iterable
from typing import NamedTuple

from ...util.interrupts import reraise_interrupt
from ..text.lines import NAME, code_of
from .parallel import WORK

_EXTENT = re.compile(r"    (\w+) = (\w+)\.shape\[(\d+)\]")
_AXIS = re.compile(r"\.shape\[\d+\]")
_DIVIDED = re.compile(r"[/%]\s*(?![\s\d/])")                       # by what is no constant
_CALL = re.compile(r"\b(?!abs\b)\w+\(")                          # of a function: nothing is known of its result


class Work(NamedTuple):
    """The work of a kernel's loops, as expressions in its parameters and in their extents: (name, parameter, axis).
    """

    parameters: tuple
    extents: tuple
    amounts: tuple

    def is_much(self, values: Iterable) -> list:
        """For each loop, whether it does enough on these arguments to be worth threads."""
        known = dict(zip(self.parameters, values))
        for name, parameter, axis in self.extents:
            if hasattr(known.get(parameter), "shape"):
                known[name] = known[parameter].shape[axis]
        return [_evaluated(amount, known) > WORK for amount in self.amounts]

    def least(self) -> int:
        """A number up to which all extents and integers may be without work that is worth threads; 0 if none is known.
        """
        amounts = [_AXIS.sub("", amount).replace("-", "+") for amount in self.amounts]   # no difference is larger
        if any(_DIVIDED.search(a) or _CALL.search(a) or "[" in a for a in amounts):      # elements may be of any size
            return 0
        names = {name for amount in amounts for name in NAME.findall(amount)} - {"abs"}
        powers = [1 << k for k in range(WORK.bit_length())]
        much = (n for n in powers if any(_evaluated(a, dict.fromkeys(names, n)) > WORK for a in amounts))
        return next((n >> 1 for n in much), WORK)


def work_of(loops: Iterable, lines: list, parameters: list) -> Work:
    """The work of these loops of a function's lines."""
    found = [_EXTENT.fullmatch(code_of(line)) for line in lines]
    extents = tuple([(m[1], m[2], int(m[3])) for m in found if m is not None and m[2] in parameters])
    return Work(tuple(parameters), extents, tuple([loop.work() for loop in loops]))


def _evaluated(work: str, known: dict) -> int:
    try:
        return int(eval(work, {"__builtins__": {}, "abs": abs}, known))
    except (NameError, AttributeError) as error:             # it depends on what the kernel computes
        reraise_interrupt(error)
        return 0
