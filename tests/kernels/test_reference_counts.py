"""The code that counts references takes nothing apart that holds none."""
import pytest
from llvmlite import ir
from numba.core import types
from numba.core.registry import cpu_target

from fad.kernels.reference_counts import ReferenceCounts

MATRIX = types.Array(types.float64, 2, "C")


@pytest.mark.parametrize("kind, references, extractions", [
    (types.float64, 0, 0),
    (types.UniTuple(types.int64, 3), 0, 0),
    (MATRIX, 1, 1),
    (types.Tuple((MATRIX, types.float64, MATRIX)), 2, 4),
    (types.Tuple((types.Tuple((types.int64, MATRIX)), types.complex128)), 1, 3),
])
def test_what_holds_no_reference_stays_whole(kind, references, extractions):
    context = cpu_target.target_context
    context.refresh()
    module = context.create_module("counted")
    whole = context.get_value_type(kind)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [whole]), "f")
    builder = ir.IRBuilder(function.append_basic_block())
    ReferenceCounts(context, True).incref(builder, kind, function.args[0])
    names = [instruction.opname for instruction in builder.block.instructions]
    assert (names.count("call"), names.count("extractvalue")) == (references, extractions)
