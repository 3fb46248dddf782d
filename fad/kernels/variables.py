"""Facts about the variables of a function in Numba's representation, before code is made of it."""
import operator

from numba.core import ir, types
from numba.core.analysis import compute_cfg_from_blocks

__all__ = ["definitions", "is_whole_slice", "mark_helper", "names_in", "natural_names", "of_one_value",
           "only_value", "origin", "range_arguments"]


def definitions(blocks):
    """name -> all that it is ever assigned."""
    found = {}
    for block in blocks.values():
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                found.setdefault(statement.target.name, []).append(statement.value)
    return found


def names_in(x):
    """The names of the variables that a statement or a value reads."""
    found, waiting = [], [x]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ir.Var):
            found.append(part.name)
        elif isinstance(part, ir.Expr):
            waiting += part._kws.values()
        elif isinstance(part, ir.Assign):
            waiting.append(part.value)
        elif isinstance(part, (list, tuple)):
            waiting += part
        elif isinstance(part, ir.Inst):
            found += [v.name for v in part.list_vars()]
    return found


def natural_names(defined):
    """The names of integers that are never negative: all that no assignment can make negative."""
    readers = {}
    for name, values in defined.items():
        for read in names_in(values):
            readers.setdefault(read, []).append(name)
    names, waiting = set(defined), list(defined)
    while waiting:
        name = waiting.pop()
        if name in names and not all(_is_natural(value, names, defined) for value in defined[name]):
            names.discard(name)
            waiting += readers.get(name, ())
    return names


_ALL_OF, _ANY_OF = {"min", "minimum"}, {"max", "maximum"}
_KEEP_SIGN = {
    operator.add, operator.mul, operator.floordiv, operator.mod, operator.iadd, operator.imul, operator.ifloordiv,
    operator.imod,
}


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
        return _is_natural_call(only_value(defined, value.func), value.args, names, defined)
    if value.op in ("cast", "getiter", "iternext", "pair_first", "build_tuple"):
        return all(v.name in names for v in value.list_vars())
    return (
        value.op == "static_getitem"
        and value.value.name in names
        or value.op == "getattr"
        and value.attr in ("shape", "size")
    )


def only_value(defined, var):
    """The one value that a variable has, if it is a constant or a global."""
    values = defined.get(var.name, ())
    return values[0].value if len(values) == 1 and isinstance(values[0], (ir.Const, ir.Global)) else None


def origin(defined, value):
    """The one value that a variable is a copy of, through however many copies; else the variable.

    Around branches, Numba copies what lies on Python's stack (the iterators of the loops) from name to name, and back.
    """
    found, seen, waiting = [], set(), [value]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, ir.Var):
            found.append(part)
        elif part.name not in seen:
            seen.add(part.name)
            waiting += defined.get(part.name, (None,))
    return found[0] if len(found) == 1 and found[0] is not None else value


def range_arguments(defined, value, path):
    """The arguments of the `range` that a value comes from by these operations, the last one first; else None."""
    for op in path:
        if not isinstance(value, ir.Expr) or value.op != op:
            return None
        value = origin(defined, value.value)
    if not isinstance(value, ir.Expr) or value.op != "call" or only_value(defined, value.func) is not range:
        return None
    return value.args


def _is_natural_call(function, args, names, defined):
    called = getattr(function, "__name__", "")
    natural = [a.name in names for a in args]
    if function is range:
        down_to_zero = len(args) == 3 and only_value(defined, args[1]) == only_value(defined, args[2]) == -1
        return len(args) == 1 or down_to_zero or natural[0] and all(natural[2:])
    return (
        function is len
        or called in _ALL_OF
        and all(natural)
        or called in _ANY_OF
        and any(natural)
        or called == "where"
        and all(natural[1:])
    )


def of_one_value(blocks, is_counted):
    """Variables with one assignment that reaches, alone, every use: they need no memory.

    A variable whose references are counted needs memory where it is not known, wherever it is released or assigned,
    whether it holds one.
    """
    assigned, used = _places(blocks)
    cfg = compute_cfg_from_blocks(blocks)
    order = _preorder(cfg.immediate_dominators())

    def reached(name):
        block, position = assigned[name][0]
        first, last = order[block]
        return all(
            b == block and p > position or b > block and first < order[b][0] <= last for b, p in used.get(name, ())
        )
    alone = [name for name, places in assigned.items() if len(places) == 1 and places[0][0] in order and reached(name)]
    counted = {name for name in alone if is_counted(name)}
    unclear = _released_unclearly(blocks, cfg, counted)
    return [name for name in alone if name not in unclear]


def _released_unclearly(blocks, cfg, counted):
    """The variables among these that some path releases although they may be empty, or assigns or leaves although they
    may be full.
    """
    unclear, holding = set(), {cfg.entry_point(): frozenset()}
    waiting = [cfg.entry_point()]
    while waiting:
        label = waiting.pop()
        after = set(holding[label])
        for name, is_made in _steps(blocks[label], counted):
            if is_made == (name in after):
                unclear.add(name)
            (after.add if is_made else after.discard)(name)
        if isinstance(blocks[label].terminator, ir.Return):
            unclear |= after - {blocks[label].terminator.value.name}
        for successor, _ in cfg.successors(label):
            if successor in holding:
                unclear |= holding[successor] ^ after        # its content depends on the path
            else:
                holding[successor] = frozenset(after)
                waiting.append(successor)
    return unclear


def _steps(block, counted):
    """The actions of a block on these variables, in order: (name, whether it is assigned, or else released)."""
    for statement in block.body:
        if isinstance(statement, ir.Del) and statement.value in counted:
            yield statement.value, False
        elif isinstance(statement, ir.Assign) and statement.target.name in counted:
            yield statement.target.name, True


def _places(blocks):
    """The assignments and uses of each variable: (block, position in it)."""
    assigned, used = {}, {}
    for label, block in blocks.items():
        for k, statement in enumerate(block.body):
            if isinstance(statement, ir.Del):
                continue
            target = statement.target.name if isinstance(statement, ir.Assign) else None
            if target is not None:
                assigned.setdefault(target, []).append((label, k))
            for name in names_in(statement):
                used.setdefault(name, []).append((label, k))
    return assigned, used


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


def is_whole_slice(defined, var):
    """Whether a subscript is `:`, from end to end."""
    values = defined.get(var.name, ())
    if len(values) == 1 and isinstance(values[0], ir.Expr) and values[0].op == "call":
        return only_value(defined, values[0].func) is slice and all(_is_none(defined, a) for a in values[0].args)
    return len(values) == 1 and isinstance(values[0], (ir.Const, ir.Global)) and values[0].value == slice(None)


def _is_none(defined, var):
    values = defined.get(var.name, ())
    return len(values) == 1 and isinstance(values[0], ir.Const) and values[0].value is None


def mark_helper(context, function, fndesc, body):
    """Tell LLVM of a helper (see helpers.py) that it stays a function, and which of its arguments' arrays share no
    memory.
    """
    apart = getattr(body, "fad_apart", None)
    if apart is None:
        return
    function.attributes.add("noinline")
    place = context.data_model_manager
    data = {
        f"arg.{n}.{place[t].get_field_position('data')}"
        for n, t in zip(fndesc.args, fndesc.argtypes)
        if n in apart and isinstance(t, types.Array)
    }
    for value in context.call_conv.get_arguments(function):
        if value.name in data:
            value.add_attribute("noalias")
