"""Second and third derivatives of functions whose rules are for reverse mode only, and call such functions: reverse
mode over reverse mode."""
import numpy as np
import pytest

import fad
from fad.util.errors import NoDerivativeError

x, u = np.array([0.3, 0.7, 1.1]), np.array([1.0, -2.0, 0.5])


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@fad.custom_vjp
def exp(x):
    return np.exp(x)


@fad.custom_vjp
def sin(x):
    return np.sin(x)


@fad.custom_vjp
def cos(x):
    return np.cos(x)


@fad.custom_vjp
def product(a, b):
    return a * b


@fad.custom_jvp
def cube(x):
    return x ** 3


exp.defvjp(lambda x: (exp(x), x), lambda x, g: (g * exp(x),))                       # itself in both
sin.defvjp(lambda x: (sin(x), x), lambda x, g: (g * cos(x),))                       # one another
cos.defvjp(lambda x: (cos(x), x), lambda x, g: (-g * sin(x),))
# itself on the cotangent
product.defvjp(lambda a, b: (product(a, b), (a, b)), lambda ab, g: (product(g, ab[1]), product(ab[0], g)))
# a rule for forward mode that calls one for reverse mode
cube.defjvp(lambda p, d: (cube(p[0]), 3 * product(p[0], p[0]) * d[0]))


class Exp(fad.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.exp(x)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * Exp.apply(x)


def looped(exp):
    def f(v):
        total = 0.0
        for k in range(3):
            total = total + exp(v[k]) * v[0]
        return total
    return f


def branched(sin):
    def f(v):
        if v[0] > 0:
            return np.sum(sin(v))
        return np.sum(v)
    return f


PLAIN = {"exp": np.exp, "sin": np.sin, "product": lambda a, b: a * b, "cube": lambda v: v ** 3}
RULED = {"exp": exp, "sin": sin, "product": product, "cube": cube}
FUNCTIONS = {
    "exp": lambda of: lambda v: np.sum(of["exp"](v) * v),
    "sin": lambda of: lambda v: np.sum(of["sin"](v)) * v[0],
    "product": lambda of: lambda v: np.sum(of["product"](v, of["product"](v, v))),
    "mixed": lambda of: lambda v: np.sum(of["sin"](of["exp"](v) * u) * v),
    "jvp_rule": lambda of: lambda v: np.sum(of["cube"](v)) * v[1],
    "loop": lambda of: looped(of["exp"]),
    "branch": lambda of: branched(of["sin"]),
    "vmap": lambda of: lambda v: np.sum(fad.vmap(of["exp"])(v) * v),
    "checkpoint": lambda of: lambda v: np.sum(fad.checkpoint(lambda w: of["exp"](w) * w)(v)),
    "tree": lambda of: lambda v: np.sum(of["product"](v[:2], v[1:]))}
DERIVATIVES = {
    "gradient": lambda f: fad.grad(f)(x),
    "hessian": lambda f: fad.hessian(f)(x),
    "hvp": lambda f: fad.hvp(f, x, u),
    "vhp": lambda f: fad.vhp(f, x, u),
    "jacobian": lambda f: fad.jacobian(fad.grad(f))(x),
    "jacrev": lambda f: fad.jacrev(fad.grad(f))(x),
    "compiled": lambda f: fad.jit(fad.hessian(f))(x),
    "many hvps": lambda f: fad.vmap(lambda w: fad.hvp(f, x, w))(np.eye(3)),
    "gradient of hvp": lambda f: fad.grad(lambda v: np.sum(fad.hvp(f, v, u)))(x),
    "gradient of hessian": lambda f: fad.grad(lambda v: np.sum(fad.hessian(f)(v) * np.arange(9.0).reshape(3, 3)))(x),
    "hessian of hvp": lambda f: fad.hessian(lambda v: np.sum(fad.hvp(f, v, u)))(x),
    "functional": lambda f: fad.functional.hessian(f, x),
    "tensors": lambda f: fad.autograd.functional.hessian(f, fad.tensor(x)).numpy()}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_the_plain_function(name, derivative):
    make, of = FUNCTIONS[name], DERIVATIVES[derivative]
    close(of(make(RULED)), of(make(PLAIN)))


@pytest.mark.parametrize("derivative", [d for d in DERIVATIVES if d != "many hvps"])
def test_the_same_of_a_function_class(derivative):
    of = DERIVATIVES[derivative]
    close(of(lambda v: (Exp.apply(v) * v).sum()), of(lambda v: (np.exp(v) * v).sum()))


def test_trees_and_several_arguments():
    f = lambda p, b: np.sum(exp(p["a"] * b)) + np.sum(p["c"][0] * exp(b))
    plain = lambda p, b: np.sum(np.exp(p["a"] * b)) + np.sum(p["c"][0] * np.exp(b))
    p, v = {"a": x, "c": [u]}, {"a": u, "c": [x]}
    for make in (lambda f: fad.hessian(f, argnums=(0, 1))(p, x), lambda f: fad.hvp(lambda p: f(p, x), p, v),
                 lambda f: fad.vhp(lambda p: f(p, x), p, v)):
        [close(a, b)
         for a, b in zip(fad.util.tree.flatten(make(f))[0], fad.util.tree.flatten(make(plain))[0], strict=True)]


def test_forward_mode_asked_for_by_name_is_refused():
    for differentiated in (lambda: fad.jvp(exp, (x,), (u,)), lambda: fad.jacfwd(exp)(x),
                           lambda: fad.jacfwd(fad.grad(lambda v: np.sum(exp(v))))(x)):
        with pytest.raises(NoDerivativeError, match="reverse-mode rule only"):
            differentiated()


def test_a_product_that_would_transpose_what_is_not_linear_is_refused():
    """Rules may clip their cotangent: then the gradient's derivative along a direction is not what reverse mode
    tells."""
    @fad.custom_vjp
    def clipped(x):
        return x * 1.0

    @fad.custom_vjp
    def squared(x):
        return x ** 2
    clipped.defvjp(lambda x: (clipped(x), None), lambda _, g: (np.clip(g, -1, 1),))
    squared.defvjp(lambda x: (squared(x), x), lambda x, g: (2 * g * clipped(x),))
    f = lambda v: np.sum(squared(v) * u)
    for differentiated in (lambda: fad.hvp(f, x, u), lambda: fad.vmap(lambda w: fad.hvp(f, x, w))(np.eye(3))):
        with pytest.raises(NoDerivativeError, match="linear in its cotangent"):
            differentiated()
