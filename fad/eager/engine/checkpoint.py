"""Checkpoints of tensors: what a function's nodes save is not kept but computed again when backward asks for it.

Within the call every tensor saved for backward becomes a Holder, which holds nothing. When a holder is unpacked the
function runs again, on its arguments, and what it saves then, in the same order, is what the holders stand for. The
run may stop as soon as the last of them is there.
"""
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any
from weakref import WeakKeyDictionary

from ..graph.inplace import requires_grad
from ..graph.saved import saved_tensors_hooks
from ..tensors.errors import refuse_if
from ..tensors.generators import default_generator
from ..tensors.state import change, changed, now, state
from ..tensors.tensor import Tensor, alias, is_floating
from .function import Function
from .grad_api import backward as run_backward

_TIP = ("\nTip: To see a more detailed error message, either pass `debug=True` to checkpoint(...) or wrap the code "
        "block with `with set_checkpoint_debug_enabled(True):`")
_DEBUG = ("An error happened while unpacking tensors; what was saved is listed below. You are seeing this error "
          "because you passed `debug=True` to "
          "checkpoint().\n\nSaved in the original forward:\n{0}\n\nSaved when it was computed again:\n{1}\n\n")
_MORE = ("checkpoint: trying to save more tensors during recomputation than during the original forward pass.")
_NUMBER = ("checkpoint: A different number of tensors was saved during the original forward and recomputation.\nNumber "
           "of tensors saved during forward: {0}\nNumber of tensors saved during recomputation: {1}.")
_META = ("checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
         "pass.\n{0}.")
_OVERLAP = ("Performing two backward calls that overlap (i.e. require the same saved activation in order to compute "
            "gradients) is not supported while under the same GraphExecGroup context.")
_ONCE = ("torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you are "
         "calling ctx.saved_tensors in backward, make sure to do so only once.")
_NO_INPUTS = ("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
              "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
              ".backward() without passing the `inputs` argument.")


class CheckpointError(RuntimeError):
    """A function did not save the same tensors when it was computed again."""


class _Stop(Exception):
    """All that was asked for has been computed again."""


class _Holder:
    """Stands for a saved tensor."""


class _Pass:
    """Stands for a backward pass where there is none: someone reads a saved tensor."""


class GraphExecGroup:
    """Within, several backward passes compute a function again once only; no two need the same saved tensor."""

    def __enter__(self) -> "GraphExecGroup":
        refuse_if(now().group is not None, "GraphExecGroup contexts cannot be nested")
        change(group=self)
        return self

    def __exit__(self, *exc: object) -> None:
        change(group=None)


class _Frame:
    """One checkpointed call.

    again     the function, to be run on the arguments once more
    holders   weak references to what its nodes hold, in the order in which they saved; metas: shapes and dtypes of
    what they saved found     pass -> holder -> the tensor computed again; passes of which everything was computed are
    keys
    """

    def __init__(self, again: Callable, early_stop: bool, check: bool, debug: bool):
        self.again, self.early_stop, self.check, self.debug = again, early_stop, check, debug
        self.holders: list = []
        self.metas: list = []
        self.found: WeakKeyDictionary = WeakKeyDictionary()
        self.finished = self.overrun = False
        self.arguments: Any = None

    def hooks(self) -> saved_tensors_hooks:
        """In force while the function runs for the first time."""
        return saved_tensors_hooks(self.pack, self.unpack)

    def pack(self, t: Tensor) -> _Holder:
        holder = _Holder()
        self.holders.append(weakref.ref(holder))
        self.metas.append(_meta(t))
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        key = now().group or state.run or _Pass()
        found = self.found.get(key)
        if found is not None and holder not in found:
            raise CheckpointError(_ONCE if now().group is None else _OVERLAP)
        if found is None:
            found = self.found[key] = WeakKeyDictionary()
            self.compute(found)
        return found.pop(holder)

    def compute(self, found: WeakKeyDictionary) -> None:
        """Run the function again and note what it saves."""
        metas: list = []

        def pack(t: Tensor) -> Tensor:
            k = len(metas)
            metas.append(_meta(t))
            kept = alias(t) if requires_grad(t) else t
            if k >= len(self.holders):
                if self.early_stop or self.finished:
                    raise CheckpointError(self.told(_MORE, metas))
                self.overrun = True  # the first run is still going on: it read what it saved
                return kept
            holder = self.holders[k]()
            if holder is not None:
                found[holder] = kept
            if self.early_stop and k + 1 == len(self.holders):
                raise _Stop
            return kept
        node = self.arguments.grad_fn
        try:
            with saved_tensors_hooks(pack, lambda t: t), changed(grad=True):
                self.again(*node.restored(node.saved_tensors))
        except _Stop:
            pass
        if not self.overrun:
            self.compare(metas)

    def compare(self, metas: list) -> None:
        """Raise unless the same was saved as the first time."""
        if len(metas) != len(self.metas):
            raise CheckpointError(self.told(_NUMBER.format(len(self.metas), len(metas)), metas))
        other = [f"tensor at position {k}:\nsaved metadata: {a}\nrecomputed metadata: {b}"
                 for k, (a, b) in enumerate(zip(self.metas, metas)) if a != b]
        if other and self.check:
            raise CheckpointError(self.told(_META.format("\n".join(other)), metas))

    def told(self, message: str, metas: list) -> str:
        if not self.debug:
            return message + _TIP
        return _DEBUG.format(*["\n".join(map(str, given)) for given in (self.metas, metas)]) + message


def _meta(t: Tensor) -> dict:
    return {"shape": tuple(t._a.shape), "dtype": str(t._a.dtype), "device": "cpu"}


def _save_arguments(ctx: object, args: tuple) -> None:
    """Save the tensors among the arguments for backward; ctx.restored puts what they became back in their places."""
    places = [k for k, a in enumerate(args) if isinstance(a, Tensor)]
    others = [None if isinstance(a, Tensor) else a for a in args]
    ctx.save_for_backward(*[args[k] for k in places])

    def restored(tensors: Iterable) -> list:
        given = list(others)
        for k, t in zip(places, tensors):
            given[k] = t
        return given
    ctx.restored = restored


class _Arguments(Function):
    """Saves the arguments of a checkpointed call as any node saves: an outer checkpoint computes them again."""

    @staticmethod
    def forward(ctx: object, anchor: Tensor, *args: object) -> Tensor:
        _save_arguments(ctx, args)
        return anchor.clone()

    @staticmethod
    def backward(ctx: object, *grads: object) -> Any:
        raise AssertionError("the arguments of a checkpoint are never differentiated through here")


def _with_random(function: Callable, preserve: bool) -> Callable:
    """function, drawing the random numbers that it would draw now."""
    before = default_generator.get_state() if preserve else None

    def again(*args: object, **kwargs: object) -> Any:
        now = default_generator.get_state()
        try:
            if before is not None:
                default_generator.set_state(before)
            return function(*args, **kwargs)
        finally:
            if before is not None:
                default_generator.set_state(now)
    return again


def noop_context_fn() -> tuple:
    """Two contexts, one for each run, that do nothing."""
    return nullcontext(), nullcontext()


def checkpoint(function: Callable, *args: object, use_reentrant: "bool | None" = None,
               context_fn: Callable = noop_context_fn, determinism_check: str = "default", debug: bool = False,
               early_stop: bool = True, preserve_rng_state: bool = True, **kwargs: object) -> Any:
    """function(*args, **kwargs), whose intermediate values are computed again in backward instead of being kept.

    use_reentrant=True runs a backward pass within the backward pass instead of hooks, and works for backward() without
    `inputs` alone.

    >>> import fad
    >>> x = fad.tensor([1.0, 2.0], requires_grad=True)
    >>> checkpoint(lambda x: (x * x).exp(), x, use_reentrant=False).sum().backward()
    >>> bool(fad.allclose(x.grad, 2 * x * (x * x).exp()))
    True
    """
    if use_reentrant is None:
        warnings.warn("checkpoint: the use_reentrant parameter should be passed explicitly; use_reentrant=False is "
                      "recommended.", UserWarning, stacklevel=2)
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of 'default' and 'none', got {determinism_check}")
    first, second = context_fn()
    with first:
        if not now().grad:
            return function(*args, **kwargs)
        stored = _with_random(function, preserve_rng_state)

        def again(given: dict, *xs: object) -> Any:
            with second:
                return stored(*xs, **given)
        stop = early_stop if now().early_stop is None else now().early_stop
        frame = _Frame(again, stop, determinism_check == "default",
                       debug if now().checkpoint_debug is None else now().checkpoint_debug)
        anchor = Tensor(())
        anchor._rg = True
        with changed(dual_level=-1):                                           # tangents are the function's own matter
            frame.arguments = _Arguments.apply(anchor, kwargs, *args)
        with frame.hooks():
            result = function(*args, **kwargs)
        frame.finished = True
        return result


class CheckpointFunction(Function):
    """A checkpoint that runs the function again, and a backward pass through it, within the backward pass."""

    @staticmethod
    def forward(ctx: object, function: Callable, preserve: bool, *args: object) -> Any:
        if not any(requires_grad(a) for a in args):
            warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning,
                          stacklevel=4)
        ctx.again = _with_random(function, preserve)
        _save_arguments(ctx, args)
        return function(*args)

    @staticmethod
    def backward(ctx: object, *grads: object) -> tuple:
        if state.run is None or state.run.wanted is not None:
            raise RuntimeError(_NO_INPUTS)
        leaves = [alias(t) for t in ctx.saved_tensors]
        for leaf, t in zip(leaves, ctx.saved_tensors):
            leaf._rg = requires_grad(t) and is_floating(t._a.dtype)
        args = ctx.restored(leaves)
        with changed(grad=True):
            results = ctx.again(*args)
        pairs = [(y, g) for y, g in zip(results if isinstance(results, (tuple, list)) else (results,), grads)
                 if requires_grad(y)]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        run_backward([y for y, _ in pairs], [g for _, g in pairs])
        return (None, None, *[a._g if isinstance(a, Tensor) else None for a in args])


def checkpoint_sequential(functions: object, segments: int, input: object, use_reentrant: "bool | None" = None,
                          **kwargs: object) -> Any:
    """A chain of functions (or a Sequential) in this many checkpointed segments; the last is not checkpointed."""
    steps: Sequence = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def chain(part: Sequence) -> Callable:
        def run(x: object) -> Any:
            for step in part:
                x = step(x)
            return x
        return run
    size = len(steps) // segments
    for k in range(segments - 1):
        input = checkpoint(chain(steps[k * size:(k + 1) * size]), input, use_reentrant=use_reentrant, **kwargs)
    return chain(steps[(segments - 1) * size:])(input)


def set_checkpoint_early_stop(enable: bool) -> changed:
    """Within, checkpoints stop computing again as soon as they may (or do not), whatever they were told."""
    return changed(early_stop=enable)


def set_checkpoint_debug_enabled(enabled: "bool | None") -> changed:
    """Within, errors of checkpoints list what was saved (or do not), whatever the checkpoints were told."""
    return changed(checkpoint_debug=enabled)
