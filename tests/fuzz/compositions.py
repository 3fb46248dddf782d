"""Random compositions of transforms over random programs, held against one another: two ways to one derivative are one
number.

What is held against is `fad.grad`, or a slope of it, which judge.py holds against differences. `python -m
tests.fuzz.compositions [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for each
failure.
"""
import random
import warnings

import numpy as np

import fad
from fad.util.errors import SideEffectError

from . import extents, generate, judge, names
from .judge import DIRECTION, POINT
from .shrink import shrink

GRAMMARS = (names.Generator.of, extents.Generator.of, generate.generate)
BATCH = np.stack([POINT, POINT * 0.9 + 0.013, POINT[::-1] * 0.8])
CLOSE, LARGEST, BUDGET = 1e-8, 1e6, 2000
AXES = np.eye(POINT.size)


def three_times(f, x):
    """f in the iterations of a loop."""
    s = 0.0
    for k in range(3):
        s = s + f(x) * (k + 1)
    return s / 6.0


def with_rule(f):
    """f with a rule of its own for reverse mode, which is fad's."""
    g = fad.custom_vjp(f)
    g.defvjp(lambda x: (f(x), x), lambda x, gy: (fad.grad(f)(x) * gy,))
    return g


def with_forward_rule(f):
    g = fad.custom_jvp(f)
    g.defjvp(lambda xs, dxs: fad.jvp(f, xs, dxs))
    return g


def at_a_branch(f, x):
    """f on both ways of a branch."""
    return f(x) if x[0] > 0.0 else f(x) * 1.0


def slopes(push):
    return np.array([push(e) for e in AXES])


FIRST = {
    "grad of jit": lambda f: fad.grad(fad.jit(f))(POINT),
    "jit of grad": lambda f: fad.jit(fad.grad(f))(POINT),
    "grad of jit of grad's value": lambda f: fad.grad(fad.jit(lambda x: fad.value_and_grad(fad.jit(f))(x)[0]))(POINT),
    "jacrev": lambda f: fad.jacrev(f)(POINT),
    "jacfwd": lambda f: fad.jacfwd(f)(POINT),
    "checkpointed": lambda f: fad.grad(fad.checkpoint(f))(POINT),
    "checkpointed twice": lambda f: fad.grad(fad.checkpoint(lambda x: fad.checkpoint(f)(x) * 1.0))(POINT),
    "budget": lambda f: fad.grad(f, memory=BUDGET)(POINT),
    "vmap of grad": lambda f: fad.vmap(fad.grad(f))(BATCH)[0],
    "vmap of value and grad": lambda f: fad.vmap(fad.value_and_grad(f))(BATCH)[1][0],
    "grad of vmap": lambda f: fad.grad(lambda X: np.sum(fad.vmap(f)(X)))(BATCH)[0],
    "jacrev of vmap": lambda f: fad.jacrev(fad.vmap(f))(BATCH)[0, 0],
    "jvp of vmap": lambda f: slopes(lambda e: fad.jvp(fad.vmap(f), (BATCH,), (np.stack([e] * 3),))[1][0]),
    "vmap of jvp": lambda f: fad.vmap(lambda e: fad.jvp(f, (POINT,), (e,))[1])(AXES),
    "vmap of vmap": lambda f: fad.vmap(fad.vmap(fad.grad(f)))(BATCH[None])[0, 0],
    "in a loop": lambda f: fad.grad(lambda x: three_times(f, x))(POINT),
    "jit in a loop": lambda f: fad.grad(lambda x: three_times(fad.jit(f), x))(POINT),
    "checkpointed in a loop": lambda f: fad.grad(lambda x: three_times(fad.checkpoint(f), x))(POINT),
    "in a branch": lambda f: fad.grad(lambda x: at_a_branch(f, x))(POINT),
    "vmap in a branch": lambda f: fad.vmap(fad.grad(lambda x: at_a_branch(f, x)))(BATCH)[0],
    "rule": lambda f: fad.grad(lambda x: with_rule(f)(x * 1.0))(POINT),
    "rule in a batch": lambda f: fad.vmap(fad.grad(with_rule(f)))(BATCH)[0],
    "forward rule": lambda f: fad.grad(lambda x: with_forward_rule(f)(x * 1.0))(POINT),
    "vjp": lambda f: fad.vjp(f, POINT)[1](1.0)[0],
    "linearize": lambda f: slopes(fad.linearize(f, POINT)[1]),
    "vjp in jit": lambda f: fad.jit(lambda x: fad.vjp(f, x)[1](2.0)[0] * 0.5)(POINT),
}
SECOND = {
    "hessian": lambda f: fad.hessian(f)(POINT) @ DIRECTION,
    "hvp": lambda f: fad.hvp(f, POINT, DIRECTION),
    "jacfwd of grad": lambda f: fad.jacfwd(fad.grad(f))(POINT) @ DIRECTION,
    "jacrev of grad": lambda f: fad.jacrev(fad.grad(f))(POINT) @ DIRECTION,
    "jacfwd of jacfwd": lambda f: fad.jacfwd(fad.jacfwd(f))(POINT) @ DIRECTION,
    "jacrev of jacfwd": lambda f: fad.jacrev(fad.jacfwd(f))(POINT) @ DIRECTION,
    "grad of grad": lambda f: fad.grad(lambda x: fad.grad(f)(x) @ DIRECTION)(POINT),
    "grad of jvp": lambda f: fad.grad(lambda x: fad.jvp(f, (x,), (DIRECTION,))[1])(POINT),
    "grad of jit of grad of jit": lambda f: fad.grad(fad.jit(lambda x: fad.grad(fad.jit(f))(x) @ DIRECTION))(POINT),
    "vmap of jvp of grad": lambda f: fad.vmap(lambda x: fad.jvp(fad.grad(f), (x,), (DIRECTION,))[1])(BATCH)[0],
    "vmap of hessian": lambda f: fad.vmap(fad.hessian(f))(BATCH)[0] @ DIRECTION,
    "grad of vmap of grad": lambda f: fad.grad(lambda X: np.sum(fad.vmap(fad.grad(f))(X) @ DIRECTION))(BATCH)[0],
    "jvp of grad with a budget": lambda f: fad.jvp(fad.grad(f, memory=BUDGET), (POINT,), (DIRECTION,))[1],
    "grad of grad with budgets": lambda f: fad.grad(lambda x: fad.grad(f, memory=BUDGET)(x) @ DIRECTION,
                                                    memory=BUDGET)(POINT),
    "hessian, checkpointed": lambda f: fad.hessian(fad.checkpoint(f))(POINT) @ DIRECTION,
    "hessian in a loop": lambda f: fad.hessian(lambda x: three_times(f, x))(POINT) @ DIRECTION,
    "jvp of grad with a rule": lambda f: fad.jvp(fad.grad(with_forward_rule(f)), (POINT,), (DIRECTION,))[1],
    "linearize of grad": lambda f: fad.linearize(fad.grad(f), POINT)[1](DIRECTION),
    "vjp of grad": lambda f: fad.vjp(fad.grad(f), POINT)[1](DIRECTION)[0],
}


def plainly(f, second, x=POINT):
    return fad.jvp(fad.grad(f), (x,), (DIRECTION,))[1] if second else fad.grad(f)(x)


def judge_composition(f, name, tier):
    """None if a composition gives what fad.grad and its slope give (or nothing can be said), else what is not so."""
    second = name in SECOND
    try:
        with np.errstate(over="raise"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for x in BATCH:
                f(x.copy())
    except Exception:                                        # whatever it is: no program
        return None
    with judge.tier(tier):
        try:
            want = plainly(f, second)
        except Exception:                                    # of the other generators
            return None
        if not np.all(np.isfinite(want)) or np.max(np.abs(want)) > LARGEST:
            return None
        try:
            got = np.asarray((SECOND if second else FIRST)[name](f))
        except SideEffectError:
            return None
        except Exception as error:                           # whatever it is, the plain derivative does not raise it
            return f"{name}, {type(error).__name__}: {error}"
        if np.all(np.abs(got - want) <= CLOSE * (1.0 + np.max(np.abs(want)))):
            return None
        if judge.unsteady(lambda x: plainly(f, second, x), got, want):
            return None
    return f"{name}: {got} instead of {want}"


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    r = random.Random(seed)
    name = r.choice(list(SECOND if r.random() < 0.4 else FIRST))
    tier = "compiled" if compile else r.choice(["interpreted", "text"])
    body = GRAMMARS[seed % 3](seed)
    problem = judge_composition(judge.compiled_function(body), name, tier)
    if problem is None:
        return None
    kind = problem.partition(":")[0]
    of_body = lambda body: judge_composition(judge.compiled_function(body), name, tier)
    small = shrink(body, lambda smaller: (of_body(smaller) or "").partition(":")[0] == kind)
    problem = of_body(small)
    return f"seed {seed}, {tier}: {problem}\n{generate.render(small)}"


if __name__ == "__main__":
    judge.command(report)
