"""The tables of docs/performance.md.

`python -m tests.bench.report [--section NAME ...]` measures and writes them between the page's markers. A section
whose libraries are not here keeps its old table. The prose around the tables is written by hand. BLAS and PyTorch have
one core, unless OMP_NUM_THREADS says more: on a machine that others use, their threads wait for each other for
milliseconds.
"""
import argparse
import importlib.metadata
import importlib.util
import math
import os
import pathlib
import platform
import re
import sys

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")             # before BLAS is loaded

import numpy as np

import fad

from . import first_calls, loops, mixture_by_hand, numba_primals, peers, plain
from .calls import ROWS
from .programs import PROGRAMS
from .timing import medians

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "performance.md"
OTHERS = tuple(name for name in peers.MODULES if name != "fad")
BY_HAND = {"lorenz": "Lorenz equations, 1,000 steps", "orbit": "orbit, 1,000 steps",
           "autoregression": "autoregression, 1,000 steps",
           "kalman": "Kalman filter, 1 state, 1,000 steps", "smoothing": "exponential smoothing, 1,000 steps",
           "hidden_markov": "hidden Markov model, 4 states, 500 steps", "wave": "wave equation, 200 points, 200 steps",
           "plate": "heat equation, 40 x 50, 50 steps", "advection": "advection, 200 points, 200 steps",
           "lennard_jones": "Lennard-Jones energy, 150 points", "gaussian_kernel": "Gaussian kernel, 100 points",
           "alignment": "alignment of 60 and 70 numbers", "horner": "polynomials at 1,000 points",
           "newton": "cube roots of 200 numbers by Newton's method"}


class Missing(Exception):
    """A library that a section needs is not here."""


def table(head, rows):
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def summary(ratios):
    return f"Geometric mean {mean(ratios):.2f}, worst {max(ratios):.2f}."


def needed(names):
    missing = [name for name in names if name not in peers.present()]
    if missing:
        raise Missing(f"{', '.join(missing)} not installed")


# -- the sections ----------------------------------------------------------------------------------
def machine():
    """What the figures depend on."""
    import llvmlite.binding as llvm
    features = llvm.get_host_cpu_features()
    vectors = next((words for word, words in {"avx512f": "AVX-512", "avx2": "AVX2", "neon": "NEON"}.items()
                    if features.get(word)), "none")
    packages = {"NumPy": "numpy", "Numba": "numba", "JAX": "jax", "PyTorch": "torch", "autograd": "autograd"}
    versions = [f"{name} {importlib.metadata.version(module).partition('+')[0]}"
                for name, module in packages.items() if importlib.util.find_spec(module)]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    rows = [("processor", f"{platform.machine()}, {cores} cores"),
            ("cores of BLAS and PyTorch", os.environ.get("OMP_NUM_THREADS", "all")),
            ("vector instructions", vectors), ("Python", platform.python_version()),
            ("packages", ", ".join(versions))]
    return table(("", ""), rows)


def by_hand():
    """Value and gradient beside Numba code that was derived and written by hand, on one core."""
    rows, ratios = [], []

    def add(title, theirs, ours):
        ratios.append(ours / theirs)
        rows.append((title, f"{theirs * 1e6:.1f}", f"{ours * 1e6:.1f}", f"{ratios[-1]:.2f}"))
    with fad.config.using(threads=1):
        for name, title in BY_HAND.items():
            f, args, hand = loops.cases()[name]
            g = fad.jit(fad.value_and_grad(f), compile="now")
            np.testing.assert_allclose(g(*args)[1], hand(*args)[1], rtol=1e-7, atol=1e-9)
            add(title, *medians([lambda hand=hand, args=args: hand(*args), lambda g=g, args=args: g(*args)]))
        data = mixture_by_hand.mixture_data()
        g = fad.jit(fad.value_and_grad(mixture_by_hand.mixture, (0, 1, 2)), compile="now")
        np.testing.assert_allclose(g(*data)[1][1], mixture_by_hand.mixture_gradient(*data)[2], rtol=1e-8, atol=1e-9)
        add("Gaussian mixture, 1,000 points, d = 10, 25 components",
            *medians([lambda: mixture_by_hand.mixture_gradient(*data), lambda: g(*data)]))
    return table(("program", "by hand, µs", "fad, µs", "ratio"), rows) + "\n\n" + summary(ratios)


def beside_libraries(times, ours, show, groups):
    """Tables of (library, kind) columns, a group of programs each: from its title to the libraries that are ahead of
    fad in it."""
    columns = list(dict.fromkeys(column for row in times.values() for column in row))
    columns.sort(key=lambda column: list(peers.MODULES).index(column[0]))
    head = ["program", *(" ".join(column).strip() for column in columns), "fad / best other"]
    tables: dict = {title: [] for title in groups}
    for name, row in times.items():
        others = {library: t for (library, _), t in row.items() if library != "fad"}
        ahead = {library for library, t in others.items() if t < row[ours]}
        title = next(title for title, allowed in groups.items() if ahead <= set(allowed))
        cells = [show(row[column]) if column in row else "–" for column in columns]
        tables[title].append([name, *cells, f"{row[ours] / min(others.values()):.2f}"])
    parts = [f"{title} ({len(rows)} of {len(times)} programs):\n\n{table(head, rows)}"
             for title, rows in tables.items() if rows]
    means = [(library, mean([row[library, ""] / row[ours] for row in times.values() if (library, "") in row]))
             for library in OTHERS]
    return "\n\n".join([*parts, left_out(),
                        "fad is faster by " + ", ".join(f"{m:.2g} ({library})" for library, m in means)
                        + " in geometric mean."])


def left_out():
    """Why there are dashes."""
    reasons: dict = {}
    for program in PROGRAMS.values():
        for library, reason in program.left_out.items():
            reasons[library, reason] = reasons.get((library, reason), 0) + 1
    return "\n".join(f"{library} is left out of {count} program{'s' * (count > 1)}: {reason}." for (library, reason),
                     count in reasons.items())


def steady():
    """Derivatives that are compiled, in all libraries."""
    needed(OTHERS)
    times = {name: {(library, ""): t for library, t in peers.measured(told(name), peers.MODULES).items()}
             for name in PROGRAMS}
    return beside_libraries(times, ("fad", ""), lambda t: f"{t * 1e6:,.0f}",
                            {"fad is the fastest": (), "Another library is faster": OTHERS})


def first():
    """The first call, in processes of their own."""
    needed(OTHERS)
    times = {name: first_calls.measured(told(name).name, peers.MODULES) for name in PROGRAMS}
    groups = {"fad's first answer comes first": (),
              "Libraries that do not compile answer sooner": ("PyTorch", "autograd"), "JAX answers sooner": OTHERS}
    return beside_libraries(times, ("fad", "auto"), lambda t: f"{t:.3f}" if t < 0.1 else f"{t:.2f}", groups)


def told(name):
    """The program, whose name is printed: it takes a while."""
    print(name, flush=True)
    return PROGRAMS[name]


def primal():
    """Gradients beside the functions themselves, both compiled by fad, on one core."""
    rows, ratios = [], []
    with fad.config.using(threads=1):
        for name in plain.cases():
            function, gradient, _ = plain.compiled(name)
            theirs, ours = medians([function, gradient])
            ratios.append(ours / theirs)
            rows.append((name.replace("_", " "), f"{theirs * 1e3:.2f}", f"{ours * 1e3:.2f}", f"{ratios[-1]:.2f}"))
    return table(("program", "function, ms", "gradient, ms", "ratio"), rows) + "\n\n" + summary(ratios)


def numba():
    """Functions compiled by fad beside Numba's."""
    found = sorted(numba_primals.ratios(), key=lambda row: -row[1])
    ratios = [ratio for _, ratio in found]
    slow = [(name, f"{ratio:.2f}") for name, ratio in found if ratio > 1.2]
    text = f"{len(found)} functions: geometric mean {mean(ratios):.2f}, worst {max(ratios):.2f}."
    return text + (f" Above 1.2:\n\n{table(('function', 'fad / Numba'), slow)}" if slow else " None is above 1.2.")


def calls():
    """The time of a call whose kernel does next to nothing."""
    rows = []
    for name, (_, f, args, kwargs) in ROWS.items():
        g = fad.jit(fad.value_and_grad(f) if args else fad.jit(f), compile="now")
        [t] = medians([lambda g=g, args=args, kwargs=kwargs: g(*args, **kwargs)], budget=0.2)
        rows.append((name, f"{t * 1e6:.1f}"))
    return table(("arguments", "µs a call"), rows)


SECTIONS = {"machine": machine, "by hand": by_hand, "libraries": steady, "first calls": first, "primal": primal,
            "numba": numba, "calls": calls}


# -- the page --------------------------------------------------------------------------------------
def marked(name):
    """The pattern of a section: its marker, its text, the end."""
    return re.compile(rf"(<!-- measured: {name} -->\n).*?<!-- end -->", re.DOTALL)


def written(page, name, text):
    """The page with a section's text replaced."""
    return marked(name).sub(lambda match: f"{match[1]}{text}\n<!-- end -->", page)


def main(names):
    for name in names or SECTIONS:
        print(f"-- {name}", flush=True)
        try:
            text = SECTIONS[name]()
        except Missing as error:
            print(f"{name} keeps its old table: {error}", file=sys.stderr)
            continue
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), name, text), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--section", action="append", choices=SECTIONS,
                        help="measure this section only; may be given again")
    main(parser.parse_args().section)
