"""The fast path: from a staged function's call to its kernel with as little Python between as can be.

    def fast(args, kwargs):                                   # value_and_grad of a loss of a dict of two arrays
        if len(args) != 1 or kwargs or now().shape != 0:
            return NotImplemented
        n0, = args
        if type(n0) is not dict or [*n0] != keys_5:
            return NotImplemented
        a1, a0, = n0.values()
        try:
            y0, y1, y2, = kernel(a0, a1, 262144)
        except fits:
            return NotImplemented
        return (float64(y0), {'w': y2, 'b': y1},)

Such a function is written out for each program. Compiled code in front of the kernel (kernels/running.py) tests whether
arrays have its dtypes, ranks and layouts, and no more elements than the last number says. The kernel's first lines test
the extents. The rest is tested here. A test here that reads an array's attributes needs the kernel's tests before it:
then they are made here, and Numba's dispatcher calls the kernel. Arguments that do not fit get NotImplemented, and
take the general path. Nothing is changed or drawn before all tests have passed.
"""
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...ir.types import LARGEST
from ...util import tree
from ...util.config import config
from ...util.exclusion import tracing
from ...util.interrupts import is_hashable
from ...util.memory import overlap
from .kernel_arrays import plain

_PYTHONS = {"f": float, "i": int, "c": complex}
_REFUSE = "        return NotImplemented"
_REFUSED_DEEPER = "            return NotImplemented"
MOST_PAIRS = 16                                               # of arrays that must lie apart


def fast_call(program: object, is_alone: bool, copied: frozenset, limits: "tuple | int" = ()) -> "Callable | None":
    """(args, kwargs) -> result; None for a program that needs the general path anyhow.

    is_alone: no other program takes arguments of this kind of tree. Then the kernel itself may find that dtypes do not
    fit, which takes longer than a test. copied: the data leaves that may lie otherwise than in C order. limits: the
    sizes of data leaves that the fast path takes, if that is limited; or how many elements they have together.
    """
    writer = _Writer(program, is_alone, copied, limits)
    if not writer.is_possible():
        return None
    exec("\n".join(writer.text()), writer.scope)
    fast: Callable = writer.scope["fast"]
    fast.take_back = program.take_back                        # type: ignore[attr-defined]
    return fast


class _Writer:
    """Collects the lines of a fast path, and the names that they use.

    Leaves of the arguments are a0, a1, ... in the order of tree.flatten. Those that are data, and captured arrays c0,
    c1, ... are the kernel's inputs.
    """

    def __init__(self, program: Any, is_alone: bool, copied: frozenset, limits: "tuple | int" = ()):
        self.program, self.traced, self.copied, self.limits = program, program.traced, copied, limits
        self.kernel = program.runner.kernel                   # another one may take its place at any time
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {"kernel": self.kernel.call, "array": np.ndarray, "now": config.now,
                                      "fits": (TypeError, ValueError, OverflowError, MemoryError)}
        self.data = [f"a{k}" for k in range(program.structure.leaves) if k not in program.fixed]
        self.given = [*self.data, *[f"c{k}" for k in range(len(self.traced.captured))]]
        self.types = [v.type for v in program.runner.func.inputs][:len(self.given)]
        self.link = [str(int(number)) for number in program.runner.link]
        self.is_thorough = program.prelude is not None or not is_alone
        self.apart = self._arrays_apart()
        self.nodes = 0
        self.is_tested_by_kernel = self._kernel_tests_arrays()
        if self.is_tested_by_kernel:
            self.scope.update(kernel=self.kernel.entry, owner=self.kernel)        # without which its code might go
            self.link.append(str(limits or LARGEST))

    def is_possible(self) -> bool:
        """Whether each argument has a test that takes less time than the general path."""
        return (not self.traced.locks                         # this thread may have them
                and sum(map(len, self.apart.values())) <= MOST_PAIRS
                and all(self.types[k].shape for k in self.program.written)
                and all(t.shape or not t.weak or t.dtype.kind in _PYTHONS for t in self.types))

    def text(self) -> list:
        """All lines."""
        self._arguments(self.program.structure)
        self._test(self._of_fixed())
        for name, t in zip(self.data, self.types):
            if not t.shape:
                self._number(name, t)
        if not self.is_tested_by_kernel:
            self._test([f"type({name}) is not array" for name, t in zip(self.data, self.types) if t.shape])
        self._test(self._of_sizes())
        if self.is_thorough:
            self._test(self._of_types())
        for k, array in enumerate(self.traced.captured):
            self.scope[f"c{k}"] = array
        self._test(self._of_guards())
        self._test(self._of_identity())
        arguments, first = self._kernel_arguments(), len(self.lines)
        if self.traced.sources.guards:
            self._test([f"not {self._constant(self.traced.sources.function(), 'unchanged')}()"])
        self._run(arguments)
        self._exclude(first)
        return self.lines

    def _kernel_tests_arrays(self) -> bool:
        """Whether the kernel itself may find that arrays do not fit: nothing else asks for their parts before."""
        return not (
            self.is_thorough or self.copied or self.traced.dense or self.apart or self.kernel.entry is None
            or (isinstance(self.limits, tuple) and self.limits)
            or any(not a.shape for a in self.traced.captured)
            or any(axis is None for _, terms, _ in self.program.runner.guards for (_, axis), _ in terms)
        )

    def _arrays_apart(self) -> dict:
        """For each input that the program writes to, the inputs that must share no memory with it."""
        found = self.program.apart(len(self.given))
        return {k: near for k, others in found.items() if (near := [j for j in others if self.types[j].shape])}

    def _constant(self, x: object, prefix: str) -> str:
        """The name of a constant."""
        name = f"{prefix}_{len(self.scope)}"
        self.scope[name] = x
        return name

    def _test(self, fails: Sequence[str]) -> None:
        """Lines that refuse the call if one of these is true."""
        if fails:
            self.lines += [f"    if {' or '.join(fails)}:", _REFUSE]

    # -- the tree of arguments ---------------------------------------------------------------------------------------

    def _arguments(self, structure: tree.Structure) -> None:
        """Lines that take the arguments apart, down to their leaves."""
        args, kwargs = structure.children
        count = len(args.children)
        others = f"[*kwargs] != {self._constant(list(kwargs.static[1]), 'keys')}" if kwargs.children else "kwargs"
        self.lines.append("def fast(args, kwargs):")
        self._test([f"len(args) != {count}", others, f"now().shape != {self.program.shape}"])
        self._unpack("args", args, 0)
        self._unpack("kwargs.values()", kwargs, args.leaves, _order(kwargs))

    def _unpack(self, text: str, structure: tree.Structure, first: int, order: "Sequence[int] | None" = None) -> None:
        """Lines that name the children of a node, whose values the text gives in this order, and take them apart."""
        parts = []
        for child in structure.children:
            parts.append((f"a{first}" if child.cls is None else self._node_name(), child, first))
            first += child.leaves
        if parts:
            names = [parts[k][0] for k in order or range(len(parts))]
            self.lines.append(f"    {', '.join(names)}, = {text}")
        for name, child, start in parts:
            if child.cls is not None:
                self._node(name, child, start)

    def _node_name(self) -> str:
        self.nodes += 1
        return f"n{self.nodes - 1}"

    def _node(self, name: str, structure: tree.Structure, first: int) -> None:
        """Lines that test the class of a node, and its keys or length, and take it apart."""
        cls = structure.cls
        if cls is type(None):
            self._test([f"{name} is not None"])
        elif cls is dict:
            self._test(
                [f"type({name}) is not dict", f"[*{name}] != {self._constant(list(structure.static[1]), 'keys')}"]
            )
            self._unpack(f"{name}.values()", structure, first, _order(structure))
        elif cls is list or cls is tuple:
            self._test([f"type({name}) is not {cls.__name__}", f"len({name}) != {len(structure.children)}"])
            self._unpack(name, structure, first)
        else:
            self._node_of_class(name, structure, first)

    def _node_of_class(self, name: str, structure: tree.Structure, first: int) -> None:
        """The same for dataclasses, named tuples, classes that the user registered, and those derived from dict."""
        cls: Any = structure.cls
        kind = tree.kinds[cls]
        self.scope["kinds"] = tree.kinds                      # the user may register a class anew
        named, of_kind = self._constant(cls, "cls"), self._constant(kind, "kind")
        self._test([f"type({name}) is not {named}", f"kinds[{named}] is not {of_kind}"])
        if kind.fields and structure.static is None:
            if cls.__dictoffset__:                            # its instances may have further attributes
                self._test([f"[*{name}.__dict__] != {self._constant(list(kind.fields), 'fields')}"])
            self._unpack(", ".join([f"{name}.{field}" for field in kind.fields]) + ",", structure, first)
            return
        self.lines.append(f"    {name}, s = {of_kind}.children({name})")
        self._test([f"len({name}) != {len(structure.children)}", f"s != {self._constant(structure.static, 'static')}"])
        self._unpack(name, structure, first)

    # -- tests -------------------------------------------------------------------------------------------------------

    def _of_fixed(self) -> list:
        """Tests of the leaves that are part of the program."""
        fails = []
        for k, x in self.program.fixed.items():
            value = self._constant(x, "fixed")
            is_other = f"a{k} is not {value}"
            fails.append(f"{is_other} and (type(a{k}) is not {self._constant(type(x), 'cls')} or a{k} != {value})"
                         if is_hashable(x) else is_other)
        return [f"({fail})" for fail in fails]

    def _number(self, name: str, t: Any) -> None:
        """Lines that test a number; arrays of no axes are taken for NumPy's numbers."""
        if t.weak:
            python = _PYTHONS[t.dtype.kind]
            self._test([f"type({name}) is not {python.__name__}"])
            if t.dtype.kind == "i":
                self._test([f"not -{LARGEST} < {name} < {LARGEST}"])
            return
        number = self._constant(t.dtype.type, "number")
        if self.program.deliver is not None:                  # what is kept outside is the argument as it is
            self._test([f"type({name}) is not {number}"])
            return
        self.lines += [f"    if type({name}) is not {number}:",
                       f"        if type({name}) is not array or {name}.shape or "
                       f"{name}.dtype != {self._constant(t.dtype, 'dtype')}:", _REFUSED_DEEPER,
                       f"        {name} = {name}[()]"]

    def _of_sizes(self) -> list:
        """Tests whether arrays and counts are larger than those that the kernel was made for."""
        if isinstance(self.limits, int):
            n = self.limits
            sizes = [f"{name}.size" for name, t in zip(self.data, self.types) if t.shape]
            fails = [] if self.is_tested_by_kernel or not sizes else [f"{' + '.join(sizes)} > {n}"]
            numbers = [name for name, t in zip(self.data, self.types) if not t.shape and t.dtype.kind == "i"]
            return fails + [f"not -{n} <= {name} <= {n}" for name in numbers]
        names = [f"{name}.size" if t.shape else name for name, t in zip(self.data, self.types)]
        return [
            f"{name} > {limit}"
            for name, t, limit in zip(names, self.types, self.limits)
            if t.shape or t.dtype.kind == "i"
        ]

    def _of_types(self) -> list:
        """Tests that find what the kernel would: they come before anything is drawn, since the general path draws, too.
        """
        fails = []
        for k, (name, t) in enumerate(zip(self.data, self.types)):
            if t.shape:
                fails += [f"{name}.dtype != {self._constant(t.dtype, 'dtype')}", f"{name}.ndim != {len(t.shape)}"]
                fails += [f"{name}.shape[{axis}] != {n}" for axis, n in enumerate(t.shape) if isinstance(n, int)]
                fails += [] if k in self.copied else [f"not {name}.flags.carray"]
        return fails

    def _of_guards(self) -> list:
        """Tests whether extents and integers are those of this program; the kernel tests extents by itself."""
        fails = []
        for relation, terms, const in self.program.runner.guards:
            if self.is_thorough or any(axis is None for (_, axis), _ in terms):
                parts = [f"{c} * {self.given[k]}" + (f".shape[{axis}]" if axis is not None else "")
                         for (k, axis), c in terms]
                fails.append(f"not {' + '.join([*parts, str(const)])} {relation} 0")
        return fails

    def _of_identity(self) -> list:
        """Tests whether arrays are one, or share memory, where that matters."""
        self.scope["overlap"] = overlap
        given = self.given
        return [*[f"({given[j]} is {given[k]}) is not {same}" for j, k, same in self.traced.identical],
                *[f"overlap({given[k]}, {given[j]})" for k, others in self.apart.items() for j in others]]

    # -- the call ----------------------------------------------------------------------------------------------------

    def _kernel_arguments(self) -> list:
        """The arguments of the kernel: the inputs, or copies in C order of arrays that lie otherwise."""
        self._test([f"not {self.data[k]}.flags.c_contiguous" for k in self.traced.dense if k in self.copied])
        names = list(self.data)
        for k in sorted(self.copied):
            names[k], given = f"b{k}", self.data[k]
            self.scope["plain"] = plain
            self.lines += [f"    b{k} = {given}", f"    if not {given}.flags.carray:", f"        b{k} = {given}.copy()",
                           f"    if not {given}.dtype.isnative:", f"        b{k} = plain({given})"]
        for k, array in enumerate(self.traced.captured):
            names.append(f"c{k}[()]" if not array.shape else f"c{k}" if array.flags.carray else f"c{k}.copy()")
        return names

    def _run(self, arguments: list) -> None:
        """Lines that draw, run the kernel, change the arrays that it writes to, and return the result."""
        prelude, traced = self.program.prelude, self.traced
        count = len(self.program.runner.func.outputs)
        names = [f"y{k}" for k in range(count)]
        taken = {0: "", 1: "y0 = "}.get(count, "".join(f"{y}, " for y in names) + "= ")
        if prelude is None:
            call = f"        {taken}kernel({', '.join(arguments + self.link)})"
            self.lines += ["    try:", call, "    except fits:", _REFUSE]
        else:
            self.scope.update(prelude=prelude.call, reversible=prelude)
            call = "reversible" if prelude.is_reversible else "prelude"
            self.lines.append(f"    drawn = {call}(({''.join(f'{name}, ' for name in arguments[:len(self.data)])}))")
            self.lines.append(f"    {taken}kernel({', '.join([*arguments, '*drawn', *self.link])})")
        count -= len(traced.written) + traced.delivered
        self.lines += [
            f"    {self.given[k]}[...] = {y}"
            for k, y in zip(traced.written, names[count:])
            if k in self.program.written
        ]
        if self.program.deliver is not None:
            self.scope["deliver"] = self.program.deliver
            self.lines.append(
                f"    deliver(({''.join(f'{y}, ' for y in names)}), ({''.join(f'{a}, ' for a in self.data)}))"
            )
        leaves = [y if scalar is None else f"{self._constant(scalar, scalar.__name__)}({y})"
                  for y, scalar in zip(names[:count], self.program.scalars)]
        for k in sorted(traced.statics):
            leaves.insert(k, self._constant(traced.statics[k], "static"))
        result = self._tree(traced.structure, iter(leaves))
        self.lines += ["    shared = {}"] * ("shared." in result) + [f"    return {result}"]

    def _exclude(self, first: int) -> None:
        """Let the lines from here on exclude other threads that use the program's state (see util/exclusion.py)."""
        if self.program.locks:
            self.scope["tracing"] = tracing
            locks = [self._constant(lock, "lock") for lock in self.program.locks]
            self.lines[first:] = [f"    with {', '.join(locks)}:", "        if tracing:", _REFUSED_DEEPER,
                                  *["    " + line for line in self.lines[first:]]]

    def _tree(self, structure: tree.Structure, leaves: Iterator[str]) -> str:
        """The text that makes a tree of these leaves."""
        made = self._made(structure, leaves)
        return made if structure.number is None else f"shared.setdefault({structure.number}, {made})"

    def _made(self, structure: tree.Structure, leaves: Iterator[str]) -> str:
        cls = structure.cls
        if cls is None:
            return next(leaves)
        parts = [self._tree(child, leaves) for child in structure.children]
        if cls is type(None):
            return "None"
        if cls is tuple:
            return f"({''.join(f'{part}, ' for part in parts)})"
        if cls is list:
            return f"[{', '.join(parts)}]"
        if cls is dict:
            keys = structure.static[1]
            named = [repr(key) if type(key) in (str, int) else self._constant(key, "key") for key in keys]
            return f"{{{', '.join(f'{key}: {parts[k]}' for key, k in zip(named, _order(structure)))}}}"
        self.scope["kinds"] = tree.kinds
        static = self._constant(structure.static, "static")
        return f"kinds[{self._constant(cls, 'cls')}].rebuild({static}, ({''.join(f'{part}, ' for part in parts)}))"


def _order(structure: tree.Structure) -> list:
    """The places of a dict's keys, in the dict's own order, among its children, which are sorted."""
    keys, order = structure.static
    places = {key: k for k, key in enumerate(keys)}
    return [places[key] for key in order]
