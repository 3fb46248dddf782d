"""A lean way through Numba: fewer passes, and short code for what generated code is made of (elements of arrays, loops over ranges).

Generated code has no closures, no `with`, no variable of two types, no arithmetic on whole arrays; what Numba does for these takes a third
of its time, and grows faster than the text. And where Numba writes fifty instructions for x[i, j], for LLVM to take away again, here are ten.
"""
import operator

import llvmlite.binding as llvm
from llvmlite import ir as llvm_ir
from numba.core import cgutils, ir, lowering, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import AnnotateTypes, BaseNativeLowering, IRLegalization, NoPythonBackend, NopythonTypeInference
from numba.core.untyped_passes import FixupArgs, GenericRewrites, IRProcessing, TranslateByteCode

__all__ = ["LeanCompiler", "new_library"]


class _Lower(lowering.Lower):
    """Lowering with short code for elements of arrays in C order and for loops over ranges; a variable of one value is a value of LLVM."""

    # -- variables ------------------------------------------------------------------------------------------------------------

    def _find_singly_assigned_variable(self):
        super()._find_singly_assigned_variable()
        self._ranges = {}                                    # start, stop and step of the ranges of this function
        self._operators = {}                                 # (operator, types) -> its implementation
        self._defined = _definitions(self.blocks)
        self._natural = _natural(self._defined)
        self._singly_assigned_vars |= set(_of_one_value(self.blocks, self._is_counted))

    def _is_counted(self, name):
        """Whether the variable's value holds a reference that is counted."""
        return self.context.data_model_manager[self.typeof(name)].contains_nrt_meminfo()

    def storevar(self, value, name, argidx=None):
        if name in self._singly_assigned_vars or self._is_counted(name):
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name):
        if self._is_counted(name):
            super().delvar(name)

    # -- operators ------------------------------------------------------------------------------------------------------------

    def lower_binop(self, resty, expr, op):
        if not expr.static_lhs is expr.static_rhs is ir.UNDEFINED:
            return super().lower_binop(resty, expr, op)
        signature, operands = self.fndesc.calltypes[expr], (expr.lhs, expr.rhs)
        values = [self.context.cast(self.builder, self.loadvar(v.name), self.typeof(v.name), t) for v, t in zip(operands, signature.args)]
        result = self._operator(op, signature.args)(self.builder, values)
        return self.context.cast(self.builder, result, signature.return_type, resty)

    def _operator(self, op, kinds):
        """The implementation of an operator, looked up once."""
        if (op, kinds) not in self._operators:
            typing = self.context.typing_context
            function = typing.resolve_value_type(op)
            self._operators[op, kinds] = self.context.get_function(function, function.get_call_type(typing, kinds, {}))
        return self._operators[op, kinds]

    # -- elements -------------------------------------------------------------------------------------------------------------

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
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), self.typeof(value_var.name), kind.dtype)
        return self.context.pack_value(self.builder, kind.dtype, value, place, align=None if kind.aligned else 1)

    def _element(self, kind, array, index, signature):
        """The address of one element, or None where the subscript is another."""
        if not isinstance(kind, types.Array) or kind.layout != "C" or self.context.enable_boundscheck:
            return None
        given, wanted = self.typeof(index.name), signature.args[1]
        kinds = tuple(wanted) if isinstance(wanted, types.BaseTuple) else (wanted,)
        if len(kinds) != kind.ndim or not all(isinstance(t, types.Integer) for t in kinds):
            return None
        value = self.context.cast(self.builder, self.loadvar(index.name), given, wanted)
        numbers = cgutils.unpack_tuple(self.builder, value, len(kinds)) if isinstance(wanted, types.BaseTuple) else [value]
        place = None
        for axis, (n, t, natural) in enumerate(zip(numbers, kinds, self._are_natural(index.name, len(kinds)))):
            extent = self._field(array.name, kind, "shape", axis)
            at = self.context.cast(self.builder, n, t, types.intp)
            if t.signed and not natural:
                at = self.builder.select(self.builder.icmp_signed("<", at, at.type(0)), self.builder.add(at, extent), at)
            place = at if place is None else self.builder.add(self.builder.mul(place, extent), at)
        return self.builder.gep(self._field(array.name, kind, "data"), [place])

    def _are_natural(self, index, count):
        """Of each number of a subscript, whether it is known not to be negative."""
        parts = self._defined.get(index, ())
        if len(parts) == 1 and isinstance(parts[0], ir.Expr) and parts[0].op == "build_tuple":
            return [item.name in self._natural for item in parts[0].items]
        return [index in self._natural] * count

    def _field(self, name, kind, field, *inside):
        """A field of an array, read where it stands."""
        at = (self.context.data_model_manager[kind].get_field_position(field), *inside)
        if name in self._blk_local_varmap:
            return self.builder.extract_value(self._blk_local_varmap[name], at)
        return self.builder.load(cgutils.gep_inbounds(self.builder, self.getvar(name), 0, *at))

    # -- ranges ---------------------------------------------------------------------------------------------------------------

    def lower_assign(self, ty, inst):
        value = inst.value
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
            return self._first_turn(*self._ranges[expr.value.name])
        if expr.op == "iternext" and isinstance(self.typeof(expr.value.name), types.RangeIteratorType):
            return self._next_turn(self.loadvar(expr.value.name))
        if expr.op in ("pair_first", "pair_second") and not self._is_counted(expr.value.name):
            return self.builder.extract_value(self.loadvar(expr.value.name), int(expr.op == "pair_second"))
        return super().lower_expr(resty, expr)

    def _first_turn(self, start, stop, step):
        """Numba's iterator of a range whose step is 1 or -1: places of the number and of how many are left."""
        left = self.builder.sub(stop, start) if step.constant == 1 else self.builder.sub(start, stop)
        places = [cgutils.alloca_once_value(self.builder, value) for value in (start, left)]
        return cgutils.make_anonymous_struct(self.builder, (places[0], stop, step, places[1]))

    def _next_turn(self, iterator):
        """The pair of the next number and whether there is one."""
        number, _, step, left = cgutils.unpack_tuple(self.builder, iterator, 4)
        value, count = self.builder.load(number), self.builder.load(left)
        there_is = self.builder.icmp_signed(">", count, count.type(0))
        self.builder.store(self.builder.sub(count, count.type(1), flags=["nsw"]), left)
        self.builder.store(self.builder.add(value, step), number)
        return cgutils.make_anonymous_struct(self.builder, (value, there_is))


def _step(numbers):
    """The step of a range where it is known to be 1 or -1, else 0."""
    step = numbers and getattr(numbers[2], "constant", 0)
    return step if step in (1, -1) else 0


def _definitions(blocks):
    """name -> all that it is ever assigned."""
    found = {}
    for block in blocks.values():
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                found.setdefault(statement.target.name, []).append(statement.value)
    return found


def _natural(defined):
    """The names of integers that are never negative: those that nothing says may be."""
    names, before = set(defined), -1
    while len(names) != before:
        before = len(names)
        names = {name for name in names if all(_is_natural(value, names, defined) for value in defined[name])}
    return names


_ALL_OF, _ANY_OF = {"min", "minimum"}, {"max", "maximum"}
_KEEP_SIGN = {operator.add, operator.mul, operator.floordiv, operator.mod, operator.iadd, operator.imul, operator.ifloordiv, operator.imod}


def _is_natural(value, names, defined):
    """Whether a value is not negative if those that `names` are called are not."""
    if isinstance(value, ir.Var):
        return value.name in names
    if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
        return not isinstance(value.value, int) or value.value >= 0
    if not isinstance(value, ir.Expr):
        return False
    if value.op in ("binop", "inplace_binop"):
        return value.fn in _KEEP_SIGN and value.lhs.name in names and value.rhs.name in names
    if value.op == "call":
        return _is_natural_call(_only(defined, value.func), value.args, names, defined)
    if value.op in ("cast", "getiter", "iternext", "pair_first", "build_tuple"):
        return all(v.name in names for v in value.list_vars())
    return value.op == "static_getitem" and value.value.name in names or value.op == "getattr" and value.attr in ("shape", "size")


def _only(defined, var):
    """The one value that a variable has, if it is a constant or a global."""
    values = defined.get(var.name, ())
    return values[0].value if len(values) == 1 and isinstance(values[0], (ir.Const, ir.Global)) else None


def _is_natural_call(function, args, names, defined):
    called = getattr(function, "__name__", "")
    natural = [a.name in names for a in args]
    if function is range:
        down_to_zero = len(args) == 3 and _only(defined, args[1]) == _only(defined, args[2]) == -1
        return len(args) == 1 or down_to_zero or natural[0] and all(natural[2:])
    return function is len or called in _ALL_OF and all(natural) or called in _ANY_OF and any(natural) or called == "where" and all(natural[1:])


def _of_one_value(blocks, is_counted):
    """Variables that are assigned in one place, from which every use is reached and nothing else: they need no memory.

    A variable whose references are counted must not be assigned in a loop: the value of the turn before would not be released. Nor may more
    than one place release it, since its memory would not tell the second one that the first has done so.
    """
    assigned, used, deleted = _places(blocks)
    cfg = compute_cfg_from_blocks(blocks)
    order = _preorder(cfg.immediate_dominators())

    def reached(name, uses):
        block, position = assigned[name][0]
        first, last = order[block]
        return all(b == block and p > position or b > block and first < order[b][0] <= last for b, p in uses.get(name, ()))
    for name, places in assigned.items():
        if len(places) == 1 and places[0][0] in order and reached(name, used):
            if not is_counted(name) or (len(deleted.get(name, ())) == 1 and reached(name, deleted) and not cfg.in_loops(places[0][0])):
                yield name


def _places(blocks):
    """Where each variable is assigned, used and deleted: (block, position in it)."""
    assigned, used, deleted = {}, {}, {}
    for label, block in blocks.items():
        for k, statement in enumerate(block.body):
            if isinstance(statement, ir.Del):
                deleted.setdefault(statement.value, []).append((label, k))
                continue
            target = statement.target.name if isinstance(statement, ir.Assign) else None
            if target is not None:
                assigned.setdefault(target, []).append((label, k))
            reads = [v.name for v in (statement.value.list_vars() if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Inst)
                                      else statement.list_vars())]
            for name in reads:
                if name != target or isinstance(statement.value, ir.Inst):
                    used.setdefault(name, []).append((label, k))
    return assigned, used, deleted


def _preorder(parents):
    """label -> (its number in preorder, the last number below it) of the tree of dominators."""
    children = {}
    for label, parent in parents.items():
        if label != parent:
            children.setdefault(parent, []).append(label)
    order, count = {}, 0
    pending = [(label, False) for label, parent in parents.items() if label == parent]
    while pending:
        label, over = pending.pop()
        if over:
            order[label] = order[label][0], count - 1
            continue
        order[label] = count, count
        count += 1
        pending.append((label, True))
        pending += [(child, False) for child in children.get(label, ())]
    return order


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(BaseNativeLowering):
    """Numba's lowering, with _Lower."""

    _name = "fad_lowering"
    lowering_class = _Lower

    def run_pass(self, state):
        if state.library is None:
            state.library = new_library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().run_pass(state)


def new_library(codegen, name):
    """A library of machine code that can be kept, and is optimised once."""
    library = codegen.create_library(name)
    library.enable_object_caching()
    _optimise_once(library)
    return library


def _optimise_once(library):
    """Let LLVM optimise the module as a whole, each function only put in order before: Numba has it do all the work on each function, too."""
    codegen = library._codegen
    if not hasattr(codegen, "_pass_builder"):
        return                                               # the pass managers of old (Numba 0.61) did no more than this

    def put_in_order(module):
        module.data_layout = codegen._data_layout
        builder = codegen._pass_builder()
        for function in module.functions:
            passes = llvm.create_new_function_pass_manager()
            for name in ("simplify_cfg", "sroa", "instruction_combine", "simplify_cfg", "refprune"):
                getattr(passes, f"add_{name}_pass")()
            passes.run(function, builder)

    def optimise():
        passes, builder = codegen._module_pass_manager()
        passes.run(library._final_module, builder)
    library._optimize_functions, library._optimize_final_module = put_in_order, optimise


class _Remembering:
    """A typing context that looks up functions of numbers, and subscripts, once for given types."""

    def __init__(self, context):
        self._context, self._known = context, {}

    def __getattr__(self, name):
        return getattr(self._context, name)

    def _remembered(self, lookup, *key):
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = lookup()
        return found

    def resolve_function_type(self, func, args, kws):
        if kws or not isinstance(func, types.Function) or not all(isinstance(t, (types.Number, types.Boolean)) for t in args):
            return self._context.resolve_function_type(func, args, kws)
        return self._remembered(lambda: self._context.resolve_function_type(func, args, kws), func, args)

    def resolve_getitem(self, target, index):
        return self._remembered(lambda: self._context.resolve_getitem(target, index), operator.getitem, target, index)

    def resolve_setitem(self, target, index, value):
        return self._remembered(lambda: self._context.resolve_setitem(target, index, value), operator.setitem, target, index, value)


class LeanCompiler(CompilerBase):
    """Numba's pipeline without what generated code has no need of."""

    PASSES = (TranslateByteCode, FixupArgs, IRProcessing, GenericRewrites, NopythonTypeInference, IRLegalization, AnnotateTypes, LeanLowering,
              NoPythonBackend)

    def define_pipelines(self):
        """The one pipeline."""
        self.state.typingctx = _Remembering(self.state.typingctx)
        manager = PassManager("fad")
        for one in self.PASSES:
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]
