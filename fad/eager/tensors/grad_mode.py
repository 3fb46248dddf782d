"""Grad modes, as context managers and decorators; settings that are in force at once, till a with statement ends."""
import functools
import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import coroutine
from typing import Any

from ...ir import stack
from ...util.errors import UnsupportedFunctionError
from .errors import refuse_if
from .state import change, now
from .tensor import Tensor


class ModeSetting:
    """A setting of this context: in force when made; as a context manager, until the block ends."""

    attribute = ""

    def __init__(self, mode: bool):
        self.before = getattr(now(), self.attribute)
        change(**{self.attribute: bool(mode)})

    def __enter__(self) -> None:
        """It is in force already."""

    def __exit__(self, *exc: object) -> None:
        change(**{self.attribute: self.before})


class _force_original_view_tracking(ModeSetting):
    """Whether a view whose base was changed gets nodes called as the views taken, and not AsStridedBackward0."""

    attribute = "view_replay"


def is_view_replay_enabled() -> bool:
    """Whether _force_original_view_tracking is on."""
    return now().view_replay


class _unsafe_preserve_version_counter:
    """Within, changes in place of these tensors are not counted: backward does not notice them, and may be wrong."""

    def __init__(self, tensors: "Tensor | Sequence"):
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
        self.versions = [t._vc[0] for t in self.tensors]

    def __enter__(self) -> None:
        """The versions are known already."""

    def __exit__(self, *exc: object) -> None:
        for t, version in zip(self.tensors, self.versions):
            t._vc[0] = version


def refuse_traced(mode: str) -> None:
    """Refuse a mode that records nothing where a function is traced (its derivative would go through all the same), or
    where forward mode, which goes on in such a mode, is done by way of the graph."""
    if stack.builders():
        raise UnsupportedFunctionError(f"{mode} in a traced function is not supported",
                                       why="it says what is recorded of tensors, and a program is differentiated whole",
                                       do="keep values off the derivative's path with fad.stop_gradient")
    refuse_if(now().pulling_twice, f"{mode} within one jvp within another is not supported: the inner one goes through "
              "the graph. Keep values off the derivative's path with detach()", NotImplementedError)


def is_grad_enabled() -> bool:
    """Return whether operations are recorded in this thread or asyncio task.

    Returns
    -------
    bool
        True, unless a mode such as `no_grad` holds.

    Examples
    --------
    >>> import fad
    >>> fad.is_grad_enabled()
    True
    """
    return now().grad


def is_inference_mode_enabled() -> bool:
    """Return whether this thread or asyncio task is in inference mode.

    Returns
    -------
    bool
        True inside of `inference_mode`.

    Examples
    --------
    >>> import fad
    >>> fad.is_inference_mode_enabled()
    False
    """
    return now().inference


class GradMode:
    """A mode that a with statement or a decorator puts in force: what `flags` says; one that records nothing has a
    name, by which it is refused in a traced function."""

    flags: dict
    refused_as = ""

    def __enter__(self) -> None:
        if self.refused_as:
            refuse_traced(self.refused_as)
        self.before.append({name: getattr(now(), name) for name in self.flags})
        change(**self.flags)

    def __exit__(self, *exc: object) -> None:
        change(**self.before.pop())

    def __call__(self, function: Callable) -> Callable:
        """function, with the mode in force while it runs (of a generator or coroutine: while its own code runs)."""
        if inspect.isclass(function):
            warnings.warn("Decorating classes is deprecated and will be disabled in future versions. You should only "
                          "decorate functions or methods. To preserve the current behavior of class decoration, you "
                          "can directly decorate the `__init__` method and nothing else.", FutureWarning, stacklevel=2)
            made = function
            return self(lambda *args, **kwargs: made(*args, **kwargs))
        if inspect.isgeneratorfunction(function):
            return self._generator(function)
        if inspect.iscoroutinefunction(function):
            return self._coroutine(function)

        @functools.wraps(function)
        def decorated(*args: object, **kwargs: object) -> Any:
            with self.clone():
                return function(*args, **kwargs)
        return decorated

    def _generator(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def decorated(*args: object, **kwargs: object) -> Any:
            return (yield from self._stepped(function(*args, **kwargs)))
        return decorated

    def _coroutine(self, function: Callable) -> Callable:
        @functools.wraps(function)
        async def decorated(*args: object, **kwargs: object) -> Any:
            return await coroutine(self._stepped)(function(*args, **kwargs))
        return decorated

    def _stepped(self, steps: object) -> Iterator:
        """A generator or a coroutine whose steps run in the mode."""
        try:
            with self.clone():
                request = steps.send(None)
            while True:
                try:
                    answer = yield request
                except GeneratorExit:
                    with self.clone():
                        steps.close()
                    raise
                except BaseException as error:
                    with self.clone():
                        request = steps.throw(error)
                else:
                    with self.clone():
                        request = steps.send(answer)
        except StopIteration as end:
            return end.value

    def clone(self) -> "GradMode":
        return type(self)()


class _Switch(GradMode):
    """A mode that turns recording on or off."""

    def __init__(self) -> None:
        self.before: list = []
    __init__.__qualname__ = "__init__"

    def __new__(cls, function: object = None) -> Any:
        return cls()(function) if callable(function) else object.__new__(cls)        # @no_grad without brackets


class no_grad(_Switch):
    """Do not record operations on tensors, in a block or in a function.

    Parameters
    ----------
    function : callable, optional
        A function to decorate. Without it, the result is a context manager.

    Examples
    --------
    >>> import fad
    >>> x = fad.tensor([1.0], requires_grad=True)
    >>> with fad.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    flags, refused_as = {"grad": False}, "fad.no_grad"


class enable_grad(_Switch):
    """Record operations on tensors, even inside of `no_grad`.

    Parameters
    ----------
    function : callable, optional
        A function to decorate. Without it, the result is a context manager.

    Examples
    --------
    >>> import fad
    >>> x = fad.tensor([1.0], requires_grad=True)
    >>> with fad.no_grad(), fad.enable_grad():
    ...     (x * 2).requires_grad
    True
    """

    flags = {"grad": True}


class set_grad_enabled(GradMode):
    """Turn recording on or off, at once or for a block.

    Parameters
    ----------
    mode : bool
        Whether operations are recorded.

    Examples
    --------
    >>> import fad
    >>> with fad.set_grad_enabled(False):
    ...     fad.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool):
        refuse_if(not isinstance(mode, bool), "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                  f"{type(mode).__name__}", TypeError)
        self.before, self.mode = now().grad, mode
        _switch(mode)

    def __call__(self, function: Callable) -> Callable:
        change(grad=self.before)
        return super().__call__(function)

    def clone(self) -> GradMode:
        return (enable_grad if self.mode else no_grad)()

    def __enter__(self) -> None:
        _switch(self.mode)

    def __exit__(self, *exc: object) -> None:
        change(grad=self.before)

    def __repr__(self) -> str:
        return f"set_grad_enabled(mode={self.mode})"


def _switch(mode: bool) -> None:
    if not mode:
        refuse_traced("fad.set_grad_enabled(False)")
    change(grad=mode)


class inference_mode(GradMode):
    """Do not record operations, and make tensors that can never be part of a graph.

    The tensors track neither versions nor views, which saves a little time over `no_grad`.

    Parameters
    ----------
    mode : bool or callable, optional
        Whether the mode holds, or a function to decorate.

    Examples
    --------
    >>> import fad
    >>> with fad.inference_mode():
    ...     fad.ones(2).is_inference()
    True
    """

    def __new__(cls, mode: bool = True) -> Any:
        return cls()(mode) if callable(mode) else object.__new__(cls)

    def __init__(self, mode: bool = True):
        self.mode = mode
        self.before: list = []
        self.flags = {"grad": not mode, "inference": mode, "forward_grad": not mode}
        self.refused_as = "fad.inference_mode" if mode else ""

    def clone(self) -> "inference_mode":
        return type(self)(self.mode)


def note_creation(t: Tensor) -> Tensor:
    """A tensor just made: in inference mode it becomes an inference tensor."""
    if now().inference:
        t.extra.inference = True
    return t


class set_multithreading_enabled(ModeSetting):
    """Say whether backward may use threads (here it uses none): at once, or as a context manager for a while."""

    attribute = "multithreading"


def is_multithreading_enabled() -> bool:
    """The last setting of set_multithreading_enabled in this context."""
    return now().multithreading
