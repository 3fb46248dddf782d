"""Derivatives of a traced function of every kind and order, held against differences of one another."""
import numpy as np

import fad.ops.table  # noqa: F401  (fills the table)
from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.trace.tracing import trace
from fad.transforms.jvp import jvp
from fad.transforms.vjp import vjp


def differences(f, x, h=1e-6):
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = h
        g[i] = (float(f(x + e)) - float(f(x - e))) / (2 * h)
    return g


def along(f, x, dx, h=1e-5):
    return (f(x + h * dx) - f(x - h * dx)) / (2 * h)


class Program:
    """f of one float array, traced, and its derivatives as Funcs that the checker has passed."""

    def __init__(self, f, x):
        traced = trace(f, [x])
        self.rest = list(traced.captured)
        self.func = check(traced.func)
        # inputs written to are outputs too; their cotangents are zero
        self.gs = [1.0] + [np.zeros_like(x) for _ in self.func.outputs[1:]]
        self.reverse = check(vjp(self.func, [0]))
        self.forward = check(jvp(self.func, [0]))

    def regions(self):
        return [e.op.name for e in self.func.equations if e.regions]

    def value(self, x):
        return evaluate(self.func, [x, *self.rest])[0]

    def gradient(self, x):
        return evaluate(self.reverse, [x, *self.rest, *self.gs])[-1]

    def tangent(self, x, dx):
        return evaluate(self.forward, [x, *self.rest, dx])[len(self.func.outputs)]

    def forward_over_reverse(self):
        func = check(jvp(self.reverse, [0]))
        return lambda x, dx: evaluate(func, [x, *self.rest, *self.gs, dx])[-1]

    def reverse_over_reverse(self):
        func = check(vjp(self.reverse, [0]))
        zeros = [np.zeros_like(g) for g in self.gs]
        return lambda x, dx: evaluate(func, [x, *self.rest, *self.gs, *zeros, dx])[-1]


def assert_derivatives(f, x, second_reverse=True):
    """Value, gradient, tangent and Hessian-vector products of f at x; the Program, for more."""
    p = Program(f, x)
    dx = np.cos(np.arange(x.size) + 1.0).reshape(x.shape)
    slope = differences(p.value, x)
    np.testing.assert_allclose(p.gradient(x), slope, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(p.tangent(x, dx), np.sum(slope * dx), rtol=2e-5, atol=2e-6)
    bent = p.forward_over_reverse()(x, dx)
    np.testing.assert_allclose(bent, along(p.gradient, x, dx), rtol=1e-3, atol=1e-4)
    if second_reverse:
        np.testing.assert_allclose(p.reverse_over_reverse()(x, dx), bent, rtol=1e-8, atol=1e-10)
    return p


def loss_of(program):
    """A number that hangs on all that a program makes of an array in place."""
    def loss(A):
        A = A.copy()
        program(A)
        return np.sum(np.sin(A) * A)
    return loss


def slope(f, A, d, h=1e-5):
    """The derivative of f at A along d, by differences of fourth order."""
    return (8 * (f(A + h * d) - f(A - h * d)) - f(A + 2 * h * d) + f(A - 2 * h * d)) / (12 * h)
