"""All guards of a program as one generated function.

    def holds():
        try:
            return c0["np"] is v0 and c0["RATE"] is v1 and c1.reg is v2 and "gain" not in c1
        except Exception as error:
            ...

It is made once a program has been asked for a few times, since to compile its text takes longer than to ask each guard.
It compares identities: where it says no, each guard decides by itself, and if all agree (an equal number stands in the
place of another), it goes on with what stands there now.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ...util.defects import ignore_expected
from ...util.interrupts import reraise_interrupt
from .guard import Guard
from .weak_guards import weakened

PATIENCE = 4  # questions that are answered without generated code


class Checks:
    """Whether guards hold: `holds()`."""

    def __init__(self, guards: Iterable[Guard]):
        self.guards = list({guard.key: guard for guard in weakened(guards)}.values())
        self.asked = 0
        self.scope: dict[str, Any] = {}
        self.test: Callable | None = None

    def holds(self) -> bool:
        """Whether nothing has changed."""
        if self.test is not None:
            return self.test() or self._hold_one_by_one()
        self.asked += 1
        if self.asked > PATIENCE:
            self.function()
        return self._hold_one_by_one()

    def function(self) -> Callable:
        """The generated function: True means that nothing has changed; after False `holds` decides."""
        if self.test is None:
            exec(self._text(), self.scope)
            self.test = self.scope["holds"]
        return self.test

    def with_more(self, guards: Iterable[Guard]) -> "Checks":
        """These and further guards."""
        return Checks([*self.guards, *guards])

    def _hold_one_by_one(self) -> bool:
        try:
            for guard in self.guards:
                if not guard.unchanged:
                    return False
        except Exception as error:  # nothing stands there any more, or a class of the user's does not answer
            ignore_expected(error, "a function is traced anew")
            return False
        if self.test is not None:
            self._fill()
        return True

    def _fill(self) -> None:
        self.scope.update({f"v{k}": guard.kept for k, guard in enumerate(self.guards)})

    def _text(self) -> str:
        self._fill()
        self.scope["reraise_interrupt"] = reraise_interrupt
        owners: dict[int, str] = {}
        tests = []
        for k, guard in enumerate(self.guards):
            owner = owners.setdefault(id(guard.owner), f"c{len(owners)}")
            self.scope[owner] = guard.owner
            tests.append(guard.test(owner, f"v{k}"))
        return (
            f"def holds():\n    try:\n        return {' and '.join(tests) or True}\n"
            "    except Exception as error:\n        reraise_interrupt(error)\n"
            "        return False\n"
        )
