"""Write the reference: one page for each function or small group of fad's public names, one for each public module.

The pages name what belongs together; Sphinx takes signatures and text from the docstrings.
"""

import importlib
import importlib.util
import inspect
import operator
from pathlib import Path

import fad

FOLDER = Path(__file__).parent / "reference"
GROUPS = {  # page -> its title, one sentence, the names on it
    "Derivatives": {
        "grad": ("Gradients", "Differentiate a function that returns one number.", "grad value_and_grad"),
        "jacobian": ("Jacobians", "Differentiate a function that returns arrays.", "jacobian jacrev jacfwd"),
        "hessian": ("Hessians", "Compute second derivatives, as a matrix or as products with a vector.",
                    "hessian hvp vhp"),
        "products": ("Products with the Jacobian", "Push tangents forward, or pull cotangents back.",
                     "jvp vjp linearize"),
    },
    "Transforming and compiling": {
        "jit": ("Compilation", "Compile a function without differentiating it.", "jit"),
        "vmap": ("Batches", "Apply a function to each example of a batch.", "vmap"),
        "numba": ("Numba and C", "Call a derivative from compiled code.", "cfunc export"),
    },
    "Steering the derivative": {
        "custom": ("Your own rules", "Give a function a derivative of your own.",
                   "custom_jvp custom_vjp stop_gradient"),
        "implicit": ("Implicit differentiation", "Differentiate the solution of an equation.", "implicit"),
        "checkpoint": ("Checkpoints", "Save less memory, and compute part of the function twice.", "checkpoint"),
        "control": ("Explicit control flow", "Write loops and branches as functions, the way JAX does.",
                    "cond switch while_loop fori_loop scan"),
        "structures": ("Structures", "Pass dictionaries, dataclasses and classes of your own.", "ravel register"),
    },
    "Checking and seeing": {
        "certify": ("Certificates", "Check a derivative four ways.", "certify"),
        "seeing": ("Programs and source", "Read what fad made of a function.",
                   "stages draw debug_print source explain show"),
        "config": ("Settings", "Choose when fad compiles, where it keeps kernels and what it checks.", "config"),
        "exceptions": ("Errors and warnings", "Catch what fad raises.",
                       "FadError FallbackWarning InternalErrorWarning"),
    },
    "Tensors": {
        "tensor": ("The Tensor", "Record operations and call backward().", "Tensor"),
        "modes": ("Gradient modes", "Record less, or nothing.",
                  "no_grad enable_grad set_grad_enabled inference_mode is_grad_enabled is_inference_mode_enabled"),
        "dtypes": ("Default dtype", "Choose float32 or float64.", "set_default_dtype get_default_dtype"),
    },
}
MODULES = {  # a public module -> what it is for
    "functional": "Use the functions of torch.autograd.functional on arrays and tensors.",
    "sparse": "Compute sparse Jacobians and Hessians.",
    "scipy": "Call SciPy's optimisers with exact derivatives, and get standard errors.",
    "torch": "Call functions that fad differentiates from PyTorch.",
    "jax": "Call functions that fad differentiates from JAX.",
    "pytensor": "Make Ops for PyTensor and PyMC of functions.",
    "dask": "Differentiate sums over chunks of Dask's arrays and bags.",
    "autograd": "Work with gradients of tensors under PyTorch's names.",
    "nn": "Build networks from modules.",
    "optim": "Train with PyTorch's optimisers.",
    "linalg": "Use numpy.linalg on arrays, traced arrays and tensors.",
    "special": "Use scipy.special on arrays, traced arrays and tensors.",
    "fft": "Use numpy.fft on arrays, traced arrays and tensors.",
    "numpy": "Use numpy on arrays, traced arrays and tensors.",
    "utils": "Compute a part of a network again in backward, and keep less.",
    "compat.autograd": "Run packages that were written for HIPS autograd.",
}
OF_LIBRARIES = {"linalg": "numpy.linalg", "special": "scipy.special", "fft": "numpy.fft", "numpy": "numpy"}
# the modules whose functions have numpydoc sections, and in which parts
IN_FULL = {"scipy": ("optimize",), "dask": ("",), "torch": ("",), "jax": ("",), "pytensor": ("",)}
PARTS = {"nn": ("functional", "init", "utils"), "optim": ("lr_scheduler",), "utils": ("checkpoint",),
         "autograd": ("forward_ad", "graph", "profiler")}


# -- the roof ----------------------------------------------------------------------------------------------------------

def directive(name: str) -> str:
    """The directive that documents one name of fad."""
    thing = operator.attrgetter(name)(fad)
    if inspect.isclass(thing):
        return f".. autoclass:: fad.{name}\n"
    return f".. autofunction:: fad.{name}\n" if callable(thing) else f".. autodata:: fad.{name}\n   :no-value:\n"


def headed(text: str, line: str) -> str:
    """A heading of reStructuredText, which these pages are written in: their docstrings have footnotes."""
    return f"{text}\n{line * len(text)}\n"


def group_page(title: str, sentence: str, names: str) -> str:
    """The page of a small group: a heading for each name where there are several."""
    single = len(names.split()) == 1
    parts = [("" if single else headed(name, "-") + "\n") + directive(name) for name in names.split()]
    return "\n".join([headed(title, "="), sentence + "\n", *parts])


def left_out() -> set[str]:
    """Public names of fad that stand on no page; the build fails if there are any."""
    named = {name for pages in GROUPS.values() for _, _, names in pages.values() for name in names.split()}
    return {name for name in fad.__all__ if not inspect.ismodule(getattr(fad, name))} - named


# -- the modules -------------------------------------------------------------------------------------------------------

def public(module) -> list[str]:
    """The public names of a module: its own, without the modules that it imports."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return sorted(name for name in names if callable(getattr(module, name, None)))


def functions_first(module) -> list[str]:
    """The public names of a module; the classes that its functions return stand behind these."""
    return sorted(public(module), key=lambda name: (inspect.isclass(getattr(module, name)), name))


def file_of(name: str) -> str:
    """The file of a module's page."""
    return f"module-{name}" + (".rst" if name in IN_FULL else ".md")


def is_there(name: str) -> bool:
    """Whether fad has this module."""
    return importlib.util.find_spec(f"fad.{name}") is not None


def first_sentence(thing) -> str:
    """The first paragraph of a docstring, as the cell of a table."""
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def call_of(name: str, thing) -> str:
    """How a name is called, short enough for a table."""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return name
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    short = [stars.get(p.kind, "") + p.name for p in parameters if p.name != "self"]
    return f"{name}({', '.join(short[:4] + ['…'] * (len(short) > 4))})"


def table_of(module) -> str:
    """A table of a module's public names."""
    things = {name: getattr(module, name) for name in public(module)}
    rows = [f"| `{call_of(name, thing)}` | {first_sentence(thing)} |" for name, thing in things.items()]
    return "\n".join(["| name | what it does |", "|---|---|", *rows]) + "\n"


def module_page(name: str) -> str:
    """The page of a public module."""
    module = importlib.import_module(f"fad.{name}")
    head = f"# fad.{name}\n\n{MODULES[name]}\n"
    if name in OF_LIBRARIES:
        library = OF_LIBRARIES[name]
        return (f"{head}\n`fad.{name}` holds the functions of `{library}` under their own names. Their documentation "
                f"is that of `{library}`. [The table of functions](functions.md) says which of them fad "
                f"differentiates. Code that calls `{library}` itself needs no change.\n\n"
                + ", ".join(f"`{each}`" for each in public(module)) + "\n")
    parts = [f"## fad.{name}.{part}\n\n{table_of(getattr(module, part))}" for part in PARTS.get(name, ())]
    own = [table_of(module)] if public(module) else []
    return "\n".join([head, *own, *parts])


def full_page(name: str) -> str:
    """The page of a module whose functions have numpydoc sections."""
    module = importlib.import_module(f"fad.{name}")
    names = [f"{part}.{each}".strip(".") for part in IN_FULL[name]
             for each in functions_first(getattr(module, part) if part else module)]
    sections = [headed(each, "-") + "\n" + directive(f"{name}.{each}") for each in names]
    return "\n".join([headed(f"fad.{name}", "="), MODULES[name] + "\n", *sections])


# -- the pages ---------------------------------------------------------------------------------------------------------

def listing(pages: dict) -> str:
    """A table of pages and the tree that the sidebar shows."""
    rows = [f"| [{title}]({page}.rst) | {', '.join(f'`fad.{n}`' for n in names.split())} | {sentence} |"
            for page, (title, sentence, names) in pages.items()]
    return "| | | |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def tree(caption: str, pages) -> str:
    """A hidden tree of contents."""
    return f"```{{toctree}}\n:caption: {caption}\n:hidden:\n:maxdepth: 1\n\n" + "\n".join(pages) + "\n```\n"


def index() -> str:
    """The first page of the reference."""
    modules = [name for name in MODULES if is_there(name)]
    text = ["# Reference\n\nEvery public name of fad, by task. The examples run as they stand.\n",
            "[The table of functions](functions.md) says which functions of NumPy and SciPy fad differentiates. "
            "[The error index](../errors.md) explains each error.\n"]
    for caption, pages in GROUPS.items():
        text += [f"## {caption}\n", listing(pages), tree(caption, pages)]
    rows = "\n".join(f"| [`fad.{name}`]({file_of(name)}) | {MODULES[name]} |" for name in modules)
    text += ["## Modules\n", f"| | |\n|---|---|\n{rows}\n", tree("Modules", [f"module-{name}" for name in modules]),
             tree("Tables", ["functions", "../errors", "../kinks", "ops"])]
    return "\n".join(text)


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(exist_ok=True)
    if left_out():
        raise SystemExit(f"docs/build_reference.py: no page has {', '.join(sorted(left_out()))}")
    for pages in GROUPS.values():
        for page, (title, sentence, names) in pages.items():
            (FOLDER / f"{page}.rst").write_text(group_page(title, sentence, names), encoding="utf-8")
    for name in filter(is_there, MODULES):
        text = full_page(name) if name in IN_FULL else module_page(name)
        (FOLDER / file_of(name)).write_text(text, encoding="utf-8")
    (FOLDER / "index.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main()
