"""What a transform costs that is made at each call: of one function, of a lambda that is made anew, of a method of a
new object.

python -m tests.bench.renewed prints microseconds a call, beside the call of a transform that is kept.
"""
import numpy as np

import fad

from .timing import minima

X, V, A = np.ones(5), np.ones(5), np.arange(5.0)


def scaled(q, a):
    return np.sum(np.sin(q) * a)


def plain(q):
    return np.sum(np.sin(q) * A)


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, q):
        return np.sum(self.w * np.sin(q))


def _kept(make):
    g = make(plain)
    return lambda: g(X)


TRANSFORMS = {
    "grad": lambda f: fad.grad(f)(X),
    "value_and_grad": lambda f: fad.value_and_grad(f)(X),
    "jacobian": lambda f: fad.jacobian(f)(X),
    "hessian": lambda f: fad.hessian(f)(X),
    "hvp": lambda f: fad.hvp(f, X, V),
    "jvp": lambda f: fad.jvp(f, (X,), (V,)),
    "vjp": lambda f: fad.vjp(f, X),
    "functional.jacobian": lambda f: fad.functional.jacobian(f, X),
    "functional.hvp": lambda f: fad.functional.hvp(f, X, V),
}
KEPT = {"grad": _kept(fad.grad), "value_and_grad": _kept(fad.value_and_grad), "jacobian": _kept(fad.jacobian),
        "hessian": _kept(fad.hessian)}


def _renewed(run, a):
    return lambda: run(plain), lambda: run(lambda q: scaled(q, a)), lambda: run(Model(a).loss)


def rows(names=tuple(TRANSFORMS)):
    """(name, seconds of: a transform that is kept (or nan), the same function, a new lambda, a method of a new
    object)."""
    a = A * 2.0
    with fad.config.using(compile="now"):
        for name in names:
            run = TRANSFORMS[name]
            runs = [KEPT.get(name, lambda: None), *_renewed(run, a)]
            for each in runs * 3:
                each()
            kept, *others = minima(runs, rounds=5, budget=0.02)
            yield name, kept if name in KEPT else np.nan, *others


if __name__ == "__main__":
    print(f"{'':22}{'kept':>10}{'same f':>10}{'lambda':>10}{'method':>10}")
    for name, *times in rows():
        print(f"{name:22}" + "".join(f"{1e6 * t:10.1f}" for t in times))
