"""The command line: ``python -m fad`` runs the demonstration, ``python -m fad --help`` tells the rest."""

import argparse
import importlib
import os
import re
import sys

import numpy as np

import fad
from fad import demo

EPILOG = """
Without a command, a Gaussian mixture is fitted to real data by maximum likelihood: estimates with standard errors
from the Hessian, the certificates of both derivatives, and the time against differences; with --source, the gradient's source too.

examples:
  python -m fad source  mymodel:loss --example "np.ones(3)"
  python -m fad certify mymodel:loss --example "np.ones(3), 2.0"
  python -m fad cache --path
"""

HASH = re.compile("[0-9a-f]{16}")


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
    transform = getattr(fad, options.of)
    print(fad.source(transform(options.function), *options.example))
    return 0


def certify(options):
    """Print the certificate of a function's derivatives; fail if it does not hold."""
    report = fad.certify(options.function, *options.example)
    print(report)
    return 0 if report.ok else 1


def kept(folder):
    """The files of a cache folder that fad has put there: those with a hash in their path, and no others."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and HASH.search(str(path.relative_to(folder)))]


def cache(options):
    """Print where compiled kernels are kept and how much they take, or remove them."""
    folder = fad.config.cache_dir
    if folder is None:
        print("nothing is kept: fad.config.cache_dir is None")
        return 0
    if options.clear:
        for path in kept(folder):
            path.unlink(missing_ok=True)
    if options.path:
        print(folder)
        return 0
    files = kept(folder)
    print(f"{folder}: {len(files)} files, {sum(path.stat().st_size for path in files) / 2**20:.1f} MiB")
    return 0


def parser():
    """The command line's grammar."""
    top = argparse.ArgumentParser(prog="python -m fad", description="Derivatives of plain NumPy programs, compiled.",
                                  epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--source", action="store_true", help="let the demonstration print the source of its gradient")
    top.set_defaults(run=lambda options: demo.main(options.source))
    commands = top.add_subparsers(title="commands", metavar="")
    for run in (source, certify):
        command = commands.add_parser(run.__name__, help=run.__doc__.splitlines()[0], description=run.__doc__)
        command.add_argument("function", type=function_named, help="module:function")
        command.add_argument("--example", type=example_arguments, required=True, metavar="ARGS",
                             help='arguments to call it with, as Python: "np.ones(3), 2.0"')
        command.set_defaults(run=run)
        if run is source:
            command.add_argument("--of", default="value_and_grad", metavar="TRANSFORM",
                                 choices=("jit", "grad", "value_and_grad", "jacobian", "hessian"),
                                 help="which program to print (%(choices)s; default: %(default)s)")
    command = commands.add_parser("cache", help=cache.__doc__, description=cache.__doc__)
    command.add_argument("--path", action="store_true", help="print only the folder")
    command.add_argument("--clear", action="store_true", help="remove everything in it")
    command.set_defaults(run=cache)
    return top


def main(arguments=None):
    """Run the command line; return the exit code."""
    options = parser().parse_args(arguments)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
