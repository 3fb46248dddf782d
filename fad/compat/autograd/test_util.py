"""autograd.test_util: derivatives held against differences, for functions of trees of arrays."""
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from .differential_operators import make_jvp, make_vjp, unary_to_nary
from .spaces import vspace

TOL, RTOL, EPS = 1e-6, 1e-6, 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    """Whether two numbers differ by less than 1e-6, absolutely or relatively."""
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def make_numerical_jvp(f: Callable, x: object) -> Callable:
    """v -> the derivative of f at x in the direction v, by a central difference."""
    xs, ys = vspace(x), vspace(f(x))

    def push(v: object) -> Any:
        above, below = (f(xs.add(x, xs.scalar_mul(v, sign * EPS / 2))) for sign in (1, -1))
        return ys.scalar_mul(ys.add(above, ys.scalar_mul(below, -1.0)), 1.0 / EPS)
    return push


def check_vjp(f: Callable, x: object) -> None:
    """Raise AssertionError where the pullback of f at x is not the transpose of the difference."""
    pull, y = make_vjp(f)(x)
    xs, ys = vspace(x), vspace(y)
    v, w = xs.randn(), ys.randn()
    g = xs.covector(pull(ys.covector(w)))
    assert vspace(g) == xs, f"the cotangent belongs to {vspace(g)}, the argument to {xs}"
    exact, numeric = xs.inner_prod(v, g), ys.inner_prod(w, make_numerical_jvp(f, x)(v))
    what = f"Derivative (VJP) check of {_name(f)} failed with arg {x}:\nanalytic: {exact}\nnumeric:  {numeric}"
    assert scalar_close(numeric, exact), what


def check_jvp(f: Callable, x: object) -> None:
    """Raise AssertionError where the tangent of f at x is not the difference."""
    v = vspace(x).randn()
    check_equivalent(make_jvp(f)(x)(v)[1], make_numerical_jvp(f, x)(v))


def check_equivalent(x: object, y: object) -> None:
    """Raise AssertionError where two values belong to two vector spaces, or differ."""
    xs, ys = vspace(x), vspace(y)
    assert xs == ys, f"VSpace mismatch:\nx: {xs}\ny: {ys}"
    v = xs.randn()
    assert scalar_close(xs.inner_prod(x, v), xs.inner_prod(y, v)), f"Value mismatch:\nx: {x}\ny: {y}"


@unary_to_nary
def check_grads(f: Callable, x: object, modes: "Sequence[str] | None" = None, order: int = 2) -> None:
    """Raise AssertionError if a derivative of f at x, up to this order, differs from differences; modes: "fwd", "rev"
    or both."""
    modes = ("fwd", "rev") if modes is None else modes
    assert all(m in ("fwd", "rev") for m in modes), f"modes are 'fwd' and 'rev', not {modes}"
    for mode, check, product_of, prefix in (("fwd", check_jvp, _push, "jvp"), ("rev", check_vjp, _pull, "vjp")):
        if mode not in modes:
            continue
        check(f, x)
        if order > 1:
            inner = product_of(f)
            inner.__name__ = f"{prefix}_{_name(f)}"
            v = vspace(x if mode == "fwd" else f(x)).randn()
            check_grads(inner, (0, 1), modes, order=order - 1)(x, v)


def _push(f: Callable) -> Callable:
    return lambda x, v: make_jvp(f)(x)(v)[1]


def _pull(f: Callable) -> Callable:
    return lambda x, v: make_vjp(f)(x)[0](v)


def combo_check(fun: Callable, *args: object, **kwargs: object) -> Callable:
    """check_grads at all combinations of arguments: combo_check(fun)([x1, x2], axis=[0, 1])."""
    def check(*choices: Any, **named: Any) -> None:
        for given in product(*choices):
            for values in product(*named.values()):
                chosen = dict(zip(named, values))
                check_grads(lambda *xs, chosen=chosen: fun(*xs, **chosen), *args, **kwargs)(*given)
    return check


def _name(f: Callable) -> str:
    return getattr(f, "__name__", "[unknown name]")
