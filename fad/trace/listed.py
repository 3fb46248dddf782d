"""Lists of captured code as others see them: results are lists of their elements, NumPy's functions are given arrays, objects have lists like these."""
from typing import Any

from ..ops.literals import python_number
from ..util import tree
from .lists import Items, Rows


def plain(result: Any) -> Any:
    """A result in which lists that lie in rows are lists of their elements."""
    leaves, structure = tree.flatten(result, is_leaf=lambda x: isinstance(x, Rows))
    if not any(isinstance(x, Rows) for x in leaves):
        return result
    return structure.unflatten([plain(list(x)) if isinstance(x, Rows) else x for x in leaves])


def as_array(x: Any) -> Any:
    """x, or the array that NumPy makes of it if it is a list that lies in rows."""
    found = x.array() if isinstance(x, Rows) else None
    return x if found is None else found


def number_of(x: Any, y: Any) -> Any:
    """y, a number that Python's functions make of the elements of x: a number of Python's if those are."""
    return python_number(y) if isinstance(x, Rows) and all(t.weak for t in x.types_now()) else y


def as_arrays(x: Any) -> Any:
    """Arguments of NumPy's functions: as_array of them, at any depth of lists and tuples."""
    if type(x) in (list, tuple, Items):
        return type(x)([as_arrays(a) for a in x])
    return as_array(x)


def as_captured(x: Any, known: dict) -> Any:
    """A plain list, and those in it, as lists that loops may come to fill or to index; known: what stands for a list, by its id."""
    if type(x) is not list or id(x) in known:
        return known.get(id(x), x)
    made = known[id(x)] = Items()
    list.extend(made, [as_captured(y, known) for y in x])
    return made
