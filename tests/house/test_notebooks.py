"""The tutorials are short and show something: five people's tasks in under 60 lines of code each, a plot in each."""

import json
import re

import pytest

from .source import ROOT

FOLDER = ROOT / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
TASKS = {"fit": "statistician", "ode": "engineer", "numba": "user of Numba", "networks": "machine learning",
         "hmc": "Bayesian"}
SHORT = [*TASKS, "variational", "quickstart"]
WITHOUT_PLOT = {"small_fad"}  # its pictures are the programs that it prints
MOST_LINES = 60
EXAMPLES = 20


def cells(name: str, kind: str) -> list[dict]:
    """The cells of one kind of a notebook."""
    found = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == kind]


def lines(name: str) -> list[str]:
    """The lines of code, without empty ones and comments."""
    code = [line for cell in cells(name, "code") for line in "".join(cell["source"]).splitlines()]
    return [line for line in code if line.strip() and not line.strip().startswith("#")]


def pictures(name: str) -> int:
    """How many cells show a picture."""
    return sum(any({"image/png", "image/svg+xml"} & set(out.get("data", {})) for out in cell["outputs"])
               for cell in cells(name, "code"))


def test_tasks_are_there():
    assert set(TASKS) <= set(NAMES)


@pytest.mark.parametrize("name", SHORT)
def test_task_is_short(name):
    assert len(lines(name)) < MOST_LINES


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_PLOT])
def test_has_a_picture(name):
    assert pictures(name) >= 1


def test_gallery_has_a_picture_for_each_example():
    heads = [cell for cell in cells("gallery", "markdown") if "".join(cell["source"]).startswith("## ")]
    assert len(heads) == pictures("gallery") == EXAMPLES


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_a_whole_run_without_warnings(name):
    code = cells(name, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert not [out for cell in code for out in cell["outputs"] if out.get("name") == "stderr"
                or out["output_type"] == "error"]


@pytest.mark.parametrize("name", NAMES)
def test_names_no_machine(name):
    """Paths of the machine that ran the notebook do not stand in its outputs."""
    texts = [json.dumps(out) for cell in cells(name, "code") for out in cell["outputs"]
             if "text" in out or "text/plain" in out.get("data", {})]
    assert not [text for text in texts if re.search(r"/(tmp|home|root)/", re.sub(r'"image/png": "[^"]*"', "", text))]
