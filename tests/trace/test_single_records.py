"""Single records (`numpy.void`, `numpy.record`) from outside: they change, and share their memory with arrays.

Four calls of each function leave what Python leaves, with changes from outside between them.
"""
import types

import numpy as np
import pytest

import fad

from ..turns import crossed
from .packages import of_file

HEAD = """
import copy, types
import numpy as np
DTYPE = np.dtype([("a", float), ("b", int)])
R = np.array([(1.0, 3), (2.0, 4)], DTYPE)
ROW, VIEWED, RR = R[1].copy(), R.copy(), np.rec.array([(1.0, 2), (3.0, 4)], dtype=DTYPE)[0]
V, NESTED = VIEWED[0], np.zeros(2, [("p", [("a", float), ("c", float, 2)]), ("q", float)])[0]
K = types.SimpleNamespace(row=ROW, last=None, all=[])
L, T, D = [R[0].copy(), 1.0], (R[0].copy(), 2.0), {"r": R[0].copy()}
OBJECTS = np.array([R[0].copy(), None], dtype=object)
def state():
    return [x.tolist() for x in (R, ROW, VIEWED, RR, NESTED, L[0], T[0], D["r"], OBJECTS[0])] + [
        K.last, [x if isinstance(x, float) else x.tolist() for x in K.all]]
def change(k):
    for row in (R[0], ROW, V, RR, L[0], T[0], D["r"], OBJECTS[0]): row["a"] += k; row["b"] += k
"""
STATEMENTS = """
y = ROW["a"] * v
y = K.row["a"] * v
y = L[0]["a"] * v + T[0]["b"] * D["r"]["a"]
y = OBJECTS[0]["a"] * v
y = ROW[0] * v + ROW[-1]
ROW["a"] = 5.0; y = v
ROW["a"] = v; y = ROW["a"] * v
ROW["a"] += v; y = ROW["a"] * v
ROW[1] += 2; y = ROW["b"] * v
L[0]["a"] += v; y = L[0]["a"]
T[0]["a"] = v; y = T[0]["a"]
D["r"]["b"] = 7; y = D["r"]["b"] * v
for row in (L[0], T[0], D["r"]): row["a"] *= 0.5; y = D["r"]["a"] * v
VIEWED["a"] *= 2.0; y = V["a"] * v
V["b"] += 1; y = VIEWED["b"][0] * v
RR.a = v; y = RR.a * RR["a"]
RR.b += 2; y = RR["b"] * v
setattr(RR, "a", 5.0); y = RR["a"] * v
NESTED["p"]["a"] = v; NESTED["p"]["c"][1] += v; y = NESTED["p"]["c"].sum() * v
NESTED["p"] = (v, [1.0, 2.0]); y = NESTED["p"]["a"]
R[0] = ROW; y = R["a"][0] * v
R[:] = ROW; y = R["a"][1] * v
a_, b_ = ROW; y = a_ * b_ * v
q_ = ROW.copy(); q_["a"] = 9.0; y = ROW["a"] * v
q_ = copy.copy(ROW); q_["a"] = 9.0; y = ROW["a"] * v
q_ = copy.deepcopy(ROW); q_["a"] = 9.0; y = ROW["a"] * v
q_ = np.array(ROW); q_["a"] = 9.0; y = ROW["a"] * v
q_ = np.asarray(ROW); q_["a"] = 9.0; y = ROW["a"] * v
q_ = np.array(R); q_["a"] = 9.0; y = R["a"][0] * v
q_ = copy.copy(R); q_["a"] = 9.0; y = R["a"][0] * v
q_ = ROW[["a", "b"]]; q_["a"] = 9.0; y = ROW["a"] * v
y = sum(list(ROW)) * v + len(ROW) + ROW.item()[1] + ROW.tolist()[0]
y = (ROW == R[0]) * v + (ROW == ROW) + (ROW != V)
y = len(str(ROW)) * v + len(repr(ROW)) + len(f"{ROW}")
y = (ROW.dtype.names[0] == "a" and ROW.shape == ()) * v + ROW.ndim + ROW.size + ROW.nbytes + bool(ROW)
y = isinstance(ROW, np.void) * v + isinstance(RR, np.record) + 2 * isinstance(ROW, np.record) + (type(RR) is np.record)
y = (ROW is K.row) * v + 2 * (ROW is V) + ROW.astype([("a", int), ("b", int)])["a"]
K.last = ROW["a"]; K.all.append(V["a"]); y = v
K.all.append(ROW.copy()); y = v
y = sorted([ROW["a"], V["a"]])[0] * v + max(ROW["a"], v)
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning", "error::fad.InternalErrorWarning")
@pytest.mark.parametrize(("statement", "transform"), crossed(STATEMENTS, [fad.jit, fad.value_and_grad]))
def test_records_from_outside_are_read_and_written(statement, transform, tmp_path):
    steps = statement.rsplit("; ", 1)
    body = "".join([f"    {step}\n" for step in steps])
    text = f"{HEAD}def f(v):\n{body}    return y * 1.0 + 0.0 * v\n"
    python, module = of_file(tmp_path, text), of_file(tmp_path, text)
    g = transform(module.f, compile="never")
    for k, v in enumerate([0.5, 0.7, 0.7, 1.9]):
        python.change(k), module.change(k)
        want = python.f(v)
        try:
            found = g(v) if transform is fad.jit else g(v)[0]
        except fad.FadError as error:
            assert type(error) is not fad.InternalErrorWarning and "OBJECTS" not in statement, error
            assert transform is fad.value_and_grad and ("R[" in statement or "V" in statement), error
            return
        np.testing.assert_allclose(found, want)
        assert repr(module.state()) == repr(python.state())


def test_what_records_cannot_do_is_refused():
    row = np.zeros(2, [("a", float)])[0]
    with pytest.raises(fad.FadError, match="the attribute fill of a record array"):
        fad.jit(lambda v: row.fill(v), fallback=False)(0.5)
    with pytest.raises(AttributeError, match=r"'numpy.void' object has no attribute 'nix'"):
        fad.jit(lambda v: row.nix)(0.5)


def test_numpys_question_for_a_number_is_told_in_fads_words():
    """NumPy says "setting an array element with a sequence" of it."""
    held = types.SimpleNamespace(rows=np.rec.array([(1.0, 2)], dtype=[("a", float), ("b", int)]))

    def f(v):
        held.rows[0] = (v, 3)
        return v * 1.0
    with pytest.raises(fad.FadError, match=r"float\(\) was taken of a traced value"):
        fad.grad(f, fallback=False)(0.5)
