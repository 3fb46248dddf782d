"""Templates of texts: `template % values` and str.format, where values are traced.

    "loss %.3f of %s" % (loss, model)   ->   a text of "loss %.3f of %s", loss, and the text of the model
"""
import re
from typing import Any, NamedTuple

from ...util.defects import asked_by_user, for_user
from .text import TEXTS, is_fixed, made

_SAYS_ALL = re.compile(r"([^%]|%%|%[sra])*", re.S)           # texts of whatever it is, and no numbers
CONVERSION = re.compile(r"%(\(\w*\))?[-#0 +]*(\d+)?(\.(\d+))?[hlL]?[diouxXeEfFgGcrsa]")


@for_user
def percent(template: str, given: object) -> Any:
    """template % given"""
    if type(template) is not str:
        return asked_by_user(lambda: template % given)
    if isinstance(given, dict):
        names = tuple(given)
        return made(_Percent(template, names), _Percent(_spoken(template), names), *given.values())
    values = given if type(given) is tuple else (given,)
    if not all(map(is_fixed, values)):
        template, values = _of_texts(template, values)
    if not (all(map(is_fixed, values)) or _SAYS_ALL.fullmatch(template)):
        return template % values
    return made(_Percent(template), _Percent(_spoken(template)), *values)


def _of_texts(template: str, values: tuple) -> tuple:
    """A template and its values, where texts stand for objects, lists and arrays that it takes the texts of."""
    found = [c for c in re.finditer("%%|" + CONVERSION.pattern, template) if c.group(0) != "%%"]
    if len(found) != len(values) or "*" in template or any(c.group(1) for c in found):
        return template, values
    pieces, now, end = [], list(values), 0
    for k, c in enumerate(found):
        text, kind = c.group(0), c.group(0)[-1]
        if kind in TEXTS and not is_fixed(values[k]):
            text, now[k] = text[:-1] + "s", made(TEXTS[kind], str, values[k])
        pieces += [template[end:c.start()], text]
        end = c.end()
    return "".join([*pieces, template[end:]]), tuple(now)


class _Percent(NamedTuple):
    """template % (values), or template % {names: values}"""

    template: str
    names: "tuple | None" = None

    @for_user
    def __call__(self, *values: object) -> str:
        return self.template % (values if self.names is None else dict(zip(self.names, values)))


class _FormatMethod(NamedTuple):
    """template.format(*values), the last ones by their names"""

    template: str
    names: tuple

    @for_user
    def __call__(self, *values: object) -> str:
        count = len(values) - len(self.names)
        return self.template.format(*values[:count], **dict(zip(self.names, values[count:])))


def _spoken(template: str) -> str:
    """A template as it is for people: names in place of numbers."""
    return CONVERSION.sub(lambda found: "%" + (found.group(1) or "") + "s", template.replace("%%", "%%%%")).replace(
        "%%%%", "%%"
    )


def format_method(template: str, *args: object, **kwargs: object) -> Any:
    """template.format(*args, **kwargs)"""
    make = _FormatMethod(template, tuple(kwargs))
    return made(make, make, *args, *kwargs.values())
