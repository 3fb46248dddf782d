"""fad beside other libraries on the same programs, in one process: `python -m tests.bench.peers [PART OF A NAME ...]`.

Each figure is the median time of a derivative in microseconds, compiled where the library compiles, with as many
threads as the library takes by itself. Libraries that are not installed are left out. All answers agree to 1e-8 before
anything is timed. The time of first answers is first_calls.py's.
"""
import importlib
import importlib.util
import sys

import numpy as np

import fad

from .programs import PROGRAMS
from .timing import medians

MODULES = {"fad": ("fad", "numba", "scipy.linalg"), "JAX": ("jax", "jax.scipy.special"),
           "PyTorch": ("torch", "torch.func"),
           "autograd": ("autograd", "autograd.numpy", "autograd.scipy.special")}


def present():
    """The libraries that are here."""
    return [name for name, (first, *_) in MODULES.items() if importlib.util.find_spec(first)]


def module(library):
    """A library's module, with what the programs need of it imported; its numbers are float64."""
    found, *_ = [importlib.import_module(name) for name in MODULES[library]]
    if library == "JAX":
        found.config.update("jax_enable_x64", True)
        found.devices()                                       # the start of its runtime is part of its import
    if library == "PyTorch":
        found.set_default_dtype(found.float64)
    return found


def mapped(convert, x):
    """Nested arguments with their arrays converted. Integers and what is made of them are part of the program."""
    if isinstance(x, dict):
        return {name: mapped(convert, part) for name, part in x.items()}
    if isinstance(x, tuple):
        return tuple(mapped(convert, part) for part in x)
    return x if isinstance(x, int) else convert(x)


def leaves(x):
    """The arrays of a nested result."""
    if isinstance(x, dict):
        return [leaf for name in sorted(x) for leaf in leaves(x[name])]
    return [leaf for part in x for leaf in leaves(part)] if isinstance(x, (tuple, list)) else [x]


def derivative_in_fad(program):
    return {"gradient": lambda f: fad.value_and_grad(f, program.argnums), "jacobian": fad.jacobian,
            "rows": lambda f: fad.vmap(fad.jacobian(f)),
            "sparse": fad.sparse.jacobian, "call": fad.jit}[program.what](program.f)


def in_fad(program, args, module, compile="now"):
    """A thunk of the derivative in fad, by a policy of compilation."""
    with fad.config.using(compile=compile):
        g = derivative_in_fad(program)
    if compile != "auto":
        g = fad.jit(g, compile=compile)
    return lambda: g(*args)


def in_jax(program, args, jax):
    f = program.text("JAX", jax)
    fixed = [isinstance(x, int) or isinstance(x, tuple) and all(isinstance(part, int) for part in x) for x in args]
    g = {"gradient": lambda: jax.value_and_grad(f, program.argnums), "jacobian": lambda: jax.jacfwd(f),
         "rows": lambda: jax.vmap(jax.jacrev(f)),
         "sparse": lambda: f, "call": lambda: f}[program.what]()
    g = jax.jit(g, static_argnums=[k for k, known in enumerate(fixed) if known])
    given = [x if known else mapped(jax.numpy.asarray, x) for x, known in zip(args, fixed)]
    return lambda: jax.block_until_ready(g(*given))


def in_torch(program, args, torch):
    f = program.text("PyTorch", torch)
    given = mapped(lambda x: x if isinstance(x, float) else torch.tensor(x), args)
    if program.what == "gradient":
        chosen = [given[k] for k in np.atleast_1d(program.argnums)]
        for x in leaves(chosen):
            x.requires_grad_(True)

        def run():
            value = f(*given)
            return value, torch.autograd.grad(value, leaves(chosen))
        return run
    g = {"jacobian": lambda: torch.func.jacfwd(f), "rows": lambda: torch.func.vmap(torch.func.jacrev(f)),
         "sparse": lambda: f, "call": lambda: f}
    g = g[program.what]()
    return lambda: g(*given)


def in_autograd(program, args, autograd):
    g = autograd.value_and_grad(program.text("autograd", autograd), program.argnums)
    return lambda: g(*args)


MAKERS = {"fad": in_fad, "JAX": in_jax, "PyTorch": in_torch, "autograd": in_autograd}


def made(program, library):
    """A thunk of the program's derivative in a library."""
    return MAKERS[library](program, program.arguments(), module(library))


def check(program, answers):
    """All libraries' answers are the same."""
    answers = {library: leaves(program.dense(answer) if library == "fad" else answer)
               for library, answer in answers.items()}
    for library, answer in answers.items():
        assert len(answer) == len(answers["fad"]), (program.name, library)
        for ours, theirs in zip(answers["fad"], answer):
            theirs = theirs.detach().numpy() if library == "PyTorch" else np.asarray(theirs)
            np.testing.assert_allclose(theirs, ours, rtol=1e-8, atol=1e-8 * max(np.max(np.abs(ours)), 1e-300),
                                       err_msg=f"{program.name}, {library}")


def measured(program, libraries):
    """Library -> seconds, of those that can run the program."""
    runs = {library: made(program, library) for library in libraries if library not in program.left_out}
    check(program, {library: run() for library, run in runs.items()})
    return dict(zip(runs, medians(list(runs.values()))))


def main(parts):
    libraries = present()
    print(f"{'us':55}" + "".join(f"{name:>12}" for name in libraries))
    for name, program in PROGRAMS.items():
        if not parts or any(part in name for part in parts):
            times = measured(program, libraries)
            print(f"{name:55}" + "".join(f"{times[x] * 1e6:12.1f}" if x in times else f"{'-':>12}" for x in libraries),
                  flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
