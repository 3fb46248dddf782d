"""The node of a Function's call, which is the ctx of its forward and backward too."""
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import errors
from .accumulate import AccumulateGrad
from .node import Node
from .saved import Meta, SavedTensor
from .state import now
from .tensor import Tensor, alias, wrap


class FunctionCtx:
    """The part that forward and backward share."""

    def save_for_backward(self, *tensors: object) -> None:
        """Keep tensors for backward, where they are ctx.saved_tensors; to be called once, in forward."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: object) -> None:
        """Keep tensors for jvp."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: object) -> None:
        """Say which inputs forward changed in place; it must return them."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: object) -> None:
        """Say which outputs have no derivative."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or None for outputs that have no gradient."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: object) -> None:
        """Deprecated: nothing needs to be said."""


class FunctionNode(Node, FunctionCtx):
    """The step of a Function's call; it is the ctx of forward and backward too."""

    materialize_grads = True
    _materialize_non_diff_grads = True  # whether outputs marked as having no derivative get zeros too
    needs_input_grad: tuple = ()
    to_save: "tuple | None" = None
    saved_for_forward: "tuple | None" = None
    dirty_tensors: tuple = ()
    non_differentiable: tuple = ()
    function: Any = None                                    # the Function; each has a class of nodes of its own
    saved: Any = None
    freed = False
    pushing = False                                         # whether jvp is running
    read = False  # whether saved_tensors was read, where that may be done once
    _is_pure_view = False
    outputs = 1

    def __init__(self) -> None:
        super().__init__(())

    @property
    def saved_tensors(self) -> tuple:
        """The tensors given to save_for_backward, checked to be unchanged."""
        if self.pushing:
            return tuple(self.saved_for_forward or ())
        if self.freed:
            raise RuntimeError(errors.SECOND_TIME)
        if self.saved is None:
            return tuple(self.to_save or self.saved_for_forward or ())
        if getattr(self.function, "clear_saved_tensors_on_access", False):
            return self._read_once()
        return tuple([s.unpack() for s in self.saved])

    def _read_once(self) -> tuple:
        """The saved tensors, given away."""
        if self.read:
            raise RuntimeError("saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set "
                               "on the autograd.Function. Either "
                               "access saved_tensors only once, or set clear_saved_tensors_on_access=False.")
        self.read = True
        tensors = tuple([s.unpack() for s in self.saved])
        for s in self.saved:
            s.release()
        return tensors

    @property
    def saved_variables(self) -> tuple:
        """Deprecated: saved_tensors."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple:
        if self.freed:
            raise RuntimeError(errors.SECOND_TIME)
        return tuple(self.saved or ())

    # -- after forward -------------------------------------------------------------------------------------------------

    def keep(self, results: dict) -> None:
        """Take the tensors to be saved: results (by identity) as such, so that no cycle arises."""
        for k, t in enumerate(self.to_save or ()):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {k} is of type "
                                f"{type(t).__name__}")
        hooks = now().pack_hooks[-1] if now().pack_hooks else None
        # first: a pack hook may raise, and a result must not stay here then
        given, self.to_save = self.to_save or (), None
        self.saved = tuple([SavedTensor(None) if t is None else self._kept(t, results, hooks) for t in given])

    def _kept(self, t: Tensor, results: dict, hooks: object) -> SavedTensor:
        if t._x is not None and t._x.inference and not now().inference:
            raise RuntimeError(errors.INFERENCE_SAVED)
        nr = results.get(id(t))
        if nr is None or t._fn is None:
            return SavedTensor(t, hooks=hooks)
        stored = alias(t)
        stored._rg = True
        # a view that was changed in place has a node of its own
        saved = SavedTensor(stored, t._fn, t._nr, version=t._vc[0])
        if hooks is not None:
            saved.pack(hooks)
        return saved

    def release(self) -> None:
        if self.saved:
            for s in self.saved:
                s.release()
            self.freed = True

    # -- backward ------------------------------------------------------------------------------------------------------

    def pull(self, g: object) -> tuple:
        gs = [None if one is None else one if isinstance(one, Tensor) else wrap(np.asarray(one))
              for one in ([g] if self.outputs == 1 else g or [None] * self.outputs)]
        answers = self._backward(gs)
        # others may hold it: as a view no leaf keeps it for its .grad
        return tuple([None if a is None else a._a.view() for a in answers])

    def pull_graph(self, g: object) -> tuple:
        return self._backward([g] if self.outputs == 1 else list(g or [None] * self.outputs))

    def _backward(self, gs: Sequence) -> tuple:
        if self.materialize_grads:
            gs = [wrap(np.zeros(meta.shape, meta.dtype)) if one is None and meta is not None else one
                  for one, meta in zip(gs, self.output_metas)]
        function = self.function
        reverse, named_vjp = function.defines("backward"), function.defines("vjp")
        if reverse and named_vjp:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                               "should only implement one of them.")
        answer = (function.vjp if named_vjp else function.backward)(self, *gs)
        return self._fitting(answer if isinstance(answer, tuple) else (answer,))

    def _fitting(self, answer: tuple) -> tuple:
        """The results of backward, checked and in the inputs' shapes, for the inputs that are tensors."""
        count = len(self.is_tensor)
        if len(answer) > count and all(a is None for a in answer[count:]):
            answer = answer[:count]
        if len(answer) != count:
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected {count}, "
                               f"got {len(answer)})")
        out = []
        for k, (a, is_tensor) in enumerate(zip(answer, self.is_tensor)):
            if is_tensor:
                out.append(self._fit(k, a, self.metas[k]) if self.needs_input_grad[k] else None)
            elif a is not None:
                raise RuntimeError(f"function {self.name()} returned a gradient different than None at position "
                                   f"{k + 1}, but the corresponding forward input was not a Variable")
        return tuple(out)

    def _fit(self, k: int, a: object, meta: Meta) -> Any:
        if a is None:
            return None
        if not isinstance(a, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(a).__name__})")
        if a._a.shape != meta.shape:
            if not errors.expands(meta.shape, a._a.shape):
                raise RuntimeError(f"Function {self.name()} returned an invalid gradient at index {k} - got "
                                   f"{list(a._a.shape)} but expected shape compatible with {list(meta.shape)}")
            a = a.sum_to_size(meta.shape)                                   # type: ignore[attr-defined]
        if a._a.dtype.kind == "c" and meta.dtype.kind == "f":
            a = a.real                                                      # type: ignore[attr-defined]
        into = self.next[sum(self.is_tensor[:k])]
        wanted = into.dtype if isinstance(into, AccumulateGrad) else meta.dtype
        return a if wanted is None or a._a.dtype == wanted else a.to(wanted)               # type: ignore[attr-defined]
