"""The IR as text that reads like Python, with the user's line behind each equation."""

from .graph import Atom, Func, Literal, Var
from .types import type_text


class ShortNames:
    """Short names in order of appearance: a, b, ..., z, aa, ..."""

    def __init__(self) -> None:
        self.given: dict[Var, str] = {}

    def of(self, atom: "Atom | int") -> str:
        if isinstance(atom, Literal):
            return repr(atom.value)
        if isinstance(atom, int):
            return str(atom)
        if atom not in self.given:
            self.given[atom] = _letters(len(self.given))
        return self.given[atom]


def _letters(k: int) -> str:
    text = ""
    k += 1
    while k:
        k, r = divmod(k - 1, 26)
        text = chr(97 + r) + text
    return text


def func_text(func: Func, where: bool = True, names: "ShortNames | None" = None) -> str:
    """The function, one equation a line.

    Texts of two programs with the same `names` call a variable that both hold by one name.
    """
    return "\n".join(f"{text:<60}  # {place.text}" if where and place is not None and place.text else text
                     for text, place in func_lines(func, names))


def func_lines(func: Func, names: "ShortNames | None" = None) -> list:
    """Pairs (a line of the text, the place in the user's source that it comes from, or None)."""
    names = names or ShortNames()
    lines: list = [(f"def {func.name}({', '.join(_typed(names, v) for v in func.inputs)}):", None)]
    _block(func, names, lines, "    ")
    return lines


def _typed(names: ShortNames, var: Var) -> str:
    extents = ", ".join(names.of(n) for n in var.type.shape)
    head = type_text(var.type.with_shape(())) + ("~" if var.type.weak else "")
    return f"{names.of(var)}: {head}" + (f"[{extents}]" if extents else "")


def _block(func: Func, names: ShortNames, lines: list, indent: str) -> None:
    for eqn in func.equations:
        left = ", ".join(_typed(names, v) for v in eqn.outputs)
        params = [f"{k}={_param(v)}" for k, v in eqn.params.items()]
        right = f"{eqn.op.name}({', '.join([names.of(a) for a in eqn.inputs] + params)})"
        lines.append((f"{indent}{left} = {right}" if left else f"{indent}{right}", eqn.where))
        for region in eqn.regions:
            lines.append((f"{indent}  {region.name}({', '.join(_typed(names, v) for v in region.inputs)}):", None))
            _block(region, names, lines, indent + "    ")
    word = "return" if indent == "    " else "yield"
    lines.append((f"{indent}{word} {', '.join(names.of(a) for a in func.outputs)}", None))


def _param(value: object) -> str:
    return getattr(value, "__name__", None) or repr(value)
