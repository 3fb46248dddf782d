"""Whether what follows a branch or a loop computes the same numbers in each type that a name may have there.

`t = 1 if c else 2.5` is one float in the program, and in Python an int on one way. Nearly always that is all the same.
Where it is not (`t // 2`, `isinstance(t, int)`, a root of a negative real, float32's digits), the function is refused,
and runs on the tape. How is that known? As for the first iterations of loops (see widening.py): the function is traced
once more, with the names in a type that was left out, and the two programs are compared.
"""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...ir.build import Builder, building
from ...ir.graph import Equation
from ...ir.types import BOOL, COMPLEX, FLOAT, INT
from ...ops.mixed import DtypeKind
from ...util.defects import ignore_expected, is_expected
from ...util.errors import FadError, UnstageableError
from ..heap.state import trial
from ..values.aliases import disentangle
from .widening import ComparedPart, is_same_program, kind_text

COMMON = {BOOL, INT, FLOAT, COMPLEX}  # among these a number of Python's has the results that NumPy's has
FEW = 3                                                       # sites; of more, kinds are not supposed one by one


def require_same_kinds(builder: Builder, part: ComparedPart, tree: list, again: Callable) -> None:
    """An error if the program that was traced depends on which kind a result of its branches and loops is of.

    tree: the structure and the static leaves of what was returned; again() traces the function anew in a region:
    (outputs, tree).
    """
    root = builder.root
    if root.trace.supposing:
        return
    found = dict(_mixed(root, part.equations))
    if found and not _may_matter(root, part):
        found = {v: (site, kinds) for v, (site, kinds) in found.items() if any(k.dtype != v.type.dtype for k in kinds)}
    for v in found:
        del root.trace.mixed[v]
    for supposing, (v, kind, where) in _suppositions(found):
        if not _is_same(builder, part, tree, again, supposing):
            raise _refusal(v, kind, where)


@contextmanager
def suspecting_kinds(builder: Builder) -> Iterator[None]:
    """An error of the user's code, where results are of several kinds, may be one that it has in the type of the
    program only.
    """
    try:
        yield
    except (FadError, Warning):
        raise
    except Exception as error:
        found = builder.trace.mixed
        if not found or builder.trace.supposing or not is_expected(error):
            raise
        v, (site, kinds) = next(reversed(found.items()))
        raise _refusal(v, kinds[0], site) from error


def _refusal(v: Any, kind: DtypeKind, site: tuple) -> UnstageableError:
    where, name = site
    return UnstageableError(f"{name or 'a value'} is {kind_text(kind)} on one way and {kind_text(v.type)} on another, "
                            "and what follows depends on it",
                            where=where, why="a program gives a name one dtype",
                            do="give it the same dtype on every way")


def _mixed(root: Builder, equations: list) -> Iterator:
    """The results of several kinds among these equations, at any depth."""
    for eqn in equations:
        yield from [(v, root.trace.mixed[v]) for v in eqn.outputs if v in root.trace.mixed]
        for region in eqn.regions:
            yield from _mixed(root, region.equations)


def _may_matter(root: Builder, part: ComparedPart) -> bool:
    """Whether it can matter that a number is Python's on one way and NumPy's of the same dtype on the other."""
    is_common = all(map(_is_common, part.equations)) and all(v.type.dtype in COMMON for v in part.inputs)
    return root.trace.asked or not is_common


def _is_common(eqn: Equation) -> bool:
    if any(a.type.dtype not in COMMON for a in (*eqn.inputs, *eqn.outputs)):
        return False
    if eqn.op.traits.counts and any(a.type.dtype == BOOL for a in eqn.inputs):
        return False
    return all(_is_common(e) for region in eqn.regions for e in region.equations)


def _suppositions(found: dict) -> Iterator:
    """The suppositions to try, {site: dtype and strength of the kind}, each with an example: the narrowest kind
    everywhere, then a few sites one by one.
    """
    by_site: dict[tuple, dict] = {}
    for v, (site, kinds) in found.items():
        for k in kinds:
            by_site.setdefault(site, {}).setdefault(k.own, (v, k, site))
    by_site = {site: dict(sorted(kinds.items(), key=lambda x: x[1][1].order)) for site, kinds in by_site.items()}
    if len(by_site) > 1:
        first = next(iter(by_site.values()))
        yield {site: next(iter(kinds)) for site, kinds in by_site.items()}, next(iter(first.values()))
    for site, kinds in by_site.items():
        for own, example in kinds.items() if len(by_site) <= FEW else list(kinds.items())[1:]:
            yield {site: own}, example


def _is_same(builder: Builder, part: ComparedPart, tree: list, again: Callable, supposing: dict) -> bool:
    """Whether the function is the same program under a supposition. If not, it is traced once more without one:
    an extent that the first trace came to know late has changed what this one does.
    """
    try:
        narrow, other, supposed = _traced(builder, again, supposing)
        if other != tree or len(narrow.outputs) != len(part.outputs):
            return False
        return is_same_program(narrow, part, supposed) or is_same_program(
            narrow, _traced(builder, again, {None: None})[0], supposed
        )
    except Exception as error:
        ignore_expected(error, "what a name is on one way is taken to make a difference")
        return False


def _traced(builder: Builder, again: Callable, supposing: dict) -> tuple[ComparedPart, list, dict]:
    """The function, traced under a supposition: its program, its tree, the values that are supposed to be of a kind."""
    trace = builder.root.trace
    trace.supposing = supposing
    try:
        with _as_before(builder), building("supposed", region=True) as region, trial({}):
            outputs, tree = again()
            return ComparedPart([], region.equations, outputs), tree, dict(trace.supposed)
    finally:
        trace.supposing = {}
        trace.supposed.clear()


@contextmanager
def _as_before(builder: Builder) -> Iterator[None]:
    """Arrays as they were before the builder's function wrote to them; afterwards all is as it is now, and no array
    from outside is an input that was none.
    """
    root = builder.root
    arrays = [(t, t._var, t.view_of) for t, _ in builder.region.mutated.values()]
    aliases = [(t, t.aliases) for t in {id(t): t for t, _ in builder.region.entangled}.values()]
    entangled = builder.region.entangled
    marks = len(root.trace.sources), len(root.trace.stand_ins)
    steps, drawn = list(root.region.steps), dict(root.trace.drawn)
    opened, captured, inputs = dict(root.trace.opened), dict(root.trace.captured), len(root.inputs)
    builder.region.entangled = list(entangled)
    disentangle(builder, 0)
    for t, var in builder.region.mutated.values():
        t.put_back(var)
    try:
        yield
    finally:
        for t, var, view_of in arrays:
            t.view_of = view_of
            t.put_back(var)
        builder.region.entangled = entangled
        for t, known in aliases:
            t.aliases = known
        del root.trace.sources[marks[0]:], root.trace.stand_ins[marks[1]:]
        root.trace.opened, root.trace.captured, root.trace.drawn, root.region.steps[:] = opened, captured, drawn, steps
        del root.inputs[inputs:]
