"""fad from a zip archive, and without its texts: it compiles, and the cache of its kernels works."""

import compileall
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

import fad

HERE = pathlib.Path(fad.__file__).parent
PROGRAM = """
import sys
import numpy as np
import fad
from fad.sparse import colouring

def f(x):
    total = 0.0
    for i in range(1, x.size):
        total += np.sin(x[i]) * x[i - 1]
    return total

def tridiagonal(x):
    return x[1:-1] * x[2:] - x[:-2] ** 2

assert fad.__file__.startswith(sys.argv[1]), fad.__file__
x = np.linspace(0.0, 1.0, 5)
with fad.config.using(compile="now"):
    found = fad.grad(f)(x)
with fad.config.using(compile="never"):
    assert np.allclose(found, fad.grad(f)(x))
colouring.FEW = 0                                            # so that the colouring is compiled, too
assert np.allclose(fad.sparse.jacobian(tridiagonal)(x).toarray(), fad.jacobian(tridiagonal)(x))
"""


def archive(folder):
    """fad in a zip archive."""
    place = folder / "fad.zip"
    with zipfile.ZipFile(place, "w") as file:
        for part in HERE.rglob("*"):
            if part.is_file() and part.suffix != ".pyc":
                file.write(part, part.relative_to(HERE.parent))
    return place


def without_texts(folder):
    """fad as a frozen program has it: its code alone."""
    place = folder / "frozen"
    shutil.copytree(HERE, place / "fad", ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(place / "fad", legacy=True, quiet=2)
    for part in place.rglob("*.py"):
        part.unlink()
    return place


@pytest.mark.parametrize("installed", [archive, without_texts])
def test_fad_compiles_wherever_it_was_imported_from(installed, tmp_path):
    place = installed(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": str(place), "FAD_CACHE_DIR": str(tmp_path / "cache"),
           "PYTHONWARNINGS": "error::UserWarning"}
    for _ in range(2):                                       # the second one finds what the first one has written
        run = [sys.executable, str(tmp_path / "program.py"), str(place)]
        done = subprocess.run(run, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    assert list((tmp_path / "cache").iterdir())
