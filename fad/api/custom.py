"""Functions with the user's own derivatives (custom_jvp, custom_vjp), and checkpoint, which trades memory for
computation."""
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ir import stack
from ..ir.build import Value, current
from ..ir.op import registry
from ..ir.types import type_of
from ..ops.kinds import match, shape_of
from ..trace.guards.guard import AttributeGuard
from ..trace.heap.state import may_be_one
from ..trace.outcome.sharing import keep_apart
from ..trace.regions.may_alias import reach_of
from ..trace.runtime.capture import captured
from ..trace.tracing import is_data
from ..trace.values.iterate import checkpointed
from ..trace.values.place import roots_of
from ..trace.values.tracer import Tracer
from ..util import tree
from ..util.errors import ArgumentError, CotangentShapeError, SideEffectError, StructureError
from ..util.interrupts import let_through
from ..util.keywords import named_as_here, signature_of
from .inner import conform, known_shape, zeros_of
from .leaves import call_on_tensors, level_of
from .staged import check_callable


class CustomCall:
    """One call of a function with a rule: its arguments' leaves and structure, and its result's."""

    def __init__(self, f: Callable, args: tuple, kwargs: dict):
        self.f = f
        self.leaves, self.arguments = tree.flatten((args, kwargs))
        self.data = [k for k, x in enumerate(self.leaves) if is_data(x)]
        self.structure: Any = None
        self.statics: dict = {}
        self.written: list = []                               # numbers of the data leaves that the function writes to
        self.shapes: list = []                                # of the result's data leaves, extents as known
        self.arrays: list = []  # for each data leaf of the result, the arrays that it may be or be a part of
        self.inputs: dict[int, int] = {}                      # id of a data leaf as the function saw it -> its number

    def fill(self, xs: Sequence) -> "tuple[tuple, dict]":
        """The arguments with these data leaves, for a rule: copies that the rule may write to."""
        return self._filled([current().value_of(x.atom) if isinstance(x, Value) else x for x in xs])

    def _filled(self, xs: Sequence) -> "tuple[tuple, dict]":
        filled = list(self.leaves)
        for k, x in zip(self.data, xs):
            filled[k] = x
        return self.arguments.unflatten(filled)

    def run(self, *xs: Any) -> tuple:
        """The result's data leaves, and the final contents of arguments that were written to. It keeps the result's
        structure."""
        before = [_held(x) for x in xs]
        args, kwargs = self._filled(xs)
        result = self.data_of(captured(self.f)(*args, **kwargs))
        self.shapes = [shape_of(y) for y in result]
        self.written = [k for k, x in enumerate(xs) if _held(x) is not before[k]]
        self.arrays = [reach_of(y) if isinstance(y, Tracer) and y.ndim else [] for y in result]
        self.inputs = {id(x): k for k, x in enumerate(xs)}
        return (*result, *[xs[k] for k in self.written])

    def data_of(self, result: Any) -> list:
        leaves, structure = tree.flatten(result)
        if self.structure is not None and structure != self.structure:
            raise StructureError(f"a rule returned {structure.text()} where the function returns "
                                 f"{self.structure.text()} (* is an array or a number)",
                                 do="return from the rule what the function returns")
        statics = {k: x for k, x in enumerate(leaves) if not is_data(x) and not isinstance(x, bool)}
        if self.structure is not None and statics.keys() != self.statics.keys():
            raise StructureError("a rule returned other than numbers where the function returns numbers",
                                 do="return from the rule what the function returns")
        self.structure, self.statics = structure, statics
        found = [x for k, x in enumerate(leaves) if k not in statics]
        for x, shape in zip(found, self.shapes):
            if not _may_have(shape_of(x), shape):
                raise StructureError(f"a rule returned a value of shape {known_shape(shape_of(x))} where the function "
                                     f"returns one of shape {known_shape(shape)}",
                                     do="return from the rule what the function returns")
        return found

    def result(self, ys: Sequence) -> Any:
        """The result tree with these data leaves."""
        return self.structure.unflatten(ys, self.statics)

    def note_shared(self, given: Sequence, ys: Sequence) -> None:
        """Results that are arguments, outside arrays or one array get values of their own here, so that a write to one
        leaves the others alone.
        """
        known: dict[int, list] = {}
        for y, arrays in zip(ys, self.arrays):
            for x in arrays if isinstance(y, Tracer) else ():
                at = self.inputs.get(id(x))
                outside = (roots_of(given[at]) if at is not None and isinstance(given[at], Tracer)
                           else [x] if current().sees(x._var) else [])
                for other in [*outside, *known.setdefault(id(x), [])]:
                    may_be_one(y, other)
                known[id(x)].append(y)


def _held(x: Any) -> Any:
    return x.held if isinstance(x, Tracer) else x


class Rule:
    """What transforms/custom.py asks of a custom call's derivative."""

    jvp: "Callable | None" = None
    forward: "Callable | None" = None
    backward: "Callable | None" = None
    batch: "Callable | None" = None
    results = 0
    by_keyword: Sequence[int] = ()  # data leaves that are passed by keyword, which the rule does not know

    def __init__(self, call: CustomCall):
        self.call = call
        self.by_keyword = range(sum(map(is_data, tree.flatten(call.arguments.unflatten(call.leaves)[0])[0])),
                                len(call.data))


class JvpRule(Rule):
    """A rule given as jvp(*nondiff, primals, tangents) -> (value, tangent)."""

    def __init__(self, call: CustomCall, rule: Callable, nondiff: tuple):
        super().__init__(call)
        self.rule, self.nondiff = rule, nondiff
        self.jvp = self._jvp

    @property
    def results(self) -> int:                               # type: ignore[override]
        return self.call.structure.leaves - len(self.call.statics)

    def _jvp(self, xs: Sequence, dxs: Sequence) -> tuple:
        primals, _ = self.call.fill(xs)
        tangents, _ = self.call.fill([zeros_of(x) if d is None else d for x, d in zip(xs, dxs)])
        static = [primals[k] for k in self.nondiff]
        primals, tangents = (tuple([x for k, x in enumerate(given) if k not in self.nondiff])
                             for given in (primals, tangents))
        answer = captured(self.rule)(*static, primals, tangents)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise StructureError("a jvp rule must return a pair (value, tangent)", do="return (value, tangent)")
        return self.call.data_of(answer[0]), [g for g in conform("tangent of a jvp rule", answer[1], answer[0])
                                              if g is not None]


class VjpRule(Rule):
    """A rule given as forward(*args) -> (value, residuals) and backward(*nondiff, residuals, g) -> one cotangent per
    argument."""

    def __init__(self, call: CustomCall, forward: Callable, backward: Callable, nondiff: tuple):
        super().__init__(call)
        self.user_forward, self.user_backward, self.nondiff = forward, backward, nondiff
        self.forward, self.backward = self._forward, self._backward

    def _forward(self, xs: Sequence) -> tuple:
        args, kwargs = self.call.fill(xs)
        answer = captured(self.user_forward)(*args, **kwargs)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise StructureError("the forward function of a custom_vjp must return a pair (value, residuals)",
                                 do="return (value, None) where the backward function needs nothing")
        return self.call.data_of(answer[0]), (answer[1], list(xs))

    def _backward(self, saved: tuple, gs: Sequence, needs: Sequence) -> list:
        residuals, xs = saved
        args, _ = self.call.fill(xs)
        static = [args[k] for k in self.nondiff]
        answer = captured(self.user_backward)(*static, residuals, self.call.result(gs))
        moving = [a for k, a in enumerate(args) if k not in self.nondiff]
        if not isinstance(answer, (tuple, list)) or len(answer) != len(moving):
            raise StructureError(
                f"the backward function of a custom_vjp must return {len(moving)} cotangents, one an argument",
                do="return a tuple, with None for an argument whose cotangent is zero")
        given = iter(answer)
        by_argument = [None if k in self.nondiff else next(given) for k in range(len(args))]
        return cotangent_leaves(by_argument, args)


def cotangent_leaves(answer: Sequence, args: Sequence) -> list:
    """A cotangent (None: zero) for each data leaf of the arguments."""
    out: list = []
    for g, x in zip(answer, args):
        leaves = [leaf for leaf in tree.flatten(x)[0] if is_data(leaf)]
        out += ([None] * len(leaves) if g is None
                else [_leaf_cotangent(c, leaf) for c, leaf in zip(_data_leaves(g, x), leaves)])
    return out


def _data_leaves(g: Any, x: Any) -> list:
    # None is zero, within a tree too
    (targets, structure), (given, have) = (tree.flatten(t, is_leaf=lambda part: part is None) for t in (x, g))
    if structure != have:
        raise StructureError(f"a cotangent of structure {have.text()} was returned for an argument of "
                             f"{structure.text()}")
    return [c for c, t in zip(given, targets) if is_data(t)]


def _leaf_cotangent(g: Any, x: Any) -> Any:
    """The cotangent in the shape of x; what a broadcast of x has too many of is summed. A number zero is zero."""
    if g is None or type_of(x).dtype.kind not in "fc" or (isinstance(g, (int, float)) and g == 0):
        return None
    if not is_data(g):
        raise StructureError(f"a rule returned {type(g).__name__} where a cotangent is needed",
                             do="return numbers or arrays, or None for zero")
    if len(shape_of(g)) < len(shape_of(x)):
        raise CotangentShapeError(f"a cotangent of shape {known_shape(shape_of(g))} was returned for an argument of "
                                  f"shape {known_shape(shape_of(x))}")
    return match(g, x)


def _may_have(shape: tuple, wanted: tuple) -> bool:
    return len(shape) == len(wanted) and all(m == n for m, n in zip(shape, wanted)
                                             if isinstance(m, int) and isinstance(n, int))


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
        let_through(error)
        return args, kwargs
    bound.apply_defaults()
    places = [name for name, p in bound.signature.parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    last = max((places.index(name) + 1 for name in kwargs if name in places), default=0)
    return bound.args[:max(last, len(args))], {name: x for name, x in bound.kwargs.items() if name in kwargs}


def watch_rules(owner: Any, *names: str) -> None:
    """Make the program depend on these attributes, which are rules: it holds until one of them changes."""
    current().trace.sources += [AttributeGuard(owner, name, getattr(owner, name)) for name in names]


class _WithRule:
    """What custom_jvp and custom_vjp return: the function, called as it is but for its derivative."""

    _rules: "tuple[str, ...]" = ()                            # names of the attributes that hold the rule

    def __init__(self, f: Callable, nondiff_argnums: Sequence[int] = ()):
        functools.update_wrapper(self, check_callable(f, type(self).__name__))
        self.f, self.nondiff = f, tuple(nondiff_argnums)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
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

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


class custom_jvp(_WithRule):
    """Give a function a derivative of your own, for both modes.

    Parameters
    ----------
    f : callable
        The function.
    nondiff_argnums : sequence of int, optional
        Positions of arguments without a derivative. The rule gets them first, and they are not among the primals.

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
    def computed_again(*args: Any, **kwargs: Any) -> Any:
        leaves = tree.flatten((args, kwargs))[0]
        if not stack.builders() or level_of(leaves) != 2:
            return f(*args, **kwargs)
        call = CustomCall(f, args, kwargs)
        given = [call.leaves[k] for k in call.data]
        results = registry["checkpoint"].run_regions(given, (call.run,), name=f.__name__)
        keep_apart(given, call.written, current().equations[-1].regions[0])
        count = len(results) - len(call.written)
        for k, new in zip(call.written, results[count:]):
            (given[k] if isinstance(given[k], Tracer) else current().capture(given[k])).set(new)
        call.note_shared(given, results)
        return call.result(results[:count])
    return computed_again
