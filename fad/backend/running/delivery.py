"""Delivery: the stores of a program as a Python function, which is called behind the kernel (see ir/delivery.py).

    def deliver(y, a):
        put0(o0, "calls", int(y[1]))
        o1.append((int(y[1]), float(y[2])))
"""
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.delivery import Append, Argument, Extend, Held, Kept, Known, Location, Maybe, Output, Refill, Store, Tree
from ...util.own import keeps_past_descriptor, own_writer


def delivery(stores: Sequence) -> "Callable | None":
    """The function (outputs, data) -> None that makes the stores; None if there are none."""
    if not stores:
        return None
    w = _DeliveryWriter()
    for store in stores:
        write = w.store if isinstance(store, Store) else w.refill if isinstance(store, Refill) else w.add
        write(store)
    w.lines[1:1] = w.reads
    exec("\n".join(w.lines), w.scope)
    return w.scope["deliver"]


class _DeliveryWriter:
    """Collects the lines, and the names that they use."""

    def __init__(self) -> None:
        self.lines = ["def deliver(y, a):"]
        self.reads: list[str] = []                            # what is read before anything is stored
        self.scope: dict[str, Any] = {"kept": _kept, "refill": _refill}

    def name(self, x: object) -> str:
        name = f"o{len(self.scope)}"
        self.scope[name] = x
        return name

    def add(self, store: "Append | Extend") -> None:
        own, method = deque if isinstance(store.owner, deque) else list, type(store).__name__.lower()
        owner, value = self.name(store.owner), self.value(store.value)
        value = value if method == "append" else f"[x for x, *_ in {value}]"
        is_plain = type(store.owner) is own
        call = f"{owner}.{method}(" if is_plain else f"{self.name(getattr(own, method))}({owner}, "
        self.lines.append(f"    {call}{value})")

    def store(self, store: Store) -> None:
        at, value = store.location, self.value(store.value)
        is_found = type(at.owner) is Location                 # by a weak reference
        owner = self.value(Held(at.owner)) if is_found else self.name(at.owner)
        self.lines.append("    " + self.put(at.held(), owner, value))

    def refill(self, store: Refill) -> None:
        values = "".join(f"{self.value(x)}, " for x in store.values)
        self.lines.append(f"    refill({self.name(store.owner)}, {self.name(store.keys)}, ({values}))")

    def put(self, location: Any, owner: str, value: str) -> str:
        """One store as Python's own classes make it, past the methods that a user's class may have for this."""
        if location.kind == "variable":
            return f"{owner}.cell_contents = {value}"
        if location.kind == "attribute":
            if keeps_past_descriptor(location.owner, location.at):
                return f"{owner}.__dict__[{location.at!r}] = {value}"
            return f"{self.name(own_writer(location.owner).__setattr__)}({owner}, {location.at!r}, {value})"
        at = repr(location.at) if type(location.at) in (int, str) else self.name(location.at)
        if type(location.owner) in (list, dict):
            return f"{owner}[{at}] = {value}"
        own = dict if isinstance(location.owner, dict) else list
        return f"{self.name(own.__setitem__)}({owner}, {at}, {value})"

    def value(self, x: object) -> str:
        """The text of what is stored."""
        if isinstance(x, Output) and x.cls is np.array:       # one array, wherever it is stored
            return self.made_once(f"z{x.place}", f"{self.name(np.array)}(y[{x.place}])")
        if isinstance(x, Output):
            return f"y[{x.place}]" if x.cls is None else f"{self.name(x.cls)}(y[{x.place}])"
        if isinstance(x, Maybe):
            return f"({self.value(x.value)} if y[{x.flag.place}] else None)"
        if isinstance(x, Argument):
            return f"a[{x.place}]"
        if isinstance(x, Kept):
            return f"kept({self.value(x.value)}, {self.value(Held(x.location))})"
        if isinstance(x, Held):
            self.reads.append(f"    h{len(self.reads)} = {self.name(x.location.read)}()")
            return self.reads[-1].split()[0]
        if isinstance(x, Known):
            return self.name(x.value)
        assert isinstance(x, Tree)
        leaves = "".join(f"{self.value(leaf)}, " for leaf in x.leaves)
        is_plain = x.structure.cls is tuple and all(child.cls is None for child in x.structure.children)
        made = f"({leaves})" if is_plain else f"{self.name(x.structure.unflatten)}(({leaves}))"
        return made if x.number is None else self.made_once(f"t{x.number}", made)

    def made_once(self, name: str, text: str) -> str:
        """The name of a thing that is one thing wherever it is stored."""
        if not any(line.startswith(f"    {name} ") for line in self.reads):
            self.reads.append(f"    {name} = {text}")
        return name


def _kept(new: np.ndarray, old: object) -> object:
    """The old array, if the bytes of the two are the same."""
    is_equal = (
        type(old) is np.ndarray and new.dtype == old.dtype and new.shape == old.shape and new.tobytes() == old.tobytes()
    )
    return old if is_equal else new


def _refill(owner: list | deque | dict, keys: tuple, values: tuple) -> None:
    """Give a list, deque or dict other contents, past the methods that a user's class may have for this."""
    if isinstance(owner, list):
        list.__setitem__(owner, slice(None), values)
    elif isinstance(owner, deque):
        deque.clear(owner)
        deque.extend(owner, values)
    else:
        own = OrderedDict if isinstance(owner, OrderedDict) else dict
        own.clear(owner)  # type: ignore[arg-type]
        for key, x in zip(keys, values):
            own.__setitem__(owner, key, x)  # type: ignore[arg-type]
