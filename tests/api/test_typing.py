"""Type checkers and editors see the parameters of a function on its derivatives."""
import os
from pathlib import Path

import pytest

import fad

mypy = pytest.importorskip("mypy.api")

SOURCE = '''
import fad

def loss(w: list[float], scale: float = 1.0) -> float:
    return 0.0

reveal_type(fad.grad(loss))
reveal_type(fad.grad(loss, argnums=(0, 1), has_aux=True))
reveal_type(fad.value_and_grad(loss, argnums=1))
reveal_type(fad.jacobian(loss))
reveal_type(fad.jacfwd(loss))
reveal_type(fad.jacrev(loss))
reveal_type(fad.hessian(loss))
reveal_type(fad.jit(loss))
reveal_type(fad.vmap(loss, in_axes=(0, None)))

@fad.jit(compile="now")
def decorated(x: float) -> int:
    return 1

reveal_type(decorated)
fad.grad(loss)([1.0], skale=2.0)
'''

PARAMETERS = "(w: list[float], scale: float =)"
REVEALED = [f"def {PARAMETERS} -> {result}" for result in (
    "Any", "tuple[Any, Any]", "tuple[float, Any]", "Any", "Any", "Any", "Any", "float", "Any")]


def test_a_transform_keeps_the_parameters_of_its_function(tmp_path, monkeypatch):
    file = tmp_path / "example.py"
    file.write_text(SOURCE)
    monkeypatch.setenv("MYPYPATH", str(Path(fad.__file__).parents[1]))
    told, problems, _ = mypy.run([str(file), f"--config-file={os.devnull}", f"--cache-dir={tmp_path / 'cache'}",
                                  "--ignore-missing-imports", "--follow-imports=silent"])
    told = told.replace("builtins.", "")
    revealed = [line.split('"')[1] for line in told.splitlines() if "Revealed type" in line]
    assert revealed == [*REVEALED, "def (x: float) -> int"], told + problems
    errors = [line for line in told.splitlines() if ": error:" in line]
    assert len(errors) == 1 and 'Unexpected keyword argument "skale"' in errors[0], told
