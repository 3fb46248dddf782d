"""The tower holds: the contract of setup.cfg, and no import of fad hidden inside a function."""

import ast
import graphlib
import subprocess
import sys

from .source import ROOT, functions, modules, name_of, tree


def test_the_contract_of_the_tower_is_kept():
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    run = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def imports_of_fad(function) -> list[int]:
    """The lines inside a function that import fad, absolutely or relatively."""
    return [node.lineno for node in ast.walk(function) if _imports_fad(node)]


def _imports_fad(node) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").split(".")[0] == "fad"
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] == "fad" for alias in node.names)
    return False


def test_no_import_of_fad_inside_a_function():
    assert not {f"{name_of(path)}: {f.name}": lines
                for path in modules() for f in functions(path) if (lines := imports_of_fad(f))}


def _imported(path) -> set:
    """The modules of fad that a file imports, also for types alone."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            base = [*package[:len(package) - node.level + 1]] if node.level else []
            base += (node.module or "").split(".") if node.module else []
            found |= {".".join(base), *(".".join([*base, alias.name]) for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_no_two_modules_import_each_other():
    """The modules can be put into an order in which each imports earlier ones only."""
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in modules()
             if path.name != "__init__.py"}
    order = graphlib.TopologicalSorter({name: _imported(path) & files.keys() for name, path in files.items()})
    assert len(list(order.static_order())) == len(files)       # else an error shows the circle
