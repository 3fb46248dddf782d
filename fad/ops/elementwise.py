"""The elementwise ops, room by room; each is NumPy's or SciPy's function with its derivative."""
from . import arithmetic, choice, complex, transcendental
from .arithmetic import add, div, floordiv, guarded_mul, invert, mod, mul, neg, pow, sqrt, square, sub
from .choice import cast, equal, mask, maximum, minimum, sign, stop_gradient, where
from .complex import conj, imag, real
from .pointwise import composed, elementwise, infer_elementwise, infer_promoted, op
from .transcendental import cos, exp, log, sin, tanh

__all__ = [
    "add", "arithmetic", "cast", "choice", "complex", "composed", "conj", "cos", "div", "elementwise", "equal", "exp",
    "floordiv", "guarded_mul", "imag", "infer_elementwise", "infer_promoted", "invert", "log", "mask", "maximum",
    "minimum", "mod", "mul", "neg", "op", "pow", "real", "sign", "sin", "sqrt", "square", "stop_gradient", "sub",
    "tanh", "transcendental", "where",
]
