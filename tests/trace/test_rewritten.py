"""What a function gives the value that it has is given that value at each call: somebody else may have changed it
between two calls."""
import ast
import inspect
import linecache

import numpy as np
import pytest

import fad
from fad.trace.frontend import syntax

X = np.array([0.8, 0.55, 1.1])


class Holder:
    kind = 1.0

    def __init__(self):
        self.w, self.rows, self.other = 1.0, [1.0, 2.0], None


HELD, ROWS, TABLE, GLOBAL = Holder(), [1.0, 2.0], {"k": 1.0}, 1.0


def renewed():
    global GLOBAL
    HELD.__dict__.update(w=1.0, rows=ROWS, other=None)
    ROWS[:], TABLE["k"], GLOBAL, Holder.kind = [1.0, 2.0], 1.0, 1.0, 1.0


def disturbed():
    global GLOBAL
    HELD.__dict__.update(w=5.0, rows=[7.0], other=3.0)
    ROWS[:], TABLE["k"], GLOBAL, Holder.kind = [7.0, 3.0], 5.0, 5.0, 5.0


def state():
    return [HELD.w, list(HELD.rows), HELD.rows is ROWS, HELD.other, list(ROWS), TABLE["k"], GLOBAL, Holder.kind]


def attribute(x):
    HELD.w = 1.0
    return x.sum()


def attribute_by_name(x):
    HELD.w = 1.0
    return x.sum()


def reference(x):
    HELD.rows, HELD.other = ROWS, None
    return x.sum()


def of_a_class(x):
    Holder.kind = 1.0
    return x.sum()


def in_a_branch(x):
    if x[0] > 0.5:
        HELD.w = 1.0
    return x.sum()


def in_a_loop(x):
    for v in x:
        if v > 0.0:
            HELD.w = 1.0
    return x.sum()


def begun_anew(x):
    HELD.w = 1.0
    for v in x:
        HELD.w += v
    return HELD.w


def of_containers(x):
    ROWS[0], TABLE["k"] = 1.0, 1.0
    return x.sum()


def of_names(x):
    global GLOBAL
    GLOBAL = 1.0
    return x.sum()


@pytest.mark.parametrize("f",
                         [attribute, attribute_by_name, reference, of_a_class, in_a_branch, in_a_loop, begun_anew,
                          of_containers, of_names])
def test_it_is_written_again(f):
    seen = []
    for transform in (lambda f: f, fad.jit):
        renewed()
        g, states = transform(f), []
        for change in (None, disturbed, None, disturbed, renewed):
            if change is not None:
                change()
            value = g(X)
            states.append([float(value), *state()])
        seen.append(states)
    assert seen[1] == [[pytest.approx(x) if isinstance(x, float) else x for x in row] for row in seen[0]]


def test_a_sum_that_begins_anew_at_each_call_is_one_program():
    renewed()
    g = fad.jit(begun_anew, fallback=False)
    for k in range(8):
        assert g(X + k) == pytest.approx(1.0 + (X + k).sum()) and pytest.approx(1.0 + (X + k).sum()) == HELD.w
    assert sum(p.is_current() for programs in g.programs.values() for p in programs) == 1


def test_a_visitor_that_overrides_another_one_calls_it():
    """The rewriter is put together from classes: what one does of a construct, another one may not pass over."""
    for cls in syntax.Rewriter.__mro__:
        for name, visit in vars(cls).items():
            if name.startswith("visit_") and any(name in vars(base) for base in cls.__mro__[1:]):
                assert f"super().{name}(" in inspect.getsource(visit), f"{cls.__name__}.{name}"


def test_a_function_of_a_notebook_s_cell_that_imports_is_rewritten():
    """A notebook compiles each statement of a cell by itself: the bytecode of `np.cos` is another one then."""
    text = "import numpy as np\ndef f(x):\n    while x > 1.0:\n        x = np.cos(x) * x / 2\n    return x\n"
    linecache.cache["<cell 1>"] = len(text), None, text.splitlines(True), "<cell 1>"
    scope = {}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), "<cell 1>", "exec"), scope)
    assert syntax.rewritten_code(scope["f"]) is not None
    assert fad.grad(scope["f"], fallback=False)(1.5) == pytest.approx((np.cos(1.5) - 1.5 * np.sin(1.5)) / 2)
