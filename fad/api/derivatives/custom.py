"""Functions with the user's own derivatives (custom_jvp, custom_vjp), and checkpoint, which trades memory for
computation."""
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...ir import stack
from ...ir.build import current
from ...ir.op import registry
from ...trace.guards.guard import AttributeGuard
from ...trace.outcome.sharing import keep_apart
from ...trace.values.iterate import checkpointed
from ...trace.values.tracer import Tracer
from ...util import tree
from ...util.errors import ArgumentError, SideEffectError
from ...util.interrupts import reraise_interrupt
from ...util.keywords import named_as_here, signature_of
from ..calls.leaves import call_on_tensors, level_of
from ..calls.staged import check_callable
from .custom_rules import CustomCall, JvpRule, Rule, VjpRule


def _in_order(f: Callable, args: tuple, kwargs: dict) -> "tuple[tuple, dict]":
    """Arguments as a rule gets them: by position where possible, in the order of the function's parameters.
    Keyword-only arguments stay keywords."""
    if not kwargs:
        return args, kwargs
    signature = signature_of(f)
    if signature is None:
        return args, kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:                                # arguments that the function itself will refuse
        reraise_interrupt(error)
        return args, kwargs
    bound.apply_defaults()
    places = [name for name, p in bound.signature.parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    last = max((places.index(name) + 1 for name in kwargs if name in places), default=0)
    return bound.args[:max(last, len(args))], {name: x for name, x in bound.kwargs.items() if name in kwargs}


def watch_rules(owner: object, *names: str) -> None:
    """Make the program depend on these attributes, which are rules: it holds until one of them changes."""
    current().trace.sources += [AttributeGuard(owner, name, getattr(owner, name)) for name in names]


class _WithRule:
    """The result of custom_jvp and custom_vjp: the function, with a derivative of the user's."""

    _rules: "tuple[str, ...]" = ()                            # names of the attributes that hold the rule

    def __init__(self, f: Callable, nondiff_argnums: Sequence[int] = ()):
        functools.update_wrapper(self, check_callable(f, type(self).__name__))
        self.f, self.nondiff = f, tuple(nondiff_argnums)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        leaves = tree.flatten((args, kwargs))[0]
        level = level_of(leaves)
        if level == 1:
            return call_on_tensors(self, leaves, args, kwargs)
        if level == 0 or not stack.builders():
            return self.f(*args, **kwargs)
        watch_rules(self, *self._rules)
        call = CustomCall(self.f, *_in_order(self.f, args, kwargs))
        name = getattr(self.f, "__name__", "f")
        ys = registry["custom"].run_regions([call.leaves[k] for k in call.data], (call.run,), rule=self.rule(call),
                                            name=name)
        if call.written:
            raise SideEffectError(f"{name} writes to an argument, and has a rule of its own",
                                  why="the rule does not say what becomes of the argument",
                                  do="return the new contents instead (x = x.copy())")
        call.note_shared([call.leaves[k] for k in call.data], ys)
        return call.result(ys)

    def rule(self, call: CustomCall) -> Rule:
        raise ArgumentError(f"{getattr(self.f, '__name__', 'f')} has no derivative rule yet",
                            do="define it with defjvp or defvjp")

    def __get__(self, instance: object, owner: object = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


class custom_jvp(_WithRule):
    """Give a function a derivative of your own, for both modes.

    Parameters
    ----------
    f : callable
        The function.
    nondiff_argnums : sequence of int, optional
        Positions of arguments without a derivative. The rule gets them first, and they are not among the primals.
        fad raises `NoDerivativeError` where one of them is being differentiated.

    Returns
    -------
    callable
        The function. Its method ``defjvp(rule)`` sets the derivative: ``rule(primals, tangents)`` returns
        ``(value, tangent)``.

    Notes
    -----
    The rule must be linear in the tangents, because reverse mode transposes it. The primals have the order of the
    function's parameters, and include arguments passed by name.

    See Also
    --------
    custom_vjp : Give the reverse rule alone.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> @fad.custom_jvp
    ... def log1pexp(x):
    ...     return np.log(1 + np.exp(x))
    >>> def rule(primals, tangents):
    ...     (x,), (dx,) = primals, tangents
    ...     return log1pexp(x), dx / (1 + np.exp(-x))
    >>> _ = log1pexp.defjvp(rule)
    >>> float(fad.grad(log1pexp)(0.0))
    0.5
    """

    _rules = ("_rule",)
    _rule: "Callable | None" = None

    @named_as_here
    def defjvp(self, rule: Callable) -> Callable:
        """Set the rule; returns it, so that this can be a decorator."""
        self._rule = check_callable(rule, "defjvp")
        return rule

    def rule(self, call: CustomCall) -> Rule:
        return super().rule(call) if self._rule is None else JvpRule(call, self._rule, self.nondiff)


class custom_vjp(_WithRule):
    """Give a function a reverse derivative of your own.

    Parameters
    ----------
    f : callable
        The function.
    nondiff_argnums : sequence of int, optional
        Positions of arguments without a derivative. The backward rule gets them first, and they have no cotangent.
        fad raises `NoDerivativeError` where one of them is being differentiated.

    Returns
    -------
    callable
        The function. Its method ``defvjp(forward, backward)`` sets the derivative. ``forward(*args)`` returns
        ``(value, residuals)``. ``backward(residuals, g)`` returns a tuple with one cotangent for each argument, or
        None for a zero one.

    Raises
    ------
    NoDerivativeError
        If forward mode reaches the function. It is a `TypeError` and a `NotImplementedError`.

    See Also
    --------
    custom_jvp : Give one rule for both modes.

    Examples
    --------
    Clip the cotangent that flows back through a point:

    >>> import numpy as np
    >>> import fad
    >>> @fad.custom_vjp
    ... def clipped(x):
    ...     return x * 1.0
    >>> clipped.defvjp(lambda x: (x * 1.0, None), lambda saved, g: (np.clip(g, -1, 1),))
    >>> float(fad.grad(lambda x: 10 * clipped(x))(2.0))
    1.0
    """

    _rules = ("_pair",)
    _pair: "tuple | None" = None

    @named_as_here
    def defvjp(self, forward: Callable, backward: Callable) -> None:
        """Set the rule."""
        self._pair = check_callable(forward, "defvjp"), check_callable(backward, "defvjp")

    def rule(self, call: CustomCall) -> Rule:
        return super().rule(call) if self._pair is None else VjpRule(call, self._pair[0], self._pair[1], self.nondiff)


@named_as_here
def checkpoint(f: Any) -> Any:
    """Make reverse mode compute values again in place of saving them.

    Parameters
    ----------
    f : callable or iterable
        A function, or the iterable of a ``for`` loop.

    Returns
    -------
    callable or iterable
        The same function or the same items. Nothing else changes outside of derivatives.

    Notes
    -----
    A loop ``for k in fad.checkpoint(range(n))`` saves its carries at about ``sqrt(n)`` iterations. The reverse sweep
    runs the iterations between them again. The memory grows with the square root of `n`; the time grows by less than
    one forward run [1]_.

    References
    ----------
    .. [1] A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd edition, SIAM, 2008, chapter 12.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.grad(fad.checkpoint(lambda x: np.sum(np.sin(x))))(np.zeros(2))
    array([1., 1.])
    >>> def f(x):
    ...     for _ in fad.checkpoint(range(10_000)):
    ...         x = np.cos(x)
    ...     return x
    >>> abs(float(fad.grad(f)(1.0))) < 1e-12
    True
    """
    if not callable(f) and isinstance(f, Iterable):
        return checkpointed(f) if stack.builders() else f
    check_callable(f, "checkpoint")

    @functools.wraps(f)
    def computed_again(*args: Any, **kwargs: object) -> Any:
        leaves = tree.flatten((args, kwargs))[0]
        if not stack.builders() or level_of(leaves) != 2:
            return f(*args, **kwargs)
        call = CustomCall(f, args, kwargs)
        given = [call.leaves[k] for k in call.data]
        results = registry["checkpoint"].run_regions(given, (call.run,), name=getattr(f, "__name__", "f"))
        keep_apart(given, call.written, current().equations[-1].regions[0])
        count = len(results) - len(call.written)
        for k, new in zip(call.written, results[count:]):
            (given[k] if isinstance(given[k], Tracer) else current().capture(given[k])).set(new)
        call.note_shared(given, results)
        return call.result(results[:count])
    return computed_again
