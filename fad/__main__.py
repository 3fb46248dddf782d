"""The command line: ``python -m fad`` runs the demonstration, ``python -m fad --help`` tells the rest."""

import argparse
import importlib
import importlib.metadata
import importlib.util
import os
import platform
import sys
import time

import numpy as np

import fad
from fad import demo
from fad.backend.running.entry_folder import Folder, Refused
from fad.util.interrupts import reraise_interrupt

EPILOG = """
Without a command, a Gaussian mixture is fitted to real data by maximum likelihood: estimates with standard errors
from the Hessian, the certificates of both derivatives, and the time against differences; with --source, the
gradient's source too.

examples:
  python -m fad source  mymodel:loss --example "np.ones(3)"
  python -m fad certify mymodel:loss --example "np.ones(3), 2.0"
  python -m fad stages  mymodel:loss --example "np.ones(3), 2.0" --path loss.html
  python -m fad cache list
  python -m fad doctor
"""


def function_named(name):
    """The function behind ``module:function``; the working directory is searched as well."""
    module, _, attribute = name.partition(":")
    if not attribute:
        raise argparse.ArgumentTypeError(f"{name!r} is not of the form module:function")
    sys.path.insert(0, os.getcwd())
    thing = importlib.import_module(module)
    for part in attribute.split("."):
        thing = getattr(thing, part)
    return thing


def example_arguments(text):
    """The arguments written in ``text``, a Python expression in which ``np`` is NumPy.

    >>> example_arguments("np.ones(2), 3.0")
    (array([1., 1.]), 3.0)
    """
    return eval(f"({text},)", {"np": np})


def source(options):
    """Print the source of the derivative of a function."""
    print(fad.source(derivative(options), *options.example))
    return 0


def derivative(options):
    """The function that is asked for: a transform of the one that is named."""
    return getattr(fad, options.of)(options.function)


def explain(options):
    """Say line by line what becomes of a function: compiled, copied, saved, or on the tape."""
    print(fad.explain(derivative(options), *options.example))
    return 0


def stages(options):
    """Write a page that shows the stages of a function side by side, from its source to the generated text."""
    print(fad.stages(derivative(options), *options.example).save(options.path))
    return 0


def export(options):
    """Write a module that computes the derivative of a function without fad."""
    print(fad.export(derivative(options), *options.example, path=options.path))
    return 0


def bench(options):
    """Time a derivative beside the function itself and beside finite differences."""
    f, args = options.function, options.example
    g, compiled = fad.jit(derivative(options), compile="now"), fad.jit(f, compile="now")
    begun = time.perf_counter()
    g(*args)
    first = time.perf_counter() - begun
    rows = [(f"fad.{options.of}", demo.seconds(g, *args)), ("the function, compiled", demo.seconds(compiled, *args)),
            ("the function in NumPy", demo.seconds(f, *args))]
    if isinstance(args[0], np.ndarray) and args[0].ndim == 1 and options.of in ("grad", "value_and_grad", "jacobian"):
        def differences(x):
            return demo.differences(lambda y, _: f(y, *args[1:]), x, None)
        rows.append(("differences of the NumPy function", demo.seconds(differences, args[0])))
    for what, taken in rows:
        print(f"{what:<36}{taken * 1e6:12.1f} µs  {taken / rows[0][1]:8.2f} x")
    print(f"{'first call, trace and compilation':<36}{first * 1e6:12.1f} µs")
    return 0


def certify(options):
    """Print the certificate of a function's derivatives; fail if it does not hold."""
    report = fad.certify(options.function, *options.example)
    print(report)
    return 0 if report.ok else 1


def cache(options):
    """List the compiled kernels that are kept on disk, or their size; remove them, or check them."""
    path = fad.config.cache_dir
    if path is None:
        print("nothing is kept: fad.config.cache_dir is None")
        return 0
    folder = Folder(path)
    if folder.refusal:
        print(f"{path} is not used: it {folder.refusal}")
        return 1
    return {"path": where, "list": listed, "size": size, "clear": clear, "verify": verify}[options.what](folder)


def where(folder):
    """Print the folder."""
    print(folder.path)
    return 0


def listed(folder):
    """Print what is kept: when it was used, its size, and what it takes and returns."""
    for found in reversed(folder.entries()):
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.used))
        print(f"{used}{found.size / 1000:9.1f} kB  {found.name[:24]:24}  {title(folder, found.name)}")
    return 0


def title(folder, name):
    """The text of an entry, or the error that it has."""
    try:
        return folder.checked(name).title
    except (OSError, Refused) as error:
        reraise_interrupt(error)
        return f"not used: {error}"


def size(folder):
    """Print how much is kept, and how much may be."""
    found, limit = folder.entries(), fad.config.cache_size
    allowed = "any number" if limit is None else f"{limit / 1e6:.1f} MB"
    print(f"{folder.path}: {len(found)} kernels, {sum(one.size for one in found) / 1e6:.1f} MB of {allowed}")
    return 0


def clear(folder):
    """Remove all that is kept."""
    print(f"{folder.path}: {folder.clear()} kernels removed")
    return 0


def verify(folder):
    """Check every entry as if it was to be loaded; remove what does not check, and fail if there was any."""
    bad = 0
    for found in folder.entries():
        try:
            folder.checked(found.name)
        except (OSError, Refused) as error:
            reraise_interrupt(error)
            bad += 1
            outcome = "removed" if folder.remove(found.name) else "cannot be removed"
            print(f"{folder.file(found.name)} {error}: {outcome}")
    print(f"{folder.path}: {len(folder.entries())} kernels are as they were written, {bad} were not")
    return 1 if bad else 0


def doctor(options):
    """Print what a bug report needs: versions, processor, vector math, threads, cache, and a certified gradient."""
    for name, value in report():
        print(f"{name:14}{value}")
    found = fad.certify(lambda x: np.sum(np.sin(x) * x), np.linspace(0.1, 1.0, 5))
    print(f"{'a gradient':14}{'holds' if found.ok else 'DOES NOT HOLD'}")
    return 0 if found.ok else 1


def report():
    """The facts about this installation, line by line."""
    for name in ("numpy", "numba", "llvmlite", "scipy"):
        module = importlib.import_module(name)
        yield name, module.__version__
    binding, widen = importlib.import_module("llvmlite.binding"), importlib.import_module("fad.kernels.widen")
    yield "fad", fad.__version__
    yield "python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "machine", f"{platform.system()} {platform.machine()}, {binding.get_host_cpu_name()}, {os.cpu_count()} cores"
    yield "LLVM", ".".join(map(str, binding.llvm_version_info))
    yield "vector math", widen.FLAVOUR
    threads = importlib.import_module("numba").config.NUMBA_NUM_THREADS
    yield "threads", f"{fad.config.threads} for loops of fad's kernels, {threads} of Numba's"
    for name in ("dask", "matplotlib", "IPython", "tqdm"):
        if importlib.util.find_spec(name) is not None:
            yield name, importlib.metadata.version(name)
    path = fad.config.cache_dir
    folder = None if path is None else Folder(path)
    if folder is None:
        yield "cache", "none"
    elif folder.refusal:
        yield "cache", f"{path}: not used, it {folder.refusal}"
    else:
        yield "cache", f"{path}: {len(folder.entries())} kernels"
    yield "settings", fad.config


def parser():
    """The command line's grammar."""
    top = argparse.ArgumentParser(prog="python -m fad", description="Derivatives of plain NumPy programs, compiled.",
                                  epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--version", action="version", version=f"fad {fad.__version__}")
    top.add_argument("--source", action="store_true", help="let the demonstration print the source of its gradient")
    top.set_defaults(run=lambda options: demo.main(options.source))
    commands = top.add_subparsers(title="commands", metavar="")
    for run in (source, explain, stages, export, bench, certify):
        command = commands.add_parser(run.__name__, help=run.__doc__.splitlines()[0], description=run.__doc__)
        command.add_argument("function", type=function_named, help="module:function")
        command.add_argument("--example", type=example_arguments, required=True, metavar="ARGS",
                             help='arguments to call it with, as Python: "np.ones(3), 2.0"')
        command.set_defaults(run=run)
        if run is not certify:
            command.add_argument("--of", default="value_and_grad", metavar="TRANSFORM",
                                 choices=("jit", "grad", "value_and_grad", "jacobian", "hessian"),
                                 help="which program is meant (%(choices)s; default: %(default)s)")
        if run in (stages, export):
            command.add_argument("--path", required=True, help="the file to write")
    command = commands.add_parser("cache", help=cache.__doc__, description=cache.__doc__)
    command.add_argument("what", nargs="?", default="size", choices=("list", "size", "clear", "verify", "path"),
                         help="%(choices)s; default: %(default)s")
    command.set_defaults(run=cache)
    command = commands.add_parser("doctor", help=doctor.__doc__, description=doctor.__doc__)
    command.set_defaults(run=doctor)
    return top


def main(arguments=None):
    """Run the command line; return the exit code."""
    options = parser().parse_args(arguments)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
