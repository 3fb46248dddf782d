"""What must hold of a kernel: the same numbers in every tier, and derivatives that agree with differences and with each
other."""
import numpy as np

from .registry import Kernel


def copied(arguments):
    """The arguments with arrays of their own."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def effect(run, arguments):
    """What the caller of `run` sees: the results, then every array argument as it is afterwards."""
    arguments = copied(arguments)
    result = run(*arguments)
    results = () if result is None else result if isinstance(result, tuple) else (result,)
    return [np.asarray(r) for r in (*results, *(a for a in arguments if isinstance(a, np.ndarray)))]


def positions(kernel, arguments):
    """Where arguments are float or complex: those to differentiate with respect to."""
    return [k for k, a in enumerate(arguments) if np.asarray(a).dtype.kind in "fc" and k not in kernel.fixed]


def loss_of(kernel: Kernel, n=None):
    """A function of the kernel's float arguments (its `point`) that returns a number: of all that the kernel returns or
    writes to."""
    given, run, symmetric, changed = kernel.arguments(n), kernel.run, kernel.symmetric, written(kernel, n)
    places = positions(kernel, given)

    def loss(*floats):
        arguments = list(given)
        for place, value in zip(places, floats):
            value = 0.5 * (value + value.T) if place in symmetric else value
            arguments[place] = value.copy() if place in changed else value
        result = run(*arguments)
        results = () if result is None else result if isinstance(result, tuple) else (result,)
        return sum([number(r) for r in (*results, *(arguments[k] for k in changed))])
    loss.point = tuple(given[k] for k in places)
    return loss


def number(r):
    """A smooth number of an array, or of a complex one; of whole numbers, zero."""
    if isinstance(r, int) or r.dtype.kind in "iu":
        return 0.0
    if r.dtype.kind == "f":
        return np.mean(r * r) - 0.3 * np.mean(r)
    return np.mean(np.abs(r) ** 2) - 0.3 * np.mean(np.real(r) + 2 * np.imag(r))


def written(kernel, n=None):
    """The places of the arguments that the kernel writes to."""
    arguments = kernel.arguments(n)
    kernel.run(*arguments)
    before = kernel.arguments(n)
    return [k for k, a in enumerate(arguments)
            if isinstance(a, np.ndarray) and not np.array_equal(a, before[k], equal_nan=True)]


def directions(point, seed=1):
    """A random tangent of the point."""
    rng = np.random.default_rng(seed)
    parts = []
    for p in point:
        d = rng.standard_normal(np.shape(p))
        parts.append(d + 1j * rng.standard_normal(np.shape(p)) if np.iscomplexobj(p) else d if np.ndim(p) else float(d))
    return tuple(parts)


def moved(point, step, direction):
    return [p + step * d for p, d in zip(point, direction)]


def slope(f, point, direction, h=2e-6):
    """The derivative of f along a direction, by differences of fourth order."""
    near = np.subtract(f(*moved(point, h, direction)), f(*moved(point, -h, direction)))
    far = np.subtract(f(*moved(point, 2 * h, direction)), f(*moved(point, -2 * h, direction)))
    return (8 * near - far) / (12 * h)


def product(gradient, direction):
    """The real inner product of a gradient with a tangent: complex parts count as two numbers each."""
    return float(sum(np.sum(np.real(np.conj(g) * d)) for g, d in zip(gradient, direction)))
