"""A program run with more digits: rounding errors shrink, and what is no rounding error stays what it is.

What a compensated sum makes of its rounding errors has a slope of its own, through which differences look smooth; with
more digits it is another one. Where a platform's longdouble is no wider than its float, or a program needs what has no
such form, it runs as it is.
"""
from types import FunctionType

import numpy as np

CREATORS = {"zeros", "ones", "empty", "eye", "full", "array", "linspace", "identity", "tri"}


class _Wide:
    """NumPy, whose new arrays of floats are wide, and which stands for math, too."""

    def __getattr__(self, name):
        found = getattr(np, {"fabs": "abs", "atan": "arctan", "atan2": "arctan2", "pow": "power"}.get(name, name))
        return self._creating(found) if name in CREATORS else found

    def _creating(self, create):
        def made(*args, **kwargs):
            y = create(*args, **kwargs)
            return y.astype(np.longdouble) if y.dtype == np.float64 else y
        return made


def in_extended_precision(f):
    """f, in which every function of its module computes in longdouble; f itself where that fails."""
    scope = {**f.__globals__, "np": _Wide(), "math": _Wide()}
    for name, helper in f.__globals__.items():
        if isinstance(helper, FunctionType) and helper.__globals__.get("np") is np:
            scope[name] = _within(scope, helper)
    wide = _within(scope, f)

    def run(x):
        try:
            return wide(np.asarray(x, dtype=np.longdouble))
        except Exception:
            return f(x)
    return run


def _within(scope, f):
    made = FunctionType(f.__code__, scope, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = f.__kwdefaults__
    return made
