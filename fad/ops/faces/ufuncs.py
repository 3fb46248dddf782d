"""NumPy's ufuncs: each that an op runs is that op's face, under every name NumPy gives it."""
import numpy as np

from ...ir.op import Op, registry
from .. import elementwise
from ..face import add_ufunc

NAMES: dict[np.ufunc, list[str]] = {}
for _name, _value in vars(np).items():
    if isinstance(_value, np.ufunc):
        NAMES.setdefault(_value, []).append(f"numpy.{_name}")

for _op in list(registry.values()):
    if isinstance(_op, Op) and _op.facts.get("ufunc") in NAMES and _op.name != "guarded_mul":
        add_ufunc(_op, *NAMES[_op.facts["ufunc"]])

__all__ = ["elementwise", "NAMES"]
