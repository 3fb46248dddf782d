"""Each way to write in Python and NumPy, to something from outside: after every call all holds what it holds without
fad, and no traced value stays anywhere. A trace that is refused has written nothing.

The statements are the generator's grammar: operators, methods, functions of the library that change an argument,
targets of loops and assignments, views, records, buffers. `v` is what is differentiated, `y` the result.
"""
import random

import numpy as np
import pytest

import fad

from ..turns import crossed
from .packages import of_file

HEAD = """
import array, bisect, collections, copy, functools, heapq, itertools, operator, random, types
import numpy as np
from collections import *
L, L2, H = [3.0, 1.0, 2.0], [1.0, 2.0], [1.0, 3.0, 2.0]
D, OD, DD, C = {"a": 1.0, "b": 2.0}, OrderedDict(x=1.0, y=2.0), defaultdict(list), Counter(a=1, b=2)
S, Q, T, NEST = {1, 2}, deque([1.0, 2.0, 3.0], maxlen=5), ([1.0], {"k": 2.0}), [[1.0], [2.0]]
A, I, Z, B = np.array([3.0, 1.0, 2.0]), np.array([1, 2, 3]), np.array([1 + 1j, 2.0]), np.array([True, False])
R = np.zeros(2, np.dtype([("a", float), ("b", int)]))
P, A2 = np.array(2.0), np.array([5.0, 6.0, 7.0])
ROW, OBJECTS = R[0].copy(), np.array([1.0, "t", None], dtype=object)
M = np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0])
NUMBERS, BYTES = array.array("d", [1.0, 2.0]), bytearray(b"abc")
G = 1.0
class O: pass
o, ns = O(), types.SimpleNamespace(a=1.0)
o.v, o.l = 1.0, [1.0]
def state():
    return [L, L2, H, D, OD, DD, C, S, Q, T, NEST, A.tolist(), I.tolist(), Z.tolist(), B.tolist(), R.tolist(),
            P.tolist(), A2.tolist(),
            ROW.tolist(), OBJECTS.tolist(), M.data.tolist(), M.mask.tolist(), NUMBERS, BYTES, G, vars(o), vars(ns)]
"""
STATEMENTS = """
heapq.heapify(L); L.append(v); y = heapq.heappop(L)
heapq.heappush(H, v); y = H[0]
y = heapq.heappushpop(H, v)
y = heapq.heapreplace(H, v)
bisect.insort(L2, v); y = L2[0]
random.shuffle(L); y = L[0]
np.random.shuffle(L2); y = L2[0]
np.random.shuffle(A); y = A[0]
operator.setitem(L, 0, v); y = L[0]
operator.iadd(L, [v]); y = L[-1]
operator.delitem(L, 0); L.append(v); y = L[0]
operator.ior(D, {"c": v}); y = D["c"]
functools.reduce(lambda acc, q: (acc.append(q), acc)[1], [v, 2 * v], L); y = L[-1]
list(map(L.append, [v, v])); y = L[-1]
[L.append(k * v) for k in range(2)]; y = L[-1]
any(L.append(q) for q in (v, v)); y = L[-1]
Q.extendleft([v, v]); Q.rotate(1); y = Q[0]
Q.appendleft(v); y = Q.pop()
NUMBERS.append(2.0); NUMBERS[0] = 5.0; y = NUMBERS[0] * v
BYTES.append(7); BYTES[0] = 65; y = BYTES[0] * v
S.add(5); S.discard(1); y = len(S) * v
vars(o).update(v=v, w=2.0); y = o.w * o.v
o.__dict__["z"] = v; y = o.z
globals()["G"] = v; y = G
setattr(o, "l", o.l + [v]); y = o.l[-1]
o.l += [v]; y = o.l[-1]
o.l[len(o.l):] = [v]; y = o.l[-1]
delattr(o, "v"); o.v = v; y = o.v
DD["k"].append(v); y = DD["k"][-1]
OD.move_to_end("x"); OD["y"] = v; y = next(iter(OD.values()))
OD.popitem(last=False); OD["x"] = v; y = sum(OD.values())
C.update({"a": 2}); C.subtract(b=1); y = C["a"] * v
C["a"] += v; y = C["a"]
D.update(zip("ab", [v, 2 * v])); y = D["b"]
D |= {"a": v}; y = D["a"]
D.setdefault("n", v); y = D["n"]
D.pop("a"); D["a"] = v; y = D["a"]
NEST[0] *= 2; NEST[1][0] = v; y = NEST[1][0]
NEST[0], NEST[1] = NEST[1], [v]; y = NEST[1][0]
L.sort(); L[0] = v; y = L[0]
L.sort(key=lambda q: -q * v); y = L[0]
L.reverse(); L.insert(0, v); y = L[-1]
L[:] = [q * v for q in L]; y = L[0]
L[::2] = [v, v]; y = L[0]
del L[1:]; L.extend([v, v]); y = L[1]
L *= 2; del L[3:]; y = L[0] * v
L.remove(1.0) if 1.0 in L else L.append(1.0); y = len(L) * v
A.sort(); A[0] += v; y = A[-1]
A[::-1].sort(); y = A[0] * v
np.add.at(A, [0, 0], v); y = A[0]
np.copyto(A, v); y = A[0]
np.put(A, [1], v); y = A[1]
np.putmask(A, A > 1, v); y = A[0]
np.place(A, A > 1.5, [v]); y = A[0]
np.fill_diagonal(A.reshape(1, 3), v); y = A[0]
A.partition(1); y = A[1] * v
A.put(0, v); y = A[0]
A.fill(v); y = A[2]
A.flat[1] = v; y = A[1]
A.flat = [v, v, 1.0]; y = A[0]
A[...] = np.roll(A, 1); y = A[0] * v
A[...] = A2; y = A[0] * v
q_ = A.copy(); A[...] = A2; A2[...] = q_; y = A[0] * v
P[...] = v; y = P * v
P.fill(v); y = P[()]
np.copyto(P, v); y = P[()]
P += v; y = P * v
A[1:] -= A[:-1]; y = A[1] * v
np.negative(A, out=A); y = A[0] * v
np.clip(A, 0, v, out=A); y = A[0]
np.cumsum(A, out=A); y = A[2] * v
np.minimum(A, v, out=A, where=A > 0); y = A[0]
np.einsum("i,i->i", A, A, out=A); y = A[0] * v
np.nan_to_num(A, copy=False); y = A[0] * v
np.matmul(np.eye(3), A.copy(), out=A); y = A[0] * v
np.take([5.0, 6.0, 7.0], [2, 1, 0], out=A); y = A[0] * v
np.concatenate([A[:1], A[1:]], out=A); y = A[0] * v
I += 1; I[0] = 7; y = I[0] * v
I <<= 1; y = I[1] * v
Z.real[0] = v; Z.imag += 1; y = Z.imag[0] * v
Z *= 1j; y = Z.real[0] * v
B ^= True; y = B[0] * v
np.logical_not(B, out=B); y = B[0] * v
R["a"][0] = v; y = R["a"][0]
R[1]["b"] += 1; y = R["b"][1] * v
R[0] = (2.0, 3); y = R[0]["a"] * v
R[:] = R[::-1]; R["b"] += 1; y = R["b"][0] * v
ROW["a"] += 1.0; y = ROW["a"] * v
ROW["b"] = 4; y = ROW["b"] * v
OBJECTS[0] = v; y = OBJECTS[0]
OBJECTS[1] = "u"; y = v
OBJECTS.fill(v); y = OBJECTS[1]
OBJECTS[2] = np.array([v, v]); y = OBJECTS[2][0]
OBJECTS[2] = [v, 1.0]; y = OBJECTS[2][0]
OBJECTS[2] = (v, {"k": v}); y = OBJECTS[2][0]
OBJECTS.flat[1] = v; y = OBJECTS[1]
memoryview(BYTES)[0] += 1; y = BYTES[0] * v
m_ = memoryview(BYTES)[1:]; m_[0] += 1; y = BYTES[1] * v
np.frombuffer(NUMBERS)[0] += 1.0; y = NUMBERS[0] * v
np.frombuffer(BYTES, np.uint8)[0] += 1; y = BYTES[0] * v
memoryview(NUMBERS)[1] += 1.0; y = NUMBERS[1] * v
q_ = R[1]; q_["b"] += 1; y = R["b"][1] * v
for q_ in R: q_["b"] += 1; y = R["b"][1] * v
for q_ in R[1:]: q_["a"] += 1; y = R["a"][1] * v
for q_ in list(R): q_["a"] += 1; y = R["a"][1] * v
[q_.__setitem__("a", q_["a"] + 1) for q_ in R]; y = R["a"][1] * v
q_ = next(iter(R)); q_["a"] += 1; y = R["a"][0] * v
for i_, q_ in enumerate(R): q_["a"] += i_ + 1; y = R["a"][1] * v
for q_, w_ in zip(R, A): q_["a"] += w_; y = R["a"][1] * v
R.view(np.recarray).b[1] += 1; y = R["b"][1] * v
R.view(np.recarray)[0].a += 1; y = R["a"][0] * v
for q_ in R.view(np.recarray): q_.a += 1; y = R["a"][0] * v
list(map(lambda q: q.__setitem__("b", q["b"] + 1), R)); y = R["b"][0] * v
operator.setitem(R[0], "b", int(R[0]["b"]) + 1); y = R["b"][0] * v
A[0:2].flat[0] += 1.0; y = A[0] * v
M.data[0] += 1.0; y = v
M[1:] += 1.0; y = v
T[0].append(v); T[1]["k"] = v; y = T[1]["k"]
T[0][0] += v; y = T[0][0]
M[0] = 5.0; y = float(M.sum()) * v
M.mask[0] = True; y = v
ns.a += v; y = ns.a
ns.__dict__.clear(); ns.a = v; y = ns.a
it = iter(L); next(it); y = next(it) * v
x, *L[:2] = [v, v, v]; y = L[0]
for L[0] in (v, 2 * v): pass; y = L[0]
for o.v in range(3): pass; y = o.v * v
with np.errstate(all="ignore"): A /= v; y = A[0]
L[0], A[0], D["a"] = v, L[0], A[1]; y = A[0] * v
L[int(L[0]) % 2] = v; y = L[0]
(lambda q: q.append(v))(L); y = L[-1]
D["a"], D["b"] = D["b"], v; y = D["a"]
copy.copy(L).append(1); copy.deepcopy(NEST)[0].append(v); y = NEST[0][0] * v
L.__setitem__(0, v); L.__iadd__([v]); y = L[-1]
list.append(L, v); dict.__setitem__(D, "a", v); y = D["a"] + L[-1]
object.__setattr__(o, "v", v); y = o.v
type(o).cls = v; y = o.cls
exec("L.append(2.0)"); y = L[-1] * v
np.frombuffer(NUMBERS)[0] = 9.0; y = NUMBERS[0] * v
memoryview(BYTES)[0] = 70; y = BYTES[0] * v
A.view(float)[0] = v; y = A[0]
A.reshape(3, 1)[1] = v; y = A[1]
A.T[2] = v; np.asarray(A)[0] = v; y = A[2] + A[0]
np.ravel(A)[1] = v; y = A[1]
np.split(A, 3)[1][0] = v; y = A[1]
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning", "error::fad.InternalErrorWarning")
@pytest.mark.parametrize(("statement", "transform"), crossed(STATEMENTS, [fad.jit, fad.value_and_grad]))
def test_all_holds_what_python_leaves(statement, transform, tmp_path):
    *steps, result = statement.split("; ")
    body = "".join([f"    {step}\n" for step in steps])
    text = f"{HEAD}def f(v):\n    global L, D, A, I, Z, B, P\n{body}    {result}\n    return y * 1.0\n"
    python, module = of_file(tmp_path, text), of_file(tmp_path, text)
    g = transform(module.f, compile="never")
    for number, v in enumerate([0.5, 0.7, 0.7, 1.9]):
        values = []
        for f in (python.f, g):
            random.seed(number)
            np.random.seed(number)
            values.append(f(v))
        value = values[1] if transform is fad.jit else values[1][0]
        np.testing.assert_allclose(value, values[0])
        assert_alike(module.state(), python.state())


def assert_alike(left, wanted):
    """All is equal, and nothing of fad's is there."""
    if isinstance(wanted, (list, tuple)) or hasattr(wanted, "maxlen"):
        assert len(left) == len(wanted)
        for a, b in zip(left, wanted):
            assert_alike(a, b)
    elif isinstance(wanted, dict):
        assert list(left) == list(wanted)
        assert_alike(list(left.values()), list(wanted.values()))
    elif isinstance(wanted, np.ndarray):
        assert_alike(left.tolist(), wanted.tolist())
    else:
        assert isinstance(left, np.number) or not type(left).__module__.startswith("fad")
        assert left == pytest.approx(wanted) if isinstance(wanted, (float, complex)) else left == wanted
