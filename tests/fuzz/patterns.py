"""Jacobians and Hessians of random programs: the sparse one is the dense one, wherever the program's pattern says that
there is nothing, too.

Programs on arrays (arrays.py), and of loops, branches and writes (generate.py), return all their values side by side.
`python -m tests.fuzz.patterns [COUNT] [FIRST]` tries COUNT programs from seed FIRST.
"""
import sys
import warnings

import numpy as np

import fad
from fad.util.errors import FadError

from . import arrays, judge
from .generate import generate, render
from .statement import Statement


def report(seed, compile=False):
    """None if the two are the same (or the program is refused, or is none), else what is not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (_on_arrays if seed % 2 else _statements)(seed // 2)


def _on_arrays(seed):
    made = arrays.Generator(seed)
    text = made.program(loop=seed % 3 == 0)
    lines, _, _ = text.rpartition("return ")
    text = lines + _side_by_side([name for name, _ in made.values])
    args = arrays.arguments(seed)
    k = seed % len(args)
    return _compared(arrays.compiled_function(text + "\n"), args, k, "jacobian", text)


def _statements(seed):
    body, kind = generate(seed), ("jacobian", "hessian")[seed % 2]
    if kind == "jacobian":
        body = [*body[:-1], Statement(_side_by_side(body[-1].head.removeprefix("return ").split(" + ")))]
    f = judge.compiled_function(body)
    try:
        with np.errstate(all="ignore"):
            f(judge.POINT.copy())
    except Exception:                                        # whatever it is: no program
        return None
    return _compared(f, [judge.POINT.copy()], 0, kind, render(body))


def _side_by_side(values):
    return f"return np.concatenate([{', '.join(f'np.ravel({v})' for v in values)}])"


def _compared(f, args, k, kind, text):
    try:
        sparse = getattr(fad.sparse, kind)(f, k)(*args).toarray()
    except FadError as error:
        return None if _is_refusal(error) else f"{text}\n{type(error).__name__}: {error}"
    except Exception as error:
        return f"{text}\n{type(error).__name__}: {error}"
    dense = np.asarray(getattr(fad, kind)(f, k)(*args)).reshape(sparse.shape)
    with np.errstate(all="ignore"):
        size = max(1.0, np.abs(dense[np.isfinite(dense)]).max(initial=0.0))
        wrong = ~((np.abs(sparse - dense) <= 1e-8 * size) | (sparse == dense) | (np.isnan(sparse) & np.isnan(dense)))
    return f"{text}\n{kind}: {wrong.sum()} of {wrong.size} elements differ" if wrong.any() else None


def _is_refusal(error):
    """Whether an error says that the function is no program, and not that one went wrong."""
    return not isinstance(error, AssertionError)


def main(count=100, first=0):
    failures = [found for seed in range(first, first + count) if (found := report(seed))]
    print("\n\n".join(failures) or f"{count} programs, no failure")
    return len(failures)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
