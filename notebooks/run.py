"""Execute the notebooks: ``python notebooks/run.py [names]`` checks them, ``--write`` keeps the outputs."""

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent


def execute(path: Path, write: bool) -> None:
    """Run one notebook from top to bottom; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    begun = time.perf_counter()
    place = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    if write:
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)  # times of this run: noise in a diff
        notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
        nbformat.write(notebook, path)
    count = sum(cell.cell_type == "code" for cell in notebook.cells)
    print(f"{path.name}: {count} cells ran in {time.perf_counter() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    for notebook in sorted(FOLDER.glob("*.ipynb")):
        if not names or notebook.stem in names:
            execute(notebook, write="--write" in sys.argv)
