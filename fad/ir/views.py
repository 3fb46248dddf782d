"""Views of the equations with regions: the operands by name. Only this module knows what stands where.

            inputs                      regions                                               outputs
    for     start, stop, step, *init    body(index, *carries) -> next                         results
    while   *init                       test(*carries) -> bool, body(*carries) -> next        results
    cond    selector                    branch() -> yielded, one for each choice              results

ops/control.py says what they compute, docs/design/ir.md shows a printed one.
"""
from typing import Any

from .graph import Equation, Func, Literal, Var, is_branch


class LoopView:
    """The parts of a loop.

    bounds     (start, stop, step) of a counted loop, () of a `while`
    init       what the carries begin with
    test       the region that decides whether there is another iteration; None of a counted loop
    body       the region of one iteration
    index      the body's input that counts; None of a `while`
    carries    the body's inputs for what the iteration before left
    next       what an iteration makes of the carries: the body's outputs
    results    the carries after the last iteration
    """

    __slots__ = ("eqn", "bounds", "init", "test", "body", "index", "carries", "next", "results")

    def __init__(self, eqn: Equation):
        count, (*tests, body) = len(eqn.outputs), eqn.regions
        lead = len(eqn.inputs) - count
        self.eqn, self.body, self.test = eqn, body, tests[0] if tests else None
        self.bounds, self.init = eqn.inputs[:lead], eqn.inputs[lead:]
        self.index: Any = None if tests else body.inputs[0]
        self.carries = self.carries_of(body)
        self.next, self.results = body.outputs, eqn.outputs

    def carries_of(self, region: Func) -> tuple:
        """The inputs of the body, or of the test, that stand for the carries."""
        return region.inputs[len(region.inputs) - len(self.eqn.outputs):]

    @property
    def step(self) -> "int | None":
        """The step of a counted loop if it is a number of the program."""
        return self.bounds[2].value if self.bounds and isinstance(self.bounds[2], Literal) else None

    @property
    def ends(self) -> tuple:
        """Of a counted loop whose step is a number: its two ends, in ascending order if there is any iteration."""
        start, stop, step = self.bounds
        return (start, stop) if step.value > 0 else (stop, start)

    @property
    def iterations(self) -> "range | None":
        """The values of the index, if the bounds are numbers of the program."""
        known = self.bounds and all(isinstance(a, Literal) for a in self.bounds)
        return range(*[a.value for a in self.bounds]) if known else None

    def start_of(self, result: Var) -> Any:
        """The start value of the carry whose last value is this result."""
        return self.init[self.results.index(result)]

    def replace(self, *, bounds: "tuple | None" = None, init: "tuple | None" = None, test: "Func | None" = None,
                body: "Func | None" = None, results: "tuple | None" = None, params: "dict | None" = None) -> Equation:
        """The loop with these parts in place of its own."""
        tests = self.eqn.regions[:-1] if test is None else (test,)
        inputs = (*(self.bounds if bounds is None else bounds), *(self.init if init is None else init))
        regions = (*tests, self.body if body is None else body)
        return self.eqn.replace(inputs=inputs, outputs=results, params=params, regions=regions)


class BranchView:
    """The parts of a `cond`.

    selector   the number of the branch that is taken (False is 0, True is 1)
    branches   the regions, which take nothing and yield the results
    results    what the branch that is taken yields
    """

    __slots__ = ("eqn", "selector", "branches", "results")

    def __init__(self, eqn: Equation):
        self.eqn, self.branches, self.results = eqn, eqn.regions, eqn.outputs
        (self.selector,) = eqn.inputs

    def yielded(self, result: Var) -> list:
        """The values that the branches yield for a result."""
        return [branch.outputs[self.results.index(result)] for branch in self.branches]


def with_results(eqn: Equation, kept: list) -> Equation:
    """The loop with only these of its carries, the cond with only these of its results, by number."""
    def chosen(atoms: tuple) -> tuple:
        return tuple([atoms[k] for k in kept])

    params = _chosen_params(eqn.params, kept)
    if is_branch(eqn):
        regions = tuple([r.replace(outputs=chosen(r.outputs)) for r in eqn.regions])
        return eqn.replace(outputs=chosen(eqn.outputs), params=params, regions=regions)
    loop = LoopView(eqn)
    lead = () if loop.index is None else (loop.index,)
    body = loop.body.replace(inputs=(*lead, *chosen(loop.carries)), outputs=chosen(loop.next))
    test = None if loop.test is None else loop.test.replace(inputs=chosen(loop.test.inputs))
    return loop.replace(init=chosen(loop.init), test=test, body=body, results=chosen(loop.results), params=params)


def _chosen_params(params: dict, kept: list) -> dict:
    """`names` and `extents` (see ops/control.py) of the carries or results that stay."""
    params = dict(params)
    if params.get("names"):
        params["names"] = tuple([params["names"][k] for k in kept])
    if params.get("extents"):
        place = {k: j for j, k in enumerate(kept)}
        links = [(k, axis, j) for k, axis, j in params["extents"] if k in place and j in place]
        params["extents"] = tuple([(place[k], axis, place[j]) for k, axis, j in links])
    return params
