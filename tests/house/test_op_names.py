"""Facts about ops stand in their records: no package that works on programs keeps a list of ops by name.

What holds of an op is a trait (fad/ir/traits.py); a name may be asked for where the code really handles that one op.
"""

import ast

from fad.ir.op import Op
from fad.ops.table import TABLE

from .source import PACKAGE, name_of, tree

PACKAGES = ("passes", "transforms", "backend", "trace", "show", "sparse", "check", "api")
CONTROL = {"for", "while", "cond"}                           # also the values of the trait `control`
NAMES = {name for name, op in TABLE.items() if isinstance(op, Op)} - CONTROL

# Rules of one analysis, an op each: for an op that is not among them the analysis assumes nothing.
RULES = {
    "fad/passes/cancels.py": "how a result follows a value that is added and subtracted again",
    "fad/passes/known_bounds.py": "which questions about integers their bounds answer",
    "fad/passes/gathers.py": "where an axis of a result is in the operands",
    "fad/passes/overflow.py": "how large an integer may be, given how large the operands are",
    "fad/transforms/dependence_rules.py": "which elements of a result depend on which of an operand",
    "fad/backend/schedule/lower.py": "the steps that an equation becomes",
    "fad/backend/schedule/views.py": "which element of which operand a place in a result is",
}
# Words of Python or NumPy that happen to be names of ops.
WORDS = {
    "fad/trace/frontend/nodes.py": "Python's functions of sequences",
    "fad/trace/runtime/ordering.py": "Python's functions of sequences",
    "fad/trace/values/operators.py": "Python's operators and methods",
    "fad/trace/guards/kinds.py": "Python's operators",
    "fad/trace/values/absent.py": "methods of tensors, which messages name",
    "fad/trace/values/standin.py": "NumPy's functions and methods whose results are views",
    "fad/backend/text/names.py": "indices of loops (i1 is a Bessel function, too)",
    "fad/backend/emission/vocabulary.py": "Python's builtins",
}


def packages_files() -> list:
    return [path for name in PACKAGES for path in sorted((PACKAGE / name).rglob("*.py"))]


def texts(node) -> list:
    """The strings that a literal collection holds; of a dict, its keys."""
    if isinstance(node, ast.Dict):
        elements = node.keys
    else:
        elements = node.elts if isinstance(node, (ast.Set, ast.Tuple, ast.List)) else []
    return [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]


def collections_of_ops() -> dict:
    """{file: the collections of three or more names of ops in it}"""
    found: dict = {}
    for path in packages_files():
        for node in ast.walk(tree(path)):
            names = [text for text in texts(node) if text in NAMES]
            if len(names) >= 3:
                found.setdefault(name_of(path), []).append((node.lineno, *names))
    return found


def test_no_list_of_ops_stands_outside_their_records():
    found = collections_of_ops()
    assert not {file: lists for file, lists in found.items() if file not in RULES and file not in WORDS}
    assert set(found) == {*RULES, *WORDS}                    # what is allowed is there still


def names_compared() -> list:
    """(place, name) of each string that the name of an equation's op is compared with."""
    found = []
    for path in packages_files():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("op.name"):
                strings = [n.value for side in node.comparators for n in ast.walk(side) if isinstance(n, ast.Constant)
                           and isinstance(n.value, str)]
                found += [(f"{name_of(path)}:{node.lineno}", text) for text in strings]
    return found


def test_a_name_that_is_asked_for_is_one():
    found = names_compared()
    assert found and not [(place, name) for place, name in found if name not in NAMES | CONTROL]


def test_a_fact_that_is_asked_for_is_one_of_some_op():
    asked = {node.args[0].value if isinstance(node, ast.Call) else node.slice.value for path in packages_files()
             for node in ast.walk(tree(path))
             if (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("op.facts.get")
                 or isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("op.facts"))}
    assert asked and asked <= {fact for op in TABLE.values() if isinstance(op, Op) for fact in op.facts}


def test_an_op_that_is_looked_up_is_in_the_table():
    asked = [(path, node) for path in sorted((PACKAGE / "eager").rglob("*.py")) for node in ast.walk(tree(path))
             if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
             and node.value.id in ("op", "TABLE") and isinstance(node.slice, ast.Constant)]
    assert len(asked) > 100
    assert not [f"{path.name}:{node.lineno}: {node.slice.value}" for path, node in asked
                if node.slice.value not in TABLE]
