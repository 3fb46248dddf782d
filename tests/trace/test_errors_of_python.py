"""Errors of what Python itself does in a line: a handler takes them in, and without a handler the user gets Python's
error. None of them is taken for a defect of fad."""
import re
import warnings
from collections import deque

import numpy as np
import pytest

import fad

X = np.array([0.6, -0.4, 1.2])
LINES = """
"unique" in x.dtype.metadata
3 in 4
x in None
for q in 3: k += q
for q in None: k += q
for q, r in [1, 2]: k += q
for q in x.nothing: k += q
[q for q in 3]
{q: 1 for q in None}
{[1]: 2.0}
{x: 2.0}
{[1], 2}
a, b = 3
a, b = [1, 2, 3]
a, *b = []
(a, b), c = [1, 2]
len(3)
[1, 2] < 3
max(3)
max([])
min(())
sorted([1, "a"])
sum(["a", "b"])
sum(3)
{}["a"]
[][0]
(1, 2)[5]
[1, 2]["a"]
None[0]
None + 1
"a" + 1
[1] + 3
1 + [2]
-"a"
~1.5
not_there
x.nothing
None.shape
(3).real.nothing
[].index(3)
[].remove(3)
[].pop()
{}.pop("a")
set().pop()
any(3)
all(None)
divmod(3, 0)
1 // 0
1 % 0
1 / 0
2 ** "a"
next(iter([]))
next(3)
iter(3)
int("a")
float("a")
float([1.0])
int(None)
complex("a")
"abc".index("d")
"%d" % "a"
"{}".format()
"{a}".format()
f"{3:x<q}"
zip(3)
list(zip(3, 4))
list(enumerate(3))
list(map(len, [3]))
list(filter(len, [3]))
reversed({1, 2})
isinstance(3, 4)
issubclass(3, int)
round("a")
abs("a")
pow(2, "a")
hash([])
chr(-1)
ord("ab")
bytes([300])
range("a")
slice(1)[0]
getattr(x, "nothing")
getattr(3, 4)
setattr(3, "a", 1)
del {}["a"]
del [][0]
[1, 2][0] = 3; (1, 2)[0] = 3
"abc"[0] = "d"
{}[[]] = 2
3()
None(2)
len(1, 2)
np.sin()
np.zeros("a")
math.sqrt("a")
math.sqrt(-1.0)
math.log(0)
math.factorial(-1)
math.sin(1, 2)
(lambda a: a)()
(lambda a: a)(1, 2)
(lambda *, a: a)(1)
(lambda: 1)(**{"a": 2})
(lambda a: a)(*3)
print(*3)
raise 3
raise None
with 3: pass
import not_a_module
from math import not_a_name
assert []
assert None, "nothing"
int.__new__(3)
object().a
object().a = 3
class A(3): pass
global_name_that_is_not_there + 1
functools.reduce(max, [])
functools.partial(3)
operator.itemgetter(3)([1])
operator.attrgetter("a")(3)
operator.add(1, "a")
itertools.islice([1], -1)
list(itertools.product(3))
collections.deque([]).pop()
collections.OrderedDict([3])
collections.Counter(3)
dict([3])
dict(3)
set(3)
tuple(3)
list(3)
str.join(",", [1])
",".join([1, 2])
copy.copy(3).a
""".strip().split("\n")
SCOPE = ("import collections, copy, functools, itertools, math, operator\nimport numpy as np\n"
         "KINDS = (TypeError, ValueError, LookupError, KeyError, AttributeError, NameError, ArithmeticError, "
         "ImportError, RuntimeError, StopIteration)\n")


def made(folder, name, text):
    path = folder / f"{name}.py"
    path.write_text(SCOPE + text)
    scope: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return scope["f"]


@pytest.fixture(autouse=True)
def no_defects():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", fad.InternalErrorWarning)
        yield


def _body(line, indent):
    return "\n".join(indent + part for part in line.split("; "))


@pytest.mark.parametrize("way", ["traced", "tape"])
@pytest.mark.parametrize("line", LINES)
def test_a_handler_takes_it_in(line, way, tmp_path):
    f = made(tmp_path, "handled", f"""def f(x):
    k = 1.0
    try:
{_body(line, ' ' * 8)}
        k = 7.0
    except Exception as e:
        for n, kind in enumerate(KINDS): k += 2.0 ** n * isinstance(e, kind)
    return np.sum(x) * k
""")
    g = fad.jit(f)
    assert (g(X) if way == "traced" else g.on_tape((X,), {})) == f(X)


@pytest.mark.parametrize("way", ["traced", "tape"])
@pytest.mark.parametrize("line", LINES)
def test_without_a_handler_it_is_pythons_error(line, way, tmp_path):
    f = made(tmp_path, "raised", f"def f(x):\n    k = 1.0\n{_body(line, ' ' * 4)}\n    return np.sum(x) * k\n")
    try:
        f(X)
    except Exception as error:
        expected = error
    g = fad.jit(f)
    with pytest.raises(type(expected)) as found:
        g(X) if way == "traced" else g.on_tape((X,), {})
    said = re.sub(r"0x[0-9a-f]+|line \d+", "", str(expected))[:20]
    assert said in re.sub(r"0x[0-9a-f]+|line \d+", "", str(found.value)) or isinstance(found.value, fad.FadError)


@pytest.mark.parametrize("shape, other", [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 1)), ((3,), (3, 1)),
                                          ((2, 3), (3, 3))])
def test_matmul_in_place_keeps_the_shape(shape, other):
    """The product of two vectors was written to all elements, and a column to all columns."""
    def f(x):
        y = x.reshape(shape).copy()
        y @= np.ones(other)
        return np.sum(y * y)
    x = np.arange(1.0, 1.0 + np.prod(shape))
    if other == (3, 3):
        assert fad.jit(f, fallback=False)(x) == f(x)
    else:
        for call in (f, fad.jit(f), fad.jit(f, fallback=False)):
            with pytest.raises(ValueError, match="matri|columns|matmul"):
                call(x)


@pytest.mark.parametrize("taken", [
    lambda i: [1.0, 2.0].pop(i), lambda i: {1: 2.0}.pop(i), lambda i: {1: 2.0}[i], lambda i: {1, 2}.remove(i),
    lambda i: [1, 2].index(i), lambda i: [1, 2].remove(i), lambda i: (1.0, 2.0)[i], lambda i: "ab"[i],
    lambda i: deque([1.0, 2.0])[i], lambda i: 5 // (i - 7)])
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_what_is_not_there_is_an_error_of_pythons_class(taken):
    """Also of a number that is computed: the method of a container in C raises for what it holds, not for the class of
    the number."""
    g = fad.jit(taken, compile="never")
    for i in (0, 1, 7):
        wanted = got = None
        try:
            taken(i)
        except Exception as error:
            wanted = type(error)
        try:
            g(i)
        except Exception as error:
            got = error
        assert got is None if wanted is None else isinstance(got, wanted)
