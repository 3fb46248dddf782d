"""Products with derivatives under autograd's conventions: cotangents of complex numbers are the conjugates of fad's."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...api.derivatives.products import jvp, vjp
from ...util import tree


def conjugated(t: object) -> Any:
    """The tree with its complex leaves conjugated."""
    return tree.map_leaves(lambda x: np.conj(x) if np.iscomplexobj(x) else x, t)


def make_vjp(fun: Callable, x: object) -> "tuple[Callable, Any]":
    """The pullback of fun at x, and fun(x).

    >>> pull, value = make_vjp(lambda x: x ** 2, 3.0)
    >>> float(pull(1.0)), value
    (6.0, 9.0)
    """
    value, pull = vjp(fun, x)
    return lambda g: conjugated(pull(conjugated(g))[0]), value


def make_jvp(fun: Callable, x: object) -> Callable:
    """A function that takes a tangent of x to (fun(x), the tangent of fun(x)).

    >>> make_jvp(lambda x: x ** 2, 3.0)(1.0)
    (9.0, 6.0)
    """
    return lambda dx: jvp(fun, (x,), (dx,))
