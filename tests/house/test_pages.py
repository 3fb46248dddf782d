"""Every example on every page runs and prints what the page says; the design pages name modules that exist."""

import re
import shutil
import subprocess
import sys

import pytest

from . import pages
from .source import PACKAGE, ROOT, name_of

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DESIGN = sorted((ROOT / "docs" / "design").glob("*.md"))
PATH = re.compile(r"`(?:fad/)?([a-z_]+(?:/[a-z_]+)+)(?:\.py)?(?:\.[a-z_]+)?`")


@pytest.mark.parametrize("page", [page for page in PAGES if pages.blocks(page)], ids=name_of)
def test_examples_of_the_page_run(page, capsys):
    pages.run(page)


def missing(page) -> list[str]:
    """The modules and folders that a page names (`passes/cse`, `tests/bench`) and that are not there."""
    named = PATH.findall(page.read_text(encoding="utf-8"))
    return [path for path in named
            if not any((root / path).is_dir() or (root / f"{path}.py").is_file() for root in (PACKAGE, ROOT))]


@pytest.mark.parametrize("page", DESIGN, ids=name_of)
def test_design_pages_open_with_something_to_look_at(page):
    """A picture, a formula, a table or an example stands on the first screen."""
    first = page.read_text(encoding="utf-8").splitlines()[:9]
    assert any(line.startswith(("```", "$$", "|", "![")) for line in first)


def test_design_pages_name_modules_that_exist():
    assert not {page.name: names for page in DESIGN if (names := missing(page))}


# -- code that is only shown -----------------------------------------------------------------------

SHOWN = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FOR_USERS = [page for page in PAGES if page not in DESIGN and page.name != "add-an-op.md"]
NEEDS_A_REASON = re.compile(r"^%|^%%|autograd|torch|jax|mpi4py", re.MULTILINE)


@pytest.mark.parametrize("page", FOR_USERS, ids=name_of)
def test_code_that_does_not_run_is_of_other_libraries(page):
    """A ``py`` block is not executed: it shows another library, or what only a notebook understands."""
    shown = SHOWN.findall(page.read_text(encoding="utf-8"))
    assert not [code for language, code in shown
                if language in ("py", "pycon", "ipython") and not NEEDS_A_REASON.search(code)]
    assert not [code for language, code in shown
                if language == "" and re.search(r"^(>>>|import |from |def )", code, re.MULTILINE)]


@pytest.mark.skipif(not (shutil.which("mpiexec") and pages.is_there("mpi4py")), reason="MPI is not installed")
def test_recipe_for_mpi_runs(tmp_path):
    code = next(code for language, code in SHOWN.findall((ROOT / "docs" / "scaling.md").read_text(encoding="utf-8"))
                if "MPI" in code)
    (tmp_path / "fit.py").write_text(code, encoding="utf-8")
    done = subprocess.run(["mpiexec", "--oversubscribe", "-n", "2", sys.executable, "fit.py"], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr
