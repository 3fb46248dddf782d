"""The tower holds: the contract of setup.cfg, and no import of fad hidden inside a function."""

import ast
import subprocess
import sys

from .source import ROOT, functions, modules, name_of


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
