"""The builder makes a Func by running code on Values (see value.py): ops called on them become equations.

Builders nest: a region's builder has the surrounding one as parent and may use its values. An
array from outside the program is captured: it becomes a further input of the outermost Func.
"""
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..util.array import ArrayOrNumber
from ..util.errors import ConcreteValueError, SideEffectError
from ..util.foreign import package_of, remedy_of
from ..util.lazy import LazyModule
from ..util.listening import listening, settings
from ..util.where import Where, here
from . import stack
from .affine import Affine
from .graph import Atom, Equation, Func, Literal, Var
from .integers import Integers
from .op import Op, registry
from .records import ONCE, RegionState, TraceState
from .stack import current
from .types import INT, Type, refuse_objects, require_plain, type_of
from .uses import Definitions, defined_by
from .value import Value

hashlib = LazyModule("hashlib")

_AFFINE = {"add", "sub", "mul", "neg"}
_INTEGER = _AFFINE | {"floordiv", "mod", "minimum", "maximum", "wrap_index"}


class Builder:
    """Collects the equations of one Func or region; see `building` for its use."""

    __slots__ = ("name", "parent", "root", "value_class", "integers", "inputs", "equations", "definitions", "owned",
                 "known_forms", "known_integers", "known_results", "later", "given", "where", "trace", "region",
                 "notes", "changing", "at_once")

    live = False                                                 # whether it knows what each value is (see live.py)

    def __init__(self, name: str = "f", parent: "Builder | None" = None, value_class: "type | None" = None):
        self.name, self.parent = name, parent
        self.root: Builder = parent.root if parent else self
        self.value_class: type = value_class or (parent.value_class if parent else Value)
        self.integers: Integers = self.root.integers if parent else Integers()
        self.inputs: list[Var] = []
        self.equations: list[Equation] = []
        self.definitions = Definitions(self.equations)
        self.owned: set[Var] = set()
        self.known_forms: dict[Affine, Value] = {}
        self.known_integers: dict[tuple, Value] = {}
        # what a region that is being differentiated has read and computed
        self.known_results: dict[tuple, Value] | None = None
        self.later: list[Var] = []                               # inputs that a second step will give; on the root
        self.given: Any = ()                    # of an inner function: what stands for its inputs outside
        self.where: Any = parent.where if parent else None  # the line of equations, instead of the user's present one
        # of a region whose reverse sweep is being made (transforms/joint.py): what was noted of it, what it changes
        self.notes: Any = None
        self.changing: Any = None
        self.at_once = False                                     # of an iteration that is reversed at once
        self.trace: TraceState = parent.trace if parent else TraceState()
        self.region: RegionState = RegionState(serial=parent.region.serial) if parent else RegionState(runs=ONCE)

    # -- inputs ------------------------------------------------------------------------------------

    def input(self, type: Type, name: str = "", hint: "int | None" = None) -> "Value":
        """A new input of this type (whose extents must be ints or Vars of this program)."""
        var = Var(type, name, hint)
        self.inputs.append(var)
        return self.own(var)

    def array_input(self, dtype: np.dtype, extents: tuple, name: str = "", weak: bool = False,
                    fixed: bool = False) -> "Value":
        """An input for arrays of these extents. Extents 0 and 1 stay constants; larger ones become integers of the
        program."""
        shape = tuple(n if fixed or n < 2 else self.dim(n) for n in extents)
        return self.input(Type(dtype, shape, weak), name)

    def dim(self, hint: "int | None", name: str = "") -> Var:
        """A fresh extent of an input, at least 2."""
        var = Var(Type(INT, (), True), name or f"n{len(self.integers.dims)}", hint)   # weak: a shape holds Python ints
        self.integers.dims.add(var)
        self.integers.low[var] = 2
        self.root.owned.add(var)
        return var

    def own(self, var: Var) -> "Value":
        self.owned.add(var)
        return self.value_class(self, var)

    def capture(self, array: np.ndarray) -> "Value":
        """The input that stands for an array from outside the program."""
        require_plain(array)
        if not isinstance(array, np.ndarray) and np.asarray(array) is np.asarray(array):
            array = np.asarray(array)                            # its values are in an array, which is read
        root, trace = self.root, self.trace
        entry = trace.captured.get(id(array))
        if entry is None:
            data = array if isinstance(array, np.ndarray) or not hasattr(array, "__array__") else np.asarray(array)
            value = root.array_input(data.dtype, data.shape, f"c{len(trace.captured)}", fixed=True).standing_for(data)
            entry = trace.captured[id(array)] = (array, value)
            trace.dense[value.atom] = data.flags.c_contiguous
            if trace.owners:
                value.lie_in_owner(data)
        return entry[1]

    def watch(self, array: np.ndarray) -> "Value":
        """A constant that the function may change unseen: when the call ends it must hold what it holds now
        (trace/outcome/leaks.py)."""
        trace = self.trace
        if isinstance(array, np.ndarray) and id(array) not in trace.captured and not self.root.live:
            trace.watched[id(array)] = contents_of(array)
        return self.capture(array)

    def constant(self, array: np.ndarray) -> "Value":
        """An array that the traced function made from numbers alone, and that no other code changes; equal arrays are
        one input.
        """
        trace, key = self.trace, (array.dtype.str, array.shape, array.strides, array.tobytes())
        var = trace.known_constants.get(key)
        if var is None:
            var = trace.known_constants[key] = self.root.watch(array).atom
            trace.fresh_constants[var] = array
        return self.value_class(self, var)

    def note_mutation(self, tracer: Value) -> None:
        """Remember that a tracer gets a new value while this builder is current."""
        self.region.mutated.setdefault(id(tracer), (tracer, tracer._var))

    # -- equations ---------------------------------------------------------------------------------

    def lift(self, x: Any) -> Any:
        """x as this builder can use it: a Value of this program, or a Python number."""
        if isinstance(x, Value):
            if not self.sees(x.atom):
                raise SideEffectError("a traced value was used outside the function that was being traced",
                                      why="it was kept (in a list, an attribute, a global) after its trace had ended",
                                      do="return it from the function instead")
            return x
        if isinstance(x, (bool, int, float, complex)) or isinstance(x, np.generic) and x.dtype.kind in "biufc":
            return x
        if isinstance(x, (list, tuple)):
            x = np.asarray(x)
        if getattr(x, "requires_grad", False):
            raise ConcreteValueError(
                "a tensor that requires gradients is used in a traced function, and is no argument of it",
                why="its gradient would be lost",
                do="pass it as an argument (a module's parameters by nn.functional_call), or use its detach()")
        remedy = remedy_of(x)
        if remedy:
            raise ConcreteValueError(f"a {type(x).__name__} of {package_of(x)} is used in a traced computation",
                                     why="fad computes with NumPy's arrays", do=f"take the numbers out of it: {remedy}")
        if hasattr(x, "dtype") and x.dtype.kind in "biufc":
            return self.watch(x)
        refuse_objects(x)
        raise ConcreteValueError(f"cannot use {type(x).__name__} in a traced computation: {x!r:.80}",
                                 do="pass numbers or arrays of numbers")

    def sees(self, var: Var) -> bool:
        """Whether this builder or one around it owns the variable."""
        b: Builder | None = self
        while b is not None:
            if var in b.owned:
                return True
            b = b.parent
        return False

    @property
    def is_certain(self) -> bool:
        """Whether what is recorded here runs whenever the whole program does: no branch and no loop is around it."""
        return self.region.runs == ONCE and (self.parent is None or self.parent.is_certain)

    def bind(self, op: Op, args: tuple, params: dict) -> Any:
        """Record op(*args) and return its result (a tuple of Values for several)."""
        lifted = tuple([self.lift(a) for a in args])
        if op.name in _INTEGER and all(_is_integer(a) for a in lifted):
            return self._integer(op, lifted)
        if self.known_results is not None and op.kind in ("index", "elementwise") and not op.traits.barrier:
            return self._once(op, lifted, params)
        return self._typed(op, lifted, params)

    def _once(self, op: Op, args: tuple, params: dict) -> Value:
        """Equal operands give one variable, but a new value each time: the function may write to either."""
        key = (op.name, *[a.atom if isinstance(a, Value) else (type(a), repr(a)) for a in args],
               *sorted([(k, str(v)) for k, v in params.items()]))
        known: Any = self.known_results
        if key in known:
            return self.value_class(self, known[key])
        result = self._typed(op, args, params)
        known[key] = result.atom
        return result

    def _typed(self, op: Op, lifted: tuple, params: dict) -> Any:
        types = op.infer(*lifted, **params)
        single = isinstance(types, Type)
        outputs = self.emit(op, lifted, (types,) if single else types, params)
        return outputs[0] if single else outputs

    def emit(self, op: Op, args: tuple, types: tuple, params: dict, regions: tuple = ()) -> tuple:
        """Add an equation whose result types are known; its outputs as Values."""
        outputs = tuple([Var(atomic(t)) for t in types])
        atoms = tuple([as_atom(a) for a in args])
        self.equations.append(Equation(op, atoms, outputs, params, regions, self.where or here()))
        self._note_listeners(op, self.equations[-1].where)
        values = tuple([self.own(v) for v in outputs])
        paths = self.trace.paths
        if paths and paths[-1].builder is self:
            paths[-1].emitted()
        return values

    def _note_listeners(self, op: Op, where: "Where | None") -> None:
        """Note whether the function has asked to hear of arithmetic errors: NumPy's raised or handled, or warnings
        recorded."""
        trace = self.trace
        if (not self.live and trace.listeners is None and op.kind in ("elementwise", "reduce", "contract")
                and trace.settings != settings()):
            trace.settings = settings()
            trace.listeners = where if listening().adds_to(trace.listening) else None

    def _integer(self, op: Op, args: tuple) -> "Value | int":
        """Integer scalars are kept in normal form, so that equal extents are one variable."""
        atoms = tuple([a if isinstance(a, int) else a.atom for a in args])
        if all(isinstance(a, int) for a in atoms):
            return int(op.run(*atoms))
        form = self.integers.form_of(op.name, atoms)
        if form is None:
            return self._interned(("op", op.name, atoms), op, args)
        return self.from_form(form, op, args)

    def from_form(self, form: Affine, op: "Op | None" = None, args: tuple = ()) -> "Value | int":
        """The int or Value that has this affine form."""
        if form.is_constant:
            return form.const
        if form.const == 0 and len(form.terms) == 1 and form.terms[0][1] == 1:
            return self.value_of(form.terms[0][0])
        known = self._look_up("known_forms", form)
        if known is None:
            known = self._emit_integer(op, args) if op else self._spell(form)
            self.integers.forms[known.atom] = form
            known.atom.hint = self.integers.hint(form)
            self.known_forms[form] = known
        return known

    def _spell(self, form: Affine) -> Value:
        total: Any = form.const
        for v, c in form.terms:
            total = total + self.value_of(v) * c
        return total

    def _interned(self, key: tuple, op: Op, args: tuple) -> Value:
        known = self._look_up("known_integers", key)
        if known is None:
            known = self._near_remainder(*args) if op.name == "mod" else None
            known = self.known_integers[key] = self._emit_integer(op, args) if known is None else known
            hints = [a if isinstance(a, int) else a.atom.hint for a in args]
            if None not in hints:
                with np.errstate(all="ignore"):              # of a division by zero the program itself tells
                    known.atom.hint = int(op.run(*hints))
            self.integers.note_result(op.name, known.atom, tuple([as_extent(a) for a in args]))
        return known

    def _emit_integer(self, op: Op, args: tuple) -> Value:
        weak = all(isinstance(a, int) or a.atom.type.weak for a in args)
        return self.emit(op, args, (Type(INT, (), weak),), {})[0]

    def _near_remainder(self, x: "Value | int", n: "Value | int") -> "Value | None":
        """x % n without a division, where x is in the range of remainders or in the one below or above: the neighbours
        of an element on a ring."""
        form, period = (self.integers.form(as_extent(a)) for a in (x, n))
        proves = self.integers.proves_nonnegative
        if proves(form) and proves(period.scaled(2) - form.shifted(1)):
            return self._chosen(registry["less"](x, n), x, registry["sub"](x, n))
        if proves(form + period) and proves(period - form.shifted(1)):
            return self._chosen(registry["less"](x, 0), registry["add"](x, n), x)
        return None

    def _chosen(self, condition: Value, x: "Value | int", y: "Value | int") -> Value:
        weak = all(isinstance(a, int) or a.atom.type.weak for a in (x, y))
        return self.emit(registry["where"], (condition, x, y), (Type(INT, (), weak),), {})[0]

    def follow(self, new: Value, x: ArrayOrNumber, moving: bool = False) -> None:
        """The input `new` stands for x. A tape gives it the value of x (see live.py)."""

    def delivered(self, results: tuple, atoms: tuple) -> tuple:
        """The results of a call, which are these atoms in its region."""
        return results

    def _look_up(self, table: str, key: "Affine | tuple") -> "Value | None":
        b: Builder | None = self
        while b is not None:
            found = getattr(b, table).get(key)
            if found is not None:
                return found
            b = b.parent
        return None

    def value_of(self, n: "Var | int") -> "Value | int":
        """A Var of this program as a Value; ints as they are, and integers known to be constant as ints."""
        if not isinstance(n, Var):
            return n
        form = self.integers.forms.get(n)
        return form.const if form is not None and not form.terms else self.value_class(self, n)

    def take_back(self, mark: int) -> None:
        """Forget the equations after the first `mark`, and what is known of their results."""
        gone = defined_by(self.equations[mark:])
        del self.equations[mark:]
        tables: tuple[dict, ...] = (self.known_forms, self.known_integers)
        for table in tables:
            for key in [k for k, value in table.items() if value.atom in gone]:
                del table[key]
        if self.known_results:
            self.known_results = {key: var for key, var in self.known_results.items() if var not in gone}

    def finish(self, outputs: tuple) -> Func:
        """The Func of what was recorded."""
        return Func(self.name, tuple(self.inputs), self.equations, tuple(as_atom(self.lift(x)) for x in outputs))


def contents_of(x: np.ndarray) -> bytes:
    """A short text that tells what an array holds from what it held."""
    return hashlib.sha256(np.ascontiguousarray(x).data.cast("B") if x.size else b"").digest()


def _is_integer(a: ArrayOrNumber) -> bool:
    if isinstance(a, Value):
        t = a.atom.type
        return t.dtype == INT and not t.shape
    return type(a) is int


def as_atom(x: object) -> Atom:
    """A Value's variable; a number as a Literal."""
    return x.atom if isinstance(x, Value) else Literal(x, type_of(x))


def as_extent(n: Any) -> Any:
    return n.atom if isinstance(n, Value) else n if isinstance(n, Var) else int(n)


def atomic(t: Type) -> Type:
    """The type with extents as ints and Vars, where infer gave ints and Values."""
    return Type(t.dtype, tuple([as_extent(n) for n in t.shape]), t.weak)


@contextmanager
def building(name: str = "f", value_class: "type | None" = None, region: bool = False,
             make: type = Builder) -> Iterator[Builder]:
    """Make a builder the current one of this thread. A region's parent is the builder that was current, and gives its
    class."""
    builders = stack.builders()
    builder = type(builders[-1])(name, builders[-1], value_class) if region else make(name, None, value_class)
    builders.append(builder)
    try:
        yield builder
    except Exception as error:
        if region and not builder.live:                          # a tape goes only the ways that are taken
            vars(error)["left a region"] = True
        if builder.parent is None:
            vars(error)["behind lines"] = builder.trace.tells and not builder.live
            builder.trace.let_go()
        raise
    finally:
        # it is gone if an interrupt came between two lines here
        builders[:] = [b for b in builders if b is not builder]


def left_region(error: BaseException) -> bool:
    """Whether an error was raised while a region was built: the program would raise it only if it got there.

    >>> with building("f"):
    ...     try:
    ...         with building("branch", region=True):
    ...             [][0]
    ...     except IndexError as error:
    ...         left_region(error)
    True
    """
    return "left a region" in vars(error)


def is_behind_lines(error: BaseException) -> bool:
    """Whether a trace ended by this error behind lines that the function prints or logs, which are not said yet."""
    return bool(vars(error).get("behind lines"))


@contextmanager
def at_line(where: object) -> Iterator[None]:
    """Equations made within belong to this line of the user's."""
    builder = current()
    before = builder.where
    builder.where = before if where is None else where
    try:
        yield
    finally:
        builder.where = before
