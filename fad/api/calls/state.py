"""State that the programs of one function change: what of it is an input of the next trace, and when tracing ends.

    call   state          program
    1      calls = 0      traced; stores calls = 1, and so fails its own guard
    2      calls = 1      traced anew; `calls` is an input (trace/heap/lifting.py)
    3 …    calls = 2 …    the same program

Guards that fail tell what the caller has changed (trace/guards/changes.py): `model.rate *= 0.9` between two calls makes
`rate` an input of the second trace.

Not all state can be an input: the structure of a program may depend on it (the keys of a dict, the elements of a list
that grows). Such a function is traced at each call. The tape is as quick as a trace, so after some such traces the
function runs there.
"""
from collections.abc import Callable, Sequence
from typing import Any

from ...ir.delivery import Append, Kept, Maybe, Output, Refill, Store, Tree, locations_of
from ...trace.guards.changes import changes_since, is_read_unseen
from ...trace.guards.kinds import MISSING
from ...trace.guards.snapshot import is_same
from ...trace.heap.lifting import slots_at, value_at
from ...util.cached import drop_oldest
from ...util.defects import ignore_expected
from ...util.errors import UnstageableError
from ...util.exclusion import missed

OTHER = object()
MOST = 1000                                                   # locations that are known of one function
PATIENCE = 6                                                  # programs in a row that have failed their own guards


class ChangingState:
    """The changes that a function is known to make.

    known     key of a location -> it, and what stood there when a program was traced; MISSING: it was an input; OTHER:
              it was not, and another value was found there
    written   keys of those that the function itself gives new values
    writes    whether it changes something outside
    is_read_unseen  whether changes were found in objects that are guarded as a whole: the next trace is observed, which
              tells whether code that fad does not see reads them at all
    fixed     keys of locations that cannot be inputs
    spent     kind of arguments -> how many programs in a row have failed their own guards
    locks     id -> a lock that it takes: this thread has it before inputs stand where other threads look
    """

    def __init__(self) -> None:
        self.known: dict[tuple, tuple] = {}
        self.fixed: set[tuple] = set()
        self.written: set[tuple] = set()
        self.writes = False
        self.is_read_unseen = False
        self.spent: dict[Any, int] = {}
        self.locks: dict[int, Any] = {}

    def notices(self, stale: Sequence) -> bool:
        """Whether all changes outside since these programs were made may be inputs of the next one. They are noted."""
        guards = [program.traced.sources.guards for program in stale]
        self.is_read_unseen = self.is_read_unseen or any(map(is_read_unseen, guards))
        found = list(map(changes_since, guards))
        places = [place for changes in found for place, _ in changes or ()]
        are_inputs = {key for key, (_, before) in self.known.items() if before is MISSING}
        self.known.update({at.key: (at, OTHER) for at in places if at.key not in are_inputs})
        return bool(found) and found[-1] is not None and self.fixed.isdisjoint(at.key for at, _ in found[-1])

    def traced(self, trace: Callable) -> Any:
        """trace(locations): the program for which these are inputs. They are those that change, as far as can be."""
        tried, changed = self._changed(), []
        program = None
        while tried and program is None:
            try:
                program, changed = trace(tried), tried
            except Exception as error:                        # structure depends on it, or code that fad does not see
                ignore_expected(error, "what a function changes is no input of its program")
                if missed():                                  # it will be, once this thread has the lock
                    raise
                # earlier inputs may be inputs again; new integers go first, since they may decide the structure
                new = [x for x in tried if self.known.get(x.key, (x, OTHER))[1] is not MISSING] or tried
                failed = {x.key for x in new if isinstance(value_at(x), int)} or {x.key for x in new}
                self.fixed |= failed
                tried = [x for x in tried if x.key not in failed]
        if program is None:
            program = trace([])
        self.known.update({x.key: (x, MISSING) for x in changed})
        self._learn(program.traced.stores, {x.key for x in changed})
        return program

    def _changed(self) -> list:
        found = [location for location, before in self.known.values() if not is_same(value_at(location), before)]
        within = [place for at in found if at.key in self.written for place in slots_at(at)]
        return [at for at in {at.key: at for at in [*found, *within]}.values() if at.key not in self.fixed]

    def _learn(self, stores: tuple, inputs: set) -> None:
        self.writes = self.writes or bool(stores)
        for at in locations_of(stores):
            self.written.add(at.key)
            self.known[at.key] = at, MISSING if at.key in inputs else value_at(at)
        self.fixed.difference_update(drop_oldest(self.known, MOST))

    def settle(self, kind: tuple, program: Any) -> None:
        """A program was traced for arguments of this kind, and has run once."""
        self.spent[kind] = 0 if program.is_current() else self.spent.get(kind, 0) + 1

    def refuse(self, kind: tuple, program: Any) -> None:
        """An error if programs for this kind of arguments fail their own guards again and again, and the tape does what
        they do."""
        if self.spent.get(kind, 0) >= PATIENCE and any(map(_is_computed, program.traced.stores)):
            program.undo()
            raise UnstageableError("what the function leaves outside itself changes its program at each call",
                                   why="the structure of the program depends on it (keys, the elements of a list that "
                                       "grows)", do="keep it in numbers and arrays, or return it")


def _leaves_of(x: object) -> list:
    return [y for leaf in x.leaves for y in _leaves_of(leaf)] if isinstance(x, Tree) else [x]


def _is_computed(store: "Store | Append | Refill") -> bool:
    """Whether what is stored, or added to a list, is computed by the program."""
    stored = store.values if isinstance(store, Refill) else (store.value,)
    values = [leaf for x in stored for leaf in _leaves_of(x)]
    return any(isinstance(x, (Output, Maybe, Kept)) for x in values)
