"""Sample calls of every function of tensors: what the law of their arguments (test_facade) is tried on.

A line of samples/*.txt is `names: arguments`; `name_`, where there is one, is tried on them too. The law moves every
floating array that a line names (VALUES, below) and every float that is written with a point; what is not to move is
written otherwise: whole numbers, names of FIXED.
"""
import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fad
from fad.eager.functions.registry import FUNCTIONS
from fad.eager.tensors.tensor import Tensor

SAMPLES = Path(__file__).parent / "samples"
_rng = np.random.default_rng(0)
_S = _rng.standard_normal((4, 4)) * 0.3 + 2 * np.eye(4)
VALUES: dict[str, np.ndarray] = {
    **{name: _rng.uniform(0.2, 0.9, (3, 4)) for name in "xyz"}, **{name: _rng.uniform(0.2, 0.9, 4) for name in "vw"},
    "u": _rng.uniform(0.2, 0.9, 3),
    "t": np.array(0.7), "s": np.sort(_rng.uniform(0.2, 0.9, 5)),
    "c": _rng.uniform(0.2, 0.9, (3, 4)) + 1j * _rng.uniform(0.2, 0.9, (3, 4)),
    "S": _S, "P": _S @ _S.T, "N": _rng.uniform(0.2, 0.9, (3, 3)), "M": _rng.uniform(0.2, 0.9, (5, 4)),
    "B": _rng.uniform(0.2, 0.9, (2, 3, 4)), "D": _rng.uniform(0.2, 0.9, (2, 4, 3)),
    "A": _rng.uniform(-0.9, 0.9, (2, 4, 6)), "I": _rng.uniform(-0.9, 0.9, (2, 4, 6, 6)),
    "V": _rng.uniform(-0.9, 0.9, (2, 4, 4, 4, 4)),
    "K1": _rng.standard_normal((4, 2, 3)), "K2": _rng.standard_normal((4, 2, 3, 3)),
    "K3": _rng.standard_normal((4, 2, 2, 2, 2)),
    "G": _rng.uniform(-0.9, 0.9, (2, 3, 3, 2)), "G3": _rng.uniform(-0.9, 0.9, (2, 3, 3, 3, 3)),
    "W3": _rng.standard_normal((5, 4, 4)),
    "T": _rng.standard_normal((6, 2, 4)), "E": _rng.standard_normal((12, 4)), "E1": _rng.standard_normal(12)}
FIXED: dict[str, np.ndarray] = {
    "i": np.array([[2, 0, 1, 0], [0, 1, 2, 2], [1, 2, 0, 1]]), "j": np.array([2, 0, 2]), "k": np.array([3, 1]),
    "m": np.array([[True, False, True, True]] * 3),
    "sign": np.array([[1.0, -1, 1, 1], [-1, 1, 1, -1], [1, -1, 1, -1]]), "n": np.array([1, -1, 1]),
    "idx1": np.array([[[1, 2]] * 4] * 2), "long": np.linspace(0.3, 0.9, 12).reshape(3, 4),
    "bad": np.array([np.nan, np.inf, -np.inf, np.nan])}
WITHOUT_NUMBERS = frozenset((                                  # what takes no number that a derivative could go through
    "Generator Size channels_last channels_last_3d contiguous_format preserve_format default_generator device dtype "
    "finfo iinfo inf nan pi strided load save "
    "manual_seed set_rng_state get_rng_state seed initial_seed is_anomaly_enabled is_anomaly_check_nan_enabled "
    "broadcast_shapes "
    "can_cast promote_types empty ones zeros rand randn randint randperm empty_strided eye "
    "resize_as_ resize_ requires_grad_ retain_grad register_hook "
    "register_post_accumulate_grad_hook backward storage "
    "untyped_storage set_ _make_subclass as_subclass new one_hot test LinAlgError fftfreq rfftfreq").split())
CONSTANT = {                                                   # what is constant, as PyTorch says that it is
    **dict.fromkeys("detach detach_".split(), "outside the graph: that is what they are for"),
    **dict.fromkeys("tensor new_tensor FloatTensor DoubleTensor".split(),
                    "a new leaf, with a copy of the data"),
    "normal": "PyTorch's derivative of what is drawn is zero", "half": "differences see nothing in three digits"}
# functions and the places of tensors of which no derivative is known
REFUSED = frozenset((
    ("nextafter", 0), ("nextafter", 1), ("nextafter_", 0), ("nextafter_", 1), ("unique", 0), ("unique_consecutive", 0),
    ("from_dlpack", 0), ("numpy", 0),
    ("igamma", 0), ("igamma_", 0), ("igammac", 0), ("igammac_", 0)))


class Call(NamedTuple):
    """A sample call of one function: the expression, and the floats and floating arrays in it."""

    name: str
    function: Callable
    tree: ast.Expression
    point: tuple

    def at(self, *moved: Any) -> Any:
        """The result at other values of what moves."""
        scope = {**SCOPE, "f": self.function, "moved": moved,
                 **{key: fad.tensor(value) for key, value in FIXED.items()}}
        return eval(compile(self.tree, "sample", "eval"), scope)


def of_a_part(f: Callable, tensor: Any, *args: Any, **options: Any) -> tuple:
    """f_ of a view of one row of two, and what has become of both rows."""
    both = fad.stack([tensor, fad.ones_like(tensor)])
    return f(both[0], *args, **options), both


IN_PLACE = {"tensor.clone()": "(lambda tensor, *args, **options: f(tensor.clone(), *args, **options))",
            "part": "(lambda *args, **options: of_a_part(f, *args, **options))"}
SCOPE = {"of_a_part": of_a_part, "VALUES": VALUES, "where": fad.where}


class _Slots(ast.NodeTransformer):
    """Floats and floating arrays become moved[0], moved[1], ..."""

    def __init__(self) -> None:
        self.values: list = []
        self.places: dict = {}

    def slot(self, value: Any, key: Any) -> ast.expr:
        if key not in self.places:
            self.places[key] = len(self.values)
            self.values.append(value)
        return ast.parse(f"moved[{self.places[key]}]", mode="eval").body

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.slot(VALUES[node.id], node.id) if node.id in VALUES else node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return self.slot(node.value, node) if isinstance(node.value, float) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if (isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
                and isinstance(node.operand.value, float)):
            return self.slot(-node.operand.value, node)
        return self.generic_visit(node)  # type: ignore[return-value]


def calls_of(text: str, table: dict) -> Iterator[Call]:
    """The sample calls of a text's functions, also in place."""
    for line in text.strip().splitlines():
        names, arguments = line.split(": ", 1)
        for name in names.split():
            yield _call(name, table[name], arguments)
            if f"{name}_" in table and not arguments[0].isdigit():
                for changed in ("tensor.clone()", "part")[:1 if name == "detach" else 2]:
                    yield _call(f"{name}_", table[f"{name}_"], arguments, IN_PLACE[changed])


def _call(name: str, function: Callable, arguments: str, called: str = "f") -> Call:
    slots = _Slots()
    tree = ast.fix_missing_locations(slots.visit(ast.parse(f"{called}({arguments})", mode="eval")))
    return Call(name, function, tree, tuple(slots.values))


def members(namespace: Any) -> dict:
    """The functions of a namespace."""
    return {name: getattr(namespace, name) for name in dir(namespace)
            if not name.startswith("_") and callable(getattr(namespace, name))}


_METHODS = {name: getattr(Tensor, name) for name in dir(Tensor)
            if not name.startswith("__") and callable(getattr(Tensor, name)) and name not in FUNCTIONS}
TABLES: dict[str, dict] = {                                    # what the files of samples/ are of
    "tensors": dict(FUNCTIONS), "methods": _METHODS, "networks": members(fad.nn.functional),
    "matrices": members(fad.linalg), "fourier": members(fad.fft)}


def samples_of(section: str) -> list:
    """The sample calls of a section's functions."""
    return list(calls_of((SAMPLES / f"{section}.txt").read_text(), TABLES[section]))
