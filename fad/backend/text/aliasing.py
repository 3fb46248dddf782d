"""Alias analysis of a generated function: which of its arrays may share memory, as far as its text tells.

A new array (np.empty, a copy) shares memory with none, and names that change places (`a, b = b, a`) keep their arrays
apart. Any other assignment of what may be an array (a name, a view, the result of a function) makes its names one
group. It is flow-insensitive, by unification of names (B. Steensgaard, "Points-to analysis in almost linear time",
1996).

>>> lines = ["u = np.empty(n)", "v = x.copy()", "u, v = v, u", "w = u[:3]", "s = x[0]", "t = u[0] if s else v[0]"]
>>> found = sharing_groups([*lines, "w[0] = u[1] + v[0] + t"], ["x", "n"])
>>> found["w"] == found["u"], found["u"] == found["v"], found["v"] == found["x"]
(True, False, False)
"""
import re
from collections.abc import Iterable

from .lines import ASSIGNS, NAME, code_of, locals_of, parts

_ARRAY = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?=\[|\.shape)")
_FRESH = re.compile(r"(np\.(empty|zeros|ones|full|dot)|(linalg|fft|sorting|filters|special)\.\w+)\(.*\)|\w+\.copy\(\)")
_RESHAPED = re.compile(r"(np\.ascontiguousarray\()?(\w+)\)?\.reshape\(.*\)")
_ELEMENT = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\[[^\[\]:]*\]")
_EXTENT = re.compile(r"\w+\.shape\[\d+\]")
_CALL = re.compile(r"(\w+)\((.*)\)")
_OPERATOR = re.compile(r" (?:[-+*/%&|^<>]|//|\*\*|<<|>>|[<>=!]=|and|or) ")


def sharing_groups(
    lines: list, parameters: Iterable[str], may_share: tuple = (), functions: "dict | None" = None
) -> dict:
    """The group of each array: those of two groups share no memory.

    may_share: parameters that may share memory; functions: {name of a called function: the answer of shared_by_call}.
    """
    codes = [code_of(line).strip() for line in lines]
    local = locals_of(lines, parameters)
    joined = [may_share, *[group for code in codes for group in _joined(code, local, functions or {})]]
    arrays = {name for code in codes for name in _ARRAY.findall(code)}
    count = 0
    while count < len(arrays):                               # a name beside an array is an array, too
        count = len(arrays)
        for group in joined:
            if not arrays.isdisjoint(group):
                arrays.update(group)
    parent: dict[str, str] = {}

    def find(name: str) -> str:
        while parent.get(name, name) != name:
            name = parent[name]
        return name

    for group in joined:
        if not arrays.isdisjoint(group):
            for name in group[1:]:
                parent[find(name)] = find(group[0])
    return {name: find(name) for name in arrays}


def shared_by_call(results: list, parameters: list, lines: list, functions: dict) -> list:
    """The results of a function that may share memory with each other and with its arguments: groups of places among
    the results and parameters.
    """
    known = sharing_groups(lines, parameters, (), functions)
    groups: dict[str, list] = {}
    for k, name in enumerate([*results, *parameters]):
        groups.setdefault(known.get(name, name), []).append(k)
    return [group for group in groups.values() if len(group) > 1]


def _joined(code: str, local: set, functions: dict) -> list:
    """Groups of names that may name one array once the line has run."""
    found = None if code.startswith(("for ", "if ", "elif ", "while ", "return", "raise")) else ASSIGNS.search(code)
    if found is None or found[0] != " = ":
        return []
    targets, values = parts(code[:found.start()]), parts(code[found.end():])
    if len(targets) > 1 and sorted(targets) == sorted(values):
        return []
    called = _CALL.fullmatch(code[found.end():])
    if called is not None and called[1] in functions:
        names = [*targets, *parts(called[2])]
        return [[names[k] for k in group] for group in functions[called[1]]]
    if len(targets) != len(values):
        targets, values = [" ".join(targets)], [code[found.end():]]
    groups = [(*[n for n in t.split() if n.isidentifier()], *_named(v, local)) for t, v in zip(targets, values)]
    return [group for group in groups if len(group) > 1]


def _named(value: str, local: set) -> list:
    """The names of the arrays that a value may be. A part of an array along fewer axes would count, too, but generated
    text has none.
    """
    if _FRESH.fullmatch(value):
        return []
    reshaped = _RESHAPED.fullmatch(value)
    if reshaped is not None:
        return [reshaped[2]]
    inside = _ELEMENT.sub("0", _EXTENT.sub("0", value))
    return [] if _OPERATOR.search(inside) and " if " not in inside else [n for n in NAME.findall(inside) if n in local]
