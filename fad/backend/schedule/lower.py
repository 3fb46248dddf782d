"""The rules that lower equations to steps, one for an op or for a kind of ops."""
from ...ir.op import Op
from . import lower_arrays as arrays
from .lower_control import lower_branch, lower_loop
from .lowering import Rule

OPS: dict[str, Rule] = {
    "index": arrays.lower_index,
    "full": arrays.lower_full,
    "concatenate": arrays.lower_concatenate,
    "pack": arrays.lower_pack,
    "reshape": arrays.lower_reshape,
    "contract": arrays.lower_contract,
    "update": arrays.lower_update,
    "index_add": arrays.lower_addition,
    "resize": arrays.lower_resize,
    "for": lower_loop,
    "while": lower_loop,
    "cond": lower_branch,
}
KINDS: dict[str, Rule] = {
    "elementwise": arrays.lower_elementwise,
    "reduce": arrays.lower_reduce,
    "scan": arrays.lower_scan,
    "place": arrays.lower_place,
    "check": arrays.lower_check,
    "opaque": arrays.lower_opaque,
}


def rule_of(op: Op) -> "Rule | None":
    """The rule that lowers equations of this op, if there is one."""
    return OPS.get(op.name) or KINDS.get(op.kind)
