"""Numbers that are read from the text of a number that is differentiated, on the tape: an error, not a gradient of 0.
"""
import ast
import copy
import csv
import io
import json
import re
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import fad
from fad.util.errors import NoDerivativeError


class Model:
    def __repr__(self):
        return f"{self.v!r}"


def object_of(v):
    model = Model()
    model.v = v
    return model


def written(v):
    file = io.StringIO()
    file.write(f"{v}\n")
    file.seek(0)
    return file


def printed(v):
    file = io.StringIO()
    print(v, 1.0, file=file)
    return file.getvalue()


def attribute(v):
    model = Model()
    model.t = f"{v}"
    return model.t


READ = {
    "str": lambda v: float(str(v)),
    "format": lambda v: float(f"{v:.12g}"),
    "percent": lambda v: float("%.12g" % v),  # noqa: UP031
    "fill": lambda v: float("{a}".format(a=v)),  # noqa: UP032
    "repr": lambda v: float(repr([v]).strip("[]").replace("np.float64(", "").rstrip(")")),
    "object": lambda v: float(re.sub("[^0-9.]", "", repr(object_of(v)).replace("float64", ""))),
    "complex": lambda v: complex(str(v)).real,
    "numpy": lambda v: np.float64(str(v)),
    "decimal": lambda v: float(Decimal(str(v))),
    "fraction": lambda v: float(Fraction(str(v))),
    "json": lambda v: json.loads(json.dumps({"a": [f"{v}"]})) and float(json.loads(json.dumps([f"{v}"]))[0]),
    "literal": lambda v: ast.literal_eval(f"({v}, 1)")[0],
    "eval": lambda v: eval(f"{v}"),
    "eval with names": lambda v: eval(f"{v} * t", {"t": 1.0}),
    "array": lambda v: np.array([f"{v}"]).astype(float)[0],
    "asarray": lambda v: np.asarray([f"{v}", "1.0"], dtype=float)[0],
    "fromstring": lambda v: np.fromstring(f"{v} 1.0", sep=" ")[0],
    "loadtxt": lambda v: np.loadtxt(written(v)),
    "lines": lambda v: [float(line) for line in written(v)][0],
    "printed": lambda v: float(printed(v).split()[0]),
    "csv": lambda v: [float(row[0]) for row in csv.reader([f"{v},1.0"])][0],
    "parts": lambda v: sum(map(float, f"{v} 1.0".split())),
    "joined": lambda v: float("".join([str(v), "0"])),
    "sliced": lambda v: float((str(v) + "000")[:6]),
    "bytes": lambda v: float(str(v).encode()),
    "match": lambda v: float(re.match("(.*);", f"{v};").group(1)),
    "process": lambda v: float(subprocess.run([sys.executable, "-c", f"print({v})"], capture_output=True).stdout),
    "attribute": lambda v: float(attribute(v)),
    "key": lambda v: {str(0.7): 2.0}[str(v)],
}
TOLD = {
    "message": lambda v: f"loss {v:.3f}" and 1.0,
    "settings": lambda v: float("0.7") if f"{v}" else 0.0,
    "length": lambda v: float(len(f"{v:8.3f}")),
    "compared": lambda v: 2.0 if f"{v:.1f}" == "0.7" else 3.0,
    "sorted": lambda v: max([(f"{v}", 2.0), ("a", 3.0)])[1],
    "zipped": lambda v: dict(zip([f"{v}", "b"], [2.0, 3.0]))["b"],
    "kept": lambda v: copy.deepcopy({"name": f"{v}", "x": 2.0})["x"],
    "written": lambda v: written(v) and 2.0,
    "held still": lambda v: float(str(fad.stop_gradient(v))) + 2.0,
    "rounded": lambda v: float(str(round(v, 1))),
    "count": lambda v: float(str(int(v * 10))),
}


def on_tape(read):
    def f(a, b):
        table = {int(a * 3): 1.0}                             # a dict keyed by data: no program has it
        return read(a) * b ** 2 * len(table)
    return f


@pytest.mark.parametrize("read", READ.values(), ids=READ)
@pytest.mark.filterwarnings("ignore")
def test_a_number_that_is_read_from_a_text_has_no_derivative(read):
    f = on_tape(read)
    assert f(0.7, 1.3) > 0
    with pytest.raises(NoDerivativeError, match="from a text that was made of a number"):
        fad.grad(f)(0.7, 1.3)
    np.testing.assert_allclose(fad.grad(f, argnums=1)(0.7, 1.3), 2.6 * read(0.7))     # of a number that stands still


@pytest.mark.parametrize("read", TOLD.values(), ids=TOLD)
@pytest.mark.filterwarnings("ignore")
def test_texts_may_be_told(read):
    np.testing.assert_allclose(fad.grad(on_tape(read), argnums=(0, 1))(0.7, 1.3), [0.0, 2.6 * read(0.7)])
