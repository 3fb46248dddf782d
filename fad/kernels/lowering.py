"""Lowering to LLVM with short code for elements of arrays and for loops over ranges.

Where Numba writes fifty instructions for x[i, j], for LLVM to take away again, here are ten.
"""
import functools

from llvmlite import ir as llvm_ir
from numba.core import cgutils, ir, lowering, types
from numba.core.callconv import RETCODE_OK
from numba.np.numpy_support import as_dtype

from fad.kernels import memory, operators, results
from fad.kernels.bounds import SignAnalysis
from fad.kernels.loops import NumbaLoops
from fad.kernels.reference_counts import ReferenceCounts
from fad.kernels.variables import definitions, is_whole_slice, mark_helper, of_one_value, only_value


class LeanLower(lowering.Lower):
    """Lowering with short code for elements of arrays in C order and for loops over ranges; a variable of one value is
    a value of LLVM.
    """

    def __init__(self, context, *given, **named):
        vars(context)["nrt"] = ReferenceCounts(context, context.enable_nrt)
        super().__init__(context, *given, **named)

    def lower_block(self, block):
        self._label = self._labels[id(block)]
        super().lower_block(block)

    def lower_inst(self, inst):
        if self._results and self._lower_result(inst):
            return
        super().lower_inst(inst)
        if isinstance(inst, (ir.Jump, ir.Branch)):
            self._loops.note(self.builder, self._label, inst.get_targets())

    def setup_function(self, fndesc):
        super().setup_function(fndesc)
        mark_helper(self.context, self.function, self.fndesc, self.func_ir.func_id.func)

    # -- results -----------------------------------------------------------------------------------

    def _lower_result(self, inst):
        """Emit a statement on a large result, which is stored where it is made; False where it is another statement."""
        name = inst.target.name if isinstance(inst, ir.Assign) else inst.value if isinstance(inst, ir.Del) else None
        if isinstance(inst, ir.Return) and inst.value.name in self._results:
            self.call_conv._return_errcode_raw(self.builder, RETCODE_OK)
            return True
        if name not in self._results:
            return False
        if isinstance(inst, ir.Assign) and inst.value.op == "build_tuple":
            for k, (v, t) in enumerate(zip(inst.value.items, self.fndesc.restype)):
                item = self.context.cast(self.builder, self.loadvar(v.name), self.typeof(v.name), t)
                self.incref(t, item)
                results.store(self.context, self.builder, self.fndesc.restype, k, item)
        return True

    def create_cpython_wrapper(self, release_gil=False):
        results.add_wrapper(self.context, self.library, self.fndesc, self.env, self.call_helper, self._loops.depth())

    def create_cfunc_wrapper(self):
        """None yet: few programs ask for it (libraries.Library)."""
        self.library.kernel = self.fndesc, self.env

    # -- variables ---------------------------------------------------------------------------------

    def _find_singly_assigned_variable(self):
        self._blk_local_varmap = {}
        self._fields = {}  # (array, place in its struct) -> that field, of arrays of one value
        self._ranges = {}                                    # start, stop and step of the ranges of this function
        self._operators = {}                                 # (operator, types) -> its implementation
        self._defined = definitions(self.blocks)
        kind = self.fndesc.restype
        self._results = (
            results.returned_tuples(self.blocks, self._defined, self.typeof, kind) if results.is_large(kind) else ()
        )
        self._bounds = SignAnalysis(self.blocks, self._defined)
        self._loops = NumbaLoops(self.blocks, self._defined)
        if self._loops.are_many():
            self.library.is_large = True
        self._labels = {id(block): label for label, block in self.blocks.items()}
        self._singly_assigned_vars = set(of_one_value(self.blocks, self._is_counted))

    def _is_counted(self, name):
        """Whether the variable's value holds a reference that is counted."""
        return self.context.nrt.are_counted(self.typeof(name))

    def storevar(self, value, name, argidx=None):
        if name in self._singly_assigned_vars or self._is_counted(name):
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name):
        if self._is_counted(name) and not self._is_argument(name):
            super().delvar(name)

    def _is_argument(self, name):
        """Whether the variable is an argument all the time. The caller holds it, so its references need not be counted.
        """
        values = self._defined.get(name, ())
        return (
            len(values) == 1
            and isinstance(values[0], ir.Arg)
            and self.typeof(f"arg.{values[0].name}") == self.typeof(name)
        )

    # -- operators ---------------------------------------------------------------------------------

    def lower_binop(self, resty, expr, op):
        if not expr.static_lhs is expr.static_rhs is ir.UNDEFINED:
            return super().lower_binop(resty, expr, op)
        signature, operands = self.fndesc.calltypes[expr], (expr.lhs, expr.rhs)
        values = [
            self.context.cast(self.builder, self.loadvar(v.name), self.typeof(v.name), t)
            for v, t in zip(operands, signature.args)
        ]
        result = operators.emit(self.context, self.builder, op, signature, values, only_value(self._defined, expr.rhs))
        if result is None:
            result = self._operator(op, signature.args)(self.builder, values)
        return self.context.cast(self.builder, result, signature.return_type, resty)

    def _operator(self, op, kinds):
        """The implementation of an operator, looked up once."""
        if (op, kinds) not in self._operators:
            typing = self.context.typing_context
            function = typing.resolve_value_type(op)
            self._operators[op, kinds] = self.context.get_function(function, function.get_call_type(typing, kinds, {}))
        return self._operators[op, kinds]

    # -- calls -------------------------------------------------------------------------------------

    def _lower_call_normal(self, fnty, expr, signature):
        method = fnty.typing_key if isinstance(fnty, types.BoundFunction) and self._is_array(fnty.this) else None
        if method == "array.copy":
            return memory.duplicate(self.context, self.builder, fnty.this, self.loadvar(expr.func.name))
        if method == "array.reshape" and expr.args:
            extents = self._items(expr.args[0].name) or list(expr.args)
            if all(
                isinstance(self.typeof(n.name), types.Integer) and only_value(self._defined, n) != -1 for n in extents
            ):
                return self._reshaped(signature.return_type, fnty.this, self.loadvar(expr.func.name), extents)
        return super()._lower_call_normal(fnty, expr, signature)

    def _reshaped(self, wanted, kind, array, extents):
        """An array in C order under other extents, all of them given."""
        numbers = [
            self.context.cast(self.builder, self.loadvar(n.name), self.typeof(n.name), types.intp) for n in extents
        ]
        size = self.context.make_array(kind)(self.context, self.builder, array).nitems
        differs = self.builder.icmp_signed("!=", functools.reduce(self.builder.mul, numbers), size)
        for name, number in zip(extents, numbers):
            if not self._bounds.is_natural(name.name, self._label):
                differs = self.builder.or_(differs, self.builder.icmp_signed("<", number, number.type(0)))
        with self.builder.if_then(differs, likely=False):
            self.context.call_conv.return_user_exc(
                self.builder, ValueError, ("total size of new array must be unchanged",)
            )
        result = memory.reshaped(self.context, self.builder, kind, array, numbers)
        self.incref(wanted, result)
        return result

    # -- elements ----------------------------------------------------------------------------------

    def lower_getitem(self, resty, expr, value, index, signature):
        kind = self.typeof(value.name)
        place = self._element(kind, value, index, signature)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        item = self.context.unpack_value(self.builder, kind.dtype, place, align=None if kind.aligned else 1)
        return self.context.cast(self.builder, item, signature.return_type, resty)

    def lower_setitem(self, target_var, index_var, value_var, signature):
        kind = self.typeof(target_var.name)
        place = self._element(kind, target_var, index_var, signature)
        if place is None:
            if not self._is_array(kind) or not self._fill_rows(kind, target_var, index_var, value_var):
                super().lower_setitem(target_var, index_var, value_var, signature)
            return None
        value = self.context.cast(self.builder, self.loadvar(value_var.name), self.typeof(value_var.name), kind.dtype)
        return self.context.pack_value(self.builder, kind.dtype, value, place, align=None if kind.aligned else 1)

    def _is_array(self, kind):
        """Whether short code may be made for this type."""
        return isinstance(kind, types.Array) and kind.layout == "C" and not self.context.enable_boundscheck

    def _element(self, kind, array, index, signature):
        """The address of one element, or None where the subscript is another."""
        if not self._is_array(kind):
            return None
        given, wanted = self.typeof(index.name), signature.args[1]
        kinds = tuple(wanted) if isinstance(wanted, types.BaseTuple) else (wanted,)
        if len(kinds) != kind.ndim or not all(isinstance(t, types.Integer) for t in kinds):
            return None
        value = self.context.cast(self.builder, self.loadvar(index.name), given, wanted)
        numbers = (
            cgutils.unpack_tuple(self.builder, value, len(kinds)) if isinstance(wanted, types.BaseTuple) else [value]
        )
        place = self._offset(kind, array, numbers, kinds, self._are_natural(index.name, len(kinds)))
        return self.builder.gep(self._field(array.name, kind, "data"), [place])

    def _offset(self, kind, array, numbers, kinds, natural):
        """The number of the element (or row) at a place along the first axes."""
        place = None
        for axis, (n, t, is_natural) in enumerate(zip(numbers, kinds, natural)):
            extent = self._field(array.name, kind, "shape", axis)
            at = self.context.cast(self.builder, n, t, types.intp)
            if t.signed and not is_natural:
                at = self.builder.select(
                    self.builder.icmp_signed("<", at, at.type(0)), self.builder.add(at, extent), at
                )
            place = at if place is None else self.builder.add(self.builder.mul(place, extent), at)
        return place

    def _are_natural(self, index, count):
        """For each number of a subscript, whether it is known not to be negative."""
        items = self._items(index)
        if items is None:
            return [self._bounds.is_natural(index, self._label)] * count
        return [self._bounds.is_natural(item.name, self._label) for item in items]

    def _field(self, name, kind, field, *inside):
        """A field of an array, read where it stands."""
        at = (self.context.data_model_manager[kind].get_field_position(field), *inside)
        if name in self._blk_local_varmap:
            return self._field_of_value(name, self._blk_local_varmap[name], at)
        return self.builder.load(cgutils.gep_inbounds(self.builder, self.getvar(name), 0, *at))

    def _field_of_value(self, name, value, at):
        """A field of an array of one value: read once, where the array is made."""
        if not isinstance(value, llvm_ir.Instruction) or isinstance(value, llvm_ir.PhiInstr):
            return self.builder.extract_value(value, at)
        if (name, at) not in self._fields:
            here = self.builder.block
            self.builder.position_after(value)
            self._fields[name, at] = self.builder.extract_value(value, at)
            self.builder.position_at_end(here)
        return self._fields[name, at]

    # -- rows --------------------------------------------------------------------------------------

    def _fill_rows(self, kind, target, index, value):
        """Emit x[i, :, :] = a number, or an array like what is there; False where it is another assignment."""
        items = self._items(index.name) or [index]
        places = [item for item in items if not is_whole_slice(self._defined, item)]
        given = self.typeof(value.name)
        if (
            len(items) != kind.ndim
            or items[: len(places)] != places
            or not all(isinstance(self.typeof(i.name), types.Integer) for i in places)
        ):
            return False
        start, extents = self._rows(kind, target, places)
        count = functools.reduce(self.builder.mul, extents)
        if isinstance(given, (types.Number, types.Boolean)):
            number = self.context.cast(self.builder, self.loadvar(value.name), given, kind.dtype)
            with cgutils.for_range(self.builder, count) as loop:
                self.context.pack_value(
                    self.builder,
                    kind.dtype,
                    number,
                    self.builder.gep(start, [loop.index]),
                    align=None if kind.aligned else 1,
                )
            return True
        if not self._is_array(given) or given.dtype != kind.dtype or given.ndim != len(extents):
            return False
        self._require_extents(value, given, extents)
        cgutils.raw_memmove(
            self.builder, start, self._field(value.name, given, "data"), count, as_dtype(kind.dtype).itemsize
        )
        return True

    def _items(self, index):
        """The parts of a subscript that is a tuple."""
        parts = self._defined.get(index, ())
        return (
            parts[0].items
            if len(parts) == 1 and isinstance(parts[0], ir.Expr) and parts[0].op == "build_tuple"
            else None
        )

    def _rows(self, kind, array, places):
        """The address of the rows at these places of the first axes, and the extents of the other axes."""
        extents = [self._field(array.name, kind, "shape", axis) for axis in range(len(places), kind.ndim)]
        data = self._field(array.name, kind, "data")
        if not places:
            return data, extents
        kinds = [self.typeof(i.name) for i in places]
        row = self._offset(
            kind,
            array,
            [self.loadvar(i.name) for i in places],
            kinds,
            [self._bounds.is_natural(i.name, self._label) for i in places],
        )
        return self.builder.gep(data, [functools.reduce(self.builder.mul, extents, row)]), extents

    def _require_extents(self, value, given, extents):
        """Raise unless an array has these extents."""
        for axis, extent in enumerate(extents):
            differs = self.builder.icmp_signed("!=", self._field(value.name, given, "shape", axis), extent)
            with self.builder.if_then(differs, likely=False):
                self.context.call_conv.return_user_exc(
                    self.builder, ValueError, ("an array is assigned to rows of other extents",)
                )

    # -- ranges ------------------------------------------------------------------------------------

    def lower_assign(self, ty, inst):
        value = inst.value
        if self._is_argument(inst.target.name):
            return self.fnargs[value.index]
        if isinstance(value, ir.Expr) and value.op == "call" and isinstance(ty, types.RangeType):
            signature = self.fndesc.calltypes[value]
            numbers = self.fold_call_args(self.typeof(value.func.name), signature, value.args, value.vararg, value.kws)
            zero, one = (llvm_ir.Constant(numbers[0].type, n) for n in (0, 1))
            start, stop = (zero, *numbers) if len(numbers) == 1 else numbers[:2]
            self._ranges[inst.target.name] = start, stop, numbers[2] if len(numbers) == 3 else one
            return cgutils.make_anonymous_struct(self.builder, self._ranges[inst.target.name])
        return super().lower_assign(ty, inst)

    def lower_expr(self, resty, expr):
        if expr.op == "getiter" and _step(self._ranges.get(expr.value.name)):
            return self._first_iteration(*self._ranges[expr.value.name])
        if expr.op == "iternext" and isinstance(self.typeof(expr.value.name), types.RangeIteratorType):
            return self._next_iteration(self.loadvar(expr.value.name), self._loops.is_hidden(self._label))
        if expr.op in ("pair_first", "pair_second") and not self._is_counted(expr.value.name):
            return self.builder.extract_value(self.loadvar(expr.value.name), int(expr.op == "pair_second"))
        return super().lower_expr(resty, expr)

    def _first_iteration(self, start, stop, step):
        """Numba's iterator of a range whose step is 1 or -1: places of the number and of how many are left."""
        left = self.builder.sub(stop, start) if step.constant == 1 else self.builder.sub(start, stop)
        places = [cgutils.alloca_once_value(self.builder, value) for value in (start, left)]
        return cgutils.make_anonymous_struct(self.builder, (places[0], stop, step, places[1]))

    def _next_iteration(self, iterator, hidden):
        """The pair of the next number and whether there is one; hidden: so that LLVM does not know how it follows from
        the one before (see loops.py).
        """
        number, _, step, left = cgutils.unpack_tuple(self.builder, iterator, 4)
        value, count = self.builder.load(number), self.builder.load(left)
        if hidden:
            value = self.builder.asm(
                llvm_ir.FunctionType(value.type, [value.type]), "", "=r,0", [value], side_effect=False
            )
        there_is = self.builder.icmp_signed(">", count, count.type(0))
        self.builder.store(self.builder.sub(count, count.type(1), flags=["nsw"]), left)
        self.builder.store(self.builder.add(value, step), number)
        return cgutils.make_anonymous_struct(self.builder, (value, there_is))


def _step(numbers):
    """The step of a range where it is known to be 1 or -1, else 0."""
    step = numbers and getattr(numbers[2], "constant", 0)
    return step if step in (1, -1) else 0
