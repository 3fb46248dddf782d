"""What a traced function leaves in lists, dicts and objects from outside: a program cannot do it again, so that it is refused.

On a tape, where the function runs at every call, what was left there is given its value.
"""
from collections.abc import Iterable
from typing import Any

from ..ir.build import Builder
from ..ir.value import MARK, Value
from ..util import tree
from ..util.errors import SideEffectError, UnstageableError
from .containers import Outer, contents, put_contents


def refuse_leaks(root: Builder) -> None:
    """An error if the function changed what a program would have to change at every call."""
    if any(not _is_as_it_was(made, before) for _, made, before in root.stand_ins):
        raise _refusal("a list or dict with arrays in it, from outside the traced function, is changed")
    for owner in root.opened.values():
        for key, x in _items(owner):
            if any(isinstance(leaf, Value) for leaf in tree.flatten(x)[0]):
                raise _refusal(f"a traced value was left in {type(owner).__name__}{f'.{key}' if hasattr(owner, '__dict__') else ''}, outside the "
                               "traced function")
    hand_out(root)


def refuse_changed_arguments(arguments: Any, leaves: list, structure: tree.Structure) -> None:
    """An error if the function changed a list, a dict or an object among its arguments, which hold these leaves."""
    after, now = tree.flatten(arguments)
    if now != structure or any(x is not y for x, y in zip(after, leaves)):
        raise _refusal("a list, dict or object that is an argument is changed")


def refuse_texts(statics: Iterable) -> None:
    """An error if one of these parts of the result is a text made of a traced value: the text has the value's name in it, not the number."""
    if any(isinstance(x, str) and MARK in x for x in statics):
        raise UnstageableError("a text made of a traced value is returned", why="the number is not known while the function is traced",
                               do="return the number, and make the text of it outside")


def hand_out(root: Builder) -> None:
    """Give the names from outside that the function assigned to their new values."""
    for owner in root.opened.values():
        if isinstance(owner, Outer):
            owner.hand_out()


def _refusal(what: str) -> SideEffectError:
    return SideEffectError(what, why="it runs once, while it is traced, and not at each call", do="return the new value from the function")


def _is_as_it_was(made: Any, before: Any) -> bool:
    if len(made) != len(before):
        return False
    if isinstance(made, dict):
        return all(k in before and made[k] is before[k] for k in made)
    return all(x is y for x, y in zip(made, before))


def _items(owner: Any) -> list:
    inside = owner.changed() if isinstance(owner, Outer) else contents(owner)
    return list(inside.items() if isinstance(inside, dict) else enumerate(inside))


def settle(tape: Any) -> None:
    """Give what a function on a tape left outside its values."""
    def value(x: Any) -> Any:
        return tree.map_leaves(lambda leaf: tape.value(leaf) if isinstance(leaf, Value) else leaf, x)
    for original, made, before in tape.stand_ins:
        if not _is_as_it_was(made, before):
            known = {id(new): old for (_, new), (_, old) in zip(_items(before), _items(original))}
            new = [(k, known.get(id(x), value(x))) for k, x in _items(made)]
            put_contents(original, dict(new) if isinstance(original, dict) else [x for _, x in new])
    for owner in tape.opened.values():
        if any(isinstance(leaf, Value) for _, x in _items(owner) for leaf in tree.flatten(x)[0]):
            after = [(k, value(x)) for k, x in _items(owner)]
            put_contents(owner, contents(owner) | dict(after) if isinstance(contents(owner), dict) else [x for _, x in after])
    hand_out(tape)
