"""Execute the notebooks: ``python notebooks/run.py`` checks them, ``--write`` keeps the outputs."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent


def execute(path: Path, write: bool) -> None:
    """Run one notebook from top to bottom; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    if write:
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)  # times of this run: noise in a diff
        nbformat.write(notebook, path)
    print(f"{path.name}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells ran")


if __name__ == "__main__":
    for notebook in sorted(FOLDER.glob("*.ipynb")):
        execute(notebook, write="--write" in sys.argv)
