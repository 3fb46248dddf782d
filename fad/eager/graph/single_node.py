"""One step of the graph in place of the several that a function is written in, whatever the number of its results.

The steps stay, hidden behind the one that users, hooks and the engine meet: what comes to it goes through all of them.
"""
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...util.array import AnyArray
from ..tensors import errors
from ..tensors.state import now
from ..tensors.tensor import Tensor, alias, stored
from .node import LAST, Node
from .op_node import tied
from .record import edge, note_place, numbers
from .saved import Meta, SavedTensor
from .saved_names import LASTING, SHOWN
from .views import apart


class Together(Node):
    """The result of hidden steps, as one step.

    roots   for each result the hidden step that made it and which of that step's results it is; None where no gradient
    goes hidden  the hidden steps, in the order in which gradients go through them; None once what they saved is
    forgotten
    """

    __slots__ = ("outputs", "roots", "hidden")
    # whether steps of a recorded backward pass, or of tangents, lead to the hidden ones
    exposed = False

    def pull(self, g: object) -> tuple:
        return self._through(g, "pull")

    def pull_graph(self, g: object) -> tuple:
        self.exposed = True
        return tied(self, self._through(g, "pull_graph"))

    def _through(self, g: object, way: str) -> tuple:
        hidden = self.hidden
        if hidden is None:
            raise RuntimeError(errors.SECOND_TIME)
        self.check_held()
        come: dict = {}
        for root, one in zip(self.roots, (g,) if self.outputs == 1 else g or ()):
            if root is not None:
                _add(come, root, one)
        for node in hidden:
            gs = [come.pop((node, k), None) for k in range(node.outputs)]
            if any(one is not None for one in gs):
                for place, one in zip(_edges(node), getattr(node, way)(gs[0] if node.outputs == 1 else gs)):
                    _add(come, place, one)
        return tuple([come.pop(place, None) for place in _edges(self)])

    def release(self) -> None:
        if self.label in LASTING:
            return
        super().release()
        hidden = self.hidden
        if self.exposed or hidden is None:       # the hidden steps are forgotten one by one, as the pass comes to them
            self.hidden = None
        else:
            for node in hidden:
                node.release()
            if self.label in SHOWN:
                self.hidden = None


def _edges(node: Node) -> Iterable:
    """The places that a node's gradients go to."""
    return zip(node.next, node.nrs or (0,) * len(node.next))


def _add(come: dict, place: tuple, g: "AnyArray | None") -> None:
    if g is not None and place[0] is not None:
        have = come.get(place)
        come[place] = g if have is None else have + g


def _between(roots: Sequence, edges: Sequence) -> list:
    """The steps between results and arguments, latest first."""
    known = set(edges)
    found, waiting = [], [root[0] for root in roots if root is not None]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in known:
            if node.seq >= LAST:
                raise RuntimeError(f"a tensor that requires grad (of shape {list(node.variable._a.shape)}) is given "
                                   "where a number, or a tensor without a gradient, is expected")
            known.add(node)
            found.append(node)
            waiting += node.next
    return sorted(found, key=lambda node: -node.seq)


def together(ys: tuple, label: str, args: Sequence, saved: "dict | None" = None, **note: object) -> tuple:
    """ys, tensors computed from args (and from no other tensors with a history), as results of one step of this name.

    args   the step's arguments in the order of its edges; None for one that was left out
    saved  names of the tensors among arguments and results that it shows as saved; note: what else it shows
    """
    roots = [(y._fn, y._nr) if isinstance(y, Tensor) and y._fn is not None else None for y in ys]
    if not any(roots):
        return ys
    edges = tuple([edge(a) if isinstance(a, Tensor) else None for a in args])
    if any(root is not None and root[0] in edges for root in roots):           # an argument was handed on as it is
        return ys
    hidden = _between(roots, edges)
    if (len(hidden) == sum(root is not None for root in roots) == 1 and hidden[0].next == edges
            and hidden[0].outputs == 1):
        node = hidden[0]
    else:
        node = Together(edges, numbers(args, edges))
        node.outputs, node.roots, node.hidden = len(ys), roots, hidden
        if now().dual_level >= 0:
            node.exposed = True
        for inner in hidden:  # what it showed is shown no more, and may change
            if inner.held is not None:
                inner.held = None
        node.shown = {k: Meta(y._a.shape, y._a.dtype) for k, y in enumerate(ys) if roots[k] is not None}
        for k, y in enumerate(ys):
            if roots[k] is not None:
                y._fn, y._nr = node, k
                if y._view is not None and not any(isinstance(a, Tensor) and np.may_share_memory(stored(a), stored(y))
                                                   for a in args):
                    y._view = None                                           # what it views is hidden
        _seen(node)
    node.label = label
    shown = SHOWN.get(label)
    # of some the sizes are shown, and no more
    held = {name: _held(t, ys, node) if shown is None or name in shown else Meta(t._a.shape, t._a.dtype)
            for name, t in (saved or {}).items() if isinstance(t, Tensor)}
    if held:
        node.held = held
    if note:
        node.note = note
    return ys


def _held(t: Tensor, ys: tuple, node: Node) -> SavedTensor:
    """A tensor that a node saves; of its own results there is no way back to the node but a weak one."""
    hooks = now().pack_hooks[-1] if now().pack_hooks else None
    for k, y in enumerate(ys):
        if y is t and t._fn is not None:
            return SavedTensor(alias(t), node, k, hooks=hooks)
    return SavedTensor(t, hooks=hooks)


def _seen(node: Node) -> None:
    if now().anomaly:
        note_place(node)
    if now().profiler is not None:
        now().profiler.made(node)


def step(label: "str | Callable", edges: str, saves: str = "", shows: str = "", copies: str = "") -> Callable:
    """Decorator: what a function computes is one step of the graph.

    label  what its nodes are called, or label(arguments) -> that
    edges  the arguments that they have edges to (all tensors of one that is a tuple; numbers have none)
    saves  the tensors that they show as saved, by argument: "self", "input=x" for x shown as `input`, "result"; shows:
    what else they show
    copies the arguments that PyTorch does not save, and that the rules here read: they get copies, so that users may
    change these tensors

    >>> import fad
    >>> fad.dist(fad.ones(2, requires_grad=True), fad.zeros(2)).grad_fn.next_functions
    ((<AccumulateGrad object at 0x...>, 0), (None, 0))
    """
    def decorate(f: Callable) -> Callable:
        names, into, kept, told = _ArgumentNames(f), edges.split(), _names(saves), _names(shows)
        copied = [(name, names.names.index(name)) for name in copies.split()]

        @functools.wraps(f)
        def call(*args: object, **kwargs: object) -> Any:
            y = f(*args, **kwargs) if not copied else _on_copies(f, copied, args, kwargs)
            ys = y if isinstance(y, tuple) else (y,)
            apart_from = [t for a in (*args, *kwargs.values()) for t in (a if isinstance(a, (tuple, list)) else (a,))]
            for one in ys:
                apart(one, apart_from)
            if any(isinstance(one, Tensor) and one._fn is not None for one in ys):
                given = {**names.of(args, kwargs), "result": ys[0], "indices": ys[-1]}
                ends = [t for name in into
                        for t in (given[name] if isinstance(given[name], (tuple, list)) else (given[name],))
                        if not isinstance(t, (int, float, complex))]
                together(ys, label if isinstance(label, str) else label(given), ends,
                         {n: given[k] for n, k in kept.items()}, **{n: given[k] for n, k in told.items()})
            return y
        return call
    return decorate


def _on_copies(f: Callable, copied: list, args: tuple, kwargs: dict) -> Any:
    """f of copies of these arguments (name, place), where they are tensors with a history."""
    given, named = list(args), dict(kwargs)
    for name, place in copied:
        held: Any = named if name in named else given if place < len(given) else None
        key = name if held is named else place
        if held is not None:
            held[key] = own_copy(held[key])
    return f(*given, **named)


def own_copy(x: object) -> Any:
    """A copy of a tensor with a history, for a rule to read what users may change; anything else as it is."""
    recorded = isinstance(x, Tensor) and now().grad and edge(x) is not None
    return x.clone() if recorded else x


class _ArgumentNames:
    """The names of a function's arguments."""

    def __init__(self, f: Callable):
        known = inspect.signature(f).parameters.values()
        self.defaults = {p.name: p.default for p in known if p.default is not p.empty}
        self.names = [p.name for p in known]
        self.rest = next((k for k, p in enumerate(known) if p.kind is p.VAR_POSITIONAL), len(self.names))

    def of(self, args: tuple, kwargs: dict) -> dict:
        """The arguments of a call by their names."""
        given = {**self.defaults, **dict(zip(self.names, args)), **kwargs}
        if self.rest < len(self.names):
            given[self.names[self.rest]] = args[self.rest:]
        return given


def _names(words: str) -> dict:
    """The shown name -> its argument."""
    return {word.partition("=")[0]: word.rpartition("=")[2] for word in words.split()}
