"""fad beside its peers on the same problems, in one process: `python -m tests.bench.peers` (peers that are not installed are left out).

Each figure is the median time of value and gradient in microseconds. The functions are the same text for all, but for the
peers' own namespaces.
"""
import importlib.util
import os
import types

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")          # all on one core, as PyTorch is below

import numpy as np  # noqa: E402

import fad  # noqa: E402

from . import problems  # noqa: E402
from .timing import medians  # noqa: E402


def _have(name):
    return importlib.util.find_spec(name) is not None


def _retold(f, namespace):
    """The function with `np` meaning a peer's namespace."""
    return types.FunctionType(f.__code__, {**f.__globals__, "np": namespace}, f.__name__)


def _fad(f, args, argnums):
    g = fad.jit(fad.value_and_grad(f, argnums), compile="now")
    return lambda: g(*args)


def _jax(f, args, argnums):
    import jax
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    g = jax.jit(jax.value_and_grad(_retold(f, jnp), argnums))
    given = jax.tree_util.tree_map(jnp.asarray, args)
    return lambda: jax.block_until_ready(g(*given))


def _autograd(f, args, argnums):
    import autograd
    import autograd.numpy as anp
    g = autograd.value_and_grad(_retold(f, anp), argnums)
    return lambda: g(*args)


class _Torch:
    """The few NumPy names of the problems, in PyTorch's words."""

    def __init__(self, torch):
        t = self.torch = torch
        self.tanh, self.exp, self.log, self.abs, self.diag, self.diagonal, self.pi = t.tanh, t.exp, t.log, t.abs, t.diag, None, np.pi
        self.einsum, self.logaddexp, self.linalg, self.mean = t.einsum, self._logaddexp, t.linalg, t.mean
        self.eye = lambda n: t.eye(n, dtype=t.float64)
        self.diagonal = lambda x, axis1, axis2: t.diagonal(x, dim1=axis1, dim2=axis2)
        self.sum = lambda x, axis=None: t.sum(x) if axis is None else t.sum(x, dim=axis)
        self.max = lambda x, axis, keepdims: t.amax(x, dim=axis, keepdim=keepdims)

    def _logaddexp(self, a, b):
        return self.torch.logaddexp(self.torch.tensor(a, dtype=self.torch.float64), b)


def _torch(f, args, argnums):
    import torch
    torch.set_num_threads(1)
    g = _retold(f, _Torch(torch))

    def tensor(x):
        return torch.tensor(x, dtype=torch.float64)
    given = [tuple(map(tensor, a)) if isinstance(a, tuple) else tensor(a) for a in args]
    chosen = [given[k] for k in (argnums if isinstance(argnums, tuple) else (argnums,))]
    leaves = [x for a in chosen for x in (a if isinstance(a, tuple) else (a,))]
    for x in leaves:
        x.requires_grad_(True)

    def run():
        value = g(*given)
        return value, torch.autograd.grad(value, leaves)
    return run


PEERS = {"fad": _fad, "jax": _jax, "torch": _torch, "autograd": _autograd}


def main():
    """Print the table."""
    present = {name: make for name, make in PEERS.items() if name == "fad" or _have(name)}
    print(f"{'value and gradient, us':30}" + "".join(f"{name:>12}" for name in (*present, "hand-written")))
    for title, (f, args, argnums) in problems.PROBLEMS.items():
        runs = {name: make(f, args, argnums) for name, make in present.items()}
        if f is problems.mixture:
            runs["hand-written"] = lambda args=args: problems.mixture_gradient(*args)
        values = {name: float(run()[0]) for name, run in runs.items()}
        assert np.allclose(list(values.values()), values["fad"], rtol=1e-8), values
        times = dict(zip(runs, medians(list(runs.values()))))
        columns = [f"{times[name] * 1e6:12.1f}" if name in times else f"{'-':>12}" for name in (*present, "hand-written")]
        print(f"{title:30}" + "".join(columns), flush=True)


if __name__ == "__main__":
    main()
